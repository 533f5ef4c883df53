/** The conditions that the host application wrote into a metric stay, whatever its guests change of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestDefinition } from '../../src/domain/guest-metric.js';
import { updateEmbed } from '../../src/usecases/embed-settings.js';
import { updateGuestMetric } from '../../src/usecases/guest-metrics.js';
import { previewGuestMetric } from '../../src/usecases/guest-preview.js';
import { columnRef, condition, metric, stays, tableRef } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
let metricId: string;
const where = condition('visits.day', { kind: 'range', from: '2023-11-01', to: '2023-12-01', toIsExclusive: true });
const count = [{ name: 'Sales', aggregate: 'COUNT' as const }];

beforeAll(async () => {
  world = await createWorld();
  await world.template('board', {}, metric('visits', { chart: { type: 'singleValue' }, measures: count, where }));
  metricId = await world.clone('board', 'one');
  await updateEmbed(world.deps)(world.api(), { embedId: 'one', accessSettings: { isAllowMetricUpdate: true } });
});
afterAll(() => world.close());

const preview = async (definition: GuestDefinition) => {
  const command = { dashboardId: 'one', metricId, definition };
  const { answer } = await previewGuestMetric(world.deps)(await world.mint(), command, stays);
  return answer.rows[0]?.Sales;
};
const change = async (definition: GuestDefinition) =>
  updateGuestMetric(world.deps)(await world.mint(), { metricId, definition });
const stored = async () => (await world.store.metrics.findById(metricId))?.definition;

test('they hold whatever else is changed, a second time too', async () => {
  expect(await preview({})).toBe(3);
  expect(await preview({ from: tableRef('shops') })).toBe(2);
  await change({ from: tableRef('shops') });
  await change({ from: tableRef('visits'), having: undefined });
  expect(await stored()).toMatchObject({ where, from: tableRef('visits') });
  expect(await world.count(await world.mint(), metricId, 'one')).toBe(3);
});

test('another where is refused, by preview and by change, also after an earlier change', async () => {
  const loose = { any: [where, condition('visits.day', { kind: 'isNotNull' })] };
  const refusal = { code: 'INVALID_REQUEST_BODY', reason: 'where-of-the-host' };
  await expect(preview({ where: loose })).rejects.toMatchObject(refusal);
  await expect(change({ where: loose })).rejects.toMatchObject(refusal);
  await change({ measures: count });
  await expect(change({ where: loose })).rejects.toMatchObject(refusal);
  expect(await stored()).toMatchObject({ where });
});

test('a comparison would show what lies before the time that they leave, and is refused', async () => {
  const comparison = { column: columnRef('visits.day'), grain: 'month', periods: 1 } as const;
  const refusal = { code: 'INVALID_REQUEST_BODY', reason: 'comparison-of-the-host' };
  await expect(preview({ comparison })).rejects.toMatchObject(refusal);
  await expect(change({ comparison })).rejects.toMatchObject(refusal);
});

test("the host's own comparison does not begin to apply by a change", async () => {
  const comparison = { column: columnRef('visits.day'), grain: 'month', periods: 1 } as const;
  const dimensions = [{ name: 'Day', column: columnRef('visits.day') }];
  const perDay = metric('visits', { dimensions, measures: count, where, comparison });
  await world.template('grouped', {}, perDay);
  const id = await world.clone('grouped', 'two');
  await updateEmbed(world.deps)(world.api(), { embedId: 'two', accessSettings: { isAllowMetricUpdate: true } });
  const token = await world.mint();
  const ask = (definition: GuestDefinition) =>
    previewGuestMetric(world.deps)(token, { dashboardId: 'two', metricId: id, definition }, stays);
  expect((await ask({ measures: count })).answer).not.toHaveProperty('comparisonValue');
  const refusal = { code: 'INVALID_REQUEST_BODY', reason: 'comparison-of-the-host' };
  await expect(ask({ dimensions: [] })).rejects.toMatchObject(refusal);
  const change = { metricId: id, definition: { dimensions: [] } };
  await expect(updateGuestMetric(world.deps)(token, change)).rejects.toMatchObject(refusal);
});
