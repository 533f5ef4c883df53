/**
 * Operation 4: creates a dashboard of one client with its embed. The dashboard is empty, or made from a template or an
 * export. If a step fails, nothing is stored.
 */
import {
  allWritten,
  nothingWritten,
  overTemplate,
  relabelLayout,
  type SchemaPair,
} from '../../model/dashboard/content.js';
import type { Dashboard, DashboardContent, MetricPlacement } from '../../model/dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../../model/dashboard/embed.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { type Datamart, withTenancySettings } from '../../model/datamart/datamart.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Workspace } from '../../model/organization.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { holdDataApp } from '../data-apps/data-apps.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import { assertTenancySettings, loadEmbedDatamart } from '../embeds/source.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { assertInserted, copyMetrics, emptyContent, insertDashboard, moveContent, readTemplate } from './blueprint.js';
import { assertTypes } from './type-check.js';

export type CreateDashboardEmbed = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  readonly clientId: string;
  readonly accessSettings: AccessSettings & { readonly datamartName: string };
  readonly templateDashboardId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly isAllowPrivateMetricsByDefault?: boolean | undefined;
  readonly name?: string | undefined;
  readonly embedDescription?: string | undefined;
  readonly isImportMetrics: boolean;
  readonly metricImportMode?: MetricPlacement | undefined;
  readonly importDashboardData?: DashboardContent | undefined;
  readonly isRenameDashboard: boolean;
  readonly schemaPairs?: readonly SchemaPair[] | undefined;
};

type Deps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'check'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sqlRewriter: SqlRewriter;
};

type Blueprint = { readonly content: DashboardContent; readonly templateId: string | null };

const readBlueprint = async (
  deps: Deps,
  { dataAppId }: ApiKeyCaller,
  workspace: Workspace,
  datamart: Datamart,
  command: CreateDashboardEmbed,
): Promise<Blueprint> => {
  const { importDashboardData, templateDashboardId, metricImportMode = 'METRIC', schemaPairs = [] } = command;
  const isImported = command.isImportMetrics && importDashboardData === undefined;
  const template =
    templateDashboardId === undefined
      ? undefined
      : await readTemplate(
          deps.store,
          workspace,
          { dataAppId, clientId: command.clientId },
          templateDashboardId,
          isImported,
        );
  const templateId = template?.dashboard.id ?? null;
  const source = placedBy(metricImportMode, template?.content ?? emptyContent);
  const code = 'TEMPLATE_DASHBOARD_ERROR';
  const cloned = await moveContent(deps, source, schemaPairs, [datamart], code, nothingWritten);
  if (importDashboardData === undefined) return { templateId, content: asCloned(cloned) };
  const imported = await moveContent(deps, importDashboardData, schemaPairs, [datamart], 'INVALID_DASHBOARD_DATA');
  return { templateId, content: overTemplate(imported, cloned) };
};

/**
 * Returns what a clone takes from its template: filters, grid margins, layout, tiles and metrics. spec-gap: other settings are
 * not copied.
 */
const asCloned = ({ layout, filters, metrics, gridMargin, tiles }: DashboardContent): DashboardContent => ({
  layout,
  filters,
  metrics,
  gridMargin,
  ...(tiles === undefined ? {} : { tiles }),
});

/**
 * Returns the content with its metrics placed by `mode`. The mode applies to the metrics of a template; an import has
 * its own placements.
 */
const placedBy = (mode: MetricPlacement, content: DashboardContent): DashboardContent =>
  mode === 'METRIC'
    ? content
    : { ...content, layout: [], tiles: [], metrics: content.metrics.map((metric) => ({ ...metric, placement: mode })) };

const nameOf = ({ isRenameDashboard, name, dashboardId, clientId }: CreateDashboardEmbed): string =>
  isRenameDashboard && name !== undefined ? name : `${dashboardId}_${clientId}`;

type Made = { readonly dashboard: Dashboard; readonly metrics: readonly Metric[] };

const make = (
  { ids }: Deps,
  { dataAppId }: ApiKeyCaller,
  workspace: Workspace,
  command: CreateDashboardEmbed,
  { content, templateId }: Blueprint,
): Made => {
  const owner = { dataAppId, clientId: command.clientId };
  const { metrics, newIds } = copyMetrics(ids, content, workspace, owner);
  const dashboard: Dashboard = {
    id: ids.uuid(),
    externalDashboardId: command.dashboardId,
    workspaceId: workspace.id,
    name: nameOf(command),
    owner,
    templateId,
    layout: relabelLayout(content.layout, newIds),
    gridMargin: content.gridMargin,
    filters: content.filters,
    tiles: content.tiles,
    metadata: command.metadata ?? content.metadata ?? null,
    isAllowPrivateMetricsByDefault:
      command.isAllowPrivateMetricsByDefault ?? content.isAllowPrivateMetricsByDefault ?? false,
  };
  return { dashboard, metrics };
};

const makeEmbed = (
  clock: Clock,
  { dataAppId }: ApiKeyCaller,
  command: CreateDashboardEmbed,
  dashboard: Dashboard,
): Embed => ({
  // Embeds and dashboards share one namespace. This embed has the id of its dashboard.
  embedId: command.dashboardId,
  dataAppId,
  embedType: 'dashboard',
  dashboardId: dashboard.id,
  metricId: null,
  name: command.name ?? command.dashboardId,
  description: command.embedDescription ?? null,
  accessSettings: command.accessSettings,
  createdAt: clock.now(),
});

const create = (deps: Deps, caller: ApiKeyCaller, command: CreateDashboardEmbed): Promise<Embed> =>
  deps.store.transaction(async (store) => {
    const inner = { ...deps, store };
    await holdDataApp(store, caller);
    const workspace = await loadWorkspace(store, command.workspaceName, 'held');
    const datamart = await loadEmbedDatamart(store, workspace, command.accessSettings.datamartName);
    assertTenancySettings(datamart, command.accessSettings);
    await loadTenantScope(store, datamart, command.clientId);
    const blueprint = await readBlueprint(inner, caller, workspace, datamart, command);
    const { dashboard, metrics } = make(deps, caller, workspace, command, blueprint);
    const embed = makeEmbed(deps.clock, caller, command, dashboard);
    const placements = blueprint.content.metrics.map(({ placement }) => placement);
    await insertDashboard(store, dashboard, metrics, placements, embed.createdAt);
    assertInserted(await store.embeds.insert(embed), command.dashboardId);
    return embed;
  });

/** Before the transaction, which must not wait for a customer's database. Throws as the creation. */
const assertImport = async (deps: Deps, command: CreateDashboardEmbed, signal: AbortSignal): Promise<void> => {
  const { importDashboardData, schemaPairs = [], clientId, accessSettings } = command;
  if (importDashboardData === undefined) return;
  const workspace = await loadWorkspace(deps.store, command.workspaceName);
  const datamart = await loadEmbedDatamart(deps.store, workspace, accessSettings.datamartName);
  assertTenancySettings(datamart, accessSettings);
  const content = await moveContent(deps, importDashboardData, schemaPairs, [datamart], 'INVALID_DASHBOARD_DATA');
  const datamarts = [withTenancySettings(datamart, accessSettings.tableTenancySettings ?? [])];
  await assertTypes(deps, { content, datamarts, clientId, ...allWritten }, signal);
};

/** Operation 4. A failure that the caller did not cause throws DASHBOARD_CREATE_ERROR, and nothing is stored. */
export const createDashboardEmbed =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, command: CreateDashboardEmbed, signal: AbortSignal): Promise<Embed> => {
    try {
      await assertImport(deps, command, signal);
      return await create(deps, caller, command);
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      throw new Refusal('DASHBOARD_CREATE_ERROR', 'The dashboard could not be created, and nothing was stored.', {
        cause,
      });
    }
  };
