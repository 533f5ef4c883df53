/**
 * What the engine guarantees only for ClickHouse: exact results for its many types, cancelled queries stop at the
 * server, and a question cannot change settings.
 */
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabases } from '../../src/engine/datasources/databases.js';
import type { Datasource } from '../../src/model/organization.js';
import { systemClock } from '../../src/platform/work/time.js';
import { isClickHouseThere, isFront, onClickHouse } from '../suites/clickhouse.js';
import {
  type ClickHouseWorld,
  columnsOf,
  columnsOfEveryType,
  count,
  createClickHouseWorld,
  failuresOver,
  leaves,
  mart,
  type Source,
} from './clickhouse-world.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

describe.runIf(await isClickHouseThere())('ClickHouse', () => {
  let world: ClickHouseWorld;
  beforeAll(async () => {
    world = await createClickHouseWorld();
  });
  afterAll(() => world?.close());

  it('ClickHouse answers every type exactly, and dates as ISO 8601 in UTC', async () => {
    const expected = {
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
    };
    expect(await world.rowsOf(columnsOfEveryType)).toEqual([expected]);
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
  ])('ClickHouse finds a value of %s as it is, alone and in a list: %s', async (name, value) => {
    const column = `types.${name}`;
    expect(await world.countWhere('types', [column, { kind: 'compare', operator: '=', value }])).toBe(1);
    expect(await world.countWhere('types', [column, { kind: 'oneOf', values: [value] }])).toBe(1);
    expect(await world.countWhere('types', [column, { kind: 'noneOf', values: [value] }])).toBe(0);
  });

  it.each([
    ['fixed', 'ab\0'],
    ['at3', '2024-03-10T10:00:00.123500'],
    ['at9', '2024-03-10T10:00:00.123456'],
    ['d9', '1234567.891'],
    ['i64', '-9223372036854775807.5'],
    ['i128', '-1701411834604692317316873037158841057.5'],
    ['day', '2149-06-06T10:00'],
  ])('ClickHouse does not find a value of %s that differs in its last digits: %s', async (name, value) => {
    const column = `types.${name}`;
    expect(await world.countWhere('types', [column, { kind: 'compare', operator: '=', value }])).toBe(0);
    expect(await world.countWhere('types', [column, { kind: 'oneOf', values: [value] }])).toBe(0);
  });

  it.each([
    ['day', '2300-01-01', 'value-out-of-range'],
    ['at3', '1899-12-31T23:00', 'value-out-of-range'],
    ['i256', 1.5, 'value-of-wrong-type'],
    ['d76', `0.${'1'.repeat(20)}`, 'value-of-wrong-type'],
    ['text', 'x'.repeat(70_000), 'value-too-long'],
  ])('ClickHouse is not asked for values that it cannot compare exactly with %s', async (name, value, reason) => {
    for (const predicate of [
      { kind: 'compare', operator: '=', value },
      { kind: 'oneOf', values: [value] },
    ] as const) {
      expect(await refusalOf(() => world.countWhere('types', [`types.${name}`, predicate]))).toMatchObject({ reason });
    }
  });

  it('ClickHouse sums integers beyond 64 bits', async () => {
    const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('big.id') } as const;
    const { rows } = await world.engine.query(
      world.asked(metric('big', { measures: [sum, { ...sum, name: 'avg', aggregate: 'AVG' }] })),
    );
    expect(rows).toEqual([{ sum: '27670116110564327418', avg: 9223372036854776000 }]);
  });

  it('ClickHouse joins and semi-joins columns of different types by exact value', async () => {
    const joined = metric('big', {
      dimensions: [{ name: 'code', column: columnRef('small.code') }],
      measures: [count],
    });
    expect((await world.engine.query(world.asked(joined))).rows).toEqual([
      { code: '1', n: 1 },
      { code: null, n: 2 },
    ]);
    expect(await world.countWhere('big', ['small.code', { kind: 'isNotNull' }])).toBe(1);
    // 1.5 must not equal 1, in either direction.
    expect(await world.countWhere('small', ['whole.id', { kind: 'isNotNull' }])).toBe(1);
    const isFirst = { kind: 'compare', operator: '=', value: '1' } as const;
    expect(await world.countWhere('whole', ['small.code', isFirst])).toBe(0);
    expect(await world.countWhere('whole', ['small.code', { ...isFirst, value: '2' }])).toBe(1);
  });

  it('columns of ClickHouse without a common type are not joined', async () => {
    const text = datamart({ ...mart, relationships: [relationship('types.text', 'big.id')] });
    const definition = metric('types', { dimensions: [{ name: 'd', column: columnRef('big.grp') }] });
    expect(await refusalOf(() => world.engine.query(question(world.place, text, 'None', definition)))).toMatchObject({
      reason: 'join-of-different-types',
    });
    const conditions = [condition('big.grp', { kind: 'isNotNull' })];
    const counted = question(world.place, text, 'None', metric('types', { measures: [count] }), { conditions });
    expect(await refusalOf(() => world.engine.query(counted))).toMatchObject({ reason: 'join-of-different-types' });
  });

  it('ClickHouse compares a client id in a column of fixed length without its padding', async () => {
    const owned = datamart({ tenancy: byClients(), tables: [table('owned', columnsOf('owner note'), 'owner')] });
    const notes = metric('owned', { dimensions: [{ name: 'note', column: columnRef('owned.note') }] });
    const ask = async (client: string) => (await world.engine.query(question(world.place, owned, client, notes))).rows;
    expect(await ask('acme')).toEqual([{ note: 'mine' }]);
    for (const stranger of ['acme\0', 'acme\0\0\0\0', 'ACME', 'acme '])
      expect(await ask(stranger), stranger).toEqual([]);
  });

  it('ClickHouse accepts lists that are too long for one form field', async () => {
    const values = Array.from({ length: 10_000 }, (_, index) => `${index} ${"'\\".repeat(10)}`);
    expect(await world.countWhere('types', ['types.text', { kind: 'oneOf', values: [...values, 'a'] }])).toBe(1);
    expect(await world.countWhere('types', ['types.text', { kind: 'noneOf', values }])).toBe(1);
    expect(await world.countWhere('types', ['types.text', { kind: 'noneOf', values: [...values, 'a'] }])).toBe(0);
  });

  it('names with any characters are quoted for ClickHouse', async () => {
    const [tableName, columnName] = ['odd "\\ table', 'na"me\\; --'];
    const of = datamart({ tenancy: null, tables: [table(tableName, { [columnName]: 'String' })] });
    const ref = { schemaName: 'main', tableName, columnName };
    const definition = metric(tableName, { dimensions: [{ name: 'd', column: ref }], measures: [count] });
    expect((await world.engine.query(question(world.place, of, 'None', definition))).rows).toEqual([
      { d: 'found', n: 1 },
    ]);
  });

  it('ClickHouse describes its tables and views with their types, and without keys, since its primary key is not unique', async () => {
    const tables = await world.engine.introspect(world.source);
    expect(new Set(tables.map(({ schemaName }) => schemaName))).toEqual(new Set([world.place.schemaName]));
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
      kind: 'text',
      isNullable: true,
    });
    expect(tables.find(({ tableName }) => tableName === 'whole')).toEqual({
      schemaName: world.place.schemaName,
      tableName: 'whole',
      kind: 'table',
      columns: [
        { columnName: 'id', datatype: 'Int32', kind: 'integer', isNullable: false },
        { columnName: 'at', datatype: 'DateTime', kind: 'date', isNullable: false },
      ],
      primaryKey: [],
      uniqueKeys: [],
      foreignKeys: [],
      estimatedRows: expect.any(Number),
    });
  });

  it('ClickHouse evaluates no expression above a barrier on excluded rows; above a plain leaf it does', async () => {
    expect(await failuresOver(leaves.barrier, world.source.database)).toEqual([]);
    const plain = await failuresOver(leaves.plain, world.source.database);
    expect(plain.length).toBeGreaterThan(0);
    for (const message of plain) expect(message).toContain('secret');
  });

  it('a statement that runs too long is stopped on the ClickHouse server', async () => {
    const { engine: hasty } = createLoggedEngine({ timeoutMs: 500 });
    const slow = world.asked(metric('slow', { dimensions: [{ name: 'text', column: columnRef('slow.text') }] }));
    for (const refusal of await Promise.all([1, 2, 3, 4].map(() => refusalOf(() => hasty.query(slow))))) {
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-timeout' });
      expect(refusal.message).not.toMatch(/Timeout exceeded|max_|Code/);
    }
    const running = await onClickHouse(
      "SELECT query FROM system.processes WHERE query LIKE '%slow%' AND query NOT LIKE '%processes%'",
    );
    expect(running).toEqual([]);
    expect(await world.countWhere('whole')).toBe(1);
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
  ])("a question to ClickHouse can only read, with the engine's settings: not %s", async (text) => {
    const log = { warn: () => undefined, error: () => undefined };
    const databases = createDatabases({ clock: systemClock, log, assertReachable: async () => {} });
    const run = () =>
      databases.use(world.source, null, (database) =>
        database.run({ sql: text, parameters: [] }, { kind: 'untenanted' }),
      );
    expect(await refusalOf(run)).toMatchObject({ reason: 'datasource-failed' });
    expect(await world.countWhere('whole')).toBe(1);
    await databases.close();
  });

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
  ])(
    "a failed connection to ClickHouse reports what to check, and keeps the driver's text private: %s",
    async (_, parts, reason, mend) => {
      const { engine: own, lines } = createLoggedEngine();
      const refusal = await refusalOf(() => own.introspect({ ...world.source, ...parts } as Datasource));
      expect(refusal).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason });
      expect(refusal.message).toMatch(mend);
      expect(refusal.message).not.toMatch(/ECONN|ENOTFOUND|nobody|nowhere|127\.0\.0\.1|SSL|Code|Exception/);
      expect(inspect(lines, { depth: null })).not.toContain(secret);
      await own.close();
    },
  );

  it('a connection to a silent ClickHouse server ends at the time limit', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const { engine: own } = createLoggedEngine({ connectTimeoutMs: 200 });
    expect(await refusalOf(() => own.introspect({ ...world.source, port }))).toMatchObject({
      reason: 'datasource-network',
    });
    silent.close();
  });

  it.runIf(isFront)(
    'a read-only user of ClickHouse is enough; a user who may change no settings at all gets a clear message',
    async () => {
      const { engine: own } = createLoggedEngine();
      const ask = (username: string) =>
        own.query({
          ...world.asked(metric('whole', { measures: [count] })),
          datasource: { ...world.source, username },
        });
      expect((await ask('reader')).rows).toEqual([{ n: 1 }]);
      expect(await refusalOf(() => own.introspect({ ...world.source, username: 'locked' }))).toMatchObject({
        reason: 'datasource-settings',
      });
      await own.close();
    },
  );
});
