/** Section 1 of the interface, "Create guest token", and further known facts: guest-token errors, filters, tenancy. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/platform/keys/keys.js';
import {
  call,
  cloneBoard,
  firstSentence,
  type House,
  type Input,
  metricOf,
  mint,
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
  await cloneBoard(house, 'globex-board', 'globex');
  [revenue, byRegion, guarded] = await Promise.all([
    metricOf(house, 'acme-board', 'acme', 'revenue'),
    metricOf(house, 'acme-board', 'acme', 'by-region'),
    metricOf(house, 'acme-board', 'acme', 'guarded'),
  ]);
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const body = (parts: Input = {}) => ({ clientId: 'acme', dataAppName: 'shop', ...parts });
const withParams = (params: Input) => body({ params });
const opens = async (token: string, dashboardId: string): Promise<number> =>
  (await call(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).status;
const board = async (token: string, dashboardId = 'acme-board') =>
  (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).data;
/** Returns the revenue that this token sees on its board. */
const revenueOf = async (token: string, choice: Input = {}): Promise<unknown> =>
  (await ok(house, 'queryGuestMetric', { dashboardId: 'acme-board', metricId: revenue, ...choice }, { bearer: token }))
    .data[0]?.Revenue;

describe('the answer', () => {
  test('Response 200: {token: string}, and nothing else', async () => {
    const answer = await call(house, 'createGuestToken', body());
    expect([answer.status, answer.body]).toEqual([200, { token: expect.any(String) }]);
  });

  test('guest tokens are opaque UUIDs, a new one for each call', async () => {
    const tokens = await Promise.all([mint(house, 'acme'), mint(house, 'acme')]);
    for (const token of tokens) {
      expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(tokens[0]).not.toBe(tokens[1]);
  });
});

describe('the body is validated strictly', () => {
  test.each([
    ['dataAppId', body({ dataAppId: 'shop' })],
    ['client_id', body({ client_id: 'acme' })],
    ['tenant_id', body({ tenant_id: 'acme' })],
    ['permissions.dashboards', body({ permissions: { dashboards: ['acme-board'] } })],
    ['params.clientId', withParams({ clientId: 'globex' })],
    [
      'params.accessPermissions.isAllowUnderlyingData',
      withParams({ accessPermissions: { isAllowUnderlyingData: true } }),
    ],
  ])('%s is not valid', async (field, input) => {
    const message = await refused('createGuestToken INVALID_REQUEST_BODY', house, input);
    expect(message).toBe(`${field}: not a field of this operation.`);
  });

  test.each([
    ['clientId', { dataAppName: 'shop' }],
    ['dataAppName', { clientId: 'acme' }],
    ['params.appFilters[0].metricId', withParams({ appFilters: [{ values: {} }] })],
    ['params.dashboardAppFilters[0].dashboardId', withParams({ dashboardAppFilters: [{ values: {} }] })],
    ['params.hideDashboardMetrics[0].metricIds', withParams({ hideDashboardMetrics: [{ dashboardId: 'acme-board' }] })],
    [
      'params.accessPermissions.dashboardFilterColumns[0].columns',
      withParams({ accessPermissions: { dashboardFilterColumns: [{ tableName: 'main.sales' }] } }),
    ],
  ])('a request for a guest token without %s is refused', async (field, input) => {
    const message = await refused('createGuestToken INVALID_REQUEST_BODY', house, input);
    expect(message).toContain(`${field}: missing`);
  });

  test.each([0, -1, '900000', null])('expiryTime %j is not a duration in milliseconds', async (expiryTime) => {
    expect(await refused('createGuestToken INVALID_REQUEST_BODY', house, body({ expiryTime }))).toContain('expiryTime');
  });

  test.each(['Mars/Base', 'UTC+25', ''])('timezone %j is not an IANA timezone', async (timezone) => {
    expect(await refused('createGuestToken INVALID_REQUEST_BODY', house, withParams({ timezone }))).toContain(
      'timezone',
    );
  });

  test('datamartName must name a datamart', async () => {
    const message = await refused('createGuestToken INVALID_REQUEST_BODY', house, body({ datamartName: 'nowhere' }));
    expect(message).toContain('datamartName');
  });

  test.each(['\u0000', 'half \ud800 of a pair'])(
    'text that no database can store (%j) is refused in every field',
    async (text) => {
      for (const input of [
        body({ clientId: text }),
        withParams({ userIdentifier: text }),
        withParams({ hideDashboardFilters: [text] }),
        withParams({ dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Region: text } }] }),
      ])
        await refused('createGuestToken INVALID_REQUEST_BODY', house, input);
    },
  );
});

describe('the API key', () => {
  test.each([
    ['missing', null],
    ['wrong', '00000000-0000-4000-8000-000000000000'],
    ['a service token', 'service'],
    ['expired', 'ended'],
    ["another data app's", 'other'],
  ])('%s: 401 AUTHENTICATION_ERROR with the message that clients match on', async (_, which) => {
    const keys: Readonly<Record<string, string>> = {
      service: house.serviceToken,
      ended: house.endedKey,
      other: house.otherKey,
    };
    const bearer = which === null ? null : (keys[which] ?? which);
    const message = await refused('createGuestToken AUTHENTICATION_ERROR', house, body(), { bearer });
    expect(firstSentence(message)).toBe('API key is invalid or expired');
  });
});

describe('expiryTime', () => {
  test('is a duration in milliseconds from creation, exact to the millisecond', async () => {
    const token = await mint(house, 'acme', {}, { expiryTime: 1000 });
    setNow(new Date(noon.getTime() + 999));
    expect(await opens(token, 'acme-board')).toBe(200);
    setNow(new Date(noon.getTime() + 1000));
    await refused('getGuestDashboard TOKEN_EXPIRED', house, { dashboardId: 'acme-board' }, { bearer: token });
  });

  test('is a number and may have a fraction; the token is valid until it has passed', async () => {
    setNow(noon);
    const token = await mint(house, 'acme', {}, { expiryTime: 999.5 });
    setNow(new Date(noon.getTime() + 999));
    expect(await opens(token, 'acme-board')).toBe(200);
    setNow(new Date(noon.getTime() + 1000));
    await refused('getGuestDashboard TOKEN_EXPIRED', house, { dashboardId: 'acme-board' }, { bearer: token });
  });

  test('is at most a hundred million days, which is still a valid date; more is refused', async () => {
    const longest = 8_640_000_000_000;
    expect(await opens(await mint(house, 'acme', {}, { expiryTime: longest }), 'acme-board')).toBe(200);
    for (const expiryTime of [longest + 1, Number.MAX_SAFE_INTEGER, 1e300])
      await refused('createGuestToken INVALID_REQUEST_BODY', house, body({ expiryTime }));
  });

  test('when omitted the token never expires', async () => {
    const token = await mint(house, 'acme');
    setNow(new Date('2524-01-01T00:00:00.000Z'));
    expect(await opens(token, 'acme-board')).toBe(200);
  });
});

describe('clientId', () => {
  test('the literal None is refused if the datamart has tenancy', async () => {
    for (const parts of [{ datamartName: 'shop' }, { params: { allowedEmbeds: ['none-embed'] } }]) {
      if ('params' in parts) parts.params.allowedEmbeds = [await embedOf('board')];
      await refused('createGuestToken CLIENT_ID_ERROR', house, { clientId: 'None', dataAppName: 'shop', ...parts });
    }
  });

  test('None is the only clientId if no tenancy is configured', async () => {
    const embed = await embedOf('free', 'all', { datamartName: 'open' });
    const token = await mint(house, 'None', { allowedEmbeds: [embed] });
    const reply = await ok(
      house,
      'queryGuestMetric',
      { dashboardId: embed, metricId: 'product-count' },
      { bearer: token },
    );
    expect(reply.data).toEqual([{ Products: 3 }]);
    await refused('createGuestToken CLIENT_ID_ERROR', house, withParams({ allowedEmbeds: [embed] }));
  });

  test.each(['acme', '01', '1e0', ' 1', '1abc', '0x1'])(
    '%j is refused if clientColumnType is NUMBER',
    async (clientId) => {
      await refused('createGuestToken CLIENT_ID_ERROR', house, body({ clientId, datamartName: 'orders' }));
    },
  );

  test('a whole number is accepted if clientColumnType is NUMBER', async () => {
    const embed = await embedOf('counter', 'orders', { datamartName: 'orders' });
    const token = await mint(house, '2', { allowedEmbeds: [embed] });
    const reply = await ok(
      house,
      'queryGuestMetric',
      { dashboardId: embed, metricId: 'order-total' },
      { bearer: token },
    );
    expect(reply.data).toEqual([{ Total: 9 }]);
  });
});

const embedOf = async (dashboardId: string, workspaceName = 'shop', parts: Input = {}): Promise<string> =>
  (
    await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId,
      workspaceName,
      accessSettings: { ...settings, ...parts },
    })
  ).id;

describe('params.allowedEmbeds', () => {
  test('lists the ids that this token may load; any other id fails with UNAUTHORIZED', async () => {
    await cloneBoard(house, 'acme-second', 'acme', { name: 'second' });
    const token = await mint(house, 'acme', { allowedEmbeds: ['acme-board'] });
    expect(await opens(token, 'acme-board')).toBe(200);
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-second' }, { bearer: token });
  });

  test('each item is an embed id or a dashboard id', async () => {
    const embed = await embedOf('derived');
    for (const id of [embed, 'derived']) {
      const token = await mint(house, 'acme', { allowedEmbeds: [id] });
      expect([await opens(token, embed), await opens(token, 'derived')], id).toEqual([200, 200]);
    }
  });

  test('without it, only the client restricts the token', async () => {
    const token = await mint(house, 'acme');
    expect([await opens(token, 'acme-board'), await opens(token, 'globex-board')]).toEqual([200, 403]);
  });

  test('an empty list opens nothing', async () => {
    const token = await mint(house, 'acme', { allowedEmbeds: [] });
    expect(await opens(token, 'acme-board')).toBe(403);
  });

  test.each(['nowhere', 'globex-board', 'board-of-nobody'])(
    'an allowed embed that the client has not is a DASHBOARD_PARAM_ERROR: %s',
    async (id) => {
      const message = await refused(
        'createGuestToken DASHBOARD_PARAM_ERROR',
        house,
        withParams({ allowedEmbeds: ['acme-board', id] }),
      );
      expect(message).toContain(id);
    },
  );
});

describe('params.rlsSettings', () => {
  const rls = (metricId: string, values: Input) => withParams({ rlsSettings: [{ metricId, values }] });
  const guardedOf = async (token: string) =>
    (await ok(house, 'queryGuestMetric', { dashboardId: 'acme-board', metricId: guarded }, { bearer: token })).data[0]
      ?.Revenue;

  test('values maps RLS variable names to enforced values', async () => {
    const one = await mint(house, 'acme', { rlsSettings: [{ metricId: guarded, values: { region: 'north' } }] });
    const two = await mint(house, 'acme', {
      rlsSettings: [{ metricId: guarded, values: { region: ['north', 'south'], product: 2 } }],
    });
    expect([await guardedOf(one), await guardedOf(two)]).toEqual([130, 80]);
  });

  test('a setting that names a metric restricts every copy of it', async () => {
    const token = await mint(house, 'acme', { rlsSettings: [{ metricId: 'guarded', values: { region: 'west' } }] });
    expect(await guardedOf(token)).toBe(20);
  });

  test('two settings for one metric both apply, and together may supply all values', async () => {
    const token = await mint(house, 'acme', {
      rlsSettings: [
        { metricId: 'guarded', values: { region: ['north', 'south'] } },
        { metricId: guarded, values: { region: ['north', 'west'] } },
        { metricId: guarded, values: { product: 2 } },
      ],
    });
    expect(await guardedOf(token)).toBe(30);
  });

  test('a declared variable without a value in the token is an error, never "no restriction"', async () => {
    const token = await mint(house, 'acme');
    const message = await refused(
      'queryGuestMetric RLS_SETTINGS_PARAM_ERROR',
      house,
      { dashboardId: 'acme-board', metricId: guarded },
      { bearer: token },
    );
    // A guest must not learn what restricts its token.
    expect(message).not.toContain('region');
    await refused('createGuestToken RLS_SETTINGS_PARAM_ERROR', house, rls(guarded, { product: 1 }));
  });

  test('the end user cannot change it: no filter of the guest has the name of a variable', async () => {
    const token = await mint(house, 'acme', { rlsSettings: [{ metricId: guarded, values: { region: 'west' } }] });
    for (const choice of [{ metricFilter: { region: 'north' } }, { dashboardFilter: { region: 'north' } }]) {
      const answer = await call(
        house,
        'queryGuestMetric',
        { dashboardId: 'acme-board', metricId: guarded, ...choice },
        { bearer: token },
      );
      // `Region` is also a filter of the board. The guest's value is ANDed to the token's, so no row is left.
      expect([answer.status, (answer.body as { data?: { Revenue: unknown }[] }).data?.[0]?.Revenue ?? null]).toEqual(
        'metricFilter' in choice ? [400, null] : [200, null],
      );
    }
  });

  test.each([
    ['an unknown metric', 'nowhere', { region: 'north' }],
    ['an unknown variable', 'guarded', { region: 'north', Region: 'south' }],
    ['an empty list', 'guarded', { region: [] }],
    ['a range', 'guarded', { region: { min: 1, max: 2 } }],
    ['SQL', 'guarded', { region: { sql: 'SELECT 1', columnName: 'x' } }],
  ])('rlsSettings that fit no metric are an RLS_SETTINGS_PARAM_ERROR: %s', async (_, metricId, values) => {
    await refused('createGuestToken RLS_SETTINGS_PARAM_ERROR', house, rls(metricId, values));
  });

  test("another client's metric is treated like an unknown one", async () => {
    const foreign = await metricOf(house, 'globex-board', 'globex', 'guarded');
    const message = await refused(
      'createGuestToken RLS_SETTINGS_PARAM_ERROR',
      house,
      rls(foreign, { region: 'north' }),
    );
    expect(message).toBe(`Invalid metric Id: ${foreign} in rlsSettings`);
  });
});

describe('params.appFilters', () => {
  const app = (metricId: string, values: Input) => ({ appFilters: [{ metricId, values }] });

  test.each([
    ['a label', { Amount: { min: 40 } }, 150],
    ['an internal name', { size: { max: 40 } }, 50],
    ['either, without regard to case', { AMOUNT: { min: 20, max: 30 } }, 50],
    ['a number', { Amount: 100 }, 100],
    ['a string', { Product: 'Rope' }, 80],
    ['an array of strings', { kind: ['Rope', 'Rocket'] }, 80],
    ['two filters', { Product: 'Rope', Amount: { min: 40 } }, 50],
  ])('keys and kinds of values: %s', async (_, values, expected) => {
    expect(await revenueOf(await mint(house, 'acme', app(revenue, values)))).toBe(expected);
    expect(await revenueOf(await mint(house, 'acme', app('revenue', values)))).toBe(expected);
  });

  test('the end user cannot see it, and can only narrow it', async () => {
    const token = await mint(house, 'acme', app(revenue, { Product: 'Rope' }));
    expect(JSON.stringify(await board(token))).not.toContain('Rope');
    expect(await revenueOf(token, { metricFilter: { Product: 'Anvil' } })).toBe(null);
    expect(await revenueOf(token, { metricFilter: { Amount: { min: 40 } } })).toBe(50);
  });

  test.each([
    ['an unknown metric', 'nowhere', { Amount: 1 }],
    ['an unknown filter', 'revenue', { Colour: 'red' }],
    ['a value of another kind', 'revenue', { Amount: 'much' }],
    ['an empty list', 'revenue', { Product: [] }],
    ['an empty range', 'revenue', { Amount: { min: 3, max: 2 } }],
  ])('appFilters that fit no metric are an APP_FILTER_PARAM_ERROR: %s', async (_, metricId, values) => {
    await refused('createGuestToken APP_FILTER_PARAM_ERROR', house, withParams(app(metricId, values)));
  });

  test.each([
    [
      'createGuestToken RLS_SETTINGS_PARAM_ERROR',
      'rlsSettings',
      { metricId: 'guarded' },
      { region: 2 ** 53 },
      '["region"]',
    ],
    [
      'createGuestToken APP_FILTER_PARAM_ERROR',
      'appFilters',
      { metricId: 'revenue' },
      { Amount: -(2 ** 53) },
      '["Amount"]',
    ],
    [
      'createGuestToken APP_FILTER_PARAM_ERROR',
      'appFilters',
      { metricId: 'revenue' },
      { Amount: { max: 1e300 } },
      '["Amount"].max',
    ],
    [
      'createGuestToken APP_FILTER_PARAM_ERROR',
      'dashboardAppFilters',
      { dashboardId: 'acme-board' },
      { Region: 2 ** 60 },
      '["Region"]',
    ],
  ] as const)(
    'a number that JSON may have rounded is refused as %s of %s, with its place',
    async (error, field, at, values, place) => {
      const input = withParams({ [field]: [{ ...at, values }] });
      expect(await refused(error, house, input)).toBe(
        `params.${field}[0].values${place}: a whole number beyond 9007199254740991 must be sent as text, since JSON rounds it.`,
      );
    },
  );

  test('the greatest exact number of JSON, fractions and longer numbers as text restrict as they are', async () => {
    const all = await revenueOf(await mint(house, 'acme'));
    for (const max of [2 ** 53 - 1, 1000.5, '9007199254740993'])
      expect(await revenueOf(await mint(house, 'acme', app('revenue', { Amount: { max } })))).toBe(all);
  });

  test('{sql, columnName}: the values of the column in the rows of the SQL', async () => {
    const values = { Product: { sql: 'SELECT label FROM products WHERE id = 2', columnName: 'label' } };
    expect(await revenueOf(await mint(house, 'acme', app('revenue', values)))).toBe(80);
  });
});

describe('params.dashboardAppFilters', () => {
  const dash = (values: Input, parts: Input = {}) => ({
    dashboardAppFilters: [{ dashboardId: 'acme-board', values, ...parts }],
  });

  test.each([
    ['a string', { Region: 'north' }, 130],
    ['keys without regard to case', { rEGION: 'north' }, 130],
    ['an array of strings: IN', { Region: ['north', 'west'] }, 150],
    [
      '{startDate, endDate}: the whole of the last day',
      { Sold: { startDate: '2024-03-30', endDate: '2024-03-31' } },
      150,
    ],
    ['{start, end}, unpadded', { Sold: { start: '2024-3-31', end: '2024-4-1' } }, 80],
    ['<from> - <to>', { Sold: '2024-03-31 - 2024-04-01' }, 80],
    ['a date preset, in any case', { Sold: 'this MONTH' }, 50],
    ['{min, max}: BETWEEN', { Amount: { min: 30, max: 50 } }, 80],
    ['a boolean: =', { Paid: false }, 70],
    ['on a table that the metric does not join', { Product: 'Rope' }, 80],
    ['several at once', { Region: 'north', Paid: true, Amount: { max: 50 } }, 30],
  ])('kinds of values: %s', async (_, values, expected) => {
    expect(await revenueOf(await mint(house, 'acme', dash(values)))).toBe(expected);
  });

  test('with isShowOnUrl false, the filter still applies', async () => {
    expect(await revenueOf(await mint(house, 'acme', dash({ Region: 'west' }, { isShowOnUrl: false })))).toBe(20);
  });

  test("the end user's value is ANDed to it", async () => {
    const token = await mint(house, 'acme', dash({ Region: ['north', 'west'] }));
    expect(await revenueOf(token, { dashboardFilter: { Region: ['west', 'south'] } })).toBe(20);
    expect(await revenueOf(token, { dashboardFilter: { Region: 'south' } })).toBe(null);
  });

  test('two entries for one dashboard both apply', async () => {
    const entry = (Region: readonly string[]) => ({ dashboardId: 'acme-board', values: { Region } });
    const token = await mint(house, 'acme', {
      dashboardAppFilters: [entry(['north', 'west']), entry(['west', 'south'])],
    });
    expect(await revenueOf(token)).toBe(20);
  });

  test("a value of the token replaces the dashboard's default", async () => {
    await cloneBoard(house, 'acme-defaults', 'acme', { templateDashboardId: 'defaults' });
    const metricId = await metricOf(house, 'acme-defaults', 'acme', 'revenue-by-default');
    const read = async (params: Input, choice: Input = {}) =>
      (
        await ok(
          house,
          'queryGuestMetric',
          { dashboardId: 'acme-defaults', metricId, ...choice },
          { bearer: await mint(house, 'acme', params) },
        )
      ).data[0]?.Revenue;
    const west = { dashboardAppFilters: [{ dashboardId: 'acme-defaults', values: { region: 'west' } }] };
    expect(await read({})).toBe(130);
    expect(await read({}, { dashboardFilter: { Region: 'south' } })).toBe(50);
    expect(await read(west)).toBe(20);
    expect(await read(west, { dashboardFilter: { Region: 'south' } })).toBe(null);
    expect(await read({ ...west, hideDashboardFilters: ['Region'] })).toBe(20);
  });

  test('a hidden filter keeps its default, so hiding it shows no more rows', async () => {
    await cloneBoard(house, 'acme-hidden', 'acme', { templateDashboardId: 'defaults' });
    const metricId = await metricOf(house, 'acme-hidden', 'acme', 'revenue-by-default');
    const token = await mint(house, 'acme', { hideDashboardFilters: ['region'] });
    const reply = await ok(house, 'queryGuestMetric', { dashboardId: 'acme-hidden', metricId }, { bearer: token });
    expect(reply.data).toEqual([{ Revenue: 130 }]);
  });

  test('Invalid dashboard Id: <id> in dashboard appFilter', async () => {
    for (const dashboardId of ['nowhere', 'globex-board']) {
      const input = withParams({ dashboardAppFilters: [{ dashboardId, values: { Region: 'north' } }] });
      const message = await refused('createGuestToken APP_FILTER_PARAM_ERROR', house, input);
      expect(message).toBe(`Invalid dashboard Id: ${dashboardId} in dashboard appFilter`);
    }
  });

  test.each([
    ['an unknown filter', { Colour: 'red' }],
    ['a value of another kind', { Paid: 'yes' }],
    ['no date', { Sold: 'Last Blue Moon' }],
    ['a day that is none', { Sold: { startDate: '2024-02-30', endDate: '2024-03-01' } }],
    ['dates in disorder', { Sold: { startDate: '2024-03-02', endDate: '2024-03-01' } }],
    ['an empty list', { Region: [] }],
  ])('dashboardAppFilters that fit no filter are an APP_FILTER_PARAM_ERROR: %s', async (_, values) => {
    await refused('createGuestToken APP_FILTER_PARAM_ERROR', house, withParams(dash(values)));
  });

  test('{sql, columnName}: the values of the column in this client’s rows of the SQL', async () => {
    const values = { Region: { sql: 'SELECT region FROM sales WHERE product <> 1', columnName: 'region' } };
    expect(await revenueOf(await mint(house, 'acme', dash(values)))).toBe(180);
  });
});

describe('params.timezone', () => {
  test("date presets are computed in the token's timezone", async () => {
    setNow(new Date('2024-04-01T03:00:00.000Z'));
    const today = { dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Sold: 'Today' } }] };
    expect(await revenueOf(await mint(house, 'acme', today))).toBe(30);
    expect(await revenueOf(await mint(house, 'acme', { ...today, timezone: 'America/Los_Angeles' }))).toBe(50);
  });

  test('a preset is computed at each query', async () => {
    setNow(new Date('2024-03-30T08:00:00.000Z'));
    const token = await mint(house, 'acme', {
      dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Sold: 'Today' } }],
    });
    expect(await revenueOf(token)).toBe(100);
    setNow(new Date('2024-04-15T08:00:00.000Z'));
    expect(await revenueOf(token)).toBe(20);
  });
});

describe('params.hideDashboardFilters', () => {
  test('hides the named filters: not listed, not settable, no options', async () => {
    const token = await mint(house, 'acme', {
      allowedEmbeds: ['acme-board'],
      hideDashboardFilters: ['region', 'Paid'],
    });
    expect((await board(token)).filters.map(({ name }) => name)).toEqual(['Sold', 'Amount', 'Product']);
    const query = { dashboardId: 'acme-board', metricId: revenue, dashboardFilter: { Region: 'north' } };
    await refused('queryGuestMetric INVALID_REQUEST_BODY', house, query, { bearer: token });
    await refused(
      'listGuestFilterOptions UNAUTHORIZED',
      house,
      { dashboardId: 'acme-board', filter: 'Region' },
      { bearer: token },
    );
  });

  test("the token's value for a hidden filter still applies", async () => {
    const token = await mint(house, 'acme', {
      hideDashboardFilters: ['Region'],
      dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Region: 'west' } }],
    });
    expect(await revenueOf(token)).toBe(20);
  });

  test('a name that no allowed dashboard has would hide nothing: DASHBOARD_PARAM_ERROR', async () => {
    const params = { allowedEmbeds: ['acme-board'], hideDashboardFilters: ['Regoin'] };
    expect(await refused('createGuestToken DASHBOARD_PARAM_ERROR', house, withParams(params))).toContain('Regoin');
  });
});

describe('params.hideDashboardMetrics', () => {
  const hide = (dashboardId: string, ...metricIds: string[]) => ({ dashboardId, metricIds });

  test('hides the listed metrics and their layout cards, for this token only', async () => {
    const token = await mint(house, 'acme', { hideDashboardMetrics: [hide('acme-board', revenue)] });
    const [seen, full] = [await board(token), await board(await mint(house, 'acme'))];
    expect(full.metrics.map(({ metricId }) => metricId)).toContain(revenue);
    // Other metrics do not name it either, among those that their marks filter.
    const rest = JSON.stringify(full.metrics.filter(({ metricId }) => metricId !== revenue));
    expect(seen.metrics).toEqual(JSON.parse(rest.replaceAll(`"${revenue}",`, '').replaceAll(`,"${revenue}"`, '')));
    expect(seen.layout).toEqual(full.layout.filter(({ metricId }) => metricId !== revenue));
    await refused(
      'queryGuestMetric UNAUTHORIZED',
      house,
      { dashboardId: 'acme-board', metricId: revenue },
      { bearer: token },
    );
  });

  test('entries for the same dashboard are merged', async () => {
    const token = await mint(house, 'acme', {
      hideDashboardMetrics: [hide('acme-board', revenue), hide('acme-board', byRegion)],
    });
    const ids = (await board(token)).metrics.map(({ metricId }) => metricId);
    expect([ids.includes(revenue), ids.includes(byRegion), ids.includes(guarded)]).toEqual([false, false, true]);
  });

  test('a setting that names a metric also hides its copy on that dashboard', async () => {
    const token = await mint(house, 'acme', { hideDashboardMetrics: [hide('acme-board', 'revenue')] });
    expect((await board(token)).metrics.map(({ metricId }) => metricId)).not.toContain(revenue);
  });

  test.each([
    ['a dashboard that is not there', hide('nowhere', 'revenue')],
    ["another client's dashboard", hide('globex-board', 'revenue')],
    ['a metric that is not on that dashboard', hide('acme-board', 'order-total')],
  ])('metrics to hide that are not there are a DASHBOARD_PARAM_ERROR: %s', async (_, entry) => {
    await refused('createGuestToken DASHBOARD_PARAM_ERROR', house, withParams({ hideDashboardMetrics: [entry] }));
  });
});

describe('datasourceName and datamartName', () => {
  test('datamartName limits the token to a datamart: it does not open an embed over another one', async () => {
    const token = await mint(house, 'acme', {}, { datamartName: 'lost' });
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer: token });
    await refused(
      'queryGuestMetric UNAUTHORIZED',
      house,
      { dashboardId: 'acme-board', metricId: revenue },
      { bearer: token },
    );
    expect(await revenueOf(await mint(house, 'acme', {}, { datamartName: 'shop' }))).toBe(200);
  });

  test('datasourceName limits the token to a datasource', async () => {
    const token = await mint(house, 'acme', {}, { datasourceName: 'lost' });
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer: token });
    await refused(
      'queryGuestMetric UNAUTHORIZED',
      house,
      { dashboardId: 'acme-board', metricId: revenue },
      { bearer: token },
    );
    expect(await revenueOf(await mint(house, 'acme', {}, { datasourceName: 'warehouse' }))).toBe(200);
  });

  test.each([
    ['an unknown datasource', { datasourceName: 'nowhere' }],
    ['a datamart of another datasource', { datasourceName: 'lost', datamartName: 'shop' }],
  ])('a datasource that does not fit is a DATASOURCE_NAME_ERROR: %s', async (_, parts) => {
    await refused('createGuestToken DATASOURCE_NAME_ERROR', house, body(parts));
  });
});

describe('params.accessPermissions', () => {
  const column = { dashboardFilter: { 'main.sales.region': 'south' } };
  const query = { dashboardId: 'acme-board', metricId: '' };

  test('a permission given in the token takes precedence over the data app’s access setting', async () => {
    const accessPermissions = { isAllowEndUserDashboardFilter: true };
    expect(await revenueOf(await mint(house, 'acme', { accessPermissions }), column)).toBe(50);
    const input = { ...query, ...column, metricId: revenue };
    const token = await mint(house, 'acme');
    const message = await refused('queryGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: token });
    expect(message).toContain('no filter "main.sales.region"');
  });

  test('dashboardFilterColumns and metricFilterColumns: a column that is not in the list is an unknown filter', async () => {
    const accessPermissions = {
      isAllowEndUserDashboardFilter: true,
      dashboardFilterColumns: [{ tableName: 'main.sales', columns: ['amount'] }],
      isAllowEndUserMetricFilter: true,
      metricFilterColumns: [{ tableName: 'main.products', columns: ['label'] }],
    };
    const token = await mint(house, 'acme', { accessPermissions });
    expect(await revenueOf(token, { dashboardFilter: { 'main.sales.amount': { min: 50 } } })).toBe(150);
    expect(await revenueOf(token, { metricFilter: { 'main.products.label': 'Rope' } })).toBe(80);
    for (const choice of [column, { metricFilter: { 'main.sales.amount': 1 } }]) {
      const input = { ...query, ...choice, metricId: revenue };
      await refused('queryGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: token });
    }
    expect((await board(token)).accessPermissions).toEqual({
      ...accessPermissions,
      isAllowDashboardFilterNameChange: false,
      isAllowMetricFilterNameChange: false,
    });
  });
});

describe('params.dashboardAppFilters[].isShowOnUrl', () => {
  const shown = async (parts: Input) => {
    const values = { region: ['north', 'south'] };
    const token = await mint(house, 'acme', { dashboardAppFilters: [{ dashboardId: 'acme-board', values, ...parts }] });
    expect(await revenueOf(token)).toBe(180);
    return (await board(token)).filters.find(({ name }) => name === 'Region');
  };

  test('defaults to true: the enforced value is sent with its filter', async () => {
    expect((await shown({}))?.appliedValue).toEqual(['north', 'south']);
  });

  test('if false, the filter applies but is not visible', async () => {
    expect(await shown({ isShowOnUrl: false })).toEqual({ name: 'Region', dataType: 'string', defaultValue: null });
  });
});

describe('what the service stores', () => {
  test('userIdentifier, permissions and accessPermissions as given, and never the token itself', async () => {
    const params = {
      userIdentifier: 'https://host.example|user-7',
      timezone: 'Europe/Vienna',
      accessPermissions: {
        isAllowEndUserDashboardFilter: false,
        dashboardFilterColumns: [{ tableName: 'main.sales', columns: ['region'] }],
        isAllowEndUserMetricFilter: true,
        metricFilterColumns: [{ tableName: 'main.sales', columns: ['amount'] }],
        isAllowDashboardFilterNameChange: false,
        isAllowMetricFilterNameChange: true,
      },
    };
    const permissions = { isEnableUnderlyingData: true, isShowSideBar: false };
    const token = await mint(house, 'acme', params, { permissions, expiryTime: 60_000 });
    const [grant, raw] = await house.stored(async (store) => [
      await store.guestTokens.findByHash(hashToken(token)),
      await store.guestTokens.findByHash(token as ReturnType<typeof hashToken>),
    ]);
    expect(raw).toBeUndefined();
    expect(grant).toMatchObject({
      clientId: 'acme',
      ...params,
      permissions,
      createdAt: noon,
      expiresAt: new Date(noon.getTime() + 60_000),
    });
    expect(await opens(token, 'acme-board')).toBe(200);
  });
});
