/** What a token cannot reach, whichever request it sends. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateEmbed } from '../../src/service/embeds/settings.js';
import { listGuestFields } from '../../src/service/guest/fields.js';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { previewGuestMetric } from '../../src/service/guest/preview.js';
import { createWorld, salesCount, type World } from './world.js';

/** The signal of a caller that never disconnects. */
const going = new AbortController().signal;

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('open');
  await world.template('closed');
  await world.embed('open');
  await world.embed('closed');
  await world.clone('open', 'open--b', 'b');
});
afterAll(() => world.close());

const unauthorized = (reason: string) => ({ code: 'UNAUTHORIZED', reason });

test('a dashboard that its allowedEmbeds leave out', async () => {
  const guest = await world.mint({ allowedEmbeds: ['open'] });
  expect(Number(await world.count(guest, 'open-count', 'open'))).toBe(5);
  await expect(world.count(guest, 'closed-count', 'closed')).rejects.toMatchObject(unauthorized('embed-not-allowed'));
});

test("another client's dashboard, though it is a copy of one that is everybody's", async () => {
  const [metric] = await world.store.dashboards.listMetrics(
    (await world.store.dashboards.findByExternalId('id-app', 'open--b'))?.id ?? '',
  );
  const metricId = metric?.metric.metricId ?? '';
  await expect(world.count(await world.mint(), metricId, 'open--b')).rejects.toMatchObject(
    unauthorized('dashboard-of-another-client'),
  );
  expect(Number(await world.count(await world.mint({}, { clientId: 'b' }), metricId, 'open--b'))).toBe(1);
});

test('a metric through a dashboard that does not hold it', async () => {
  await expect(world.count(await world.mint(), 'closed-count', 'open')).rejects.toMatchObject(
    unauthorized('metric-not-on-dashboard'),
  );
});

test('options of a filter beyond what the token enforces on the same dashboard', async () => {
  const restricted = { dashboardAppFilters: [{ dashboardId: 'open', values: { State: 'CA' }, isShowOnUrl: false }] };
  const optionsOf = async (params: object) => {
    const asked = { dashboardId: 'open', filter: 'State' };
    const options = await listGuestFilterOptions(world.deps)(await world.mint(params), asked, going);
    return options.map(({ value }) => value);
  };
  expect(await optionsOf({})).toEqual(['CA', 'NV', 'NY']);
  expect(await optionsOf(restricted)).toEqual(['CA']);
});

test('a metric that it would define beside those that its restrictions name', async () => {
  await updateEmbed(world.deps)(world.api(), { embedId: 'open--b', accessSettings: { isAllowMetricCreation: true } });
  const [placed] = await world.store.dashboards.listMetrics(
    (await world.store.dashboards.findByExternalId('id-app', 'open--b'))?.id ?? '',
  );
  const metricId = placed?.metric.metricId ?? '';
  const preview = async (params: object) =>
    previewGuestMetric(world.deps)(
      await world.mint(params, { clientId: 'b' }),
      {
        dashboardId: 'open--b',
        definition: { chart: salesCount.chart, from: world.sales, measures: [{ name: 'Sales', aggregate: 'COUNT' }] },
      },
      going,
    );
  expect((await preview({})).answer.rows).toEqual([{ Sales: 1 }]);
  await expect(preview({ appFilters: [{ metricId, values: { shop: 's1' } }] })).rejects.toMatchObject(
    unauthorized('restricted-token-defines'),
  );
});

test('fields to build metrics on, unless token and embed let the guest create them by drag and drop', async () => {
  const change = (parts: object) => updateEmbed(world.deps)(world.api(), { embedId: 'open--b', accessSettings: parts });
  const tables = async (permissions: object, params: object = {}) => {
    const caller = await world.mint(params, { clientId: 'b', permissions });
    const fields = await listGuestFields(world.deps)(caller, { dashboardId: 'open--b' }, going);
    return fields.tables.map(({ tableName }) => tableName);
  };
  const closed = unauthorized('permission-missing');
  await change({ isAllowMetricCreation: false });
  await expect(tables({ isDisableMetricCreation: false })).rejects.toMatchObject(closed);
  await change({ isAllowMetricCreation: true, metricCreationMode: 'CHAT' });
  await expect(tables({})).rejects.toMatchObject(closed);
  await change({ metricCreationMode: 'DRAG_DROP' });
  await expect(tables({ isDisableMetricCreation: true })).rejects.toMatchObject(closed);
  expect(await tables({})).toEqual(['clients', 'sales', 'shops', 'visits']);
  const dashboardAppFilters = [{ dashboardId: 'open--b', values: { State: 'CA' }, isShowOnUrl: false }];
  expect(await tables({}, { dashboardAppFilters })).toEqual(['sales', 'shops', 'visits']);
});
