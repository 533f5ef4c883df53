/** The workspace and datamart that an embed is made over. */
import type { AccessSettings } from '../../domain/dashboard/embed.js';
import { type Datamart, qualifiedName } from '../../domain/datamart/datamart.js';
import type { GuestGrant } from '../../domain/guest/grant.js';
import { reachesDatamart, type Workspace } from '../../domain/organization.js';
import { Refusal } from '../../domain/refusal.js';
import type { ContentStore, Store } from '../../domain/store/store.js';

/** Throws INVALID_WORKSPACE_NAME. */
export const loadEmbedWorkspace = async (store: Store, name: string): Promise<Workspace> => {
  const workspace = await store.workspaces.findByName(name);
  if (workspace === undefined)
    throw new Refusal('INVALID_WORKSPACE_NAME', `There is no workspace named ${JSON.stringify(name)}.`);
  return workspace;
};

/** Throws INVALID_DATAMART_NAME for an unknown datamart, or one that the workspace's connection does not reach. */
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

/** Throws INVALID_REQUEST_BODY for a setting that names no table of the embed's datamart: it would separate nobody's rows. */
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

/** The workspace's own datamart, which an embed reads that names none. */
export const findWorkspaceDatamart = async (
  store: Pick<ContentStore, 'datamarts'>,
  workspace: Workspace,
): Promise<Datamart | undefined> =>
  workspace.datamartId === null ? undefined : store.datamarts.findById(workspace.datamartId);

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
