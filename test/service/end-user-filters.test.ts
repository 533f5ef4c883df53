/**
 * Guests' own filters on columns: the embed or the token allows them, the token takes precedence, and they never add
 * rows.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessSettings } from '../../src/model/dashboard/embed.js';
import type { GuestQuery } from '../../src/model/guest/view.js';
import { downloadGuestCsv } from '../../src/service/guest/downloads.js';
import { getGuestDashboard, listGuestUnderlying } from '../../src/service/guest/reads.js';
import { refusalOf, rowsOf, stays } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
/**
 * Embeds of one board: `open` allows both kinds of filter, `listed` allows some columns, `closed` allows none, `silent`
 * has no settings.
 */
const embeds = { open: '', listed: '', closed: '', silent: '', metric: '' };
const allow: Partial<AccessSettings> = { isAllowEndUserDashboardFilter: true, isAllowEndUserMetricFilter: true };
const deny: Partial<AccessSettings> = { isAllowEndUserDashboardFilter: false, isAllowEndUserMetricFilter: false };
const list = [{ tableName: 'main.sales', columns: ['shop'] }];

beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  const embed = (parts: Partial<AccessSettings>, metricId?: string) =>
    world.embed('board', metricId, { ...settings, ...parts });
  embeds.open = await embed(allow);
  embeds.listed = await embed({ ...allow, dashboardFilterColumns: list, metricFilterColumns: list });
  embeds.closed = await embed(deny);
  embeds.silent = await embed({});
  embeds.metric = await embed(allow, 'board-count');
});
afterAll(() => world.close());

type Params = Parameters<World['mint']>[0];
type Choice = Pick<GuestQuery, 'dashboardFilter' | 'metricFilter'>;
const count = async (on: keyof typeof embeds, choice: Choice, params: Params = {}, clientId = 'a') =>
  world.count(await world.mint(params, { clientId }), 'board-count', on === 'metric' ? undefined : embeds[on], choice);
const refusal = (...given: Parameters<typeof count>) => refusalOf(() => count(...given));
const unknown = (key: string) => ({
  code: 'INVALID_REQUEST_BODY',
  message: expect.stringContaining(`no filter ${JSON.stringify(key)}`),
});

describe('if they are allowed', () => {
  test.each(['dashboardFilter', 'metricFilter'] as const)('%s takes any column of the datamart', async (kind) => {
    expect(await count('open', {})).toBe(5);
    expect(await count('open', { [kind]: { 'main.sales.shop': 's1' } })).toBe(2);
    expect(await count('open', { [kind]: { 'main.sales.id': { min: 2, max: 4 } } })).toBe(3);
  });

  test('a column of a table that the metric does not join is a semi-join', async () => {
    expect(await count('open', { dashboardFilter: { 'main.shops.state': ['CA', 'NV'] } })).toBe(3);
    expect(await count('open', { dashboardFilter: { 'main.shops.state': 'NY', 'main.sales.shop': 's3' } })).toBe(1);
  });

  test('in a metric embed there is no dashboard to filter, and metricFilter works', async () => {
    expect(await count('metric', { metricFilter: { 'main.sales.shop': 's1' } })).toBe(2);
    expect(await refusal('metric', { dashboardFilter: { 'main.sales.shop': 's1' } })).toMatchObject(
      unknown('main.sales.shop'),
    );
  });

  test("the user's own filters apply to underlying rows and CSV alike", async () => {
    const guest = await world.mint(
      {},
      { permissions: { isEnableUnderlyingData: true, isEnableDownloadMetrics: true } },
    );
    const query = { metricId: 'board-count', dashboardId: embeds.open, dashboardFilter: { 'main.shops.state': 'CA' } };
    expect((await listGuestUnderlying(world.deps)(guest, query, stays)).answer.rows).toHaveLength(2);
    expect(await rowsOf(await downloadGuestCsv(world.deps)(guest, query, stays))).toEqual([[2]]);
  });

  test.each([
    ['an unknown column', 'main.sales.nothing'],
    ['another schema', 'other.sales.shop'],
    ['a bare table name that no list has', 'sales.shop'],
    ['another case', 'main.sales.SHOP'],
    ['a name of JavaScript', 'constructor'],
  ])('%s is an unknown filter', async (_, key) => {
    expect(await refusal('open', { dashboardFilter: { [key]: 's1' } })).toMatchObject(unknown(key));
    expect(await refusal('open', { metricFilter: { [key]: 's1' } })).toMatchObject(unknown(key));
  });

  test('a value that does not fit the column is refused', async () => {
    expect(await refusal('open', { dashboardFilter: { 'main.sales.id': 'one' } })).toMatchObject({
      code: 'INVALID_REQUEST_BODY',
    });
  });
});

describe('if they are not allowed', () => {
  test.each(['closed', 'silent'] as const)('%s: a column is an unknown filter', async (on) => {
    for (const kind of ['dashboardFilter', 'metricFilter'])
      expect(await refusal(on, { [kind]: { 'main.sales.shop': 's1' } })).toMatchObject(unknown('main.sales.shop'));
  });

  test('one kind does not allow the other', async () => {
    const params = { accessPermissions: { isAllowEndUserMetricFilter: true } };
    expect(await count('closed', { metricFilter: { 'main.sales.shop': 's1' } }, params)).toBe(2);
    expect(await refusal('closed', { dashboardFilter: { 'main.sales.shop': 's1' } }, params)).toMatchObject(
      unknown('main.sales.shop'),
    );
  });
});

describe('a permission given in the token takes precedence over the data app’s access setting', () => {
  const choice = { dashboardFilter: { 'main.sales.shop': 's1' } };

  test('the token allows if the embed denies or says nothing, and denies if the embed allows', async () => {
    const yes = { accessPermissions: { isAllowEndUserDashboardFilter: true } };
    const no = { accessPermissions: { isAllowEndUserDashboardFilter: false } };
    expect([await count('closed', choice, yes), await count('silent', choice, yes)]).toEqual([2, 2]);
    expect(await refusal('open', choice, no)).toMatchObject(unknown('main.sales.shop'));
  });

  test('the list of filter columns in a token takes the place of the embed’s', async () => {
    const columns = { accessPermissions: { dashboardFilterColumns: [{ tableName: 'shops', columns: ['state'] }] } };
    expect(await count('listed', choice)).toBe(2);
    expect(await refusal('listed', { dashboardFilter: { 'main.shops.state': 'CA' } })).toMatchObject(
      unknown('main.shops.state'),
    );
    expect(await count('listed', { dashboardFilter: { 'shops.state': 'CA' } }, columns)).toBe(2);
    expect(await count('listed', { dashboardFilter: { 'main.shops.state': 'CA' } }, columns)).toBe(2);
    expect(await refusal('listed', choice, columns)).toMatchObject(unknown('main.sales.shop'));
    // A list without the permission allows nothing.
    expect(await refusal('closed', { dashboardFilter: { 'shops.state': 'CA' } }, columns)).toMatchObject(
      unknown('shops.state'),
    );
  });
});

describe('it only narrows', () => {
  test('what the token enforces holds beside it, on the same column too', async () => {
    const params = { dashboardAppFilters: [{ dashboardId: 'board', values: { State: 'CA' }, isShowOnUrl: false }] };
    expect(await count('open', {}, params)).toBe(2);
    expect(await count('open', { dashboardFilter: { 'main.shops.state': 'NY' } }, params)).toBe(0);
    expect(await count('open', { metricFilter: { 'main.shops.state': ['CA', 'NY'] } }, params)).toBe(2);
  });

  test('another client’s rows stay another client’s', async () => {
    expect(await count('open', { dashboardFilter: { 'main.sales.id': 6 } })).toBe(0);
    expect(await count('open', { dashboardFilter: { 'main.sales.client': 'b' } })).toBe(0);
    expect(await count('open', { dashboardFilter: { 'main.clients.id': 'b' } }, {}).catch(() => 0)).toBe(0);
    expect(await count('open', { dashboardFilter: { 'main.sales.id': 6 } }, {}, 'b')).toBe(1);
  });

  test('no filter ever adds rows', async () => {
    const value = fc.constantFrom<string | readonly string[]>('CA', 's1', ['CA', 'NV', 'NY'], ['s1', 's2', 's3'], '');
    const key = fc.constantFrom('main.shops.state', 'main.sales.shop', 'main.shops.code');
    const choices = fc.record({ dashboardFilter: fc.dictionary(key, value), metricFilter: fc.dictionary(key, value) });
    const guest = await world.mint({ appFilters: [{ metricId: 'board-count', values: { shop: ['s1', 's2'] } }] });
    const counted = async (choice: Choice) => Number(await world.count(guest, 'board-count', embeds.open, choice));
    expect(await counted({})).toBe(3);
    await fc.assert(
      fc.asyncProperty(choices, async (choice) => {
        expect(await counted(choice)).toBeLessThanOrEqual(3);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the guest dashboard', () => {
  const view = async (on: keyof typeof embeds, params: Params = {}) =>
    getGuestDashboard(world.deps)(await world.mint(params), { dashboardId: embeds[on] });

  test('answers the effective access permissions, with the columns that there are', async () => {
    expect((await view('silent')).accessPermissions).toEqual({
      isAllowEndUserDashboardFilter: false,
      dashboardFilterColumns: [],
      isAllowEndUserMetricFilter: false,
      metricFilterColumns: [],
      isAllowDashboardFilterNameChange: false,
      isAllowMetricFilterNameChange: false,
    });
    expect(
      (await view('listed', { accessPermissions: { isAllowMetricFilterNameChange: true } })).accessPermissions,
    ).toEqual({
      isAllowEndUserDashboardFilter: true,
      dashboardFilterColumns: list,
      isAllowEndUserMetricFilter: true,
      metricFilterColumns: list,
      isAllowDashboardFilterNameChange: false,
      isAllowMetricFilterNameChange: true,
    });
    expect((await view('open')).accessPermissions.dashboardFilterColumns).toContainEqual({
      tableName: 'main.shops',
      columns: ['code', 'state'],
    });
    const denied = { accessPermissions: { isAllowEndUserDashboardFilter: false } };
    expect((await view('listed', denied)).accessPermissions.dashboardFilterColumns).toEqual([]);
  });

  const filter = async (params: Params) => (await view('open', params)).filters;
  const state = (
    value: NonNullable<NonNullable<Params>['dashboardAppFilters']>[number]['values'][string],
    isShowOnUrl = true,
  ) => ({
    dashboardId: 'board',
    values: { state: value },
    isShowOnUrl,
  });

  test('answers the value of a dashboardAppFilter that may be shown, with its filter', async () => {
    expect((await filter({ dashboardAppFilters: [state(['CA', 'NV'])] }))[0]).toMatchObject({
      name: 'State',
      appliedValue: ['CA', 'NV'],
    });
  });

  test.each([
    ['isShowOnUrl false', { dashboardAppFilters: [state('CA', false)] }],
    ['no such filter in the token', {}],
    ['two values, of which neither says what holds', { dashboardAppFilters: [state('CA'), state(['CA', 'NV'])] }],
  ])('the guest dashboard answers no value of a filter with %s', async (_, params) => {
    expect((await filter(params))[0]?.appliedValue).toBeUndefined();
  });

  test('beside one that may not be shown, the one that may is shown', async () => {
    const params = { dashboardAppFilters: [state(['CA', 'NV']), state('CA', false)] };
    expect((await filter(params))[0]?.appliedValue).toEqual(['CA', 'NV']);
  });

  test('never of a hidden filter: it is not in the answer at all', async () => {
    const params = { dashboardAppFilters: [state('CA')], hideDashboardFilters: ['State'] };
    expect(await filter(params)).toEqual([]);
  });
});
