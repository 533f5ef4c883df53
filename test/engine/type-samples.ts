/**
 * Columns of every type of every database, with values at the ends of what they hold. A public report of a type is named
 * above its sample: types.test.ts states for each that it can be grouped, filtered and clicked.
 */
import type { Kind } from './test-databases.js';

/** The name of the type, and values of it as the database's own SQL writes them. */
export type Sample = { readonly type: string; readonly values: readonly string[]; readonly isRequired?: boolean };

const quoted = (...texts: readonly string[]): readonly string[] => texts.map((text) => `'${text}'`);
const sample = (type: string, ...values: readonly string[]): Sample => ({ type, values });
const times = quoted('1969-12-31 23:59:59.5', '2024-02-29 10:20:30.123456', '1900-01-01 00:00:00');
const ids = quoted('f0000000-0000-4000-8000-000000000001', '00000000-0000-0000-0000-000000000000');

const duckDb: readonly Sample[] = [
  sample('TINYINT', '-128', '0', '127'),
  sample('SMALLINT', '-32768', '7'),
  sample('INTEGER', '-2147483648', '7'),
  sample('BIGINT', '-9223372036854775808', '9007199254740993', '7'),
  sample('HUGEINT', '-1000000000000000000000000000000000000', '7'),
  sample('UTINYINT', '255', '0'),
  sample('USMALLINT', '65535', '0'),
  sample('UINTEGER', '4294967295', '0'),
  sample('UBIGINT', '18446744073709551615', '0'),
  sample('UHUGEINT', '1000000000000000000000000000000000000', '0'),
  sample('DECIMAL(10,2)', '-12345678.91', '0.10', '7'),
  sample('DECIMAL(38,10)', '1234567890123456789012345678.0123456789', '0'),
  sample('FLOAT', '0.1', "'nan'", "'-infinity'", '3.5'),
  sample('DOUBLE', '0.1', "'nan'", "'infinity'", '1e300'),
  sample('VARCHAR', ...quoted('a', '', 'A', '(none)', 'äö %_\\')),
  sample("ENUM('small', 'big', 'a(b')", ...quoted('big', 'small', 'a(b')),
  sample('BOOLEAN', 'true', 'false'),
  sample('DATE', ...quoted('1969-12-31', '2024-02-29', '9999-12-31')),
  sample('TIMESTAMP', ...times),
  sample('TIMESTAMP_S', ...quoted('1969-12-31 23:59:59', '2024-02-29 10:20:30')),
  sample('TIMESTAMP_MS', ...quoted('1969-12-31 23:59:59.5', '2024-02-29 10:20:30.123')),
  sample('TIMESTAMP_NS', ...quoted('1969-12-31 23:59:59.5', '2024-02-29 10:20:30.123456789')),
  sample('TIMESTAMP WITH TIME ZONE', ...quoted('1969-12-31 23:59:59.5+00', '2024-02-29 10:20:30+00')),
  sample('UUID', ...ids),
  sample('TIME', ...quoted('08:00:00', '23:59:59.5')),
  sample('TIME WITH TIME ZONE', ...quoted('08:00:00+00', '23:59:59.5+02')),
  sample('INTERVAL', "INTERVAL '1 day 2 hours'", "INTERVAL '10 days'"),
  sample('BLOB', ...quoted('\\xAA\\x00', 'abc')),
  sample('BIT', ...quoted('101', '000')),
  sample('JSON', ...quoted('{"a": 1}', '[]')),
  sample('INTEGER[]', '[1, 2]', '[]'),
  sample('VARCHAR[2]', "['a', 'b']"),
  sample('STRUCT(a INTEGER, b VARCHAR)', "{'a': 1, 'b': 'x'}"),
  sample('MAP(VARCHAR, INTEGER)', "MAP {'k': 1}"),
  sample('UNION(num INTEGER, word VARCHAR)', 'union_value(num := 2)', "union_value(word := 'x')"),
];

const postgres: readonly Sample[] = [
  sample('smallint', '-32768', '7'),
  sample('integer', '-2147483648', '7'),
  sample('bigint', '-9223372036854775808', '9007199254740993', '7'),
  sample('oid', '0', '4294967295'),
  sample('numeric', '1e40', "'NaN'", '0.0001', '12345678901234567890123456789012345678901234567890'),
  sample('numeric(10,2)', '-12345678.91', '0.10'),
  // metabase#11498: AVG of a money column failed.
  sample('money', "'-1234.50'", "'0'", "'92233720368547758.07'"),
  sample('real', '0.1', "'NaN'", "'-Infinity'"),
  sample('double precision', '0.1', "'NaN'", "'Infinity'", '1e300'),
  sample('text', ...quoted('a', '', 'A', '(none)', 'äö %_\\')),
  sample('varchar(20)', ...quoted('a', 'A ')),
  sample('char(4)', ...quoted('a', 'ab')),
  sample('bpchar', ...quoted('a', 'ab')),
  sample('citext', ...quoted('Ab', 'aB', 'c')),
  sample('name', ...quoted('a', 'B')),
  sample('"char"', ...quoted('a', 'B')),
  // metabase#1623: a filter on an enum failed, because its value was compared as text.
  sample('gl_kind', ...quoted('y', 'x')),
  sample('gl_positive', '1', '7'),
  sample('boolean', 'true', 'false'),
  sample('date', ...quoted('1969-12-31', '2024-02-29', '0044-03-15 BC', 'infinity')),
  sample('timestamp', ...times, "'infinity'"),
  sample('timestamp(0)', ...quoted('1969-12-31 23:59:59', '2024-02-29 10:20:30')),
  sample('timestamptz', ...quoted('1969-12-31 23:59:59.5+00', '2024-02-29 10:20:30+00')),
  sample('uuid', ...ids),
  sample('time', ...quoted('08:00:00', '23:59:59.5')),
  sample('timetz', ...quoted('08:00:00+00', '23:59:59.5+02')),
  sample('interval', ...quoted('1 day 2 hours', '-10 days', '1 year 2 mons')),
  sample('interval day to second(3)', ...quoted('1 day 2 hours')),
  // metabase#10125: a filter on a bytea key failed.
  sample('bytea', "'\\xaa00'", "'\\x616263'"),
  sample('bit(3)', "B'101'", "B'000'"),
  sample('bit varying(5)', "B'101'", "B'0'"),
  sample('json', ...quoted('{"a": 1}', '[]')),
  sample('jsonb', ...quoted('{"a": 1}', '[]')),
  sample('xml', ...quoted('<a/>', '<b>1</b>')),
  // metabase#1891: a filter on an inet column failed: "operator does not exist".
  sample('inet', ...quoted('10.0.0.1', '::1/64')),
  sample('cidr', ...quoted('10.0.0.0/8')),
  sample('macaddr', ...quoted('08:00:2b:01:02:03')),
  sample('point', ...quoted('(1,2)', '(0.1,0.2)')),
  sample('polygon', ...quoted('((0,0),(1,1),(1,0))')),
  sample('tsvector', ...quoted('a b', 'c')),
  sample('int4range', ...quoted('[1,5)', 'empty')),
  sample('integer[]', ...quoted('{1,2}', '{}')),
  // metabase#40688: a filter on an array failed.
  sample('text[]', ...quoted('{a,"b c"}', '{}')),
  sample('gl_pair', "ROW(1, 'x')"),
  sample('gl_kind[]', ...quoted('{x,y}')),
];

const mysql: readonly Sample[] = [
  sample('tinyint', '-128', '127'),
  sample('tinyint(1)', '0', '1', '2', '126'),
  sample('smallint', '-32768', '7'),
  sample('mediumint', '-8388608', '7'),
  sample('int', '-2147483648', '7'),
  sample('bigint', '-9223372036854775808', '9007199254740993', '7'),
  sample('tinyint unsigned', '255', '0'),
  sample('bigint unsigned', '18446744073709551615', '0'),
  // dbeaver#5457: the zeros before the digits were not shown. They are no part of the number.
  sample('int(8) zerofill', '42', '7'),
  sample('decimal(10,2)', '-12345678.91', '0.10'),
  sample('decimal(8,2) zerofill', '42.5', '0'),
  sample('decimal(65,30)', '12345678901234567890123456789012345.123456789012345678901234567890', '0'),
  sample('float', '0.5', '-3.25'),
  sample('double', '0.1', '1e300'),
  sample('bit(1)', "b'1'", "b'0'"),
  sample('bit(64)', "b'1'", `b'${'1'.repeat(64)}'`),
  // metabase#13203: a table with a YEAR column could not be read at all.
  sample('year', '1999', '2024', '0'),
  sample('varchar(40)', ...quoted('a', '', 'A', '(none)', 'äö %_\\')),
  sample('varchar(40) CHARACTER SET latin2', ...quoted('a', 'A', 'ł')),
  sample('varchar(40) CHARACTER SET sjis', ...quoted('a', 'A')),
  sample('char(4)', ...quoted('a', 'ab')),
  sample('longtext', ...quoted('a', 'B')),
  sample("enum('small','big','a(b')", ...quoted('big', 'small', 'a(b')),
  sample("set('red','green','blue')", ...quoted('red,blue', '', 'green')),
  sample('date', ...quoted('1969-12-31', '2024-02-29', '0000-00-00', '2024-00-00')),
  sample('datetime(6)', ...times, "'0000-00-00 00:00:00'"),
  sample('datetime', ...quoted('1969-12-31 23:59:59', '2024-02-29 10:20:30')),
  sample('timestamp(6) NULL', ...quoted('1999-12-31 23:59:59.5', '2024-02-29 10:20:30', '0000-00-00 00:00:00')),
  // metabase#12846, dbeaver#2885, duckdb-mysql#177: TIME could not be grouped, was cut at 24 hours, and zero was NULL.
  sample('time(3)', ...quoted('00:00:00', '08:00:00', '-838:59:59', '25:30:00', '23:59:59.5')),
  sample('json', ...quoted('{"a": 1}', '[]')),
  sample('uuid', ...ids),
  sample('inet6', ...quoted('::1', 'fe80::2')),
  sample('binary(2)', "x'aa00'", "x'6162'"),
  sample('varbinary(10)', "x'aa00'", "x'6162'"),
  sample('blob', "x'aa00'", "x''"),
  sample('point', "ST_GeomFromText('POINT(1 2)')"),
];

const clickHouse: readonly Sample[] = [
  sample('Nullable(Int8)', '-128', '7'),
  sample('Nullable(Int64)', '-9223372036854775808', '9007199254740993', '7'),
  sample('Nullable(Int128)', '-170141183460469231731687303715884105728', '7'),
  sample('Nullable(Int256)', '-1', '7'),
  sample('Nullable(UInt8)', '255', '0'),
  sample('Nullable(UInt64)', '18446744073709551615', '0'),
  sample('Nullable(UInt256)', '1', '0'),
  sample('Nullable(Float32)', '0.1', 'nan', '-inf'),
  sample('Nullable(Float64)', '0.1', 'nan', 'inf', '1e300'),
  sample('Nullable(Decimal(10, 2))', "'-12345678.91'", "'0.1'"),
  sample('Nullable(Decimal(76, 10))', "'1234567890123456789012345678.0000000001'", "'0'"),
  sample('Nullable(Bool)', 'true', 'false'),
  sample('Nullable(String)', ...quoted('a', '', 'A', '(none)', 'äö %_')),
  sample('LowCardinality(Nullable(String))', ...quoted('a', 'B')),
  sample('Nullable(FixedString(4))', ...quoted('a', 'ab')),
  sample("Nullable(Enum8('x' = 1, 'a(b' = -2))", ...quoted('x', 'a(b')),
  sample('Nullable(UUID)', ...ids),
  sample('Nullable(Date)', ...quoted('1970-01-01', '2024-02-29')),
  sample('Nullable(Date32)', ...quoted('1900-01-01', '2299-12-31')),
  sample("Nullable(DateTime('Asia/Tokyo'))", ...quoted('2024-02-29 10:20:30')),
  sample("Nullable(DateTime64(3, 'UTC'))", ...quoted('1969-12-31 23:59:59.500', '2024-02-29 10:20:30.123')),
  sample("Nullable(DateTime64(9, 'UTC'))", ...quoted('1969-12-31 23:59:59.5', '2024-02-29 10:20:30.123456789')),
  sample('Nullable(IPv4)', ...quoted('10.0.0.1')),
  sample('Nullable(IPv6)', ...quoted('::1')),
  { ...sample('SimpleAggregateFunction(sum, Int64)', '5', '-7'), isRequired: true },
  { ...sample('SimpleAggregateFunction(max, Nullable(String))', ...quoted('a', 'b')) },
  { ...sample('Array(Int8)', '[1, 2]', '[]'), isRequired: true },
  { ...sample('Array(String)', "['a', 'b c']", '[]'), isRequired: true },
  { ...sample('Tuple(a Int8, b String)', "(1, 'x')"), isRequired: true },
  { ...sample('Map(String, UInt64)', "map('k', 1)"), isRequired: true },
  { ...sample('AggregateFunction(sum, Int64)', "initializeAggregation('sumState', toInt64(5))"), isRequired: true },
];

const sqlite: readonly Sample[] = [
  sample('INTEGER', '-4000000000000000000', '9007199254740993', '7', "'no number'"),
  sample('BIGINT', '-7', '7', '1.5'),
  sample('DECIMAL(10,2)', '-12345678.91', '0.10', '7', "'none'"),
  sample('NUMERIC', '0.1', '7'),
  sample('DOUBLE', '0.1', '9e999', '1e300'),
  sample('TEXT', ...quoted('a', '', 'A', '(none)', 'äö %_\\'), "x'ff00'"),
  sample('VARCHAR(20) COLLATE NOCASE', ...quoted('a', 'A ')),
  sample('BOOLEAN', 'true', 'false', "'maybe'"),
  sample('DATE', ...quoted('1969-12-31', '2024-02-29', '9999-12-31', 'now'), '1700000000'),
  sample(
    'DATETIME',
    ...quoted('1969-12-31 23:59:59.5', '2024-02-29T10:20:30.123Z', '2024-02-29 10:20:30+02:00', 'now'),
  ),
  sample('TIMESTAMP', '1700000000', '1700000000123', '2460369.5'),
  sample('TIMESTAMPTZ', ...quoted('1969-12-31 23:59:59.5', '2024-02-29 10:20:30')),
  sample('UUID', ...ids),
  sample('TIME', ...quoted('08:00:00', '23:59:59.5')),
  sample('JSON', ...quoted('{"a": 1}', '[]')),
  sample('BLOB', "x'aa00'", "x'616263'", "'text'"),
];

export const samples: Readonly<Record<Kind, readonly Sample[]>> = {
  DUCKDB: duckDb,
  POSTGRES: postgres,
  MYSQL: mysql,
  CLICKHOUSE: clickHouse,
  SQLITE: sqlite,
};

/** Types that the samples use and that the database has to be given first. */
const typeStatements: Readonly<Record<Kind, readonly string[]>> = {
  DUCKDB: [],
  POSTGRES: ['CREATE DOMAIN gl_positive AS integer CHECK (VALUE > 0)', 'CREATE TYPE gl_pair AS (a integer, b text)'],
  MYSQL: ["SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,ALLOW_INVALID_DATES'"],
  CLICKHOUSE: [],
  SQLITE: [],
};

/** One row for each value of the type with the most, and one of NULLs. Each row has an id. */
export const typeTable = (kind: Kind): readonly string[] => {
  const all = samples[kind];
  const columns = all.map(({ type }, index) => `"c${index}" ${type}`);
  const most = Math.max(...all.map(({ values }) => values.length));
  const rows = Array.from({ length: most + 1 }, (_, row) => {
    const cells = all.map(({ values, isRequired }) =>
      row === most && isRequired !== true ? 'NULL' : (values[row % values.length] ?? 'NULL'),
    );
    return `(${[row, ...cells].join(', ')})`;
  });
  const engine = kind === 'CLICKHOUSE' ? ' ENGINE = MergeTree ORDER BY id' : '';
  const id = kind === 'CLICKHOUSE' ? 'Int64' : 'BIGINT';
  return [
    ...typeStatements[kind],
    `CREATE TABLE "types" (id ${id}, ${columns.join(', ')})${engine}`,
    ...rows.map((row) => `INSERT INTO "types" VALUES ${row}`),
  ];
};
