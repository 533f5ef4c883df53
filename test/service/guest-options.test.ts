/** Options of a filter: metrics with the same rows share one query; metrics with other rows get their own. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostMade, type VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { FilterValue, Scalar } from '../../src/model/filter/filter.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { Engine, OptionsQuestion } from '../../src/model/query/engine.js';
import type { Reason } from '../../src/model/reasons.js';
import { Refusal } from '../../src/model/refusal.js';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, refusalOf, stays } from '../engine/world.js';
import { createWorld, stateFilter, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  const { id } = await world.template('many');
  const more: VisualDefinition = {
    ...metric('sales', { measures: [{ name: 'Count', aggregate: 'COUNT' }] }),
    sort: [{ name: 'Count', direction: 'ASC' }],
    limit: 1,
  };
  const guarded = { ...more, rlsVariables: [{ name: 'shop', column: columnRef('sales.shop'), isOptional: true }] };
  for (const [metricId, definition] of Object.entries({ more, guarded })) {
    const parts = { workspaceId: 'w', name: metricId, lineage: [], owner: null, ...hostMade };
    await world.deps.store.metrics.insert({ metricId, definition, ...parts });
  }
  const placed = ['many-count', 'more', 'guarded'].map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  await world.deps.store.dashboards.placeMetrics(id, placed, new Date(0));
  await world.embed('many');
});
afterAll(() => world.close());

/** Records the engine's questions and their outcomes. */
const watched = (options: Engine['options']) => {
  const asked: OptionsQuestion[] = [];
  const signals: AbortSignal[] = [];
  const until = (signal: AbortSignal) => {
    signals.push(signal);
    const one: Engine['options'] = (question) => {
      asked.push(question);
      return options(question);
    };
    return { ...world.deps.engine, options: one };
  };
  return { asked, signals, deps: { ...world.deps, engine: { until } } };
};
const query = { dashboardId: 'many', filter: 'State' };

test('metrics with the same rows share one query', async () => {
  const { asked, deps } = watched(world.deps.engine.options);
  const options = await listGuestFilterOptions(deps)(await world.mint({}), query, stays);
  expect(options.map(({ value }) => value)).toEqual(['CA', 'NV', 'NY']);
  expect(asked).toHaveLength(1);
});

test('metrics that leave out base filters, or measure what others group by, get their own query', async () => {
  const own = await createWorld();
  const { id } = await own.template('many');
  const plain = metric('sales', { measures: [{ name: 'Count', aggregate: 'COUNT' }] });
  const id_ = columnRef('sales.shop');
  const definitions = {
    plain,
    open: { ...plain, withoutBaseFilters: [{ schemaName: 'main', tableName: 'sales' }] },
    grouped: { ...plain, dimensions: [{ name: 'Shop', column: id_ }] },
    measured: { ...plain, measures: [{ name: 'Shops', aggregate: 'COUNT_DISTINCT', column: id_ }] },
  } as Readonly<Record<string, VisualDefinition>>;
  for (const [metricId, definition] of Object.entries(definitions)) {
    const parts = { workspaceId: 'w', name: metricId, lineage: [], owner: null, ...hostMade };
    await own.deps.store.metrics.insert({ metricId, definition, ...parts });
  }
  const placed = Object.keys(definitions).map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  await own.deps.store.dashboards.placeMetrics(id, placed, new Date(0));
  await own.embed('many');
  const { asked, deps } = watched(own.deps.engine.options);
  const ownDeps = { ...own.deps, engine: deps.engine };
  await listGuestFilterOptions(ownDeps)(await own.mint({}), query, stays);
  await own.close();
  expect(asked).toHaveLength(4);
});

test('an answer says whether there are more values than it has', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `v${String(index).padStart(5, '0')}`);
  const guest = await world.mint({});
  const answerOf = async (count: number) => {
    const { asked, deps } = watched(async ({ limit }) => many(count).slice(0, limit ?? 0));
    const options = await listGuestFilterOptions(deps)(guest, query, stays);
    expect(asked.map(({ limit }) => limit)).toEqual([1001]);
    return options.length;
  };
  expect(await answerOf(1000)).toBe(1000);
  expect(await answerOf(100_000)).toBe(1001);
});

test('metrics with other restrictions get their own query, and no value is shown that no metric shows', async () => {
  const { asked, deps } = watched(world.deps.engine.options);
  const guest = await world.mint({ rlsSettings: [{ metricId: 'guarded', values: { shop: ['s2'] } }] });
  const options = await listGuestFilterOptions(deps)(guest, query, stays);
  expect(options.map(({ value }) => value)).toEqual(['CA', 'NV', 'NY']);
  expect(asked.map(({ conditions }) => conditions.length).sort()).toEqual([0, 1]);
});

/** Answers a question by its metric: the guarded metric has one more condition. */
const answering = (guarded: () => Promise<readonly string[]>, others: () => Promise<readonly string[]>) =>
  watched((question) => (question.conditions.length > 0 ? guarded() : others()));
const failing = (reason: Reason) => async () => {
  throw new Refusal('METRIC_QUERY_ERROR', `It failed: ${reason}.`, { reason });
};
const mintGuarded = () => world.mint({ rlsSettings: [{ metricId: 'guarded', values: { shop: ['s2'] } }] });

test.each(['path-missing', 'path-ambiguous', 'restriction-path-missing', 'restriction-path-ambiguous'] as const)(
  'a metric to which the filter cannot be applied (%s) adds no options, and removes none of the others',
  async (reason) => {
    const { signals, deps } = answering(failing(reason), async () => ['CA', 'NV']);
    const options = await listGuestFilterOptions(deps)(await mintGuarded(), query, stays);
    expect(options.map(({ value }) => value)).toEqual(['CA', 'NV']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  },
);

test('if no metric answers, the error says why', async () => {
  const { deps } = answering(failing('path-missing'), failing('path-ambiguous'));
  const guest = await mintGuarded();
  expect(await refusalOf(() => listGuestFilterOptions(deps)(guest, query, stays))).toMatchObject({
    code: 'METRIC_QUERY_ERROR',
    reason: expect.stringMatching(/^path-/),
  });
});

test.each(['datasource-failed', 'tenant-unknown', 'value-of-wrong-type', 'fan-out'] as const)(
  'an error that is not about the way to the table (%s) still fails',
  async (reason) => {
    const { deps } = answering(failing(reason), async () => ['CA']);
    const guest = await mintGuarded();
    expect(await refusalOf(() => listGuestFilterOptions(deps)(guest, query, stays))).toMatchObject({ reason });
  },
);

test('a path that is missing under another code still fails', async () => {
  const refuse = async () => {
    throw new Refusal('CLIENT_ID_ERROR', 'No client.', { reason: 'path-missing' });
  };
  const { deps } = answering(refuse, async () => ['CA']);
  const guest = await mintGuarded();
  expect(await refusalOf(() => listGuestFilterOptions(deps)(guest, query, stays))).toMatchObject({
    code: 'CLIENT_ID_ERROR',
  });
});

test('a metric of an unrelated table leaves the others their options, under their own restrictions', async () => {
  const island = metric('clients', { measures: [{ name: 'Count', aggregate: 'COUNT' }] });
  const { id } = await world.template('islands');
  const parts = { workspaceId: 'w', name: 'island', lineage: [], owner: null, ...hostMade };
  await world.deps.store.metrics.insert({ metricId: 'island', definition: island, ...parts });
  const place = (ids: readonly string[]) =>
    world.deps.store.dashboards.placeMetrics(
      id,
      ids.map((metricId) => ({ metricId, placement: 'METRIC' as const })),
      new Date(0),
    );
  await place(['islands-count', 'island']);
  await world.embed('islands');
  const guest = await world.mint({
    dashboardAppFilters: [{ dashboardId: 'islands', values: { State: 'NV' }, isShowOnUrl: true }],
  });
  const options = await listGuestFilterOptions(world.deps)(guest, { ...query, dashboardId: 'islands' }, stays);
  expect(options.map(({ value }) => value)).toEqual(['NV']);
});

/** The options of a filter of this type over these values. */
const optionsOf = async (dataType: 'number' | 'date', values: readonly Scalar[]): Promise<readonly Scalar[]> => {
  const dashboardId = `by-${dataType}`;
  const column = columnRef(dataType === 'number' ? 'sales.id' : 'visits.day');
  await world.template(dashboardId, { filters: [{ name: 'By', dataType, applyOnTables: [{ ...column, dataType }] }] });
  await world.embed(dashboardId);
  const { deps } = watched(async () => values);
  const asked = { dashboardId, filter: 'By' };
  return (await listGuestFilterOptions(deps)(await world.mint({}), asked, stays)).map(({ value }) => value);
};

test('options of a number filter are in the order of their numbers, and of a date filter in that of time', async () => {
  const numbers = [3, '9007199254740993', 1e300, 'NaN', '-Infinity', -2.5, '9007199254740992.5', 'Infinity'];
  expect(await optionsOf('number', numbers)).toEqual([
    '-Infinity',
    -2.5,
    3,
    '9007199254740992.5',
    '9007199254740993',
    1e300,
    'Infinity',
    'NaN',
  ]);
  const dates = [
    'Infinity',
    '2024-01-01',
    '+012024-01-01',
    '-000043-03-15',
    '-000100-01-01',
    '-Infinity',
    '0000-12-31',
  ];
  expect(await optionsOf('date', dates)).toEqual([
    '-Infinity',
    '-000100-01-01',
    '-000043-03-15',
    '0000-12-31',
    '2024-01-01',
    '+012024-01-01',
    'Infinity',
  ]);
});

test('the first that fails ends the others', async () => {
  const { signals, deps } = watched(async () => {
    throw new Refusal('METRIC_QUERY_ERROR', 'It failed.');
  });
  const guest = await world.mint({ rlsSettings: [{ metricId: 'guarded', values: { shop: ['s2'] } }] });
  expect(await refusalOf(() => listGuestFilterOptions(deps)(guest, query, stays))).toMatchObject({
    message: 'It failed.',
  });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

describe('options under the other filters (metabase#21080)', () => {
  const shopFilter = {
    name: 'Code',
    dataType: 'string',
    applyOnTables: [{ ...columnRef('sales.shop'), dataType: 'string' }],
  } as const;
  const states = ['CA', 'NV', 'NY', 'TX'];
  beforeAll(async () => {
    const { id } = await world.template('two', { filters: [stateFilter, shopFilter] });
    const byShop = metric('sales', {
      dimensions: [
        { name: 'Code', column: columnRef('sales.shop') },
        { name: 'State', column: columnRef('shops.state') },
      ],
      measures: [{ name: 'Count', aggregate: 'COUNT' }],
    });
    const parts = { workspaceId: 'w', name: 'by-shop', lineage: [], owner: null, ...hostMade };
    await world.deps.store.metrics.insert({ metricId: 'by-shop', definition: byShop, ...parts });
    const placed = ['two-count', 'by-shop'].map((metricId) => ({ metricId, placement: 'METRIC' as const }));
    await world.deps.store.dashboards.placeMetrics(id, placed, new Date(0));
    await world.embed('two');
  });

  type Choices = Readonly<Record<string, FilterValue>>;
  const optionsOf = async (guest: GuestCaller, filter: string, dashboardFilter?: Choices) => {
    const asked = { dashboardId: 'two', filter, dashboardFilter };
    return (await listGuestFilterOptions(world.deps)(guest, asked, stays)).map(({ value }) => value);
  };
  /** The values that a chart of the dashboard shows under these choices. */
  const shownOf = async (guest: GuestCaller, name: string, dashboardFilter: Choices) => {
    const asked = { metricId: 'by-shop', dashboardId: 'two', dashboardFilter };
    const { rows } = (await queryGuestMetric(world.deps)(guest, asked, stays)).answer;
    return [...new Set(rows.map((row) => row[name] ?? null))].filter((value) => value !== null).sort();
  };

  test('are the values that the charts show under them, and none that the token hides', async () => {
    const chosen = fc.uniqueArray(fc.constantFrom(...states), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(chosen, fc.option(chosen), fc.constantFrom('a', 'b'), async (values, enforced, clientId) => {
        const params =
          enforced === null
            ? {}
            : { dashboardAppFilters: [{ dashboardId: 'two', values: { State: enforced }, isShowOnUrl: true }] };
        const guest = await world.mint(params, { clientId });
        expect(await optionsOf(guest, 'Code', { State: values })).toEqual(
          await shownOf(guest, 'Code', { State: values }),
        );
        // The filter's own value narrows nothing, or no other value could be chosen.
        expect(await optionsOf(guest, 'State', { State: values })).toEqual(await shownOf(guest, 'State', {}));
        expect(await optionsOf(guest, 'Code', {})).toEqual(await optionsOf(guest, 'Code'));
      }),
      { numRuns: 30 },
    );
  });

  test('take filters that the dashboard shows, and refuse others', async () => {
    const guest = await world.mint({});
    const refused = { code: 'INVALID_REQUEST_BODY', reason: 'filter-unknown' };
    expect(await refusalOf(() => optionsOf(guest, 'Code', { Nothing: ['x'] }))).toMatchObject(refused);
    const hiding = await world.mint({ hideDashboardFilters: ['State'] });
    expect(await refusalOf(() => optionsOf(hiding, 'Code', { State: ['CA'] }))).toMatchObject(refused);
  });
});
