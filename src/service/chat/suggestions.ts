/** Suggests metrics to a guest who may make some, from the catalogue alone. */
import { type Suggestion, suggestionsOf } from '../../model/chat/suggestions.js';
import { assertChats } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { RequestSignal } from '../../model/query/engine.js';
import { passes, Refusal } from '../../model/refusal.js';
import { assertBuilds, type CatalogueDeps, readCatalogue } from '../guest/fields.js';
import { openDashboard } from '../guest/scope.js';

/**
 * Returns metrics of the fields that the guest may use. Throws UNAUTHORIZED unless the guest may create metrics, from
 * fields or in words, and the workspace has suggestions.
 */
export const listGuestSuggestions =
  (deps: CatalogueDeps) =>
  async (
    { grant }: GuestCaller,
    { dashboardId }: { readonly dashboardId: string },
    signal: RequestSignal,
  ): Promise<readonly Suggestion[]> => {
    const opened = await openDashboard(deps.store, grant, dashboardId);
    if (!passes(() => assertChats(grant, opened.embed))) assertBuilds(grant, opened);
    const workspace = await deps.store.workspaces.findById(opened.dashboard.workspaceId);
    if (workspace?.isEnableMetricSuggestions !== true) {
      throw new Refusal(
        'UNAUTHORIZED',
        'The workspace of this dashboard suggests no metrics (isEnableMetricSuggestions).',
        {
          reason: 'permission-missing',
        },
      );
    }
    return suggestionsOf((await readCatalogue(deps, grant, opened, signal)).fields);
  };
