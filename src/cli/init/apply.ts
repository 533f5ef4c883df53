/** Writes what `init` drafted into a service of this folder, by the operations of the interface. */
import { join } from 'node:path';
import { startLocalService } from '../../main.js';
import { type FirstDashboard, layOut } from '../../model/dashboard/first/first-dashboard.js';
import { type ColumnRef, type Datamart, qualifiedName } from '../../model/datamart/datamart.js';
import { credentialsOf } from '../../model/datamart/source-url.js';
import type { DatasourceConnection } from '../../model/organization.js';
import { type Call, createClient } from '../../platform/http/interface/client.js';
import { importDashboard } from '../../service/dashboards/contract/dashboards.js';
import { exportVersion } from '../../service/dashboards/contract/export.js';
import { createDataApp } from '../../service/data-apps/contract/data-apps.js';
import { createDatamart } from '../../service/datamarts/contract/writes.js';
import { createDatasource } from '../../service/datasources/contract/datasources.js';
import { createApiKey } from '../../service/keys/contract/api-keys.js';
import { createWorkspace } from '../../service/workspaces/contract.js';
import { definitionsOf, pullFolder, readFolder } from '../files/folder.js';
import { readStored } from '../files/service.js';
import { createHttpTransport } from '../kit/transport.js';

/** The datamart as `createDatamart` takes it. */
export const datamartDefinition = ({ name, tenancy, tables, relationships, sharedTables }: Datamart) => {
  const end = (which: 'parent' | 'child', column: ColumnRef) => ({
    [`${which}TableName`]: qualifiedName(column),
    [`${which}ColumnName`]: column.columnName,
  });
  return {
    name,
    datasourceName: name,
    tenancySettings: tenancy,
    tableList: tables.map(
      ({ schemaName, tableName, clientColumn, tenancyPath, through, baseFilters = [], columns }) => ({
        name: tableName,
        schemaName,
        ...(clientColumn === null ? {} : { clientColumn }),
        ...(tenancyPath == null ? {} : { tenancyPath }),
        ...(through == null ? {} : { through }),
        ...(baseFilters.length === 0 ? {} : { baseFilters }),
        columns: columns.map(({ columnName, label, numbers }) => ({
          name: columnName,
          ...(label === '' ? {} : { label }),
          ...(numbers == null ? {} : { numbers }),
        })),
      }),
    ),
    sharedTables: [...sharedTables],
    relationships: relationships.map(({ relationshipName, parent, child, cardinality }) => ({
      relationshipName,
      ...end('parent', parent),
      ...end('child', child),
      ...(cardinality === null ? {} : { cardinality }),
    })),
  };
};

/** The dashboard as an export holds it. */
export const dashboardDefinition = (id: string, title: string, { metrics, filters }: FirstDashboard) => ({
  _meta: { version: exportVersion, dashboardId: id, name: title },
  data: {
    version: exportVersion,
    gridMargin: [],
    layout: layOut(metrics),
    filters: [...filters],
    metrics: metrics.map(({ metricId, name, definition }) => ({
      metricId,
      name,
      lineage: [],
      placement: 'METRIC' as const,
      definition,
    })),
  },
});

type Definitions = {
  readonly name: string;
  readonly connection: DatasourceConnection;
  readonly datamart: ReturnType<typeof datamartDefinition>;
  readonly dashboard: ReturnType<typeof dashboardDefinition>;
};

const create = async (call: Call, { name, connection, datamart, dashboard }: Definitions): Promise<string> => {
  await call(createDatasource, {
    datasourceType: connection.datasourceType,
    credentials: credentialsOf(name, connection),
  } as Parameters<typeof call<typeof createDatasource>>[1]);
  const { warnings = [] } = await call(createDatamart, datamart as Parameters<typeof call<typeof createDatamart>>[1]);
  if (warnings.length > 0) throw new Error(`the datamart has tables that nobody may read: ${warnings[0]?.message}`);
  await call(createWorkspace, { name, connectionType: 'DATAMART', datamartName: name });
  await call(importDashboard, {
    workspaceName: name,
    dashboardId: dashboard._meta.dashboardId,
    dashboardName: dashboard._meta.name,
    importDashboardData: dashboard.data,
  } as unknown as Parameters<typeof call<typeof importDashboard>>[1]);
  await call(createDataApp, { name });
  const { key } = await call(createApiKey, { dataAppName: name, name: 'gateway' });
  return key;
};

/** Reads the service token that a start created in the data folder. */
export type ReadServiceToken = (dataDir: string) => Promise<string>;

/**
 * Starts the service that the folder's configuration describes, creates everything, writes `definitions/` as `pull`
 * does, and stops the service again. Returns the API key of the data app. Throws UpstreamRefusal with the service's words.
 */
export const applyDefinitions = async (
  folder: string,
  definitions: Definitions,
  readServiceToken: ReadServiceToken,
): Promise<string> => {
  const running = await startLocalService(join(folder, 'guestlist.yaml'));
  try {
    const token = await readServiceToken(join(folder, 'data'));
    const call = createClient(createHttpTransport(running.url), token);
    const apiKey = await create(call, definitions);
    const written = join(folder, 'definitions');
    const ends = { service: call, dataApp: undefined, policyPath: undefined, url: undefined };
    const stored = definitionsOf(await readStored(ends, () => true));
    await pullFolder(written, await readFolder(written), stored, false);
    return apiKey;
  } finally {
    running.hurry();
    await running.close();
  }
};
