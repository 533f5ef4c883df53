/** Metrics that are tried for a dashboard's client read the rows of that client alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { tryDashboardContent } from '../../src/service/dashboards/try-content.js';
import { stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  for (const clientId of ['a', 'b']) await world.clone('board', `board-${clientId}`, clientId);
});
afterAll(() => world.close());

/** Fails on any row of client b. */
const failsForB: MetricDefinition = {
  kind: 'sql',
  chart: { type: 'table' },
  sql: "SELECT CAST(CASE WHEN client = 'b' THEN 'x' ELSE '1' END AS INTEGER) AS n FROM sales",
  dimensions: [{ name: 'n' }],
  measures: [],
  filters: [],
  rlsVariables: [],
  sort: [],
  limit: null,
};

const outcomeFor = async (clientId: string) => {
  const metric = { metricId: 'm', name: 'M', lineage: [], placement: 'METRIC' as const, definition: failsForB };
  const content = { layout: [], filters: [], gridMargin: [], metrics: [metric] };
  const command = { dashboardId: `board-${clientId}`, workspaceName: 'space', content };
  const [tried] = await tryDashboardContent(world.deps)(world.api(), command, stays);
  return tried?.outcome;
};

test('a metric that fails on the rows of another client is answered', async () => {
  expect([await outcomeFor('a'), await outcomeFor('b')]).toEqual(['answered', 'failed']);
});
