/**
 * Operation 1. Every name in the request is resolved and checked once, here. A setting that cannot be enforced is
 * refused at mint.
 */
import type { ColumnRules } from '../../model/datamart/column-rules.js';
import { isTimezone } from '../../model/filter/date-range.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type {
  AccessPermissions,
  DashboardValues,
  GuestGrant,
  GuestPermissions,
  MetricValues,
} from '../../model/guest/grant.js';
import type { Clock, Ids, Tokens } from '../../model/ports.js';
import { noQuota, type Quota } from '../../model/quota.js';
import { Refusal } from '../../model/refusal.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import { loadSourceScope, type NamedSource } from '../embeds/source.js';
import type { Store } from '../store/store.js';
import { type MintScope, openScope, pinDashboards } from './mint-scope.js';
import {
  assertExactNumbers,
  checkAppFilters,
  checkColumnRules,
  checkHiddenFilters,
  checkRlsSettings,
  resolveDashboardFilters,
  resolveHiddenMetrics,
} from './mint-settings.js';

export type CreateGuestToken = {
  readonly clientId: string;
  readonly dataAppName: string;
  readonly params?:
    | {
        readonly allowedEmbeds?: readonly string[] | undefined;
        readonly rlsSettings?: readonly MetricValues[] | undefined;
        readonly appFilters?: readonly MetricValues[] | undefined;
        readonly dashboardAppFilters?: readonly DashboardValues[] | undefined;
        readonly hideDashboardFilters?: readonly string[] | undefined;
        readonly hideDashboardMetrics?:
          | readonly { readonly dashboardId: string; readonly metricIds: readonly string[] }[]
          | undefined;
        readonly hideColumns?: readonly string[] | undefined;
        readonly maskColumns?: Readonly<Record<string, string>> | undefined;
        readonly quota?: Quota | undefined;
        readonly userIdentifier?: string | undefined;
        readonly timezone?: string | undefined;
        readonly accessPermissions?: AccessPermissions | undefined;
      }
    | undefined;
  readonly permissions?: GuestPermissions | undefined;
  readonly expiryTime?: number | undefined;
  readonly datasourceName?: string | undefined;
  readonly datamartName?: string | undefined;
};

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly tokens: Tokens };

const assertDataApp = (caller: ApiKeyCaller, command: CreateGuestToken): void => {
  if (caller.dataAppName !== command.dataAppName) {
    throw new Refusal('AUTHENTICATION_ERROR', 'API key is invalid or expired', { reason: 'key-of-another-data-app' });
  }
};

const assertTimezone = (timezone: string | undefined): void => {
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `params.timezone: ${JSON.stringify(timezone)} is no IANA timezone, such as "Europe/Vienna".`,
    );
  }
};

/** Throws as `loadSourceScope`, and CLIENT_ID_ERROR if the client does not fit the datamart that is named. */
const scopeSources = async (store: Store, command: CreateGuestToken): Promise<NamedSource> => {
  const { scope, datamart } = await loadSourceScope(store, command);
  if (datamart !== undefined) await loadTenantScope(store, datamart, command.clientId);
  return scope;
};

const rulesOf = ({ params = {} }: CreateGuestToken): ColumnRules => ({
  hideColumns: params.hideColumns ?? [],
  maskColumns: params.maskColumns ?? {},
});

const grantOf = async (
  deps: Deps,
  scope: MintScope & { readonly sources: NamedSource },
  command: CreateGuestToken,
): Promise<Omit<GuestGrant, keyof NamedSource>> => {
  const { params = {}, permissions = {}, expiryTime } = command;
  const moment = { now: deps.clock.now(), timezone: params.timezone ?? null };
  const rlsSettings = params.rlsSettings ?? [];
  const appFilters = params.appFilters ?? [];
  assertExactNumbers({ rlsSettings, appFilters, dashboardAppFilters: params.dashboardAppFilters ?? [] });
  await checkRlsSettings(scope, rlsSettings);
  await checkAppFilters(scope, appFilters, moment);
  checkHiddenFilters(scope, params.hideDashboardFilters ?? []);
  const dashboardAppFilters = await resolveDashboardFilters(scope, params.dashboardAppFilters ?? [], moment);
  const hideDashboardMetrics = await resolveHiddenMetrics(scope, params.hideDashboardMetrics ?? []);
  const restrictions = { rlsSettings, appFilters, dashboardAppFilters, hideDashboardMetrics };
  return {
    id: deps.ids.uuid(),
    dataAppId: scope.dataAppId,
    clientId: command.clientId,
    userIdentifier: params.userIdentifier ?? null,
    timezone: params.timezone ?? null,
    allowedEmbeds: scope.allowed?.map(({ embed }) => embed.embedId) ?? null,
    rlsSettings,
    appFilters,
    dashboardAppFilters,
    hideDashboardFilters: params.hideDashboardFilters ?? [],
    hideDashboardMetrics,
    columnRules: await checkColumnRules(scope, scope.sources, rulesOf(command)),
    pinnedDashboards: await pinDashboards(scope, restrictions),
    quota: params.quota ?? noQuota,
    accessPermissions: params.accessPermissions ?? {},
    permissions,
    createdAt: moment.now,
    expiresAt: expiryTime === undefined ? null : new Date(moment.now.getTime() + Math.ceil(expiryTime)),
  };
};

const deletedMeanwhile = (): Refusal =>
  new Refusal(
    'INVALID_REQUEST_BODY',
    'The data app or client, or a datamart or embed that the request names, was deleted while the token was created. Retry the request.',
    { reason: 'deleted-meanwhile' },
  );

/**
 * Creates a token and stores its hash and grant. Only the answer contains the token itself. The epoch is read before
 * anything else, and all names are resolved and stored in one transaction, so a revocation in between makes the token
 * invalid from the start.
 */
export const createGuestToken =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, command: CreateGuestToken): Promise<{ readonly token: string }> => {
    assertDataApp(caller, command);
    assertTimezone(command.params?.timezone);
    const { dataAppId } = caller;
    const { clientId, params } = command;
    const subject = { dataAppId, clientId, userIdentifier: params?.userIdentifier ?? null };
    const epoch = await deps.store.guestTokens.currentEpoch(subject);
    const token = deps.tokens.create();
    await deps.store.transaction(async (store) => {
      const sources = await scopeSources(store, command);
      const subject = { dataAppId, clientId, sources: { ...sources, columnRules: rulesOf(command) } };
      const scope = await openScope(store, subject, params?.allowedEmbeds ?? null);
      const grant = { ...(await grantOf(deps, { ...scope, sources }, command)), ...sources };
      if (!(await store.guestTokens.insert(deps.tokens.hash(token), grant, epoch, caller.gateway)))
        throw deletedMeanwhile();
    });
    return { token };
  };
