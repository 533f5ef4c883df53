/**
 * The datasource's server restarts: every error is handled, queries work again afterwards, and until then they are
 * refused with the cause.
 */
import type { RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import type { Engine } from '../../src/model/query/engine.js';
import type { ReadLive } from '../../src/model/query/live.js';
import { findUnavailable } from '../../src/model/unavailable.js';
import { onMysql } from '../suites/mysql.js';
import { type Relay, startRelay } from './relay.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

type ServerKind = Exclude<Awaited<ReturnType<typeof findKinds>>[number], 'DUCKDB' | 'SQLITE'>;
const kinds = (await findKinds()).filter((kind): kind is ServerKind => kind !== 'DUCKDB' && kind !== 'SQLITE');

const mart = datamart({ tenancy: null, tables: [table('notes', { text: 'VARCHAR' })] });
const texts = metric('notes', { dimensions: [{ name: 'text', column: columnRef('notes.text') }] });

const endMysqlSessions = ({ database }: ServerConnection): Promise<void> =>
  onMysql(async (connection) => {
    const own = 'select id from information_schema.processlist where db = ? and id <> connection_id()';
    const [sessions] = await connection.query<RowDataPacket[]>(own, [database]);
    for (const { id } of sessions) await connection.query(`kill ${Number(id)}`).catch(() => undefined);
  });

const endPostgresSessions = async ({
  host,
  port,
  username: user,
  password,
  database,
}: ServerConnection): Promise<void> => {
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
    [database],
  );
  await client.end();
};

/** Ends the session of a query that waits for a locked table. */
const endWaitingMysqlSession = ({ database }: ServerConnection, ask: () => Promise<unknown>): Promise<unknown> =>
  onMysql(async (connection) => {
    await connection.query(`lock tables \`${database}\`.notes write`);
    const asked = ask();
    const waiting = "select id from information_schema.processlist where db = ? and state like 'Waiting%'";
    for (let isFound = false; !isFound; ) {
      const [sessions] = await connection.query<RowDataPacket[]>(waiting, [database]);
      for (const { id } of sessions) await connection.query(`kill ${Number(id)}`);
      isFound = sessions.length > 0;
    }
    await connection.query('unlock tables');
    return asked;
  });

describe.each(kinds)('%s', (kind) => {
  let builder: Builder;
  let place: Place;
  let relay: Relay;
  let engine: Engine;
  let readLive: ReadLive;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('lost', [{ name: 'notes', columns: { text: 'VARCHAR' }, rows: [['first']] }]);
    const source = place.datasource as Datasource & ServerConnection;
    relay = await startRelay(source);
    place = { ...place, datasource: { ...source, host: relay.host, port: relay.port } as Datasource };
    const live = (read: ReadLive) => {
      readLive = read;
    };
    ({ engine } = createLoggedEngine({ live }));
  });
  afterAll(async () => {
    await engine?.close();
    await relay?.close();
    await builder?.remove();
  });

  const ask = () => engine.query(question(place, mart, 'None', texts));
  const rows = async () => (await ask()).rows;

  it('broken connections are replaced, idle or not, and a read-only query is repeated', async () => {
    expect(await rows()).toEqual([{ text: 'first' }]);
    for (let round = 0; round < 3; round += 1) {
      const asked = Promise.all([rows(), rows(), rows()]);
      relay.cut();
      expect(await asked).toEqual([[{ text: 'first' }], [{ text: 'first' }], [{ text: 'first' }]]);
      relay.cut();
      expect(await rows()).toEqual([{ text: 'first' }]);
    }
  });

  it.skipIf(kind === 'CLICKHOUSE')('connections that the server ends are replaced, idle or with a query', async () => {
    const source = place.datasource as Datasource & ServerConnection;
    for (let round = 0; round < 5; round += 1) {
      // Every connection that the round before ended is replaced, so that this round ends each once.
      for (const one of await Promise.all([rows(), rows(), rows()])) expect(one).toEqual([{ text: 'first' }]);
      const asked = Promise.all([rows(), rows(), rows()]);
      await (kind === 'MYSQL' ? endMysqlSessions(source) : endPostgresSessions(source));
      expect(await asked).toEqual([[{ text: 'first' }], [{ text: 'first' }], [{ text: 'first' }]]);
    }
  });

  it.runIf(kind === 'MYSQL')('a waiting query is repeated at once if the server ends its connection', async () => {
    expect(await rows()).toEqual([{ text: 'first' }]);
    const source = place.datasource as Datasource & ServerConnection;
    expect(await endWaitingMysqlSession(source, rows)).toEqual([{ text: 'first' }]);
  });

  it('while the server is unavailable, queries get a temporary refusal; afterwards they work at once', async () => {
    await rows();
    await relay.close();
    const refusal = await ask().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'Refusal', code: 'METRIC_QUERY_ERROR' });
    expect(findUnavailable(refusal)?.reason).toBe('datasource-lost');
    const lastError = () => readLive().sources[0]?.lastError;
    expect(lastError()).toMatchObject({ reason: 'datasource-lost', isOver: false });
    await relay.open();
    expect(await rows()).toEqual([{ text: 'first' }]);
    expect(lastError()).toMatchObject({ reason: 'datasource-lost', isOver: true });
  });
});
