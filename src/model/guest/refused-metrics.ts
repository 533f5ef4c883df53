/** Which metrics of a dashboard a token with given restrictions could not read, and why. */
import type { MetricPlacement } from '../dashboard/dashboard.js';
import type { ColumnRules } from '../datamart/column-rules.js';
import type { Reason } from '../reasons.js';
import { namesOf } from '../record-of.js';

/** What a token restricts, by the names that a policy uses. Values of filters and variables are left out. */
export type NamedRestrictions = ColumnRules & {
  readonly dashboardFilters: readonly string[];
  readonly appFilters: readonly string[];
  readonly rls: readonly string[];
  readonly hideDashboardFilters: readonly string[];
  /** Names or ids of metrics. */
  readonly hideMetrics: readonly string[];
};

export const noNamedRestrictions: NamedRestrictions = {
  ...{ dashboardFilters: [], appFilters: [], rls: [], hideDashboardFilters: [], hideMetrics: [] },
  ...{ hideColumns: [], maskColumns: {} },
};

export type RestrictedField = keyof NamedRestrictions;
export const restrictedFields = namesOf(noNamedRestrictions);

/** A restriction to which a refusal is due. */
export type RefusedBy = { readonly field: RestrictedField; readonly name: string };

export type MetricRefusal = {
  /** `token`: a token with these restrictions is not made at all. */
  readonly refuses: 'metric' | 'token';
  /** `definition`: it is refused without restrictions too. */
  readonly cause: 'hidden' | 'column' | 'restriction' | 'definition';
  readonly reason: Reason;
  readonly by: readonly RefusedBy[];
  /** For people of the host: tables, columns and relationships, and how to mend it. Names no value. */
  readonly message: string;
};

export type CheckedMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly placement: MetricPlacement;
  /** Null: it can be read. */
  readonly refusal: MetricRefusal | null;
};

/** `refusal`: why a token with these rules for columns is not made at all. */
export type RefusedMetrics = { readonly metrics: readonly CheckedMetric[]; readonly refusal: string | null };
