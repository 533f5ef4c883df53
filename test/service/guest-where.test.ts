/** Conditions that the host wrote into a metric stay, whatever a guest changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FilterValues } from '../../src/model/guest/grant.js';
import type { GuestDefinition } from '../../src/model/guest/metric.js';
import { updateEmbed } from '../../src/service/embeds/settings.js';
import { updateGuestMetric } from '../../src/service/guest/metrics.js';
import { previewGuestMetric } from '../../src/service/guest/preview.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
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

test('conditions of the host stay through any other change, also through a second one', async () => {
  expect(await preview({})).toBe(3);
  expect(await preview({ from: tableRef('shops') })).toBe(2);
  await change({ from: tableRef('shops') });
  await change({ from: tableRef('visits'), having: undefined });
  expect(await stored()).toMatchObject({ where, from: tableRef('visits') });
  expect(await world.count(await world.mint(), metricId, 'one')).toBe(3);
});

test('another `where` is refused, by preview and by change, also after an earlier change', async () => {
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

test('a row that they exclude matches no filter of the guest, whatever table the metric starts from', async () => {
  const tables = [{ ...columnRef('visits.day'), dataType: 'date' as const }];
  const filters = [{ name: 'Day', dataType: 'date' as const, applyOnTables: tables }];
  const perShop: GuestDefinition = {
    from: tableRef('shops'),
    dimensions: [{ name: 'k', column: columnRef('shops.code') }],
  };
  const authors = { name: 'day', label: 'Authored', column: columnRef('visits.day'), dataType: 'date' as const };
  const made = metric('visits', { measures: count, where: { all: [where] } });
  const others = metric('visits', { measures: count, filters: [{ ...authors, predicate: where.predicate }] });
  for (const [id, definition] of Object.entries({ where: made, filter: others })) {
    await world.template(`left-${id}`, { filters }, definition);
    const own = await world.clone(`left-${id}`, `left-out-${id}`);
    const [dashboardId, accessSettings] = [`left-out-${id}`, { isAllowMetricUpdate: true }];
    await updateEmbed(world.deps)(world.api(), { embedId: dashboardId, accessSettings });
    const token = await world.mint();
    const shops = async (dashboardFilter: FilterValues, asked = perShop) => {
      const command = { dashboardId, metricId: own, definition: asked, dashboardFilter };
      const { answer } = await previewGuestMetric(world.deps)(token, command, stays);
      return answer.rows.map(({ k }) => k);
    };
    expect(await shops({})).toEqual(['s1', 's2']);
    // The visit in October exists, but the condition excludes it.
    expect(await shops({ Day: '2023-10-31' })).toEqual([]);
    expect(await shops({ Day: '2023-11-30' })).toEqual(['s2']);
    await updateGuestMetric(world.deps)(token, { metricId: own, definition: perShop });
    const query = { metricId: own, dashboardId, dashboardFilter: { Day: '2023-10-31' } };
    expect((await queryGuestMetric(world.deps)(token, query, stays)).answer.rows).toEqual([]);
  }
});

test("the host's own comparison still works after a change", async () => {
  const comparison = { column: columnRef('visits.day'), grain: 'month', periods: 1 } as const;
  await world.template('single', {}, metric('visits', { measures: count, where, comparison }));
  const id = await world.clone('single', 'three');
  await updateEmbed(world.deps)(world.api(), { embedId: 'three', accessSettings: { isAllowMetricUpdate: true } });
  const command = { dashboardId: 'three', metricId: id, definition: { measures: count } };
  const { answer } = await previewGuestMetric(world.deps)(await world.mint(), command, stays);
  expect(answer).toMatchObject({ rows: [{ Sales: 3 }], comparisonValue: 1 });
});
