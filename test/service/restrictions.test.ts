/** A restriction in a token applies to every read of the rows it is for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import type { Click } from '../../src/model/query/drill.js';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { getGuestDashboard, queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, refusalOf, stays } from '../engine/world.js';
import { createWorld, stateFilter, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const state = (dashboardId: string, value: string | readonly string[]) => ({
  dashboardAppFilters: [{ dashboardId, values: { State: value }, isShowOnUrl: false }],
});
const unauthorized = expect.objectContaining({ code: 'UNAUTHORIZED' });

describe('a filter of one dashboard', () => {
  test('holds through every embed of that dashboard, by whichever id it was given', async () => {
    await world.template('many');
    const [first, second] = [await world.embed('many'), await world.embed('many')];
    for (const named of ['many', first, second]) {
      const guest = await world.mint(state(named, 'CA'));
      for (const through of ['many', first, second]) {
        expect(await world.count(guest, 'many-count', through), `${named} through ${through}`).toBe(2);
      }
    }
    expect(await world.count(await world.mint(), 'many-count', second)).toBe(5);
  });

  test('holds in metric embeds, by the ids of metric and embed, on each dashboard that holds the metric', async () => {
    await world.template('held');
    const other = await world.template('holder');
    await world.store.dashboards.placeMetrics(
      other.id,
      [{ metricId: 'held-count', placement: 'GALLERY' }],
      new Date(0),
    );
    const id = await world.embed('held', 'held-count');
    await world.embed('holder');
    const whole = await world.mint({ allowedEmbeds: [id] });
    expect([await world.count(whole, id), await world.count(whole, 'held-count')]).toEqual([5, 5]);
    for (const named of ['held', 'holder', id]) {
      const guest = await world.mint({ allowedEmbeds: [id], ...state(named, ['CA', 'NV']) });
      expect(await world.count(guest, 'held-count'), named).toBe(3);
      expect(await refusalOf(() => world.count(guest, 'held-count', 'held'))).toEqual(unauthorized);
    }
    const both = {
      dashboardAppFilters: [
        ...state('held', ['CA', 'NV']).dashboardAppFilters,
        ...state('holder', ['NV']).dashboardAppFilters,
      ],
    };
    expect(await world.count(await world.mint(both), 'held-count')).toBe(1);
  });
});

describe('a setting that names a template', () => {
  test('applies to every copy of it: an unlisted copy is not shown without the filter', async () => {
    await world.template('source');
    const metricId = await world.clone('source', 'source--a');
    const guest = await world.mint(state('source', 'CA'));
    expect(await world.count(guest, metricId, 'source--a')).toBe(2);
    expect(
      await listGuestFilterOptions(world.deps)(guest, { dashboardId: 'source--a', filter: 'State' }, stays),
    ).toEqual([{ label: 'CA', value: 'CA' }]);
    const other = await world.mint(state('many', 'CA'));
    expect(await world.count(other, metricId, 'source--a')).toBe(5);
  });

  test('hides the copies of its metrics', async () => {
    await world.template('hiding');
    const metricId = await world.clone('hiding', 'hiding--a');
    const embedId = await world.embed('hiding--a', metricId);
    for (const dashboardId of ['hiding', 'hiding--a', embedId]) {
      const guest = await world.mint({ hideDashboardMetrics: [{ dashboardId, metricIds: ['hiding-count'] }] });
      expect(await refusalOf(() => world.count(guest, metricId, 'hiding--a')), dashboardId).toEqual(unauthorized);
      expect(await refusalOf(() => world.count(guest, embedId)), dashboardId).toEqual(unauthorized);
      const view = await getGuestDashboard(world.deps)(guest, { dashboardId: 'hiding--a' });
      expect([view.metrics, view.layout]).toEqual([[], []]);
    }
  });

  test('binds app filters to the copies of its metric, in metric embeds too', async () => {
    await world.template('apps');
    const metricId = await world.clone('apps', 'apps--a');
    const embedId = await world.embed('apps--a', metricId);
    const guest = await world.mint({ appFilters: [{ metricId: 'apps-count', values: { SHOP: 's1' } }] });
    expect([await world.count(guest, metricId, 'apps--a'), await world.count(guest, embedId)]).toEqual([2, 2]);
  });
});

test('a click does not lead past a filter that would restrict the same metric, had it been made so', async () => {
  const filters: DashboardFilter[] = [
    {
      name: 'Place',
      dataType: 'string',
      applyOnTables: ['sales.shop', 'shops.state'].map((path) => ({ ...columnRef(path), dataType: 'string' })),
    },
  ];
  const byShop = { name: 'Shop', column: columnRef('sales.shop') };
  const byState = { name: 'State', column: columnRef('shops.state') };
  const measures = [{ name: 'Sales', aggregate: 'COUNT' as const }];
  await world.template('path', { filters }, metric('sales', { dimensions: [byShop], drillPath: [byState], measures }));
  await world.template('direct', { filters }, metric('sales', { dimensions: [byState], measures }));
  const ask = async (dashboardId: string, values: readonly string[], drill: readonly Click[]) => {
    const dashboardAppFilters = [{ dashboardId, values: { Place: values }, isShowOnUrl: false }];
    const query = { metricId: `${dashboardId}-count`, dashboardId, drill };
    return (await queryGuestMetric(world.deps)(await world.mint({ dashboardAppFilters }), query, stays)).answer.rows;
  };
  for (const id of ['path', 'direct']) await world.embed(id);
  const click = [{ columnName: 'Shop', value: 's1' }];
  expect(await ask('path', ['s1', 'NV'], [])).toEqual([{ Shop: 's1', Sales: 2 }]);
  expect([await ask('path', ['s1', 'NV'], click), await ask('direct', ['s1', 'NV'], [])]).toEqual([[], []]);
  expect(await ask('path', ['s1', 'CA'], click)).toEqual([{ State: 'CA', Sales: 2 }]);
});

describe('a hidden filter', () => {
  test('keeps its default, which the guest can no longer change', async () => {
    await world.template('quiet', { filters: [{ ...stateFilter, defaultValue: 'CA' }] });
    await world.embed('quiet');
    const open = await world.mint();
    const hidden = await world.mint({ hideDashboardFilters: ['sTATE'] });
    expect(await world.count(open, 'quiet-count', 'quiet', { dashboardFilter: { State: ['NV', 'CA'] } })).toBe(3);
    expect(await world.count(hidden, 'quiet-count', 'quiet')).toBe(2);
    const set = () => world.count(hidden, 'quiet-count', 'quiet', { dashboardFilter: { State: ['NV', 'CA'] } });
    expect(await refusalOf(set)).toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  });

  test('has the value that the token gives it, in place of its default', async () => {
    const guest = await world.mint({ hideDashboardFilters: ['State'], ...state('quiet', 'NV') });
    expect(await world.count(guest, 'quiet-count', 'quiet')).toBe(1);
  });
});

describe('one filter written in two spellings', () => {
  test('has both values: neither is dropped', async () => {
    const guest = await world.mint();
    const both = { dashboardFilter: { state: ['CA', 'NV'], STATE: ['NV', 'NY'] } };
    expect(await world.count(guest, 'many-count', 'many', both)).toBe(1);
    const metricFilter = { shop: ['s1', 's2'], SHOP: 's2' };
    expect(await world.count(guest, 'many-count', 'many', { metricFilter })).toBe(1);
  });
});

describe('a metric that left its dashboard', () => {
  test('is not read through its embed any more: the restrictions of that dashboard would be lost', async () => {
    await world.template('left');
    const embedId = await world.embed('left', 'left-count');
    const guest = await world.mint({ allowedEmbeds: [embedId], ...state('left', 'CA') });
    expect(await world.count(guest, embedId)).toBe(2);
    await world.store.dashboards.placeMetrics('board-left', [], new Date(0));
    expect(await refusalOf(() => world.count(guest, embedId))).toEqual(unauthorized);
  });
});

test('a metric that is hidden on one board that holds it is not open by its own embed, made from another', async () => {
  await world.template('near');
  await world.template('far');
  const all = ['far-count', 'near-count'].map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  await world.store.dashboards.placeMetrics('board-far', all, world.deps.clock.now());
  await world.embed('far');
  const embedId = await world.embed('near', 'near-count');
  expect(Number(await world.count(await world.mint(), embedId))).toBe(5);
  const hiding = await world.mint({ hideDashboardMetrics: [{ dashboardId: 'far', metricIds: ['near-count'] }] });
  await expect(world.count(hiding, embedId)).rejects.toMatchObject({ code: 'UNAUTHORIZED', reason: 'metric-hidden' });
});
