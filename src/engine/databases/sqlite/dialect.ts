import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import { isNotFinite } from '../../../model/filter/exact-number.js';
import type { Period } from '../../../model/filter/period.js';
import { columnName } from '../../dialect/catalog.js';
import {
  type Bound,
  type BoundList,
  type Column,
  type Dialect,
  type PlainAggregate,
  plainAggregate,
  type Side,
  type Sql,
} from '../../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../../dialect/refuse.js';
import { decimalOfCast, integerRanges, type SqlType } from '../../dialect/sql-type.js';
import { dayOf, localTime, momentOf, storedTime } from './times.js';

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** What SQLite can be told to read a value as. It has no types beside these. */
const storageOf = (cast: string): 'TEXT' | 'INTEGER' | 'NUMERIC' | 'REAL' => {
  if (integerRanges.has(cast) || cast === 'BOOLEAN') return 'INTEGER';
  if (['VARCHAR', 'DATE', 'TIMESTAMP', 'UUID'].includes(cast)) return 'TEXT';
  // A whole number of 64 bits stays one.
  return decimalOfCast(cast) === undefined ? 'REAL' : 'NUMERIC';
};

const assertHeld = (text: string, cast: string): void => {
  const isDate = cast === 'DATE' || cast === 'TIMESTAMP';
  if (isDate ? /^[0-9]{4}-/.test(text) : text !== 'NaN' || cast === 'VARCHAR') return;
  refuseQuery(
    'A condition holds a date outside of the years 0 to 9999, or NaN, which SQLite cannot represent. Use another value.',
    'value-out-of-range',
  );
};

/** The value as it is bound: dates as the dialect writes them, infinities as a number beyond all others. */
const boundText = (text: string, cast: string): string => {
  assertHeld(text, cast);
  if (cast === 'BOOLEAN') return text === 'true' ? '1' : '0';
  if (cast === 'TIMESTAMP') return momentOf(text);
  return cast !== 'VARCHAR' && isNotFinite(text) ? text.replace('Infinity', '9e999') : text;
};

/** Dates and times are text; any other value is converted. Decimals are rounded to their digits, which a REAL holds. */
const cast = ({ text, cast: of }: Bound): Sql => {
  const isText = typeof text === 'string';
  const scale = decimalOfCast(of)?.scale;
  if (scale !== undefined && !isText) return sql`round(CAST(${text} AS REAL), ${sql.lit(scale)})`;
  return sql`CAST(${isText ? boundText(text, of) : text} AS ${sql.raw(storageOf(of))})`;
};
const text = (value: string): Sql => cast({ text: value, cast: 'VARCHAR' });

/** An index of the column can be used: its collation is BINARY unless its table says otherwise. */
const exact = (value: Sql): Sql => sql`${value} COLLATE BINARY`;

const isTextual = ({ type }: Side): boolean => storageOf(type.cast) === 'TEXT';

/** SQLite would compare the text `01` with the number 1 as numbers. */
const join = (near: Side, far: Side): Sql => {
  if (isTextual(near) !== isTextual(far)) {
    refuseQuery(
      `Columns ${columnName(near.ref)} and ${columnName(far.ref)} are joined, but only one of them is text; SQLite would compare them as numbers. Join columns of one type.`,
      'join-of-different-types',
    );
  }
  return sql`${exact(near.column)} = ${far.column}`;
};

const ifStored = (column: Sql, kinds: string, value: Sql): Sql =>
  sql`CASE WHEN typeof(${column}) IN (${sql.raw(kinds)}) THEN ${value} END`;

/** A column of SQLite may hold values of any type. Those of another type than its own are NULL. */
const field = (column: Sql, { type, zone }: Column): Sql => {
  switch (type.kind) {
    case 'text':
    case 'enum':
    case 'uuid':
      return ifStored(column, `'text'`, column);
    case 'integer':
      return ifStored(column, `'integer'`, column);
    case 'boolean':
      return ifStored(column, `'integer'`, sql`(${column} <> 0)`);
    case 'decimal':
    case 'float':
      return ifStored(column, `'integer', 'real'`, sql`CAST(${column} AS REAL)`);
    case 'date':
      return dayOf(storedTime(column));
    case 'timestamp':
    case 'instant':
      return localTime(storedTime(column), zone);
    default:
      if (type.readAs === 'hex')
        return sql`CASE WHEN ${column} IS NOT NULL THEN '\\x' || lower(hex(CAST(${column} AS BLOB))) END`;
      return type.readAs === 'text' ? sql`(CAST(${column} AS TEXT) || '')` : column;
  }
};

const grain = (value: Sql, of: TimeGrain): Sql => {
  const day = sql`substr(${value}, 1, 10)`;
  const month = sql`CAST(substr(${value}, 6, 2) AS INTEGER)`;
  switch (of) {
    case 'minute':
      return sql`(substr(${value} || 'T00:00', 1, 16) || ':00')`;
    case 'hour':
      return sql`(substr(${value} || 'T00', 1, 13) || ':00:00')`;
    case 'day':
      return day;
    case 'week':
      return sql`date(${day}, '-6 days', 'weekday 1')`;
    case 'month':
      return sql`(substr(${value}, 1, 7) || '-01')`;
    case 'quarter':
      return sql`(substr(${value}, 1, 5) || printf('%02d', (${month} - 1) / 3 * 3 + 1) || '-01')`;
    case 'year':
      return sql`(substr(${value}, 1, 4) || '-01-01')`;
    case 'hourOfDay':
      return sql`CASE WHEN ${value} IS NOT NULL THEN CAST(substr(${value}, 12, 2) AS INTEGER) END`;
    case 'dayOfWeek':
      return sql`((CAST(strftime('%w', ${value}) AS INTEGER) + 6) % 7 + 1)`;
    default:
      return refuseUnknown('time grain', of);
  }
};

const secondsOf: Readonly<Partial<Record<Period, number>>> = { minute: 60, hour: 3600, day: 86_400, week: 604_800 };
/** From 1970 to its first Monday. */
const secondsToMonday = 345_600;

const period = (start: Sql, of: Period): Sql => {
  const seconds = secondsOf[of];
  if (seconds !== undefined) {
    const from = of === 'week' ? secondsToMonday : 0;
    return sql`((unixepoch(${start}) - ${sql.lit(from)}) / ${sql.lit(seconds)})`;
  }
  const years = sql`(CAST(substr(${start}, 1, 4) AS INTEGER) - 1970)`;
  if (of === 'year') return years;
  const months = sql`(${years} * 12 + CAST(substr(${start}, 6, 2) AS INTEGER) - 1)`;
  return of === 'quarter' ? sql`(${months} / 3)` : months;
};

/**
 * A decimal of few digits is added as a whole number of its smallest unit, so that the sum is exact. A sum beyond 64
 * bits is an error of SQLite, never a rounded number.
 */
const aggregate = (of: PlainAggregate, value: Sql, type: SqlType): Sql => {
  const scale = type.kind === 'decimal' ? decimalOfCast(type.cast)?.scale : undefined;
  if (of !== 'SUM' || scale === undefined) return plainAggregate(of, value);
  const unit = sql.raw(`1${'0'.repeat(scale)}.0`);
  return sql`(sum(CAST(round(${value} * ${unit}) AS INTEGER)) / ${unit})`;
};

const list = (value: Sql, kind: 'oneOf' | 'noneOf', { texts, cast: of }: BoundList): Sql => {
  const values = JSON.stringify(texts.map((one) => boundText(one, of)));
  const selected = sql`(SELECT CAST(value AS ${sql.raw(storageOf(of))}) FROM json_each(${values}))`;
  return kind === 'oneOf' ? sql`(${value} IN ${selected})` : sql`(${value} NOT IN ${selected})`;
};

/** GLOB, since LIKE of SQLite ignores the case of letters. */
const globOf = (pattern: string): string =>
  pattern.replace(/\\(.)|[%_*?[]/gsu, (found, escaped: string | undefined) => {
    if (found === '%') return '*';
    if (found === '_') return '?';
    const letter = escaped ?? found;
    return /[*?[]/.test(letter) ? `[${letter}]` : letter;
  });

/** lower() of SQLite knows the letters of ASCII only, so that the other letters of the search are replaced one by one. */
const contains = (value: Sql, { kind }: SqlType, search: string): Sql => {
  const wanted = search.toLowerCase();
  const shown = kind === 'boolean' ? sql`CASE WHEN ${value} THEN 'true' ELSE 'false' END` : sql`CAST(${value} AS TEXT)`;
  const letters = [...new Set(wanted)].flatMap((letter) => {
    const capital = letter.toUpperCase();
    return letter > '\u007f' && capital !== letter && [...capital].length === 1 ? [[capital, letter] as const] : [];
  });
  const lower = letters.reduce(
    (inner, [capital, letter]) => sql`replace(${inner}, ${text(capital)}, ${text(letter)})`,
    sql`lower(${shown})`,
  );
  return sql`(instr(${lower}, ${text(wanted)}) > 0)`;
};

const page = (limit: number | null, offset: number): Sql => {
  if (offset > 0) return sql` LIMIT ${sql.lit(limit ?? -1)} OFFSET ${sql.lit(offset)}`;
  return limit === null ? sql`` : sql` LIMIT ${sql.lit(limit)}`;
};

const double = (value: Sql): Sql => sql`CAST(${value} AS REAL)`;

/** `%` of SQLite makes whole numbers of both sides, so both are counted in the smallest unit of either. */
const bucket = (value: Sql, type: SqlType, width: Bound): Sql => {
  const scale = Math.max(decimalOfCast(type.cast)?.scale ?? 0, decimalOfCast(width.cast)?.scale ?? 0);
  const unit = sql.raw(`1${'0'.repeat(scale)}`);
  const inUnits = (number: Sql): Sql => (scale === 0 ? number : sql`CAST(round(${number} * ${unit}) AS INTEGER)`);
  const [whole, by] = [inUnits(value), inUnits(scale === 0 ? cast({ ...width, cast: 'BIGINT' }) : cast(width))];
  const first = sql`(${whole} - (((${whole} % ${by}) + ${by}) % ${by}))`;
  return scale === 0 ? first : sql`(${first} / ${unit}.0)`;
};

export const sqliteDialect: Dialect = {
  capabilities: { databaseName: 'SQLite', hasFullJoin: true, isRightJoinSlow: false, hasCorrelatedSubqueries: true },
  compile: (query) => query.compile(compiler),
  table: (_database, { schemaName, tableName }) => sql.id(schemaName, tableName),
  asLeaf: sql`AS NOT MATERIALIZED`,
  barrier: (name, rows) => sql`${name} AS MATERIALIZED (${rows} LIMIT -1)`,
  cast,
  tenant: (column, type, value) =>
    type.kind === 'text' ? sql`${exact(column)} = ${cast(value)}` : sql`${column} = ${cast(value)}`,
  join,
  field,
  isStoredOrNull: ({ type }) => type.kind === 'integer',
  comparable: (value, { kind }, of) => (kind === 'date' && of === 'TIMESTAMP' ? sql`(${value} || 'T00:00:00')` : value),
  list,
  isBeyond: ({ text: value, cast: of }) => of !== 'VARCHAR' && value.startsWith('+'),
  like: (value, { text: pattern }) => sql`${value} GLOB ${text(globOf(pattern))}`,
  contains,
  grain,
  period,
  bucket,
  explain: 'EXPLAIN QUERY PLAN',
  aggregate,
  percentile: null,
  masks: {
    text: (value) => exact(sql`CAST(${value} AS TEXT)`),
    length: (value) => sql`length(${value})`,
    first: (value, count) => sql`substr(${value}, 1, ${sql.lit(count)})`,
    last: (value, count) => sql`substr(${value}, ${sql.lit(-count)})`,
    digest: null,
    years: null,
  },
  moments: {
    count: (value) =>
      sql`(unixepoch(${value}) * 1000000 + CAST(substr(strftime('%f', ${value}), 4) AS INTEGER) * 1000)`,
    at: (count) => storedTime(sql`(round((${count}) / 1000.0) / 1000.0)`, 'seconds'),
  },
  double,
  sortable: (rows) => rows,
  order: ({ position }, direction) => sql`${sql.lit(position)} ${sql.raw(direction)} NULLS LAST`,
  page,
};
