/** Operation 4: a dashboard of one client with its embed, empty, from a template or from an export. All or nothing. */
import { isOpenTo } from '../domain/access.js';
import type { ApiKeyCaller } from '../domain/caller.js';
import { contentFaults, overTemplate, relabelLayout, replaceSchemas, type SchemaPair } from '../domain/content.js';
import type { Dashboard, DashboardContent, MetricPlacement } from '../domain/dashboard.js';
import type { Datamart } from '../domain/datamart.js';
import type { AccessSettings, Embed } from '../domain/embed.js';
import { hostMade, type Metric } from '../domain/metric.js';
import type { Workspace } from '../domain/organization.js';
import type { Clock, Ids, Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { tenantScope } from '../domain/tenant.js';
import { assertTenancySettings, loadEmbedDatamart, loadEmbedWorkspace } from './embed-source.js';

export type CreateDashboardEmbed = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  readonly clientId: string;
  readonly accessSettings: AccessSettings & { readonly datamartName: string };
  readonly templateDashboardId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly isAllowPrivateMetricsByDefault: boolean;
  readonly name?: string | undefined;
  readonly embedDescription?: string | undefined;
  readonly isImportMetrics: boolean;
  readonly metricImportMode?: MetricPlacement | undefined;
  readonly importDashboardData?: DashboardContent | undefined;
  readonly isRenameDashboard: boolean;
  readonly schemaPairs?: readonly SchemaPair[] | undefined;
};

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };

/** What the new dashboard is made from: its content, and where each of its metrics comes from. */
type Blueprint = {
  readonly content: DashboardContent;
  readonly templateId: string | null;
  readonly lineageOf: (metricId: string) => readonly string[];
};

const emptyContent: DashboardContent = { layout: [], filters: [], metrics: [], gridMargin: [] };

const readTemplate = async (
  store: Store,
  { dataAppId }: ApiKeyCaller,
  workspace: Workspace,
  command: CreateDashboardEmbed,
): Promise<Blueprint> => {
  const { templateDashboardId: id, importDashboardData, clientId } = command;
  if (id === undefined) return { content: emptyContent, templateId: null, lineageOf: () => [] };
  // Only the organization's dashboards are templates: a client's copy may hold what that client wrote into it.
  const template = await store.dashboards.findTemplate(id);
  if (template === undefined || template.workspaceId !== workspace.id) {
    throw new Refusal(
      'TEMPLATE_DASHBOARD_ERROR',
      `Workspace ${JSON.stringify(workspace.name)} has no template dashboard ${JSON.stringify(id)}.`,
    );
  }
  const isImported = command.isImportMetrics && importDashboardData === undefined;
  const placed = isImported ? await store.dashboards.listMetrics(template.id) : [];
  // On a dashboard of the organization's there may be metrics of another client: they are that client's alone.
  const metrics = placed
    .map(({ metric }) => metric)
    .filter(({ owner, isArchived }) => !isArchived && isOpenTo(owner, { dataAppId, clientId }));
  const { filters, gridMargin } = template;
  // A card without its metric shows nothing.
  const layout = template.layout.filter((card) => metrics.some(({ metricId }) => metricId === card.metricId));
  return {
    content: { layout, filters, gridMargin, metrics },
    templateId: template.id,
    lineageOf: (metricId) => [metricId, ...(metrics.find((metric) => metric.metricId === metricId)?.lineage ?? [])],
  };
};

const assertFits = (
  code: 'TEMPLATE_DASHBOARD_ERROR' | 'INVALID_DASHBOARD_DATA',
  content: DashboardContent,
  datamart: Datamart,
): void => {
  const faults = contentFaults(content, datamart);
  if (faults.length === 0) return;
  throw new Refusal(
    code,
    `The dashboard does not fit datamart ${JSON.stringify(datamart.name)}: ${faults.slice(0, 10).join('; ')}.`,
  );
};

const readBlueprint = async (
  store: Store,
  caller: ApiKeyCaller,
  workspace: Workspace,
  datamart: Datamart,
  command: CreateDashboardEmbed,
): Promise<Blueprint> => {
  const { importDashboardData, schemaPairs = [] } = command;
  const template = await readTemplate(store, caller, workspace, command);
  const cloned = replaceSchemas(template.content, schemaPairs);
  assertFits('TEMPLATE_DASHBOARD_ERROR', cloned, datamart);
  if (importDashboardData === undefined) return { ...template, content: cloned };
  const imported = replaceSchemas(importDashboardData, schemaPairs);
  assertFits('INVALID_DASHBOARD_DATA', imported, datamart);
  return { ...template, content: overTemplate(imported, cloned), lineageOf: () => [] };
};

type Made = { readonly dashboard: Dashboard; readonly metrics: readonly Metric[]; readonly embed: Embed };

const make = (
  { clock, ids }: Deps,
  caller: ApiKeyCaller,
  workspace: Workspace,
  command: CreateDashboardEmbed,
  blueprint: Blueprint,
): Made => {
  const { content } = blueprint;
  const owner = { dataAppId: caller.dataAppId, clientId: command.clientId };
  const newIds = new Map(content.metrics.map(({ metricId }) => [metricId, ids.uuid()]));
  const metrics = content.metrics.map(({ metricId, name, definition }) => ({
    metricId: newIds.get(metricId) ?? ids.uuid(),
    workspaceId: workspace.id,
    name,
    definition,
    lineage: blueprint.lineageOf(metricId),
    owner,
    ...hostMade,
  }));
  const isShown = (command.metricImportMode ?? 'METRIC') === 'METRIC' || command.importDashboardData !== undefined;
  const dashboard: Dashboard = {
    id: ids.uuid(),
    externalDashboardId: command.dashboardId,
    workspaceId: workspace.id,
    name:
      command.isRenameDashboard && command.name !== undefined
        ? command.name
        : `${command.dashboardId}_${command.clientId}`,
    owner,
    templateId: blueprint.templateId,
    layout: isShown ? relabelLayout(content.layout, newIds) : [],
    gridMargin: content.gridMargin,
    filters: content.filters,
    metadata: command.metadata ?? null,
    isAllowPrivateMetricsByDefault: command.isAllowPrivateMetricsByDefault,
  };
  return { dashboard, metrics, embed: makeEmbed(clock, caller, command, dashboard) };
};

const makeEmbed = (clock: Clock, caller: ApiKeyCaller, command: CreateDashboardEmbed, dashboard: Dashboard): Embed => ({
  // Embeds and dashboards share one namespace: this embed is known by its dashboard's id.
  embedId: command.dashboardId,
  dataAppId: caller.dataAppId,
  embedType: 'dashboard',
  dashboardId: dashboard.id,
  metricId: null,
  name: command.name ?? command.dashboardId,
  description: command.embedDescription ?? null,
  accessSettings: command.accessSettings,
  createdAt: clock.now(),
});

const taken = (dashboardId: string): Refusal =>
  new Refusal(
    'INVALID_DASHBOARD_ID',
    `dashboardId ${JSON.stringify(dashboardId)} exists already; ids are unique within the data app.`,
    { reason: 'dashboard-id-taken' },
  );

const insertAll = async (store: Store, { dashboard, metrics, embed }: Made): Promise<void> => {
  const { externalDashboardId } = dashboard;
  if ((await store.dashboards.findTemplate(externalDashboardId)) !== undefined) throw taken(externalDashboardId);
  if (!(await store.dashboards.insert(dashboard))) throw taken(externalDashboardId);
  for (const metric of metrics) {
    if (!(await store.metrics.insert(metric))) throw new Error('a random metric id was taken');
  }
  const shown = new Set(dashboard.layout.map(({ metricId }) => metricId));
  await store.dashboards.placeMetrics(
    dashboard.id,
    metrics.map(({ metricId }) => ({ metricId, placement: shown.has(metricId) ? 'METRIC' : 'GALLERY' })),
    embed.createdAt,
  );
  if (!(await store.embeds.insert(embed))) throw taken(externalDashboardId);
};

const create = (deps: Deps, caller: ApiKeyCaller, command: CreateDashboardEmbed): Promise<Embed> =>
  deps.store.transaction(async (store) => {
    const workspace = await loadEmbedWorkspace(store, command.workspaceName);
    const datamart = await loadEmbedDatamart(store, workspace, command.accessSettings.datamartName);
    assertTenancySettings(datamart, command.accessSettings);
    tenantScope(datamart, command.clientId);
    const blueprint = await readBlueprint(store, caller, workspace, datamart, command);
    const made = make(deps, caller, workspace, command, blueprint);
    await insertAll(store, made);
    return made.embed;
  });

/** Operation 4. What fails for no fault of the caller's is DASHBOARD_CREATE_ERROR, and nothing of it is kept. */
export const createDashboardEmbed =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, command: CreateDashboardEmbed): Promise<Embed> => {
    try {
      return await create(deps, caller, command);
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      throw new Refusal('DASHBOARD_CREATE_ERROR', 'The dashboard could not be created, and nothing of it was kept.', {
        cause,
      });
    }
  };
