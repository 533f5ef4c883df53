/**
 * The SQL of Amazon Redshift, where it differs from PostgreSQL's. It was recorded and read, and never run on a server:
 * docs/reference/databases.md cites what it follows.
 */
import { sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import { variants } from '../../../model/organization.js';
import {
  type Bound,
  type Column,
  castName,
  type Dialect,
  type PlainAggregate,
  plainAggregate,
  type Side,
  type Sql,
} from '../../dialect/dialect.js';
import { refuseUnknown } from '../../dialect/refuse.js';
import type { SqlType } from '../../dialect/sql-type.js';
import { compiler, postgresDialect } from './dialect.js';
import { refuseLacking, refusePercentileOfTime } from './plain-sql.js';

const databaseName = variants.REDSHIFT.title;

/** `text` has 256 bytes there, and a longer text is cut off: two clients with a common beginning would be one. */
const castNames: ReadonlyMap<string, string> = new Map([
  ['VARCHAR', 'varchar(65535)'],
  ['SMALLINT', 'smallint'],
  ['INTEGER', 'integer'],
  ['BIGINT', 'bigint'],
  ['FLOAT', 'real'],
  ['DOUBLE', 'double precision'],
  ['BOOLEAN', 'boolean'],
  ['DATE', 'date'],
  ['TIMESTAMP', 'timestamp'],
]);

const cast = ({ text, cast: of }: Bound): Sql => sql`CAST(${text} AS ${sql.raw(castName(of, castNames))})`;
const double = (value: Sql): Sql => sql`CAST(${value} AS double precision)`;
const asText = (value: Sql): Sql => sql`CAST(${value} AS varchar(65535))`;

/** A database or a column may ignore case. */
const cased = (value: Sql): Sql => sql`COLLATE(${asText(value)}, 'case_sensitive')`;

/** `=` ignores trailing blanks. With another character behind them they count. */
const marked = (text: Sql): Sql => sql`COLLATE(${text} || '|', 'case_sensitive')`;
const bytes = (value: Sql): Sql => marked(asText(value));

/** By the stored column too, whose sort key can be used: it matches too much, never too little. */
const tenant = (column: Sql, { kind }: SqlType, value: Bound): Sql =>
  kind === 'text'
    ? sql`${column} = ${cast(value)} AND ${bytes(column)} = ${marked(cast(value))}`
    : sql`${column} = ${cast(value)}`;

const keys = (near: Side, far: Side): readonly [Sql, Sql] =>
  near.type.kind === 'text' && far.type.kind === 'text'
    ? [bytes(near.column), bytes(far.column)]
    : [near.column, far.column];

const field = (column: Sql, { type, zone }: Column): Sql => {
  if (type.kind === 'text') return cased(column);
  if (type.readAs !== undefined) return asText(column);
  if (zone === null) return column;
  const instant = type.kind === 'instant' ? column : sql`(${column} AT TIME ZONE 'UTC')`;
  return sql`(${instant} AT TIME ZONE ${cast({ text: zone, cast: 'VARCHAR' })})`;
};

const isText = ({ kind }: SqlType): boolean => kind === 'text' || kind === 'enum';

const compare: Dialect['compare'] = (value, operator, bound, type) =>
  isText(type) && (operator === '=' || operator === '<>')
    ? sql`${bytes(value)} ${sql.raw(operator)} ${marked(cast(bound))}`
    : undefined;

/** One parameter per value, since there are no arrays. */
const list: Dialect['list'] = (value, kind, { texts, cast: of }, type) => {
  const values = texts.map((text) => cast({ text, cast: of }));
  const among = sql.join(isText(type) ? values.map(marked) : values);
  const compared = isText(type) ? bytes(value) : value;
  return kind === 'oneOf' ? sql`(${compared} IN (${among}))` : sql`(${compared} NOT IN (${among}))`;
};

const grain = (value: Sql, of: TimeGrain): Sql => {
  const time = sql`CAST(${value} AS timestamp)`;
  switch (of) {
    case 'minute':
    case 'hour':
      return sql`date_trunc(${sql.lit(of)}, ${time})`;
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year':
      return sql`CAST(date_trunc(${sql.lit(of)}, ${time}) AS date)`;
    case 'hourOfDay':
      return sql`CAST(extract(hour FROM ${time}) AS integer)`;
    case 'dayOfWeek':
      // Sunday is 0 there.
      return sql`CAST((extract(dow FROM ${time}) + 6) % 7 + 1 AS integer)`;
    default:
      return refuseUnknown('time grain', of);
  }
};

const aggregate = (of: PlainAggregate, value: Sql, { kind }: SqlType): Sql => {
  if (of === 'AVG') return sql`${double(sql`sum(${value})`)} / nullif(count(${value}), 0)`;
  if (of === 'SUM' && kind === 'float') return sql`sum(${double(value)})`;
  if (kind !== 'boolean' || (of !== 'MIN' && of !== 'MAX')) return plainAggregate(of, value);
  return of === 'MIN' ? sql`bool_and(${value})` : sql`bool_or(${value})`;
};

const percentile = (value: Sql, { kind }: SqlType, fraction: number): Sql => {
  refusePercentileOfTime(databaseName, kind);
  return sql`percentile_cont(${sql.lit(fraction)}) WITHIN GROUP (ORDER BY ${double(value)})`;
};

export const redshiftDialect: Dialect = {
  capabilities: { databaseName, hasFullJoin: false, isRightJoinSlow: false, hasCorrelatedSubqueries: false },
  compile: (query) => query.compile(compiler),
  table: postgresDialect.table,
  asLeaf: sql`AS`,
  barrier: null,
  cast,
  tenant,
  join: (near, far) => {
    const [one, other] = keys(near, far);
    return sql`${one} = ${other}`;
  },
  keys,
  field,
  comparable: (value) => value,
  compare,
  list,
  // A backslash escapes in its literals too, and is the escape character already.
  like: (value, pattern) => sql`(${value} LIKE ${cast(pattern)})`,
  contains: (value, _type, search) =>
    sql`strpos(lower(${asText(value)}), lower(${cast({ text: search, cast: 'VARCHAR' })})) > 0`,
  grain,
  // A window of a range of values is not documented there.
  period: () =>
    refuseLacking(databaseName, 'what a comparison with an earlier period needs', 'leave out the comparison'),
  aggregate,
  percentile,
  masks: {
    text: cased,
    length: (text) => sql`char_length(${text})`,
    first: (text, count) => sql`left(${text}, ${sql.lit(count)})`,
    last: (text, count) => sql`right(${text}, ${sql.lit(count)})`,
    digest: null,
    years: ['0001-01-01', '9999-12-31'],
  },
  double,
  sortable: (rows) => rows,
  order: ({ position }, direction) => sql`${sql.lit(position)} ${sql.raw(direction)} NULLS LAST`,
  page: (limit, offset) => {
    const rows = limit === null ? sql`` : sql` LIMIT ${sql.lit(limit)}`;
    return offset === 0 ? rows : sql`${rows} OFFSET ${sql.lit(offset)}`;
  },
};
