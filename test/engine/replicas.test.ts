/** Replicas of a PostgreSQL server: read while they are near enough, and never with other rows or rights. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabases, type Databases } from '../../src/engine/datasources/databases.js';
import type { Datasource } from '../../src/model/organization.js';
import { systemClock } from '../../src/platform/work/time.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres, startStandby } from '../suites/postgres-server.js';
import { postgresAt } from './test-databases.js';

const quiet = {
  clock: systemClock,
  log: { warn: () => undefined, error: () => undefined },
  assertReachable: async () => {},
};

describe.runIf(isPostgresServerThere())('replicas of PostgreSQL', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  let other: OwnPostgres;
  let databases: Databases;
  let url: string;

  beforeAll(async () => {
    primary = await startOwnPostgres();
    url = await primary.createDatabase('shop');
    standby = await startStandby(primary);
    other = await startOwnPostgres();
    await other.createDatabase('shop');
    databases = createDatabases(quiet);
  }, 120_000);
  afterAll(async () => {
    await databases?.close();
    for (const server of [other, standby, primary]) await server?.remove();
  });

  const source = (replica: OwnPostgres, maxLagSeconds: number): Datasource => ({
    ...postgresAt(url),
    ...{ id: `${replica.port}-${maxLagSeconds}`, replicas: [{ host: '127.0.0.1', port: replica.port }], maxLagSeconds },
  });
  /** Which server answered. */
  const portOf = async (of: Datasource): Promise<number> => {
    const ask = { sql: "SELECT pg_catalog.current_setting('port')", parameters: [] };
    const { rows } = await databases.use(of, null, (database) => database.run(ask, { kind: 'untenanted' }));
    return Number(rows[0]?.[0]);
  };

  it('a replica that follows is read', async () => {
    await expect.poll(() => portOf(source(standby, 60)), { timeout: 30_000 }).toBe(standby.port);
  });

  it('a replica that is too far behind is not read, and is again once it has caught up', async () => {
    const near = source(standby, 2);
    await expect.poll(() => portOf(near), { timeout: 30_000 }).toBe(standby.port);
    await standby.execute('select pg_wal_replay_pause()');
    await primary.execute('create table changed (id int)');
    await expect.poll(() => portOf(near), { timeout: 30_000 }).toBe(primary.port);
    await standby.execute('select pg_wal_replay_resume()');
    await expect.poll(() => portOf(near), { timeout: 30_000 }).toBe(standby.port);
  }, 90_000);

  it('a server that is no replica of this one is never read, whatever it has', async () => {
    const foreign = source(other, 3600);
    for (let count = 0; count < 5; count += 1) expect(await portOf(foreign)).toBe(primary.port);
  });

  it('a download whose replica fails before its first rows comes from the server itself, and one that has begun fails', async () => {
    const own = source(standby, 3598);
    await expect.poll(() => portOf(own), { timeout: 30_000 }).toBe(standby.port);
    /** The ports that the batches come from. `afterFirst` runs when the first one is there. */
    const download = (sql: string, afterFirst: () => Promise<void> = async () => {}) => {
      const ports: number[] = [];
      const done = databases.use(own, null, (database) =>
        database.stream({ sql, parameters: [] }, { kind: 'untenanted' }, async ({ rows }) => {
          ports.push(Number(rows[0]?.[0]));
          if (ports.length === 1) await afterFirst();
        }),
      );
      return { ports, done };
    };
    const port = "pg_catalog.current_setting('port')";
    const endOthers = async (): Promise<void> => {
      await standby.execute(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'shop' and pid <> pg_backend_pid()`,
      );
    };
    // The replica ends the connection of its own statement before a row is there; the server itself does not.
    const failing = `SELECT ${port}, CASE WHEN pg_catalog.pg_is_in_recovery()
      THEN pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) END`;
    const early = download(failing);
    await early.done;
    expect(early.ports).toEqual([primary.port]);
    await expect.poll(() => portOf(own), { timeout: 30_000 }).toBe(standby.port);
    const late = download(`SELECT ${port}, id FROM pg_catalog.generate_series(1, 500000) AS wide(id)`, endOthers);
    await expect(late.done).rejects.toThrow();
    expect(new Set(late.ports)).toEqual(new Set([standby.port]));
  }, 90_000);

  it('while a replica is gone, the server itself answers, and no question fails', async () => {
    const own = source(standby, 3600);
    await expect.poll(() => portOf(own), { timeout: 30_000 }).toBe(standby.port);
    standby.kill();
    for (let count = 0; count < 5; count += 1) expect(await portOf(own)).toBe(primary.port);
  }, 60_000);

  it('a replica that was gone when its datasource was opened is read once it is there', async () => {
    const own = source(standby, 3599);
    expect(await portOf(own)).toBe(primary.port);
    // The server that was killed may take a moment to be gone.
    await expect.poll(() => standby.start().then(() => 'up', String), { timeout: 30_000 }).toBe('up');
    await expect.poll(() => portOf(own), { timeout: 30_000 }).toBe(standby.port);
  }, 60_000);
});
