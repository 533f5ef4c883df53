/** A ClickHouse database with a table of every type and tables that join, leak, quote or run slowly; and questions to it. */
import { sql } from 'kysely';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import type { Sql } from '../../src/engine/dialect/dialect.js';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import { onClickHouse } from '../suites/clickhouse.js';
import { createBuilder } from './test-databases.js';
import { columnRef, condition, createLoggedEngine, datamart, metric, question, relationship, table } from './world.js';

export type Source = Datasource & ServerConnection;

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

/** One column of each type, of the table `types`. */
export const columnsOfEveryType = [...kinds.split(' '), 'list', 'tags'].map((name) => `types.${name}`);

/** The columns of these names, each of the type that its name says; other names are texts. */
export const columnsOf = (names: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, types[name] ?? 'String']));

/** The tables that questions are about, readable by everyone. */
export const mart = datamart({
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
/** Counts the rows of a question. */
export const count = { name: 'n', aggregate: 'COUNT' } as const;

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
/** Only the rows of client `a`: behind a barrier, or as a leaf that the server may rearrange. */
export const leaves = {
  barrier: clickHouseDialect.barrier?.(sql`leaf`, rows) ?? sql``,
  plain: sql`leaf ${clickHouseDialect.asLeaf} (${rows})`,
};
/** The messages of the expressions that fail over this leaf. */
export const failuresOver = async (leaf: Sql, database: string): Promise<readonly string[]> => {
  const failed: string[] = [];
  for (const text of throwing) {
    const statement = clickHouseDialect.compile(sql`WITH ${leaf} ${sql.raw(text)}`, []);
    await onClickHouse(statement.sql, database).catch((cause: unknown) => failed.push(String(cause)));
  }
  return failed;
};

export type ClickHouseWorld = Awaited<ReturnType<typeof createClickHouseWorld>>;

/** Builds the database, and asks it by an engine. */
export const createClickHouseWorld = async () => {
  const builder = await createBuilder('CLICKHOUSE');
  const place = await builder.build('clickhouse', statements);
  const { engine } = createLoggedEngine();
  const asked = (definition: Parameters<typeof question>[3], parts?: Parameters<typeof question>[4]) =>
    question(place, mart, 'None', definition, parts);
  return {
    place,
    engine,
    source: place.datasource as Source,
    /** A question to the tables of `mart`. */
    asked,
    /** The rows of the table of the first column: all of these columns. */
    rowsOf: async (names: readonly string[]) => {
      const definition = metric(names[0]?.split('.')[0] ?? '', { underlying: names.map(columnRef) });
      return (await engine.underlying(asked(definition))).rows;
    },
    /** How many rows of the table meet all conditions. */
    countWhere: async (from: string, ...conditions: Parameters<typeof condition>[]): Promise<unknown> => {
      const parts = { conditions: conditions.map((one) => condition(...one)) };
      return (await engine.query(asked(metric(from, { measures: [count] }), parts))).rows[0]?.n;
    },
    close: async (): Promise<void> => {
      await engine.close();
      await builder.remove();
    },
  };
};
