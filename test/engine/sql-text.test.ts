/** How an author may write SQL: with what ends a statement, and whatever the database's settings say of text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findSqlKinds, type Kind } from './test-databases.js';
import { createLoggedEngine, datamart, type Place, question, table } from './world.js';

const mart = datamart({ tenancy: null, tables: [table('t', { id: 'BIGINT', at: 'TIMESTAMP' })] });
const metricOf = (sql: string): SqlDefinition => ({
  kind: 'sql',
  chart: { type: 'table' },
  sql,
  ...{ dimensions: [{ name: 'd' }], measures: [], filters: [], rlsVariables: [], sort: [], limit: null },
});

/** Expressions whose text follows settings of the session. */
const texts: Readonly<Partial<Record<Kind, readonly (readonly [string, string])[]>>> = {
  POSTGRES: [
    ["CAST(interval '1 day 02:03:04' AS text)", '1 day 02:03:04'],
    ["CAST(timestamp '2024-02-29 10:20:30' AS text)", '2024-02-29 10:20:30'],
    ['CAST(CAST(0.1 AS double precision) AS text)', '0.1'],
  ],
  MYSQL: [["DATE_FORMAT('2024-02-29', '%W %M')", 'Thursday February']],
  CLICKHOUSE: [['toString(toBool(1))', 'true']],
};

describe.each(await findSqlKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('text', [
      { name: 't', columns: { id: 'BIGINT', at: 'TIMESTAMP' }, rows: [[1, '2024-02-29 10:20:30']] },
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const valuesOf = async (sql: string): Promise<readonly unknown[]> =>
    (await engine.query(question(place, mart, 'None', metricOf(sql)))).rows.flatMap((row) => Object.values(row));

  it.each(['SELECT id AS d FROM t;', 'SELECT id AS d FROM t ;\n', 'SELECT id AS d FROM t; -- all of them'])(
    'a statement may end with a semicolon (superset#12963, metabase#28218, metabase#7363): %j',
    async (sql) => {
      expect(await valuesOf(sql)).toEqual([1]);
    },
  );

  it('a semicolon within a text is part of the text', async () => {
    expect(await valuesOf("SELECT ';' AS d FROM t;")).toEqual([';']);
  });

  it('text is the same whatever the settings of database and user say', async () => {
    for (const [expression, text] of texts[kind] ?? [])
      expect(await valuesOf(`SELECT ${expression} AS d FROM t`), expression).toEqual([text]);
  });
});
