/** Metrics that were placed on a board after a token was minted or the board was cloned. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostMade, type Owner } from '../../src/model/dashboard/metric.js';
import { createWorld, salesCount, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const place = async (board: string, metricId: string, owner: Owner | null, definition = salesCount): Promise<void> => {
  const { store, deps } = world;
  await store.metrics.insert({
    metricId,
    workspaceId: 'w',
    name: metricId,
    definition,
    lineage: [],
    owner,
    ...hostMade,
  });
  const there = (await store.dashboards.listMetrics(`board-${board}`)).map(({ metric }) => metric.metricId);
  const later = new Date(deps.clock.now().getTime() + 1);
  const all = [...there, metricId].map((id) => ({ metricId: id, placement: 'METRIC' as const }));
  await store.dashboards.placeMetrics(`board-${board}`, all, later);
};

test('a token with restrictions does not open a metric that was placed later, since nothing restricts it', async () => {
  await world.template('growing');
  await world.embed('growing');
  const restricted = await world.mint({ appFilters: [{ metricId: 'growing-count', values: { shop: 's1' } }] });
  const free = await world.mint();
  await place('growing', 'growing-later', null);
  expect(Number(await world.count(restricted, 'growing-count', 'growing'))).toBe(2);
  await expect(world.count(restricted, 'growing-later', 'growing')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(Number(await world.count(free, 'growing-later', 'growing'))).toBe(5);
});

test('what another client has on a board of the organization is not in a clone of it', async () => {
  await world.template('shared');
  await place('shared', 'shared-of-b', { dataAppId: 'id-app', clientId: 'b' });
  await world.clone('shared', 'shared--a', 'a');
  await world.clone('shared', 'shared--b', 'b');
  const namesOn = async (id: string) => {
    const dashboard = await world.store.dashboards.findByExternalId('id-app', id);
    return (await world.store.dashboards.listMetrics(dashboard?.id ?? '')).map(({ metric }) => metric.name).toSorted();
  };
  expect(await namesOn('shared--a')).toEqual(['Sales']);
  expect(await namesOn('shared--b')).toEqual(['Sales', 'shared-of-b']);
});
