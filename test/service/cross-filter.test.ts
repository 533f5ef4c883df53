/**
 * Cross filters: a mark of one card filters the cards that show the same column, at least as fine, or that the guest may
 * filter by that column. It never adds rows, and chooses no column that its card does not show.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dashboard } from '../../src/model/dashboard/dashboard.js';
import { hostMade, type MetricDefinition, type VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { CrossFilter } from '../../src/model/guest/view.js';
import type { Cell } from '../../src/model/query/engine.js';
import { queryGuestDashboard } from '../../src/service/guest/dashboard-query.js';
import { downloadGuestCsv, downloadGuestDashboardXlsx, downloadGuestXlsx } from '../../src/service/guest/downloads.js';
import { getGuestDashboard, listGuestUnderlying, queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, refusalOf, rowsOf, stays } from '../engine/world.js';
import { createWorld, salesCount, settings, type World } from './world.js';

const count = [{ name: 'Count', aggregate: 'COUNT' as const }];
const shop = { name: 'Shop', column: columnRef('sales.shop') };
const state = { name: 'State', column: columnRef('shops.state') };
const day = { name: 'Day', column: columnRef('visits.day') };
const sales = (...dimensions: VisualDefinition['dimensions']) =>
  metric('sales', { dimensions, measures: count, underlying: [columnRef('sales.id')] });
const visits = (...dimensions: VisualDefinition['dimensions']) =>
  metric('visits', { dimensions, measures: count, underlying: [day.column] });

/** The metrics of the board. `board-count`, without dimensions, is there as well. */
const definitions: Readonly<Record<string, MetricDefinition>> = {
  shops: sales(shop),
  'shops-too': sales({ ...shop, name: 'Code' }, state),
  states: sales(state),
  drilled: metric('sales', { dimensions: [state], measures: count, drillPath: [shop], underlying: [shop.column] }),
  days: visits({ ...day, grain: 'day' }),
  weeks: visits({ ...day, grain: 'week' }),
  months: visits({ ...day, grain: 'month' }),
  weekdays: visits({ ...day, grain: 'dayOfWeek' }),
  hours: visits({ ...day, grain: 'hourOfDay' }),
  instants: visits(day),
  buckets: sales({ name: 'Ids', column: columnRef('sales.id'), bucketWidth: 2 }),
  counted: metric('sales', {
    dimensions: [{ name: 'Ids', column: columnRef('sales.id'), bucketCount: 3 }],
    measures: count,
    underlying: [columnRef('sales.id')],
  }),
  'other-buckets': sales({ name: 'Ids', column: columnRef('sales.id'), bucketWidth: 1 }),
  ids: sales({ name: 'Id', column: columnRef('sales.id') }),
  sql: {
    kind: 'sql',
    chart: { type: 'table' },
    sql: 'SELECT shop AS "Shop", COUNT(*) AS "Count" FROM sales GROUP BY shop',
    dimensions: [{ name: 'Shop' }],
    measures: [{ name: 'Count' }],
    filters: [],
    rlsVariables: [],
    sort: [],
    limit: null,
  },
};

let world: World;
/** Embeds of the board: `open` allows filters on every column, `plain` on none. */
const embeds = { open: '', plain: '', metric: '', twins: '' };

/** Makes a board with these metrics, beside the one without dimensions. */
const board = async (name: string, fields: Partial<Dashboard>, metrics: Readonly<Record<string, MetricDefinition>>) => {
  const { id } = await world.template(name, fields);
  for (const [metricId, definition] of Object.entries(metrics)) {
    const parts = { metricId, workspaceId: 'w', name: metricId, definition, lineage: [], owner: null, ...hostMade };
    await world.store.metrics.insert(parts);
  }
  const placed = [`${name}-count`, ...Object.keys(metrics)].map((metricId) => ({
    metricId,
    placement: 'METRIC' as const,
  }));
  await world.store.dashboards.placeMetrics(id, placed, new Date(Date.UTC(2023, 0, 1)));
};

beforeAll(async () => {
  world = await createWorld();
  await board('board', { filters: [] }, definitions);
  await board('filtered', {}, { 'filtered-states': sales(state), 'filtered-shops': sales(shop) });
  const { days = salesCount, months = salesCount, ids = salesCount } = definitions;
  await board(
    'twins',
    { filters: [] },
    { days2: days, months2: months, ids2: ids, days3: days, months3: months, ids3: ids },
  );
  embeds.twins = await world.embed('twins');
  embeds.plain = await world.embed('board');
  embeds.open = await world.embed('board', undefined, { ...settings, isAllowEndUserDashboardFilter: true });
  embeds.metric = await world.embed('board', 'shops');
});
afterAll(() => world.close());

type Params = Parameters<World['mint']>[0];
const ask = async (metricId: string, crossFilter: readonly CrossFilter[], on = embeds.plain, guest?: GuestCaller) => {
  const query = { metricId, dashboardId: on, crossFilter };
  const { answer } = await queryGuestMetric(world.deps)(guest ?? (await world.mint()), query, stays);
  return answer.rows;
};
const total = async (...given: Parameters<typeof ask>) =>
  (await ask(...given)).reduce((sum, row) => sum + Number(row.Count ?? row.Sales), 0);
const mark = (metricId: string, columnName: string, value: Exclude<Cell, never>): CrossFilter => ({
  metricId,
  columnName,
  value,
});

describe('a mark filters', () => {
  test('the other cards that show its column, and not its own', async () => {
    const filter = [mark('shops', 'Shop', 's1')];
    expect(await ask('shops-too', filter)).toEqual([{ Code: 's1', State: 'CA', Count: 2 }]);
    expect(await total('shops', filter)).toBe(5);
  });

  test('a mark keeps exactly the rows of the other card that have its value, for every mark', async () => {
    const pairs = [
      ['shops', 'Shop', 'shops-too', 'Code'],
      ['shops-too', 'Code', 'shops', 'Shop'],
      ['shops-too', 'State', 'states', 'State'],
      ['states', 'State', 'shops-too', 'State'],
      ['days2', 'Day', 'days3', 'Day'],
      ['months2', 'Day', 'months3', 'Day'],
      ['ids2', 'Id', 'ids3', 'Id'],
    ] as const;
    const guests = [await world.mint(), await world.mint({}, { clientId: 'b' })];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pairs),
        fc.constantFrom(...guests),
        fc.nat(20),
        async ([from, name, to, column], guest, at) => {
          const on = to.endsWith('3') ? embeds.twins : embeds.plain;
          const marks = await ask(from, [], on, guest);
          const value = marks[at % marks.length]?.[name] ?? null;
          const whole = await ask(to, [], on, guest);
          const filtered = await ask(to, [mark(from, name, value)], on, guest);
          expect(filtered).toEqual(whole.filter((row) => row[column] === value));
        },
      ),
      { numRuns: 30 },
    );
  });

  test('cards that lead to its column by drilling', async () => {
    expect(await ask('drilled', [mark('shops', 'Shop', 's2')])).toEqual([{ State: 'NV', Count: 1 }]);
    expect(await ask('shops', [mark('drilled', 'Shop', 's2')])).toEqual([{ Shop: 's2', Count: 1 }]);
  });

  test('several marks filter a card together', async () => {
    const filter = [mark('shops', 'Shop', 's1'), mark('states', 'State', 'NV')];
    expect(await ask('shops-too', filter)).toEqual([]);
    expect(await ask('shops-too', [...filter.slice(0, 1), mark('states', 'State', 'CA')])).toHaveLength(1);
  });

  test('the rows behind its own card', async () => {
    const guest = await world.mint({}, { permissions: { isEnableUnderlyingData: true } });
    const rows = async (columnName: string, value: string) => {
      const query = {
        metricId: 'drilled',
        dashboardId: embeds.plain,
        crossFilter: [mark('drilled', columnName, value)],
      };
      return (await listGuestUnderlying(world.deps)(guest, query, stays)).answer.rows;
    };
    expect(await rows('State', 'CA')).toHaveLength(2);
    expect(await rows('Shop', 's3')).toHaveLength(1);
    expect(await refusalOf(() => rows('Count', '1'))).toMatchObject({ reason: 'cross-filter' });
  });

  test('underlying rows, CSV and the query of a dashboard alike', async () => {
    const guest = await world.mint(
      {},
      { permissions: { isEnableUnderlyingData: true, isEnableDownloadMetrics: true } },
    );
    const crossFilter = [mark('shops', 'Shop', 's1')];
    const query = { metricId: 'drilled', dashboardId: embeds.plain, crossFilter };
    expect((await listGuestUnderlying(world.deps)(guest, query, stays)).answer.rows).toHaveLength(2);
    expect(await rowsOf(await downloadGuestCsv(world.deps)(guest, query, stays))).toEqual([['CA', 2]]);
    const whole = { dashboardId: embeds.plain, crossFilter, metrics: [{ metricId: 'drilled' }, { metricId: 'shops' }] };
    const counts = new Map<string, number>();
    for await (const part of await queryGuestDashboard(world.deps)(guest, whole, stays)) {
      if ('reply' in part) counts.set(part.metricId, part.reply.answer.rows.length);
    }
    expect(counts).toEqual(
      new Map([
        ['drilled', 1],
        ['shops', 4],
      ]),
    );
  });
});

describe('a workbook', () => {
  const november = '2023-11-01';
  const range = { metricId: 'months', columnName: 'Day', from: '2023-10-01', to: november };
  const crossFilter = [mark('shops', 'Shop', 's1'), mark('states', 'State', 'CA'), range];
  const guest = () => world.mint({}, { permissions: { isEnableDownloadMetrics: true } });
  const words = (name: string, value: string) => ({ name, value, isFixed: false });

  test.each(['shops-too', 'drilled', 'days', 'ids'])(
    'a workbook of %s holds and states the marks that filter it',
    async (metricId) => {
      const query = { metricId, dashboardId: embeds.plain, crossFilter };
      const { sheets } = await downloadGuestXlsx(world.deps)(await guest(), query, stays);
      const rows = sheets[0] === undefined ? [] : await rowsOf(await sheets[0].load());
      expect(rows).toEqual((await ask(metricId, crossFilter)).map((row) => Object.values(row)));
      const stated = {
        'shops-too': [words('Shop', 's1'), words('State', 'CA')],
        drilled: [words('Shop', 's1'), words('State', 'CA')],
        days: [words('Day', '2023-10 to 2023-11')],
        ids: [],
      }[metricId];
      expect(sheets[0]?.filters).toEqual(stated);
    },
  );

  test('a workbook of a dashboard holds and states on each sheet the marks that filter it', async () => {
    const asked = { dashboardId: embeds.plain, crossFilter, metrics: [{ metricId: 'shops' }, { metricId: 'days' }] };
    const { sheets } = await downloadGuestDashboardXlsx(world.deps)(await guest(), asked, stays);
    expect(sheets.map(({ filters }) => filters)).toEqual([[], [words('Day', '2023-10 to 2023-11')]]);
    for (const { name, load } of sheets) {
      const shown = (await ask(name, crossFilter)).map((row) => Object.values(row));
      expect(await rowsOf(await load())).toEqual(shown);
    }
  });

  test('is refused with a mark of a metric that the token does not open', async () => {
    const asked = {
      dashboardId: embeds.plain,
      crossFilter: [mark('filtered-shops', 'Shop', 's1')],
      metrics: [{ metricId: 'shops' }],
    };
    const caller = await guest();
    const refused = await refusalOf(() => downloadGuestDashboardXlsx(world.deps)(caller, asked, stays));
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

describe('a card that does not show the column', () => {
  test('keeps its rows if the guest may not filter by the column', async () => {
    expect(await total('board-count', [mark('shops', 'Shop', 's1')])).toBe(5);
    expect(await total('shops', [mark('states', 'State', 'CA')])).toBe(5);
  });

  test('is filtered if the guest may filter by the column', async () => {
    expect(await total('board-count', [mark('shops', 'Shop', 's1')], embeds.open)).toBe(2);
    expect(await total('shops', [mark('states', 'State', 'CA')], embeds.open)).toBe(2);
  });

  test('is filtered if a filter of the dashboard has the column, but not if the token hides that filter', async () => {
    const filter = [mark('filtered-states', 'State', 'CA')];
    const on = await world.embed('filtered');
    expect(await total('filtered-count', filter, on)).toBe(2);
    expect(await total('filtered-shops', filter, on)).toBe(2);
    const hidden = await world.mint({ hideDashboardFilters: ['State'] });
    expect(await total('filtered-count', filter, on, hidden)).toBe(5);
    expect(await total('filtered-count', [mark('filtered-states', 'State', null)], on)).toBe(5);
  });
});

describe('periods and buckets', () => {
  const november = '2023-11-01';
  const answered = async (metricId: string) => (await ask(metricId, []))[0]?.Day;

  test('a month filters days and instants', async () => {
    expect(await answered('months')).toBeTypeOf('string');
    expect(await total('days', [mark('months', 'Day', november)])).toBe(3);
    expect(await total('instants', [mark('months', 'Day', november)])).toBe(3);
  });

  test.each([
    ['days', 'months'],
    ['days', 'weeks'],
    ['weeks', 'months'],
    ['months', 'weeks'],
    ['instants', 'days'],
    ['days', 'weekdays'],
    ['months', 'weekdays'],
    ['weekdays', 'weeks'],
    ['weekdays', 'months'],
    ['hours', 'weekdays'],
    ['hours', 'days'],
  ])('a mark of %s does not split the groups of %s', async (from, to) => {
    const value = { weeks: '2023-10-30', weekdays: 3, hours: 10 }[from] ?? november;
    expect(await ask(to, [mark(from, 'Day', value)])).toEqual(await ask(to, []));
  });

  test('a day of the week or an hour filters the dates that have it', async () => {
    for (const [from, cards] of [
      ['weekdays', ['days', 'instants']],
      ['hours', ['instants']],
    ] as const) {
      const groups = await ask(from, []);
      for (const { Day, Count } of groups) {
        const filtered = await Promise.all(cards.map((card) => total(card, [mark(from, 'Day', Day ?? null)])));
        expect([from, Day, ...filtered]).toEqual([from, Day, ...cards.map(() => Number(Count))]);
      }
    }
  });

  test('the rows behind each bar are those that it counts, whatever its grain or bucket', async () => {
    for (const [metricId, name] of [
      ['weekdays', 'Day'],
      ['hours', 'Day'],
      ['days', 'Day'],
      ['buckets', 'Ids'],
      ['counted', 'Ids'],
    ] as const) {
      const groups = await ask(metricId, []);
      expect(groups.length).toBeGreaterThan(0);
      for (const { [name]: value = null, Count } of groups) {
        const query = { metricId, dashboardId: embeds.plain, crossFilter: [mark(metricId, name, value)] };
        const guest = await world.mint({}, { permissions: { isEnableUnderlyingData: true } });
        const { answer } = await listGuestUnderlying(world.deps)(guest, query, stays);
        expect([metricId, value, answer.totalRecords]).toEqual([metricId, value, Number(Count)]);
      }
    }
  });

  test('a bucket that the chart does not have is refused', async () => {
    const guest = await world.mint({}, { permissions: { isEnableUnderlyingData: true } });
    for (const value of [0.5, 'x', null, 1e9]) {
      const query = { metricId: 'counted', dashboardId: embeds.plain, crossFilter: [mark('counted', 'Ids', value)] };
      expect(await refusalOf(() => listGuestUnderlying(world.deps)(guest, query, stays))).toMatchObject({
        code: 'INVALID_REQUEST_BODY',
        reason: 'cross-filter',
      });
    }
  });

  test('a range has its first and its last period', async () => {
    const range = (from: string, to: string) => [{ metricId: 'months', columnName: 'Day', from, to }];
    expect(await total('days', range('2023-10-01', november))).toBe(4);
    expect(await total('days', range(november, november))).toBe(3);
    expect(await refusalOf(() => ask('days', range(november, '2023-10-01')))).toMatchObject({
      code: 'INVALID_REQUEST_BODY',
      message: expect.stringContaining('swap from and to'),
    });
  });

  test('buckets filter numbers and equal buckets, but not other buckets', async () => {
    expect(await total('ids', [mark('buckets', 'Ids', 2)])).toBe(2);
    expect(await total('other-buckets', [mark('buckets', 'Ids', 2)])).toBe(5);
    const range = [{ metricId: 'buckets', columnName: 'Ids', from: 2, to: 4 }];
    expect(await total('ids', range)).toBe(4);
  });

  test.each([
    ['months', 'Day', '2023-11-15'],
    ['weeks', 'Day', '2023-11-15'],
    ['days', 'Day', '2023-11-15T10:00:00'],
    ['days', 'Day', 'no date'],
    ['buckets', 'Ids', 3],
    ['buckets', 'Ids', 'x'],
    ['weekdays', 'Day', 0],
    ['weekdays', 'Day', 8],
    ['weekdays', 'Day', 'Monday'],
    ['counted', 'Ids', 2],
    ['sql', 'Shop', 's1'],
    ['shops', 'State', 'CA'],
    ['shops', 'Count', 2],
    ['shops', 'constructor', 's1'],
  ])('a mark that %s does not show is refused: %s %s', async (from, name, value) => {
    const refused = await refusalOf(() => ask('shops-too', [mark(from, name, value)]));
    expect(refused).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'cross-filter' });
  });

  test('a range of values without an order of periods is refused', async () => {
    const range = [{ metricId: 'shops', columnName: 'Shop', from: 's1', to: 's2' }];
    expect(await refusalOf(() => ask('shops-too', range))).toMatchObject({ reason: 'cross-filter' });
  });
});

describe('what the token hides stays hidden', () => {
  test('marks of metrics that the token does not open are refused alike', async () => {
    const hiding: Params = { hideDashboardMetrics: [{ dashboardId: 'board', metricIds: ['shops'] }] };
    const closed = { code: 'UNAUTHORIZED', message: 'This token does not open that dashboard or metric.' };
    for (const [params, metricId] of [
      [hiding, 'shops'],
      [{}, 'filtered-shops'],
      [{}, 'no-such-metric'],
    ] as const) {
      const guest = await world.mint(params);
      const refused = await refusalOf(() => ask('shops-too', [mark(metricId, 'Shop', 's1')], embeds.plain, guest));
      expect(refused).toMatchObject(closed);
    }
  });

  test('a metric embed takes no marks of other cards', async () => {
    const guest = await world.mint();
    const query = { metricId: embeds.metric, crossFilter: [mark('shops-too', 'Code', 's1')] };
    expect(await refusalOf(() => queryGuestMetric(world.deps)(guest, query, stays))).toMatchObject({
      code: 'UNAUTHORIZED',
    });
  });

  test("a mark only narrows the token's rows", async () => {
    const on = await world.embed('filtered');
    const values = { State: 'NV' };
    const guest = await world.mint({ dashboardAppFilters: [{ dashboardId: 'filtered', values, isShowOnUrl: true }] });
    expect(await ask('filtered-states', [], on, guest)).toEqual([{ State: 'NV', Count: 1 }]);
    expect(await total('filtered-shops', [mark('filtered-states', 'State', 'CA')], on, guest)).toBe(0);
    expect(await total('filtered-shops', [mark('filtered-states', 'State', 'NV')], on, guest)).toBe(1);
  });

  test("another client's mark shows nothing of it", async () => {
    const guest = await world.mint({}, { clientId: 'b' });
    expect(await total('shops-too', [mark('shops', 'Shop', 's2')], embeds.plain, guest)).toBe(0);
    expect(await total('shops-too', [mark('shops', 'Shop', 's1')], embeds.plain, guest)).toBe(1);
  });

  test('the dashboard says which marks filter which cards, of those that the token opens', async () => {
    const read = async (params: Params) => {
      const { metrics } = await getGuestDashboard(world.deps)(await world.mint(params), { dashboardId: embeds.plain });
      return Object.fromEntries(metrics.map(({ metricId, chart }) => [metricId, chart.crossFilters]));
    };
    const all = await read({});
    expect(all.shops).toEqual({ Shop: ['shops-too', 'drilled'] });
    expect(all.months?.Day).toEqual(expect.arrayContaining(['days', 'instants']));
    expect(all.months?.Day).not.toContain('weeks');
    expect(all.weekdays?.Day).toEqual(expect.arrayContaining(['days', 'instants']));
    expect(all.weekdays?.Day).not.toContain('hours');
    expect([all.counted, all.sql, all['board-count']]).toEqual([{}, {}, {}]);
    const hidden = await read({ hideDashboardMetrics: [{ dashboardId: 'board', metricIds: ['drilled'] }] });
    expect(hidden.shops).toEqual({ Shop: ['shops-too'] });
  });
});
