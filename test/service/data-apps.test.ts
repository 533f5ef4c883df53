/** A key or token of another data app, for the same client and organization, reaches nothing of this data app. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { whole } from '../../src/model/slices.js';
import { listEmbedMetrics, listEmbeds } from '../../src/service/embeds/embeds.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import { getGuestDashboard, getGuestMetric } from '../../src/service/guest/reads.js';
import { listDashboards, listMetrics } from '../../src/service/workspaces/workspaces.js';
import { refusalOf, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
let metricId: string;
let metricEmbed: string;
const client = 'a';
beforeAll(async () => {
  world = await createWorld();
  await world.template('shared');
  metricId = await world.clone('shared', 'shared--a', client);
  metricEmbed = await world.embed('shared--a', metricId);
});
afterAll(() => world.close());

test('the tokens of another data app open none of the embeds, dashboards and metrics, though the client is the same', async () => {
  const guest = await world.mint({}, {}, 'other');
  const reads = [
    () => getGuestDashboard(world.deps)(guest, { dashboardId: 'shared--a' }),
    () => getGuestMetric(world.deps)(guest, { metricId: metricEmbed }),
    () => getGuestMetric(world.deps)(guest, { metricId }),
    () => world.count(guest, metricId, 'shared--a'),
    () => world.count(guest, metricEmbed),
  ];
  for (const read of reads) expect(await refusalOf(read)).toMatchObject({ code: 'UNAUTHORIZED' });
  expect(await world.count(await world.mint(), metricId, 'shared--a')).toBe(5);
});

test.each([
  ['DASHBOARD_PARAM_ERROR', () => ({ allowedEmbeds: ['shared--a'] })],
  ['DASHBOARD_PARAM_ERROR', () => ({ allowedEmbeds: [metricEmbed] })],
  ['DASHBOARD_PARAM_ERROR', () => ({ hideDashboardMetrics: [{ dashboardId: 'shared--a', metricIds: [] }] })],
  ['APP_FILTER_PARAM_ERROR', () => ({ appFilters: [{ metricId, values: {} }] })],
  ['RLS_SETTINGS_PARAM_ERROR', () => ({ rlsSettings: [{ metricId, values: {} }] })],
  [
    'APP_FILTER_PARAM_ERROR',
    () => ({ dashboardAppFilters: [{ dashboardId: 'shared--a', values: {}, isShowOnUrl: true }] }),
  ],
])("the key of another data app cannot name this one's content in a token: %s", async (code, params) => {
  expect(await refusalOf(() => world.mint(params(), {}, 'other'))).toMatchObject({ code });
});

test('the key of another data app lists and queries nothing of this one', async () => {
  const other = world.api('other');
  const all = { isPagination: false, pageNumber: 1, workspaceName: 'space' };
  expect(await whole(await listEmbeds(world.deps)(other, all))).toEqual([]);
  expect((await whole(await listDashboards(world.deps)(other, all))).map(({ owner }) => owner)).toEqual([null]);
  expect((await whole(await listMetrics(world.deps)(other, all))).map(({ owner }) => owner)).toEqual([null]);
  const asked = { embedId: 'shared--a', clientId: client, metricId };
  expect(await refusalOf(() => listEmbedMetrics(world.deps)(other, asked))).toMatchObject({ code: 'INVALID_EMBED_ID' });
  expect(await refusalOf(() => queryMetric(world.deps)(other, asked, stays))).toMatchObject({
    code: 'INVALID_EMBED_ID',
  });
});
