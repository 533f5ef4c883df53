import { sql } from 'kysely';
import { assertHas } from '../dialect/capabilities.js';
import type { Dialect, Side, Sql } from '../dialect/dialect.js';
import { refuseUnknown, withoutNames } from '../dialect/refuse.js';
import type { Field, Join, Output, SemiJoin, TenantScopedPlan, Test, Where } from '../plan/plan.js';
import { fieldSql, leafName, rawSql } from './expressions.js';
import { columnPredicateSql } from './predicates.js';
import { semiJoinOf } from './semi-joins.js';

/** Writes a leaf where FROM reads it. */
export type RelationOf = (leaf: number) => Sql;

const byName: RelationOf = (leaf) => sql.id(leafName(leaf));

/** Writes FROM, the joins and all conditions of a plan. */
export const fromSql = (dialect: Dialect, plan: TenantScopedPlan): Sql => {
  const joins = plan.joins.map((join) => sql` ${joinSql(dialect, join)}`);
  return sql`${sql.id(leafName(0))}${sql.join(joins, sql``)}${whereSql(dialect, plan)}`;
};

export const joinSql = (dialect: Dialect, { kind, near, far }: Join, relationOf = byName): Sql => {
  if (kind === 'FULL JOIN') assertHas(dialect, 'hasFullJoin');
  return sql`${joinKeyword(kind)} ${relationOf(far.leaf)} ON ${matchSql(dialect, near, far)}`;
};

const matchSql = (dialect: Dialect, near: Field, far: Field): Sql => dialect.join(sideOf(near), sideOf(far));

const sideOf = (field: Field): Side => ({ column: rawSql(field), type: field.column.type, ref: field.column.ref });

const joinKeyword = (kind: Join['kind']): Sql => {
  switch (kind) {
    case 'INNER JOIN':
      return sql`INNER JOIN`;
    case 'LEFT JOIN':
      return sql`LEFT JOIN`;
    case 'RIGHT JOIN':
      return sql`RIGHT JOIN`;
    case 'FULL JOIN':
      return sql`FULL JOIN`;
    default:
      return refuseUnknown('join', kind);
  }
};

const whereSql = (dialect: Dialect, { tests, semiJoins, where, output }: TenantScopedPlan): Sql => {
  const conditions = [
    ...tests.map((test) => testSql(dialect, test)),
    ...semiJoins.map((semiJoin) => semiJoinSql(dialect, semiJoin, byName)),
    ...(where === null ? [] : [treeSql(dialect, where)]),
    ...optionTests(dialect, output),
  ];
  return conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`;
};

/** The tree has no NOT, so a test that is NULL passes no row. */
export const treeSql = (dialect: Dialect, where: Where, relationOf = byName): Sql => {
  switch (where.kind) {
    case 'test':
      return testSql(dialect, where);
    case 'exists':
      return semiJoinSql(dialect, where, relationOf);
    case 'all':
    case 'any':
      return groupSql(
        where.kind,
        where.items.map((item) => treeSql(dialect, item, relationOf)),
      );
    default:
      return refuseUnknown('group of conditions', where);
  }
};

export const groupSql = (kind: 'all' | 'any', items: readonly Sql[]): Sql =>
  sql`(${sql.join(items, kind === 'all' ? sql` AND ` : sql` OR `)})`;

const semiJoinSql = (dialect: Dialect, { joins, tests, nested, isHidden }: SemiJoin, relationOf: RelationOf): Sql =>
  withoutNames(isHidden, () =>
    semiJoinOf(
      dialect,
      joins.map(({ near, far }) => ({ near: sideOf(near), far: sideOf(far), relation: relationOf(far.leaf) })),
      [
        ...tests.map((test) => testSql(dialect, test)),
        ...nested.map((semiJoin) => semiJoinSql(dialect, semiJoin, relationOf)),
      ],
    ),
  );

const optionTests = (dialect: Dialect, { kind, columns, search }: Output): readonly Sql[] => {
  const expression = columns[0]?.expression;
  if (kind !== 'distinct' || expression?.kind !== 'field') return [];
  const value = fieldSql(dialect, expression.field);
  const known = sql`${value} IS NOT NULL`;
  return search === null ? [known] : [known, dialect.contains(value, expression.field.column.type, search)];
};

const testSql = (dialect: Dialect, { field, predicate }: Test): Sql =>
  columnPredicateSql(dialect, rawSql(field), field.column, predicate);
