/** Rows whose client column is empty: they belong to no tenant, so nobody sees them, such as a catalog for all tenants. */

import type { FindSource } from '../../dashboard/first/facts.js';
import { metricOf } from '../../dashboard/first/first-dashboard.js';
import { type Datamart, qualifiedName } from '../../datamart/datamart.js';
import type { TableOwnership } from '../../datamart/table-ownership.js';
import type { AskMetric } from './ask.js';

export type TenantlessRows = {
  /** `schema.table`. */
  readonly table: string;
  readonly columnName: string;
  readonly tenantless: number;
  readonly rows: number;
};

/** Counts them in the tables whose client column may be NULL; tables without such rows are left out. */
export const countTenantless = async (
  ask: AskMetric,
  datamart: Datamart,
  owned: readonly TableOwnership[],
  find: FindSource,
): Promise<readonly TenantlessRows[]> => {
  const counted = await Promise.all(
    owned.map(async ({ table, tenancy }): Promise<readonly TenantlessRows[]> => {
      if (tenancy.kind !== 'column') return [];
      const { schemaName, tableName } = table;
      const { columnName } = tenancy;
      const isNullable = find(table)?.columns.find((one) => one.columnName === columnName)?.isNullable;
      if (isNullable === false) return [];
      const measures = [
        { name: 'rows', aggregate: 'COUNT' as const },
        { name: 'owned', aggregate: 'COUNT' as const, column: { schemaName, tableName, columnName } },
      ];
      const answer = await ask(datamart, null, metricOf({ from: { schemaName, tableName }, measures }));
      const [counts] = answer.rows;
      const rows = Number(counts?.rows ?? 0);
      const tenantless = rows - Number(counts?.owned ?? rows);
      return tenantless === 0 ? [] : [{ table: qualifiedName(table), columnName, tenantless, rows }];
    }),
  );
  return counted.flat();
};
