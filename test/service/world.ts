import { hash } from 'node:crypto';
import { calendar } from '../../src/delivery/calendar.js';
import { createSqlRewriter } from '../../src/engine/custom/sql-rewriter.js';
import type { Assistant } from '../../src/model/chat/assistant.js';
import type { Dashboard, DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import type { AccessSettings } from '../../src/model/dashboard/embed.js';
import { hostMade, type MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { DatamartTable } from '../../src/model/datamart/datamart.js';
import type { ApiKeyCaller, GuestCaller } from '../../src/model/guest/caller.js';
import type { Engine } from '../../src/model/query/engine.js';
import { createShortTag, createTag } from '../../src/platform/caches/tags.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { definitionSchemas } from '../../src/service/chat/contract/chat.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import { createEmbed } from '../../src/service/embeds/embeds.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { type CreateGuestToken, createGuestToken } from '../../src/service/guest-tokens/guest-tokens.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import {
  byClients,
  columnRef,
  createFolder,
  createLoggedEngine,
  datamart,
  datasourceAt,
  metric,
  relationship,
  stays,
  table,
  tableRef,
} from '../engine/world.js';
import { type Backing, openTestDatabase } from '../suites/metadata.js';
import { testSealer } from '../suites/sealer.js';

/** Two clients, `a` with five sales and `b` with one, in shops of three states. */
export const statements = [
  'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
  "INSERT INTO clients VALUES ('a', 'A'), ('b', 'B')",
  'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
  "INSERT INTO sales VALUES (1,'a','s1'), (2,'a','s1'), (3,'a','s2'), (4,'a','s3'), (5,'a',NULL), (6,'b','s1')",
  'CREATE TABLE shops (code VARCHAR, state VARCHAR)',
  "INSERT INTO shops VALUES ('s1','CA'), ('s2','NV'), ('s3','NY')",
  'CREATE TABLE visits (day DATE, client VARCHAR, shop VARCHAR)',
  `INSERT INTO visits VALUES ('2023-11-01','a','s1'), ('2023-11-15','a','s1'), ('2023-11-30','a','s2'), ('2023-11-30','b','s1'),
    ('2023-12-01','a','s1'), ('2023-12-31','a','s2'), ('2023-10-31','a','s1'), ('2024-01-01','b','s1')`,
];

const labelled = (of: DatamartTable): DatamartTable => ({
  ...of,
  columns: of.columns.map((column) => ({ ...column, label: `Label of ${column.columnName}` })),
});

const tables = [
  table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  labelled(table('sales', { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR' }, 'client')),
  table('shops', { code: 'VARCHAR', state: 'VARCHAR' }),
  table('visits', { day: 'DATE', client: 'VARCHAR', shop: 'VARCHAR' }, 'client'),
];
const relationships = [
  relationship('sales.shop', 'shops.code', 'LEFT JOIN'),
  relationship('visits.shop', 'shops.code', 'LEFT JOIN'),
];

/** A metric with one row: the number of sales. */
export const salesCount: MetricDefinition = metric('sales', {
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
  filters: [{ name: 'shop', label: 'Shop', column: columnRef('sales.shop'), dataType: 'string' }],
  underlying: ['sales.id', 'shops.state'].map(columnRef),
});

export const stateFilter: DashboardFilter = {
  name: 'State',
  dataType: 'string',
  applyOnTables: [{ ...columnRef('shops.state'), dataType: 'string' }],
};

export const settings: AccessSettings & { readonly datamartName: string } = {
  datamartName: 'sales',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
};

const now = new Date(Date.UTC(2024, 0, 1));
const workspaceName = 'space';

/** Two data apps with two datamarts over two datasources, which have equal rows. */
const seed = async (store: Store, path: string): Promise<void> => {
  for (const name of ['app', 'other'])
    await store.dataApps.insert({ id: `id-${name}`, name, createdAt: now, updatedAt: now });
  for (const name of ['sales', 'sales2']) {
    await store.datasources.insert({ ...datasourceAt(path), id: `source-${name}`, name: `warehouse-${name}` });
    const parts = { id: `mart-${name}`, name, datasourceId: `source-${name}`, tables, relationships };
    await store.datamarts.insert(datamart({ ...parts, tenancy: byClients(), sharedTables: ['shops'] }));
  }
  await store.workspaces.insert({
    id: 'w',
    name: workspaceName,
    connectionType: 'MULTI_DATAMART',
    datasourceId: null,
    datamartId: null,
  });
};

/** No model is configured. */
const noAssistant: Assistant = {
  models: [],
  schemas: definitionSchemas,
  limits: { rounds: 1, tokens: 1_000, timeoutMs: 1_000 },
  readDefinition: () => undefined,
  assertFew: async () => {},
  preview: () => Promise.reject(new Error('these tests ask no model')),
  note: () => {},
};

export type World = Awaited<ReturnType<typeof createWorld>>;

/** The use cases with a real store and a real engine. */
export const createWorld = async (backing?: Backing) => {
  const folder = await createFolder();
  const path = await folder.build('sales', statements);
  const database = await openTestDatabase(backing);
  const store = createStore(database.connect<Tables>(), testSealer);
  await seed(store, path);
  const { engine }: { readonly engine: Engine } = createLoggedEngine();
  let made = 0;
  const ids = { uuid: () => `uuid-${++made}` };
  const deps = {
    store,
    engine,
    clock: { now: () => now },
    ids,
    tokens: { create: createToken, hash: hashToken, isSame: isSameHash },
    sqlRewriter: createSqlRewriter(),
    findTheme: () => null,
    reports: {
      ...{ calendar, isOn: () => false, isFor: async () => false, hasLinks: false, channels: [] },
      check: async () => 'no-address' as const,
      listChannels: async () => [],
      findAudience: async () => null,
      openReader: async () => null,
      copyIdOf: () => undefined,
      preview: () => Promise.reject(new Error('these tests preview no mail')),
    },
    renderer: { render: () => Promise.reject(new Error('these tests draw nothing')) },
    assistant: noAssistant,
    digest: (text: string) => hash('sha256', text, 'hex'),
    tag: createTag(Buffer.alloc(32, 7)),
    shortTag: createShortTag(Buffer.alloc(32, 7)),
    running: { read: async () => ({ now, processes: [] }), end: async () => 'over' as const },
  };
  const api = (name: 'app' | 'other' = 'app'): ApiKeyCaller => ({
    kind: 'apiKey',
    keyId: 'k',
    dataAppId: `id-${name}`,
    dataAppName: name,
  });
  const template = async (
    id: string,
    fields: Partial<Dashboard> = {},
    definition: MetricDefinition = salesCount,
  ): Promise<Dashboard> => {
    const dashboard: Dashboard = {
      id: `board-${id}`,
      externalDashboardId: id,
      workspaceId: 'w',
      name: id,
      owner: null,
      templateId: null,
      layout: [{ metricId: `${id}-count`, x: 0, y: 0, w: 12, h: 4 }],
      gridMargin: [],
      filters: [stateFilter],
      metadata: null,
      isAllowPrivateMetricsByDefault: false,
      ...fields,
    };
    await store.dashboards.insert(dashboard);
    const metricId = `${id}-count`;
    await store.metrics.insert({
      metricId,
      workspaceId: 'w',
      name: 'Sales',
      definition,
      lineage: [],
      owner: null,
      ...hostMade,
    });
    await store.dashboards.placeMetrics(dashboard.id, [{ metricId, placement: 'METRIC' }], now);
    return dashboard;
  };
  const clone = async (templateDashboardId: string, dashboardId: string, clientId = 'a'): Promise<string> => {
    await createDashboardEmbed(deps)(
      api(),
      {
        dashboardId,
        clientId,
        workspaceName,
        accessSettings: settings,
        templateDashboardId,
        isImportMetrics: true,
        isAllowPrivateMetricsByDefault: false,
        isRenameDashboard: false,
      },
      stays,
    );
    const [placed] = await store.dashboards.listMetrics(
      (await store.dashboards.findByExternalId(api().dataAppId, dashboardId))?.id ?? '',
    );
    return placed?.metric.metricId ?? '';
  };
  const embed = async (dashboardId: string, metricId?: string, accessSettings: AccessSettings = settings) => {
    const { embedId } = await createEmbed(deps)(api(), {
      embedType: metricId === undefined ? 'dashboard' : 'metric',
      dashboardId,
      metricId,
      workspaceName,
      accessSettings,
    });
    return embedId;
  };
  const mint = async (
    params: CreateGuestToken['params'] = {},
    fields: Partial<CreateGuestToken> = {},
    app: 'app' | 'other' = 'app',
  ): Promise<GuestCaller> => {
    const request = { clientId: 'a', dataAppName: app, params, ...fields };
    const { token } = await createGuestToken(deps)(api(app), request);
    const grant = await store.guestTokens.findByHash(hashToken(token));
    if (grant === undefined) throw new Error('the token was not stored');
    // In a test, the content changes while a caller exists; the caller of a request is newer than the content.
    return { kind: 'guest', grant: { ...grant, revision: null } };
  };
  /** Returns the number of sales that the guest sees. */
  const count = async (guest: GuestCaller, metricId: string, dashboardId?: string, more: object = {}) =>
    (await queryGuestMetric(deps)(guest, { metricId, dashboardId, ...more }, stays)).answer.rows[0]?.Sales;
  const close = async (): Promise<void> => {
    await engine.close();
    await database.close();
    await folder.remove();
  };
  return { deps, store, database, api, template, clone, embed, mint, count, close, sales: tableRef('sales') };
};

/** What a new schedule has if its maker leaves it out. */
export const planDefaults = {
  ...({ catchUp: 'once', isPaused: false, mutedUntil: null, alert: null, channel: null } as const),
  ...{ recipients: null, dashboardFilter: {}, metricIds: null },
};
