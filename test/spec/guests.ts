/**
 * Shared by the tests of guest writes: an organization whose boards permit everything, and definitions as a browser
 * sends them.
 */
import { columnRef, tableRef } from '../engine/world.js';
import { cloneBoard, type House, type Input, mint, ok, settings } from './house.js';

/** Settings that permit every write. */
export const openSettings = {
  ...settings,
  isAllowManageMetrics: true,
  isAllowCreateDashboardView: true,
  isAllowMetricCreation: true,
  isAllowMetricDeletion: true,
  isAllowMetricLayoutChange: true,
  isAllowMetricUpdate: true,
  isAllowDashboardCreation: true,
};

/** The parameters of a token with every permission. */
export const everything = {
  isEnableArchiveMetrics: true,
  isEnableManageMetrics: true,
  isEnableCreateDashboardView: true,
  isEnableMetricUpdation: true,
  isEnableCustomizeLayout: true,
  isEnableUnderlyingData: true,
  isEnableDownloadMetrics: true,
  isDisableMetricCreation: false,
  isEnableCreateDashboard: true,
};

/** A revenue metric, grouped by this column if one is given. */
export const revenueBy = (path?: string, parts: Input = {}): Input => ({
  chart: { type: path === undefined ? 'singleValue' : 'bar' },
  from: tableRef('sales'),
  dimensions: path === undefined ? [] : [{ name: 'By', column: columnRef(path) }],
  measures: [{ name: 'Revenue', aggregate: 'SUM', column: columnRef('sales.amount') }],
  ...parts,
});

export const guest = (house: House, clientId: string, params: Input = {}, permissions: Input = everything) =>
  mint(house, clientId, params, { permissions });

/** Creates a client's board, cloned from `board`, with private metrics by default. */
export const openBoard = (house: House, dashboardId: string, clientId: string, parts: Input = {}) =>
  cloneBoard(house, dashboardId, clientId, {
    accessSettings: openSettings,
    isAllowPrivateMetricsByDefault: true,
    ...parts,
  });

/** Embeds the organization's board `dashboardId` with every permission. Returns the embed's id. */
export const embedOf = async (house: House, dashboardId: string, parts: Input = {}): Promise<string> =>
  (
    await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId,
      workspaceName: 'shop',
      accessSettings: openSettings,
      ...parts,
    })
  ).id;

export const create = async (
  house: House,
  bearer: string,
  dashboardId: string,
  name: string,
  parts: Input = {},
): Promise<string> => {
  const input = { dashboardId, name, definition: revenueBy(), ...parts };
  return (await ok(house, 'createGuestMetric', input, { bearer })).data.metricId;
};

export const boardOf = async (house: House, bearer: string, dashboardId: string) =>
  (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data;

export const namesOn = async (house: House, bearer: string, dashboardId: string): Promise<readonly string[]> =>
  (await boardOf(house, bearer, dashboardId)).metrics.map(({ name }) => name);

/** Returns the revenue in the first row of the metric's answer. */
export const revenueOf = async (house: House, bearer: string, input: Input) =>
  (await ok(house, 'queryGuestMetric', input, { bearer })).data[0]?.Revenue;

/** Hides the table `notes` and the column `clients.name` of the datamart `shop`. */
export const hideSome = (house: House): Promise<void> =>
  house.stored(async (store) => {
    const mart = await store.datamarts.findByName('shop');
    if (mart === undefined) throw new Error('the organization has no datamart shop');
    await store.datamarts.update({
      ...mart,
      tables: mart.tables.map((table) => ({
        ...table,
        isHide: table.tableName === 'notes',
        columns: table.columns.map((column) => ({
          ...column,
          isHide: table.tableName === 'clients' && column.columnName === 'name',
        })),
      })),
    });
  });
