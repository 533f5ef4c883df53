/** Datamarts over the house's warehouse, as callers write them. */
import type { MetricDefinition } from '../../src/domain/dashboard/metric.js';
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

/** A datamart of sales and products; `parts` replaces or adds. */
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

/** The datamart as it is listed, with details. */
export const readDatamart = async (house: House, name: string): Promise<Listed> => {
  const found = (await ok(house, 'listDatamarts', {})).data.find((item) => item.name === name);
  if (found === undefined) throw new Error(`${name} is not listed`);
  return found;
};

/** A table of it, with its columns. */
export const readTable = async (house: House, name: string, tableName: string) => {
  const found = (await readDatamart(house, name)).datamartTables?.find((table) => table.tableName === tableName);
  if (found === undefined) throw new Error(`${name} has no table ${tableName}`);
  return found;
};

/** A client's dashboard of its own over the datamart, with one metric. */
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

/** The rows of that metric, as the host's backend asks for them. */
export const rowsOf = async (house: House, embedId: string, clientId: string) => {
  const [metric] = (await ok(house, 'listEmbedMetrics', { embedId, clientId })).data;
  return (await ok(house, 'queryMetric', { metricId: metric?.metricId, embedId, clientId })).data;
};
