/** Reads from the service what it has of a policy's names. Reads names alone, never rows. */
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { mapBounded } from '../../platform/work/bounded.js';
import { getDashboardContent } from '../../service/dashboards/contract/content.js';
import { exportEmbed } from '../../service/dashboards/contract/dashboards.js';
import { listDashboardMetrics, listDashboards } from '../../service/dashboards/contract/workspace-dashboards.js';
import { listDatamartColumns } from '../../service/datamarts/contract/columns.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import { listWorkspaces } from '../../service/workspaces/contract.js';
import type { CatalogueBoard, NameCatalogue, PolicyName } from '../policy/names.js';
import type { Policy } from '../policy/policy.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type CatalogueDeps = { readonly upstream: Call; readonly capabilities: Pick<Capabilities, 'supports'> };

/** The names that the service is asked for. */
export type AskedNames = {
  readonly workspace: string;
  readonly templates: readonly string[];
  readonly embeds: readonly string[];
  /** The datamart whose columns are named; null: none is. */
  readonly datamart: string | null;
  /** The datamarts that the policy names as sources. */
  readonly datamarts?: readonly string[] | undefined;
  /** Whether the policy names a source at all, so that the type of its workspace counts. */
  readonly hasSources?: boolean | undefined;
};

export const askedNames = ({ names, datamart }: Pick<Policy, 'names' | 'datamart'>): AskedNames => {
  const of = (kind: PolicyName['kind']) => [
    ...new Set(names.filter((one) => one.kind === kind).map(({ name }) => name)),
  ];
  return {
    workspace: of('workspace')[0] ?? '',
    templates: of('template'),
    embeds: of('embed'),
    datamart: of('column').length > 0 ? datamart : null,
    ...(of('datamart').length + of('datasource').length === 0 ? {} : { datamarts: of('datamart'), hasSources: true }),
  };
};

const boardOf = (
  source: string,
  { filters, metrics }: Pick<DashboardContent, 'filters' | 'metrics'>,
): CatalogueBoard => ({
  source,
  filters: filters.map(({ name }) => name),
  metrics: metrics.map(({ metricId, name }) => ({ metricId, name })),
  metricFilters: metrics.flatMap(({ definition }) => definition.filters.flatMap(({ name, label }) => [name, label])),
  rlsVariables: metrics.flatMap(({ definition }) => definition.rlsVariables.map(({ name }) => name)),
});

const unread = { filters: null, metrics: null, metricFilters: null, rlsVariables: null };

/** Returns undefined if the service answers with one of these codes. */
const unless = async <T>(codes: readonly string[], ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof UpstreamRefusal && codes.includes(error.code)) return undefined;
    throw error;
  }
};

const readTemplate = (
  { upstream, capabilities }: CatalogueDeps,
  workspaceName: string,
  dashboardId: string,
): Promise<CatalogueBoard | undefined> =>
  unless(['INVALID_DASHBOARD_ID'], async () => {
    const asked = { workspaceName, dashboardId };
    if (await capabilities.supports('read-content'))
      return boardOf(dashboardId, (await upstream(getDashboardContent, asked)).data);
    const { data } = await upstream(listDashboardMetrics, asked);
    return { ...unread, source: dashboardId, metrics: data };
  });

const readEmbed = async (
  { upstream, capabilities }: CatalogueDeps,
  embedId: string,
): Promise<CatalogueBoard | undefined> => {
  if (await capabilities.supports('export-embed'))
    return unless(['INVALID_EMBED_ID'], async () => boardOf(embedId, (await upstream(exportEmbed, { embedId })).data));
  const { data } = await upstream(listEmbeds, {});
  return data.some((one) => one.embedId === embedId) ? { ...unread, source: embedId } : undefined;
};

/** Copies are named `<template>--<clientId>`. They are no templates, and name tenants. */
const isCopy = (id: string): boolean => id.includes('--');

const readTables = async (
  { upstream, capabilities }: CatalogueDeps,
  datamartName: string | null,
): Promise<Pick<NameCatalogue, 'tables' | 'allColumns'>> => {
  const nothing = { tables: null, allColumns: null };
  if (datamartName === null || !(await capabilities.supports('list-columns'))) return nothing;
  const listed = await unless(['INVALID_DATAMART'], () => upstream(listDatamartColumns, { datamartName }));
  if (listed === undefined) return nothing;
  // A service of an earlier release tells less.
  const { tables, allColumns = null } = listed.data as Partial<typeof listed.data> & Pick<typeof listed.data, 'tables'>;
  return { tables, allColumns };
};

const atOnce = 4;

const listMissingDatamarts = async (
  { upstream, capabilities }: CatalogueDeps,
  named: readonly string[],
): Promise<readonly string[]> => {
  const missing: string[] = [];
  if (named.length === 0 || !(await capabilities.supports('list-columns'))) return missing;
  await mapBounded(named, atOnce, async (datamartName) => {
    const found = await unless(['INVALID_DATAMART'], () => upstream(listDatamartColumns, { datamartName }));
    if (found === undefined) missing.push(datamartName);
  });
  return missing;
};

const readConnectionType = async ({ upstream }: CatalogueDeps, workspace: string): Promise<string | null> =>
  (await upstream(listWorkspaces, {})).data.find(({ name }) => name === workspace)?.connectionType ?? null;

/** Rejects with UPSTREAM_UNAVAILABLE if the service cannot be asked now. */
export const readCatalogue = async (deps: CatalogueDeps, asked: AskedNames): Promise<NameCatalogue> => {
  const { upstream } = deps;
  const { workspace, templates, embeds } = asked;
  const listBoards = () => upstream(listDashboards, { workspaceName: workspace, isPagination: true, pageNumber: 1 });
  const isThere = (await unless(['WORKSPACE_ID_ERROR'], listBoards)) !== undefined;
  const found: CatalogueBoard[] = [];
  const missing: string[] = [];
  const read = async (source: string, board: Promise<CatalogueBoard | undefined>): Promise<void> => {
    const there = await board;
    if (there === undefined) missing.push(source);
    else found.push(there);
  };
  if (isThere) await mapBounded(templates, atOnce, (one) => read(one, readTemplate(deps, workspace, one)));
  else missing.push(...templates);
  await mapBounded(embeds, atOnce, (one) => read(one, readEmbed(deps, one)));
  const isMissing = (names: readonly string[]): boolean => names.some((name) => missing.includes(name));
  const dashboards =
    isThere && isMissing(templates) ? (await upstream(listDashboards, { workspaceName: workspace })).data : [];
  const others = isMissing(embeds) ? (await upstream(listEmbeds, {})).data : [];
  return {
    otherWorkspaces: isThere ? null : (await upstream(listWorkspaces, {})).data.map(({ name }) => name),
    boards: found,
    missing,
    dashboardsThere: dashboards.map(({ externalDashboardId }) => externalDashboardId).filter((id) => !isCopy(id)),
    ...(await readTables(deps, asked.datamart)),
    missingDatamarts: [...(await listMissingDatamarts(deps, asked.datamarts ?? []))],
    connectionType: asked.hasSources === true && isThere ? await readConnectionType(deps, workspace) : null,
    embedsThere: others.map(({ embedId }) => embedId).filter((id) => !isCopy(id)),
  };
};
