/**
 * What the engine guarantees only for ClickHouse: exact results for its many types, cancelled queries stop at the
 * server, and a question cannot change settings.
 */
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datasource, ServerConnection } from '../../src/domain/organization.js';
import type { Engine } from '../../src/domain/query/engine.js';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import type { Sql } from '../../src/engine/databases/dialect.js';
import { createDatabases } from '../../src/engine/datasources/databases.js';
import { systemClock } from '../../src/platform/clock.js';
import { isClickHouseThere, isFront, onClickHouse } from '../suites/clickhouse.js';
import { type Builder, createBuilder } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

type Source = Datasource & ServerConnection;

const kinds =
  'i8 i16 i32 i64 i128 i256 u8 u16 u32 u64 u128 u256 f32 f64 yes text fixed low kind uid day day32 at at3 at9 d9 d76';
const types: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [8, 16, 32, 64, 128, 256].flatMap((bits) => [
      [`i${bits}`, `Int${bits}`],
      [`u${bits}`, `UInt${bits}`],
    ]),
  ),
  f32: 'Float32',
  f64: 'Float64',
  yes: 'Bool',
  text: 'String',
  fixed: 'FixedString(4)',
  low: 'LowCardinality(String)',
  kind: "Enum8('x' = 1, 'y' = -2)",
  uid: 'UUID',
  day: 'Date',
  day32: 'Date32',
  at: "DateTime('Asia/Tokyo')",
  at3: 'DateTime64(3)',
  at9: "DateTime64(9, 'UTC')",
  d9: 'Decimal(9, 2)',
  d76: 'Decimal(76, 10)',
};

const statements = [
  `CREATE TABLE types (${kinds
    .split(' ')
    .map((name) => `"${name}" ${types[name]}`)
    .join(', ')}, list Array(Int8), tags Nullable(String)) ENGINE = MergeTree ORDER BY i8`,
  `INSERT INTO types VALUES (-128, -32768, -2147483648, -9223372036854775808, -170141183460469231731687303715884105728, -1,
    255, 65535, 4294967295, 18446744073709551615, 340282366920938463463374607431768211455, 1,
    0.1, 0.1, true, 'a', 'ab', 'l', 'y', 'f0000000-0000-4000-8000-000000000001', '2149-06-06', '1950-07-01',
    '2024-03-10 10:00:00', '2024-03-10 10:00:00.123', '2024-03-10 10:00:00.123456789', 1234567.89, '1234567890123456789012345678.0000000001', [1, 2], NULL)`,
  'CREATE TABLE big (id Int64, grp String) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO big SELECT 9223372036854775807 - number, 'all' FROM numbers(3)",
  'CREATE TABLE small (id UInt64, price Decimal(10, 2), code String, at DateTime64(3)) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO small VALUES (9223372036854775807, 1.5, '1', '2024-01-01 00:00:00.500'), (9223372036854775808, 1, '2', '2024-01-01 00:00:00')",
  'CREATE TABLE whole (id Int32, at DateTime) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO whole VALUES (1, '2024-01-01 00:00:00')",
  'CREATE TABLE "odd ""\\\\ table" ("na""me\\\\; --" Nullable(String)) ENGINE = MergeTree ORDER BY tuple()',
  `INSERT INTO "odd ""\\\\ table" VALUES ('found')`,
  'CREATE TABLE owned (owner FixedString(8), note String) ENGINE = MergeTree ORDER BY owner',
  "INSERT INTO owned VALUES ('acme', 'mine'), ('beta', 'theirs')",
  'CREATE TABLE shared (owner String, note String) ENGINE = MergeTree ORDER BY owner',
  "INSERT INTO shared SELECT if(number % 10 = 0, 'a', 'b'), if(number % 10 = 0, toString(number), 'secret') FROM numbers(1000)",
  'CREATE VIEW slow AS SELECT toString(count()) AS text FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
];

const columnsOf = (names: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, types[name] ?? 'String']));

const mart = datamart({
  tenancy: null,
  tables: [
    table('types', { ...columnsOf(kinds), list: 'Array(Int8)', tags: 'Nullable(String)' }),
    table('big', columnsOf('id grp')),
    table('small', columnsOf('id price code at')),
    table('whole', columnsOf('id at')),
    table('slow', columnsOf('text')),
  ],
  relationships: [relationship('big.id', 'small.id'), relationship('whole.id', 'small.price', 'LEFT JOIN', 'OneToOne')],
});
const count = { name: 'n', aggregate: 'COUNT' } as const;

describe.runIf(await isClickHouseThere())('ClickHouse', () => {
  let builder: Builder;
  let place: Place;
  let source: Source;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder('CLICKHOUSE');
    place = await builder.build('clickhouse', statements);
    source = place.datasource as Source;
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (...[definition, parts]: [Parameters<typeof question>[3], Parameters<typeof question>[4]?]) =>
    question(place, mart, 'None', definition, parts);
  const underlying = async (names: readonly string[], parts = {}) =>
    (await engine.underlying(asked(metric(names[0]?.split('.')[0] ?? '', { underlying: names.map(columnRef) }), parts)))
      .rows;
  const countWhere = async (from: string, ...conditions: Parameters<typeof condition>[]): Promise<unknown> => {
    const parts = { conditions: conditions.map((one) => condition(...one)) };
    return (await engine.query(asked(metric(from, { measures: [count] }), parts))).rows[0]?.n;
  };

  it('answers every type exactly, dates as ISO 8601 in UTC', async () => {
    const names = [...kinds.split(' '), 'list', 'tags'];
    const [row] = await underlying(names.map((name) => `types.${name}`));
    expect(row).toEqual({
      i8: -128,
      i16: -32768,
      i32: -2147483648,
      i64: '-9223372036854775808',
      i128: '-170141183460469231731687303715884105728',
      i256: -1,
      u8: 255,
      u16: 65535,
      u32: 4294967295,
      u64: '18446744073709551615',
      u128: '340282366920938463463374607431768211455',
      u256: 1,
      f32: Math.fround(0.1),
      f64: 0.1,
      yes: true,
      text: 'a',
      fixed: 'ab',
      low: 'l',
      kind: 'y',
      uid: 'f0000000-0000-4000-8000-000000000001',
      day: '2149-06-06',
      day32: '1950-07-01',
      at: '2024-03-10T01:00:00',
      at3: '2024-03-10T10:00:00.123',
      at9: '2024-03-10T10:00:00.123456789',
      d9: 1234567.89,
      d76: '1234567890123456789012345678.0000000001',
      list: '[1,2]',
      tags: null,
    });
  });

  it.each([
    ['i64', '-9223372036854775808'],
    ['u64', '18446744073709551615'],
    ['u128', '340282366920938463463374607431768211455'],
    ['i128', '-170141183460469231731687303715884105728'],
    ['i256', -1],
    ['f32', 0.1],
    ['yes', true],
    ['fixed', 'ab'],
    ['low', 'l'],
    ['kind', 'y'],
    ['uid', 'f0000000-0000-4000-8000-000000000001'],
    ['day', '2149-06-06'],
    ['day', '2149-06-06T00:00'],
    ['day32', '1950-07-01'],
    ['at', '2024-03-10T01:00:00'],
    ['at3', '2024-03-10T10:00:00.123'],
    ['d9', '1234567.890'],
    ['d76', '1234567890123456789012345678.0000000001'],
  ])('finds a value of %s as it is, alone and in a list: %s', async (name, value) => {
    const column = `types.${name}`;
    expect(await countWhere('types', [column, { kind: 'compare', operator: '=', value }])).toBe(1);
    expect(await countWhere('types', [column, { kind: 'oneOf', values: [value] }])).toBe(1);
    expect(await countWhere('types', [column, { kind: 'noneOf', values: [value] }])).toBe(0);
  });

  it.each([
    ['fixed', 'ab\0'],
    ['at3', '2024-03-10T10:00:00.123500'],
    ['at9', '2024-03-10T10:00:00.123456'],
    ['d9', '1234567.891'],
    ['i64', '-9223372036854775807.5'],
    ['i128', '-1701411834604692317316873037158841057.5'],
    ['day', '2149-06-06T10:00'],
  ])('does not find another value of %s for it: %s', async (name, value) => {
    const column = `types.${name}`;
    expect(await countWhere('types', [column, { kind: 'compare', operator: '=', value }])).toBe(0);
    expect(await countWhere('types', [column, { kind: 'oneOf', values: [value] }])).toBe(0);
  });

  it.each([
    ['day', '2300-01-01', 'value-out-of-range'],
    ['at3', '1899-12-31T23:00', 'value-out-of-range'],
    ['i256', 1.5, 'value-of-wrong-type'],
    ['d76', `0.${'1'.repeat(20)}`, 'value-of-wrong-type'],
    ['list', 'x', 'value-of-wrong-type'],
    ['text', 'x'.repeat(70_000), 'value-too-long'],
  ])('refuses values that it cannot compare exactly with %s', async (name, value, reason) => {
    for (const predicate of [
      { kind: 'compare', operator: '=', value },
      { kind: 'oneOf', values: [value] },
    ] as const) {
      expect(await refusalOf(() => countWhere('types', [`types.${name}`, predicate]))).toMatchObject({ reason });
    }
  });

  it('sums integers beyond 64 bits', async () => {
    const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('big.id') } as const;
    const { rows } = await engine.query(
      asked(metric('big', { measures: [sum, { ...sum, name: 'avg', aggregate: 'AVG' }] })),
    );
    expect(rows).toEqual([{ sum: '27670116110564327418', avg: 9223372036854776000 }]);
  });

  it('joins and semi-joins columns of different types by exact value', async () => {
    const joined = metric('big', {
      dimensions: [{ name: 'code', column: columnRef('small.code') }],
      measures: [count],
    });
    expect((await engine.query(asked(joined))).rows).toEqual([
      { code: '1', n: 1 },
      { code: null, n: 2 },
    ]);
    expect(await countWhere('big', ['small.code', { kind: 'isNotNull' }])).toBe(1);
    // 1.5 must not equal 1, in either direction.
    expect(await countWhere('small', ['whole.id', { kind: 'isNotNull' }])).toBe(1);
    const isFirst = { kind: 'compare', operator: '=', value: '1' } as const;
    expect(await countWhere('whole', ['small.code', isFirst])).toBe(0);
    expect(await countWhere('whole', ['small.code', { ...isFirst, value: '2' }])).toBe(1);
  });

  it('refuses to join columns without a common type', async () => {
    const text = datamart({ ...mart, relationships: [relationship('types.text', 'big.id')] });
    const definition = metric('types', { dimensions: [{ name: 'd', column: columnRef('big.grp') }] });
    expect(await refusalOf(() => engine.query(question(place, text, 'None', definition)))).toMatchObject({
      reason: 'join-of-different-types',
    });
    const conditions = [condition('big.grp', { kind: 'isNotNull' })];
    const counted = question(place, text, 'None', metric('types', { measures: [count] }), { conditions });
    expect(await refusalOf(() => engine.query(counted))).toMatchObject({ reason: 'join-of-different-types' });
  });

  it('compares a client id in a column of fixed length without its padding', async () => {
    const owned = datamart({ tenancy: byClients(), tables: [table('owned', columnsOf('owner note'), 'owner')] });
    const notes = metric('owned', { dimensions: [{ name: 'note', column: columnRef('owned.note') }] });
    const ask = async (client: string) => (await engine.query(question(place, owned, client, notes))).rows;
    expect(await ask('acme')).toEqual([{ note: 'mine' }]);
    for (const stranger of ['acme\0', 'acme\0\0\0\0', 'ACME', 'acme '])
      expect(await ask(stranger), stranger).toEqual([]);
  });

  it('accepts lists that are too long for one form field', async () => {
    const values = Array.from({ length: 10_000 }, (_, index) => `${index} ${"'\\".repeat(10)}`);
    expect(await countWhere('types', ['types.text', { kind: 'oneOf', values: [...values, 'a'] }])).toBe(1);
    expect(await countWhere('types', ['types.text', { kind: 'noneOf', values }])).toBe(1);
    expect(await countWhere('types', ['types.text', { kind: 'noneOf', values: [...values, 'a'] }])).toBe(0);
  });

  it('quotes names with any characters', async () => {
    const [tableName, columnName] = ['odd "\\ table', 'na"me\\; --'];
    const of = datamart({ tenancy: null, tables: [table(tableName, { [columnName]: 'String' })] });
    const ref = { schemaName: 'main', tableName, columnName };
    const definition = metric(tableName, { dimensions: [{ name: 'd', column: ref }], measures: [count] });
    expect((await engine.query(question(place, of, 'None', definition))).rows).toEqual([{ d: 'found', n: 1 }]);
  });

  it('describes its tables and views with their types, and without keys, since a ClickHouse primary key is not unique', async () => {
    const tables = await engine.introspect(source);
    expect(new Set(tables.map(({ schemaName }) => schemaName))).toEqual(new Set([place.schemaName]));
    expect(tables.map(({ tableName }) => tableName)).toEqual([
      'big',
      'odd "\\ table',
      'owned',
      'shared',
      'slow',
      'small',
      'types',
      'whole',
    ]);
    expect(tables.find(({ tableName }) => tableName === 'types')?.columns).toContainEqual({
      columnName: 'tags',
      datatype: 'Nullable(String)',
      isNullable: true,
    });
    expect(tables.find(({ tableName }) => tableName === 'whole')).toEqual({
      schemaName: place.schemaName,
      tableName: 'whole',
      columns: [
        { columnName: 'id', datatype: 'Int32', isNullable: false },
        { columnName: 'at', datatype: 'DateTime', isNullable: false },
      ],
      primaryKey: [],
      uniqueKeys: [],
      foreignKeys: [],
      estimatedRows: expect.any(Number),
    });
  });

  /** Expressions that fail on a value of another client. */
  const throwing = [
    'SELECT count() FROM leaf WHERE toInt64(note) >= 0',
    'SELECT note FROM leaf GROUP BY note HAVING toInt64(note) > 5',
    'SELECT count() FROM (SELECT toInt64(note) AS x FROM leaf) WHERE x > 5',
    "SELECT count() FROM leaf WHERE note LIKE '%0' AND toInt64(note) > 5",
    'SELECT count() FROM leaf AS a JOIN leaf AS b ON a.note = b.note WHERE toInt64(b.note) > 5',
    'SELECT count() FROM leaf JOIN numbers(10) AS m ON toInt64(leaf.note) = toInt64(m.number)',
    'SELECT count() FROM leaf WHERE note IN (SELECT note FROM leaf WHERE toInt64(note) > 3)',
    'SELECT count() FROM (SELECT toInt64(note) AS z, row_number() OVER (ORDER BY note) AS r FROM leaf) WHERE z > 3',
    'SELECT sum(toInt64(note)) FROM leaf',
  ];
  const rows = sql`SELECT note FROM shared WHERE owner = 'a'`;
  const leaves = {
    barrier: clickHouseDialect.barrier?.(sql`leaf`, rows) ?? sql``,
    plain: sql`leaf ${clickHouseDialect.asLeaf} (${rows})`,
  };
  const failures = async (leaf: Sql): Promise<readonly string[]> => {
    const failed: string[] = [];
    for (const text of throwing) {
      const statement = clickHouseDialect.compile(sql`WITH ${leaf} ${sql.raw(text)}`, []);
      await onClickHouse(statement.sql, source.database).catch((cause: unknown) => failed.push(String(cause)));
    }
    return failed;
  };

  it('evaluates no expression above a barrier on excluded rows; above a plain leaf it does', async () => {
    expect(await failures(leaves.barrier)).toEqual([]);
    const plain = await failures(leaves.plain);
    expect(plain.length).toBeGreaterThan(0);
    for (const message of plain) expect(message).toContain('secret');
  });

  it('stops a statement on the server when it runs too long', async () => {
    const { engine: hasty } = createLoggedEngine({ timeoutMs: 500 });
    const slow = asked(metric('slow', { dimensions: [{ name: 'text', column: columnRef('slow.text') }] }));
    for (const refusal of await Promise.all([1, 2, 3, 4].map(() => refusalOf(() => hasty.query(slow))))) {
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-timeout' });
      expect(refusal.message).not.toMatch(/Timeout exceeded|max_|Code/);
    }
    const running = await onClickHouse(
      "SELECT query FROM system.processes WHERE query LIKE '%slow%' AND query NOT LIKE '%processes%'",
    );
    expect(running).toEqual([]);
    expect(await countWhere('whole')).toBe(1);
    await hasty.close();
  });

  it.each([
    'INSERT INTO whole VALUES (2, now())',
    'DROP TABLE whole',
    'CREATE TABLE more (id Int8) ENGINE = Memory',
    'ALTER TABLE whole DELETE WHERE 1',
    'SET max_execution_time = 0',
    'SELECT 1 SETTINGS max_execution_time = 0',
    'SELECT 1 SETTINGS readonly = 0',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
  ])("can only read, with the engine's settings: not %s", async (text) => {
    const log = { warn: () => undefined, error: () => undefined };
    const databases = createDatabases({ clock: systemClock, log, assertReachable: async () => {} });
    const run = () =>
      databases.use(source, null, (database) => database.run({ sql: text, parameters: [] }, { kind: 'untenanted' }));
    expect(await refusalOf(run)).toMatchObject({ reason: 'datasource-failed' });
    expect(await countWhere('whole')).toBe(1);
    await databases.close();
  });

  describe('a connection', () => {
    const secret = 'correct horse battery staple';
    it.each<[string, Partial<Source>, string, RegExp]>([
      ['no server', { port: 1 }, 'datasource-network', /host and port/],
      ['no host', { host: 'nowhere.invalid' }, 'datasource-network', /host and port/],
      ['a path for a host', { host: '/var/run/clickhouse' }, 'datasource-network', /host and port/],
      ['a user in the host', { host: 'me@127.0.0.1' }, 'datasource-network', /host and port/],
      ['no such database', { database: 'guestlist_nowhere' }, 'datasource-database', /database name/],
      ['no encryption', { isSsl: true }, 'datasource-encryption', /isSsl/],
      ['no such user', { username: 'nobody', password: secret }, 'datasource-credentials', /username and password/],
      ['another password', { password: secret }, 'datasource-credentials', /username and password/],
    ])("failure reports what to check, and keeps the driver's text private: %s", async (_, parts, reason, mend) => {
      const { engine: own, lines } = createLoggedEngine();
      const refusal = await refusalOf(() => own.introspect({ ...source, ...parts } as Datasource));
      expect(refusal).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason });
      expect(refusal.message).toMatch(mend);
      expect(refusal.message).not.toMatch(/ECONN|ENOTFOUND|nobody|nowhere|127\.0\.0\.1|SSL|Code|Exception/);
      expect(inspect(lines, { depth: null })).not.toContain(secret);
      await own.close();
    });

    it('to a silent server ends at the time limit', async () => {
      const silent = createServer();
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const address = silent.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const { engine: own } = createLoggedEngine({ connectTimeoutMs: 200 });
      expect(await refusalOf(() => own.introspect({ ...source, port }))).toMatchObject({
        reason: 'datasource-network',
      });
      silent.close();
    });

    it.runIf(isFront)(
      'of a read-only user works; a user who may change no settings at all gets a clear message',
      async () => {
        const { engine: own } = createLoggedEngine();
        const ask = (username: string) =>
          own.query({ ...asked(metric('whole', { measures: [count] })), datasource: { ...source, username } });
        expect((await ask('reader')).rows).toEqual([{ n: 1 }]);
        expect(await refusalOf(() => own.introspect({ ...source, username: 'locked' }))).toMatchObject({
          reason: 'datasource-settings',
        });
        await own.close();
      },
    );
  });
});
