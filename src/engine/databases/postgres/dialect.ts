import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { Period } from '../../../model/filter/period.js';
import {
  type Bound,
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
import { refuseUnknown } from '../../dialect/refuse.js';
import { type SqlType, unboundedDecimal } from '../../dialect/sql-type.js';
import { assumedColumns } from './assumed.js';
import { masks } from './masks.js';

export const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Marks text columns whose `=` may treat different texts as equal: citext, char(n), nondeterministic collations. */
export const inexact = 'inexact';

const castNames: ReadonlyMap<string, string> = new Map([
  ['VARCHAR', 'text'],
  ['SMALLINT', 'smallint'],
  ['INTEGER', 'integer'],
  ['BIGINT', 'bigint'],
  [unboundedDecimal, 'numeric'],
  ['FLOAT', 'real'],
  ['DOUBLE', 'double precision'],
  ['BOOLEAN', 'boolean'],
  ['DATE', 'date'],
  ['TIMESTAMP', 'timestamp'],
  ['UUID', 'uuid'],
]);

/** PostgreSQL counts years before Christ from 1: `-000043` is 44 BC. Expressions (no text) need no conversion. */
const valueText = (text: string, cast: string): string => {
  const isDate = cast === 'DATE' || cast === 'TIMESTAMP';
  const [, year = '', rest = ''] = (isDate && typeof text === 'string' && /^([+-]?[0-9]+)(-.*)$/.exec(text)) || [];
  if (year === '' || /^(?!0000)[0-9]{4}$/.test(year)) return text;
  const number = Number(year);
  return number > 0 ? `${number}${rest}` : `${String(1 - number).padStart(4, '0')}${rest} BC`;
};

const cast = ({ text, cast }: Bound): Sql =>
  sql`CAST(${valueText(text, cast)} AS ${sql.raw(castName(cast, castNames))})`;
const text = (value: string): Sql => cast({ text: value, cast: 'VARCHAR' });
const integer = (count: number): Sql => cast({ text: String(count), cast: 'BIGINT' });
const bytes = (column: Sql): Sql => sql`(CAST(${column} AS text) COLLATE "C")`;

/**
 * Compares bytes. A `stored` column compares bytes by its own `=`, which the statement assumes; see assumed.ts. The
 * operator is qualified, because a domain may define its own `=`.
 */
const tenant = (column: Sql, { kind, stored }: SqlType, value: Bound): Sql => {
  const isExact = kind !== 'text' || stored !== undefined;
  return sql`${isExact ? column : bytes(column)} OPERATOR(pg_catalog.=) ${cast(value)}`;
};

/** PostgreSQL cannot choose between two different deterministic collations, so these are compared by bytes. */
const join = (near: Side, far: Side): Sql => {
  if (isFloatBeside(near, far)) return sql`${near.column} = ${float(far.column)}`;
  if (isFloatBeside(far, near)) return sql`${float(near.column)} = ${far.column}`;
  const isText = near.type.kind === 'text' && far.type.kind === 'text';
  const isPlain = near.type.collation !== inexact && near.type.collation === far.type.collation;
  return isText && !isPlain ? sql`${bytes(near.column)} = ${bytes(far.column)}` : sql`${near.column} = ${far.column}`;
};

const isFloatBeside = (one: Side, other: Side): boolean => one.type.kind === 'float' && other.type.kind === 'decimal';

/** A timestamp is read as UTC where the datamart says so. */
const field = (column: Sql, { type, zone }: Column): Sql => {
  if (type.kind === 'text') return bytes(column);
  if (type.readAs !== undefined)
    return sql`CAST(${column} AS ${sql.raw(type.readAs)})${sql.raw(type.readAs === 'text' ? ' COLLATE "C"' : '')}`;
  if (zone === null) return column;
  const instant = type.kind === 'instant' ? column : sql`(${column} AT TIME ZONE 'UTC')`;
  return sql`(${instant} AT TIME ZONE ${zoneWithin(column, type, zone)})`;
};

/**
 * Within a year of the type's ends, where local time may not exist, the time stays UTC. A condition on it may run on
 * another tenant's row before the tenant predicate, and would fail for all.
 */
const zoneWithin = (column: Sql, { kind }: SqlType, zone: string): Sql => {
  const [least, greatest] = ['4712-01-01 00:00:00+00 BC', '294275-01-01 00:00:00+00'].map((end) =>
    sql.raw(`${kind === 'instant' ? 'timestamptz' : 'timestamp'} '${end}'`),
  );
  return sql`CASE WHEN ${column} > ${least} AND ${column} < ${greatest} THEN ${text(zone)} ELSE 'UTC' END`;
};

/** Whether a timestamp holds the date and the start of each of its periods. */
const isInTimestamps = (value: Sql): Sql =>
  sql`${value} BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31'`;

/** A date as a timestamp; a date beyond all timestamps becomes infinite. */
const timeOf = (day: Sql): Sql =>
  sql`CASE WHEN ${isInTimestamps(day)} THEN CAST(${day} AS timestamp) WHEN ${day} > date ${sql.lit(firstDay)} THEN timestamp 'infinity' WHEN ${day} IS NOT NULL THEN timestamp '-infinity' END`;

/**
 * Converts a date to a timestamp first; otherwise it would become an instant in the session's zone. Dates beyond
 * timestamps stay as they are.
 */
const grain = (value: Sql, of: TimeGrain, { kind }: SqlType): Sql => {
  const time = kind === 'date' ? timeOf(value) : value;
  switch (of) {
    case 'minute':
    case 'hour':
      return sql`date_trunc(${sql.lit(of)}, ${time})`;
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year':
      return kind === 'date'
        ? sql`CASE WHEN ${isInTimestamps(value)} THEN ${firstDayOf(sql`CAST(${value} AS timestamp)`, of)} ELSE ${value} END`
        : firstDayOf(value, of);
    case 'hourOfDay':
      return sql`CAST(extract(hour FROM ${time}) AS integer)`;
    case 'dayOfWeek':
      return sql`CAST(extract(isodow FROM ${time}) AS integer)`;
    default:
      return refuseUnknown('time grain', of);
  }
};

const firstDayOf = (time: Sql, of: TimeGrain): Sql => sql`CAST(date_trunc(${sql.lit(of)}, ${time}) AS date)`;

const aggregate = (of: PlainAggregate, value: Sql, { kind }: SqlType): Sql => {
  const number = kind === 'float' ? sql`CAST(${value} AS double precision)` : value;
  switch (of) {
    case 'SUM':
      return sql`sum(${number})`;
    case 'AVG':
      // Exact up to the final division, as on DuckDB: avg() of integers rounds to its own number of digits.
      return sql`CAST(sum(${number}) AS double precision) / nullif(count(${value}), 0)`;
    case 'MIN':
    case 'MAX':
      return extreme(of, value, kind);
    default:
      return plainAggregate(of, value);
  }
};

const percentile = (value: Sql, { kind }: SqlType, fraction: number): Sql => {
  const at = (of: Sql): Sql => sql`percentile_cont(${sql.lit(fraction)}) WITHIN GROUP (ORDER BY ${of})`;
  if (kind !== 'date' && kind !== 'timestamp' && kind !== 'instant') return at(double(value));
  const start = sql`timestamp '2000-01-01'`;
  const line = at(sql`CASE WHEN isfinite(${value}) THEN CAST(${value} AS timestamp) - ${start} END`);
  const one = sql`percentile_disc(${sql.lit(fraction)}) WITHIN GROUP (ORDER BY ${value})`;
  return sql`CASE WHEN bool_and(isfinite(${value})) THEN ${start} + ${line} ELSE CAST(${one} AS timestamp) END`;
};

const double = (value: Sql): Sql => sql`CAST(${value} AS double precision)`;

/**
 * Compares a decimal with a float without PostgreSQL's cast, which fails on any row outside the range of floats,
 * perhaps another tenant's.
 */
const float = (value: Sql): Sql =>
  sql`CASE WHEN ${value} = 0 OR ${value} = 'NaN' OR abs(${value}) BETWEEN 1e-300 AND 1e308 THEN ${double(value)} END`;

/** Infinite dates, and dates beyond timestamps, have no period. */
const period = (start: Sql, of: Period): Sql =>
  sql`CASE WHEN ${isInTimestamps(start)} THEN CAST(${periodsUntil(sql`CAST(${start} AS timestamp)`, of)} AS bigint) END`;

const periodsUntil = (time: Sql, of: Period): Sql => {
  const seconds = (day: string): Sql => sql`extract(epoch FROM ${time} - timestamp ${sql.lit(day)})`;
  // PostgreSQL has no year 0.
  const year = sql`extract(year FROM ${time})`;
  const years = sql`(${year} + CASE WHEN ${year} < 0 THEN 1 ELSE 0 END - 1970)`;
  switch (of) {
    case 'minute':
      return sql`${seconds(firstDay)} / 60`;
    case 'hour':
      return sql`${seconds(firstDay)} / 3600`;
    case 'day':
      return sql`${seconds(firstDay)} / 86400`;
    case 'week':
      return sql`${seconds(firstMonday)} / 604800`;
    case 'month':
      return sql`${years} * 12 + extract(month FROM ${time}) - 1`;
    case 'quarter':
      return sql`${years} * 4 + extract(quarter FROM ${time}) - 1`;
    case 'year':
      return years;
    default:
      return refuseUnknown('time grain', of);
  }
};

/** PostgreSQL has no min of booleans, and before version 18 none of UUIDs. */
const extreme = (of: 'MIN' | 'MAX', value: Sql, kind: SqlType['kind']): Sql => {
  if (kind === 'boolean') return of === 'MIN' ? sql`bool_and(${value})` : sql`bool_or(${value})`;
  return kind === 'uuid' ? sql`CAST(${plainAggregate(of, bytes(value))} AS uuid)` : plainAggregate(of, value);
};

export const postgresDialect: Dialect = {
  capabilities: {
    databaseName: 'PostgreSQL',
    hasFullJoin: true,
    isRightJoinSlow: false,
    hasCorrelatedSubqueries: true,
  },
  compile: (query, leaves) => ({ ...query.compile(compiler), assumed: assumedColumns(leaves) }),
  table: (_database, { schemaName, tableName }) => sql.id(schemaName, tableName),
  asLeaf: sql`AS NOT MATERIALIZED`,
  barrier: (name, rows) => sql`${name} AS MATERIALIZED (${rows})`,
  cast,
  tenant,
  join,
  field,
  // In a deterministic collation equal values have equal bytes, so no COLLATE "C" is needed: it took a quarter of the
  // time for 3 million rows.
  isGroupedAsStored: ({ type: { kind, collation } }) =>
    kind === 'text' && collation !== undefined && collation !== inexact,
  comparable: (value, { kind }) => (kind === 'enum' ? bytes(value) : value),
  list: (value, kind, { texts, cast: of }) => {
    const given = texts.map((one) => valueText(one, of));
    const values = sql`(CAST(${given} AS ${sql.raw(`${castName(of, castNames)}[]`)}))`;
    return kind === 'oneOf' ? sql`(${value} = ANY ${values})` : sql`(${value} <> ALL ${values})`;
  },
  // By the database's own case rules: the collation "C" knows only ASCII.
  contains: (value, _type, search) =>
    sql`strpos(lower(CAST(${value} AS text) COLLATE "default"), lower(${text(search)} COLLATE "default")) > 0`,
  grain,
  period,
  aggregate,
  percentile,
  masks,
  double,
  sortable: (rows) => rows,
  order: ({ position }, direction) => sql`${sql.lit(position)} ${sql.raw(direction)} NULLS LAST`,
  page: (limit, offset) => {
    const rows = limit === null ? sql`` : sql` LIMIT ${integer(limit)}`;
    return offset === 0 ? rows : sql`${rows} OFFSET ${integer(offset)}`;
  },
};
