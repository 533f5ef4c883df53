/** A chart that says how many points it can show gets no more, with the ends and the extremes of its own client's rows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { byClients, columnRef, createFolder, datamart, datasourceAt, metric, stays, table } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

const folder = await createFolder();
let world: World;
const metricIds = new Map<string, string>();

/** Client a: 30,000 points between -1 and 1 with a spike of 500; client b: 20,000 points of 9,000. */
const statements = [
  'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
  "INSERT INTO clients VALUES ('a', 'A'), ('b', 'B')",
  'CREATE TABLE readings (client VARCHAR, point BIGINT, value DOUBLE)',
  "INSERT INTO readings SELECT 'a', range, CASE range WHEN 12345 THEN 500 ELSE sin(range) END FROM range(30000)",
  "INSERT INTO readings SELECT 'b', range, 9000 FROM range(20000)",
];
const points: VisualDefinition = metric('readings', {
  chart: { type: 'line' },
  dimensions: [{ name: 'At', column: columnRef('readings.point') }],
  measures: [{ name: 'Value', aggregate: 'SUM', column: columnRef('readings.value') }],
});

beforeAll(async () => {
  world = await createWorld();
  const { store } = world;
  await store.datasources.insert({ ...datasourceAt(await folder.build('readings', statements)), id: 'r', name: 'r' });
  const tables = [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('readings', { client: 'VARCHAR', point: 'BIGINT', value: 'DOUBLE' }, 'client'),
  ];
  await store.datamarts.insert(
    datamart({ id: 'r', name: 'readings', datasourceId: 'r', tables, tenancy: byClients() }),
  );
  for (const [name, definition] of Object.entries({
    line: points,
    bar: { ...points, chart: { type: 'bar' as const } },
  })) {
    await world.template(name, { filters: [] }, definition);
    const made = await world.embed(name, `${name}-count`, { ...settings, datamartName: 'readings' });
    metricIds.set(name, made);
  }
});
afterAll(async () => {
  await world.close();
  await folder.remove();
});

const ask = async (parts: object, clientId = 'a', name = 'line') => {
  const query = { metricId: metricIds.get(name) ?? '', ...parts };
  return (await queryGuestMetric(world.deps)(await world.mint({}, { clientId }), query, stays)).answer;
};
const valuesOf = ({ rows }: Awaited<ReturnType<typeof ask>>) => rows.map(({ Value }) => Number(Value));

test('30,000 points are shown as at most 1,000, with ends and extremes, and the answer says so', async () => {
  const answer = await ask({ maxPoints: 1000 });
  expect(answer.points).toEqual({ shown: answer.rows.length, total: 30_000 });
  expect([answer.rows.length <= 1000, answer.rows.length > 100]).toEqual([true, true]);
  expect([answer.totalRecords, answer.isTruncated]).toEqual([30_000, undefined]);
  const at = answer.rows.map(({ At }) => Number(At));
  expect([at[0], at.at(-1), at]).toEqual([0, 29_999, at.toSorted((one, other) => one - other)]);
  expect([Math.max(...valuesOf(answer)), Math.min(...valuesOf(answer)) < -0.999]).toEqual([500, true]);
  expect(answer.rows.find(({ Value }) => Number(Value) === 500)?.At).toBe(12_345);
});

test("only the client's own rows are read, at any number of points", async () => {
  for (const maxPoints of [10, 100, 5000]) {
    const a = await ask({ maxPoints });
    expect([a.points?.total, Math.max(...valuesOf(a))], String(maxPoints)).toEqual([30_000, 500]);
    const b = await ask({ maxPoints }, 'b');
    expect([b.points?.total, new Set(valuesOf(b))], String(maxPoints)).toEqual([20_000, new Set([9000])]);
  }
});

test('without the field, with a limit, and for another type of chart: as before', async () => {
  const before = await ask({});
  expect([before.isTruncated, before.points]).toEqual([true, undefined]);
  expect((await ask({ maxPoints: 10, limit: 50 })).rows).toHaveLength(50);
  expect(await ask({ maxPoints: 10 }, 'a', 'bar')).toEqual(await ask({}, 'a', 'bar'));
});
