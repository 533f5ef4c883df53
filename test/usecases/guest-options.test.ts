/** The options of a filter are asked once of metrics that read the same rows, and apart of those that do not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostMade, type VisualDefinition } from '../../src/domain/metric.js';
import type { Engine, OptionsQuestion } from '../../src/domain/ports.js';
import { Refusal } from '../../src/domain/refusal.js';
import { listGuestFilterOptions } from '../../src/usecases/guest-options.js';
import { columnRef, metric, refusalOf, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

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

/** The engine's questions, and what became of them. */
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

test('once, where nothing that decides the rows differs', async () => {
  const { asked, deps } = watched(world.deps.engine.options);
  const options = await listGuestFilterOptions(deps)(await world.mint({}), query, stays);
  expect(options.map(({ value }) => value)).toEqual(['CA', 'NV', 'NY']);
  expect(asked).toHaveLength(1);
});

test('apart, where a restriction differs; and nothing is shown that no metric shows', async () => {
  const { asked, deps } = watched(world.deps.engine.options);
  const guest = await world.mint({ rlsSettings: [{ metricId: 'guarded', values: { shop: ['s2'] } }] });
  const options = await listGuestFilterOptions(deps)(guest, query, stays);
  expect(options.map(({ value }) => value)).toEqual(['CA', 'NV', 'NY']);
  expect(asked.map(({ conditions }) => conditions.length).sort()).toEqual([0, 1]);
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
