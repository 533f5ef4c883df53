import { randomUUID } from 'node:crypto';
import type { Epoch } from '../../src/model/brand.js';
import type { StoredKey } from '../../src/model/credentials.js';
import type { Dashboard } from '../../src/model/dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../../src/model/dashboard/embed.js';
import { hostMade, type Metric, type Owner } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { GuestGrant } from '../../src/model/guest/grant.js';
import type { DataApp, Datasource, ServerConnection, Workspace } from '../../src/model/organization.js';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';

/** A time whose milliseconds must be stored exactly. */
export const moment = new Date('2026-03-29T01:59:59.987Z');

export const dataAppSample = (fields: Partial<DataApp> = {}): DataApp => ({
  id: randomUUID(),
  name: `app-${randomUUID()}`,
  createdAt: moment,
  updatedAt: moment,
  ...fields,
});

export const keySample = (fields: Partial<StoredKey> = {}): StoredKey => ({
  id: randomUUID(),
  name: `key-${randomUUID()}`,
  hash: hashToken(createToken()),
  keyHint: null,
  createdAt: moment,
  expiresAt: null,
  lastUsedAt: null,
  ...fields,
});

export const datasourceSample = (fields: { readonly name?: string } = {}): Datasource => ({
  id: randomUUID(),
  name: `source-${randomUUID()}`,
  syncedAt: null,
  datasourceType: 'DUCKDB',
  path: 'flights.duckdb',
  ...fields,
});

/** A datasource on a server, whose connection is stored sealed. */
export const serverSample = (parts: Partial<ServerConnection> = {}): Datasource => ({
  id: randomUUID(),
  name: `server-${randomUUID()}`,
  syncedAt: moment,
  datasourceType: 'POSTGRES',
  host: 'db.example.com',
  port: 5432,
  username: `user-${randomUUID()}`,
  password: `pass-${randomUUID()} "'\\ é 🙂`,
  database: 'shop',
  schema: null,
  isSsl: true,
  ...parts,
});

export const datamartSample = (datasourceId: string, fields: Partial<Datamart> = {}): Datamart => ({
  id: randomUUID(),
  name: `mart-${randomUUID()}`,
  datasourceId,
  tenancy: {
    tenancyLevel: 'TABLE',
    clientColumnType: 'STRING',
    schemaName: 'main',
    tableName: 'tenants',
    tableClientNameColumn: 'name',
    tablePrimaryKeyColumn: 'iata',
  },
  tables: [
    {
      schemaName: 'main',
      tableName: 'flights',
      label: 'Flüge ✈️',
      clientColumn: 'origin',
      isHide: false,
      columns: [
        { columnName: 'delay', datatype: 'BIGINT', alias: '', label: '"delay"', isHide: false, isApplyTimezone: false },
      ],
    },
  ],
  relationships: [
    {
      relationshipName: 'flights_airports',
      parent: { schemaName: 'main', tableName: 'flights', columnName: 'destination' },
      child: { schemaName: 'main', tableName: 'airports', columnName: 'iata' },
      cardinality: 'ManyToOne',
      join: null,
    },
  ],
  cacheTtlSeconds: 300,
  cacheStaleSeconds: 600,
  rollups: [],
  sharedTables: ['main.airports'],
  createdAt: moment,
  updatedAt: moment,
  ...fields,
});

export const workspaceSample = (fields: Partial<Workspace> = {}): Workspace => ({
  id: randomUUID(),
  name: `space-${randomUUID()}`,
  connectionType: 'DATAMART',
  datasourceId: null,
  datamartId: null,
  ...fields,
});

export const dashboardSample = (workspaceId: string, fields: Partial<Dashboard> = {}): Dashboard => ({
  id: randomUUID(),
  externalDashboardId: `board-${randomUUID()}`,
  workspaceId,
  name: 'Delays',
  owner: null,
  templateId: null,
  layout: [{ metricId: 'flights-a-day', x: 0, y: 0, w: 12, h: 4 }],
  gridMargin: [8, 8.5],
  filters: [
    {
      name: 'State',
      dataType: 'string',
      applyOnTables: [{ schemaName: 'main', tableName: 'airports', columnName: 'state', dataType: 'VARCHAR' }],
      defaultValue: ['CA', ''],
    },
  ],
  metadata: null,
  isAllowPrivateMetricsByDefault: false,
  ...fields,
});

export const metricSample = (workspaceId: string, fields: Partial<Metric> = {}): Metric => ({
  metricId: randomUUID(),
  workspaceId,
  name: 'Flights a day',
  definition: {
    kind: 'visual',
    chart: { type: 'line' },
    from: { schemaName: 'main', tableName: 'flights' },
    dimensions: [
      { name: 'day', column: { schemaName: 'main', tableName: 'flights', columnName: 'date' }, grain: 'day' },
    ],
    measures: [{ name: 'flights', aggregate: 'COUNT' }],
    filters: [],
    rlsVariables: [],
    underlying: [],
    drillPath: [],
    sort: [{ name: 'day', direction: 'ASC' }],
    limit: null,
  },
  lineage: [],
  owner: null,
  ...hostMade,
  ...fields,
});

export const accessSettingsSample: AccessSettings = {
  datamartName: 'flights',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: true,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
  dashboardFilterColumns: [{ tableName: 'main.airports', columns: ['state'] }],
};

export const embedSample = (dataAppId: string, dashboardId: string, fields: Partial<Embed> = {}): Embed => ({
  embedId: randomUUID(),
  dataAppId,
  embedType: 'dashboard',
  dashboardId,
  metricId: null,
  name: 'Delays',
  description: null,
  accessSettings: accessSettingsSample,
  createdAt: moment,
  ...fields,
});

/** The epoch of a subject without revocations. */
export const firstEpoch = '0/0' as Epoch;

export const grantSample = (dataAppId: string, fields: Partial<GuestGrant> = {}): GuestGrant => ({
  id: randomUUID(),
  dataAppId,
  clientId: 'LAX',
  userIdentifier: null,
  timezone: 'America/Los_Angeles',
  datamartId: null,
  datasourceId: null,
  allowedEmbeds: [],
  rlsSettings: [{ metricId: 'm', values: { region: 'CA' } }],
  appFilters: [{ metricId: 'm', values: { delay: { min: -0.5, max: 1e21 } } }],
  dashboardAppFilters: [{ dashboardId: 'd', values: { State: ['CA'] }, isShowOnUrl: false }],
  hideDashboardFilters: ['d'],
  columnRules: { hideColumns: [], maskColumns: {} },
  hideDashboardMetrics: [{ dashboardId: 'd', metricIds: ['m'] }],
  quota: {},
  accessPermissions: { isAllowEndUserDashboardFilter: false },
  permissions: { isEnableUnderlyingData: true },
  createdAt: moment,
  expiresAt: new Date(moment.getTime() + 1),
  ...fields,
});

export type Organization = {
  readonly dataApp: DataApp;
  readonly otherApp: DataApp;
  readonly datasource: Datasource;
  readonly datamart: Datamart;
  readonly workspace: Workspace;
  readonly owner: Owner;
  readonly otherOwner: Owner;
};

/** Creates an organization: two data apps, a datasource, a datamart and a workspace. */
export const insertOrganization = async (store: Store): Promise<Organization> => {
  const [dataApp, otherApp, datasource] = [dataAppSample(), dataAppSample(), datasourceSample()];
  const datamart = datamartSample(datasource.id);
  const workspace = workspaceSample({ datasourceId: datasource.id, datamartId: datamart.id });
  await store.dataApps.insert(dataApp);
  await store.dataApps.insert(otherApp);
  await store.datasources.insert(datasource);
  await store.datamarts.insert(datamart);
  await store.workspaces.insert(workspace);
  const owner = { dataAppId: dataApp.id, clientId: 'LAX' };
  return {
    dataApp,
    otherApp,
    datasource,
    datamart,
    workspace,
    owner,
    otherOwner: { ...owner, dataAppId: otherApp.id },
  };
};
