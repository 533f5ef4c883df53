/** Writes of guests by permission: metrics, their publication, and the restrictions that apply to them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guestLimits } from '../../src/model/guest/metric.js';
import { whole } from '../../src/model/slices.js';
import { columnRef, tableRef } from '../engine/world.js';
import {
  boardOf,
  create,
  embedOf,
  everything,
  guest,
  hideSome,
  namesOn,
  openBoard,
  openSettings,
  revenueBy,
  revenueOf,
} from './guests.js';
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
  refused,
  setNow,
} from './house.js';

let house: House;
let acme: string;
let globex: string;

beforeAll(async () => {
  house = await openHouse();
  await hideSome(house);
  await openBoard(house, 'acme-board', 'acme');
  await openBoard(house, 'globex-board', 'globex');
  acme = await guest(house, 'acme');
  globex = await guest(house, 'globex');
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const update = (metricId: string, parts: Input, bearer = acme) =>
  ok(house, 'updateGuestMetric', { metricId, ...parts }, { bearer });

describe('POST /api/v2/guest/dashboards/{dashboardId}/metrics', () => {
  test('creates a metric of the client, which shows only the client’s rows', async () => {
    const made = await ok(
      house,
      'createGuestMetric',
      { dashboardId: 'acme-board', name: 'Mine', definition: revenueBy('sales.region') },
      { bearer: acme },
    );
    const { metricId } = made.data;
    expect(made).toMatchObject({
      data: { name: 'Mine', chart: { type: 'bar', dimensions: ['By'], measures: ['Revenue'] }, filters: [] },
      error: null,
    });
    const { data } = await ok(house, 'queryGuestMetric', { dashboardId: 'acme-board', metricId }, { bearer: acme });
    expect(data.toSorted((a, b) => Number(b.Revenue) - Number(a.Revenue))).toEqual([
      { By: 'north', Revenue: 130 },
      { By: 'south', Revenue: 50 },
      { By: 'west', Revenue: 20 },
    ]);
  });

  test("on a dashboard of the organization, only its client sees it, and only with the client's own rows", async () => {
    const shared = await embedOf(house, 'board');
    const ofAcme = await create(house, acme, shared, 'Of acme');
    const ofGlobex = await create(house, globex, shared, 'Of globex');
    expect(await namesOn(house, acme, shared)).toContain('Of acme');
    expect(await namesOn(house, acme, shared)).not.toContain('Of globex');
    expect(await revenueOf(house, acme, { dashboardId: shared, metricId: ofAcme })).toBe(200);
    expect(await revenueOf(house, globex, { dashboardId: shared, metricId: ofGlobex })).toBe(3000);
    await refused(
      'queryGuestMetric UNAUTHORIZED',
      house,
      { dashboardId: shared, metricId: ofAcme },
      { bearer: globex },
    );
  });

  test('with a card, it is placed there; without one, below all others; null: in the gallery', async () => {
    await openBoard(house, 'cards', 'acme');
    const at = { x: 6, y: 1, w: 6, h: 2 };
    const there = await create(house, acme, 'cards', 'There', { card: at });
    const below = await create(house, acme, 'cards', 'Below');
    const gallery = await create(house, acme, 'cards', 'Gallery', { card: null });
    const { layout, metrics } = await boardOf(house, acme, 'cards');
    expect(layout).toEqual(
      expect.arrayContaining([
        { metricId: there, ...at },
        { metricId: below, x: 0, y: 12, w: 6, h: 4 },
      ]),
    );
    expect(layout.map(({ metricId }) => metricId)).not.toContain(gallery);
    expect(metrics.map(({ metricId }) => metricId)).toContain(gallery);
  });

  test.each<[string, Input, string]>([
    ['an unknown column', revenueBy('sales.nothing'), 'no column main.sales.nothing'],
    ['a hidden column', revenueBy('clients.name'), 'no column main.clients.name'],
    ['a hidden table', revenueBy(undefined, { from: tableRef('notes') }), 'no table main.notes'],
    [
      'a hidden column behind a drill, a filter, a measure and the underlying rows',
      revenueBy(undefined, {
        drillPath: [{ name: 'N', column: columnRef('clients.name') }],
        underlying: [columnRef('notes.body')],
        filters: [{ name: 'n', label: 'N', column: columnRef('notes.owner'), dataType: 'string' }],
        measures: [{ name: 'M', aggregate: 'MAX', column: columnRef('shops.name') }],
      }),
      [
        'definition.drillPath[0].column: the datamart has no column main.clients.name.',
        'definition.measures[0].column: the datamart has no column main.shops.name.',
        'definition.filters[0].column: the datamart has no column main.notes.owner.',
        'definition.underlying[0]: the datamart has no column main.notes.body.',
      ].join('\n'),
    ],
    [
      'two columns of one name',
      revenueBy('sales.region', { dimensions: [{ name: 'Revenue', column: columnRef('sales.region') }] }),
      'named "Revenue"',
    ],
    [
      'a sort by nothing',
      revenueBy(undefined, { sort: [{ name: 'Nothing', direction: 'ASC' }] }),
      'definition.sort[0].name: no dimension or measure "Nothing"',
    ],
    [
      'a format of dates for nothing',
      revenueBy('sales.region', { chart: { type: 'bar', dates: [{ name: 'Nothing', style: 'short' }] } }),
      'definition.chart.dates[0].name: no dimension or measure "Nothing"',
    ],
    [
      'a style of dates that does not exist',
      revenueBy('sales.region', { chart: { type: 'bar', dates: [{ name: 'Region', style: 'yyyy' }] } }),
      'definition.chart.dates[0].style',
    ],
    [
      'a default that its filter does not take',
      revenueBy(undefined, {
        filters: [
          { name: 'n', label: 'N', column: columnRef('sales.amount'), dataType: 'number', defaultValue: 'much' },
        ],
      }),
      'definition.filters[0].defaultValue: filter "n" takes a number',
    ],
    [
      'neither dimension nor measure',
      { chart: { type: 'table' }, from: tableRef('sales') },
      'neither a dimension nor a measure',
    ],
  ])('a definition with %s is refused, with the reason', async (_, definition, fault) => {
    const input = { dashboardId: 'acme-board', name: 'Bad', definition };
    const message = await refused('createGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: acme });
    expect(message).toContain(fault);
  });

  test.each<[string, Input]>([
    ['SQL', { sql: 'select 1' }],
    ['variables of row-level security', { rlsVariables: [] }],
    ['lineage', { lineage: [] }],
    ['custom SQL as kind', { kind: 'sql' }],
    [
      'a default of {sql, columnName}',
      {
        filters: [
          {
            name: 'n',
            label: 'N',
            column: columnRef('sales.region'),
            dataType: 'string',
            defaultValue: { sql: 'select region from sales', columnName: 'region' },
          },
        ],
      },
    ],
    [
      'a column that is an expression',
      { dimensions: [{ name: 'D', column: { ...columnRef('sales.region'), sql: '1' } }] },
    ],
    ['definition without its chart', { chart: undefined }],
    ['way out of base filters', { withoutBaseFilters: [tableRef('sales')] }],
    [
      'more than its size',
      {
        dimensions: Array.from({ length: 51 }, (_, index) => ({
          name: `d${index}`,
          column: columnRef('sales.region'),
        })),
      },
    ],
  ])('the browser’s schema has no %s', async (_, parts) => {
    const input = { dashboardId: 'acme-board', name: 'Bad', definition: revenueBy(undefined, parts) };
    await refused('createGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: acme });
    const { name: _name, ...preview } = input;
    await refused('previewGuestMetric INVALID_REQUEST_BODY', house, preview, { bearer: acme });
  });

  test('a card must be on the grid of 12 columns', async () => {
    for (const card of [{ x: 12, y: 0, w: 1, h: 1 }, { x: 0, y: -1, w: 1, h: 1 }, { x: 0, y: 0, w: 13, h: 1 }, {}]) {
      const input = { dashboardId: 'acme-board', name: 'Off', definition: revenueBy(), card };
      await refused('createGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: acme });
    }
  });

  test('without its datamart, an embed cannot have new metrics', async () => {
    const accessSettings = { ...openSettings, datamartName: 'open' };
    const embedId = await embedOf(house, 'free', { workspaceName: 'all', accessSettings });
    const definition = {
      chart: { type: 'singleValue' },
      from: tableRef('products'),
      measures: [{ name: 'Products', aggregate: 'COUNT' }],
    };
    const metricId = await create(house, acme, embedId, 'Products', { definition });
    await house.stored(async (store) => {
      const mart = await store.datamarts.findByName('open');
      if (mart !== undefined) await store.datamarts.update({ ...mart, name: 'no longer open' });
    });
    const input = { dashboardId: embedId, definition };
    await refused('createGuestMetric METRIC_QUERY_ERROR', house, { ...input, name: 'None' }, { bearer: acme });
    await refused('previewGuestMetric METRIC_QUERY_ERROR', house, input, { bearer: acme });
    await refused('listGuestFields METRIC_QUERY_ERROR', house, { dashboardId: embedId }, { bearer: acme });
    await refused('updateGuestMetric METRIC_QUERY_ERROR', house, { metricId, definition }, { bearer: acme });
  });

  test('the number for each client and dashboard is limited', async () => {
    await openBoard(house, 'full', 'acme');
    const kept = await create(house, acme, 'full', 'First');
    await house.stored(async (store) => {
      const first = await store.guestMetrics.findById(kept);
      if (first === undefined) throw new Error('it was made');
      for (let made = 1; made < guestLimits.metrics; made += 1)
        await store.guestMetrics.insert({ ...first, metricId: `copy-${made}` });
    });
    const input = { dashboardId: 'full', name: 'One more', definition: revenueBy() };
    const message = await refused('createGuestMetric INVALID_REQUEST_BODY', house, input, { bearer: acme });
    expect(message).toContain(`may have ${guestLimits.metrics}`);
    await ok(house, 'deleteGuestMetric', { metricId: kept }, { bearer: acme });
    await create(house, acme, 'full', 'One more');
  });
});

describe('private and published metrics', () => {
  const users = async () => ({
    ann: await guest(house, 'acme', { userIdentifier: 'ann' }),
    bob: await guest(house, 'acme', { userIdentifier: 'bob' }),
  });

  test('a user’s metric is private until it is published, and again after that is revoked', async () => {
    const { ann, bob } = await users();
    const metricId = await create(house, ann, 'acme-board', 'Private');
    const seenBy = async () =>
      Promise.all(
        [ann, bob, acme].map(async (bearer) => (await namesOn(house, bearer, 'acme-board')).includes('Private')),
      );
    expect(await seenBy()).toEqual([true, false, false]);
    const read = { dashboardId: 'acme-board', metricId };
    const unknown = { dashboardId: 'acme-board', metricId: 'nowhere' };
    expect(await refused('queryGuestMetric UNAUTHORIZED', house, read, { bearer: bob })).toBe(
      await refused('queryGuestMetric UNAUTHORIZED', house, unknown, { bearer: bob }),
    );
    const publish = (isPublished: boolean) =>
      ok(house, 'publishMetric', { embedId: 'acme-board', metricId, isPublished });
    expect(await publish(true)).toEqual({ id: metricId });
    expect(await seenBy()).toEqual([true, true, true]);
    expect(await revenueOf(house, bob, read)).toBe(200);
    expect(await namesOn(house, globex, 'globex-board')).not.toContain('Private');
    await publish(false);
    expect(await seenBy()).toEqual([true, false, false]);
  });

  test('only its maker can change a published metric', async () => {
    const { ann, bob } = await users();
    const metricId = await create(house, ann, 'acme-board', 'Published');
    await ok(house, 'publishMetric', { embedId: 'acme-board', metricId, isPublished: true });
    await refused('updateGuestMetric UNAUTHORIZED', house, { metricId, name: 'Taken' }, { bearer: bob });
    await refused('deleteGuestMetric UNAUTHORIZED', house, { metricId }, { bearer: acme });
    await refused('archiveGuestMetric UNAUTHORIZED', house, { metricId }, { bearer: bob });
    await update(metricId, { name: 'Mine still' }, ann);
    expect(await namesOn(house, bob, 'acme-board')).toContain('Mine still');
  });

  test('without isAllowPrivateMetricsByDefault or userIdentifier, it belongs to all users of the client', async () => {
    await openBoard(house, 'common', 'acme', { isAllowPrivateMetricsByDefault: false });
    const { ann, bob } = await users();
    await create(house, ann, 'common', 'By ann');
    await create(house, acme, 'acme-board', 'By nobody');
    expect(await namesOn(house, bob, 'common')).toContain('By ann');
    expect(await namesOn(house, bob, 'acme-board')).toContain('By nobody');
  });

  test("the host lists and reads metrics of its clients' guests, including private ones, and none of others", async () => {
    const { ann } = await users();
    const shared = await embedOf(house, 'defaults');
    const metricId = await create(house, ann, 'acme-board', 'For the host');
    await create(house, globex, shared, 'Of globex');
    const listed = async (embedId: string, clientId: string) =>
      (await ok(house, 'listEmbedMetrics', { embedId, clientId })).data.map(({ name }) => name);
    const { data } = await ok(house, 'listEmbedMetrics', { embedId: 'acme-board', clientId: 'acme' });
    expect(data).toContainEqual({ metricId, name: 'For the host', isGuestMade: true });
    expect(data.find(({ name }) => name === 'Metric revenue')).not.toHaveProperty('isGuestMade');
    expect(await listed(shared, 'acme')).not.toContain('Of globex');
    expect(await listed(shared, 'globex')).toContain('Of globex');
    const asked = await ok(house, 'queryMetric', { embedId: 'acme-board', clientId: 'acme', metricId });
    expect(asked.data).toEqual([{ Revenue: 200 }]);
    const { data: all } = await ok(house, 'listMetrics', { workspaceName: 'shop' });
    expect(all.map(({ name }) => name)).not.toContain('For the host');
  });

  test('a clone of a dashboard contains nothing that guests made on it', async () => {
    const shared = await embedOf(house, 'held');
    await create(house, acme, shared, 'Kept home');
    await openBoard(house, 'of-held', 'globex', { templateDashboardId: 'held' });
    await openBoard(house, 'held-of-acme', 'acme', { templateDashboardId: 'held' });
    expect(await namesOn(house, globex, 'of-held')).toEqual(['Metric of-globex']);
    expect(await namesOn(house, acme, 'held-of-acme')).toEqual(['Metric of-acme']);
  });

  test('only the host publishes, in its own data app, and only what guests made there', async () => {
    const metricId = await create(house, acme, 'acme-board', 'To publish');
    const input = { embedId: 'acme-board', metricId, isPublished: true };
    await refused('publishMetric AUTHENTICATION_ERROR', house, input, { bearer: acme });
    await refused('publishMetric INVALID_EMBED_ID', house, input, { bearer: house.otherKey });
    await refused('publishMetric INVALID_EMBED_ID', house, { ...input, embedId: 'nowhere' });
    await refused('publishMetric INVALID_METRIC_ID', house, { ...input, metricId: 'nowhere' });
    await refused('publishMetric INVALID_METRIC_ID', house, { ...input, embedId: 'globex-board' });
    const made = await metricOf(house, 'acme-board', 'acme', 'revenue');
    await refused('publishMetric INVALID_METRIC_ID', house, { ...input, metricId: made });
    await refused('publishMetric INVALID_REQUEST_BODY', house, { ...input, isPublished: 'true' });
  });
});

describe('a metric that the host made', () => {
  test('keeps lineage, filters and RLS variables in a clone through any change', async () => {
    await openBoard(house, 'kept', 'acme');
    const [revenue, guarded] = await Promise.all([
      metricOf(house, 'kept', 'acme', 'revenue'),
      metricOf(house, 'kept', 'acme', 'guarded'),
    ]);
    await update(revenue, { name: 'Renamed', definition: revenueBy('sales.region') });
    await update(guarded, { definition: revenueBy('sales.region') });
    const message = await refused(
      'updateGuestMetric INVALID_REQUEST_BODY',
      house,
      { metricId: revenue, definition: { filters: [] } },
      { bearer: acme },
    );
    expect(message).toContain('filters');
    const limited = await guest(house, 'acme', {
      appFilters: [{ metricId: 'revenue', values: { Amount: { max: 30 } } }],
      rlsSettings: [{ metricId: 'guarded', values: { region: 'south' } }],
    });
    const rows = async (metricId: string) =>
      (await ok(house, 'queryGuestMetric', { dashboardId: 'kept', metricId }, { bearer: limited })).data;
    expect((await rows(revenue)).map(({ Revenue }) => Revenue).toSorted()).toEqual([20, 30]);
    expect(await rows(guarded)).toEqual([{ By: 'south', Revenue: 50 }]);
    const read = { dashboardId: 'kept', metricId: guarded };
    await refused('queryGuestMetric RLS_SETTINGS_PARAM_ERROR', house, read, { bearer: acme });
    const hiding = await guest(house, 'acme', {
      hideDashboardMetrics: [{ dashboardId: 'kept', metricIds: ['revenue'] }],
    });
    expect(await namesOn(house, hiding, 'kept')).not.toContain('Renamed');
    await refused('updateGuestMetric UNAUTHORIZED', house, { metricId: revenue, name: 'X' }, { bearer: hiding });
  });

  test('a metric of the organization cannot be changed, archived or deleted', async () => {
    const shared = await embedOf(house, 'derived');
    expect((await boardOf(house, acme, shared)).metrics.map(({ metricId }) => metricId)).toEqual(['revenue-copy']);
    const input = { metricId: 'revenue-copy' };
    await refused('updateGuestMetric UNAUTHORIZED', house, { ...input, name: 'X' }, { bearer: acme });
    await refused('archiveGuestMetric UNAUTHORIZED', house, input, { bearer: acme });
    await refused('deleteGuestMetric UNAUTHORIZED', house, input, { bearer: acme });
  });

  test('is archived when it is deleted, so its embeds and the host’s list stay', async () => {
    await openBoard(house, 'pruned', 'acme');
    const metricId = await metricOf(house, 'pruned', 'acme', 'spare');
    expect(await ok(house, 'deleteGuestMetric', { metricId }, { bearer: acme })).toEqual({
      data: { metricId },
      error: null,
    });
    expect(await namesOn(house, acme, 'pruned')).not.toContain('Metric spare');
    expect(await metricOf(house, 'pruned', 'acme', 'spare')).toBe(metricId);
  });
});

describe('archive, restore and delete', () => {
  test('an archived metric is invisible in every read; isEnableManageMetrics can restore it', async () => {
    const metricId = await create(house, acme, 'acme-board', 'Archived');
    const read = { dashboardId: 'acme-board', metricId };
    const archive = (parts: Input = {}) => ok(house, 'archiveGuestMetric', { metricId, ...parts }, { bearer: acme });
    expect(await archive()).toEqual({ data: { metricId, isArchived: true }, error: null });
    expect(await namesOn(house, acme, 'acme-board')).not.toContain('Archived');
    await refused('queryGuestMetric UNAUTHORIZED', house, read, { bearer: acme });
    await refused('listGuestUnderlying UNAUTHORIZED', house, read, { bearer: acme });
    await refused('downloadGuestCsv UNAUTHORIZED', house, read, { bearer: acme });
    const { data } = await ok(house, 'listEmbedMetrics', { embedId: 'acme-board', clientId: 'acme' });
    expect(data.map(({ name }) => name)).not.toContain('Archived');
    await archive({ isArchived: false });
    expect(await revenueOf(house, acme, read)).toBe(200);
  });

  test('a metric that a guest made is removed when it is deleted', async () => {
    const metricId = await create(house, acme, 'acme-board', 'Gone');
    await ok(house, 'deleteGuestMetric', { metricId }, { bearer: acme });
    await refused('deleteGuestMetric UNAUTHORIZED', house, { metricId }, { bearer: acme });
    expect(await namesOn(house, acme, 'acme-board')).not.toContain('Gone');
  });
});

describe('POST /api/v2/guest/metrics/preview', () => {
  const preview = async (bearer: string, parts: Input = {}) =>
    ok(house, 'previewGuestMetric', { dashboardId: 'acme-board', definition: revenueBy(), ...parts }, { bearer });

  test('answers the definition under all restrictions of the dashboard, and stores nothing', async () => {
    const before = await namesOn(house, acme, 'acme-board');
    expect(await preview(acme)).toMatchObject({ data: [{ Revenue: 200 }], metricid: 'preview', totalRecords: 1 });
    const south = await guest(house, 'acme', {
      dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Region: 'south' } }],
      hideDashboardFilters: ['Region'],
    });
    expect((await preview(south)).data).toEqual([{ Revenue: 50 }]);
    const hidden = { dashboardId: 'acme-board', definition: revenueBy(), dashboardFilter: { Region: 'north' } };
    await refused('previewGuestMetric INVALID_REQUEST_BODY', house, hidden, { bearer: south });
    expect((await preview(acme, { dashboardFilter: { Region: 'north' } })).data).toEqual([{ Revenue: 130 }]);
    expect(await namesOn(house, acme, 'acme-board')).toEqual(before);
  });

  test('a dashboard’s filter restricts a metric that does not join its table', async () => {
    const products = {
      chart: { type: 'singleValue' },
      from: tableRef('sales'),
      measures: [{ name: 'Revenue', aggregate: 'COUNT' }],
    };
    const anvils = await guest(house, 'acme', {
      dashboardAppFilters: [{ dashboardId: 'acme-board', values: { Product: 'Anvil' } }],
    });
    expect((await preview(anvils, { definition: products })).data).toEqual([{ Revenue: 2 }]);
    const metricId = await create(house, acme, 'acme-board', 'Counted', { definition: products });
    expect(await revenueOf(house, anvils, { dashboardId: 'acme-board', metricId })).toBe(2);
    expect(await revenueOf(house, acme, { dashboardId: 'acme-board', metricId })).toBe(4);
  });

  test('missing parts of a change keep their values', async () => {
    const guarded = await metricOf(house, 'acme-board', 'acme', 'revenue');
    const change = {
      metricId: guarded,
      definition: { chart: { type: 'bar' }, dimensions: revenueBy('sales.region').dimensions },
    };
    const { data, metricid } = await preview(acme, { ...change, metricFilter: { Amount: { max: 30 } } });
    expect([data.map(({ Revenue }) => Revenue).toSorted(), metricid]).toEqual([[20, 30], guarded]);
    const input = { dashboardId: 'acme-board', ...change };
    const still = await guest(house, 'acme', {}, { ...everything, isEnableMetricUpdation: false });
    await refused('previewGuestMetric UNAUTHORIZED', house, input, { bearer: still });
    await refused(
      'previewGuestMetric INVALID_REQUEST_BODY',
      house,
      { ...input, metricId: undefined },
      { bearer: acme },
    );
  });

  test('errors from restrictions of the dashboard have their own messages', async () => {
    const embedId = await embedOf(house, 'board');
    const input = { dashboardId: embedId, definition: revenueBy() };
    const { token } = await ok(house, 'createGuestToken', {
      clientId: 'None',
      dataAppName: 'shop',
      permissions: everything,
    });
    await refused('previewGuestMetric CLIENT_ID_ERROR', house, input, { bearer: token });
    await refused('listGuestFields CLIENT_ID_ERROR', house, { dashboardId: embedId }, { bearer: token });
    await openBoard(house, 'losing', 'acme');
    const bound = await guest(house, 'acme', {
      dashboardAppFilters: [{ dashboardId: 'losing', values: { Region: 'south' } }],
    });
    await house.stored(async (store) => {
      const workspace = await store.workspaces.findByName('shop');
      const dashboards = await whole(store.dashboards.listByWorkspace(workspace?.id ?? '', null, null));
      expect(dashboards.length).toBeGreaterThan(0);
      const app = await store.dataApps.findByName('shop');
      const losing = await store.dashboards.findByExternalId(app?.id ?? '', 'losing');
      if (losing === undefined) throw new Error('it was made');
      await store.dashboards.update({ ...losing, filters: [] });
    });
    await refused(
      'previewGuestMetric APP_FILTER_PARAM_ERROR',
      house,
      { dashboardId: 'losing', definition: revenueBy() },
      { bearer: bound },
    );
    await refused('listGuestFields APP_FILTER_PARAM_ERROR', house, { dashboardId: 'losing' }, { bearer: bound });
  });
});

describe('GET /api/v2/guest/dashboards/{dashboardId}/fields', () => {
  const fieldsOf = async (bearer: string, dashboardId = 'acme-board') =>
    (await ok(house, 'listGuestFields', { dashboardId }, { bearer })).data;

  test('lists what the guest may build on, without hidden columns and tables that no query may read', async () => {
    const { tables, relationships } = await fieldsOf(acme);
    const named = tables.map(({ schemaName, tableName, joinGroup, fields }) => [
      `${schemaName}.${tableName}`,
      joinGroup,
      fields.map(({ columnName }) => columnName),
    ]);
    const sales = ['client', 'sold', 'amount', 'region', 'product', 'paid'];
    expect(named).toEqual([
      ['main.clients', 0, ['id']],
      ['main.products', 1, ['id', 'label']],
      ['main.sales', 1, sales],
      ['eu.sales', 2, sales],
    ]);
    expect(relationships).toEqual([
      { parent: tableRef('sales'), child: tableRef('products'), cardinality: 'ManyToOne' },
    ]);
    const [amount] = tables.flatMap(({ fields }) => fields.filter(({ columnName }) => columnName === 'amount'));
    expect(amount).toMatchObject({ type: 'integer', suggestedAggregates: ['SUM', 'AVG'] });
  });

  test('has the labels, descriptions and synonyms of the datamart, of visible columns only', async () => {
    const notes = (name: string, text: string) => ({ name, description: text, synonyms: [`${text} too`] });
    const tables = [
      { ...notes('main.sales', 'Receipts'), columns: [{ ...notes('product', 'Article'), isIdentifier: true }] },
      { ...notes('clients', 'Customers'), columns: [notes('name', 'Secret name')] },
      notes('notes', 'Secret notes'),
    ];
    await ok(house, 'createSemanticLayer', { datamartName: 'shop', tables, feedback: 'Secret feedback' });
    const data = await fieldsOf(acme);
    const sales = data.tables.find(({ description }) => description === 'Receipts');
    expect(sales?.synonyms).toEqual(['Receipts too']);
    expect(sales?.fields.find(({ columnName }) => columnName === 'product')).toMatchObject({
      description: 'Article',
      synonyms: ['Article too'],
      isIdentifier: true,
      suggestedAggregates: ['COUNT_DISTINCT'],
    });
    expect(JSON.stringify(data)).not.toMatch(/Secret|notes/);
  });

  test('leaves out tables that a restriction of the token does not fit', async () => {
    const values = { Region: 'south' };
    const bearer = await guest(house, 'acme', { dashboardAppFilters: [{ dashboardId: 'acme-board', values }] });
    const { tables } = await fieldsOf(bearer);
    expect(tables.map(({ schemaName, tableName }) => `${schemaName}.${tableName}`)).toEqual([
      'main.products',
      'main.sales',
    ]);
  });

  test('needs the permission to create metrics, in token and embed, and the mode DRAG_DROP', async () => {
    const input = { dashboardId: 'acme-board' };
    const reader = await guest(house, 'acme', {}, { ...everything, isDisableMetricCreation: true });
    await refused('listGuestFields UNAUTHORIZED', house, input, { bearer: reader });
    await refused('listGuestFields UNAUTHORIZED', house, input, { bearer: globex });
    const values = { region: 'north' };
    const ruled = await guest(house, 'acme', { rlsSettings: [{ metricId: 'guarded', values }] });
    await refused('listGuestFields UNAUTHORIZED', house, input, { bearer: ruled });
    for (const [dashboardId, parts] of [
      ['chat-board', { metricCreationMode: 'CHAT' }],
      ['still-board', { isAllowMetricCreation: false }],
    ] as const) {
      await openBoard(house, dashboardId, 'acme', { accessSettings: { ...openSettings, ...parts } });
      await refused('listGuestFields UNAUTHORIZED', house, { dashboardId }, { bearer: acme });
    }
  });

  test('an ended token gets nothing, nor does an id that no dashboard can have', async () => {
    await refused('listGuestFields INVALID_REQUEST_BODY', house, { dashboardId: 'a'.repeat(256) }, { bearer: acme });
    const short = await mint(house, 'acme', {}, { permissions: everything, expiryTime: 60_000 });
    setNow(new Date(noon.getTime() + 61_000));
    await refused('listGuestFields TOKEN_EXPIRED', house, { dashboardId: 'acme-board' }, { bearer: short });
    await refused('listGuestFields AUTHENTICATION_ERROR', house, { dashboardId: 'acme-board' }, { bearer: 'wrong' });
  });
});

describe('a token that restricts metrics by name', () => {
  test.each<[string, Input]>([
    ['rlsSettings', { rlsSettings: [{ metricId: 'guarded', values: { region: 'north' } }] }],
    ['appFilters', { appFilters: [{ metricId: 'revenue', values: { Amount: { min: 1 } } }] }],
  ])('%s: cannot create, update or preview, and does not see metrics that guests defined', async (_, params) => {
    const metricId = await create(house, acme, 'acme-board', 'Unrestricted');
    const bearer = await guest(house, 'acme', params);
    const reason = /rlsSettings or appFilters/;
    const definition = revenueBy();
    const made = { dashboardId: 'acme-board', name: 'X', definition };
    expect(await refused('createGuestMetric UNAUTHORIZED', house, made, { bearer })).toMatch(reason);
    const input = { dashboardId: 'acme-board', definition };
    expect(await refused('previewGuestMetric UNAUTHORIZED', house, input, { bearer })).toMatch(reason);
    const clone = await metricOf(house, 'acme-board', 'acme', 'revenue');
    const renamed = { metricId: clone, name: 'X' };
    expect(await refused('updateGuestMetric UNAUTHORIZED', house, renamed, { bearer })).toMatch(reason);
    expect(await namesOn(house, bearer, 'acme-board')).not.toContain('Unrestricted');
    await refused('queryGuestMetric UNAUTHORIZED', house, { dashboardId: 'acme-board', metricId }, { bearer });
  });

  test('does not see a clone that a guest rewrote, unless one of its settings names it', async () => {
    await openBoard(house, 'rewritten', 'acme');
    const spare = await metricOf(house, 'rewritten', 'acme', 'spare');
    const read = { dashboardId: 'rewritten', metricId: spare };
    const setting = (metricId: string) => ({ rlsSettings: [{ metricId, values: { region: 'north' } }] });
    const bearer = await guest(house, 'acme', setting('guarded'));
    expect(await revenueOf(house, bearer, read)).toBe(200);
    await update(spare, { name: 'Renamed only' });
    expect(await revenueOf(house, bearer, read)).toBe(200);
    await update(spare, { definition: revenueBy('sales.region') });
    await refused('queryGuestMetric UNAUTHORIZED', house, read, { bearer });
    expect((await boardOf(house, bearer, 'rewritten')).layout.map(({ metricId }) => metricId)).not.toContain(spare);
  });

  test('may name metrics that guests made; these are then hidden', async () => {
    const metricId = await create(house, acme, 'acme-board', 'Named');
    const bearer = await guest(house, 'acme', { rlsSettings: [{ metricId, values: { region: 'north' } }] });
    expect(await namesOn(house, bearer, 'acme-board')).not.toContain('Named');
    const hiding = await guest(house, 'acme', {
      hideDashboardMetrics: [{ dashboardId: 'acme-board', metricIds: [metricId] }],
    });
    expect(await namesOn(house, hiding, 'acme-board')).not.toContain('Named');
    await refused('deleteGuestMetric UNAUTHORIZED', house, { metricId }, { bearer: hiding });
    const input = { clientId: 'globex', dataAppName: 'shop', params: { rlsSettings: [{ metricId, values: {} }] } };
    await refused('createGuestToken RLS_SETTINGS_PARAM_ERROR', house, input);
  });
});

test('a wrong definition of one guest does not remove filter options of others', async () => {
  await openBoard(house, 'robust', 'acme');
  const definition = revenueBy(undefined, {
    from: tableRef('clients'),
    dimensions: [{ name: 'Id', column: columnRef('clients.id') }],
    measures: [{ name: 'Revenue', aggregate: 'COUNT', column: columnRef('clients.id') }],
    // Only the query finds that the pattern ends with an incomplete escape.
    where: { column: columnRef('clients.id'), predicate: { kind: 'like', pattern: 'x\\' } },
  });
  const metricId = await create(house, acme, 'robust', 'Nonsense', { definition });
  const input = { dashboardId: 'robust', metricId };
  expect((await call(house, 'queryGuestMetric', input, { bearer: acme })).status).toBe(400);
  await house.stored(async (store) => {
    // `guarded` needs a value that this token does not have.
    const app = await store.dataApps.findByName('shop');
    const board = await store.dashboards.findByExternalId(app?.id ?? '', 'robust');
    const placed = await store.dashboards.listMetrics(board?.id ?? '');
    const kept = placed.filter(({ metric }) => metric.definition.rlsVariables.length === 0);
    await store.dashboards.placeMetrics(
      board?.id ?? '',
      kept.map(({ metric, placement }) => ({ metricId: metric.metricId, placement })),
      noon,
    );
  });
  const asked = { dashboardId: 'robust', filter: 'Region' };
  const { data } = await ok(house, 'listGuestFilterOptions', asked, { bearer: acme });
  expect(data.map(({ value }) => value)).toEqual(['north', 'south', 'west']);
});

test('column names that are special in JavaScript or SQL are returned unchanged', async () => {
  const names = ['__proto__', 'constructor', `"'; --`, 'x'.repeat(255), '🛩️'];
  const dimensions = names.map((name) => ({ name, column: columnRef('sales.region') }));
  const definition = revenueBy(undefined, { dimensions });
  const input = { dashboardId: 'acme-board', definition };
  const { text, status } = await call(house, 'previewGuestMetric', input, { bearer: acme });
  expect(status).toBe(200);
  const { metaData } = JSON.parse(text);
  expect(metaData.groupbyColumnList).toEqual(names);
});

test('no metric can be created on a metric embed', async () => {
  const revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
  const tile = await embedOf(house, 'acme-board', { embedType: 'metric', metricId: revenue });
  const input = { dashboardId: tile, name: 'X', definition: revenueBy() };
  await refused('createGuestMetric UNAUTHORIZED', house, input, { bearer: acme });
});

test('a dashboard without permissions allows no writes, whatever the token says', async () => {
  await cloneBoard(house, 'closed', 'acme', { accessSettings: { ...openSettings, isAllowMetricCreation: false } });
  const input = { dashboardId: 'closed', name: 'X', definition: revenueBy() };
  await refused('createGuestMetric UNAUTHORIZED', house, input, { bearer: acme });
});

describe('measures of the datamart', () => {
  /** The shop with measures, one of which reads a column that is hidden from guests. */
  const open = async (dashboardId: string): Promise<void> => {
    const own = (columnName: string, sql: string, isAggregate = true) => ({
      ...{ columnName, datatype: '', alias: '', label: '', isHide: false, isApplyTimezone: false },
      ...{ isCustomColumn: true, isAggregate, sql },
    });
    await house.stored(async (store) => {
      const mart = await store.datamarts.findByName('shop');
      if (mart === undefined) throw new Error('the organization has no datamart shop');
      const measures = [
        own('mean', 'sum(amount) / count(*)'),
        own('rows', 'count(*)'),
        own('doubled', 'amount * 2', false),
        own('whether', 'case when paid then amount else 0 end', false),
        own('shout', '"PAID"', false),
        own('halved', 'amount /', false),
        own('told', 'max(paid)'),
        own('told_case', 'max("PAID")'),
        own('broken', 'sum('),
      ];
      const tables = mart.tables.map((one) =>
        one.tableName === 'sales' && one.schemaName === 'main'
          ? {
              ...one,
              columns: [
                ...one.columns
                  .filter(({ isCustomColumn }) => isCustomColumn !== true)
                  .map((column) => ({ ...column, isHide: column.columnName === 'paid' })),
                ...measures,
              ],
            }
          : one,
      );
      await store.datamarts.update({ ...mart, tables });
    });
    await openBoard(house, dashboardId, 'acme');
  };
  const measured = (columnName: string, parts: Input = {}): Input => ({
    chart: { type: 'table' },
    from: tableRef('sales'),
    measures: [{ name: 'M', aggregate: 'AGGREGATE', column: columnRef(`sales.${columnName}`) }],
    ...parts,
  });
  const preview = async (dashboardId: string, definition: Input) =>
    (await ok(house, 'previewGuestMetric', { dashboardId, definition }, { bearer: acme })).data;

  test('are listed where a guest may read each of their columns, and are nothing but measured', async () => {
    await open('measures');
    const { data } = await ok(house, 'listGuestFields', { dashboardId: 'measures' }, { bearer: acme });
    const fields = data.tables.find(
      ({ schemaName, tableName }) => schemaName === 'main' && tableName === 'sales',
    )?.fields;
    expect(fields?.filter(({ isMeasure }) => isMeasure).map(({ columnName }) => columnName)).toEqual(['mean', 'rows']);
    expect(fields?.find(({ columnName }) => columnName === 'mean')).toMatchObject({
      type: 'other',
      aggregates: ['AGGREGATE'],
      suggestedAggregates: ['AGGREGATE'],
    });
    expect(fields?.find(({ columnName }) => columnName === 'doubled')).toMatchObject({ isMeasure: false });
    for (const name of ['whether', 'shout', 'halved'])
      expect(fields?.map(({ columnName }) => columnName)).not.toContain(name);
  });

  test.each(['whether', 'shout', 'halved'])(
    'a calculated column that reads what is hidden is hidden: %s',
    async (name) => {
      await open(`calculated-${name}`);
      const column = columnRef(`sales.${name}`);
      const closed = `the datamart has no column main.sales.${name}`;
      for (const parts of [
        { dimensions: [{ name: 'By', column }], measures: [{ name: 'N', aggregate: 'COUNT' }] },
        { measures: [{ name: 'Sum', aggregate: 'SUM', column }] },
        {
          filters: [{ name: 'n', label: 'N', column, dataType: 'number' }],
          measures: [{ name: 'N', aggregate: 'COUNT' }],
        },
      ] as const) {
        const of = { dashboardId: `calculated-${name}`, definition: measured('mean', parts) };
        expect(await refused('previewGuestMetric INVALID_REQUEST_BODY', house, of, { bearer: acme })).toContain(closed);
      }
    },
  );

  test('answer with the rows of the guest’s client, as a guest’s own metric', async () => {
    await open('own-measures');
    const sums = {
      measures: [
        { name: 'S', aggregate: 'SUM', column: columnRef('sales.amount') },
        { name: 'N', aggregate: 'COUNT' },
      ],
    };
    const [plain] = await preview('own-measures', measured('mean', sums));
    const mean = Number(plain?.S) / Number(plain?.N);
    expect(await preview('own-measures', measured('mean'))).toEqual([{ M: mean }]);
    const metricId = await create(house, acme, 'own-measures', 'Mean', { definition: measured('mean') });
    const asked = { dashboardId: 'own-measures', metricId };
    expect((await ok(house, 'queryGuestMetric', asked, { bearer: acme })).data).toEqual([{ M: mean }]);
    await refused('queryGuestMetric UNAUTHORIZED', house, asked, { bearer: globex });
  });

  test.each(['told', 'told_case', 'broken', 'paid', 'nowhere'])(
    'measures of the datamart that read what is hidden are refused like columns that do not exist: %s',
    async (name) => {
      await open(`closed-${name}`);
      const of = { dashboardId: `closed-${name}`, definition: measured(name) };
      const message = await refused('previewGuestMetric INVALID_REQUEST_BODY', house, of, { bearer: acme });
      expect(message).toContain(`measures[0].column: the datamart has no column main.sales.${name}`);
      await refused('createGuestMetric INVALID_REQUEST_BODY', house, { ...of, name: 'M' }, { bearer: acme });
    },
  );

  test('take no other column, no indicator and no other aggregate', async () => {
    await open('odd-measures');
    const wrong = async (definition: Input) =>
      refused(
        'previewGuestMetric INVALID_REQUEST_BODY',
        house,
        { dashboardId: 'odd-measures', definition },
        { bearer: acme },
      );
    expect(await wrong(measured('amount'))).toContain('is no measure of the datamart');
    expect(await wrong(measured('doubled'))).toContain('is no measure of the datamart');
    const column = columnRef('sales.mean');
    const indicator = { kind: 'isNotNull' } as const;
    expect(
      await wrong(measured('mean', { measures: [{ name: 'M', aggregate: 'AGGREGATE', column, indicator }] })),
    ).toContain('taken as it is');
    expect(await wrong(measured('mean', { measures: [{ name: 'M', aggregate: 'AGGREGATE' }] }))).toContain(
      'needs a column',
    );
    for (const parts of [
      { measures: [{ name: 'M', aggregate: 'SUM', column }] },
      { dimensions: [{ name: 'By', column }] },
    ] as const) {
      const input = { dashboardId: 'odd-measures', definition: measured('mean', parts) };
      await refused('previewGuestMetric METRIC_QUERY_ERROR', house, input, { bearer: acme });
    }
  });
});
