/** What is said of refused metrics from definitions alone is what happens when a guest asks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostMade, type MetricDefinition, type SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import { type NamedRestrictions, noNamedRestrictions } from '../../src/model/guest/refused-metrics.js';
import { Refusal } from '../../src/model/refusal.js';
import { listRefusedMetrics } from '../../src/service/dashboards/refused-metrics.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, stays } from '../engine/world.js';
import { createRandom } from '../fault/random.js';
import { createWorld, settings, stateFilter, type World } from './world.js';

const sqlMetric = (sql: string, names: readonly string[]): SqlDefinition => ({
  ...{ kind: 'sql', sql, chart: { type: 'table' } },
  dimensions: names.map((name) => ({ name })),
  ...{ measures: [], filters: [], rlsVariables: [], sort: [], limit: null },
});
const count = [{ name: 'Count', aggregate: 'COUNT' as const }];
const shop = { name: 'Shop', column: columnRef('sales.shop'), isOptional: true };
const ofShop = { name: 'shop', label: 'Shop', column: columnRef('sales.shop'), dataType: 'string' } as const;

const definitions: Readonly<Record<string, MetricDefinition>> = {
  sales: metric('sales', { measures: count, filters: [ofShop], rlsVariables: [shop] }),
  byState: metric('sales', { dimensions: [{ name: 'State', column: columnRef('shops.state') }], measures: count }),
  clients: metric('clients', { measures: count }),
  visits: metric('visits', { measures: count, dimensions: [{ name: 'Day', column: columnRef('visits.day') }] }),
  list: metric('sales', {
    chart: { type: 'table' },
    dimensions: ['id', 'shop'].map((name) => ({ name, column: columnRef(`sales.${name}`) })),
  }),
  fixed: metric('sales', {
    measures: count,
    filters: [{ ...ofShop, predicate: { kind: 'oneOf', values: ['s1'] } }],
  }),
  sql: sqlMetric('SELECT shop FROM sales', ['shop']),
  twice: sqlMetric('SELECT shop FROM sales WHERE id IN (SELECT max(id) FROM sales)', ['shop']),
  orphan: metric('shops', { measures: count, dimensions: [{ name: 'Name', column: columnRef('clients.name') }] }),
};

const dayFilter = {
  name: 'Day',
  dataType: 'date' as const,
  applyOnTables: [{ ...columnRef('visits.day'), dataType: 'date' as const }],
};

let world: World;
beforeAll(async () => {
  world = await createWorld();
  const shopFilter = {
    name: 'Shops',
    dataType: 'string' as const,
    defaultValue: 's1',
    applyOnTables: ['sales.shop', 'visits.shop'].map((path) => ({ ...columnRef(path), dataType: 'string' as const })),
  };
  const { id } = await world.template('board', { filters: [stateFilter, dayFilter, shopFilter] });
  const parts = { workspaceId: 'w', lineage: [], owner: null, ...hostMade };
  for (const [name, definition] of Object.entries(definitions))
    await world.deps.store.metrics.insert({ metricId: `m-${name}`, name, definition, ...parts });
  const placed = Object.keys(definitions).map((name) => ({ metricId: `m-${name}`, placement: 'METRIC' as const }));
  await world.deps.store.dashboards.placeMetrics(id, placed, new Date(0));
  await world.embed('board');
});
afterAll(() => world.close());

const target = { dashboardId: 'board', workspaceName: 'space' };

const explained = (restrictions: Partial<NamedRestrictions>, clientId?: string) =>
  listRefusedMetrics(world.deps)(
    world.api(),
    { ...target, clientId, accessSettings: settings, restrictions: { ...noNamedRestrictions, ...restrictions } },
    stays,
  );

const values = { State: 'NV', Day: '2023-11-30', Shops: 's2', Shop: 's1', shop: 's1' };
const valuesOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { ...values, Nope: 'x' }[name] ?? 'x']));

/** As the gateway asks for a token: each restriction of metrics for every metric that is not hidden. */
const mint = (given: NamedRestrictions): Promise<GuestCaller> => {
  const names = ['board-count', ...Object.keys(definitions)];
  const isHidden = (name: string) => given.hideMetrics.includes(name);
  const ids = names.flatMap((name) => (name === 'board-count' ? ['board-count'] : isHidden(name) ? [] : [`m-${name}`]));
  const each = (list: readonly string[]) =>
    list.length === 0 ? [] : ids.map((metricId) => ({ metricId, values: valuesOf(list) }));
  return world.mint({
    allowedEmbeds: ['board'],
    rlsSettings: each(given.rls),
    appFilters: each(given.appFilters),
    dashboardAppFilters:
      given.dashboardFilters.length === 0
        ? []
        : [{ dashboardId: 'board', values: valuesOf(given.dashboardFilters), isShowOnUrl: false }],
    hideDashboardFilters: given.hideDashboardFilters,
    hideDashboardMetrics: [{ dashboardId: 'board', metricIds: given.hideMetrics.map((name) => `m-${name}`) }].filter(
      ({ metricIds }) => metricIds.length > 0,
    ),
    hideColumns: given.hideColumns,
    maskColumns: given.maskColumns,
  });
};

const refused = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
};

const columns = ['sales.shop', 'sales.id', 'shops.state', 'visits.day', 'visits.shop', 'clients.name'].map(
  (path) => `main.${path}`,
);

test('a metric is explained as refused exactly where it is refused when asked', async () => {
  const random = createRandom(37);
  const chance = (of: number): boolean => random() < of;
  const some = <T>(all: readonly T[], of: number): readonly T[] => all.filter(() => chance(of));
  const restrictions = (): NamedRestrictions => ({
    dashboardFilters: some(['State', 'Day', 'Shops', ...(chance(0.1) ? ['Nope'] : [])], 0.3),
    rls: chance(0.1) ? ['Shop'] : [],
    appFilters: chance(0.1) ? ['shop'] : [],
    hideDashboardFilters: some(['State', 'Shops'], 0.2),
    hideMetrics: some(Object.keys(definitions), chance(0.3) ? 0.3 : 0),
    hideColumns: some([...columns, ...(chance(0.05) ? ['main.sales.nope'] : [])], 0.15),
    maskColumns: Object.fromEntries(some(columns, 0.15).map((name) => [name, chance(0.1) ? 'year' : 'null'])),
  });
  const seen = new Set<string>();
  for (let round = 0; round < 25; round += 1) {
    const given = restrictions();
    // The asked client is that of the token.
    const { metrics, refusal } = await explained(given, 'a');
    for (const one of metrics) if (one.refusal !== null) seen.add(`${one.refusal.refuses} ${one.refusal.cause}`);
    const isToken = refusal !== null || metrics.some((one) => one.refusal?.refuses === 'token');
    const says = JSON.stringify({ given, metrics, refusal }, null, 1);
    const token = mint(given);
    expect(await refused(token), says).toBe(isToken);
    // Of a template, no client has to be known.
    if (round % 4 === 0) expect(await explained(given)).toEqual({ metrics, refusal });
    if (isToken) continue;
    const guest = await token;
    for (const { metricId, refusal: of } of metrics) {
      const asked = queryGuestMetric(world.deps)(guest, { dashboardId: 'board', metricId }, stays);
      expect(await refused(asked), `${metricId} ${says}`).toBe(of !== null);
    }
  }
  expect([...seen].toSorted()).toEqual([
    'metric column',
    'metric definition',
    'metric hidden',
    'metric restriction',
    'token restriction',
  ]);
}, 120_000);

const of = async (name: string, restrictions: Partial<NamedRestrictions>) =>
  (await explained(restrictions)).metrics.find((one) => one.name === name)?.refusal;

test('the cause has the restriction, the column and the way, and no value', async () => {
  expect(await of('clients', { dashboardFilters: ['State'] })).toEqual({
    ...{ refuses: 'metric', cause: 'restriction', reason: 'restriction-path-missing' },
    by: [{ field: 'dashboardFilters', name: 'State' }],
    message: expect.stringMatching(/main\.shops\.state.*No relationship leads from main\.clients to main\.shops/),
  });
  expect(await of('fixed', { hideColumns: ['main.sales.id', 'main.sales.shop'] })).toMatchObject({
    ...{ cause: 'column', by: [{ field: 'hideColumns', name: 'main.sales.shop' }] },
  });
  expect(await of('visits', { hideMetrics: ['visits'] })).toMatchObject({
    ...{ cause: 'hidden', by: [{ field: 'hideMetrics', name: 'visits' }] },
  });
  expect(await of('visits', { appFilters: ['shop'] })).toMatchObject({ refuses: 'token', cause: 'restriction' });
  expect(await of('sales', {})).toBeNull();
});

test('a dashboard of another client is not explained', async () => {
  await world.clone('board', 'of-b', 'b');
  const asked = { dashboardId: 'of-b', workspaceName: 'space', clientId: 'a', restrictions: noNamedRestrictions };
  await expect(listRefusedMetrics(world.deps)(world.api(), asked, stays)).rejects.toMatchObject({
    code: 'INVALID_DASHBOARD_ID',
  });
});
