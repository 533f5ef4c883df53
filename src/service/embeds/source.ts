/** The workspace and datamart of an embed. */
import type { AccessSettings } from '../../model/dashboard/embed.js';
import { noColumnRules } from '../../model/datamart/column-rules.js';
import { type Datamart, qualifiedName } from '../../model/datamart/datamart.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { reachesDatamart, type Workspace } from '../../model/organization.js';
import { Refusal } from '../../model/refusal.js';
import type { ContentStore } from '../store/content.js';
import type { Store } from '../store/store.js';

/** Returns the workspace of that name. Throws INVALID_WORKSPACE_NAME. */
export const loadEmbedWorkspace = async (store: Store, name: string): Promise<Workspace> => {
  const workspace = await store.workspaces.findByName(name);
  if (workspace === undefined)
    throw new Refusal('INVALID_WORKSPACE_NAME', `There is no workspace named ${JSON.stringify(name)}.`);
  return workspace;
};

/**
 * Returns the datamart. Throws INVALID_DATAMART_NAME if it is unknown, or the workspace's connection does not reach it.
 */
export const loadEmbedDatamart = async (store: Store, workspace: Workspace, name: string): Promise<Datamart> => {
  const datamart = await store.datamarts.findByName(name);
  if (datamart === undefined)
    throw new Refusal(
      'INVALID_DATAMART_NAME',
      `accessSettings.datamartName: there is no datamart named ${JSON.stringify(name)}.`,
    );
  if (!reachesDatamart(workspace, datamart)) {
    throw new Refusal(
      'INVALID_DATAMART_NAME',
      `accessSettings.datamartName: workspace ${JSON.stringify(workspace.name)} is connected to another source than datamart ${JSON.stringify(name)}.`,
    );
  }
  return datamart;
};

/**
 * Throws INVALID_REQUEST_BODY for a setting that names no table of the embed's datamart, since it would separate no
 * rows.
 */
export const assertTenancySettings = (datamart: Datamart | undefined, settings: AccessSettings | undefined): void => {
  const names = (datamart?.tables ?? []).flatMap((table) => [table.tableName, qualifiedName(table)]);
  const unknown = settings?.tableTenancySettings?.find(({ name }) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `accessSettings.tableTenancySettings: the embed's datamart has no table ${JSON.stringify(unknown.name)}; write it as schema.table.`,
      { reason: 'tenancy-setting-unknown' },
    );
  }
};

/** Returns the workspace's own datamart. Embeds that name no datamart read it. */
export const findWorkspaceDatamart = async (
  store: Pick<ContentStore, 'datamarts'>,
  workspace: Workspace,
): Promise<Datamart | undefined> =>
  workspace.datamartId === null ? undefined : store.datamarts.findById(workspace.datamartId);

/** The datamart or datasource that a token, or a query of the host's backend, is scoped to, and what it sees of columns. */
export type SourceScope = Pick<GuestGrant, 'datamartId' | 'datasourceId' | 'columnRules'>;

/** For callers of the host, who see all columns. */
export const unscoped: SourceScope = { datamartId: null, datasourceId: null, columnRules: noColumnRules };

/**
 * Returns the workspace's own datamart. In a workspace with several sources: the datamart that the token names, or the
 * only datamart of the datasource that it names. Otherwise undefined, since it would be unclear which client's rows to
 * read.
 */
export const findScopedDatamart = async (
  store: ContentStore,
  workspace: Workspace,
  { datamartId, datasourceId }: Pick<SourceScope, 'datamartId' | 'datasourceId'>,
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
