/** Datamarts over the test's warehouse, as requests create them. */
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { type House, type Input, type Output, ok, settings } from './house.js';

export const columns = (...names: readonly string[]): readonly Input[] => names.map((name) => ({ name }));

export const tableTenancy = {
  tenancyLevel: 'TABLE',
  clientColumnType: 'STRING',
  schemaName: 'main',
  tableName: 'clients',
  tableClientNameColumn: 'name',
  tablePrimaryKeyColumn: 'id',
} as const;

export const salesTable: Input = {
  name: 'sales',
  clientColumn: 'client',
  columns: columns('client', 'sold', 'amount', 'region', 'product'),
};
export const productsTable: Input = { name: 'products', columns: columns('id', 'label') };
export const clientsTable: Input = { name: 'clients', columns: columns('id', 'name') };

export const bySale = {
  parentTableName: 'sales',
  parentColumnName: 'product',
  childTableName: 'products',
  childColumnName: 'id',
  relationshipName: 'product-of-sale',
} as const;

/** Creates a datamart of sales and products; `parts` replaces or adds fields. */
export const createSales = (house: House, name: string, parts: Input = {}): Promise<Output<'createDatamart'>> =>
  ok(house, 'createDatamart', {
    name,
    datasourceName: 'warehouse',
    tableList: [salesTable, productsTable],
    tenancySettings: tableTenancy,
    relationships: [bySale],
    sharedTables: ['products'],
    ...parts,
  });

export type Listed = Output<'listDatamarts'>['data'][number];

/** Returns the datamart as it is listed, with details. */
export const readDatamart = async (house: House, name: string): Promise<Listed> => {
  const found = (await ok(house, 'listDatamarts', {})).data.find((item) => item.name === name);
  if (found === undefined) throw new Error(`${name} is not listed`);
  return found;
};

/** Returns a table of the datamart with its columns. */
export const readTable = async (house: House, name: string, tableName: string) => {
  const found = (await readDatamart(house, name)).datamartTables?.find((table) => table.tableName === tableName);
  if (found === undefined) throw new Error(`${name} has no table ${tableName}`);
  return found;
};

/** Creates a client's dashboard with one metric over the datamart. */
export const boardOver = (
  house: House,
  datamartName: string,
  dashboardId: string,
  clientId: string,
  definition: MetricDefinition,
) =>
  ok(house, 'createDashboardEmbed', {
    dashboardId,
    clientId,
    workspaceName: 'all',
    accessSettings: { ...settings, datamartName },
    importDashboardData: {
      layout: [],
      filters: [],
      gridMargin: [],
      metrics: [{ metricId: 'own', name: 'Own', definition }],
    },
  });

/** Returns the rows of that metric for the host's backend. */
export const rowsOf = async (house: House, embedId: string, clientId: string) => {
  const [metric] = (await ok(house, 'listEmbedMetrics', { embedId, clientId })).data;
  return (await ok(house, 'queryMetric', { metricId: metric?.metricId, embedId, clientId })).data;
};
