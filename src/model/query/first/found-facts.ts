/** What the rows of a datamart look like: for which tenants to try the first dashboard, and which columns are worth a chart. */

import { type Facts, type FindSource, shownTables, type TableFacts } from '../../dashboard/first/facts.js';
import { metricOf } from '../../dashboard/first/first-dashboard.js';
import type { ColumnRef, Datamart, TableRef } from '../../datamart/datamart.js';
import { isOfKind } from '../../datamart/datatypes.js';
import type { TableOwnership } from '../../datamart/table-ownership.js';
import { Refusal } from '../../refusal.js';
import type { Cell } from '../engine.js';
import type { AskMetric } from './ask.js';

type Owned = ReturnType<typeof shownTables>[number];

/** The column that names the tenant of a row; null: rows have none, or several. */
const ownerOf = ({ table: { schemaName, tableName }, tenancy }: Owned): ColumnRef | null => {
  if (tenancy.kind === 'path') return tenancy.owner;
  return tenancy.kind === 'column' || tenancy.kind === 'master'
    ? { schemaName, tableName, columnName: tenancy.columnName }
    : null;
};

const count = { name: 'rows', aggregate: 'COUNT' } as const;
const numberIn = (cell: Cell | undefined): number => Number(cell ?? 0);

/** Returns the tenants with the most rows in the largest table that has a tenant and can be joined with it. */
const findTenants = async (ask: AskMetric, datamart: Datamart, owned: readonly Owned[]): Promise<readonly string[]> => {
  const counted = await Promise.all(
    owned.map(async (one) => {
      const { table, isTenants } = one;
      const { rows } = await ask(datamart, null, metricOf({ from: tableRef(table), measures: [count] }));
      return { table, owner: ownerOf(one), isTenants, rows: numberIn(rows[0]?.rows) };
    }),
  );
  const largest = counted
    .filter(({ rows }) => rows > 0)
    .toSorted((a, b) => Number(a.isTenants) - Number(b.isTenants) || b.rows - a.rows);
  for (const { table, owner } of largest) {
    const tenants = owner === null ? [] : await tenantsIn(ask, datamart, table, owner);
    if (tenants.length > 0) return tenants;
  }
  return [];
};

/** The tenants of a table's rows; none where the engine refuses to join the table with the one that names them. */
const tenantsIn = async (
  ask: AskMetric,
  datamart: Datamart,
  from: TableRef,
  column: ColumnRef,
): Promise<readonly string[]> => {
  const dimensions = [{ name: 'tenant', column }];
  const sort = [{ name: 'rows', direction: 'DESC' as const }];
  try {
    const { rows } = await ask(
      datamart,
      null,
      metricOf({ from: tableRef(from), dimensions, measures: [count], sort, limit: 4 }),
    );
    return rows.flatMap(({ tenant }) => (tenant == null || tenant === '' ? [] : [String(tenant)])).slice(0, 3);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'METRIC_QUERY_ERROR') return [];
    throw error;
  }
};

/** Columns of one table that are asked about at once. */
const most = 20;

const lookAt = async (
  ask: AskMetric,
  datamart: Datamart,
  tenant: string,
  { tenancy: _, ...shown }: Owned,
): Promise<TableFacts> => {
  const { table, roles } = shown;
  const column = (columnName: string): ColumnRef => ({ ...tableRef(table), columnName });
  const find = (name: string) => table.columns.find((one) => one.columnName === name);
  const isAsked = (name: string): boolean => isOfKind(find(name), 'text', 'enum', 'boolean');
  const categories = roles.categories.filter(isAsked).slice(0, most);
  const dates = roles.dates.slice(0, most);
  const { rows } = await ask(
    datamart,
    tenant,
    metricOf({
      from: tableRef(table),
      measures: [
        count,
        ...categories.map((name, at) => ({
          name: `d${at}`,
          aggregate: 'COUNT_DISTINCT' as const,
          column: column(name),
        })),
        ...dates.flatMap((name, at) => [
          { name: `from${at}`, aggregate: 'MIN' as const, column: column(name) },
          { name: `to${at}`, aggregate: 'MAX' as const, column: column(name) },
        ]),
      ],
    }),
  );
  const [row = {}] = rows;
  const spans = dates.flatMap((name, at) => {
    const [from, to] = [row[`from${at}`], row[`to${at}`]];
    return typeof from === 'string' && typeof to === 'string' ? [[name, { from, to }] as const] : [];
  });
  return {
    ...shown,
    rows: numberIn(row.rows),
    distinct: new Map(categories.map((name, at) => [name, numberIn(row[`d${at}`])])),
    spans: new Map(spans),
  };
};

const tableRef = ({ schemaName, tableName }: TableRef): TableRef => ({ schemaName, tableName });

/** Reads them from the database. Without a tenant that has rows, no table is looked at. */
export const findFacts = async (
  ask: AskMetric,
  datamart: Datamart,
  owned: readonly TableOwnership[],
  find: FindSource,
): Promise<Facts> => {
  const shown = shownTables(datamart, owned, find);
  const tenants = await findTenants(ask, datamart, shown);
  const [tenant] = tenants;
  if (tenant === undefined) return { tenants, tables: [] };
  const tables = await Promise.all(shown.map((one) => lookAt(ask, datamart, tenant, one)));
  return { tenants, tables };
};
