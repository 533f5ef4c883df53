/** What the rows of a draft look like: for which tenants to try the first dashboard, and which columns are worth a chart. */
import type { Facts, TableFacts } from '../../model/dashboard/first/facts.js';
import { metricOf } from '../../model/dashboard/first/first-dashboard.js';
import { rolesOf } from '../../model/dashboard/first/roles.js';
import { noColumnRules, withColumnRules } from '../../model/datamart/column-rules.js';
import {
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  sameTable,
  type TableRef,
} from '../../model/datamart/datamart.js';
import { isOfKind } from '../../model/datamart/datatypes.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { tableOwnerships } from '../../model/datamart/table-ownership.js';
import type { Cell } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { AskMetric } from './ask.js';

const keysOf = (sources: readonly SourceTable[]) => (ref: TableRef) => {
  const found = sources.find((source) => sameTable(source, ref));
  return found === undefined ? [] : [found.primaryKey, ...found.uniqueKeys].filter((key) => key.length > 0);
};

type Owned = {
  readonly table: DatamartTable;
  /** The column that names the tenant of a row; null: rows have none, or several. */
  readonly owner: ColumnRef | null;
  readonly isOwned: boolean;
  readonly isTenants: boolean;
};

const ownersOf = (datamart: Datamart, sources: readonly SourceTable[]): readonly Owned[] =>
  tableOwnerships(datamart, keysOf(sources)).map(({ table, tenancy }) => {
    const { schemaName, tableName } = table;
    const isTenants = tenancy.kind === 'master';
    if (tenancy.kind === 'path') return { table, owner: tenancy.owner, isOwned: true, isTenants };
    if (tenancy.kind !== 'column' && tenancy.kind !== 'master')
      return { table, owner: null, isOwned: tenancy.kind === 'bridge', isTenants };
    return { table, owner: { schemaName, tableName, columnName: tenancy.columnName }, isOwned: true, isTenants };
  });

const count = { name: 'rows', aggregate: 'COUNT' } as const;
const numberIn = (cell: Cell | undefined): number => Number(cell ?? 0);

/** Returns the tenants with the most rows in the largest table that has a tenant and can be joined with it. */
const findTenants = async (ask: AskMetric, datamart: Datamart, owned: readonly Owned[]): Promise<readonly string[]> => {
  const counted = await Promise.all(
    owned.map(async ({ table, owner, isTenants }) => {
      const { rows } = await ask(datamart, null, metricOf({ from: table, measures: [count] }));
      return { table, owner, isTenants, rows: numberIn(rows[0]?.rows) };
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
    const { rows } = await ask(datamart, null, metricOf({ from, dimensions, measures: [count], sort, limit: 4 }));
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
  { table, isOwned, isTenants }: Owned,
  sources: readonly SourceTable[],
): Promise<TableFacts> => {
  const source = sources.find((one) => sameTable(one, table));
  if (source === undefined)
    throw new Error(`the draft has a table that the database does not have: ${table.tableName}`);
  const roles = rolesOf(datamart, table, source.primaryKey);
  const column = (columnName: string): ColumnRef => ({ ...tableRef(table), columnName });
  const find = (name: string) => table.columns.find((one) => one.columnName === name);
  const isAsked = (name: string): boolean => isOfKind(find(name), 'text', 'enum', 'boolean');
  const categories = roles.categories.filter(isAsked).slice(0, most);
  const dates = roles.dates.slice(0, most);
  const { rows } = await ask(
    datamart,
    tenant,
    metricOf({
      from: table,
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
    table,
    source,
    roles,
    isOwned,
    isTenants,
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
  sources: readonly SourceTable[],
): Promise<Facts> => {
  // As every query does: what tenants do not read of the rows that they share is no part of a chart.
  const owned = ownersOf(withColumnRules(datamart, noColumnRules), sources);
  const tenants = await findTenants(ask, datamart, owned);
  const [tenant] = tenants;
  if (tenant === undefined) return { tenants, tables: [] };
  const tables = await Promise.all(owned.map((one) => lookAt(ask, datamart, tenant, one, sources)));
  return { tenants, tables };
};
