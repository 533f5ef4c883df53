/** Downloads read what the guest's own queries read, and a file states nothing that the guest may not know. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { DownloadRows, Workbook } from '../../src/model/guest/download.js';
import type { Cell } from '../../src/model/query/engine.js';
import { downloadGuestCsv, downloadGuestDashboardXlsx, downloadGuestXlsx } from '../../src/service/guest/downloads.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import { columnRef, metric, refusalOf, rowsOf, stays } from '../engine/world.js';
import { createWorld, stateFilter, type World } from './world.js';

let world: World;
const ids = { a: '', b: '' };
const permissions = { isEnableDownloadMetrics: true };

const byShop = metric('sales', {
  chart: { type: 'table', numbers: [{ measure: 'Sales', currency: 'EUR' }] },
  dimensions: [{ name: 'shop', column: columnRef('sales.shop') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
  filters: [{ name: 'shop', label: 'Shop', column: columnRef('sales.shop'), dataType: 'string' }],
  sort: [{ name: 'shop', direction: 'ASC' }],
});

beforeAll(async () => {
  world = await createWorld();
  const hidden = { ...stateFilter, name: 'Kept', defaultValue: ['CA', 'NV', 'NY'] };
  await world.template('board', { filters: [stateFilter, hidden] }, byShop);
  ids.a = await world.clone('board', 'of-a');
  ids.b = await world.clone('board', 'of-b', 'b');
});
afterAll(() => world.close());

type Part = 'a' | 'b';
const ask = (client: Part, parts: object = {}) => ({ metricId: ids[client], dashboardId: `of-${client}`, ...parts });
const sheetsOf = (client: Part, parts: object = {}) => ({
  dashboardId: `of-${client}`,
  metrics: [{ metricId: ids[client] }],
  ...parts,
});
const guestOf = (clientId: Part, params: object = {}) => world.mint(params, { clientId, permissions });

const firstSheet = async ({ sheets: [sheet] }: Workbook): Promise<DownloadRows> => {
  if (sheet === undefined) throw new Error('the workbook has no sheet');
  return sheet.load();
};

type Read = (caller: GuestCaller, client: Part, parts?: object) => Promise<DownloadRows>;
const ways: Readonly<Record<string, Read>> = {
  csv: (caller, client, parts) => downloadGuestCsv(world.deps)(caller, ask(client, parts), stays),
  xlsx: async (caller, client, parts) =>
    firstSheet(await downloadGuestXlsx(world.deps)(caller, ask(client, parts), stays)),
  'dashboard xlsx': async (caller, client, parts) =>
    firstSheet(await downloadGuestDashboardXlsx(world.deps)(caller, sheetsOf(client, parts), stays)),
};

const answerOf = async (
  caller: GuestCaller,
  client: Part,
  parts: object = {},
): Promise<readonly (readonly Cell[])[]> => {
  const { answer } = await queryGuestMetric(world.deps)(caller, ask(client, parts), stays);
  return answer.rows.map((row) => answer.columns.map(({ name }) => row[name] ?? null));
};

describe.each(Object.entries(ways))('%s', (_, read) => {
  test.each(['a', 'b'] as const)('has the rows of the query of client %s, and no others', async (client) => {
    const caller = await guestOf(client);
    const rows = await rowsOf(await read(caller, client));
    expect(rows).toEqual(await answerOf(caller, client));
    expect(rows.length).toBe(client === 'a' ? 3 : 1);
  });

  test("the token's filter holds, whatever the guest chooses", async () => {
    const values = { State: ['CA', 'NV'] };
    const caller = await guestOf('a', { dashboardAppFilters: [{ dashboardId: 'of-a', values }] });
    for (const dashboardFilter of [{}, { State: ['CA', 'NY'] }]) {
      const rows = await rowsOf(await read(caller, 'a', { dashboardFilter }));
      expect(rows).toEqual(await answerOf(caller, 'a', { dashboardFilter }));
      expect(JSON.stringify(rows)).not.toContain('s3');
    }
  });

  test('a metric of another client, and one of no dashboard, are refused', async () => {
    const caller = await guestOf('b');
    for (const metricId of [ids.a, 'nowhere']) {
      const [own, through] = [
        { metricId, dashboardId: 'of-b' },
        { dashboardId: 'of-b', metrics: [{ metricId }] },
      ];
      const parts = read === ways['dashboard xlsx'] ? through : own;
      expect(await refusalOf(() => read(caller, 'b', parts))).toMatchObject({ code: 'UNAUTHORIZED' });
    }
    expect(await refusalOf(() => read(caller, 'a'))).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('is refused without the permission', async () => {
    const caller = await world.mint({}, { permissions: { isEnableDownloadMetrics: false } });
    const refusal = await refusalOf(() => read(caller, 'a'));
    expect([refusal.code, refusal.reason]).toEqual(['UNAUTHORIZED', 'permission-missing']);
  });

  test('a filter that does not exist is refused before a file begins', async () => {
    const caller = await guestOf('a');
    const refusal = await refusalOf(() => read(caller, 'a', { dashboardFilter: { Colour: 'red' } }));
    expect(refusal.code).toBe('INVALID_REQUEST_BODY');
  });

  test('measures have the numbers of the chart, as in the answer of a query, and dimensions have none', async () => {
    const caller = await guestOf('a');
    const { answer } = await queryGuestMetric(world.deps)(caller, ask('a'), stays);
    for (const { columns } of [answer, await read(caller, 'a')])
      expect(columns.map(({ numbers }) => numbers)).toEqual([undefined, { currency: 'EUR' }]);
  });

  test('titles are the labels of the datamart, and names that the author chose', async () => {
    const { columns } = await read(await guestOf('a'), 'a');
    expect(columns.map(({ name, label }) => [name, label])).toEqual([
      ['shop', 'Label of shop'],
      ['Sales', 'Sales'],
    ]);
  });
});

test('dates have the format that the chart says of them', async () => {
  const dates = [{ name: 'day', style: 'short', precision: 'day' }] as const;
  const sold = { name: 'day', column: columnRef('sales.shop') };
  const dated = metric('sales', { chart: { type: 'table', dates }, dimensions: [sold] });
  await world.template('dated', {}, dated);
  const metricId = await world.clone('dated', 'dated-of-a');
  const { columns } = await downloadGuestCsv(world.deps)(
    await guestOf('a'),
    { metricId, dashboardId: 'dated-of-a' },
    stays,
  );
  expect(columns.find(({ name }) => name === 'day')?.dates).toMatchObject({ style: 'short', precision: 'day' });
});

test('the row of all other groups has a name in the reader’s language', async () => {
  const sales = { name: 'Sales', aggregate: 'COUNT' } as const;
  const greatest = metric('sales', {
    ...{ dimensions: [{ name: 'shop', column: columnRef('sales.shop') }], measures: [sales] },
    ...{ sort: [{ name: 'Sales', direction: 'DESC' }], limit: 1, others: true },
  });
  await world.template('greatest', {}, greatest);
  const metricId = await world.clone('greatest', 'greatest-of-a');
  const query = { metricId, dashboardId: 'greatest-of-a' };
  const caller = await guestOf('a');
  const { answer } = await queryGuestMetric(world.deps)(caller, query, stays);
  expect(answer.others).toEqual({ name: 'shop', rows: 1 });
  expect(answer.rows.at(-1)?.shop).toBeNull();
  const [first] = answer.rows;
  for (const [language, name] of [['de', 'Andere'] as const, [undefined, 'Other'] as const]) {
    const rows = await rowsOf(await downloadGuestCsv(world.deps)(caller, { ...query, language }, stays));
    expect(rows.map(([shop]) => shop)).toEqual([first?.shop, name]);
  }
});

test('a limit is passed on with one row more, so that the file knows that it is cut', async () => {
  const caller = await guestOf('a');
  const cut = await downloadGuestCsv(world.deps)(caller, ask('a', { limit: 1, offset: 1 }), stays);
  expect([cut.limit, cut.offset, (await rowsOf(cut)).length]).toEqual([1, 1, 2]);
});

describe('a workbook states', () => {
  const stated = async (params: object, parts: object = {}) =>
    (await downloadGuestDashboardXlsx(world.deps)(await guestOf('a', params), sheetsOf('a', parts), stays)).filters;

  test('the choice of the guest and the defaults that apply', async () => {
    expect(await stated({}, { dashboardFilter: { state: 'CA' } })).toEqual([
      { name: 'State', value: 'CA', isFixed: false },
      { name: 'Kept', value: ['CA', 'NV', 'NY'], isFixed: false },
    ]);
  });

  test('a value of the token only where the token shows it', async () => {
    const entry = { dashboardId: 'of-a', values: { State: 'CA' } };
    const shown = await stated({ dashboardAppFilters: [{ ...entry, isShowOnUrl: true }] });
    expect(shown[0]).toEqual({ name: 'State', value: 'CA', isFixed: true });
    const silent = await stated({ dashboardAppFilters: [entry] });
    expect(silent.map(({ name }) => name)).toEqual(['Kept']);
  });

  test('a workbook states no hidden filter', async () => {
    const filters = await stated({ hideDashboardFilters: ['Kept', 'State'] });
    expect(filters).toEqual([]);
  });

  test('filters of the metric, and the steps of a drill', async () => {
    const caller = await guestOf('a');
    const query = ask('a', { metricFilter: { shop: ['s1', 's2'] } });
    const { sheets, title, timezone } = await downloadGuestXlsx(world.deps)(caller, query, stays);
    expect([title, timezone]).toEqual(['Sales', null]);
    expect(sheets.map(({ filters }) => filters)).toEqual([[{ name: 'Shop', value: ['s1', 's2'], isFixed: false }]]);
  });
});

test('a sheet is not read once the token is revoked', async () => {
  const caller = await guestOf('a');
  const workbook = await downloadGuestDashboardXlsx(world.deps)(caller, sheetsOf('a'), stays);
  await revokeGuestTokens(world.deps)(world.api(), { clientId: 'a' });
  expect(await refusalOf(() => firstSheet(workbook))).toMatchObject({ code: 'AUTHENTICATION_ERROR' });
});
