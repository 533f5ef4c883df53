/** What a guest token can read, and how the permissions and settings of the interface decide it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guestPermissionNames } from '../../src/model/guest/grant.js';
import { request } from '../product/guest.js';
import {
  call,
  cloneBoard,
  type House,
  type Input,
  metricOf,
  mint,
  noon,
  ok,
  openHouse,
  type Pair,
  refused,
  setNow,
  settings,
} from './house.js';

let house: House;
let token: string;
let revenue: string;
let byRegion: string;
let guarded: string;
/** A metric embed of `revenue`. */
let tile: string;

const embed = async (parts: Input) =>
  (
    await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      workspaceName: 'shop',
      accessSettings: settings,
      ...parts,
    })
  ).id;

beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  [revenue, byRegion, guarded] = await Promise.all([
    metricOf(house, 'acme-board', 'acme', 'revenue'),
    metricOf(house, 'acme-board', 'acme', 'by-region'),
    metricOf(house, 'acme-board', 'acme', 'guarded'),
  ]);
  tile = await embed({ embedType: 'metric', dashboardId: 'acme-board', metricId: revenue, name: 'Takings' });
  const rls = { rlsSettings: [{ metricId: guarded, values: { region: 'north' } }] };
  token = await mint(house, 'acme', rls, { permissions: { isEnableDownloadMetrics: true } });
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const board = async (bearer = token, dashboardId = 'acme-board') =>
  (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data;
const query = (parts: Input = {}, bearer = token) =>
  ok(house, 'queryGuestMetric', { dashboardId: 'acme-board', metricId: byRegion, ...parts }, { bearer });
const rows = async (parts: Input = {}, bearer = token) => (await query(parts, bearer)).data;
const options = async (filter: string, search?: string, bearer = token) =>
  (await ok(house, 'listGuestFilterOptions', { dashboardId: 'acme-board', filter, search }, { bearer })).data.map(
    ({ value }) => value,
  );

const north = { Region: 'north', Revenue: 130, Sales: 2 };
const south = { Region: 'south', Revenue: 50, Sales: 1 };
const west = { Region: 'west', Revenue: 20, Sales: 1 };

test('a dashboard tells what its embed says of it, and nothing where the embed says nothing', async () => {
  await cloneBoard(house, 'told-board', 'acme', { embedDescription: 'Takings of all shops' });
  await cloneBoard(house, 'mute-board', 'acme', { embedDescription: '' });
  const allowedEmbeds = ['told-board', 'mute-board', 'acme-board'];
  const bearer = await mint(house, 'acme', { allowedEmbeds });
  const told = await Promise.all(allowedEmbeds.map(async (id) => (await board(bearer, id)).description));
  expect(told).toEqual(['Takings of all shops', undefined, undefined]);
});

describe('the reader’s language', () => {
  const bodyOf = async (path: string, language?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(language === undefined ? {} : { 'accept-language': language }),
    };
    return request<{ data: { metrics: readonly { name: string }[] }; error: { message: string } }>(
      `${house.url()}/api/v2/guest/dashboards/acme-board${path}`,
      { headers },
    );
  };

  test('a translation that is empty is refused with its place; a good one is shown by Accept-Language', async () => {
    const name = { workspaceName: 'shop', dashboardId: 'acme-board' };
    const { _meta, data, digest } = await ok(house, 'getDashboardContent', name);
    const put = (de: object) =>
      call(house, 'replaceDashboardContent', {
        ...name,
        content: { ...data, metadata: { ...data.metadata, translations: { de } } },
        expectedDigest: digest,
      });
    const bad = await put({ revenue: ' ' });
    expect([_meta.dashboardId, bad.status, JSON.stringify(bad.body)]).toEqual([
      'acme-board',
      400,
      expect.stringMatching(/metadata\.translations\.de\.revenue: .*not empty/),
    ]);
    const [first = ''] = data.metrics.map((metric) => metric.name);
    expect((await put({ [first]: 'Umsatz' })).status).toBe(200);
    const names = async (path: string, language?: string) =>
      (await bodyOf(path, language)).body.data.metrics.map((metric) => metric.name);
    expect(await names('')).toContain(first);
    for (const language of ['de', 'de-DE,de;q=0.9,en;q=0.8', 'DE'])
      expect(await names('', language)).toContain('Umsatz');
    expect(await names('?language=de')).toContain(first);
    for (const language of ['fr, de;q=0.5', '*', ';;;', `${'x'.repeat(4000)}`])
      expect(await names('', language)).toContain(first);
  });
});

describe('GET /api/v2/guest/dashboards/{dashboardId}', () => {
  test('{data: {dashboardId, name, layout, metrics, filters, permissions, theme}, error: null}', async () => {
    const answer = await call(house, 'getGuestDashboard', { dashboardId: 'acme-board' }, { bearer: token });
    const waiting = (name: string, dataType: string) => ({ name, dataType, defaultValue: null });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        data: {
          dashboardId: 'acme-board',
          name: 'acme-board_acme',
          layout: [{ metricId: revenue, x: 0, y: 0, w: 12, h: 4 }, { metricId: byRegion }, { metricId: guarded }],
          metrics: [
            {
              metricId: revenue,
              name: 'Metric revenue',
              chart: { type: 'singleValue', dimensions: [], measures: ['Revenue'], isDrillable: false },
              filters: [waiting('Amount', 'number'), waiting('Product', 'string')],
            },
            {
              metricId: byRegion,
              chart: { type: 'bar', dimensions: ['Region'], measures: ['Revenue', 'Sales'], isDrillable: true },
            },
            { metricId: guarded },
            { name: 'Metric spare' },
          ],
          filters: [
            waiting('Region', 'string'),
            waiting('Sold', 'date'),
            waiting('Paid', 'boolean'),
            waiting('Amount', 'number'),
            waiting('Product', 'string'),
          ],
          theme: null,
        },
        error: null,
      },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('the id is an embed id or a dashboard id', async () => {
    const embedId = await embed({ dashboardId: 'derived' });
    expect(await board(token, embedId)).toMatchObject({ dashboardId: embedId, name: 'Dashboard derived' });
    expect(await board(token, 'derived')).toMatchObject({ dashboardId: 'derived', name: 'Dashboard derived' });
  });

  test('a default applies and is shown until the guest sets a value; a default that the token replaces is neither', async () => {
    await embed({ dashboardId: 'defaults' });
    const sized = async (params: Input, choice: Input = {}) => {
      const bearer = await mint(house, 'acme', params);
      const { metrics, filters } = await board(bearer, 'defaults');
      const shown = metrics.find(({ metricId }) => metricId === 'sized')?.filters[0]?.defaultValue;
      const { data } = await query({ dashboardId: 'defaults', metricId: 'sized', ...choice }, bearer);
      return [data[0]?.Revenue, shown, filters[0]?.defaultValue];
    };
    expect(await sized({})).toEqual([100, { min: 50 }, ['north']]);
    expect(await sized({}, { metricFilter: { 'at LEAST': { min: 30 } } })).toEqual([130, { min: 50 }, ['north']]);
    const app = { appFilters: [{ metricId: 'sized', values: { least: { max: 30 } } }] };
    expect(await sized(app)).toEqual([30, null, ['north']]);
    const dash = { dashboardAppFilters: [{ dashboardId: 'defaults', values: { Region: ['south', 'west'] } }] };
    expect(await sized({ ...app, ...dash })).toEqual([20, null, null]);
  });

  test("another client's metric on a dashboard of the organization is not listed", async () => {
    await embed({ dashboardId: 'held' });
    const seen = await board(token, 'held');
    expect([seen.metrics, seen.layout].map((items) => items.map(({ metricId }) => metricId))).toEqual([
      ['of-acme'],
      ['of-acme'],
    ]);
    await refused(
      'queryGuestMetric UNAUTHORIZED',
      house,
      { dashboardId: 'held', metricId: 'of-globex' },
      { bearer: token },
    );
  });
});

describe('permissions', () => {
  const access = (flag: boolean) => ({
    ...settings,
    isAllowManageMetrics: flag,
    isAllowCreateDashboardView: flag,
    isAllowMetricCreation: flag,
    isAllowMetricDeletion: flag,
    isAllowMetricLayoutChange: flag,
    isAllowMetricUpdate: flag,
    isAllowUnderlyingData: flag,
  });
  const all = (flag: boolean) => Object.fromEntries(guestPermissionNames.map((name) => [name, flag]));
  const effective = async (flag: boolean, permissions: Input) => {
    const dashboardId = await embed({ dashboardId: 'acme-board', accessSettings: access(flag) });
    const bearer = await mint(house, 'acme', { allowedEmbeds: [dashboardId] }, { permissions });
    return (await board(bearer, dashboardId)).permissions;
  };
  // The policy alone grants own dashboards: no setting of the embed stands in for it.
  const plain = {
    isEnableCreateDashboard: false,
    isEnableDownloadMetrics: false,
    isShowSideBar: false,
    isShowDashboardName: true,
  };

  test("a missing permission has the embed's access setting, and false if that is missing too", async () => {
    expect(await effective(true, {})).toEqual({ ...all(true), ...plain, isDisableMetricCreation: false });
    expect(await effective(false, {})).toEqual({ ...all(false), ...plain, isDisableMetricCreation: true });
  });

  test('the token can remove permissions of the embed, and never adds any', async () => {
    expect(await effective(true, { ...all(false), isDisableMetricCreation: true })).toEqual({
      ...all(false),
      isDisableMetricCreation: true,
    });
    expect(await effective(false, { ...all(true), isDisableMetricCreation: false })).toEqual({
      ...all(false),
      isEnableDownloadMetrics: true,
      isShowSideBar: true,
      isShowDashboardName: true,
      isDisableMetricCreation: true,
    });
  });

  test('underlying rows and CSV are available if the permissions allow them', async () => {
    const ways = ['listGuestUnderlying', 'downloadGuestCsv'] as const;
    const status = async (permissions: Input, accessSettings: Input = settings) => {
      const dashboardId = await embed({ dashboardId: 'acme-board', accessSettings });
      const bearer = await mint(house, 'acme', {}, { permissions });
      const input = { dashboardId, metricId: byRegion };
      return Promise.all(ways.map(async (way) => (await call(house, way, input, { bearer })).status));
    };
    expect(await status({})).toEqual([200, 403]);
    expect(await status({ isEnableUnderlyingData: false, isEnableDownloadMetrics: true })).toEqual([403, 200]);
    expect(await status({ isEnableUnderlyingData: true }, { ...settings, isAllowUnderlyingData: false })).toEqual([
      403, 403,
    ]);
  });
});

describe('GET /api/v2/guest/metrics/{metricId}', () => {
  test('returns a metric embed by its own id or its metric’s id', async () => {
    for (const metricId of [tile, revenue]) {
      const answer = await call(house, 'getGuestMetric', { metricId }, { bearer: token });
      expect([answer.status, answer.body]).toMatchObject([
        200,
        { data: { metricId: revenue, name: 'Metric revenue' }, error: null },
      ]);
    }
  });

  test('a metric without an embed of its own is read only through its dashboard', async () => {
    await refused('getGuestMetric UNAUTHORIZED', house, { metricId: byRegion }, { bearer: token });
    await refused('queryGuestMetric UNAUTHORIZED', house, { metricId: byRegion }, { bearer: token });
  });

  test('a metric embed is not a dashboard', async () => {
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: tile }, { bearer: token });
  });

  test('a token for the metric embed opens it, but not its dashboard', async () => {
    const bearer = await mint(house, 'acme', { allowedEmbeds: [tile] });
    expect((await ok(house, 'getGuestMetric', { metricId: tile }, { bearer })).data.metricId).toBe(revenue);
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer });
    await refused('queryGuestMetric UNAUTHORIZED', house, { metricId: revenue, dashboardId: 'acme-board' }, { bearer });
  });
});

describe('POST /api/v2/guest/metrics/{metricId}/query', () => {
  test('the body of the query operation', async () => {
    const own = await query();
    const backend = await ok(house, 'queryMetric', { embedId: 'acme-board', metricId: byRegion, clientId: 'acme' });
    expect({ ...own, timeTaken: 0 }).toEqual({ ...backend, timeTaken: 0 });
    expect(own.data).toEqual([north, south, west]);
  });

  test('dashboardId is optional only for a metric embed; the filters of its dashboard still apply', async () => {
    const revenueOf = async (params: Input) => {
      const bearer = await mint(house, 'acme', params);
      return (await ok(house, 'queryGuestMetric', { metricId: tile }, { bearer })).data[0]?.Revenue;
    };
    expect(await revenueOf({})).toBe(200);
    expect(await revenueOf({ dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Region: 'west' } }] })).toBe(
      20,
    );
    expect(await revenueOf({ appFilters: [{ metricId: 'revenue', values: { Amount: 50 } }] })).toBe(50);
  });

  test('dashboardFilter and metricFilter narrow the rows', async () => {
    expect(await rows({ dashboardFilter: { region: ['north', 'west'] } })).toEqual([north, west]);
    expect(await rows({ metricId: revenue, metricFilter: { Product: 'Rope' } })).toEqual([{ Revenue: 80 }]);
  });

  test('drill adds <dimension> = <value> for each click and moves to the next dimension', async () => {
    expect(await rows({ drill: [{ columnName: 'Region', value: 'north' }] })).toEqual([
      { Product: 'Anvil', Revenue: 100, Sales: 1 },
      { Product: 'Rope', Revenue: 30, Sales: 1 },
    ]);
  });

  test('sort, limit and offset; totalRecords counts all', async () => {
    const reply = await query({ sort: [{ name: 'Revenue', direction: 'ASC' }], limit: 1, offset: 1 });
    expect([reply.data, reply.totalRecords]).toEqual([[south], 3]);
    expect(reply.metaData.groupbyColumnList).toEqual(['Region']);
  });

  test.each([
    ['SQL is not in its schema', { dashboardFilter: { Region: { sql: 'SELECT 1', columnName: 'x' } } }],
    [
      'nor in that of a metric filter',
      { metricId: '{revenue}', metricFilter: { Product: { sql: 'SELECT 1', columnName: 'x' } } },
    ],
    ['an unknown filter', { dashboardFilter: { Colour: 'red' } }],
    ['an RLS variable is no filter', { metricFilter: { region: 'north' } }],
    ['a drill into a column that is not on show', { drill: [{ columnName: 'client', value: 'globex' }] }],
    [
      'a drill beyond the path',
      {
        drill: [
          { columnName: 'Region', value: 'north' },
          { columnName: 'Product', value: 'Rope' },
        ],
      },
    ],
    ['an empty list', { dashboardFilter: { Region: [] } }],
    ['limit 0', { limit: 0 }],
    ['a direction that is none', { sort: [{ name: 'Region', direction: 'asc' }] }],
    ['clientId', { clientId: 'globex' }],
    ['rlsSettings', { rlsSettings: [] }],
  ])('a query of a metric is refused with INVALID_REQUEST_BODY: %s', async (_, parts) => {
    const metricId = 'metricId' in parts ? revenue : byRegion;
    await refused(
      'queryGuestMetric INVALID_REQUEST_BODY',
      house,
      { dashboardId: 'acme-board', ...parts, metricId },
      { bearer: token },
    );
  });

  test('sort accepts only columns of the answer: METRIC_QUERY_ERROR', async () => {
    const input = { dashboardId: 'acme-board', metricId: byRegion, sort: [{ name: 'client', direction: 'ASC' }] };
    await refused('queryGuestMetric METRIC_QUERY_ERROR', house, input, { bearer: token });
  });
});

describe('underlying and csv', () => {
  const narrowed = { dashboardId: 'acme-board', dashboardFilter: { Region: ['south', 'west'] } };

  test('underlying: returns the rows behind the metric, with the same filters', async () => {
    const reply = await ok(house, 'listGuestUnderlying', { ...narrowed, metricId: byRegion }, { bearer: token });
    expect(reply.data.toSorted((a, b) => Number(a.amount) - Number(b.amount))).toEqual([
      { region: 'west', amount: 20 },
      { region: 'south', amount: 50 },
    ]);
    expect([reply.totalRecords, reply.metricid]).toEqual([2, byRegion]);
  });

  test('underlying: says how the model writes the columns, and nothing where it says nothing; a metric says the currency alone', async () => {
    const columns = async () =>
      (await ok(house, 'listGuestUnderlying', { ...narrowed, metricId: byRegion }, { bearer: token })).metaData.columns;
    const plain = [
      { name: 'region', dataType: 'string' },
      { name: 'amount', dataType: 'number' },
    ];
    expect(await columns()).toEqual(plain);
    const before = await house.stored((store) => store.datamarts.findByName('shop'));
    if (before === undefined) throw new Error('the organization has no datamart shop');
    const formats: Readonly<Record<string, Input>> = {
      amount: { numbers: { currency: 'EUR' } },
      region: { dates: { precision: 'day' } },
    };
    const tables = before.tables.map((one) => ({
      ...one,
      columns: one.columns.map((column) => ({ ...column, ...formats[column.columnName] })),
    }));
    await house.stored((store) => store.datamarts.update({ ...before, tables }));
    expect(await columns()).toEqual(plain.map((column) => ({ ...column, ...formats[column.name] })));
    const { metaData } = await ok(house, 'queryGuestMetric', { ...narrowed, metricId: byRegion }, { bearer: token });
    const numbers = metaData.columns.map((column) => ('numbers' in column ? column.numbers : null));
    expect(numbers).toEqual([null, { currency: 'EUR' }, null]);
    await house.stored((store) => store.datamarts.update(before));
  });

  test('csv: returns the answer as RFC 4180, with the same filters', async () => {
    const answer = await call(house, 'downloadGuestCsv', { ...narrowed, metricId: byRegion }, { bearer: token });
    expect([answer.status, answer.text]).toEqual([200, 'Region,Revenue,Sales\r\nsouth,50,1\r\nwest,20,1\r\n']);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toContain('attachment');
  });
});

describe('GET .../filters/{filter}/options?search=', () => {
  test('{data: [{label, value}], hasMore, error: null}: values in rows that this guest may see', async () => {
    const input = { dashboardId: 'acme-board', filter: 'Region' };
    const answer = await call(house, 'listGuestFilterOptions', input, { bearer: token });
    const option = (value: string) => ({ label: value, value });
    const data = ['north', 'south', 'west'].map(option);
    expect([answer.status, answer.body]).toEqual([200, { data, hasMore: false, error: null }]);
  });

  test('search: part of the value, ignoring case; wildcards have no special meaning', async () => {
    expect(await options('region', 'TH')).toEqual(['north', 'south']);
    expect([await options('Region', '%'), await options('Region', '_'), await options('Region', 'east')]).toEqual([
      [],
      [],
      [],
    ]);
  });

  test('the options of a filter of a joined table are only products that this client sold', async () => {
    expect(await options('Product')).toEqual(['Anvil', 'Rope']);
  });

  test("the token's own filters apply", async () => {
    const rls = { rlsSettings: [{ metricId: guarded, values: { region: 'west' } }] };
    const bearer = await mint(house, 'acme', {
      ...rls,
      dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Region: 'west' } }],
    });
    expect([await options('Region', undefined, bearer), await options('Product', undefined, bearer)]).toEqual([
      ['west'],
      ['Anvil'],
    ]);
  });

  test('an unknown filter and a hidden one get the same answer', async () => {
    const input = { dashboardId: 'acme-board', filter: 'Colour' };
    await refused('listGuestFilterOptions UNAUTHORIZED', house, input, { bearer: token });
  });
});

/** One of the requests that return rows. */
type Read = (dashboardId: string, metricId: string) => Input;
const metricRead: Read = (dashboardId, metricId) => ({ dashboardId, metricId });
const partRead: Read = (dashboardId, metricId) => ({ dashboardId, metrics: [{ metricId }] });
const optionsRead: Read = (dashboardId) => ({ dashboardId, filter: 'Region' });

describe('refusals of all reads', () => {
  const everything = { isEnableUnderlyingData: true, isEnableDownloadMetrics: true };
  const grant = (params: Input = {}, parts: Input = {}) =>
    mint(house, 'acme', params, { permissions: everything, ...parts });

  test.each<[Pair, Input]>([
    ['getGuestDashboard TOKEN_EXPIRED', { dashboardId: 'acme-board' }],
    ['getGuestMetric TOKEN_EXPIRED', { metricId: 'any' }],
    ['queryGuestMetric TOKEN_EXPIRED', { metricId: 'any' }],
    ['listGuestUnderlying TOKEN_EXPIRED', { metricId: 'any' }],
    ['downloadGuestCsv TOKEN_EXPIRED', { metricId: 'any' }],
    ['renderGuestDashboardPdf TOKEN_EXPIRED', { dashboardId: 'acme-board' }],
    ['renderGuestDashboardPng TOKEN_EXPIRED', { dashboardId: 'acme-board' }],
    ['renderGuestMetricPdf TOKEN_EXPIRED', { metricId: 'any' }],
    ['renderGuestMetricPng TOKEN_EXPIRED', { metricId: 'any' }],
    ['downloadGuestXlsx TOKEN_EXPIRED', { metricId: 'any' }],
    ['downloadGuestDashboardXlsx TOKEN_EXPIRED', { dashboardId: 'acme-board', metrics: [{ metricId: 'any' }] }],
    ['listGuestFilterOptions TOKEN_EXPIRED', { dashboardId: 'acme-board', filter: 'Region' }],
  ])('%s, before any other check', async (pair, input) => {
    const bearer = await mint(house, 'acme', {}, { expiryTime: 1 });
    setNow(new Date(noon.getTime() + 1));
    await refused(pair, house, input, { bearer });
  });

  test.each<[Pair, Input]>([
    ['getGuestDashboard AUTHENTICATION_ERROR', { dashboardId: 'acme-board' }],
    ['getGuestMetric AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['queryGuestMetric AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['listGuestUnderlying AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['downloadGuestCsv AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['renderGuestDashboardPdf AUTHENTICATION_ERROR', { dashboardId: 'acme-board' }],
    ['renderGuestDashboardPng AUTHENTICATION_ERROR', { dashboardId: 'acme-board' }],
    ['renderGuestMetricPdf AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['renderGuestMetricPng AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['downloadGuestXlsx AUTHENTICATION_ERROR', { metricId: 'any' }],
    ['downloadGuestDashboardXlsx AUTHENTICATION_ERROR', { dashboardId: 'acme-board', metrics: [{ metricId: 'any' }] }],
    ['listGuestFilterOptions AUTHENTICATION_ERROR', { dashboardId: 'acme-board', filter: 'Region' }],
  ])('%s without a guest token, also with a key of the host', async (pair, input) => {
    for (const bearer of [null, 'wrong', house.apiKey, house.serviceToken])
      await refused(pair, house, input, { bearer });
  });

  test.each<[Pair, Input]>([
    ['getGuestDashboard UNAUTHORIZED', { dashboardId: 'board' }],
    ['getGuestMetric UNAUTHORIZED', { metricId: 'revenue' }],
    ['queryGuestMetric UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['listGuestUnderlying UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['downloadGuestCsv UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['renderGuestDashboardPdf UNAUTHORIZED', { dashboardId: 'board' }],
    ['renderGuestDashboardPng UNAUTHORIZED', { dashboardId: 'board' }],
    ['renderGuestMetricPdf UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['renderGuestMetricPng UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['downloadGuestXlsx UNAUTHORIZED', { dashboardId: 'board', metricId: 'revenue' }],
    ['downloadGuestDashboardXlsx UNAUTHORIZED', { dashboardId: 'board', metrics: [{ metricId: 'revenue' }] }],
    ['listGuestFilterOptions UNAUTHORIZED', { dashboardId: 'board', filter: 'Region' }],
  ])('%s, with the same message for unknown and for closed ids', async (pair, input) => {
    const bearer = await grant({ allowedEmbeds: ['acme-board'] });
    const nowhere = Object.fromEntries(
      Object.entries(input).map(([name, value]) => [
        name,
        name === 'filter' || Array.isArray(value) ? value : 'nowhere',
      ]),
    );
    expect(await refused(pair, house, input, { bearer })).toBe(await refused(pair, house, nowhere, { bearer }));
  });

  test.each<[Pair, Input]>([
    ['getGuestDashboard INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
    ['getGuestMetric INVALID_REQUEST_BODY', { metricId: '\u0001' }],
    ['listGuestUnderlying INVALID_REQUEST_BODY', { metricId: 'any', limit: 'all' }],
    ['downloadGuestCsv INVALID_REQUEST_BODY', { metricId: 'any', columns: ['client'] }],
    ['renderGuestDashboardPdf INVALID_REQUEST_BODY', { dashboardId: 'acme-board', format: 'gif' }],
    ['renderGuestDashboardPng INVALID_REQUEST_BODY', { dashboardId: 'acme-board', format: 'gif' }],
    ['renderGuestMetricPdf INVALID_REQUEST_BODY', { metricId: 'any', limit: 5 }],
    ['renderGuestMetricPng INVALID_REQUEST_BODY', { metricId: 'any', limit: 5 }],
    ['downloadGuestXlsx INVALID_REQUEST_BODY', { metricId: 'any', format: 'xls' }],
    ['downloadGuestDashboardXlsx INVALID_REQUEST_BODY', { dashboardId: 'acme-board', metrics: [] }],
    ['listGuestFilterOptions INVALID_REQUEST_BODY', { dashboardId: 'acme-board', filter: 'Region', limit: 5 }],
  ])('a read with a faulty body is refused: %s', async (pair, input) => {
    await refused(pair, house, input, { bearer: token });
  });

  test.each<[Pair, Read]>([
    ['queryGuestMetric METRIC_QUERY_ERROR', metricRead],
    ['queryGuestDashboard METRIC_QUERY_ERROR', partRead],
    ['listGuestUnderlying METRIC_QUERY_ERROR', metricRead],
    ['downloadGuestCsv METRIC_QUERY_ERROR', metricRead],
    ['downloadGuestXlsx METRIC_QUERY_ERROR', metricRead],
    ['listGuestFilterOptions METRIC_QUERY_ERROR', optionsRead],
  ])('%s, without the name of a file, if the datasource cannot be opened', async (pair, read) => {
    const dashboardId = `lost-${pair.split(' ')[0]}`;
    const accessSettings = { ...settings, datamartName: 'lost' };
    await cloneBoard(house, dashboardId, 'acme', {
      accessSettings,
      workspaceName: 'far',
      templateDashboardId: 'far-board',
    });
    const metricId = await metricOf(house, dashboardId, 'acme', 'far-revenue');
    const message = await refused(pair, house, read(dashboardId, metricId), { bearer: await grant() });
    expect(message).toBe("This chart can't be shown. Ask your administrator.");
  });

  test.each<[Pair, Read]>([
    ['queryGuestMetric CLIENT_ID_ERROR', metricRead],
    ['queryGuestDashboard CLIENT_ID_ERROR', partRead],
    ['listGuestUnderlying CLIENT_ID_ERROR', metricRead],
    ['downloadGuestCsv CLIENT_ID_ERROR', metricRead],
    ['downloadGuestXlsx CLIENT_ID_ERROR', metricRead],
    ['downloadGuestDashboardXlsx CLIENT_ID_ERROR', partRead],
    ['listGuestFilterOptions CLIENT_ID_ERROR', optionsRead],
  ])('%s if the token’s client does not fit the datamart', async (pair, read) => {
    await embed({ dashboardId: 'board' });
    const { token: bearer } = await ok(house, 'createGuestToken', {
      clientId: 'None',
      dataAppName: 'shop',
      permissions: everything,
    });
    await refused(pair, house, read('board', 'revenue'), { bearer });
  });

  test.each<[Pair, Read]>([
    ['queryGuestMetric RLS_SETTINGS_PARAM_ERROR', metricRead],
    ['queryGuestDashboard RLS_SETTINGS_PARAM_ERROR', partRead],
    ['listGuestUnderlying RLS_SETTINGS_PARAM_ERROR', metricRead],
    ['downloadGuestCsv RLS_SETTINGS_PARAM_ERROR', metricRead],
    ['downloadGuestXlsx RLS_SETTINGS_PARAM_ERROR', metricRead],
    ['downloadGuestDashboardXlsx RLS_SETTINGS_PARAM_ERROR', partRead],
    ['listGuestFilterOptions RLS_SETTINGS_PARAM_ERROR', optionsRead],
  ])('%s if the token has no value for a declared variable', async (pair, read) => {
    const message = await refused(pair, house, read('acme-board', guarded), { bearer: await grant() });
    expect(message).not.toContain('region');
  });

  test.each<[Pair, Read]>([
    ['queryGuestMetric APP_FILTER_PARAM_ERROR', metricRead],
    ['queryGuestDashboard APP_FILTER_PARAM_ERROR', partRead],
    ['listGuestUnderlying APP_FILTER_PARAM_ERROR', metricRead],
    ['downloadGuestCsv APP_FILTER_PARAM_ERROR', metricRead],
    ['downloadGuestXlsx APP_FILTER_PARAM_ERROR', metricRead],
    ['downloadGuestDashboardXlsx APP_FILTER_PARAM_ERROR', partRead],
    ['listGuestFilterOptions APP_FILTER_PARAM_ERROR', optionsRead],
  ])('%s if a copy has lost the filter that the token names; it never means "no filter"', async (pair, read) => {
    await embed({ dashboardId: 'derived' });
    const bearer = await grant({ appFilters: [{ metricId: 'revenue', values: { Amount: { max: 10 } } }] });
    const message = await refused(pair, house, read('derived', 'revenue-copy'), { bearer });
    expect(message).not.toContain('Amount');
  });
});

describe('operations that do not exist yet', () => {
  test.each([
    ['DELETE', 'dashboards/acme-board/metrics/x'],
    ['POST', 'metrics/preview/again'],
  ])('%s %s answers 404', async (method, path) => {
    const answer = await request(`${house.url()}/api/v2/guest/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    expect([answer.status, answer.body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  });
});
