/** MariaDB and MySQL add text as the number that it begins with, or as 0. Such a sum is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  rowsOf,
  table,
} from './world.js';

const columns = { id: 'BIGINT', price: 'DECIMAL(10,2)' };
const mart = datamart({ tenancy: null, tables: [table('prices', columns)] });
const total = metric('prices', { measures: [{ name: 'total', aggregate: 'SUM', column: columnRef('prices.price') }] });
const sqlMetric = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'total' }], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});
const inSql = {
  plainly: 'SELECT SUM(price) AS total FROM prices',
  'of a derived table': 'SELECT AVG(p) AS total FROM (SELECT price AS p FROM prices) AS t',
  'of a CTE': 'WITH t AS (SELECT price AS p FROM prices) SELECT SUM(p) AS total FROM t',
};

describe.runIf((await findKinds()).includes('MYSQL'))('a column of a view that became text', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let now = Date.UTC(2024, 0, 1);
  beforeAll(async () => {
    builder = await createBuilder('MYSQL');
    place = await builder.build('prices', [
      {
        name: 'kept',
        columns: { id: 'BIGINT', price: 'VARCHAR' },
        rows: [
          [1, '10.50'],
          [2, 'on request'],
          [3, '4'],
        ],
      },
      'CREATE VIEW prices AS SELECT id, CAST(2.25 AS DECIMAL(10,2)) AS price FROM kept',
    ]);
  });
  afterAll(() => builder.remove());

  const ask = async (definition: MetricDefinition): Promise<unknown> => {
    const { rows } = await engine.query(question(place, mart, 'None', definition));
    return rows[0]?.total;
  };
  beforeEach(async () => {
    await builder.run?.(place, [
      'CREATE OR REPLACE VIEW prices AS SELECT id, CAST(2.25 AS DECIMAL(10,2)) AS price FROM kept',
    ]);
    ({ engine } = createLoggedEngine({ clock: { now: () => new Date(now) } }));
    expect(await ask(total)).toBe(6.75);
    await builder.run?.(place, ['CREATE OR REPLACE VIEW prices AS SELECT id, price FROM kept']);
    now += 2000;
    return () => engine.close();
  });

  it('is not summed by a metric, and the new type is known without a call of anybody', async () => {
    expect(await refusalOf(() => ask(total))).toMatchObject({ reason: 'measure-type' });
  });

  it.each(Object.entries(inSql))('is not added in SQL %s', async (_, text) => {
    expect(await refusalOf(() => ask(sqlMetric(text)))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'text-added',
    });
    const download = engine.stream(question(place, mart, 'None', sqlMetric(text)));
    expect(await refusalOf(async () => rowsOf(await download))).toMatchObject({ reason: 'text-added' });
  });

  it('ends a download that has handed on rows, which is not begun again', async () => {
    const many = 'bcdefghijkl'.split('').map((name) => `CROSS JOIN prices AS ${name}`);
    const text = `SELECT SUM(a.price) OVER () AS total FROM prices AS a ${many.join(' ')}`;
    const { batches } = await engine.stream(question(place, mart, 'None', sqlMetric(text)));
    let rows = 0;
    const reading = async (): Promise<void> => {
      for await (const batch of batches) rows += batch.length;
    };
    expect(await refusalOf(reading)).toMatchObject({ reason: 'text-added' });
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(3 ** 12);
  });

  it('is added where the SQL leaves out what is no number', async () => {
    expect(await ask(sqlMetric("SELECT SUM(price) AS total FROM prices WHERE price <> 'on request'"))).toBe(14.5);
    expect(await ask(sqlMetric('SELECT COUNT(price) AS total FROM prices WHERE price > 5'))).toBe(1);
  });
});
