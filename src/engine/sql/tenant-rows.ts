import { sql } from 'kysely';
import { Refusal } from '../../domain/refusal.js';
import type { Dialect, Side, Sql, TenantPredicate, TypedColumn } from '../databases/dialect.js';
import { refuseUnknown } from '../databases/refuse.js';
import { semiJoinOf } from './semi-joins.js';

/** What follows the name of a leaf's table: an alias only where a subquery has to name its columns. */
export const ownAlias = (tenant: TenantPredicate | null): string | null =>
  tenant === null || tenant.kind === 'column' ? null : 'gl_own';

/** True for the tenant's rows of the table that is called `alias`; null: the only one in reach. */
export const tenantSql = (
  dialect: Dialect,
  database: string,
  tenant: TenantPredicate,
  alias: string | null,
  depth = 0,
): Sql => {
  switch (tenant.kind) {
    case 'column': {
      const column = alias === null ? sql.id(tenant.columnName) : sql.id(alias, tenant.columnName);
      return dialect.tenant(column, tenant.type, tenant.value);
    }
    case 'all':
      return sql.join(
        tenant.items.map((item) => tenantSql(dialect, database, item, alias, depth)),
        sql` AND `,
      );
    case 'parent': {
      const parent = `gl_parent_${depth}`;
      const { near, far } = tenant;
      const relation = sql`${dialect.table(database, far.ref)} AS ${sql.id(parent)}`;
      const isTenants = tenantSql(dialect, database, tenant.tenant, parent, depth + 1);
      const steps = [{ near: sideOf(near, alias), far: sideOf(far, parent), relation }];
      return asTenancy(() => semiJoinOf(dialect, steps, [isTenants]));
    }
    default:
      return refuseUnknown('tenant predicate', tenant);
  }
};

/** A database may have no type for both columns of one kind. That is refused as the tenancy's: a guest is told no names of it. */
const asTenancy = (work: () => Sql): Sql => {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.reason !== 'join-of-different-types') throw cause;
    throw new Refusal('METRIC_QUERY_ERROR', cause.message, { reason: 'tenancy-join-types', cause });
  }
};

const sideOf = ({ ref, type }: TypedColumn, alias: string | null): Side => {
  if (alias === null) throw new TypeError('a column that is joined is named by the alias of its table');
  return { column: sql.id(alias, ref.columnName), type, ref };
};
