/** What a message holds, as its reader may read it now. */
import type { ColumnNumbers } from '../datamart/datamart.js';
import type { DatatypeKind } from '../datamart/datatypes.js';
import type { AlertShape, CellDates } from './alert.js';

/** A metric that is checked. `right` and `rule` are those of an AlertState. */
export type OpenAlert = {
  /** Of a host's alert, the tenant's own metric. */
  readonly metricId: string;
  readonly metricName: string;
  readonly measures: readonly string[];
  readonly shape: AlertShape;
  /** Of the dimensions, in their order. */
  readonly dates: readonly CellDates[];
  /** How the values of the alert's measure are written. */
  readonly numbers: ColumnNumbers;
  /** What the values of the alert's measure are; undefined if only the database knows. */
  readonly kind: DatatypeKind | undefined;
  readonly right: string;
  readonly rule: string;
};

export type OpenReport = {
  readonly name: string;
  /** The metrics of a report; empty for an alert. */
  readonly metrics: readonly { readonly metricId: string; readonly name: string }[];
  /** Null for a report. */
  readonly alert: OpenAlert | null;
};
