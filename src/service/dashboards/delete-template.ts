/** Deletes a dashboard of the organization. */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import { Refusal } from '../../model/refusal.js';
import { assertUnused, usersToName } from '../common/still-in-use.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';

type Command = { readonly workspaceName: string; readonly dashboardId: string };

/**
 * Deletes the organization's dashboard of that id. Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, or STILL_IN_USE while
 * copies or embeds of it exist; then nothing is changed.
 */
export const deleteTemplate =
  ({ store }: { readonly store: Store }) =>
  (_caller: ServiceCaller, { workspaceName, dashboardId }: Command): Promise<Dashboard> =>
    store.transaction(async (inner) => {
      const workspace = await loadWorkspace(inner, workspaceName);
      const found = await inner.dashboards.findTemplate(dashboardId);
      const dashboard = found && (await inner.dashboards.lockToDelete(found.id));
      if (dashboard === undefined || dashboard.workspaceId !== workspace.id) {
        throw new Refusal(
          'INVALID_DASHBOARD_ID',
          `Workspace ${JSON.stringify(workspaceName)} has no dashboard ${JSON.stringify(dashboardId)} of the organization.`,
        );
      }
      const { copies, embeds } = await inner.dashboards.listUsers(dashboard.id, usersToName);
      assertUnused(
        `Dashboard ${JSON.stringify(dashboardId)}`,
        { copy: copies, embed: embeds },
        'Delete its embeds and the copies of its clients first, with the API key of their data app.',
      );
      await inner.dashboards.delete(dashboard);
      return dashboard;
    });
