import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { Period } from '../../../model/filter/period.js';
import {
  type Bound,
  type Column,
  type Dialect,
  firstDay,
  firstMonday,
  plainAggregate,
  type Sql,
} from '../../dialect/dialect.js';
import { refuseUnknown } from '../../dialect/refuse.js';
import { isNumeric, type SqlType } from '../../dialect/sql-type.js';
import { exactText, join } from './joins.js';
import { masks } from './masks.js';
import { firstDayOf, localTime, timeOf } from './times.js';

/** DuckDB writes identifiers and parameters as PostgreSQL does. */
class DuckDbQueryCompiler extends PostgresQueryCompiler {}

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new DuckDbQueryCompiler(),
  },
});

/** DuckDB accepts no plus sign before years above 9999. Expressions (no text) need no such check. */
const valueText = (text: string, cast: string): string =>
  (cast === 'DATE' || cast === 'TIMESTAMP') && typeof text === 'string' ? text.replace(/^\+0*/, '') : text;

const cast = ({ text, cast }: Bound): Sql => sql`CAST(${valueText(text, cast)} AS ${sql.raw(cast)})`;
const text = (value: string): Sql => cast({ text: value, cast: 'VARCHAR' });
const cast128 = (value: Sql): Sql => sql`CAST(${value} AS HUGEINT)`;
const integer = (count: number): Sql => cast({ text: String(count), cast: 'BIGINT' });

const readAs: Readonly<Record<string, string>> = { text: 'VARCHAR', timestamp: 'TIMESTAMP' };

const field = (column: Sql, { type, zone }: Column): Sql => {
  const name = readAs[type.readAs ?? ''];
  const value = name === undefined ? column : sql`CAST(${column} AS ${sql.raw(name)})`;
  return zone === null ? exactText(value, type) : localTime(value, type, text(zone));
};

const grain = (value: Sql, of: TimeGrain, type: SqlType): Sql => {
  switch (of) {
    case 'minute':
    case 'hour':
      return sql`date_trunc(${sql.lit(of)}, ${type.kind === 'date' ? timeOf(value) : value})`;
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year':
      return firstDayOf(value, of, type);
    case 'hourOfDay':
      return sql`extract(hour FROM ${value})`;
    case 'dayOfWeek':
      return sql`extract(isodow FROM ${value})`;
    default:
      return refuseUnknown('time grain', of);
  }
};

const period = (start: Sql, of: Period): Sql =>
  sql`date_diff(${sql.lit(of)}, TIMESTAMP ${sql.lit(of === 'week' ? firstMonday : firstDay)}, TRY_CAST(${start} AS TIMESTAMP))`;

const double = (value: Sql): Sql => sql`CAST(${value} AS DOUBLE)`;

const machineIntegers: ReadonlySet<string> = new Set([
  ...['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER'],
]);

/**
 * Whole numbers of 64 bits are divided as such: a remainder of decimals takes ten times as long. The difference has 128
 * bits, since the first bucket may begin below the least number of 64 bits.
 */
const bucket = (value: Sql, type: SqlType, width: Bound): Sql => {
  const isMachine = machineIntegers.has(type.cast) && /^[0-9]{1,18}$/.test(width.text);
  const size = cast(isMachine ? { text: width.text, cast: 'BIGINT' } : width);
  const from = isMachine ? sql`CAST(${value} AS HUGEINT)` : value;
  return sql`${from} - (((${value} % ${size}) + ${size}) % ${size})`;
};

/** Numbers as floats: a percentile of decimals would be rounded to their scale. */
const percentile = (value: Sql, type: SqlType, fraction: number): Sql => {
  const at = sql.lit(fraction);
  if (isNumeric(type)) return sql`quantile_cont(${double(value)}, ${at})`;
  const line = sql`quantile_cont(CASE WHEN isfinite(${value}) THEN ${value} END, ${at})`;
  const one = sql`quantile_disc(${value}, ${at})`;
  return sql`CASE WHEN bool_and(isfinite(${value})) THEN ${line} ELSE ${type.kind === 'date' ? timeOf(one) : one} END`;
};

export const duckDbDialect: Dialect = {
  capabilities: { databaseName: 'DuckDB', hasFullJoin: true, isRightJoinSlow: false, hasCorrelatedSubqueries: true },
  compile: (query) => query.compile(compiler),
  table: (database, { schemaName, tableName }) => sql.id(database, schemaName, tableName),
  asLeaf: sql`AS NOT MATERIALIZED`,
  // DuckDB pushes filters into a MATERIALIZED CTE too, but not below a LIMIT.
  barrier: (name, rows) => sql`${name} AS MATERIALIZED (${rows} LIMIT 9223372036854775807)`,
  cast,
  tenant: (column, type, value) =>
    type.kind === 'text' ? sql`${column} COLLATE "c" = ${cast(value)}` : sql`${column} = ${cast(value)}`,
  join,
  field,
  comparable: (value, { kind }, of) => (kind === 'date' && of === 'TIMESTAMP' ? timeOf(value) : value),
  /** One list parameter: ten thousand parameters take ten times as long as a list of ten thousand values. */
  list: (value, kind, list) => {
    const texts = list.texts.map((one) => valueText(one, list.cast));
    const values = sql`(SELECT unnest(CAST(${texts} AS ${sql.raw(`${list.cast}[]`)})))`;
    return kind === 'oneOf' ? sql`(${value} IN ${values})` : sql`(${value} NOT IN ${values})`;
  },
  contains: (value, _type, search) => sql`contains(lower(CAST(${value} AS VARCHAR)), lower(${text(search)}))`,
  grain,
  period,
  // An unsigned 128-bit sum would be rounded to a float. Signed, it is exact or an error.
  aggregate: (of, value, type) => plainAggregate(of, of === 'SUM' && type.cast === 'UHUGEINT' ? cast128(value) : value),
  percentile,
  bucket,
  masks,
  double,
  sortable: (rows) => rows,
  order: ({ position }, direction) => sql`${sql.lit(position)} ${sql.raw(direction)} NULLS LAST`,
  page: (limit, offset) => {
    const rows = limit === null ? sql`` : sql` LIMIT ${integer(limit)}`;
    return offset === 0 ? rows : sql`${rows} OFFSET ${integer(offset)}`;
  },
};
