import { DummyDriver, Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import { isNotFinite } from '../../../model/filter/exact-number.js';
import type { Period } from '../../../model/filter/period.js';
import { type VariantNames, variants } from '../../../model/organization.js';
import { columnName } from '../../dialect/catalog.js';
import {
  type Bound,
  type BoundList,
  type Column,
  castName,
  type Dialect,
  firstDay,
  firstMonday,
  type PlainAggregate,
  plainAggregate,
  type Side,
  type Sql,
} from '../../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../../dialect/refuse.js';
import { decimalOfCast, integerRanges, type SqlType } from '../../dialect/sql-type.js';
import { type ZoneOffset, zoneOffsets } from '../../dialect/zone-offsets.js';
import { createMasks } from './masks.js';

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new MysqlAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  },
});

const castNames: ReadonlyMap<string, string> = new Map([
  ['VARCHAR', 'CHAR CHARACTER SET utf8mb4'],
  ...[...integerRanges].map(([name, [least]]): [string, string] => [name, least < 0n ? 'SIGNED' : 'UNSIGNED']),
  ['FLOAT', 'FLOAT'],
  ['DOUBLE', 'DOUBLE'],
  ['DATE', 'DATE'],
  ['TIMESTAMP', 'DATETIME(6)'],
  ['UUID', 'UUID'],
]);

/** MySQL keeps at most 30 decimal places. */
const greatestScale = 30;

/** MySQL turns dates outside its range into NULL or 0. Expressions (no text) are within it. */
const assertHeld = (text: unknown, cast: string): void => {
  if (typeof text !== 'string') return;
  const isDate = cast === 'DATE' || cast === 'TIMESTAMP';
  if (isDate ? /^(?!0000)[0-9]{4}-/.test(text) : !isNotFinite(text) || cast === 'VARCHAR') return;
  refuseQuery(
    'A condition holds a date outside of the years 1 to 9999, NaN or an infinity, which MySQL cannot represent. Use another value.',
    'value-out-of-range',
  );
};

const cast = ({ text, cast }: Bound): Sql => {
  if (cast === 'BOOLEAN') return sql`(${text} = 'true')`;
  assertHeld(text, cast);
  if ((decimalOfCast(cast)?.scale ?? 0) > greatestScale) {
    refuseQuery(
      `A condition holds a number with more than ${greatestScale} decimal places; round it.`,
      'value-too-long',
    );
  }
  return sql`CAST(${text} AS ${sql.raw(castName(cast, castNames))})`;
};
const text = (value: string): Sql => cast({ text: value, cast: 'VARCHAR' });

/**
 * The value in the column's own collation, so the column's index can be used. It may match too much (`ACME` for
 * `acme`), never too little; the caller also compares bytes.
 */
const collated = (value: Sql, collation: string): Sql =>
  sql`CONVERT(${value} USING ${sql.raw(collation.split('_')[0] ?? '')}) COLLATE ${sql.raw(collation)}`;

const grain = (value: Sql, of: TimeGrain): Sql => {
  switch (of) {
    case 'minute':
      return sql`CAST(DATE_FORMAT(${value}, '%Y-%m-%d %H:%i:00') AS DATETIME)`;
    case 'hour':
      return sql`CAST(DATE_FORMAT(${value}, '%Y-%m-%d %H:00:00') AS DATETIME)`;
    case 'day':
      return sql`CAST(${value} AS DATE)`;
    case 'week':
      return sql`(CAST(${value} AS DATE) - INTERVAL WEEKDAY(${value}) DAY)`;
    case 'month':
      return sql`CAST(DATE_FORMAT(${value}, '%Y-%m-01') AS DATE)`;
    case 'quarter':
      return sql`CAST(CONCAT(DATE_FORMAT(${value}, '%Y-'), QUARTER(${value}) * 3 - 2, '-01') AS DATE)`;
    case 'year':
      return sql`CAST(DATE_FORMAT(${value}, '%Y-01-01') AS DATE)`;
    case 'hourOfDay':
      return sql`HOUR(${value})`;
    case 'dayOfWeek':
      return sql`(WEEKDAY(${value}) + 1)`;
    default:
      return refuseUnknown('time grain', of);
  }
};

/**
 * Local time by our own table of offsets: the server may lack time zone tables, and CONVERT_TZ leaves times after
 * 2038 unchanged, both silently. Where the type cannot hold the local time, the time stays as stored.
 */
const local = (column: Sql, zone: string): Sql => {
  const offsets = zoneOffsets(zone);
  const isUtc = offsets.every(({ seconds }) => seconds === 0);
  return isUtc ? column : sql`coalesce(${column} + INTERVAL ${secondsAhead(column, offsets)} SECOND, ${column})`;
};

/** Binary search over the changes, so few comparisons are needed. */
const secondsAhead = (column: Sql, offsets: readonly ZoneOffset[]): Sql => {
  if (offsets.length === 1) return sql.lit(offsets[0]?.seconds ?? 0);
  const middle = offsets.length >> 1;
  const since = new Date(offsets[middle]?.since ?? 0).toISOString().slice(0, 19).replace('T', ' ');
  const [earlier, later] = [offsets.slice(0, middle), offsets.slice(middle)];
  return sql`CASE WHEN ${column} < TIMESTAMP${sql.lit(since)} THEN ${secondsAhead(column, earlier)} ELSE ${secondsAhead(column, later)} END`;
};

/** Exact up to the final division, as on DuckDB: AVG of integers would keep four decimal places. */
const aggregate = (of: PlainAggregate, value: Sql): Sql =>
  of === 'AVG' ? sql`CAST(sum(${value}) AS DOUBLE) / count(${value})` : plainAggregate(of, value);

const epoch = sql.raw(`TIMESTAMP'${firstDay} 00:00:00'`);

const units: Readonly<Record<Period, Sql>> = {
  minute: sql`MINUTE`,
  hour: sql`HOUR`,
  day: sql`DAY`,
  week: sql`WEEK`,
  month: sql`MONTH`,
  quarter: sql`QUARTER`,
  year: sql`YEAR`,
};

const period = (start: Sql, of: Period): Sql =>
  sql`TIMESTAMPDIFF(${units[of]}, ${sql.lit(of === 'week' ? firstMonday : firstDay)}, ${start})`;

/** MySQL has no OFFSET without LIMIT. */
const allRows = '18446744073709551615';

const page = (limit: number | null, offset: number): Sql => {
  // Counts were checked, and a prepared LIMIT accepts no cast.
  const rows = limit === null ? sql.raw(allRows) : sql.lit(limit);
  if (offset > 0) return sql` LIMIT ${rows} OFFSET ${sql.lit(offset)}`;
  return limit === null ? sql`` : sql` LIMIT ${rows}`;
};

const isTextual = ({ type }: Side): boolean => type.kind === 'text' || type.kind === 'enum';

type Bytes = (value: Sql) => Sql;

const join = (bytes: Bytes, near: Side, far: Side): Sql => {
  if (isTextual(near) !== isTextual(far)) {
    refuseQuery(
      `Columns ${columnName(near.ref)} and ${columnName(far.ref)} are joined, but only one of them is text; MySQL would compare them as rounded numbers. Join columns of one type.`,
      'join-of-different-types',
    );
  }
  if (!isTextual(near)) return sql`${near.column} = ${far.column}`;
  const equal = sql`${bytes(near.column)} = ${bytes(far.column)}`;
  const [own, other] = [near.type.collation, far.type.collation];
  if (own === undefined || other === undefined) return equal;
  return sql`${near.column} = ${own === other ? far.column : collated(far.column, own)} AND ${equal}`;
};

/** Values that have no form of their own in an answer. A date without a year, month or day is no date, so it is NULL. */
const readAs = (bytes: Bytes, column: Sql, { type, zone }: Pick<Column, 'type' | 'zone'>): Sql => {
  const value = zone === null ? column : local(column, zone);
  switch (type.readAs) {
    case 'text':
      return bytes(column);
    case 'hex':
      return sql`CONCAT('\\x', LOWER(HEX(${column})))`;
    case 'number':
      return sql`(${column} + 0)`;
    case 'date':
      return sql`CASE WHEN YEAR(${column}) > 0 AND MONTH(${column}) > 0 AND DAYOFMONTH(${column}) > 0 THEN ${value} END`;
    default:
      return value;
  }
};

const field = (bytes: Bytes, column: Sql, of: Column): Sql => {
  const { type } = of;
  if (type.kind === 'text') return bytes(column);
  if (type.kind === 'boolean') return sql`(${column} <> 0)`;
  return readAs(bytes, column, of);
};

const tenant = (bytes: Bytes, column: Sql, { kind, collation }: SqlType, value: Bound): Sql => {
  if (kind !== 'text') return sql`${column} = ${cast(value)}`;
  const equal = sql`${bytes(column)} = ${cast(value)}`;
  return collation === undefined ? equal : sql`${column} = ${collated(cast(value), collation)} AND ${equal}`;
};

const contains = (bytes: Bytes, value: Sql, { kind }: SqlType, search: string): Sql => {
  const shown = kind === 'boolean' ? sql`CASE WHEN ${value} THEN 'true' ELSE 'false' END` : value;
  return sql`LOCATE(LOWER(${text(search)}), ${bytes(sql`LOWER(CAST(${shown} AS CHAR CHARACTER SET utf8mb4))`)}) > 0`;
};

/** One parameter per value: MariaDB's JSON_TABLE turns values that it cannot convert into NULL. */
const list = (value: Sql, kind: 'oneOf' | 'noneOf', { texts, cast: of }: BoundList): Sql => {
  const values = sql.join(texts.map((one) => cast({ text: one, cast: of })));
  return kind === 'oneOf' ? sql`(${value} IN (${values}))` : sql`(${value} NOT IN (${values}))`;
};

type MysqlForm = { readonly isMariaDb: boolean; readonly variant?: 'MYSQL' | VariantNames<'MYSQL'> };

/**
 * The dialect of MySQL 8.0.17 or MariaDB 10.3 and later, which name the collation for byte comparison without padding
 * differently.
 */
export const createMysqlDialect = ({ isMariaDb, variant = 'MYSQL' }: MysqlForm): Dialect => {
  const exact = sql.raw(isMariaDb ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin');
  const bytes: Bytes = (value) => sql`(CONVERT(${value} USING utf8mb4) COLLATE ${exact})`;
  return {
    capabilities: {
      databaseName: variant === 'MYSQL' ? (isMariaDb ? 'MariaDB' : 'MySQL') : variants[variant].title,
      hasFullJoin: false,
      isRightJoinSlow: true,
      hasCorrelatedSubqueries: true,
    },
    compile: (query) => query.compile(compiler),
    table: (_database, { schemaName, tableName }) => sql.id(schemaName, tableName),
    asLeaf: sql`AS`,
    barrier: (name, rows) => sql`${name} AS (${rows} LIMIT ${sql.raw(allRows)})`,
    cast,
    tenant: (column, type, value) => tenant(bytes, column, type, value),
    join: (near, far) => join(bytes, near, far),
    field: (column, of) => field(bytes, column, of),
    isStoredOrNull: ({ type, zone }) => type.readAs === 'date' && zone === null,
    comparable: (value, { kind }) => (kind === 'enum' ? bytes(value) : value),
    list,
    isBeyond: ({ text, cast: of }) => of !== 'VARCHAR' && text.startsWith('+'),
    contains: (value, type, search) => contains(bytes, value, type, search),
    grain,
    period,
    aggregate,
    percentile: null,
    masks: createMasks(bytes),
    moments: {
      count: (value) => sql`TIMESTAMPDIFF(MICROSECOND, ${epoch}, ${value})`,
      at: (count) => sql`(${epoch} + INTERVAL ROUND(${count}) MICROSECOND)`,
    },
    double: (value) => sql`CAST(${value} AS DOUBLE)`,
    sortable: (rows) => sql`SELECT * FROM (${rows}) AS ${sql.id('gl_sorted')}`,
    order: ({ name }, direction) => sql`${sql.id(name)} IS NULL, ${sql.id(name)} ${sql.raw(direction)}`,
    page,
  };
};
