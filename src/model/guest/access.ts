/** What a guest may open, and which actions are permitted. Pure functions: the use cases supply the records. */
import { type Dashboard, isOrCopies, type PlacedMetric } from '../dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../dashboard/embed.js';
import { isOrDescendsFrom, type Metric, type Owner, type Viewer } from '../dashboard/metric.js';
import type { Reason } from '../reasons.js';
import { recordOf } from '../record-of.js';
import { Refusal } from '../refusal.js';
import { type GuestGrant, type GuestPermission, type GuestPermissions, guestPermissionNames } from './grant.js';

/**
 * Returns the same refusal for "not in the list", "another client's" and "does not exist", so that the caller cannot
 * distinguish them.
 */
export const notOpen = (reason: Reason): Refusal =>
  new Refusal('UNAUTHORIZED', 'This token does not open that dashboard or metric.', { reason });

/**
 * Whether this client may open what `owner` owns: its own things and the organization's, but not those of another
 * client.
 */
export const isOpenTo = (owner: Owner | null, client: Owner): boolean =>
  owner === null || (owner.dataAppId === client.dataAppId && owner.clientId === client.clientId);

/** Whether the token named a different dashboard under this dashboard's external id. */
const isAnother = ({ pinnedDashboards = [] }: GuestGrant, { id, externalDashboardId }: Dashboard): boolean => {
  const pinned = pinnedDashboards.filter((pin) => pin.externalDashboardId === externalDashboardId);
  return pinned.length > 0 && !pinned.some(({ dashboardId }) => dashboardId === id);
};

/** Throws UNAUTHORIZED unless the grant opens this embed of this dashboard. */
export const assertOpens = (grant: GuestGrant, embed: Embed, dashboard: Dashboard): void => {
  if (embed.dataAppId !== grant.dataAppId) throw notOpen('embed-of-another-data-app');
  if (grant.allowedEmbeds !== null && !grant.allowedEmbeds.includes(embed.embedId)) throw notOpen('embed-not-allowed');
  if (!isOpenTo(dashboard.owner, grant)) throw notOpen('dashboard-of-another-client');
  if (isAnother(grant, dashboard)) throw notOpen('dashboard-made-anew');
};

/** Returns the ids of the dashboard's metrics that this token hides. */
const hiddenMetrics = (grant: GuestGrant, dashboard: Dashboard): ReadonlySet<string> =>
  new Set(
    grant.hideDashboardMetrics
      .filter((entry) => isOrCopies(dashboard, entry.dashboardId))
      .flatMap(({ metricIds }) => metricIds),
  );

/**
 * Whether this user may know of the metric: it is open to the user's client, and is not another user's private metric.
 */
export const isMadeFor = ({ owner, guest }: Metric, viewer: Viewer): boolean => {
  const isShared = guest === null || guest.userIdentifier === null || guest.isPublished;
  return isOpenTo(owner, viewer) && (isShared || guest.userIdentifier === viewer.userIdentifier);
};

/** Whether the token restricts the rows of single metrics. */
const restrictsMetrics = ({ rlsSettings, appFilters }: GuestGrant): boolean =>
  rlsSettings.length + appFilters.length > 0;

/**
 * Whether the metric is closed because the token's restrictions do not cover it. spec-gap: a metric that a guest made
 * or rewrote could show rows that a token's restrictions hide. A token with restrictions does not open it, unless the
 * host made it and one of the restrictions names it.
 */
const isOutOfRestrictions = (grant: GuestGrant, metric: Metric): boolean => {
  if (!restrictsMetrics(grant) || (metric.guest === null && !metric.isChangedByGuest)) return false;
  const named = [...grant.rlsSettings, ...grant.appFilters].some(({ metricId }) => isOrDescendsFrom(metric, metricId));
  return metric.guest !== null || !named;
};

/** Whether the guest may know of this metric on this dashboard, archived or not. */
export const isMetricKnown = (grant: GuestGrant, dashboard: Dashboard, metric: Metric): boolean => {
  const hidden = hiddenMetrics(grant, dashboard);
  return (
    isMadeFor(metric, grant) &&
    !isOutOfRestrictions(grant, metric) &&
    ![metric.metricId, ...metric.lineage].some((id) => hidden.has(id))
  );
};

/** Whether the guest may read this metric on this dashboard. */
export const isMetricOpen = (grant: GuestGrant, dashboard: Dashboard, metric: Metric): boolean =>
  !metric.isArchived && isMetricKnown(grant, dashboard, metric);

/**
 * The permission that each write of a guest requires. spec-gap: the interface names the permissions, but not what they
 * permit. Archiving and deleting need the same permission (`isEnableArchiveMetrics` corresponds to the embed's
 * `isAllowMetricDeletion`). Restoring an archived metric needs `isEnableManageMetrics`. Listing views needs the
 * permission to save them; to share one, or to change a shared one, needs `isEnableManageMetrics` too.
 */
const guestWrites = {
  createGuestMetric: 'isDisableMetricCreation',
  updateGuestMetric: 'isEnableMetricUpdation',
  deleteGuestMetric: 'isEnableArchiveMetrics',
  archiveGuestMetric: 'isEnableArchiveMetrics',
  restoreGuestMetric: 'isEnableManageMetrics',
  publishGuestMetric: 'isEnableManageMetrics',
  saveGuestLayout: 'isEnableCustomizeLayout',
  restoreGuestLayout: 'isEnableCustomizeLayout',
  listGuestViews: 'isEnableCreateDashboardView',
  createGuestView: 'isEnableCreateDashboardView',
  updateGuestView: 'isEnableCreateDashboardView',
  deleteGuestView: 'isEnableCreateDashboardView',
  /** In addition to the permission of the write itself. */
  shareGuestView: 'isEnableManageMetrics',
  createGuestBoard: 'isEnableCreateDashboard',
  updateGuestBoard: 'isEnableCreateDashboard',
  deleteGuestBoard: 'isEnableCreateDashboard',
  /** In addition to the permission of the write itself. */
  shareGuestBoard: 'isEnableManageMetrics',
} as const satisfies Readonly<Record<string, GuestPermission>>;
export type GuestWrite = keyof typeof guestWrites;

/** The same permissions without each that a write needs, for who only looks through the guest's eyes. */
export const withoutWrites = (
  permissions: Readonly<Record<GuestPermission, boolean>>,
): Readonly<Record<GuestPermission, boolean>> => {
  const off = Object.values(guestWrites).map((name): [GuestPermission, boolean] => [
    name,
    name === 'isDisableMetricCreation',
  ]);
  return { ...permissions, ...Object.fromEntries(off) };
};

/** Throws UNAUTHORIZED unless the embed allows reports by e-mail. No token can add that. */
export const assertReports = ({ accessSettings }: Embed): void => {
  if (accessSettings?.isAllowEmailReports === true) return;
  throw new Refusal('UNAUTHORIZED', 'Reports by e-mail are not allowed here (isAllowEmailReports).', {
    reason: 'permission-missing',
  });
};

/** Whether both the token and the embed permit this write. */
export const isPermitted = (grant: GuestGrant, { accessSettings }: Embed, write: GuestWrite): boolean => {
  const permission = guestWrites[write];
  const value = effectivePermissions(grant.permissions, accessSettings)[permission];
  return permission === 'isDisableMetricCreation' ? !value : value;
};

/** Throws UNAUTHORIZED unless both the token and the embed permit this write. */
export const assertWrites = (grant: GuestGrant, embed: Embed, write: GuestWrite): void => {
  if (isPermitted(grant, embed, write)) return;
  const permission = guestWrites[write];
  const message =
    permission === 'isDisableMetricCreation'
      ? 'Metric creation is disabled for this token (isDisableMetricCreation, or the embed does not allow it).'
      : `This token does not carry the permission ${permission}.`;
  throw new Refusal('UNAUTHORIZED', message, { reason: 'permission-missing' });
};

/**
 * Throws UNAUTHORIZED for a token that restricts metrics by id, since its restrictions would not apply to a metric that
 * its guest defines.
 */
export const assertDefines = (grant: GuestGrant): void => {
  if (!restrictsMetrics(grant)) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This token carries rlsSettings or appFilters, which name metrics one by one: it cannot create, update or preview metrics that they would not bind.',
    { reason: 'restricted-token-defines' },
  );
};

/** Whether the embed lets its guests create metrics in words. */
const isChatEmbed = ({ accessSettings }: Embed): boolean =>
  accessSettings?.isAllowAiPilot === true && accessSettings.metricCreationMode === 'CHAT';

/**
 * Throws UNAUTHORIZED unless the guest may ask for metrics in words. A question runs metrics that nobody saved, so it needs
 * what a preview needs.
 */
export const assertChats = (grant: GuestGrant, embed: Embed): void => {
  assertWrites(grant, embed, 'createGuestMetric');
  assertDefines(grant);
  if (isChatEmbed(embed)) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This embed does not let its guests ask in words: that needs isAllowAiPilot, and the metricCreationMode CHAT.',
    { reason: 'permission-missing' },
  );
};

/**
 * Whether the metric may be opened by a token that restricts metrics. Such a token was checked at mint against the
 * metrics on the dashboard. A metric that was placed later, and that none of its settings names, is closed for this
 * token. spec-gap: a new token opens it.
 */
export const isKnownAtMint = (grant: GuestGrant, { metric, placedAt }: PlacedMetric): boolean => {
  const settings = [...grant.rlsSettings, ...grant.appFilters];
  if (settings.length === 0 || placedAt <= grant.createdAt) return true;
  return settings.some(({ metricId }) => isOrDescendsFrom(metric, metricId));
};

/** Operations that a token may be refused on a dashboard or metric that it opens. Reading and querying are none of them. */
export const guestOperationNames = [
  'listGuestUnderlying',
  'downloadGuestCsv',
  'downloadGuestXlsx',
  'listGuestFields',
  'previewGuestMetric',
  'createGuestMetric',
  'getGuestMetricDefinition',
  'updateGuestMetric',
  'chatOnGuestDashboard',
  ...(['listGuestViews', 'createGuestView', 'updateGuestView', 'deleteGuestView'] as const),
  ...(['listGuestSchedules', 'createGuestSchedule', 'updateGuestSchedule', 'deleteGuestSchedule'] as const),
  ...(['previewGuestSchedule', 'sendGuestSchedule', 'listGuestDeliveries'] as const),
] as const;
export type GuestOperation = (typeof guestOperationNames)[number];

/**
 * Returns what the token may call through this embed, as the operations themselves decide it. `maySchedule`: whether it
 * may schedule reports and alerts there.
 */
export const permittedOperations = (
  grant: GuestGrant,
  embed: Embed,
  maySchedule: boolean,
): readonly GuestOperation[] => {
  const { isEnableUnderlyingData, isEnableDownloadMetrics } = effectivePermissions(
    grant.permissions,
    embed.accessSettings,
  );
  const isDashboard = embed.embedType === 'dashboard';
  const defines = isDashboard && !restrictsMetrics(grant);
  const creates = defines && isPermitted(grant, embed, 'createGuestMetric');
  const updates = defines && isPermitted(grant, embed, 'updateGuestMetric');
  const isPermittedTo: Readonly<Record<GuestOperation, boolean>> = {
    listGuestUnderlying: isEnableUnderlyingData,
    downloadGuestCsv: isEnableDownloadMetrics,
    downloadGuestXlsx: isEnableDownloadMetrics,
    listGuestFields: creates && embed.accessSettings?.metricCreationMode === 'DRAG_DROP',
    previewGuestMetric: creates || updates,
    createGuestMetric: creates,
    getGuestMetricDefinition: updates,
    updateGuestMetric: updates,
    chatOnGuestDashboard: creates && isChatEmbed(embed),
    listGuestViews: isDashboard && isPermitted(grant, embed, 'listGuestViews'),
    createGuestView: isDashboard && isPermitted(grant, embed, 'createGuestView'),
    updateGuestView: isDashboard && isPermitted(grant, embed, 'updateGuestView'),
    deleteGuestView: isDashboard && isPermitted(grant, embed, 'deleteGuestView'),
    listGuestSchedules: isDashboard && maySchedule,
    createGuestSchedule: isDashboard && maySchedule,
    previewGuestSchedule: isDashboard && maySchedule,
    updateGuestSchedule: isDashboard && maySchedule,
    deleteGuestSchedule: isDashboard && maySchedule,
    sendGuestSchedule: isDashboard && maySchedule,
    listGuestDeliveries: isDashboard && maySchedule,
  };
  return guestOperationNames.filter((name) => isPermittedTo[name]);
};

/** Whether the embed allows own dashboards of its guests. No token can add that. */
const areBoardsAllowed = ({ isAllowDashboardCreation }: AccessSettings): boolean => isAllowDashboardCreation === true;

/** Whether guests may have, and read, own dashboards made of this embed's cards. */
export const hasBoards = ({ accessSettings }: Embed): boolean =>
  accessSettings !== null && areBoardsAllowed(accessSettings);

/** Throws UNAUTHORIZED unless the embed allows own dashboards. */
export const assertBoards = (embed: Embed): void => {
  if (hasBoards(embed)) return;
  throw new Refusal('UNAUTHORIZED', 'Own dashboards are not allowed here (isAllowDashboardCreation).', {
    reason: 'permission-missing',
  });
};

/** The access setting for each permission; null if no embed setting affects it. */
const settingOf: Readonly<Record<GuestPermission, ((settings: AccessSettings) => boolean) | null>> = {
  isEnableArchiveMetrics: (settings) => settings.isAllowMetricDeletion,
  isEnableManageMetrics: (settings) => settings.isAllowManageMetrics,
  isEnableCreateDashboardView: (settings) => settings.isAllowCreateDashboardView,
  isEnableMetricUpdation: (settings) => settings.isAllowMetricUpdate,
  isEnableCustomizeLayout: (settings) => settings.isAllowMetricLayoutChange,
  isEnableUnderlyingData: (settings) => settings.isAllowUnderlyingData,
  isEnableDownloadMetrics: null,
  isShowSideBar: null,
  isShowDashboardName: null,
  isDisableMetricCreation: (settings) => !settings.isAllowMetricCreation,
  isEnableCreateDashboard: areBoardsAllowed,
};

/**
 * Returns what the guest may do through an embed. spec-gap: if the token leaves out a permission, the embed's setting
 * applies; without that, the permission is false (`isShowDashboardName`: true). A token can only remove permissions
 * that the embed gives, never add one. Own dashboards need both: the token's permission and the embed's setting.
 */
export const effectivePermissions = (
  token: GuestPermissions,
  settings: AccessSettings | null,
): Readonly<Record<GuestPermission, boolean>> => {
  const decide = (name: GuestPermission): boolean => {
    const read = settingOf[name];
    const setting = settings === null || read === null ? undefined : read(settings);
    const asked = token[name] ?? setting ?? name === 'isShowDashboardName';
    if (setting === undefined) return asked;
    return name === 'isDisableMetricCreation' ? asked || setting : asked && setting;
  };
  return {
    ...recordOf(guestPermissionNames, decide),
    isEnableCreateDashboard: token.isEnableCreateDashboard === true && settings !== null && areBoardsAllowed(settings),
  };
};
