/**
 * Reads a dashboard's content, and replaces it in place. References to the dashboard, its embeds and its metrics stay
 * valid.
 */
import { canonicalJson } from '../../model/canonical-json.js';
import { relabelLayout, type Written } from '../../model/dashboard/content.js';
import type { Dashboard, DashboardContent, PlacedMetric } from '../../model/dashboard/dashboard.js';
import type { CopySettings, Embed } from '../../model/dashboard/embed.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { WarmUp } from '../../model/guest/warm-up.js';
import type { Workspace } from '../../model/organization.js';
import type { Clock, Digest, Ids } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { assertSettings } from '../embeds/settings.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { contentOf, moveContent, refuseContent } from './blueprint.js';
import { writeMetrics } from './replaced-metrics.js';
import { loadOrganizationDashboard } from './transfer.js';
import { assertTypes } from './type-check.js';

type Deps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'check'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sqlRewriter: SqlRewriter;
  readonly digest: Digest;
};
type Caller = ApiKeyCaller | ServiceCaller;
type Target = { readonly dashboardId: string; readonly workspaceName: string };

const quote = (name: string): string => JSON.stringify(name);

/**
 * Returns the dashboard. Throws INVALID_DASHBOARD_ID, also for a dashboard of another data app, as if it did not exist.
 */
export const loadDashboard = async (
  store: Store,
  caller: Caller,
  workspace: Workspace,
  dashboardId: string,
): Promise<Dashboard> => {
  if (caller.kind === 'serviceToken') return loadOrganizationDashboard(store, workspace, dashboardId);
  const dashboard = await store.dashboards.findByExternalId(caller.dataAppId, dashboardId);
  if (dashboard !== undefined && dashboard.workspaceId === workspace.id) return dashboard;
  throw new Refusal(
    'INVALID_DASHBOARD_ID',
    `Workspace ${quote(workspace.name)} has no dashboard ${quote(dashboardId)}.`,
  );
};

/** Returns the current dashboard, and locks it until the transaction ends. */
const lockDashboard = async (store: Store, caller: Caller, workspace: Workspace, id: string): Promise<Dashboard> => {
  const { id: internalId } = await loadDashboard(store, caller, workspace, id);
  const locked = await store.dashboards.lock(internalId);
  if (locked === undefined)
    throw new Refusal('INVALID_DASHBOARD_ID', `Dashboard ${quote(id)} was deleted meanwhile.`, {
      reason: 'dashboard-deleted-meanwhile',
    });
  return locked;
};

/**
 * Whether the metric belongs to the dashboard's content. A dashboard of the organization may hold metrics of clients,
 * which only those clients may see.
 */
export const isOwn =
  ({ owner }: Dashboard) =>
  ({ metric }: PlacedMetric): boolean =>
    metric.owner === null || (owner !== null && isOpenTo(metric.owner, owner));

type Content = { readonly content: DashboardContent; readonly digest: string };

const contentWith = (
  { digest }: Pick<Deps, 'digest'>,
  dashboard: Dashboard,
  own: readonly PlacedMetric[],
  settings: CopySettings | undefined,
): Content => {
  const content = { ...contentOf(dashboard, own), ...(settings === undefined ? {} : { settings }) };
  return { content, digest: digest(canonicalJson(content)) };
};

/** The embed that provisioning makes with a client's dashboard. It has the dashboard's id. */
const findOwnEmbed = async (
  store: Store,
  { owner, externalDashboardId, id }: Dashboard,
): Promise<Embed | undefined> => {
  const embed = owner === null ? undefined : await store.embeds.findById(owner.dataAppId, externalDashboardId);
  return embed?.embedType === 'dashboard' && embed.dashboardId === id ? embed : undefined;
};

/** Settings without values are left out, so that they count as absent in digests and merges. */
const settingsOf = (embed: Embed | undefined): CopySettings | undefined => {
  if (embed?.accessSettings == null) return undefined;
  const { datamartName: _, ...given } = embed.accessSettings;
  const entries = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return { name: embed.name, accessSettings: Object.fromEntries(entries) as CopySettings['accessSettings'] };
};

/** Returns the dashboard's content and its digest. Throws WORKSPACE_ID_ERROR or INVALID_DASHBOARD_ID. */
export const getDashboardContent =
  (deps: Pick<Deps, 'store' | 'digest'>) =>
  (caller: Caller, { dashboardId, workspaceName, with: more }: Target & { readonly with?: 'settings' | undefined }) =>
    deps.store.transaction(async (store) => {
      const workspace = await loadWorkspace(store, workspaceName);
      // The lock prevents reading a half-replaced content.
      const dashboard = await lockDashboard(store, caller, workspace, dashboardId);
      const own = (await store.dashboards.listMetrics(dashboard.id)).filter(isOwn(dashboard));
      const settings = more === undefined ? undefined : settingsOf(await findOwnEmbed(store, dashboard));
      return { dashboardId, name: dashboard.name, ...contentWith(deps, dashboard, own, settings) };
    });

/**
 * Returns the datamarts that decide which columns exist: the one that the dashboard's embed names, else those of the
 * workspace.
 */
const datamartsOf = async (
  store: Store,
  workspace: Workspace,
  { id, owner }: Dashboard,
): Promise<readonly Datamart[]> => {
  const embed = owner === null ? undefined : await store.embeds.findByDashboard(owner.dataAppId, id);
  const name = embed?.accessSettings?.datamartName;
  const datamart = name === undefined ? undefined : await store.datamarts.findByName(name);
  return datamart === undefined ? store.workspaces.listDatamarts(workspace) : [datamart];
};

/** Throws for a dashboard that the caller may not write. Settings are the host's alone, as in `updateEmbed`. */
const assertReplaces = (
  caller: Caller,
  { owner, externalDashboardId }: Dashboard,
  { settings }: ReplaceDashboardContent,
): void => {
  if (caller.kind === 'serviceToken' && settings !== undefined)
    refuseContent('INVALID_DASHBOARD_DATA', 'The settings cannot be replaced', [
      'settings: only the API key of the data app changes them',
    ]);
  if (caller.kind === 'serviceToken' || owner?.dataAppId === caller.dataAppId) return;
  throw new Refusal(
    'INVALID_DASHBOARD_ID',
    `Dashboard ${quote(externalDashboardId)} is the organization's: use a service token.`,
    { reason: 'template-by-api-key' },
  );
};

/** Metrics and filters that the dashboard has word for word are not written anew, and a save does not stop at their faults. */
const writtenOn = ({ filters }: Dashboard, own: readonly PlacedMetric[]): Written => {
  const metrics = new Set(own.map(({ metric }) => canonicalJson(metric.definition)));
  const known = new Set(filters.map(canonicalJson));
  return {
    isNewMetric: (definition) => !metrics.has(canonicalJson(definition)),
    isNewFilter: (filter) => !known.has(canonicalJson(filter)),
    mayStayBroken: true,
  };
};

const assertUnchanged = (current: string, { expectedDigest, dashboardId }: ReplaceDashboardContent): void => {
  if (current === expectedDigest) return;
  throw new Refusal(
    'DASHBOARD_CHANGED',
    `Dashboard ${quote(dashboardId)} has changed since expectedDigest was read. Read its content again, then retry. To see what changed, send the content that you had read to POST /api/v2/data-app/dashboards/content/compare.`,
  );
};

export type ReplaceDashboardContent = Target & {
  readonly content: DashboardContent;
  readonly expectedDigest: string;
  readonly settings?: CopySettings | undefined;
};

/** The embed whose settings are replaced. Undefined if none are given. Throws if there is none to give settings to. */
const loadReplacedEmbed = async (
  store: Store,
  dashboard: Dashboard,
  { settings }: ReplaceDashboardContent,
): Promise<Embed | undefined> => {
  if (settings === undefined) return undefined;
  const embed = await findOwnEmbed(store, dashboard);
  if (embed?.accessSettings != null) return embed;
  const id = quote(dashboard.externalDashboardId);
  const fault = `settings: dashboard ${id} is not a client's, or has no embed of that id with access settings`;
  return refuseContent('INVALID_DASHBOARD_DATA', 'The settings cannot be replaced', [fault]);
};

/** As `loadReplacedEmbed`, locked until the transaction ends. */
const lockReplacedEmbed = async (
  store: Store,
  dashboard: Dashboard,
  command: ReplaceDashboardContent,
): Promise<Embed | undefined> => {
  const embed = await loadReplacedEmbed(store, dashboard, command);
  return embed && (await store.embeds.lock(embed.dataAppId, embed.embedId));
};

/** Replaces name and access settings of the embed. The dashboard follows the name if it had that of the embed. */
const writeSettings = async (
  store: Store,
  dashboard: Dashboard,
  embed: Embed | undefined,
  { settings }: ReplaceDashboardContent,
): Promise<{ readonly named: Dashboard; readonly settings: CopySettings | undefined }> => {
  if (settings === undefined || embed === undefined) return { named: dashboard, settings: undefined };
  const datamartName = embed.accessSettings?.datamartName;
  const accessSettings = { ...settings.accessSettings, ...(datamartName === undefined ? {} : { datamartName }) };
  await assertSettings(store, dashboard, accessSettings).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    refuseContent('INVALID_DASHBOARD_DATA', 'The settings cannot be replaced', [error.message.replace(/\.$/, '')]);
  });
  const updated: Embed = { ...embed, name: settings.name, accessSettings };
  await store.embeds.update(updated);
  const name = dashboard.name === embed.name ? settings.name : dashboard.name;
  return { named: { ...dashboard, name }, settings: settingsOf(updated) };
};

/** The content of a replacement on top of the dashboard. Settings that it leaves out stay. */
const withContent = (dashboard: Dashboard, content: DashboardContent): Omit<Dashboard, 'layout'> => ({
  ...dashboard,
  gridMargin: content.gridMargin,
  filters: content.filters,
  tiles: content.tiles ?? dashboard.tiles,
  metadata: content.metadata === undefined ? dashboard.metadata : content.metadata,
  isAllowPrivateMetricsByDefault: content.isAllowPrivateMetricsByDefault ?? dashboard.isAllowPrivateMetricsByDefault,
});

/** Before the transaction, which must not wait for a customer's database. Throws as the replacement. */
const assertReplacement = async (
  deps: Deps,
  caller: Caller,
  command: ReplaceDashboardContent,
  signal: AbortSignal,
): Promise<void> => {
  const { store } = deps;
  const { workspaceName, dashboardId, content } = command;
  const workspace = await loadWorkspace(store, workspaceName);
  const dashboard = await loadDashboard(store, caller, workspace, dashboardId);
  assertReplaces(caller, dashboard, command);
  const own = (await store.dashboards.listMetrics(dashboard.id)).filter(isOwn(dashboard));
  const settings = settingsOf(await loadReplacedEmbed(store, dashboard, command));
  assertUnchanged(contentWith(deps, dashboard, own, settings).digest, command);
  const datamarts = await datamartsOf(store, workspace, dashboard);
  const isNew = writtenOn(dashboard, own);
  const moved = await moveContent(deps, content, [], datamarts, 'INVALID_DASHBOARD_DATA', isNew);
  const clientId = dashboard.owner?.clientId ?? null;
  await assertTypes(deps, { content: moved, datamarts, clientId, ...isNew }, signal);
};

/**
 * Replaces the content. Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, DASHBOARD_CHANGED or INVALID_DASHBOARD_DATA;
 * then nothing is changed.
 */
export const replaceDashboardContent =
  (deps: Deps & { readonly warmUp?: Pick<WarmUp, 'want'> | undefined }) =>
  async (
    caller: Caller,
    command: ReplaceDashboardContent,
    signal: AbortSignal,
  ): Promise<{ readonly dashboard: Dashboard; readonly digest: string }> => {
    await assertReplacement(deps, caller, command, signal);
    const written = await deps.store.transaction(async (store) => {
      const inner = { ...deps, store };
      const workspace = await loadWorkspace(store, command.workspaceName);
      const dashboard = await lockDashboard(store, caller, workspace, command.dashboardId);
      assertReplaces(caller, dashboard, command);
      const placed = await store.dashboards.lockMetrics(dashboard.id);
      const own = placed.filter(isOwn(dashboard));
      const embed = await lockReplacedEmbed(store, dashboard, command);
      assertUnchanged(contentWith(deps, dashboard, own, settingsOf(embed)).digest, command);
      const datamarts = await datamartsOf(store, workspace, dashboard);
      const isNew = writtenOn(dashboard, own);
      const content = await moveContent(inner, command.content, [], datamarts, 'INVALID_DASHBOARD_DATA', isNew);
      const others = placed.filter((one) => !own.includes(one));
      const newIds = await writeMetrics(inner, dashboard, { own, others }, content);
      const kept = new Set(others.map(({ metric }) => metric.metricId));
      const { named, settings } = await writeSettings(store, dashboard, embed, command);
      const replaced: Dashboard = {
        ...withContent(named, content),
        layout: [
          ...relabelLayout(content.layout, newIds),
          ...dashboard.layout.filter(({ metricId }) => kept.has(metricId)),
        ],
      };
      await store.dashboards.update(replaced);
      const written = (await store.dashboards.listMetrics(dashboard.id)).filter(isOwn(dashboard));
      return { dashboard: replaced, digest: contentWith(deps, replaced, written, settings).digest };
    });
    deps.warmUp?.want({ dashboardId: written.dashboard.id });
    return written;
  };
