import { expect, test } from 'vitest';
import { createMetricLists } from '../../src/gateway/token/metric-lists.js';
import { createClient } from '../../src/platform/http/interface/client.js';

test("restrictions are applied only to metrics of the host: a guest's metric has no variables, and would make the mint fail", async () => {
  const data = [
    { name: 'Flights a day', metricId: 'm1' },
    { name: 'Flights a day', metricId: 'made-by-a-guest', isGuestMade: true },
  ];
  const upstream = createClient(async () => ({ status: 200, body: { data, error: null } }), 'key');
  const list = createMetricLists({ upstream, clock: { now: () => new Date(0) } });
  const expected = { metrics: [{ name: 'Flights a day', metricId: 'm1' }], isCurrent: true };
  expect(await list('board', 'LAX')).toEqual(expected);
  expect(await list('board', 'LAX')).toEqual(expected);
});
