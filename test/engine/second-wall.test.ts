/**
 * Row-level security in PostgreSQL itself, with the client that each question sets. It must isolate tenants on its own:
 * the engine's tenant scope is removed here.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabases, type Databases } from '../../src/engine/datasources/databases.js';
import type { TenantScopedPlan } from '../../src/engine/plan/plan.js';
import { buildPlan } from '../../src/engine/question/build-plan.js';
import { resolve } from '../../src/engine/question/resolve.js';
import { scopeToTenant } from '../../src/engine/scope/scope-to-tenant.js';
import { compile } from '../../src/engine/sql/compile.js';
import type { TenantScope } from '../../src/model/datamart/tenant.js';
import type { Datasource } from '../../src/model/organization.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { columnRef, datamart, metric, question, relationship, scopeOf, table } from './world.js';

const role = `wall_${randomUUID().slice(0, 8)}`;
const password = randomUUID();

/** The SQL of docs/how-to/row-level-security.md, for this schema and a role of its own. */
const wall = [
  ...readFileSync(new URL('../../docs/how-to/row-level-security.md', import.meta.url), 'utf8').matchAll(
    /```sql\n(.*?)```/gs,
  ),
]
  .map(([, text = '']) => text)
  .join('\n')
  .replace(/--.*$/gm, '')
  .replaceAll('guestlist_reader', role)
  .replace("'...'", `'${password}'`)
  .replaceAll(/SCHEMA public\b/g, 'SCHEMA main')
  .replaceAll(/(?<= ON | TABLE | FROM )(sales|sale_lines)\b/g, 'main.$1')

  .split(';')
  .map((statement) => statement.trim())
  .filter((statement) => statement !== '');
const statements = [
  'CREATE SCHEMA main',
  'CREATE TABLE main.sales (client text, shop text, amount bigint, id bigint)',
  `INSERT INTO main.sales VALUES ('acme', 's1', 1, 1), ('acme', 's2', 2, 2), ('ACME', 's1', 4, 3), ('globex', 's1', 8, 4), (NULL, 's1', 16, 5), ('', 's1', 32, 6)`,
  'CREATE TABLE main.sale_lines (sale_id bigint, amount bigint)',
  'INSERT INTO main.sale_lines VALUES (1, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 64), (NULL, 128), (99, 256)',
  'CREATE TABLE main.shops (code text, state text)',
  `INSERT INTO main.shops VALUES ('s1', 'CA'), ('s2', 'NV')`,
  ...wall,
];

const mart = datamart({
  sharedTables: ['shops'],
  tables: [
    table('sales', { client: 'VARCHAR', shop: 'VARCHAR', amount: 'BIGINT', id: 'BIGINT' }, 'client'),
    table('sale_lines', { sale_id: 'BIGINT', amount: 'BIGINT' }),
    table('shops', { code: 'VARCHAR', state: 'VARCHAR' }),
  ],
  relationships: [
    relationship('shops.code', 'sales.shop', 'LEFT JOIN', 'OneToMany'),
    relationship('sale_lines.sale_id', 'sales.id'),
  ],
});
const amount = { name: 'n', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
const definition = metric('sales', { measures: [amount] });
const ofLines = metric('sale_lines', { measures: [{ ...amount, column: columnRef('sale_lines.amount') }] });

/** Removes the tenant scope. The cast is needed because the type forbids such a plan. */
const withoutFirstWall = (scoped: TenantScopedPlan): TenantScopedPlan =>
  ({ ...scoped, leaves: scoped.leaves.map((leaf) => ({ ...leaf, tenant: null })) }) as TenantScopedPlan;

describe.runIf(await isPostgresThere())('row-level security as the second wall', () => {
  let database: OwnDatabase;
  let databases: Databases;
  const log = { warn: () => undefined, error: () => undefined };

  const asReader = (url: string): Datasource => {
    const own = new URL(url);
    own.username = role;
    own.password = password;
    return postgresAt(own.href);
  };
  const sumOf = (
    datasource: Datasource,
    tenant: TenantScope,
    breach = withoutFirstWall,
    of = definition,
  ): Promise<unknown> =>
    databases.use(datasource, null, async ({ catalog, dialect, run }) => {
      const asked = { ...question({ datasource, schemaName: 'main' }, mart, 'acme', of), definition: of };
      const planned = buildPlan(resolve(asked, { catalog, stored: catalog }), { kind: 'answer', question: asked });
      const scoped = scopeToTenant(planned, scopeOf(mart, 'acme'), { datamart: mart, catalog });
      const { rows } = await run(compile(breach(scoped), dialect).page, tenant);
      return rows.flat()[0];
    });

  beforeAll(async () => {
    database = await createOwnDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
    databases = createDatabases({ clock: systemClock, log, assertReachable: async () => {} });
  }, 60_000);
  afterAll(async () => {
    await databases?.close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`DROP OWNED BY ${role}`);
    await client.query(`DROP ROLE ${role}`);
    await client.end();
    await database.drop();
  });

  it('the tenant scope is really removed in these tests: a role without policies sees every row', async () => {
    expect(await sumOf(postgresAt(database.url), scopeOf(mart, 'acme'))).toBe(63);
    expect(await sumOf(postgresAt(database.url), scopeOf(mart, 'acme'), (scoped) => scoped)).toBe(3);
  });

  it('shows each client only its own rows', async () => {
    const reader = asReader(database.url);
    const asked = ['acme', 'globex', 'ACME', 'nobody', "' OR true --"].flatMap((client) => [client, client]);
    const sums = await Promise.all(asked.map((client) => sumOf(reader, scopeOf(mart, client))));
    expect(sums).toEqual([3, 3, 8, 8, 4, 4, null, null, null, null]);
  });

  it('shows only own rows of a table that gets its client from its parent', async () => {
    expect(await sumOf(postgresAt(database.url), scopeOf(mart, 'acme'), withoutFirstWall, ofLines)).toBe(511);
    expect(await sumOf(postgresAt(database.url), scopeOf(mart, 'acme'), (scoped) => scoped, ofLines)).toBe(7);
    const reader = asReader(database.url);
    const sums = ['acme', 'globex', 'ACME', 'nobody'].map((client) =>
      sumOf(reader, scopeOf(mart, client), withoutFirstWall, ofLines),
    );
    expect(await Promise.all(sums)).toEqual([7, 16, 8, null]);
    expect(await sumOf(reader, { kind: 'untenanted' }, withoutFirstWall, ofLines)).toBeNull();
  });

  it("shows no client's rows to a question without a tenant", async () => {
    expect(await sumOf(asReader(database.url), { kind: 'untenanted' })).toBeNull();
  });

  it('shows no rows outside of a question', async () => {
    const own = new URL(database.url);
    own.username = role;
    own.password = password;
    const client = new pg.Client({ connectionString: own.href });
    await client.connect();
    expect((await client.query('SELECT * FROM main.sales')).rows).toEqual([]);
    await client.end();
  });
});
