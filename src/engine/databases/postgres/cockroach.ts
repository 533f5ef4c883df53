/**
 * The SQL of CockroachDB, where it differs from PostgreSQL's. It was recorded and read, and never run on a server:
 * docs/reference/databases.md cites what it follows.
 */
import { sql } from 'kysely';
import type { Period } from '../../../model/filter/period.js';
import { variants } from '../../../model/organization.js';
import {
  type Column,
  type Dialect,
  type PlainAggregate,
  plainAggregate,
  type Side,
  type Sql,
} from '../../dialect/dialect.js';
import type { SqlType } from '../../dialect/sql-type.js';
import { compiler, postgresDialect } from './dialect.js';
import { masks } from './masks.js';
import { periodOf, refusePercentileOfTime } from './plain-sql.js';

const { cast, double } = postgresDialect;

/** A string without a collation is compared byte by byte. CockroachDB compares no string of a collation with one without. */
const bytes = (value: Sql): Sql => sql`CAST(${value} AS text)`;

/** Of the type that it is compared with: decimals have a NaN too. */
const notANumber = sql`'NaN'`;

const mayBeNaN = (kind: SqlType['kind']): boolean => kind === 'float' || kind === 'decimal';

/** Text without a collation, so that no two collations meet. */
const join = (near: Side, far: Side): Sql =>
  near.type.kind === 'text' && far.type.kind === 'text'
    ? sql`${bytes(near.column)} = ${bytes(far.column)}`
    : postgresDialect.join(near, far);

const field = (column: Sql, of: Column): Sql => {
  if (of.type.kind === 'text' || of.type.readAs === 'text') return bytes(column);
  return postgresDialect.field(column, of);
};

/** NaN is below all numbers there, and above them everywhere else. */
const compare: Dialect['compare'] = (value, operator, bound, { kind }) => {
  if (!mayBeNaN(kind)) return undefined;
  const isNone = sql`${value} = ${notANumber}`;
  if (bound.text !== 'NaN') {
    if (operator !== '>' && operator !== '>=' && operator !== '<' && operator !== '<=') return undefined;
    const plain = sql`${value} ${sql.raw(operator)} ${cast(bound)}`;
    return operator.startsWith('>') ? sql`(${plain} OR ${isNone})` : sql`(${plain} AND NOT ${isNone})`;
  }
  if (operator === '=' || operator === '>=') return isNone;
  if (operator === '<' || operator === '<>') return sql`NOT ${isNone}`;
  return operator === '<=' ? sql`(${value} IS NOT NULL)` : sql`(${isNone} AND NOT ${isNone})`;
};

const extreme = (of: 'MIN' | 'MAX', value: Sql, type: SqlType): Sql => {
  if (type.kind === 'uuid') return sql`CAST(${plainAggregate(of, bytes(value))} AS uuid)`;
  if (!mayBeNaN(type.kind)) return postgresDialect.aggregate(of, value, type);
  if (of === 'MAX') return sql`CASE WHEN bool_or(${value} = ${notANumber}) THEN ${notANumber} ELSE max(${value}) END`;
  return sql`coalesce(min(CASE WHEN ${value} <> ${notANumber} THEN ${value} END), min(${value}))`;
};

/** A float is divided by a float only. */
const aggregate = (of: PlainAggregate, value: Sql, type: SqlType): Sql => {
  if (of === 'MIN' || of === 'MAX') return extreme(of, value, type);
  if (of !== 'AVG') return postgresDialect.aggregate(of, value, type);
  return sql`${double(sql`sum(${value})`)} / nullif(${double(sql`count(${value})`)}, ${double(sql`0`)})`;
};

const percentile = (value: Sql, { kind }: SqlType, fraction: number): Sql => {
  refusePercentileOfTime(variants.COCKROACHDB.title, kind);
  const ranked = sql`percentile_cont(${sql.lit(fraction)}) WITHIN GROUP (ORDER BY ${double(value)})`;
  // A NaN would be counted at the wrong end.
  return mayBeNaN(kind)
    ? sql`CASE WHEN NOT coalesce(bool_or(${value} = ${notANumber}), false) THEN ${ranked} END`
    : ranked;
};

export const cockroachDialect: Dialect = {
  ...postgresDialect,
  capabilities: {
    databaseName: variants.COCKROACHDB.title,
    hasFullJoin: true,
    isRightJoinSlow: false,
    hasCorrelatedSubqueries: true,
  },
  // Columns change while a statement runs, so nothing is assumed about them.
  compile: (query) => query.compile(compiler),
  asLeaf: sql`AS`,
  barrier: null,
  tenant: (column, type, value) => sql`${type.kind === 'text' ? bytes(column) : column} = ${cast(value)}`,
  join,
  field,
  isGroupedAsStored: () => false,
  comparable: (value, { kind }) => (kind === 'enum' ? bytes(value) : value),
  compare,
  contains: (value, _type, search) =>
    sql`strpos(lower(${bytes(value)}), lower(${cast({ text: search, cast: 'VARCHAR' })})) > 0`,
  period: (start: Sql, of: Period) => periodOf(start, of),
  aggregate,
  percentile,
  masks: { ...masks, text: bytes, digest: null },
  sortable: (rows) => sql`SELECT * FROM (${rows}) AS ${sql.id('gl_sorted')}`,
  order: ({ name, isFloat }, direction) => {
    const output = sql.id(name);
    const way = sql.raw(direction);
    return isFloat
      ? sql`${output} IS NULL, ${output} = ${notANumber} ${way}, ${output} ${way}`
      : sql`${output} IS NULL, ${output} ${way}`;
  },
};
