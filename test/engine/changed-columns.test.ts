/**
 * PostgreSQL compares a tenant's column by the column's own `=`. If the column changed after the catalog was read, so
 * that two texts are equal, no rows are shown.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/connections/database.js';
import { createDatabases, type Databases } from '../../src/engine/datasources/databases.js';
import { buildPlan } from '../../src/engine/question/build-plan.js';
import { resolve } from '../../src/engine/question/resolve.js';
import { scopeToTenant } from '../../src/engine/scope/scope-to-tenant.js';
import { compile } from '../../src/engine/sql/compile.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { columnRef, datamart, metric, question, refusalOf, relationship, scopeOf, table } from './world.js';

const statements = [
  'CREATE SCHEMA main',
  "CREATE COLLATION main.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
  'CREATE EXTENSION citext',
  'CREATE TABLE main."the ""sales""" (client text, id bigint)',
  `INSERT INTO main."the ""sales""" VALUES ('acme', 1), ('ACME', 2), ('acmé', 3)`,
  'CREATE TABLE main.lines (sale bigint, amount bigint)',
  'INSERT INTO main.lines VALUES (1, 1), (2, 2), (3, 4)',
];
const mart = datamart({
  tables: [
    table('the "sales"', { client: 'VARCHAR', id: 'BIGINT' }, 'client'),
    table('lines', { sale: 'BIGINT', amount: 'BIGINT' }),
  ],
  relationships: [relationship('lines.sale', 'the "sales".id', 'LEFT JOIN', 'ManyToOne')],
});
const ids = metric('the "sales"', { dimensions: [{ name: 'id', column: columnRef('the "sales".id') }] });
const amounts = metric('lines', { dimensions: [{ name: 'n', column: columnRef('lines.amount') }] });

describe.runIf(await isPostgresThere())('a client column that changed since its catalog was read', () => {
  let own: OwnDatabase;
  let client: pg.Client;
  let databases: Databases | undefined;

  type Ask = (database: Database, statement: ReturnType<typeof compile>['page']) => Promise<unknown>;
  const ask = (definition = ids, run: Ask = (database, page) => rowsOf(database, page)): Promise<unknown> => {
    const datasource = postgresAt(own.url);
    if (databases === undefined) throw new Error('no catalog was read');
    return databases.use(datasource, null, async (database) => {
      const asked = { ...question({ datasource, schemaName: 'main' }, mart, 'acme', definition), definition };
      const planned = buildPlan(resolve(asked, { catalog: database.catalog, stored: database.catalog }), {
        kind: 'answer',
        question: asked,
      });
      const scoped = scopeToTenant(planned, scopeOf(mart, 'acme'), { datamart: mart, catalog: database.catalog });
      return run(database, compile(scoped, database.dialect).page);
    });
  };
  const rowsOf = async ({ run }: Database, page: Parameters<Database['run']>[0], maxBytes?: number) =>
    (await run(page, scopeOf(mart, 'acme'), { maxBytes })).rows.flat();
  /** Reads the catalog while the column is plain text. */
  const readCatalog = async (): Promise<void> => {
    await databases?.close();
    databases = createDatabases({
      clock: systemClock,
      log: { warn: () => undefined, error: () => undefined },
      assertReachable: async () => {},
    });
    await alter('text COLLATE "default"');
    expect(await ask()).toEqual([1]);
  };
  const alter = (column: string) => client.query(`ALTER TABLE main."the ""sales""" ALTER client TYPE ${column}`);

  beforeAll(async () => {
    own = await createOwnDatabase();
    client = new pg.Client({ connectionString: own.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
  }, 60_000);
  afterAll(async () => {
    await databases?.close();
    await client?.end();
    await own?.drop();
  });

  const changes = [
    ['a collation that passes case and accents by', 'text COLLATE main.loose'],
    ['citext', 'citext'],
  ] as const;
  for (const [name, column] of changes) {
    it(`${name}: is refused once, then answered by the new catalog`, async () => {
      await readCatalog();
      expect(await ask(amounts)).toEqual([1]);
      await alter(column);
      expect(await refusalOf(() => ask(amounts))).toMatchObject({
        code: 'METRIC_QUERY_ERROR',
        reason: 'columns-changed',
      });
      expect(await ask(amounts)).toEqual([1]);
      expect(await ask()).toEqual([1]);
    });

    it(`${name}: neither the first rows of a cut answer nor those of a download are shown`, async () => {
      const streamed: unknown[] = [];
      const runs: readonly Ask[] = [
        async (database, page) => rowsOf(database, page, 1),
        ({ stream }, page) =>
          stream(page, scopeOf(mart, 'acme'), async ({ rows }) => {
            streamed.push(...rows);
          }),
      ];
      for (const run of runs) {
        await readCatalog();
        await alter(column);
        expect(await refusalOf(() => ask(ids, run))).toMatchObject({ reason: 'columns-changed' });
      }
      expect(streamed).toEqual([]);
    });
  }

  it('is answered if it did not change, also if the answer is cut', async () => {
    await readCatalog();
    expect(await ask(ids, (database, page) => rowsOf(database, page, 1))).toEqual([]);
    expect(await ask()).toEqual([1]);
  });
});
