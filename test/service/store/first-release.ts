/**
 * Rows as the first release writes them. This file must not change and uses no types or stores of later versions, since
 * these must be able to read the rows. `today` is what the current store must read from them.
 */
import { createHash } from 'node:crypto';

const at = '2026-03-29T01:59:59.987Z';
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const column = (columnName: string, datatype: string) => ({
  columnName,
  datatype,
  alias: '',
  label: '',
  isHide: false,
  isApplyTimezone: false,
});
const ref = (tableName: string, columnName: string) => ({ schemaName: 'main', tableName, columnName });

const tables = [
  {
    schemaName: 'main',
    tableName: 'flights',
    label: 'Flüge ✈️',
    clientColumn: 'origin',
    isHide: false,
    columns: [column('origin', 'VARCHAR'), column('delay', 'BIGINT')],
  },
  {
    schemaName: 'main',
    tableName: 'airports',
    label: '',
    clientColumn: null,
    isHide: false,
    columns: [column('iata', 'VARCHAR')],
  },
];
const relationships = [
  {
    relationshipName: 'to',
    parent: ref('flights', 'origin'),
    child: ref('airports', 'iata'),
    cardinality: 'ManyToOne',
    join: null,
  },
];
const tenancy = {
  tenancyLevel: 'TABLE',
  clientColumnType: 'STRING',
  schemaName: 'main',
  tableName: 'airports',
  tableClientNameColumn: 'name',
  tablePrimaryKeyColumn: 'iata',
};
const definition = {
  kind: 'visual',
  chart: { type: 'bar', format: 'percent' },
  from: { schemaName: 'main', tableName: 'flights' },
  dimensions: [{ name: 'Origin', column: ref('flights', 'origin') }],
  measures: [{ name: 'Delay', aggregate: 'AVG', column: ref('flights', 'delay') }],
  filters: [
    { name: 'late', label: 'Late', column: ref('flights', 'delay'), dataType: 'number', defaultValue: { min: 1 } },
  ],
  rlsVariables: [{ name: 'region', column: ref('airports', 'iata'), isOptional: true }],
  underlying: [ref('flights', 'delay')],
  drillPath: [],
  sort: [{ name: 'Delay', direction: 'DESC' }],
  limit: 10,
};
const filters = [
  { name: 'Origin', dataType: 'string', applyOnTables: [{ ...ref('flights', 'origin'), dataType: 'string' }] },
];
const layout = [{ metricId: 'delays', x: 0, y: 0, w: 6, h: 4 }];
const accessSettings = {
  datamartName: 'flights',
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
const grants = {
  timezone: 'America/New_York',
  datasourceId: 'source',
  allowedEmbeds: ['board--LAX'],
  rlsSettings: [{ metricId: 'delays', values: { region: 'CA' } }],
  appFilters: [],
  dashboardAppFilters: [{ dashboardId: 'board', values: { Origin: ['LAX'] }, isShowOnUrl: false }],
  hideDashboardFilters: [],
  hideDashboardMetrics: [],
  accessPermissions: {},
  permissions: { isEnableUnderlyingData: true },
};

const json = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'::jsonb`;
const key = (id: string, name: string) => `('${id}', 'app', '${name}', '${hash(id)}', '${at}', null)`;

export const statements: readonly string[] = [
  `insert into guestlist.data_apps values ('app', 'flights', '${at}', '${at}'), ('other', 'Zoë''s app', '${at}', '${at}')`,
  `insert into guestlist.api_keys values ${key('key-1', 'backend')}, ${key('key-2', 'hourly')}, ${key('key-3', 'nightly')}`,
  `insert into guestlist.service_tokens values
    ('service-1', 'first', '${hash('service-1')}', '${at}', null),
    ('service-2', 'second', '${hash('service-2')}', '${at}', '2030-01-01T00:00:00Z')`,
  `insert into guestlist.datasources values ('source', 'flights', 'DUCKDB', 'flights.duckdb')`,
  `insert into guestlist.datamarts values
    ('mart', 'flights', 'source', ${json(tenancy)}, ${json(tables)}, ${json(relationships)}, '["main.airports"]', '${at}', '${at}'),
    ('open', 'open', 'source', null, '[]', '[]', '[]', '${at}', '${at}')`,
  `insert into guestlist.workspaces values
    ('space', 'flights', 'DATAMART', null, 'mart'),
    ('many', 'many', 'MULTI_DATAMART', null, null),
    ('whole', 'whole', 'DATASOURCE', 'source', null)`,
  `insert into guestlist.dashboards values
    ('board', 'delays', 'space', 'Delays', null, null, null, ${json(layout)}, '[8, 8]', ${json(filters)}, '{"plan": "gold"}', true),
    ('board-lax', 'board--LAX', 'space', 'board--LAX_LAX', 'app', 'LAX', 'board', '[]', '[8, 8]', '[]', null, false)`,
  `insert into guestlist.metrics values
    ('delays', 'space', 'Delays', ${json(definition)}, '[]', null, null),
    ('delays--LAX', 'space', 'Delays', ${json(definition)}, '["delays"]', 'app', 'LAX')`,
  `insert into guestlist.dashboard_metrics values
    ('board', 'delays', 'METRIC', 0, '${at}'), ('board-lax', 'delays--LAX', 'GALLERY', 0, '${at}')`,
  `insert into guestlist.data_app_names values ('app', 'board--LAX', 'board-lax'), ('app', 'one-metric', 'board')`,
  `insert into guestlist.embeds values
    ('app', 'board--LAX', 'dashboard', 'board-lax', null, 'Delays', 'In words', ${json(accessSettings)}, '${at}'),
    ('app', 'one-metric', 'metric', 'board', 'delays', 'One', null, null, '${at}')`,
  `insert into guestlist.guest_tokens values
    ('token', '${hash('token')}', 'app', 'LAX', 'user-1', 'mart', ${json(grants)}, '${at}', null),
    ('ended', '${hash('ended')}', 'app', 'LAX', null, null, ${json({ ...grants, allowedEmbeds: null })}, '${at}', '${at}')`,
];

const moment = new Date(at);

/** The rows as current types. A later version may have more fields. */
export const today = {
  dataApp: { id: 'app', name: 'flights', createdAt: moment, updatedAt: moment },
  datasource: { id: 'source', name: 'flights', datasourceType: 'DUCKDB', path: 'flights.duckdb' },
  datamart: {
    id: 'mart',
    name: 'flights',
    datasourceId: 'source',
    tenancy,
    tables,
    relationships,
    sharedTables: ['main.airports'],
    createdAt: moment,
    updatedAt: moment,
  },
  workspace: { id: 'space', name: 'flights', connectionType: 'DATAMART', datasourceId: null, datamartId: 'mart' },
  dashboard: {
    id: 'board',
    externalDashboardId: 'delays',
    workspaceId: 'space',
    name: 'Delays',
    owner: null,
    templateId: null,
    layout,
    gridMargin: [8, 8],
    filters,
    metadata: { plan: 'gold' },
    isAllowPrivateMetricsByDefault: true,
  },
  copy: { externalDashboardId: 'board--LAX', owner: { dataAppId: 'app', clientId: 'LAX' }, templateId: 'board' },
  metric: { metricId: 'delays', name: 'Delays', definition, lineage: [], owner: null },
  copiedMetric: { metricId: 'delays--LAX', lineage: ['delays'], owner: { dataAppId: 'app', clientId: 'LAX' } },
  embed: {
    embedId: 'board--LAX',
    dataAppId: 'app',
    embedType: 'dashboard',
    dashboardId: 'board-lax',
    metricId: null,
    name: 'Delays',
    description: 'In words',
    accessSettings,
    createdAt: moment,
  },
  metricEmbed: { embedId: 'one-metric', embedType: 'metric', metricId: 'delays', accessSettings: null },
  grant: {
    ...grants,
    id: 'token',
    dataAppId: 'app',
    clientId: 'LAX',
    userIdentifier: 'user-1',
    datamartId: 'mart',
    createdAt: moment,
    expiresAt: null,
  },
} as const;

export const hashOf = hash;
