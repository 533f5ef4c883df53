/** Conditions whose values are the rows of a SELECT: `{sql, columnName}`. */
import { sql } from 'kysely';
import { type ColumnRef, tableKey } from '../../model/datamart/datamart.js';
import type { Condition, Predicate } from '../../model/filter/filter.js';
import { columnName } from '../dialect/catalog.js';
import { castTo, type Dialect, type Sql } from '../dialect/dialect.js';
import { refuseQuery, rethrowUnnamed } from '../dialect/refuse.js';
import { isReadAsText, type SqlKind, type SqlType } from '../dialect/sql-type.js';
import type { Leaf } from '../plan/plan.js';
import type { BoundPredicate } from '../plan/values.js';
import { storedDatamart } from '../scope/column-rules.js';
import type { SqlContext } from './context.js';
import { leavesFor, type Naming, readStatement, shapeOf, statementSql } from './statement.js';

type InQuery = Extract<Predicate, { kind: 'inQuery' }>;
export type Query = {
  readonly leaves: readonly (Leaf & { readonly name: string })[];
  /** The condition is the token's. */
  readonly isRestriction: boolean;
  readonly bind: (ref: ColumnRef, type: SqlType) => BoundPredicate;
};
export type Queries = ReadonlyMap<Predicate, Query>;

/** Reads every condition in SQL, each with leaves of its own. */
export const readQueries = async (context: SqlContext, conditions: readonly Condition[]): Promise<Queries> => {
  const queries = new Map<Predicate, Query>();
  for (const { predicate, isHidden, restriction, isOfToken } of conditions) {
    if (predicate.kind !== 'inQuery' || queries.has(predicate)) continue;
    const isStored = isOfToken === true;
    const reading = readQuery(isStored ? asStored(context) : context, predicate, queries.size, isStored);
    const query = await reading.catch((cause: unknown) => rethrowUnnamed(isHidden, cause));
    queries.set(predicate, { ...query, isRestriction: restriction !== undefined });
  }
  return queries;
};

/** The token's own SQL says which rows are hidden, and reads what is stored. */
const asStored = (context: SqlContext): SqlContext => ({
  ...context,
  datamart: storedDatamart(context.datamart),
  catalog: context.stored,
});

const readQuery = async (
  context: SqlContext,
  predicate: InQuery,
  index: number,
  isStored: boolean,
): Promise<Omit<Query, 'isRestriction'>> => {
  const statement = await readStatement(context, predicate.sql);
  const keys = statement.tables.map(tableKey);
  const nameOf: Naming = (table) => `gl_query_${index}_${keys.indexOf(tableKey(table))}`;
  const leaves = leavesFor(statement.tables, nameOf).map((leaf) => ({ ...leaf, isStored }));
  const rows = (dialect: Dialect): Sql => statementSql(dialect, statement, nameOf);
  const shape = await shapeOf(context, predicate.sql, leaves, () => rows(context.dialect));
  const [column, ...others] = shape.filter(({ name }) => statement.parser.isSameName(name, predicate.columnName));
  if (column === undefined || others.length > 0) {
    refuseQuery(
      "A filter's SQL must return exactly one column with the name in columnName. Correct the SQL or columnName.",
      'query-column-unknown',
    );
  }
  return {
    leaves,
    bind: (ref, type) => {
      assertComparable(ref, type, column?.dataType);
      return { kind: 'inQuery', write: (dialect) => valuesSql(dialect, rows(dialect), column?.name ?? '', type) };
    },
  };
};

const comparable: Readonly<Record<SqlKind, string | null>> = {
  text: 'string',
  enum: 'string',
  uuid: 'string',
  integer: 'number',
  decimal: 'number',
  float: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date',
  instant: 'date',
  json: null,
  other: null,
};

const dataTypeOf = (type: SqlType): string | null => (isReadAsText(type) ? 'string' : comparable[type.kind]);

/** Comparing text with numbers would round them, or fail on a value. */
const assertComparable = (ref: ColumnRef, type: SqlType, dataType: string | undefined): void => {
  if (dataTypeOf(type) === dataType) return;
  refuseQuery(
    `Column ${columnName(ref)} is compared with values of another type from a filter's SQL. Cast them in that SQL.`,
    'query-column-type',
  );
};

/** A NULL among the values matches nothing. */
const valuesSql = (dialect: Dialect, rows: Sql, name: string, type: SqlType): Sql => {
  const value = sql.id('gl_q', name);
  const cast = type.kind === 'uuid' ? 'UUID' : dataTypeOf(type) === 'string' ? 'VARCHAR' : null;
  return sql`SELECT ${castTo(dialect, value, cast)} FROM (${rows}) AS ${sql.id('gl_q')}`;
};
