import type { DashboardContent } from '../../dashboard/dashboard.js';
import type { FirstRestriction } from '../../dashboard/first/restriction.js';
import type { MetricAnswer } from '../engine.js';
import type { TriedDashboard } from './tried.js';

/** A first dashboard as it was tried for a client. */
export type DraftedDashboard = Pick<TriedDashboard, 'refused'> & {
  readonly content: DashboardContent;
  /** The clients with the most rows, the largest first. The metrics were asked for the first; none: they were not asked. */
  readonly tenants: readonly { readonly clientId: string; readonly name: string | null }[];
  readonly answers: readonly {
    readonly metricId: string;
    readonly answer: MetricAnswer;
    readonly timeTakenInMs: number;
  }[];
  /** With values of the category that the first client has. */
  readonly restrictions: readonly (FirstRestriction & { readonly values: readonly string[] })[];
};
