/** Says in words what changed on a dashboard since a content of it was read. Reads definitions, never rows. */
import { ambiguities, type ContentChange, contentChanges } from '../../model/dashboard/changes.js';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { Digest } from '../../model/ports.js';
import type { Store } from '../store/store.js';
import { refuseContent } from './blueprint.js';
import { getDashboardContent } from './content.js';

export type CompareDashboardContent = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  readonly content: DashboardContent;
};

/**
 * Returns the changes from the given content to the dashboard's, and the digest of the latter. Settings that the given
 * content leaves out count as unchanged, because a replacement keeps them. Throws WORKSPACE_ID_ERROR,
 * INVALID_DASHBOARD_ID or INVALID_DASHBOARD_DATA.
 */
export const compareDashboardContent =
  (deps: { readonly store: Store; readonly digest: Digest }) =>
  async (
    caller: ServiceCaller,
    { content: given, ...target }: CompareDashboardContent,
  ): Promise<{ readonly changes: readonly ContentChange[]; readonly digest: string }> => {
    const { content: current, digest } = await getDashboardContent(deps)(caller, target);
    const faults = ambiguities(given);
    if (faults.length > 0) refuseContent('INVALID_DASHBOARD_DATA', 'The content cannot be compared', faults);
    const before: DashboardContent = {
      ...given,
      metadata: given.metadata === undefined ? current.metadata : given.metadata,
      isAllowPrivateMetricsByDefault: given.isAllowPrivateMetricsByDefault ?? current.isAllowPrivateMetricsByDefault,
    };
    return { changes: contentChanges(before, current), digest };
  };
