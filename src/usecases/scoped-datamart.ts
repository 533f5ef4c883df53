/** The datamart of an embed that names none. */
import type { Datamart } from '../domain/datamart/datamart.js';
import type { GuestGrant } from '../domain/guest/grant.js';
import type { Workspace } from '../domain/organization.js';
import type { ContentStore } from '../domain/store/store.js';
import { findWorkspaceDatamart } from './embed-source.js';

/** What a token, or a question of the host's backend, is scoped to. */
export type SourceScope = Pick<GuestGrant, 'datamartId' | 'datasourceId'>;

export const unscoped: SourceScope = { datamartId: null, datasourceId: null };

/**
 * The workspace's own datamart. In a workspace of several sources it is the one that the token names, or the only one of the
 * datasource that the token names; otherwise there is none: which client's rows would they be?
 */
export const findScopedDatamart = async (
  store: ContentStore,
  workspace: Workspace,
  { datamartId, datasourceId }: SourceScope,
): Promise<Datamart | undefined> => {
  switch (workspace.connectionType) {
    case 'DATAMART':
    case 'DATASOURCE':
      return findWorkspaceDatamart(store, workspace);
    case 'MULTI_DATAMART':
    case 'MULTI_DATASOURCE':
      if (datamartId !== null) return store.datamarts.findById(datamartId);
      return datasourceId === null ? undefined : store.datamarts.findOnlyOf(datasourceId);
  }
};
