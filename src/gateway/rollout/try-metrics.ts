/**
 * Tries metrics for the tenant of a copy, on the source that the users of this tenant read. Where that depends on the
 * user, nothing is tried, and the answer says so: another source would tell nothing about what the users will see.
 */
import type { DashboardContent, TriedMetric } from '../../model/dashboard/dashboard.js';
import type { Policy } from '../policy/policy.js';
import { tenantSourceOf } from '../policy/tenant-source.js';
import type { Copies } from './copies.js';
import type { TenantDashboard } from './model.js';

/** `isMeasured`: the whole metric is run, as a guest would, and the answer says how. Throws as `Copies.tryOut`. */
export const tryMetrics = async (
  { copies, policy }: { readonly copies: Copies; readonly policy: Policy },
  copy: Pick<TenantDashboard, 'dashboardId' | 'clientId' | 'template'>,
  content: DashboardContent,
  isMeasured = false,
): Promise<readonly TriedMetric[]> => {
  const source = tenantSourceOf(policy, copy.clientId, copy.template);
  if ('names' in source) return copies.tryOut(copy, content, source.names, isMeasured);
  return content.metrics.map(({ metricId, name }) => ({ metricId, name, outcome: 'untried', message: source.why }));
};
