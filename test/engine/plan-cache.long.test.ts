/** Repeated questions are not prepared again, and no question gets the preparation of a different one. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/engine/connections/database.js';
import { createEngine } from '../../src/engine/engine.js';
import { createPlanCache } from '../../src/engine/prepare/plan-cache.js';
import type { Prepared } from '../../src/engine/prepare/prepared.js';
import type { MetricDefinition, SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { Datasource } from '../../src/model/organization.js';
import type { MetricQuestion } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createBuilder } from './test-databases.js';
import {
  columnRef,
  condition,
  createFolder,
  datamart,
  datasourceAt,
  metric,
  question,
  refusalOf,
  table,
} from './world.js';

const log = { warn: () => {}, error: () => {} };
const folder = await createFolder();
const shared = createEngine({ clock: systemClock, log, assertReachable: async () => {} });
let path: string;
/** The same object each time, as in requests. */
let datasource: Datasource;

beforeAll(async () => {
  path = await folder.build('prepared', [
    'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
    'CREATE TABLE sales (client VARCHAR, place VARCHAR, amount BIGINT, sold TIMESTAMP)',
    `INSERT INTO sales VALUES ('a', 'x', 1, '2024-01-01 23:30:00'), ('a', 'y', 2, '2024-01-02 01:00:00'),
      ('b', 'x', 40, '2024-01-01 12:00:00'), ('b', 'y', 80, '2024-02-01 12:00:00')`,
  ]);
  datasource = datasourceAt(path);
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

/** The same objects each time. */
const same = { datasource: datasourceAt('unused'), datamart: mart, definition: metric('sales', { measures }) };

const oneOf = (values: readonly string[]) => condition('sales.place', { kind: 'oneOf', values });

/** Everything in which two questions about one datamart may differ. */
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
  question({ datasource, schemaName: 'main' }, mart, clientId, definition, {
    ...parts,
    variables: new Map([['place', values]]),
    sort: direction === null ? null : [{ name: 'total', direction }],
  });

it('in any sequence, each question gets the answer that it would get alone', async () => {
  // A new datamart object has no cached preparations.
  const answerAlone = (one: Asked) => shared.query(questionOf({ ...one, definition: structuredClone(one.definition) }));
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 4 }), async (many) => {
      for (const one of many) expect(await shared.query(questionOf(one))).toEqual(await answerAlone(one));
    }),
    { seed: 20_261_122, numRuns: 120 },
  );
});

const isThere = await isPostgresThere();
it.runIf(isThere)('bucket widths are computed anew for the rows of each question', async () => {
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

it('a forgotten client is in no cached preparation', async () => {
  const preparations = createPlanCache();
  const database = {} as Database;
  const made: string[] = [];
  const load = (clientId: string, dataAppId: string) => {
    const asked = { ...question('unused', mart, clientId, same.definition, { dataAppId }), ...same };
    return preparations.load(database, { kind: 'answer', question: asked }, async () => {
      made.push(`${dataAppId} ${clientId}`);
      return { prepared: { question: asked } as unknown as Prepared, isLasting: true };
    });
  };
  const loadAll = async () => {
    made.length = 0;
    await load('a', 'one');
    await load('b', 'one');
    await load('a', 'two');
    return [...made];
  };
  expect(await loadAll()).toHaveLength(3);
  expect(await loadAll()).toEqual([]);
  preparations.forgetClient('one', 'a');
  expect(await loadAll()).toEqual(['one a']);
  preparations.forgetClient('one', null);
  expect(await loadAll()).toEqual(['one a', 'one b']);
});

it('a question that cannot be written as a key is refused each time in the same way', async () => {
  const odd = question(path, mart, 'a', definitions[0] as MetricDefinition, {
    conditions: [condition('sales.amount', { kind: 'compare', operator: '=', value: Number.NaN })],
  });
  const first = await refusalOf(() => shared.query(odd));
  expect(await refusalOf(() => shared.query(odd))).toEqual(first);
  expect(first.code).toBe('METRIC_QUERY_ERROR');
});
