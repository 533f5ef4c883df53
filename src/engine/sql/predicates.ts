import { sql } from 'kysely';
import type { CompareOperator } from '../../model/filter/filter.js';
import type { Bound, Column, Dialect, Sql } from '../dialect/dialect.js';
import { refuseUnknown } from '../dialect/refuse.js';
import type { SqlType } from '../dialect/sql-type.js';
import type { BoundPredicate } from '../plan/values.js';

/** The condition on a column's field. */
export const columnPredicateSql = (dialect: Dialect, stored: Sql, of: Column, predicate: BoundPredicate): Sql => {
  const test = predicateSql(dialect, dialect.field(stored, of), of.type, predicate);
  if (dialect.isStoredOrNull?.(of) !== true || !namesValues(predicate)) return test;
  // What the stored value passes as well; the database can use an index of the column for it.
  return sql`(${predicateSql(dialect, stored, of.type, predicate)} AND ${test})`;
};

/** Whether only values that the predicate names can pass. */
const namesValues = (predicate: BoundPredicate): boolean =>
  predicate.kind === 'oneOf' ||
  predicate.kind === 'range' ||
  (predicate.kind === 'compare' && predicate.operator !== '<>');

/** The condition on a field's value. NULL for a NULL value, except for isNull and isNotNull. */
export const predicateSql = (dialect: Dialect, value: Sql, type: SqlType, predicate: BoundPredicate): Sql => {
  const compared = dialect.comparable(value, type, castOf(predicate));
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return dialect.list(compared, predicate.kind, predicate, type);
    case 'compare':
      return sql`(${comparedSql(dialect, compared, predicate.operator, predicate.value, type)})`;
    case 'range':
      return rangeSql(dialect, compared, predicate, type);
    case 'like':
      if (dialect.like !== undefined) return dialect.like(compared, predicate.pattern);
      return sql`(${compared} LIKE ${dialect.cast(predicate.pattern)} ESCAPE '\\')`;
    case 'inQuery':
      return sql`(${compared} IN (${predicate.write(dialect)}))`;
    case 'recurring':
      if (predicate.value === null) return sql`(${dialect.grain(value, predicate.grain, type)} IS NULL)`;
      // A whole number, as it was bound.
      return sql`(${dialect.grain(value, predicate.grain, type)} = ${sql.lit(predicate.value)})`;
    case 'isNull':
      return sql`(${value} IS NULL)`;
    case 'isNotNull':
      return sql`(${value} IS NOT NULL)`;
    default:
      return refuseUnknown('condition', predicate);
  }
};

/** The type of the predicate's values; null where it has none. */
const castOf = (predicate: BoundPredicate): string | null => {
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return predicate.cast;
    case 'compare':
      return predicate.value.cast;
    case 'range': {
      const casts = [predicate.from, predicate.to].map((end) => end?.cast);
      return casts.includes('TIMESTAMP') ? 'TIMESTAMP' : (casts.find((cast) => cast !== undefined) ?? null);
    }
    default:
      return null;
  }
};

const operatorSql: Readonly<Record<CompareOperator, Sql>> = {
  '=': sql`=`,
  '<>': sql`<>`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
};

type Range = Extract<BoundPredicate, { kind: 'range' }>;

const comparedSql = (dialect: Dialect, value: Sql, operator: CompareOperator, bound: Bound, type: SqlType): Sql =>
  dialect.compare?.(value, operator, bound, type) ?? sql`${value} ${operatorSql[operator]} ${dialect.cast(bound)}`;

const rangeSql = (dialect: Dialect, value: Sql, { from, to, toIsExclusive }: Range, type: SqlType): Sql => {
  const isBeyond = to !== null && dialect.isBeyond?.(to) === true;
  const ends: readonly (readonly [CompareOperator, Bound | null])[] = [
    ['>=', from],
    [toIsExclusive ? '<' : '<=', isBeyond ? null : to],
  ];
  const tests = ends.flatMap(([operator, end]) =>
    end === null ? [] : [comparedSql(dialect, value, operator, end, type)],
  );
  return tests.length === 0 ? sql`(${value} IS NOT NULL)` : sql`(${sql.join(tests, sql` AND `)})`;
};
