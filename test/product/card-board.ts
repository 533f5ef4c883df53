/** A dashboard of a few related cards over the real flights, and tokens for it, for tests of what a guest does with cards. */
import type { Tile } from '../../src/model/dashboard/tile.js';
import { operations } from '../../src/service/operations.js';
import { post } from './guest.js';
import type { Product } from './product.js';

type Json = Readonly<Record<string, unknown>>;

const column = (tableName: string, columnName: string): Json => ({ schemaName: 'main', tableName, columnName });
const state: Json = { name: 'State', column: column('airports', 'state') };
const city: Json = { name: 'City', column: column('airports', 'city') };
const airport: Json = { name: 'Airport', column: column('airports', 'name') };
const period = (name: string, grain: string): Json => ({ name, column: column('flights', 'date'), grain });
const flights: Json = { name: 'Flights', aggregate: 'COUNT' };
const delay: Json = { name: 'Average delay', aggregate: 'AVG', column: column('flights', 'delay') };
const sorted = (name: string, direction: string): Json => ({ sort: [{ name, direction }] });

const parts: Readonly<Record<string, Json>> = {
  States: {
    chart: { type: 'table' },
    dimensions: [state],
    measures: [flights, delay],
    drillPath: [city],
    underlying: [column('flights', 'date'), column('flights', 'delay'), column('airports', 'state')],
    ...sorted('Flights', 'DESC'),
  },
  Bars: { chart: { type: 'bar' }, dimensions: [state], measures: [flights], limit: 8, ...sorted('Flights', 'DESC') },
  Months: {
    chart: { type: 'table' },
    dimensions: [period('Month', 'month'), state],
    measures: [flights],
    ...sorted('Month', 'ASC'),
  },
  Days: { chart: { type: 'line' }, dimensions: [period('Day', 'day')], measures: [flights], ...sorted('Day', 'ASC') },
  Daily: { chart: { type: 'table' }, dimensions: [period('Day', 'day')], measures: [flights], ...sorted('Day', 'ASC') },
  Total: { chart: { type: 'singleValue' }, dimensions: [], measures: [flights] },
  Large: {
    chart: { type: 'table' },
    dimensions: [period('Hour', 'hour'), airport],
    measures: [flights, delay],
    ...sorted('Hour', 'ASC'),
  },
};

const metricIdOf = (name: string): string => `card-${name.toLowerCase()}`;

const board = (names: readonly string[], tiles?: readonly Tile[]): Json => ({
  layout: names.map((name, at) => ({
    metricId: metricIdOf(name),
    x: (at % 2) * 6,
    y: Math.floor(at / 2) * 4 + Math.max(0, ...(tiles ?? []).map(({ y, h }) => y + h)),
    w: 6,
    h: 4,
  })),
  filters: [
    {
      name: 'Airport',
      dataType: 'string',
      applyOnTables: [{ ...column('airports', 'name'), dataType: 'string' }],
    },
  ],
  gridMargin: [],
  metrics: names.map((name) => ({
    metricId: metricIdOf(name),
    name,
    lineage: [],
    placement: 'METRIC',
    definition: {
      kind: 'visual',
      from: { schemaName: 'main', tableName: 'flights' },
      underlying: [],
      drillPath: [],
      filters: [],
      limit: null,
      sort: [],
      ...parts[name],
    },
  })),
  ...(tiles === undefined ? { version: 2 } : { version: 3, tiles }),
});

/** What the host says of the board with the large table. */
export const describedAs = 'Each hour of each airport, with its flights.';

export type CardBoard = 'cards--LAX' | 'large--LAX';

const boards: Readonly<Record<CardBoard, readonly string[]>> = {
  'cards--LAX': ['States', 'Bars', 'Months', 'Days', 'Total', 'Daily'],
  'large--LAX': ['Large'],
};

/** Makes the boards; each permission of a guest is open, so that tokens can leave them out. */
export const makeBoards = async (
  { url, credentials: { demoApiKey } }: Product,
  tiles?: readonly Tile[],
): Promise<void> => {
  for (const [dashboardId, names] of Object.entries(boards)) {
    const made = await post(
      `${url}/api/v2/data-app/dashboard-embeds`,
      {
        dashboardId,
        workspaceName: 'flights',
        clientId: 'LAX',
        ...(dashboardId === 'large--LAX' ? { embedDescription: describedAs } : {}),
        accessSettings: {
          ...operations.createDashboardEmbed.example?.input.accessSettings,
          datamartName: 'flights',
          isAllowUnderlyingData: true,
          isAllowCreateDashboardView: true,
          isAllowManageMetrics: true,
          isAllowMetricCreation: true,
          isAllowMetricLayoutChange: true,
          isAllowMetricUpdate: true,
          isAllowMetricDeletion: true,
          isAllowDashboardCreation: true,
        },
        importDashboardData: board(names, tiles),
      },
      demoApiKey,
    );
    if (made.status !== 200) throw new Error(`${dashboardId}: ${made.text}`);
  }
};

export const mintFor = async (
  { url, credentials: { demoApiKey } }: Product,
  permissions: Readonly<Record<string, boolean>> = {},
  params: Json = {},
): Promise<string> => {
  const answer = await post<{ token: string }>(
    `${url}/api/v2/guest-token/create`,
    {
      clientId: 'LAX',
      dataAppName: 'flights',
      params: { allowedEmbeds: Object.keys(boards), timezone: 'UTC', ...params },
      permissions,
    },
    demoApiKey,
  );
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.token;
};
