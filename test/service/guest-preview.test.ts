/** A change of a metric can be previewed only where the guest may read that metric. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateEmbed } from '../../src/service/embeds/settings.js';
import { archiveGuestMetric } from '../../src/service/guest/metrics.js';
import { previewGuestMetric } from '../../src/service/guest/preview.js';
import { stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
let metricId: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  metricId = await world.clone('board', 'one');
  await world.clone('board', 'two');
  const accessSettings = { isAllowMetricUpdate: true, isAllowMetricDeletion: true };
  for (const embedId of ['one', 'two']) await updateEmbed(world.deps)(world.api(), { embedId, accessSettings });
});
afterAll(() => world.close());

/** Mints a token that is restricted to California on one board and unrestricted on the other. */
const mint = () =>
  world.mint({ dashboardAppFilters: [{ dashboardId: 'one', values: { State: 'CA' }, isShowOnUrl: true }] });

const preview = async (dashboardId: string) => {
  const { answer } = await previewGuestMetric(world.deps)(
    await mint(),
    { dashboardId, metricId, definition: {} },
    stays,
  );
  return Number(answer.rows[0]?.Sales);
};

test('a change of a metric of one board is not previewed through another, whose filters would bind it', async () => {
  expect(await preview('one')).toBe(2);
  await expect(preview('two')).rejects.toMatchObject({ code: 'UNAUTHORIZED', reason: 'metric-not-on-dashboard' });
});

test('a change of a metric that is archived is not previewed', async () => {
  await archiveGuestMetric(world.deps)(await mint(), { metricId, isArchived: true });
  await expect(preview('one')).rejects.toMatchObject({ code: 'UNAUTHORIZED', reason: 'metric-not-on-dashboard' });
});

test('a preview ends when its caller asks for another one and aborts the first', async () => {
  await updateEmbed(world.deps)(world.api(), { embedId: 'two', accessSettings: { isAllowMetricCreation: true } });
  const superseded = new AbortController();
  const guest = await world.mint();
  const measures = [{ name: 'Sales', aggregate: 'COUNT' as const }];
  const asked = { dashboardId: 'two', definition: { chart: { type: 'table' as const }, from: world.sales, measures } };
  const first = previewGuestMetric(world.deps)(guest, asked, superseded.signal);
  superseded.abort();
  await expect(first).rejects.toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'caller-gone' });
});
