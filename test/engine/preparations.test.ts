/** Questions that are asked again are not prepared again, and no question is answered by what was prepared for another. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { MetricDefinition, SqlDefinition } from '../../src/domain/metric.js';
import type { Engine, MetricQuestion } from '../../src/domain/ports.js';
import type { Database } from '../../src/engine/database.js';
import { createEngine } from '../../src/engine/engine.js';
import { createPreparations } from '../../src/engine/preparations.js';
import type { Prepared } from '../../src/engine/prepare.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createBuilder } from './places.js';
import { columnRef, condition, createFolder, datamart, metric, question, refusalOf, table } from './world.js';

const log = { warn: () => {}, error: () => {} };
const folder = await createFolder();
const open = () => createEngine({ log, assertReachable: async () => {} });
const shared = open();
let path: string;

beforeAll(async () => {
  path = await folder.build('prepared', [
    'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
    'CREATE TABLE sales (client VARCHAR, place VARCHAR, amount BIGINT, sold TIMESTAMP)',
    `INSERT INTO sales VALUES ('a', 'x', 1, '2024-01-01 23:30:00'), ('a', 'y', 2, '2024-01-02 01:00:00'),
      ('b', 'x', 40, '2024-01-01 12:00:00'), ('b', 'y', 80, '2024-02-01 12:00:00')`,
  ]);
});
afterAll(async () => {
  await shared.close();
  await folder.remove();
});

const mart = datamart({
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('sales', { client: 'VARCHAR', place: 'VARCHAR', amount: 'BIGINT', 'sold@': 'TIMESTAMP' }, 'client'),
  ],
});
const measures = [{ name: 'total', aggregate: 'SUM' as const, column: columnRef('sales.amount') }];
const inSql: SqlDefinition = {
  kind: 'sql',
  chart: { type: 'bar' },
  sql: 'SELECT place AS "place", sum(amount) AS "total" FROM sales WHERE place IN (place_variable) GROUP BY 1',
  dimensions: [{ name: 'place' }],
  measures: [{ name: 'total' }],
  filters: [],
  rlsVariables: [{ name: 'place', isOptional: false }],
  sort: [],
  limit: null,
};
const definitions: readonly MetricDefinition[] = [
  metric('sales', { measures }),
  metric('sales', { measures, dimensions: [{ name: 'day', column: columnRef('sales.sold'), grain: 'day' }] }),
  metric('sales', { measures, dimensions: [{ name: 'bucket', column: columnRef('sales.amount'), bucketCount: 2 }] }),
  inSql,
];

const oneOf = (values: readonly string[]) => condition('sales.place', { kind: 'oneOf', values });

/** All that may differ between two questions about one datamart. */
const asked = fc.record({
  definition: fc.constantFrom(...definitions),
  clientId: fc.constantFrom('a', 'b'),
  values: fc.constantFrom(['x'], ['y'], ['x', 'y']),
  conditions: fc.constantFrom([], [oneOf(['x'])], [oneOf(['y'])], [oneOf(['x']), oneOf(['y'])]),
  timezone: fc.constantFrom(null, 'Asia/Tokyo'),
  limit: fc.constantFrom(null, 1),
  offset: fc.constantFrom(0, 1),
  direction: fc.constantFrom('ASC' as const, 'DESC' as const, null),
});
type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never;

const questionOf = ({ definition, clientId, values, direction, ...parts }: Asked): MetricQuestion =>
  question(path, mart, clientId, definition, {
    ...parts,
    variables: new Map([['place', values]]),
    sort: direction === null ? null : [{ name: 'total', direction }],
  });

it('however questions follow each other, each has the answer that it has alone', async () => {
  const alone = new Map<string, unknown>();
  const answerAlone = async (one: Asked): Promise<unknown> => {
    const key = JSON.stringify(one);
    if (!alone.has(key)) {
      const engine: Engine = open();
      alone.set(key, await engine.query(questionOf(one)));
      await engine.close();
    }
    return alone.get(key);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 4 }), async (many) => {
      for (const one of many) expect(await shared.query(questionOf(one))).toEqual(await answerAlone(one));
    }),
    { seed: 20_261_122, numRuns: 120 },
  );
});

const isThere = await isPostgresThere();
it.runIf(isThere)('buckets are fitted to the rows that there are at each question', async () => {
  const builder = await createBuilder('POSTGRES');
  onTestFinished(builder.remove);
  const place = await builder.build('growing', [
    { name: 'sales', columns: { client: 'VARCHAR', amount: 'BIGINT' }, rows: [1, 3].map((amount) => ['a', amount]) },
  ]);
  const { datasource } = place;
  if (datasource.datasourceType !== 'POSTGRES') throw new Error('it is on PostgreSQL');
  const own = datamart({ tables: [table('sales', { client: 'VARCHAR', amount: 'BIGINT' }, 'client')] });
  const definition = metric('sales', {
    measures: [{ name: 'count', aggregate: 'COUNT' }],
    dimensions: [{ name: 'bucket', column: columnRef('sales.amount'), bucketCount: 2 }],
  });
  const asked = question(place, own, 'a', definition);
  expect((await shared.query(asked)).rows.map(({ bucket }) => bucket)).toEqual([1, 3]);
  const client = new pg.Client({ ...datasource, user: datasource.username, ssl: false });
  await client.connect();
  await client.query("INSERT INTO main.sales VALUES ('a', 1000)");
  await client.end();
  expect((await shared.query(asked)).rows.map(({ bucket }) => bucket)).toEqual([0, 1000]);
});

it('what was prepared goes with its datamart, its database, and a client that is forgotten', async () => {
  const preparations = createPreparations();
  const [one, other] = [{}, {}] as [Database, Database];
  let made = 0;
  const load = async (database: Database, of: typeof mart): Promise<void> => {
    const asked = { ...question(path, of, 'a', inSql), datasource, definition: inSql };
    await preparations.load(database, { kind: 'sql', question: asked }, async () => {
      made += 1;
      return { prepared: {} as Prepared, isLasting: true };
    });
  };
  const { datasource } = question(path, mart, 'a', inSql);
  const anew = { ...mart };
  for (const [database, of] of [
    [one, mart],
    [one, mart],
    [other, mart],
    [one, anew],
    [one, anew],
    [one, mart],
  ] as const)
    await load(database, of);
  expect(made).toBe(3);
  preparations.forget();
  await load(one, mart);
  await load(one, mart);
  expect(made).toBe(4);
});

it('what cannot be written exactly is refused each time as it was at first', async () => {
  const odd = question(path, mart, 'a', definitions[0] as MetricDefinition, {
    conditions: [condition('sales.amount', { kind: 'compare', operator: '=', value: Number.NaN })],
  });
  const first = await refusalOf(() => shared.query(odd));
  expect(await refusalOf(() => shared.query(odd))).toEqual(first);
  expect(first.code).toBe('METRIC_QUERY_ERROR');
});
