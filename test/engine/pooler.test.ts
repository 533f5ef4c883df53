/**
 * Behind PgBouncer in transaction mode, questions of many tenants share one or two connections. No state of a question
 * stays for the next.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientDatabase } from '../../src/model/datamart/tenant.js';
import { tenantScope } from '../../src/model/datamart/tenant.js';
import type { Engine } from '../../src/model/query/engine.js';
import { isPgBouncerThere, type Pooler, startPgBouncer } from '../suites/pgbouncer.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, question, refusalOf, table } from './world.js';

const clients = Array.from({ length: 12 }, (_, index) => `client ${index} 'é"`);
const totalOf = (index: number): number => 10 ** 6 + index;

/** Statements that would see state of another question. `slow` waits and `spoilt` fails. */
const statements = [
  'CREATE SCHEMA main',
  'SET search_path = main',
  'CREATE TABLE sales (client text, amount bigint, note text)',
  ...clients.map((client, index) => `INSERT INTO sales VALUES (${pg.escapeLiteral(client)}, ${totalOf(index)}, 'x')`),
  "CREATE VIEW told AS SELECT current_setting('guestlist.client_id', true) AS client, current_setting('timezone') AS zone",
  'CREATE VIEW slow AS SELECT client, amount, pg_sleep(20)::text AS note FROM sales',
  'CREATE VIEW spoilt AS SELECT client, amount, (note::int)::text AS note FROM sales',
  "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$",
];

const sales = (name: string) => table(name, { client: 'VARCHAR', amount: 'BIGINT', note: 'VARCHAR' }, 'client');
const mart = datamart({
  tables: [sales('sales'), sales('slow'), sales('spoilt'), table('told', { client: 'VARCHAR', zone: 'VARCHAR' })],
  sharedTables: ['told'],
});
const sum = metric('sales', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('sales.amount') }] });
const noted = (name: string) => metric(name, { dimensions: [{ name: 'note', column: columnRef(`${name}.note`) }] });
const told = metric('told', {
  dimensions: ['client', 'zone'].map((name) => ({ name, column: columnRef(`told.${name}`) })),
});

const settings = ['guestlist.client_id', 'statement_timeout', 'timezone', 'datestyle', 'transaction_read_only'];

/** Returns the state that a new session at this URL sees. */
const stateAt = async (url: string): Promise<object> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const names = settings.map((name) => `coalesce(current_setting('${name}', true), '') AS "${name}"`);
    const { rows } = await client.query(`SELECT ${names.join(', ')},
      (SELECT count(*)::int FROM pg_prepared_statements) AS prepared,
      (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks`);
    return rows[0];
  } finally {
    await client.end();
  }
};

const isThere = (await isPostgresThere()) && (await isPgBouncerThere());
describe.runIf(isThere).each([1, 2])('with %i connections in the pool', (poolSize) => {
  let database: OwnDatabase;
  let pooler: Pooler;
  let engine: Engine;
  const ask = (client: number, definition: Parameters<typeof question>[3], own = engine) =>
    own.query(
      question(
        { datasource: postgresAt(pooler.at(database.url)), schemaName: 'main' },
        mart,
        clients[client] ?? '',
        definition,
      ),
    );

  beforeAll(async () => {
    database = await createOwnDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
    pooler = await startPgBouncer(database.url, poolSize);
    engine = createLoggedEngine({ timeoutMs: 5000 }).engine;
  }, 60_000);
  afterAll(async () => {
    await engine?.close();
    await pooler?.stop();
    await database?.drop();
  });

  /** Sends one question of one client and checks that the answer is that client's own. */
  const check = async (client: number, kind: 'sum' | 'told' | 'spoilt'): Promise<void> => {
    if (kind === 'sum') {
      expect((await ask(client, sum)).rows).toEqual([{ n: expect.anything() }]);
      expect(Number((await ask(client, sum)).rows[0]?.n)).toBe(totalOf(client));
    } else if (kind === 'told') {
      expect((await ask(client, told)).rows).toEqual([{ client: clients[client], zone: 'UTC' }]);
    } else {
      const refusal = await refusalOf(() => ask(client, noted('spoilt')));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-failed' });
    }
  };

  it('each tenant gets its own answers in any order of questions, and no state stays on a connection', async () => {
    const step = fc.tuple(fc.nat(clients.length - 1), fc.constantFrom('sum', 'told', 'spoilt'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 16 }), async (steps) => {
        await Promise.all(steps.map(([client, kind]) => check(client, kind)));
        // As many sessions as the pool has connections, so that each connection is checked.
        const found = await Promise.all(Array.from({ length: poolSize }, () => stateAt(pooler.at(database.url))));
        for (const state of found) expect(state).toEqual(await stateAt(database.url));
      }),
      { seed: 5, numRuns: 12 },
    );
  });

  it('a question that is stopped at its time limit leaves no state either', async () => {
    const { engine: hasty } = createLoggedEngine({ timeoutMs: 300 });
    const late = await Promise.all(
      [0, 1, 2].map((client) => refusalOf(() => ask(client, noted('slow'), hasty)).then(({ reason }) => reason)),
    );
    expect(late).toEqual(Array(3).fill('datasource-timeout'));
    expect(await stateAt(pooler.at(database.url))).toEqual(await stateAt(database.url));
    await check(3, 'told');
    await hasty.close();
  });
});

describe.runIf(isThere)("a client's database through a pooler", () => {
  it('is refused if the pooler maps its name to another database', async () => {
    const [own, acme, globex] = await Promise.all([createOwnDatabase(), createOwnDatabase(), createOwnDatabase()]);
    const nameOf = ({ url }: OwnDatabase): string => new URL(url).pathname.slice(1);
    for (const [index, { url }] of [acme, globex].entries()) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`CREATE SCHEMA main; CREATE TABLE main.sales AS SELECT ${index + 1} AS amount`);
      await client.end();
    }
    const pooler = await startPgBouncer(own.url, 2, [`${nameOf(globex)} = dbname=${nameOf(acme)}`]);
    const { engine, lines } = createLoggedEngine();
    const each = datamart({
      tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null },
      tables: [table('sales', { amount: 'INTEGER' })],
    });
    const ask = async (database: OwnDatabase): Promise<unknown> => {
      const name = nameOf(database);
      const place = { datasource: postgresAt(pooler.at(own.url)), schemaName: 'main' };
      const asked = question(place, { ...each, tenancy: null }, 'None', sum);
      return (await engine.query({ ...asked, datamart: each, tenant: tenantScope(each, name, name as ClientDatabase) }))
        .rows;
    };
    expect(await ask(acme)).toEqual([{ n: 1 }]);
    expect(await refusalOf(() => ask(globex))).toMatchObject({ reason: 'datasource-unavailable' });
    expect(lines.at(-1)?.details).toMatchObject({ reason: 'datasource-other-database' });
    await engine.close();
    await pooler.stop();
    await Promise.all([own, acme, globex].map(({ drop }) => drop()));
  }, 60_000);
});
