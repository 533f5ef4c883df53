/**
 * What the engine guarantees for servers: no state stays on a connection, no error contains private text, and no
 * statement runs forever.
 */
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabases } from '../../src/engine/datasources/databases.js';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import type { Engine } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { systemClock } from '../../src/platform/work/time.js';
import { onMysql } from '../suites/mysql.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  columnRef,
  createLoggedEngine,
  datamart,
  type LogLine,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

type ServerKind = 'POSTGRES' | 'MYSQL';
type Server = Datasource & ServerConnection & { readonly datasourceType: ServerKind };
const isServer = (datasource: Datasource): datasource is Server => isOne(datasource.datasourceType);

/** Servers with connections. ClickHouse has none; see clickhouse.test.ts. */
const isOne = (kind: string): kind is ServerKind => kind === 'POSTGRES' || kind === 'MYSQL';
const kinds = (await findKinds()).filter(isOne);

/** Servers close a connection with a delay. */
const patience = { timeout: 30_000 };

/** Views that wait, that write, and that change the session's state. */
const views: Readonly<Record<ServerKind, readonly string[]>> = {
  POSTGRES: [
    'CREATE VIEW slow AS SELECT pg_sleep(60)::text AS text',
    "CREATE VIEW leaving AS SELECT set_config('guestlist.left', 'behind', false) AS text",
    "CREATE VIEW seeing AS SELECT coalesce(current_setting('guestlist.left', true), '') AS text",
  ],
  MYSQL: [
    'CREATE VIEW slow AS SELECT SLEEP(60) AS text',
    `CREATE FUNCTION do_leave() RETURNS VARCHAR(190) NOT DETERMINISTIC NO SQL
       BEGIN SET @gl_left = 'behind'; RETURN 'behind'; END`,
    'CREATE VIEW leaving AS SELECT do_leave() AS text',
    `CREATE FUNCTION do_see() RETURNS VARCHAR(190) NOT DETERMINISTIC NO SQL RETURN coalesce(@gl_left, '')`,
    'CREATE VIEW seeing AS SELECT do_see() AS text',
  ],
};

const odd: Readonly<Record<ServerKind, { readonly table: string; readonly column: string; readonly create: string }>> =
  {
    POSTGRES: {
      table: 'Odd "Table"',
      column: 'Odd "Name"; --',
      create: 'CREATE TABLE "Odd ""Table""" ("Odd ""Name""; --" text)',
    },
    MYSQL: {
      table: 'odd `table`',
      column: 'odd `name`; --',
      create: 'CREATE TABLE "odd `table`" ("odd `name`; --" VARCHAR(40))',
    },
  };

const textTable = (name: string) => table(name, { text: 'VARCHAR' });
const names = ['notes', 'slow', 'leaving', 'seeing'];
const mart = datamart({ tenancy: null, tables: names.map(textTable) });
const texts = (name: string) => metric(name, { dimensions: [{ name: 'text', column: columnRef(`${name}.text`) }] });

describe.each(kinds)('%s', (kind) => {
  let builder: Builder;
  let place: Place;
  let source: Server;
  let engine: Engine;
  let lines: LogLine[];

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('servers', [
      { name: 'notes', columns: { text: 'VARCHAR' }, rows: [['first']] },
      ...views[kind],
      odd[kind].create,
      'CREATE TABLE parents (a BIGINT NOT NULL, b BIGINT NOT NULL, code VARCHAR(20) NOT NULL, PRIMARY KEY (b, a), UNIQUE (code))',
      'CREATE TABLE children (id BIGINT PRIMARY KEY, pa BIGINT, pb BIGINT, at DATE, FOREIGN KEY (pb, pa) REFERENCES parents (b, a))',
      'CREATE UNIQUE INDEX children_once ON children (pa, at)',
    ]);
    if (!isServer(place.datasource)) throw new Error('no server');
    source = place.datasource;
    ({ engine, lines } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = (name: string, of = engine, datasource: Datasource = source) =>
    of.query(question({ ...place, datasource }, mart, 'None', texts(name)));
  const textsOf = async (name: string): Promise<unknown[]> => (await ask(name)).rows.map(({ text }) => text);

  /** Returns the server's connections to this test's database, one line each. */
  const sessions = async (): Promise<readonly string[]> => {
    if (kind === 'MYSQL') {
      const [rows] = await onMysql((connection) =>
        connection.query<never[]>('SELECT INFO FROM information_schema.PROCESSLIST WHERE DB = ?', [source.database]),
      );
      return rows.map((row: { INFO: string | null }) => row.INFO ?? 'idle');
    }
    const { host, port, username: user, password } = source;
    const client = new pg.Client({ host, port, user, password, database: 'postgres' });
    await client.connect();
    const sql = `SELECT CASE state WHEN 'active' THEN query ELSE state END AS state FROM pg_stat_activity WHERE datname = $1`;
    const { rows } = await client.query(sql, [source.database]);
    await client.end();
    return rows.map(({ state }) => String(state));
  };

  const noSessions = async (): Promise<void> => expect(await sessions()).toEqual([]);

  it('stops a statement on the server when it runs too long, and uses the connection again', async () => {
    const { engine: hasty } = createLoggedEngine({ timeoutMs: 1000, maxConnectionsPerDatasource: 3 });
    const refusals = await Promise.all([1, 2, 3, 4].map(() => refusalOf(() => ask('slow', hasty))));
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-timeout' });
      expect(refusal.message).not.toMatch(/statement|cancel|max_/);
    }
    expect((await sessions()).filter((text) => /sleep/i.test(text))).toEqual([]);
    expect((await ask('notes', hasty)).rows).toEqual([{ text: 'first' }]);
    expect((await sessions()).length).toBeLessThanOrEqual(3);
    await hasty.close();
  });

  it.each([
    "INSERT INTO <schema>.notes VALUES ('written')",
    'DELETE FROM <schema>.notes',
    'DROP TABLE <schema>.notes',
    'CREATE TABLE more (id INT)',
    'SELECT 1; SELECT 2',
    'COMMIT; DROP TABLE <schema>.notes',
  ])('can only read, one statement at a time: not %s', async (text) => {
    const sql = text.replace('<schema>', place.schemaName);
    const log = { warn: () => undefined, error: () => undefined };
    const databases = createDatabases({ clock: systemClock, log, assertReachable: async () => {} });
    const run = () =>
      databases.use(source, null, (database) => database.run({ sql, parameters: [] }, { kind: 'untenanted' }));
    expect(await refusalOf(run)).toMatchObject({ reason: 'datasource-failed' });
    expect(await textsOf('notes')).toEqual(['first']);
    await databases.close();
  });

  it('leaves no state on a connection for the next question', async () => {
    expect(await textsOf('leaving')).toEqual(['behind']);
    expect(await textsOf('seeing')).toEqual(['']);
    expect(new Set(await sessions())).toEqual(new Set(['idle']));
  });

  it('quotes names with any characters', async () => {
    const { table: tableName, column } = odd[kind];
    const of = datamart({ tenancy: null, tables: [table(tableName, { [column]: 'VARCHAR' })] });
    const ref = { schemaName: 'main', tableName, columnName: column };
    const definition = metric(tableName, {
      dimensions: [{ name: 'd', column: ref }],
      measures: [{ name: 'n', aggregate: 'COUNT' }],
    });
    expect((await engine.query(question(place, of, 'None', definition))).totalRecords).toBe(0);
  });

  it('describes its tables, views and keys, and nothing of the system', async () => {
    const tables = await engine.introspect(source);
    expect(tables.map(({ tableName }) => tableName).sort()).toEqual(
      [...names, odd[kind].table, 'parents', 'children'].sort(),
    );
    expect(new Set(tables.map(({ schemaName }) => schemaName))).toEqual(new Set([place.schemaName]));
    const [bigint, varchar] = kind === 'POSTGRES' ? ['bigint', 'character varying(20)'] : ['bigint(20)', 'varchar(20)'];
    const parents = { schemaName: place.schemaName, tableName: 'parents' };
    expect(tables.find(({ tableName }) => tableName === 'parents')).toEqual({
      ...parents,
      kind: 'table',
      columns: [
        { columnName: 'a', datatype: bigint, kind: 'integer', isNullable: false },
        { columnName: 'b', datatype: bigint, kind: 'integer', isNullable: false },
        { columnName: 'code', datatype: varchar, kind: 'text', isNullable: false },
      ],
      primaryKey: ['b', 'a'],
      uniqueKeys: [['code']],
      foreignKeys: [],
      // PostgreSQL has no estimate for a table that was never analyzed.
      estimatedRows: kind === 'POSTGRES' ? null : 0,
    });
    expect(tables.find(({ tableName }) => tableName === 'children')).toMatchObject({
      columns: [
        { isNullable: false },
        { isNullable: true },
        { isNullable: true },
        { columnName: 'at', datatype: 'date' },
      ],
      primaryKey: ['id'],
      uniqueKeys: [['pa', 'at']],
      foreignKeys: [{ columns: ['pb', 'pa'], references: parents, referencedColumns: ['b', 'a'] }],
    });
  });

  it('a later question sees a new table after the datasource was synced', async () => {
    const later = datamart({ tenancy: null, tables: [textTable('later')] });
    const count = () => engine.query(question(place, later, 'None', texts('later')));
    expect(await refusalOf(count)).toMatchObject({ reason: 'table-not-in-datasource' });
    const create = `CREATE TABLE ${place.schemaName}.later AS SELECT * FROM ${place.schemaName}.notes`;
    if (kind === 'MYSQL') await onMysql((connection) => connection.query(create));
    else {
      const { host, port, username: user, password, database } = source;
      const client = new pg.Client({ host, port, user, password, database });
      await client.connect();
      await client.query(create);
      await client.end();
    }
    await engine.introspect(source);
    expect((await count()).rows).toEqual([{ text: 'first' }]);
  });

  describe('a connection that fails', () => {
    const secret = 'correct horse battery staple';
    const broken: readonly (readonly [string, Partial<Server>, string, RegExp])[] = [
      ['no server', { port: 1 }, 'datasource-network', /host and port/],
      ['no host', { host: 'nowhere.invalid' }, 'datasource-network', /host and port/],
      ['a path for a host', { host: '/var/run/postgresql' }, 'datasource-network', /host and port/],
      ['no such database', { database: 'guestlist_nowhere' }, 'datasource-database', /database name/],
      ['no encryption', { isSsl: true }, 'datasource-encryption', /isSsl/],
    ];
    /** The test's PostgreSQL accepts any password, but only known users. */
    const credentials: (typeof broken)[number] = [
      'no such user',
      { username: 'nobody' },
      'datasource-credentials',
      /username and password/,
    ];

    it.each([...broken, credentials])(
      "%s: reports what to check, and keeps the driver's text private",
      async (_, parts, reason, mend) => {
        const { engine: own, lines: told } = createLoggedEngine();
        const datasource = { ...source, password: secret, ...parts } as Datasource;
        const withPassword = 'username' in parts ? datasource : { ...datasource, password: source.password };
        const refusal = await refusalOf(() => own.introspect(withPassword));
        expect(refusal).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason });
        expect(refusal.message).toMatch(mend);
        const asked = await refusalOf(() => ask('notes', own, withPassword));
        expect(asked).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-unavailable' });
        for (const { message } of [refusal, asked]) {
          expect(message).not.toMatch(/ECONN|ENOTFOUND|nobody|nowhere|127\.0\.0\.1|localhost|SSL|denied|FATAL/);
        }
        expect(told.length).toBeGreaterThan(0);
        expect(inspect(told, { depth: null })).not.toContain(secret);
        await own.close();
      },
    );

    it('to a silent server ends at the time limit', async () => {
      const silent = createServer();
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const address = silent.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const refusal = await refusalOf(() =>
        createLoggedEngine({ connectTimeoutMs: 200 }).engine.introspect({ ...source, port }),
      );
      expect(refusal).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason: 'datasource-network' });
      silent.close();
    });
  });

  it('is checked against the allow-list before connecting, not later', async () => {
    const asked: string[] = [];
    let isAllowed = false;
    const { engine: own } = createLoggedEngine({
      assertReachable: async ({ name }) => {
        asked.push(name);
        if (!isAllowed) throw new Refusal('DATASOURCE_CONNECTION_ERROR', 'Host db.internal is not allowed here.');
      },
    });
    const before = await sessions();
    expect(await refusalOf(() => own.introspect(source))).toMatchObject({
      code: 'DATASOURCE_CONNECTION_ERROR',
      message: 'Host db.internal is not allowed here.',
    });
    const refusal = await refusalOf(() => ask('notes', own));
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    expect(refusal.message).not.toContain('db.internal');
    expect(await sessions()).toHaveLength(before.length);
    isAllowed = true;
    expect((await ask('notes', own)).rows).toHaveLength(1);
    expect(asked).toHaveLength(3);
    isAllowed = false;
    expect((await ask('notes', own)).rows).toHaveLength(1);
    expect(asked).toHaveLength(3);
    await own.forget(source.id);
    expect(await refusalOf(() => ask('notes', own))).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    await own.close();
  });

  it('closes idle connections after a while, and opens them again', async () => {
    const { engine: own } = createLoggedEngine({ idleMs: 1 });
    await engine.forget(source.id);
    expect((await ask('notes', own)).rows).toHaveLength(1);
    await vi.waitFor(noSessions, patience);
    expect((await ask('notes', own)).rows).toHaveLength(1);
    await own.close();
    await vi.waitFor(noSessions, patience);
  });

  it('has a limited number of connections: the longest idle one is closed for a new one, never one in use', async () => {
    await engine.forget(source.id);
    const { engine: own } = createLoggedEngine({ limit: 2, timeoutMs: 1000 });
    for (const id of ['one', 'two', 'three', 'two'])
      expect((await ask('notes', own, { ...source, id })).rows).toHaveLength(1);
    await vi.waitFor(async () => expect(await sessions()).toHaveLength(2), patience);
    const busy = ['two', 'three'].map((id) => refusalOf(() => ask('slow', own, { ...source, id })));
    expect((await refusalOf(() => ask('notes', own, { ...source, id: 'four' }))).message).toMatch(
      /Too many datasources/,
    );
    expect((await Promise.all(busy)).map(({ reason }) => reason)).toEqual(Array(2).fill('datasource-timeout'));
    await own.close();
  });

  it('replaces connections that the server ends', async () => {
    expect(await textsOf('notes')).toEqual(['first']);
    if (kind === 'MYSQL') {
      await onMysql(async (connection) => {
        const sql = 'SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ?';
        const [rows] = await connection.query<never[]>(sql, [source.database]);
        for (const { ID } of rows as { ID: number }[]) await connection.query(`KILL ${Number(ID)}`);
      });
    } else {
      const { host, port, username: user, password } = source;
      const client = new pg.Client({ host, port, user, password, database: 'postgres' });
      await client.connect();
      const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1';
      await client.query(sql, [source.database]);
      await client.end();
    }
    await vi.waitFor(async () => expect(await textsOf('notes')).toEqual(['first']), patience);
  });

  it('changed settings open another database, and the old one can be forgotten by name', async () => {
    expect(await textsOf('notes')).toEqual(['first']);
    const moved = { ...source, database: 'guestlist_nowhere' };
    expect(await refusalOf(() => ask('notes', engine, moved))).toMatchObject({ reason: 'datasource-unavailable' });
    await engine.forget(source.id);
    await vi.waitFor(noSessions, patience);
    expect(lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0);
  });
});

describe.runIf(kinds.includes('MYSQL'))('what MySQL cannot do is refused', () => {
  let builder: Builder;
  let place: Place;
  const { engine } = createLoggedEngine();
  const of = datamart({
    tenancy: null,
    tables: [
      table('t', { id: 'BIGINT', code: 'VARCHAR', day: 'DATE', flag: 'BOOLEAN', at: 'TIMESTAMP' }),
      table('u', { id: 'BIGINT', code: 'VARCHAR' }),
      table('v', { code: 'VARCHAR' }),
    ],
    relationships: [relationship('t.id', 'u.code'), relationship('t.code', 'v.code', 'FULL JOIN')],
  });

  beforeAll(async () => {
    builder = await createBuilder('MYSQL');
    place = await builder.build('lacking', [
      {
        name: 't',
        columns: { id: 'BIGINT', code: 'VARCHAR', day: 'DATE', flag: 'BOOLEAN', at: 'TIMESTAMP' },
        rows: [],
      },
      "SET sql_mode = ''",
      "INSERT INTO t VALUES (1, 'x', '0000-00-00', 2, '2024-00-10 00:00:00')",
      "SET sql_mode = 'ANSI_QUOTES'",
      { name: 'u', columns: { id: 'BIGINT', code: 'VARCHAR' }, rows: [[1, '1abc']] },
      { name: 'v', columns: { code: 'VARCHAR' }, rows: [['x']] },
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const count = { name: 'n', aggregate: 'COUNT' } as const;

  it.each([
    [
      'a join of text with numbers',
      metric('t', { dimensions: [{ name: 'd', column: columnRef('u.id') }] }),
      'join-of-different-types',
    ],
    [
      'a FULL JOIN',
      metric('t', { dimensions: [{ name: 'd', column: columnRef('v.code') }], measures: [count] }),
      'full-join-unsupported',
    ],
  ] as const)('what MySQL cannot do is refused: %s', async (_, definition, reason) => {
    expect(await refusalOf(() => engine.query(question(place, of, 'None', definition)))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason,
    });
  });

  it('more values than the protocol can count', async () => {
    const values = Array.from({ length: 10_000 }, (_, index) => index);
    const conditions = Array.from({ length: 7 }, () => ({
      column: columnRef('t.id'),
      predicate: { kind: 'oneOf', values } as const,
    }));
    const asked = question(place, of, 'None', metric('t', { measures: [count] }), { conditions });
    expect(await refusalOf(() => engine.query(asked))).toMatchObject({ reason: 'too-many-values' });
  });

  it('a date of zeros is NULL, and every number except 0 is true', async () => {
    const definition = metric('t', { underlying: ['t.day', 't.at', 't.flag'].map(columnRef) });
    expect((await engine.underlying(question(place, of, 'None', definition))).rows).toEqual([
      { day: null, at: null, flag: true },
    ]);
    const isTrue = [{ column: columnRef('t.flag'), predicate: { kind: 'oneOf', values: [true] } as const }];
    const counted = question(place, of, 'None', metric('t', { measures: [count] }), { conditions: isTrue });
    expect((await engine.query(counted)).rows).toEqual([{ n: 1 }]);
  });
});
