/**
 * Variants of PostgreSQL on PostgreSQL itself: the statements are valid, the answers are those of POSTGRES, and the
 * second wall holds. It says nothing of what another server would do with them.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresForms } from '../../src/engine/databases/postgres/forms.js';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import type { Engine } from '../../src/model/query/engine.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { columns, items, rows, mart as shop, type TableName } from './metrics.js';
import { type Builder, createBuilder, postgresAt } from './test-databases.js';
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

/** Redshift is left out: PostgreSQL has no function COLLATE. */
const types = ['AURORA_POSTGRES', 'TIMESCALE', 'CITUS', 'COCKROACHDB'] as const;
type Type = (typeof types)[number];

const as = (type: Type, { datasource, schemaName }: Place): Place => ({
  datasource: { ...datasource, datasourceType: type } as Datasource & ServerConnection,
  schemaName,
});

/** CockroachDB says in its view which columns are hidden. */
const withHidden = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ALTER VIEW information_schema.columns RENAME TO columns_of_postgres');
  await client.query(
    "CREATE VIEW information_schema.columns AS SELECT *, 'NO' AS is_hidden FROM information_schema.columns_of_postgres",
  );
  await client.query('GRANT SELECT ON information_schema.columns TO PUBLIC');
  await client.end();
};

const urlOf = ({ datasource }: Place): string => {
  const { host, port, username, password, database } = datasource as Datasource & ServerConnection;
  return `postgres://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
};

/** What a type refuses of the metrics of metrics.ts. */
const lacking: Readonly<Partial<Record<Type, RegExp>>> = { COCKROACHDB: /medians and percentiles of dates and times/ };

describe.runIf(await isPostgresThere())('variants on PostgreSQL', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder('POSTGRES');
    place = await builder.build(
      'shop',
      (Object.keys(columns) as TableName[]).map((name) => ({
        ...{ name, rows: rows[name] },
        columns: Object.fromEntries(
          Object.entries(columns[name]).map(([column, type]) => [column.replace('@', ''), type]),
        ),
      })),
    );
    await withHidden(urlOf(place));
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  describe.each(types)('%s', (type) => {
    it.each(items.map((item) => [item.name, item] as const))('answers as PostgreSQL does: %s', async (_, item) => {
      const { definition, mart = shop, conditions = [], timezone = null, limit = null, offset = 0 } = item;
      const ask = (of: Place) =>
        engine.query(question(of, mart, 'None', definition, { conditions, timezone, limit, offset }));
      const expected = await ask(place);
      const why = lacking[type];
      const answer = await ask(as(type, place)).catch((error: unknown) => error);
      if (answer instanceof Error && why !== undefined) expect(answer.message).toMatch(why);
      else expect(answer).toEqual(expected);
    });
  });
});

describe.runIf(await isPostgresThere())('the second wall', () => {
  const role = `wall_${randomUUID().slice(0, 8)}`;
  const password = randomUUID();
  let own: OwnDatabase;
  let engine: Engine;
  let source: Datasource & ServerConnection;
  const shared = datamart({ sharedTables: ['sales'], tables: [table('sales', { client: 'text', amount: 'bigint' })] });
  const definition = metric('sales', {
    measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('sales.amount') }],
  });
  beforeAll(async () => {
    own = await createOwnDatabase();
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    for (const text of [
      `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`,
      'CREATE SCHEMA main',
      'CREATE TABLE main.sales (client text, amount bigint)',
      `INSERT INTO main.sales VALUES ('ac''me\\', 1), ('globex', 2), ('', 4), (NULL, 8)`,
      `GRANT USAGE ON SCHEMA main TO ${role}`,
      `GRANT SELECT ON main.sales TO ${role}`,
      'ALTER TABLE main.sales ENABLE ROW LEVEL SECURITY',
      `CREATE POLICY guestlist ON main.sales FOR SELECT TO ${role}
        USING (client = nullif(current_setting('guestlist.client_id', true), ''))`,
    ])
      await client.query(text);
    await client.end();
    await withHidden(own.url);
    const url = new URL(own.url);
    Object.assign(url, { username: role, password });
    source = postgresAt(url.href) as Datasource & ServerConnection;
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await client.end();
    await own.drop();
  });

  it.each(types)('%s tells the server the client of each transaction, also one with quotes', async (type) => {
    const sumOf = async (clientId: string) => {
      const place = { datasource: { ...source, datasourceType: type }, schemaName: 'main' };
      return (await engine.query(question(place, shared, clientId, definition))).rows[0]?.n;
    };
    expect(await sumOf("ac'me\\")).toBe(1);
    expect(await sumOf('globex')).toBe(2);
    expect(await sumOf("x'; RESET ALL; --")).toBeNull();
  });

  it('a download of CockroachDB is refused, since nothing is read with a cursor', async () => {
    const place = { datasource: { ...source, datasourceType: 'COCKROACHDB' as const }, schemaName: 'main' };
    const refused = await refusalOf(async () =>
      rowsOf(await engine.stream(question(place, shared, 'globex', definition))),
    );
    expect(refused).toMatchObject({ reason: 'variant-lacks', message: expect.stringContaining('without a cursor') });
  });

  it('a variant has no replicas', () => {
    for (const [type, { hasReplicas }] of Object.entries(postgresForms))
      expect(hasReplicas, type).toBe(type === 'POSTGRES');
  });
});
