/** Many clients with their own databases are queried at the same time, on a server that allows only few connections. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientDatabase, tenantScope } from '../../src/model/datamart/tenant.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, question, table } from './world.js';

const clientCount = 8;
const role = `many_${randomUUID().slice(0, 8)}`;
const password = randomUUID();

const mart = datamart({
  tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null },
  tables: [table('sales', { amount: 'INTEGER' })],
});
const sum = metric('sales', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('sales.amount') }] });

describe.runIf(await isPostgresThere())('clients with their own databases', () => {
  let databases: readonly OwnDatabase[];
  const run = async (url: string, statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  const nameOf = ({ url }: OwnDatabase): string => new URL(url).pathname.slice(1);

  beforeAll(async () => {
    databases = await Promise.all(Array.from({ length: clientCount + 1 }, () => createOwnDatabase()));
    // Fewer than an unlimited engine would open, but more than the engine's limit, since a server closes connections
    // with a delay.
    await run(databases[0]?.url ?? '', [`CREATE ROLE ${role} LOGIN PASSWORD '${password}' CONNECTION LIMIT 14`]);
    await Promise.all(
      databases.map(({ url }, index) =>
        run(url, [
          'CREATE SCHEMA main',
          `CREATE TABLE main.sales AS SELECT ${index} AS amount`,
          `GRANT USAGE ON SCHEMA main TO ${role}`,
          `GRANT SELECT ON main.sales TO ${role}`,
        ]),
      ),
    );
  }, 60_000);
  afterAll(async () => {
    for (const { url } of databases) await run(url, [`DROP OWNED BY ${role}`]);
    await run(databases[0]?.url ?? '', [`DROP ROLE ${role}`]);
    await Promise.all(databases.map(({ drop }) => drop()));
  });

  type Bounds = Parameters<typeof createLoggedEngine>[0];
  /** Queries the clients at these positions simultaneously. `then` runs before the engine is closed. */
  const askAll = async (order: readonly number[], bounds: Bounds, then = async (): Promise<void> => {}) => {
    const [own, ...clients] = databases;
    const { engine } = createLoggedEngine(bounds);
    const url = new URL(own?.url ?? '');
    url.username = role;
    url.password = password;
    const place = { datasource: postgresAt(url.href), schemaName: 'main' };
    const asked = question(place, { ...mart, tenancy: null }, 'None', sum);
    const ask = async (client: OwnDatabase): Promise<number> => {
      const name = nameOf(client);
      const tenant = tenantScope(mart, name, name as ClientDatabase);
      return Number((await engine.query({ ...asked, datamart: mart, tenant })).rows[0]?.n);
    };
    const answers = await Promise.all(order.map((index) => ask(clients[index] as OwnDatabase)));
    await then();
    await engine.close();
    return answers;
  };

  it('share few connections, and each gets answers from its own database', async () => {
    const order = Array.from({ length: clientCount * 4 }, (_, index) => (index * 5) % clientCount);
    const answers = await askAll(order, { maxConnections: 2, maxConnectionsPerClient: 3 });
    expect(answers).toEqual(order.map((index) => index + 1));
  });

  it.each([1, 2])(
    'one client has at most %i connections, however many queries it sends',
    async (maxConnectionsPerClient) => {
      const client = databases[1];
      if (client === undefined) throw new Error('there is no client');
      const sessions = async (): Promise<void> => {
        const own = new pg.Client({ connectionString: databases[0]?.url });
        await own.connect();
        const sql = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = $1 AND usename = $2';
        const { rows } = await own.query(sql, [nameOf(client), role]);
        await own.end();
        expect(rows).toEqual([{ n: maxConnectionsPerClient }]);
      };
      expect(await askAll(Array(12).fill(0), { maxConnectionsPerClient }, sessions)).toEqual(Array(12).fill(1));
    },
  );
});
