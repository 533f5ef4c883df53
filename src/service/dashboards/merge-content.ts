/** Merges an author's change of a dashboard with what others changed since. Reads definitions, never rows; writes nothing. */
import { ambiguities, type ContentChange, contentChanges } from '../../model/dashboard/changes.js';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import {
  type AuthorChoices,
  type AuthorConflict,
  completeVersions,
  mergeAuthors,
} from '../../model/dashboard/merge/merge-authors.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { Digest } from '../../model/ports.js';
import type { Store } from '../store/store.js';
import { refuseContent } from './blueprint.js';
import { getDashboardContent } from './content.js';

export type MergeDashboardContent = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  /** What the author had read. */
  readonly base: DashboardContent;
  /** What the author wants to write. */
  readonly content: DashboardContent;
  readonly choices: AuthorChoices;
};

export type MergedContent = {
  readonly content: DashboardContent;
  readonly conflicts: readonly AuthorConflict[];
  readonly given: readonly ContentChange[];
  readonly current: readonly ContentChange[];
  /** Of the dashboard's content now, which a replacement by the merged content must name. */
  readonly digest: string;
};

/** Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID or INVALID_DASHBOARD_DATA. */
export const mergeDashboardContent =
  (deps: { readonly store: Store; readonly digest: Digest }) =>
  async (
    caller: ServiceCaller,
    { base: read, content: wanted, choices, ...target }: MergeDashboardContent,
  ): Promise<MergedContent> => {
    const { content: current, digest } = await getDashboardContent(deps)(caller, target);
    const faults = [
      ...ambiguities(read).map((fault) => `base: ${fault}`),
      ...ambiguities(wanted).map((fault) => `content: ${fault}`),
    ];
    if (faults.length > 0) refuseContent('INVALID_DASHBOARD_DATA', 'The contents cannot be merged', faults);
    const versions = completeVersions({ base: read, given: wanted, current });
    return {
      ...mergeAuthors(versions, choices),
      given: contentChanges(versions.base, versions.given),
      current: contentChanges(versions.base, versions.current),
      digest,
    };
  };
