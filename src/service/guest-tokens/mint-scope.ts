/** What a token that is being minted may name: the embeds, dashboards and metrics that are open to its client. */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { GuestGrant, PinnedDashboard } from '../../model/guest/grant.js';
import { Refusal } from '../../model/refusal.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import { assertReads, findEmbed, findSource, type Opened } from '../embeds/lookup.js';
import type { SourceScope } from '../embeds/source.js';
import type { Store } from '../store/store.js';

export type MintScope = {
  readonly store: Store;
  readonly dataAppId: string;
  readonly clientId: string;
  /** Null if the token names no embeds. */
  readonly allowed: readonly Opened[] | null;
};

type Subject = { readonly dataAppId: string; readonly clientId: string; readonly sources: SourceScope };

const openEmbed = async (store: Store, { dataAppId, clientId, sources }: Subject, id: string): Promise<Opened> => {
  const opened = await findEmbed(store, dataAppId, id);
  if (opened === undefined || !isOpenTo(opened.dashboard.owner, { dataAppId, clientId })) {
    throw new Refusal(
      'DASHBOARD_PARAM_ERROR',
      `params.allowedEmbeds: there is no embed or dashboard ${JSON.stringify(id)} for this client.`,
    );
  }
  const source = await findSource(store, opened, sources);
  assertReads(id, source, sources);
  if (source !== undefined) await loadTenantScope(store, source.datamart, clientId);
  return opened;
};

/**
 * Calls `ask` for one item after the other. In a transaction, the first refusal ends everything. Parallel calls would
 * continue on the transaction's connection, which another request may use by then.
 */
export const oneByOne = async <T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = [];
  for (const item of items) results.push(await ask(item));
  return results;
};

/**
 * Resolves `allowedEmbeds` once. Throws DASHBOARD_PARAM_ERROR, or CLIENT_ID_ERROR if the client does not fit a
 * datamart.
 */
export const openScope = async (
  store: Store,
  subject: Subject,
  allowedEmbeds: readonly string[] | null,
): Promise<MintScope> => ({
  store,
  dataAppId: subject.dataAppId,
  clientId: subject.clientId,
  allowed:
    allowedEmbeds === null ? null : await oneByOne([...new Set(allowedEmbeds)], (id) => openEmbed(store, subject, id)),
});

/** Returns the metric if it belongs to the organization or this client. */
export const findOpenMetric = async (
  { store, ...client }: MintScope,
  metricId: string,
): Promise<Metric | undefined> => {
  const metric = await store.metrics.findById(metricId);
  return metric !== undefined && isOpenTo(metric.owner, client) ? metric : undefined;
};

/**
 * Whether a guest of this client made the metric. A setting that names such a metric restricts nothing, since a token
 * with such settings does not open the metric.
 */
export const isGuestMade = async ({ store, ...client }: MintScope, metricId: string): Promise<boolean> => {
  const metric = await store.guestMetrics.findById(metricId);
  return metric !== undefined && isOpenTo(metric.owner, client);
};

/** Returns the dashboard of an embed's or dashboard's id if it is open to this client. */
export const findOpenDashboard = async (
  { store, ...client }: MintScope,
  id: string,
): Promise<Dashboard | undefined> => {
  const opened = await findEmbed(store, client.dataAppId, id);
  const dashboard = opened?.dashboard ?? (await store.dashboards.findByExternalId(client.dataAppId, id));
  return dashboard !== undefined && isOpenTo(dashboard.owner, client) ? dashboard : undefined;
};

type Restrictions = Pick<GuestGrant, 'rlsSettings' | 'appFilters' | 'dashboardAppFilters' | 'hideDashboardMetrics'>;

const pin = ({ id, externalDashboardId }: Dashboard): PinnedDashboard => ({ externalDashboardId, dashboardId: id });

const named = async ({ store }: MintScope, restrictions: Restrictions): Promise<readonly Dashboard[]> => {
  const ids = [...restrictions.dashboardAppFilters, ...restrictions.hideDashboardMetrics].map(
    (entry) => entry.dashboardId,
  );
  const found = await Promise.all([...new Set(ids)].map((id) => store.dashboards.findById(id)));
  return found.filter((dashboard) => dashboard !== undefined);
};

const holding = async ({ store, ...client }: MintScope, restrictions: Restrictions): Promise<readonly Dashboard[]> => {
  const ids = [...restrictions.rlsSettings, ...restrictions.appFilters].map(({ metricId }) => metricId);
  const found = await Promise.all([...new Set(ids)].map((id) => store.metrics.listDashboards(id)));
  return found.flat().filter(({ owner }) => isOpenTo(owner, client));
};

/**
 * Returns the dashboards of `allowedEmbeds`, those that a restriction names, and those that hold a metric that a
 * restriction names. If two have the same external id, the one that a restriction names is used.
 */
export const pinDashboards = async (
  scope: MintScope,
  restrictions: Restrictions,
): Promise<readonly PinnedDashboard[]> => {
  const first = await named(scope, restrictions);
  const others = [...(scope.allowed ?? []).map(({ dashboard }) => dashboard), ...(await holding(scope, restrictions))];
  const all = [
    ...first,
    ...others.filter(
      (other) => !first.some(({ externalDashboardId }) => externalDashboardId === other.externalDashboardId),
    ),
  ];
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index).map(pin);
};
