/** What a message holds as its reader may read it now, and by whose right it is read: the gateway decides that for a user who is away. */
import type { ColumnNumbers } from '../datamart/datamart.js';
import type { DatatypeKind } from '../datamart/datatypes.js';
import type { AlertShape, CellDates } from './alert.js';
import type { TenantUser } from './recipients.js';
import type { ScheduleOwner } from './schedule.js';

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

/** `figure`: of a metric whose chart is one number, the measure and how it is written. */
export type OpenMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly figure?: { readonly measure: string; readonly numbers: ColumnNumbers } | undefined;
};

export type OpenReport = {
  readonly name: string;
  /** The metrics of a report; empty for an alert. */
  readonly metrics: readonly OpenMetric[];
  /** Null for a report. */
  readonly alert: OpenAlert | null;
};

/** A guest token as the user would get it now, and the claims of the user's last session. */
export type ReportRight = {
  readonly token: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Names of channels by the id of the dashboard or embed that may go there now. */
  readonly channels: ReadonlyMap<string, readonly string[]>;
  /** What the user may send to others of the tenant now, as in a grant. */
  readonly scheduling: ReadonlyMap<string, readonly string[]>;
  readonly roles: readonly string[];
  /** What people call the tenant, for messages to a channel. Left out: the name is not known, or the policy hides it. */
  readonly tenantName?: string | undefined;
};

/**
 * Returns null if the user may see nothing now. Rejects if that could not be decided. `requestId` names the decision in
 * the audit.
 */
export type FindReportRight = (
  subject: Omit<ScheduleOwner, 'dataAppId'>,
  requestId: string,
) => Promise<ReportRight | null>;

/** Leaves out users who were revoked; of a suspended tenant there are none. */
export type ListTenantUsers = (clientId: string) => Promise<readonly TenantUser[]>;

/** Whether the tenant may have tokens: it is neither suspended nor deleted. Rejects if that is not known. */
export type IsTenantActive = (clientId: string) => Promise<boolean>;
