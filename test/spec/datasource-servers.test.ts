/** `/api/v2/datasource` with real servers: PostgreSQL and MariaDB, which verify passwords. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runCli } from '../cli/in-process.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { call, type House, type Input, ok, openHouse, refused } from './house.js';

/** A new database, and a user who may read it. */
type Server = {
  readonly credentials: Input;
  readonly run: (statement: string) => Promise<void>;
  /** Changes the password of the user. */
  readonly rotate: (next: string) => Promise<void>;
  /** Returns the number of the user's connections. */
  readonly sessions: () => Promise<number>;
  readonly drop: () => Promise<void>;
};

const password = `pass-${randomUUID()}`;
const username = `reader_${randomUUID().slice(0, 8)}`;

const openPostgres = async (): Promise<Server> => {
  const { url, drop } = await createOwnDatabase();
  const { hostname: host, port, pathname } = new URL(url);
  const run = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await run(`create role ${username} login password '${password}'`);
  await run(`alter default privileges in schema public grant select on tables to ${username}`);
  return {
    credentials: { host, port: Number(port === '' ? 5432 : port), username, password, database: pathname.slice(1) },
    run,
    rotate: (next) => run(`alter role ${username} password '${next}'`),
    sessions: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const counted = client.query('select count(*)::int as n from pg_stat_activity where usename = $1', [username]);
      return (await counted.finally(() => client.end())).rows[0].n;
    },
    drop: async () => {
      await run(`drop owned by ${username}`);
      await run(`drop role ${username}`);
      await drop();
    },
  };
};

const openMariaDb = async (): Promise<Server> => {
  const { name, drop } = await createOwnMysqlDatabase();
  const run = (statement: string): Promise<void> =>
    onMysql(async (connection) => {
      await connection.query(statement);
    }, name);
  await run(`create user '${username}'@'%' identified by '${password}'`);
  await run(`grant select on ${name}.* to '${username}'@'%'`);
  return {
    credentials: { host: mysqlServer.host, port: mysqlServer.port, username, password, database: name },
    run,
    rotate: (next) => run(`alter user '${username}'@'%' identified by '${next}'`),
    sessions: async () => {
      let found = 0;
      await onMysql(async (connection) => {
        const asked = 'select count(*) as n from information_schema.processlist where user = ?';
        const [rows] = await connection.query(asked, [username]);
        found = Number((rows as { n: unknown }[])[0]?.n);
      }, name);
      return found;
    },
    drop: async () => {
      await run(`drop user '${username}'@'%'`);
      await drop();
    },
  };
};

const kinds = [
  { datasourceType: 'POSTGRES', spelt: 'postgres', open: openPostgres, isThere: await isPostgresThere() },
  { datasourceType: 'MYSQL', spelt: 'MariaDB', open: openMariaDb, isThere: await isMysqlThere() },
];

describe.each(kinds.filter(({ isThere }) => isThere))('$datasourceType', ({ datasourceType, spelt, open }) => {
  let house: House;
  let server: Server;
  const body = (parts: Input = {}): Input => ({
    datasourceType: spelt,
    credentials: { name: 'server', ...server.credentials, ...parts },
  });
  const listed = async () => (await ok(house, 'listDatasources', {})).data.find(({ name }) => name === 'server');

  beforeAll(async () => {
    server = await open();
    await server.run('create table shops (id bigint primary key, name varchar(20) not null unique)');
    await server.run(
      'create table sales (id bigint primary key, shop bigint, foreign key (shop) references shops (id))',
    );
    house = await openHouse(`datasources: { allowedHosts: ["${server.credentials.host}"] }`);
  }, 60_000);
  afterAll(async () => {
    await house.close();
    await server.drop();
  });

  test('an unreachable server is refused with a message without secrets, and is not stored', async () => {
    for (const parts of [{ database: 'nowhere' }, { port: 9 }, { username: 'nobody_here' }]) {
      const message = await refused('createDatasource DATASOURCE_CONNECTION_ERROR', house, body(parts));
      expect(message).not.toContain(password);
    }
    expect(await listed()).toBeUndefined();
  });

  test('creation stores what was found: tables, columns and keys', async () => {
    const answer = await call(house, 'createDatasource', body());
    expect([answer.status, answer.body]).toEqual([200, { name: 'server' }]);
    expect(await listed()).toMatchObject({ name: 'server', datasourceType });
    const tables = await house.stored(async (store) => {
      const summary = await store.datasources.findSummary('server');
      return store.datasources.findTables(summary?.id ?? '');
    });
    expect(tables?.find(({ tableName }) => tableName === 'sales')).toMatchObject({
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['shop'], references: { tableName: 'shops' }, referencedColumns: ['id'] }],
    });
    expect(tables?.find(({ tableName }) => tableName === 'shops')?.uniqueKeys).toEqual([['name']]);
  });

  test('a sync finds a table that was created later', async () => {
    const count = async () => (await ok(house, 'syncDatasource', { name: 'server' })).data.message;
    expect(await count()).toBe('Datasource "server" is synced: 2 tables.');
    await server.run('create table later (id bigint primary key)');
    expect(await count()).toBe('Datasource "server" is synced: 3 tables.');
  });

  test('the tables of the server are listed with keys and proposals, without tables that its user may not read', async () => {
    const { tables, proposals } = (await ok(house, 'listDatasourceTables', { name: 'server' })).data;
    expect(tables.find(({ tableName }) => tableName === 'shops')).toMatchObject({
      columns: [{ kind: 'integer' }, { columnName: 'name', kind: 'text', isNullable: false }],
      primaryKey: ['id'],
      uniqueKeys: [['name']],
    });
    expect(proposals.relationships).toMatchObject([
      { relationship: { relationshipName: 'sales.shop', cardinality: 'ManyToOne' }, basis: 'foreignKey' },
    ]);
    expect(proposals.tenantTables).toMatchObject([{ tableName: 'shops', keyColumn: 'id', nameColumn: 'name' }]);
    expect(proposals.clientColumns).toMatchObject([{ tableName: 'sales', columnName: 'shop' }]);
  });

  test('a table that was created later is listed without a sync', async () => {
    await server.run('create table since (id bigint primary key)');
    const { tables } = (await ok(house, 'listDatasourceTables', { name: 'server' })).data;
    expect(tables.map(({ tableName }) => tableName)).toContain('since');
  });

  test('an update to an unreachable server changes nothing', async () => {
    await refused('updateDatasource DATASOURCE_CONNECTION_ERROR', house, body({ database: 'nowhere' }));
    expect((await ok(house, 'syncDatasource', { name: 'server' })).data.message).toContain('is synced');
    expect(await ok(house, 'updateDatasource', body())).toEqual({ name: 'server' });
  });

  test('a password that was rotated is changed by itself, and one that the database refuses is not stored', async () => {
    const next = `pass-${randomUUID()}`;
    await server.rotate(next);
    await house.stored(async () => {});
    // A server of PostgreSQL may trust its own machine, and then reads no password.
    const isVerifying = datasourceType === 'MYSQL';
    if (isVerifying) await refused('syncDatasource DATASOURCE_CONNECTION_ERROR', house, { name: 'server' });
    for (const login of [...(isVerifying ? [{ password }] : []), { username: 'nobody_here', password: next }]) {
      const message = await refused('updateDatasourceLogin DATASOURCE_CONNECTION_ERROR', house, {
        name: 'server',
        ...login,
      });
      expect(message).not.toMatch(/pass-/);
    }
    const answer = await call(house, 'updateDatasourceLogin', { name: 'server', password: next });
    expect([answer.status, answer.body]).toEqual([200, { name: 'server' }]);
    await house.stored(async () => {});
    expect((await ok(house, 'syncDatasource', { name: 'server' })).data.message).toContain('is synced');
    await server.rotate(password);
    const piped = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([`${password}\n`]) as never);
    const words = ['datasources', 'set-password', 'server', '--user', username, '--url', house.url()];
    const { code, out, err } = await runCli(words, { env: { GUESTLIST_SERVICE_TOKEN: house.serviceToken } });
    piped.mockRestore();
    expect([code, out, err]).toEqual([
      0,
      'the datasource server was reached with the new password, which is stored\n',
      '',
    ]);
  });

  test('deletion closes all its connections', async () => {
    const before = await server.sessions();
    await ok(house, 'createDatasource', body({ name: 'brief' }));
    expect(await server.sessions()).toBeGreaterThan(before);
    await ok(house, 'deleteDatasource', { name: 'brief' });
    await expect.poll(server.sessions, { timeout: 5_000 }).toBe(before);
  });

  test('a host that is not allowed is not reached, even if it is the same server', async () => {
    const other = body({ name: 'other', host: 'localhost' });
    const message = await refused('createDatasource DATASOURCE_CONNECTION_ERROR', house, other);
    expect(message).toContain('datasources.allowedHosts');
  });
});
