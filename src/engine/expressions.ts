import { sql } from 'kysely';
import type { Dialect, Sql } from './dialect.js';
import type { Expression, Field, SecuredLeaf } from './plan.js';
import { predicateSql } from './predicates.js';
import { refuseUnknown } from './refuse.js';
import type { SqlType } from './sql-type.js';
import type { BoundPredicate } from './values.js';

type Leaves = readonly SecuredLeaf[];
export type Aggregate = Extract<Expression, { kind: 'aggregate' | 'rowCount' }>;

export const leafName = (index: number): string => `gl_leaf_${index}`;

/** The name of an output column within the statement: its own may be anything. */
export const outputName = (index: number): string => `gl_c${index}`;

/** The name of the leaf's column that is never NULL. */
export const markOf = ({ columns }: SecuredLeaf): string => {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let mark = 'gl_row';
  while (taken.has(mark)) mark += '_';
  return mark;
};

/** As stored: joins compare columns with each other, in no zone. */
export const rawSql = ({ leaf, column }: Field): Sql => sql.id(leafName(leaf), column.ref.columnName);

export const fieldSql = (dialect: Dialect, field: Field): Sql => dialect.field(rawSql(field), field.column);

export const isAggregate = (expression: Expression): expression is Aggregate =>
  expression.kind === 'aggregate' || expression.kind === 'rowCount';

export const expressionSql = (dialect: Dialect, expression: Expression, leaves: Leaves): Sql => {
  switch (expression.kind) {
    case 'field':
      return fieldSql(dialect, expression.field);
    case 'grain':
      return dialect.grain(fieldSql(dialect, expression.field), expression.grain);
    case 'bucket': {
      const width = dialect.cast(expression.width);
      return sql`floor(${fieldSql(dialect, expression.field)} / ${width}) * ${width}`;
    }
    case 'aggregate':
      return dialect.aggregate(
        expression.aggregate,
        argumentSql(dialect, expression, leaves),
        argumentType(expression),
      );
    case 'rowCount':
      return sql`count(${argumentSql(dialect, expression, leaves)})`;
    default:
      return refuseUnknown('expression', expression);
  }
};

/** What is aggregated, row by row. */
export const argumentSql = (dialect: Dialect, expression: Aggregate, leaves: Leaves): Sql => {
  if (expression.kind === 'rowCount') {
    const leaf = leaves[expression.leaf];
    return leaf?.isMarked ? sql.id(leafName(expression.leaf), markOf(leaf)) : sql`1`;
  }
  const value = fieldSql(dialect, expression.field);
  const { indicator, field } = expression;
  return indicator === null ? value : indicatorSql(dialect, value, field.column.type, indicator);
};

const indicatorSql = (dialect: Dialect, value: Sql, type: SqlType, indicator: BoundPredicate): Sql => {
  const [yes, no] = ['1', '0'].map((text) => dialect.cast({ text, cast: 'DOUBLE' }));
  return sql`CASE WHEN ${value} IS NULL THEN NULL WHEN ${predicateSql(dialect, value, type, indicator)} THEN ${yes} ELSE ${no} END`;
};

export const argumentType = (expression: Extract<Expression, { kind: 'aggregate' }>): SqlType =>
  expression.indicator === null ? expression.field.column.type : { kind: 'float', cast: 'DOUBLE' };
