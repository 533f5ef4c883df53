/** Section 16 of the interface, "Query a metric", and further known facts on metrics, dashboards and queries. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeReply } from '../../src/service/metrics/contract.js';
import {
  call,
  cloneBoard,
  firstSentence,
  type House,
  type Input,
  metricOf,
  noon,
  ok,
  openHouse,
  refused,
  setNow,
  settings,
} from './house.js';

let house: House;
let revenue: string;
let byRegion: string;
let guarded: string;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  [revenue, byRegion, guarded] = await Promise.all([
    metricOf(house, 'acme-board', 'acme', 'revenue'),
    metricOf(house, 'acme-board', 'acme', 'by-region'),
    metricOf(house, 'acme-board', 'acme', 'guarded'),
  ]);
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const question = (parts: Input = {}) => ({ embedId: 'acme-board', metricId: revenue, clientId: 'acme', ...parts });
const answerOf = (parts: Input = {}) => ok(house, 'queryMetric', question(parts));
const revenueOf = async (parts: Input) => (await answerOf(parts)).data[0]?.Revenue;
const embed = async (parts: Input) =>
  (
    await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      workspaceName: 'shop',
      accessSettings: settings,
      ...parts,
    })
  ).id;

describe('the answer', () => {
  test('Response 200: data, timeTaken, totalRecords, metaData {columns, groupbyColumnList}, metricid, error', async () => {
    const answer = await call(house, 'queryMetric', question({ metricId: byRegion }));
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        data: [
          { Region: 'north', Revenue: 130, Sales: 2 },
          { Region: 'south', Revenue: 50, Sales: 1 },
          { Region: 'west', Revenue: 20, Sales: 1 },
        ],
        timeTaken: expect.any(Number),
        totalRecords: 3,
        metaData: {
          columns: [
            { name: 'Region', dataType: 'string' },
            { name: 'Revenue', dataType: 'number' },
            { name: 'Sales', dataType: 'number' },
          ],
          groupbyColumnList: ['Region'],
        },
        metricid: byRegion,
        error: null,
      },
    ]);
  });

  test('without rows: data is an empty array, totalRecords 0, columns and groupbyColumnList empty', async () => {
    expect(await answerOf({ metricId: byRegion, dashboardFilter: { Region: 'nowhere' } })).toMatchObject({
      data: [],
      totalRecords: 0,
      metaData: { columns: [], groupbyColumnList: [] },
      metricid: byRegion,
      error: null,
    });
  });

  test('comparisonValue is missing if no comparison applies', async () => {
    expect(await answerOf()).not.toHaveProperty('comparisonValue');
  });

  test.each([
    [12, { comparisonValue: 12 }],
    ['0.10', { comparisonValue: 0.1 }],
    ['9007199254740993', { comparisonValue: 9007199254740992 }],
    [null, { comparisonValue: null }],
    ['2024-03-01', {}],
    ['', {}],
    [true, {}],
    [undefined, {}],
  ])('comparisonValue (number, present when a comparison applies): of %j', (comparisonValue, expected) => {
    const answer = { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0, comparisonValue };
    const { data, timeTaken, totalRecords, metaData, metricid, error, ...rest } = encodeReply({
      metricId: 'm',
      answer,
      timeTakenInMs: 1,
    });
    expect(rest).toEqual(expected);
  });
});

describe('dashboardFilter: keyed by filter name', () => {
  test.each([
    ['a string', { Region: 'north' }, 130],
    ['without regard to case', { REGION: 'north' }, 130],
    ['strings: IN', { Region: ['south', 'west'] }, 70],
    ['a boolean: =', { Paid: true }, 130],
    ['numbers: BETWEEN, both ends included', { Amount: { min: 20, max: 50 } }, 100],
    ['an open range', { Amount: { min: 50 } }, 150],
    ['dates: the end means the whole of that day', { Sold: { startDate: '2024-03-31', endDate: '2024-04-01' } }, 80],
    ['a preset', { Sold: 'Last Month' }, 150],
    ['a preset in another case', { Sold: 'last 30 DAYS' }, 200],
    ['along a relationship', { Product: ['Anvil'] }, 120],
    ['none', {}, 200],
  ])('a dashboardFilter keeps the rows that it names: %s', async (_, dashboardFilter, expected) => {
    expect(await revenueOf({ dashboardFilter })).toBe(expected);
  });

  test.each([
    ['an unknown name', { Colour: 'red' }],
    ['a value of another kind', { Paid: 'yes' }],
    ['no date', { Sold: '2024-02-31' }],
    ['an empty list', { Region: [] }],
  ])('a dashboardFilter that fits no filter is refused with INVALID_REQUEST_BODY: %s', async (_, dashboardFilter) => {
    await refused('queryMetric INVALID_REQUEST_BODY', house, question({ dashboardFilter }));
  });
});

describe('{sql, columnName}', () => {
  const inSql = (sql: string) => question({ dashboardFilter: { Region: { sql, columnName: 'region' } } });

  test('passes the values of the column in the rows of the SQL, which are this client’s', async () => {
    const asked = inSql("SELECT region FROM sales WHERE product = 2 OR region = 'east'");
    expect((await ok(house, 'queryMetric', asked)).data).toEqual([{ Revenue: 180 }]);
  });

  test('is refused if it is not one SELECT over the datamart: METRIC_QUERY_ERROR', async () => {
    for (const sql of ['DELETE FROM sales', 'SELECT region FROM nowhere', "SELECT region FROM read_csv('x')"]) {
      await refused('queryMetric METRIC_QUERY_ERROR', house, inSql(sql));
    }
  });
});

describe('metricFilter: keyed by filter name', () => {
  test.each([
    ['an internal name', { size: { min: 50 } }, 150],
    ['a label', { Amount: 30 }, 30],
    ['a label of a joined table', { product: 'Rope' }, 80],
  ])('a metricFilter keeps the rows that it names: %s', async (_, metricFilter, expected) => {
    expect(await revenueOf({ metricFilter })).toBe(expected);
  });

  test('an unknown name: INVALID_REQUEST_BODY', async () => {
    await refused('queryMetric INVALID_REQUEST_BODY', house, question({ metricFilter: { colour: 'red' } }));
  });

  test('a metricFilter also takes values for RLS variables by name', async () => {
    expect(await revenueOf({ metricId: guarded, metricFilter: { region: 'north' } })).toBe(130);
    expect(await revenueOf({ metricId: guarded, metricFilter: { region: ['north', 'south'], product: 2 } })).toBe(80);
  });

  test('a declared RLS variable without a value is an error, never "no restriction"', async () => {
    for (const metricFilter of [undefined, { product: 1 }, { region: [] }, { region: { min: 1 } }])
      await refused('queryMetric RLS_SETTINGS_PARAM_ERROR', house, question({ metricId: guarded, metricFilter }));
  });
});

describe('embedId, metricId, clientId', () => {
  test('embedId is an embed id or a dashboard id', async () => {
    const embedId = await embed({ dashboardId: 'acme-board' });
    expect([await revenueOf({ embedId }), await revenueOf({})]).toEqual([200, 200]);
  });

  test("an embed of the organization's dashboard shows each client its own rows", async () => {
    const embedId = await embed({ dashboardId: 'board' });
    const of = (clientId: string) => revenueOf({ embedId, metricId: 'revenue', clientId });
    expect([await of('acme'), await of('globex'), await of('ACME'), await of('acme ')]).toEqual([
      200,
      3000,
      null,
      null,
    ]);
  });

  test.each(['embedId', 'metricId', 'clientId'])('a query of the host needs %s', async (field) => {
    const message = await refused('queryMetric INVALID_REQUEST_BODY', house, question({ [field]: undefined }));
    expect(message).toContain(field);
  });

  test('an unknown field is refused', async () => {
    for (const parts of [{ limit: 5 }, { dashboardId: 'acme-board' }, { client_id: 'globex' }])
      await refused('queryMetric INVALID_REQUEST_BODY', house, question(parts));
  });

  test("embed not found, or another data app's: INVALID_EMBED_ID", async () => {
    await refused('queryMetric INVALID_EMBED_ID', house, question({ embedId: 'nowhere' }));
    await refused('queryMetric INVALID_EMBED_ID', house, question(), { bearer: house.otherKey });
  });

  test("a clientId other than the embed's owner: EMBED_PARAM_ERROR", async () => {
    for (const clientId of ['globex', 'None', 'ACME'])
      await refused('queryMetric EMBED_PARAM_ERROR', house, question({ clientId }));
  });

  test('a metric that the embed does not have: INVALID_METRIC_ID', async () => {
    for (const metricId of ['nowhere', 'revenue', 'order-total'])
      await refused('queryMetric INVALID_METRIC_ID', house, question({ metricId }));
    const embedId = await embed({ embedType: 'metric', dashboardId: 'acme-board', metricId: revenue });
    await refused('queryMetric INVALID_METRIC_ID', house, question({ embedId, metricId: byRegion }));
    expect(await revenueOf({ embedId })).toBe(200);
  });

  test("another client's metric on a dashboard of the organization: INVALID_METRIC_ID", async () => {
    const embedId = await embed({ dashboardId: 'held' });
    expect(await revenueOf({ embedId, metricId: 'of-acme' })).toBe(200);
    await refused('queryMetric INVALID_METRIC_ID', house, question({ embedId, metricId: 'of-globex' }));
  });

  test('a clientId that does not fit the datamart: CLIENT_ID_ERROR', async () => {
    const embedId = await embed({ dashboardId: 'board' });
    await refused('queryMetric CLIENT_ID_ERROR', house, question({ embedId, metricId: 'revenue', clientId: 'None' }));
    const numeric = await embed({
      dashboardId: 'counter',
      workspaceName: 'orders',
      accessSettings: { ...settings, datamartName: 'orders' },
    });
    for (const clientId of ['acme', '01', '1.0'])
      await refused(
        'queryMetric CLIENT_ID_ERROR',
        house,
        question({ embedId: numeric, metricId: 'order-total', clientId }),
      );
    expect((await answerOf({ embedId: numeric, metricId: 'order-total', clientId: '1' })).data).toEqual([{ Total: 5 }]);
  });
});

describe('for multi-source workspaces, datasourceName, datamartName', () => {
  test("the embed's own names are accepted", async () => {
    expect(await revenueOf({ datasourceName: 'warehouse', datamartName: 'shop' })).toBe(200);
  });

  test('other names are refused: EMBED_PARAM_ERROR', async () => {
    await refused('queryMetric EMBED_PARAM_ERROR', house, question({ datasourceName: 'lost' }));
    await refused('queryMetric EMBED_PARAM_ERROR', house, question({ datamartName: 'lost' }));
    await refused('queryMetric EMBED_PARAM_ERROR', house, question({ datamartName: 'nowhere' }));
  });

  test('an embed without a datamart has no rows: METRIC_QUERY_ERROR', async () => {
    const embedId = await embed({
      embedType: 'metric',
      dashboardId: 'free',
      metricId: 'product-count',
      workspaceName: 'all',
      accessSettings: undefined,
    });
    await refused('queryMetric METRIC_QUERY_ERROR', house, question({ embedId, metricId: 'product-count' }));
  });
});

describe('the API key and the paths', () => {
  test('a wrong key: 401 with the message that clients match', async () => {
    for (const bearer of [null, 'wrong', house.endedKey, house.serviceToken]) {
      const message = await refused('queryMetric AUTHENTICATION_ERROR', house, question(), { bearer });
      expect(firstSentence(message)).toBe('API key is invalid or expired');
    }
  });

  test('the legacy path still works, with a Deprecation header', async () => {
    const answer = await call(house, 'queryMetric', question(), { path: '/api/v2/dataApp/query' });
    expect([answer.status, answer.headers.get('deprecation')]).toEqual([200, expect.stringMatching(/^@\d+$/)]);
    expect((await call(house, 'queryMetric', question())).headers.get('deprecation')).toBeNull();
  });
});
