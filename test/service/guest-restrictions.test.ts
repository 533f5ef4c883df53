/** A restriction that does not fit a metric: the guest learns nothing of it, and the log says all that an operator needs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostMade } from '../../src/model/dashboard/metric.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import { RestrictionMisfit } from '../../src/model/guest/restriction-misfit.js';
import { Refusal } from '../../src/model/refusal.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { metric, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
let guest: GuestCaller;
beforeAll(async () => {
  world = await createWorld();
  const island = metric('clients', { measures: [{ name: 'Count', aggregate: 'COUNT' }] });
  const { id } = await world.template('islands');
  const parts = { workspaceId: 'w', name: 'All clients', lineage: [], owner: null, ...hostMade };
  await world.deps.store.metrics.insert({ metricId: 'island', definition: island, ...parts });
  const placed = ['islands-count', 'island'].map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  await world.deps.store.dashboards.placeMetrics(id, placed, new Date(0));
  await world.embed('islands');
  guest = await world.mint({
    dashboardAppFilters: [{ dashboardId: 'islands', values: { State: 'NV' }, isShowOnUrl: true }],
  });
});
afterAll(() => world.close());

const asked = { dashboardId: 'islands', metricId: 'island' };

test('a query under a restriction without a way names metric, filter and tables in its cause alone', async () => {
  const refusal: unknown = await queryGuestMetric(world.deps)(guest, asked, stays).catch((error: unknown) => error);
  if (!(refusal instanceof Refusal) || !(refusal.cause instanceof RestrictionMisfit)) throw refusal;
  expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'restriction-path-missing' });
  expect(refusal.message).not.toMatch(/State|clients|sales|island|NV/);
  const { message } = refusal.cause;
  expect(message).toContain('Metric "All clients" (island) cannot be read under the restriction "State" on ');
  expect(message).toMatch(/No relationship leads from main\.clients to main\.\w+; add one to the datamart\.$/);
  expect(message).not.toContain('NV');
});
