/** The workspace and datamart of an embed. */
import type { AccessSettings } from '../../model/dashboard/embed.js';
import { noColumnRules } from '../../model/datamart/column-rules.js';
import { type Datamart, qualifiedName } from '../../model/datamart/datamart.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { reachesDatamart, type Workspace } from '../../model/organization.js';
import { Refusal } from '../../model/refusal.js';
import { findOfDatasource } from '../datamarts/of-datasource.js';
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

/** The part of a scope that names a source. */
export type NamedSource = Pick<SourceScope, 'datamartId' | 'datasourceId'>;

/** For callers of the host, who see all columns. */
export const unscoped: SourceScope = { datamartId: null, datasourceId: null, columnRules: noColumnRules };

/**
 * Returns the scope for the names. Throws DATASOURCE_NAME_ERROR or INVALID_REQUEST_BODY for a name that there is not,
 * and DATASOURCE_NAME_ERROR if the datamart is not of the datasource.
 */
export const loadSourceScope = async (
  store: Pick<Store, 'datamarts' | 'datasources'>,
  {
    datasourceName,
    datamartName,
  }: { readonly datasourceName?: string | undefined; readonly datamartName?: string | undefined },
): Promise<{ readonly scope: NamedSource; readonly datamart: Datamart | undefined }> => {
  const datasource = datasourceName === undefined ? undefined : await store.datasources.findByName(datasourceName);
  if (datasourceName !== undefined && datasource === undefined) {
    throw new Refusal('DATASOURCE_NAME_ERROR', `There is no datasource named ${JSON.stringify(datasourceName)}.`);
  }
  const datasourceId = datasource?.id ?? null;
  if (datamartName === undefined) return { scope: { datamartId: null, datasourceId }, datamart: undefined };
  const datamart = await store.datamarts.findByName(datamartName);
  if (datamart === undefined) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `datamartName: there is no datamart named ${JSON.stringify(datamartName)}.`,
    );
  }
  if (datasource !== undefined && datamart.datasourceId !== datasource.id) {
    throw new Refusal(
      'DATASOURCE_NAME_ERROR',
      `Datamart ${JSON.stringify(datamartName)} is not of datasource ${JSON.stringify(datasourceName)}.`,
    );
  }
  return { scope: { datamartId: datamart.id, datasourceId }, datamart };
};

const isUnscoped = ({ datamartId, datasourceId }: NamedSource): boolean => datamartId === null && datasourceId === null;

/**
 * Returns the datamart that an embed reads. In a workspace with one source: the datamart that the embed names, or else
 * the workspace's own. In a workspace with several: the datamart that the token names; of a token that names only a
 * datasource, the embed's if it is of that datasource, or else the only one there is; and where the token names
 * nothing, the embed's. Otherwise undefined, since it would be unclear which client's rows to read. What the token
 * names is never replaced by another source.
 */
export const findScopedDatamart = async (
  store: ContentStore,
  workspace: Workspace,
  scope: NamedSource,
  embedsName?: string,
): Promise<Datamart | undefined> => {
  const ofEmbed = embedsName === undefined ? undefined : await store.datamarts.findByName(embedsName);
  switch (workspace.connectionType) {
    case 'DATAMART':
    case 'DATASOURCE':
      return embedsName === undefined ? findWorkspaceDatamart(store, workspace) : ofEmbed;
    case 'MULTI_DATAMART':
    case 'MULTI_DATASOURCE':
      return isUnscoped(scope) ? ofEmbed : findNamedDatamart(store, scope, ofEmbed);
  }
};

/** Callers compare what they get with a datasource that the scope names too. */
const findNamedDatamart = async (
  store: ContentStore,
  { datamartId, datasourceId }: NamedSource,
  ofEmbed: Datamart | undefined,
): Promise<Datamart | undefined> => {
  if (datamartId !== null) return store.datamarts.findById(datamartId);
  return datasourceId === null ? ofEmbed : findOfDatasource(store.datamarts, datasourceId, ofEmbed);
};
