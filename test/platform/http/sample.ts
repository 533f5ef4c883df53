/** An app whose use cases return fixed values. It tests only the HTTP layer. */

import { Writable } from 'node:stream';
import type { Epoch, HashedToken } from '../../../src/model/brand.js';
import type { Dashboard } from '../../../src/model/dashboard/dashboard.js';
import type { Embed } from '../../../src/model/dashboard/embed.js';
import { hostMade, type Metric } from '../../../src/model/dashboard/metric.js';
import { viewSemanticTables } from '../../../src/model/datamart/semantic-layer.js';
import type { ApiKeyCaller, Caller, GuestCaller, ServiceCaller } from '../../../src/model/guest/caller.js';
import type { DownloadRows, Workbook } from '../../../src/model/guest/download.js';
import { effectiveAccess } from '../../../src/model/guest/end-user-filters.js';
import type { OwnBoard } from '../../../src/model/guest/own-board.js';
import type { ListedView } from '../../../src/model/guest/saved-view.js';
import type { GuestDashboard, GuestMetric, MetricReply } from '../../../src/model/guest/view.js';
import type { Datasource, Workspace } from '../../../src/model/organization.js';
import { Refusal } from '../../../src/model/refusal.js';
import type { HostSchedule } from '../../../src/model/schedule/host-schedule.js';
import type { ListedSchedule } from '../../../src/model/schedule/schedule.js';
import { sliceOf } from '../../../src/model/slices.js';
import { createApp } from '../../../src/platform/http/app.js';
import { createOpenApi } from '../../../src/platform/http/interface/openapi.js';
import { type AssetFile, loadAssets } from '../../../src/platform/http/pages/assets.js';
import { createAddresses } from '../../../src/platform/http/wire/address.js';
import type { AdmissionLimits, Authenticate } from '../../../src/platform/http/wire/admission.js';
import { createDispatch } from '../../../src/platform/http/wire/bind.js';
import type { Step } from '../../../src/platform/http/wire/in-turn.js';
import { createLog } from '../../../src/platform/logs/log.js';
import { createMeters } from '../../../src/platform/logs/meters.js';
import { type Handlers, operations } from '../../../src/service/operations.js';
import { datamartSample } from '../../suites/store-samples.js';

export const apiKey = 'key-of-the-flights-app';
export const serviceToken = 'service-token-of-the-organization';
export const guestToken = 'guest-token-of-one-user';

const when = new Date('2026-01-02T03:04:05Z');

const apiKeyCaller: ApiKeyCaller = { kind: 'apiKey', keyId: 'k', dataAppId: 'a', dataAppName: 'flights' };
const serviceCaller: ServiceCaller = { kind: 'serviceToken', tokenId: 't' };
const guestCaller: GuestCaller = {
  kind: 'guest',
  grant: {
    id: 'g',
    dataAppId: 'a',
    clientId: 'LAX',
    userIdentifier: null,
    timezone: null,
    datamartId: null,
    datasourceId: null,
    allowedEmbeds: null,
    rlsSettings: [],
    appFilters: [],
    dashboardAppFilters: [],
    hideDashboardFilters: [],
    columnRules: { hideColumns: [], maskColumns: {} },
    hideDashboardMetrics: [],
    quota: {},
    accessPermissions: {},
    permissions: {},
    createdAt: when,
    expiresAt: null,
    epoch: '0/0' as Epoch,
    revision: null,
  },
};

const callers: Readonly<Record<string, Caller>> = {
  [apiKey]: apiKeyCaller,
  [serviceToken]: serviceCaller,
  [guestToken]: guestCaller,
};

export const authenticate: Authenticate = async (credentials, bearer) => {
  const caller = Object.hasOwn(callers, bearer ?? '') ? callers[bearer ?? ''] : undefined;
  const kind = caller?.kind === 'guest' ? 'guestToken' : caller?.kind;
  if (caller !== undefined && kind !== undefined && credentials.includes(kind)) return caller;
  if (bearer === 'expired' && credentials.includes('guestToken')) throw new Refusal('TOKEN_EXPIRED', 'token expired');
  const message = credentials.includes('apiKey') ? 'API key is invalid or expired' : 'invalid service token';
  throw new Refusal('AUTHENTICATION_ERROR', message);
};

const embed: Embed = {
  embedId: 'e1',
  dataAppId: 'a',
  embedType: 'dashboard',
  dashboardId: 'd1',
  metricId: null,
  name: 'Delays',
  description: null,
  accessSettings: null,
  createdAt: when,
};

const datasource: Datasource = {
  id: 's',
  name: 'flights',
  syncedAt: when,
  datasourceType: 'DUCKDB',
  path: '/sources/flights.duckdb',
};

const workspace: Workspace = {
  id: 'w',
  name: 'flights',
  connectionType: 'MULTI_DATAMART',
  datasourceId: null,
  datamartId: null,
};

const dashboard: Dashboard = {
  id: 'd1',
  externalDashboardId: 'delays',
  workspaceId: 'w',
  name: 'Delays',
  owner: null,
  templateId: null,
  layout: [],
  gridMargin: [],
  filters: [],
  metadata: { team: 'ops' },
  isAllowPrivateMetricsByDefault: false,
};

const datamart = datamartSample('w', { name: 'flights' });

const metric: Metric = {
  metricId: 'm1',
  workspaceId: 'w',
  name: 'Flights a day',
  definition: {
    kind: 'visual',
    chart: { type: 'line' },
    from: { schemaName: 'main', tableName: 'flights' },
    dimensions: [],
    measures: [],
    filters: [],
    rlsVariables: [],
    underlying: [],
    drillPath: [],
    sort: [],
    limit: null,
  },
  lineage: [],
  owner: null,
  ...hostMade,
};

const guestMetric: GuestMetric = {
  metricId: 'm1',
  name: 'Flights a day',
  chart: { type: 'line', dimensions: ['Day'], measures: ['Flights'], isDrillable: false },
  filters: [
    { name: 'State', dataType: 'string', defaultValue: ['CA', 'NV'] },
    { name: 'Hidden', dataType: 'string', defaultValue: { sql: 'SELECT secret FROM t', columnName: 'secret' } },
  ],
};

const guestDashboard: GuestDashboard = {
  dashboardId: 'delays',
  name: 'Delays',
  layout: [{ metricId: 'm1', x: 0, y: 0, w: 12, h: 4 }],
  metrics: [guestMetric],
  filters: [{ name: 'Date', dataType: 'date', defaultValue: { startDate: '2001-01-01', endDate: '2001-02-01' } }],
  permissions: {
    isEnableArchiveMetrics: false,
    isEnableManageMetrics: false,
    isEnableCreateDashboardView: false,
    isEnableMetricUpdation: false,
    isEnableCustomizeLayout: false,
    isEnableUnderlyingData: true,
    isEnableDownloadMetrics: true,
    isShowSideBar: false,
    isShowDashboardName: true,
    isDisableMetricCreation: true,
    isEnableCreateDashboard: false,
  },
  accessPermissions: effectiveAccess({}, null, undefined),
  theme: null,
  defaultView: null,
};

const board: OwnBoard = {
  ...{ id: 'b', name: 'Mine', isShared: false, isOwn: true, version: 1, tiles: [] },
  layout: guestDashboard.layout,
};

const reply: MetricReply = {
  metricId: 'm1',
  timeTakenInMs: 7,
  answer: {
    rows: [
      { City: 'Los Ángeles, "LAX"', Flights: 3 },
      { City: '=HYPERLINK("x")', Flights: -1 },
      { City: null, Flights: '90071992547409931' },
    ],
    columns: [
      { name: 'City', dataType: 'string' },
      { name: 'Flights', dataType: 'number' },
    ],
    groupbyColumnList: ['City'],
    totalRecords: 3,
  },
};

const key = {
  id: 'k',
  dataAppId: 'a',
  name: 'backend',
  description: null,
  hash: '' as HashedToken,
  keyHint: null,
  createdAt: when,
  expiresAt: null,
  lastUsedAt: when,
};
const madeKey = async () => ({ key: 'a new key' });

const keyHandlers = {
  createApiKey: madeKey,
  listApiKeys: async () => sliceOf([key]),
  deleteApiKey: async (_: ServiceCaller, { name }: { readonly name: string }) => ({ name }),
  rotateApiKey: madeKey,
  createServiceToken: madeKey,
  listServiceTokens: async () => sliceOf([key]),
  deleteServiceToken: async (_: ServiceCaller, { name }: { readonly name: string }) => ({ name }),
  rotateServiceToken: madeKey,
};

const dataApp = { id: 'a', name: 'flights', createdAt: when, updatedAt: when };
const view: ListedView = {
  id: 'v1',
  name: 'Mine',
  dashboardFilter: {},
  metricFilter: {},
  filterNames: {},
  isShared: false,
  isDefault: false,
  isOwn: true,
};

const schedule: ListedSchedule = {
  ...{ id: 's', dashboardId: 'd', openedId: 'delays--LAX', name: 'Each morning', format: 'pdf', catchUp: 'once' },
  owner: { dataAppId: 'a', clientId: 'LAX', userIdentifier: 'ann' },
  recurrence: { every: 'week', on: ['mon'], at: '08:00', timezone: 'UTC' },
  ...{ isPaused: false, nextAt: when, createdAt: when },
  ...{ mutedUntil: when, alert: null, channel: null, alertState: null, status: null, unconfirmed: [] },
  ...{
    dashboardFilter: { State: ['CA'] },
    metricIds: null,
    recipients: { users: ['ann'], roles: ['analyst'], addresses: [] },
  },
};

const hostSchedule: HostSchedule = {
  ...schedule,
  owner: { dataAppId: 'a', clientId: '', userIdentifier: '' },
  ...{ templateName: 'delays', mutedUntil: null, last: { moment: when, counts: { sent: 2 } } },
};

const exported = {
  dashboardId: 'd',
  name: 'D',
  content: { layout: [], filters: [], metrics: [], gridMargin: [] },
};

async function* inBatches({ columns, rows }: MetricReply['answer']) {
  yield rows.map((row) => columns.map(({ name }) => row[name] ?? null));
}

const downloaded = (): DownloadRows => ({
  columns: reply.answer.columns.map((column) => ({ ...column, label: column.name })),
  ...{ batches: inBatches(reply.answer), limit: null, offset: 0 },
});

const workbook: Workbook = {
  title: 'Delays',
  madeAt: when,
  timezone: 'America/Los_Angeles',
  filters: [{ name: 'State', value: ['CA', 'NV'], isFixed: false }],
  sheets: [{ name: 'Flights', filters: [], load: async () => downloaded() }],
};

async function* partsOf(metricIds: readonly string[]) {
  for (const metricId of metricIds) yield { metricId, digest: 'd', reply: { ...reply, metricId } };
}

const noneUsed = {
  ...{ logins: 1, mints: 1, sourceQueries: 1, keptAnswers: 1, failedAnswers: 0, rows: 1, ms: 1 },
  ...{ exports: 0, mails: 0, modelTokens: 0, warmUpQueries: 0, warmUpMs: 0, users: 1 },
};
const usage = { rows: [{ at: when, clientId: 'LAX', ...noneUsed }], isTruncated: false, sentUntil: null };

export const sampleHandlers: Handlers = {
  ...keyHandlers,
  listGuestTokens: async () =>
    sliceOf([{ id: 'g', clientId: 'LAX', createdAt: when, expiresAt: null, lastUsedAt: null }]),
  revokeGuestTokens: async () => ({ revoked: 1 }),
  updateDataApp: async (_, { updateName }) => ({ ...dataApp, name: updateName }),
  deleteDataApp: async (_, { name }) => ({ ...dataApp, name }),
  readUsage: async () => usage,
  exportUsage: async () => usage,
  reportLogins: async () => undefined,
  readRunning: async () => ({ processes: [], works: [], waitingDeliveries: { count: 0, seconds: 0 } }),
  endRunning: async () => 'ended',
  listDataApps: async () => sliceOf([{ dataApp, embeds: [embed] }]),
  createGuestToken: async (_, { clientId }) => ({ token: `token-of-${clientId}` }),
  createEmbed: async () => embed,
  createDashboardEmbed: async (_, { dashboardId }) => ({ ...embed, name: dashboardId }),
  deleteEmbed: async () => embed,
  updateEmbed: async () => embed,
  renameEmbed: async (_, { name }) => ({ ...embed, name }),
  deleteDashboard: async () => dashboard,
  deleteTemplate: async () => dashboard,
  compareDashboardContent: async () => ({ changes: [], digest: 'd'.repeat(64) }),
  mergeDashboardContent: async () => ({
    content: { layout: [], filters: [], metrics: [], gridMargin: [] },
    conflicts: [],
    given: [],
    current: [],
    digest: 'd'.repeat(64),
  }),
  proposeDashboardContent: async () => ({ layout: [], filters: [], metrics: [], gridMargin: [] }),
  draftDashboardContent: async () => ({
    content: { layout: [], filters: [], metrics: [], gridMargin: [] },
    tenants: [{ clientId: 'acme', name: 'Acme' }],
    answers: [reply],
    refused: [],
    restrictions: [],
  }),
  tryDashboardContent: async () => [],
  listUnreadableMetrics: async () => [],
  compareDatamart: async () => ({ offers: [], accepted: null }),
  listRefusedMetrics: async () => ({ metrics: [], refusal: null }),
  eraseClient: async () => ({
    dashboards: 1,
    embeds: 1,
    metrics: 2,
    guestMetrics: 0,
    guestLayouts: 0,
    guestViews: 0,
    guestBoards: 0,
    schedules: 0,
    guestTokens: 3,
  }),
  holdClients: async () => ({ version: '7' }),
  exportEmbed: async () => exported,
  exportDashboard: async () => exported,
  importDashboard: async (_, { workspaceName }) => ({ dashboard, workspaceName }),
  getDashboardContent: async () => ({ ...exported, digest: 'd'.repeat(64) }),
  replaceDashboardContent: async () => ({ dashboard, digest: 'd'.repeat(64) }),
  listEmbeds: async () => sliceOf([{ embed, dashboard, metric: null }]),
  listEmbedMetrics: async () => [metric],
  createDataApp: async (_, { name }) => ({ id: 'a', name, createdAt: when, updatedAt: when }),
  createDatasource: async () => datasource,
  checkDatamartExpression: async () => ({ isMeasure: true, isChecked: true, faults: [] }),
  compareDatasourceColumns: async () => ({
    from: { rows: 830, repeated: 88, isWhole: true },
    to: { rows: 91, repeated: 0, isWhole: true },
  }),
  listRollups: async () => [
    {
      ...{ name: 'by day', state: 'current', closedUntil: '2026-01-01', checkedAt: '2026-01-02T00:00:00.000Z' },
      ...{ files: 1, rows: 2, sourceRows: 3, bytes: 4 },
    },
  ],
  proposeRollups: async () => ({ proposed: [], left: [] }),
  buildRollup: async (_, { rollupName: name }) => ({
    ...{ name, state: 'none', closedUntil: null, checkedAt: null, files: 0, rows: 0, sourceRows: 0, bytes: 0 },
  }),
  updateDatasource: async () => datasource,
  updateDatasourceLogin: async () => datasource,
  listDatasources: async () => sliceOf([datasource]),
  deleteDatasource: async () => datasource,
  syncDatasource: async (_, { name }) => ({ name, tableCount: 3 }),
  listDatasourceTables: async (_, { name }) => ({
    name,
    datasourceType: 'POSTGRES',
    tableCount: 0,
    tables: [],
    proposals: {
      relationships: [],
      tenantTables: [],
      clientColumns: [],
      tenancyPaths: [],
      bridges: [],
      baseFilters: [],
      amounts: [],
    },
  }),
  createWorkspace: async () => workspace,
  updateWorkspace: async () => workspace,
  listWorkspaces: async () => sliceOf([workspace]),
  deleteWorkspace: async () => workspace,
  listDatamarts: async (_, { expandDetails }) => ({
    items: sliceOf([{ datamart, datasourceName: 'warehouse' }]),
    expandDetails,
  }),
  createDatamart: async (_, { name }) => ({ datamart: { ...datamart, name }, warnings: [] }),
  updateDatamart: async (_, { datamartName }) => ({
    datamart: { ...datamart, name: datamartName },
    warnings: [],
    isVersioned: false,
  }),
  listDatamartColumns: async (_, { datamartName }) => ({
    datamart: { ...datamart, name: datamartName },
    visible: datamart,
  }),
  getDatamartTenancy: async (_, { datamartName }) => ({ datamart: { ...datamart, name: datamartName }, tables: [] }),
  listTenantNames: async () => ({
    column: { schemaName: 'main', tableName: 'clients', columnName: 'name' },
    found: [{ clientId: '1', name: 'Example Ltd' }],
    isWhole: true,
  }),
  deleteDatamart: async (_, { datamartName }) => ({ ...datamart, name: datamartName }),
  createSemanticLayer: async (_, { datamartName }) => ({ ...datamart, name: datamartName }),
  updateSemanticLayer: async (_, { datamartName }) => ({ ...datamart, name: datamartName }),
  getSemanticLayer: async (_, { datamartName }) => ({
    datamart: { ...datamart, name: datamartName },
    tables: viewSemanticTables(datamart, undefined),
    feedback: null,
    completionScore: 0,
    updatedAt: null,
  }),
  deleteSemanticLayer: async (_, { datamartName }) => ({ ...datamart, name: datamartName }),
  listDashboards: async () => sliceOf([dashboard]),
  listMetrics: async () => sliceOf([metric]),
  listDashboardMetrics: async () => [metric],
  updateWorkspaceDashboards: async () => undefined,
  queryMetric: async () => reply,
  getGuestDashboard: async (_, { dashboardId }) => ({ ...guestDashboard, dashboardId }),
  listGuestEmbeds: async () => ({ dashboards: [], metrics: [] }),
  getGuestMetric: async () => ({ ...guestMetric, theme: null }),
  queryGuestMetric: async (_, { metricId }) => ({ ...reply, metricId }),
  queryGuestDashboard: async (_, { metrics }) => partsOf(metrics.map(({ metricId }) => metricId)),
  listGuestUnderlying: async () => reply,
  downloadGuestCsv: async () => downloaded(),
  downloadGuestXlsx: async () => workbook,
  downloadGuestDashboardXlsx: async () => workbook,
  renderGuestDashboardPdf: async () => new Uint8Array([1, 2, 3]),
  renderGuestDashboardPng: async () => new Uint8Array([1, 2, 3]),
  renderGuestMetricPdf: async () => new Uint8Array([1, 2, 3]),
  renderGuestMetricPng: async () => new Uint8Array([1, 2, 3]),
  listGuestFields: async () => ({ tables: [], relationships: [] }),
  createGuestMetric: async () => guestMetric,
  updateGuestMetric: async () => guestMetric,
  deleteGuestMetric: async (_, { metricId }) => ({ metricId }),
  archiveGuestMetric: async (_, { metricId, isArchived }) => ({ metricId, isArchived }),
  listGuestMetrics: async () => [{ metricId: 'm', name: 'Mine', isArchived: false, isPrivate: true, canPublish: true }],
  getGuestMetricDefinition: async (_, { metricId }) => ({
    metricId,
    name: 'Mine',
    definition: { chart: { type: 'bar' }, from: { schemaName: 'main', tableName: 'flights' } },
    digest: 'd',
  }),
  publishGuestMetric: async (_, { metricId, isPublished }) => ({ metricId, isPublished }),
  previewGuestMetric: async () => reply,
  listGuestSuggestions: async () => [],
  summariseGuestDashboard: async () => ({ metrics: [], text: null }),
  chatOnGuestDashboard: async (_, { question }) => ({ text: question, metric: null, labels: [], llmName: 'small' }),
  saveGuestLayout: async (_, { layout }) => layout,
  createGuestSchedule: async (_, { name }) => ({ ...schedule, name }),
  previewGuestSchedule: async (_, { name }) => ({ subject: name, html: '<p>Delays</p>', text: 'Delays', files: [] }),
  listGuestSchedules: async () => [schedule],
  listGuestChannels: async () => [{ name: 'operations', kind: 'slack' }],
  listGuestRecipients: async () => ({ users: [{ userIdentifier: 'ann', address: null }], roles: ['a'], domains: [] }),
  listTenantSchedules: async () => [
    { ...schedule, last: { moment: when, state: 'skipped', reason: 'no-right', finishedAt: when } },
  ],
  pauseTenantSchedule: async (_, { scheduleId }) => ({ id: scheduleId }),
  deleteTenantSchedule: async (_, { scheduleId }) => ({ id: scheduleId }),
  updateGuestSchedule: async () => schedule,
  deleteGuestSchedule: async (_, { scheduleId }) => ({ id: scheduleId }),
  sendGuestSchedule: async () => ({ id: 'd' }),
  listGuestDeliveries: async () => [
    {
      ...{
        id: 'd',
        scheduleId: 's',
        clientId: 'LAX',
        recipient: 'ann',
        moment: when,
        isRequested: true,
        state: 'failed',
      },
      ...{ reason: 'mail-refused', attempts: 6, finishedAt: when },
    },
  ],
  createTemplateSchedule: async (_, { name }) => ({ ...hostSchedule, name }),
  listTemplateSchedules: async () => [hostSchedule],
  updateTemplateSchedule: async () => hostSchedule,
  deleteTemplateSchedule: async (_, { scheduleId }) => ({ id: scheduleId }),
  sendTemplateSchedule: async () => ({ id: 'd' }),
  listTemplateDeliveries: async () => [
    {
      ...{ id: 'd', scheduleId: 's', clientId: 'LAX', recipient: 'ann', moment: when, isRequested: false },
      ...{ state: 'skipped', reason: 'tenant-suspended', attempts: 1, finishedAt: when },
    },
  ],
  restoreGuestLayout: async () => guestDashboard.layout,
  createGuestView: async (_, { name }) => ({ ...view, name }),
  listGuestViews: async () => [view],
  listGuestBoards: async () => [board],
  createGuestBoard: async (_, { name }) => ({ ...board, name }),
  getGuestBoard: async (_, { boardId }) => ({ ...board, id: boardId }),
  updateGuestBoard: async (_, { boardId }) => ({ ...board, id: boardId, version: 2 }),
  deleteGuestBoard: async (_, { boardId }) => ({ id: boardId }),
  updateGuestView: async (_, { viewId }) => ({ ...view, id: viewId }),
  deleteGuestView: async (_, { viewId }) => ({ id: viewId }),
  publishMetric: async (_, { metricId }) => ({ metricId }),
  listGuestFilterOptions: async (_, { filter, search }) => [{ label: `${filter}/${search ?? ''}`, value: 'CA' }],
};

/** Collects log lines, parsed. */
export const createMemoryLog = () => {
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog({ destination }), lines };
};

export const document = createOpenApi(operations, { version: '0.1.0' });

export const createSample = async (
  options: {
    readonly handlers?: Partial<Handlers>;
    readonly assets?: Readonly<Record<string, AssetFile>>;
    readonly ready?: () => boolean | Promise<boolean>;
    readonly limits?: AdmissionLimits;
    readonly gateway?: Step;
  } = {},
) => {
  const { log, lines } = createMemoryLog();
  const handlers: Handlers = { ...sampleHandlers, ...options.handlers };
  const dispatch = createDispatch({
    ...{ operations, handlers, authenticate, log },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const addressOf = createAddresses({ trustedProxies: 0, log });
  const meters = createMeters();
  const assets = await loadAssets(options.assets ?? {});
  const app = createApp({
    service: { dispatch, addressOf, document: () => document },
    log,
    meters,
    ready: options.ready ?? (() => true),
    assets,
    gateway: options.gateway ?? null,
  });
  return { app, dispatch, addressOf, lines, log, meters };
};
