/**
 * Functions and operators that a PostgreSQL database defines itself do not replace PostgreSQL's own, whatever search
 * path the role has.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { Datasource } from '../../src/model/organization.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, question, table } from './world.js';

/** Functions and operators that return wrong results and could read the clients' rows. */
const statements = [
  'CREATE SCHEMA main',
  'CREATE TABLE main.sales (client text, amount integer)',
  "INSERT INTO main.sales VALUES ('acme', 1), ('acme', 2), ('globex', 40)",
  'CREATE FUNCTION public.everything(state bigint, value integer) RETURNS bigint LANGUAGE sql AS $$ SELECT (SELECT pg_catalog.sum(amount) FROM main.sales)::bigint $$',
  'CREATE AGGREGATE public.sum(integer) (SFUNC = public.everything, STYPE = bigint)',
  'CREATE FUNCTION public.always(a text, b text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
  'CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.always)',
];

const mart = datamart({ tables: [table('sales', { client: 'VARCHAR', amount: 'INTEGER' }, 'client')] });
const total = metric('sales', { measures: [{ name: 'total', aggregate: 'SUM', column: columnRef('sales.amount') }] });
const inSql: SqlDefinition = {
  kind: 'sql',
  chart: { type: 'singleValue' },
  sql: 'SELECT sum(amount) AS total FROM sales',
  dimensions: [],
  measures: [{ name: 'total' }],
  filters: [],
  rlsVariables: [],
  sort: [],
  limit: null,
};

describe.runIf(await isPostgresThere())('a role whose search path has "public" before "pg_catalog"', () => {
  const { engine } = createLoggedEngine();
  let database: OwnDatabase;
  let datasource: Datasource;

  beforeAll(async () => {
    database = await createOwnDatabase();
    datasource = postgresAt(database.url);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    const { name } = (await client.query<{ name: string }>('SELECT current_database() AS name')).rows[0] ?? {};
    await client.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
    await client.end();
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  it('would call the functions in "public"', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const asking = client.query("SELECT sum(amount)::int AS total FROM main.sales WHERE client = 'acme'::text");
    const { rows } = await asking.finally(() => client.end());
    expect(rows).toEqual([{ total: 43 }]);
  });

  it.each([
    ['a visual metric', total],
    ['a metric in SQL', inSql],
  ] as const)("%s calls PostgreSQL's own function", async (_, definition) => {
    for (const [clientId, expected] of [
      ['acme', 3],
      ['globex', 40],
    ] as const) {
      const asked = question({ datasource, schemaName: 'main' }, mart, clientId, definition);
      expect((await engine.query(asked)).rows).toEqual([{ total: expected }]);
    }
  });
});
