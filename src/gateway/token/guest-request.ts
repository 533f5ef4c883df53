/**
 * Builds the guest-token request of a grant. Binds every restriction to every granted dashboard or, if it applies to
 * metrics, to every metric that is not hidden. The service refuses the mint if it does not know a name in the request.
 */
import type { Capability } from '../../model/capability.js';
import { addedPermissions } from '../../model/guest/grant.js';
import { hasQuota } from '../../model/quota.js';
import { Refusal } from '../../model/refusal.js';
import type { GuestTokenRequest } from '../../service/guest-tokens/contract/guest-tokens.js';
import type { Session } from '../authenticate/signed-session.js';
import type { Reason } from '../common/reasons.js';
import type { Bound, BoundValues } from '../policy/combine.js';
import { type Grant, undecided } from '../policy/decide.js';
import type { ProvisionedDashboard } from '../provision/provision.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { isRefusedByUpstream } from '../upstream/unavailable.js';
import type { FoundEmbed } from './granted-embeds.js';
import { type ShownEmbed, shownEmbeds } from './granted-embeds.js';
import type { ListedMetric, ListMetrics } from './metric-lists.js';

export type GuestRequestOf = {
  readonly dataApp: string;
  readonly clientId: string;
  readonly session: Session;
  readonly grant: Grant;
  readonly dashboards: readonly ProvisionedDashboard[];
  /** The embeds of the grant, in its order. */
  readonly embeds: readonly FoundEmbed[];
};

type Params = NonNullable<GuestTokenRequest['params']>;
type Listed = { readonly embed: ShownEmbed; readonly metrics: readonly ListedMetric[] };
type WireValues = Record<string, string | number | boolean | string[]>;

const wireValue = (value: Bound): string | number | boolean | string[] =>
  typeof value === 'object' ? [...value] : value;

const wireValues = (values: BoundValues): WireValues =>
  Object.fromEntries([...values].map(([name, value]) => [name, wireValue(value)]));

/** Whether the request needs the list of its dashboards' metrics. */
export const needsMetrics = ({ restriction }: Grant): boolean =>
  restriction.rls.size + restriction.appFilters.size + restriction.hideMetrics.size > 0;

/**
 * Returns the metric ids to hide. A name that no metric has counts as a metric id, which the service checks at the
 * mint.
 */
const hiddenOf = ({ embed, metrics }: Listed, { restriction }: Grant): readonly string[] => {
  const hidden = (restriction.hideMetrics.get(embed.source) ?? []).flatMap((name) => {
    const found = metrics.filter((metric) => metric.name === name || metric.metricId === name);
    return found.length === 0 ? [name] : found.map(({ metricId }) => metricId);
  });
  return [...new Set(hidden)].toSorted();
};

/**
 * Binds the values to every visible metric. Throws if there is none: the token would have no restriction, and metrics
 * may be added later.
 */
const bind = (values: BoundValues, metricIds: readonly string[]) => {
  if (metricIds.length > 0) return metricIds.map((metricId) => ({ metricId, values: wireValues(values) }));
  throw undecided('restriction-binds-nothing', new Error('nothing that is granted shows a metric to restrict'));
};

const metricParams = (listed: readonly Listed[], grant: Grant): Params => {
  const { rls, appFilters } = grant.restriction;
  const hidden = listed.map((item) => ({ dashboardId: item.embed.dashboardId, metricIds: [...hiddenOf(item, grant)] }));
  const shown = new Set(
    listed.flatMap(({ metrics }, index) =>
      metrics.map(({ metricId }) => metricId).filter((metricId) => !hidden[index]?.metricIds.includes(metricId)),
    ),
  );
  const metricIds = [...shown].toSorted();
  const hideDashboardMetrics = hidden.filter((item) => item.metricIds.length > 0);
  return {
    ...(rls.size === 0 ? {} : { rlsSettings: bind(rls, metricIds) }),
    ...(appFilters.size === 0 ? {} : { appFilters: bind(appFilters, metricIds) }),
    ...(hideDashboardMetrics.length === 0 ? {} : { hideDashboardMetrics }),
  };
};

/** The values of a dashboard in at most two parts: those that the end user does not see, and those that are shown. */
const dashboardFilterParts = ({ dashboardFilters, shownFilters }: Grant['restriction']) =>
  [false, true]
    .map((isShowOnUrl) => ({
      values: new Map([...dashboardFilters].filter(([name]) => shownFilters.includes(name) === isShowOnUrl)),
      isShowOnUrl,
    }))
    .filter(({ values }) => values.size > 0);

const dashboardParams = (shown: readonly ShownEmbed[], { restriction }: Grant): Params => {
  const { hideDashboardFilters } = restriction;
  const dashboardIds = [...new Set(shown.map(({ dashboardId }) => dashboardId))];
  const parts = dashboardFilterParts(restriction);
  return {
    ...(parts.length === 0
      ? {}
      : {
          dashboardAppFilters: dashboardIds.flatMap((dashboardId) =>
            parts.map(({ values, isShowOnUrl }) => ({ dashboardId, values: wireValues(values), isShowOnUrl })),
          ),
        }),
    ...(hideDashboardFilters.length === 0 ? {} : { hideDashboardFilters: [...hideDashboardFilters] }),
  };
};

const accessParams = ({ accessPermissions }: Grant): Params => {
  if (accessPermissions === null) return {};
  const { dashboardFilterColumns, metricFilterColumns, ...switches } = accessPermissions;
  const copy = (columns: typeof dashboardFilterColumns) =>
    columns?.map(({ tableName, columns: names }) => ({ tableName, columns: [...names] }));
  return {
    accessPermissions: {
      ...switches,
      ...(dashboardFilterColumns === undefined ? {} : { dashboardFilterColumns: copy(dashboardFilterColumns) }),
      ...(metricFilterColumns === undefined ? {} : { metricFilterColumns: copy(metricFilterColumns) }),
    },
  };
};

const listOf = async (embed: ShownEmbed, clientId: string, listMetrics: ListMetrics): Promise<Listed> => {
  try {
    return { embed, metrics: await listMetrics(embed.id, clientId) };
  } catch (error) {
    if (embed.source !== embed.id || !isRefusedByUpstream(error)) throw error;
    throw undecided('granted-embed-not-readable', error instanceof Refusal ? error.cause : error);
  }
};

/** Throws POLICY_UNDECIDED with the reason if the service lacks the capability. */
const requireFor = async (
  requireCapability: Asks['requireCapability'],
  name: Capability,
  reason: Reason<'POLICY_UNDECIDED'>,
): Promise<void> => {
  try {
    await requireCapability(name);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'NOT_SUPPORTED') throw error;
    throw undecided(reason, error);
  }
};

/** Throws POLICY_UNDECIDED if the service does not know rules for columns: without them, it would show what they hide. */
const columnParams = async ({ requireCapability }: Pick<Asks, 'requireCapability'>, grant: Grant): Promise<Params> => {
  const { hideColumns, maskColumns } = grant.restriction;
  if (hideColumns.length + maskColumns.size === 0) return {};
  await requireFor(requireCapability, 'column-rules', 'column-rules-unsupported');
  return {
    ...(hideColumns.length === 0 ? {} : { hideColumns: [...hideColumns] }),
    ...(maskColumns.size === 0 ? {} : { maskColumns: Object.fromEntries(maskColumns) }),
  };
};

/** Throws POLICY_UNDECIDED if the service does not count by quota: without it, the tenant would have no limit. */
const quotaParams = async ({ requireCapability }: Pick<Asks, 'requireCapability'>, grant: Grant): Promise<Params> => {
  const { quota } = grant.restriction;
  if (!hasQuota(quota)) return {};
  await requireFor(requireCapability, 'quotas', 'quota-unsupported');
  return { quota: { ...quota } };
};

type Asks = Pick<Capabilities, 'supports' | 'requireCapability'>;

/**
 * Returns the permissions of the interface. One of `addedPermissions` is sent only if it is granted, and if the service
 * knows it: others would refuse the mint. Without it, the token permits less.
 */
const permissionsFor = async (
  { supports }: Pick<Asks, 'supports'>,
  { permissions }: Grant,
): Promise<GuestTokenRequest['permissions']> => {
  const added: Readonly<Partial<Record<string, Capability>>> = addedPermissions;
  const sent: Record<string, boolean> = {};
  for (const [name, isGranted] of Object.entries(permissions)) {
    const needed = added[name];
    if (needed === undefined || (isGranted && (await supports(needed)))) sent[name] = isGranted;
  }
  return sent;
};

/** Builds the request. Equal grants give equal requests. */
export const guestRequestOf = async (
  of: GuestRequestOf,
  listMetrics: ListMetrics,
  capabilities: Asks,
): Promise<GuestTokenRequest> => {
  const { dataApp, clientId, session, grant } = of;
  const shown = shownEmbeds(of);
  const listed = needsMetrics(grant)
    ? await Promise.all(shown.map((embed) => listOf(embed, clientId, listMetrics)))
    : [];
  return {
    clientId,
    dataAppName: dataApp,
    params: {
      allowedEmbeds: shown.map(({ id }) => id).toSorted(),
      ...dashboardParams(shown, grant),
      ...metricParams(listed, grant),
      ...(await columnParams(capabilities, grant)),
      ...(await quotaParams(capabilities, grant)),
      userIdentifier: session.userIdentifier,
      ...(grant.timezone === null ? {} : { timezone: grant.timezone }),
      ...accessParams(grant),
    },
    permissions: await permissionsFor(capabilities, grant),
    expiryTime: grant.expiryMs,
    ...(grant.source.datasource === undefined ? {} : { datasourceName: grant.source.datasource }),
    ...(grant.source.datamart === undefined ? {} : { datamartName: grant.source.datamart }),
  };
};
