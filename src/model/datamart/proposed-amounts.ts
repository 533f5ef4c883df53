/** Proposes what the amounts of money in a database are: how many decimal places they are stored with, and in which currency. Pure. */
import { amountName, wordsOf } from './column-names.js';
import {
  type ColumnRef,
  type ModelNumbers,
  type Relationship,
  sameColumn,
  sameTable,
  type TableRef,
  tableKey,
} from './datamart.js';
import { isOfKind } from './datatypes.js';
import type { SourceColumn, SourceTable } from './source-schema.js';

/** What the numbers of a column are. The ref is the column. */
export type ProposedAmount = ColumnRef & {
  readonly numbers: ModelNumbers;
  /** What the column is called in whole units: `Total` for `total_cents`. Null: as the column itself. */
  readonly label: string | null;
  readonly reason: string;
};

type AmountTenants = {
  /** The table of tenants. */
  readonly table: TableRef;
  /** Keys of the tables whose rows belong to a tenant. */
  readonly owned: ReadonlySet<string>;
};

type Edges = readonly Pick<Relationship, 'parent' | 'child' | 'cardinality'>[];

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const amounts = words(
  'amount price revenue cost costs fee fees total subtotal gross net balance mrr arr charge charges refund refunds payout salary income profit spend tip',
);
/** Words of numbers that are no money, whatever else their names say. */
const otherUnits = words(
  'rate percent percentage pct ratio share count quantity qty number hours minutes seconds days duration time weight distance km kg litres liters volume score points units factor index area size version release build',
);
/** Amounts that were converted: they need not be in the currency that stands beside them. */
const converted = words('base home converted normalized normalised reporting');
/** Codes that are no English words. */
const codes = words('usd eur gbp jpy chf cad aud nzd sek nok dkk pln czk huf inr brl cny sgd hkd zar mxn');

/** The words before `currency` in a column that names one: none for `currency_code`. Undefined: it names none. */
const currencyWords = (column: SourceColumn): readonly string[] | undefined => {
  if (!isOfKind(column, 'text', 'enum')) return undefined;
  const named = wordsOf(column.columnName).filter((word) => word !== 'code' && word !== 'iso');
  return named.at(-1) === 'currency' ? named.slice(0, -1) : undefined;
};

const currenciesOf = ({ columns }: SourceTable) =>
  columns.flatMap((column) => {
    const own = currencyWords(column);
    return own === undefined ? [] : [{ columnName: column.columnName, own }];
  });

/** The column with the currency of an amount of this name: the one that shares its words, or the only one without any. */
const currencyFor = (columnName: string, table: SourceTable): string | undefined => {
  const named = wordsOf(columnName);
  const all = currenciesOf(table);
  const alike = all.find(({ own }) => own.length > 0 && own.every((word) => named.includes(word)));
  if (alike !== undefined) return alike.columnName;
  if (named.some((word) => converted.has(word))) return undefined;
  const plain = all.find(({ own }) => own.length === 0);
  return plain?.columnName ?? (all.length === 1 ? all[0]?.columnName : undefined);
};

/** Whether rows refer to others that have a currency, such as the lines of an invoice: the tenant's may be another one. */
const refersToCurrency = (
  from: TableRef,
  tables: readonly SourceTable[],
  edges: Edges,
  tenants: TableRef | undefined,
): boolean => {
  const reached: TableRef[] = [from];
  for (const near of reached) {
    for (const { parent, child, cardinality } of edges) {
      const isNew = !reached.some((one) => sameTable(one, child));
      if (!sameTable(parent, near) || cardinality === null || !isNew) continue;
      if (tenants === undefined || !sameTable(child, tenants)) reached.push(child);
    }
  }
  return reached.slice(1).some((ref) => {
    const table = tables.find((one) => sameTable(one, ref));
    return table !== undefined && currenciesOf(table).length > 0;
  });
};

type Found = { readonly currency: ModelNumbers['currency']; readonly why: string };

const isText = (table: SourceTable, columnName: string): boolean =>
  isOfKind(
    table.columns.find((one) => one.columnName === columnName),
    'text',
    'enum',
  );

const findCurrency = (
  table: SourceTable,
  columnName: string,
  tables: readonly SourceTable[],
  edges: Edges,
  tenants: AmountTenants | undefined,
): Found | undefined => {
  const code = wordsOf(columnName).find((word) => codes.has(word));
  if (code !== undefined) return { currency: code.toUpperCase(), why: `named like amounts in ${code.toUpperCase()}` };
  const master = tenants && tables.find((one) => sameTable(one, tenants.table));
  if (currenciesOf(table).length > 0 && (master === undefined || !sameTable(table, master))) {
    const column = currencyFor(columnName, table);
    return column === undefined ? undefined : { currency: { column }, why: `${column} names a currency in each row` };
  }
  if (master === undefined || tenants?.owned.has(tableKey(table)) !== true) return undefined;
  const tenantColumn = currencyFor(columnName, master);
  if (tenantColumn === undefined || !isText(master, tenantColumn)) return undefined;
  if (refersToCurrency(table, tables, edges, master)) return undefined;
  return { currency: { tenantColumn }, why: `${master.tableName}.${tenantColumn} names the tenant's currency` };
};

/** Whether a number of this name is money. */
export const isAmount = (columnName: string): boolean => {
  const { name, unit } = amountName(columnName);
  const named = name.split(' ');
  return (unit !== null || named.some((word) => amounts.has(word))) && !named.some((word) => otherUnits.has(word));
};

/** The label in whole units, unless another column of the table is called that. */
const labelOf = (name: string, { columns }: SourceTable): string | null => {
  const isTaken = columns.some(({ columnName }) => wordsOf(columnName).join(' ') === name);
  return isTaken ? null : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
};

/** Whether the column identifies rows or joins tables, so that its numbers are no amounts. */
const isKey = (column: ColumnRef, { primaryKey, foreignKeys }: SourceTable, edges: Edges): boolean =>
  primaryKey.includes(column.columnName) ||
  foreignKeys.some(({ columns }) => columns.includes(column.columnName)) ||
  edges.some(({ parent, child }) => sameColumn(parent, column) || sameColumn(child, column));

/**
 * Whole numbers that are named like cents have two decimal places. They, and numbers that are named like amounts, have
 * the currency of a column of their row, else that of the tenant, whose table has a column with it.
 */
export const proposeAmounts = (
  tables: readonly SourceTable[],
  edges: Edges,
  tenants: AmountTenants | undefined,
): readonly ProposedAmount[] =>
  tables.flatMap((table) =>
    table.columns.flatMap((column): readonly ProposedAmount[] => {
      const { columnName } = column;
      const ref = { schemaName: table.schemaName, tableName: table.tableName, columnName };
      if (!isAmount(columnName) || isKey(ref, table, edges)) return [];
      const { name, unit } = amountName(columnName);
      const isMinor = unit !== null && isOfKind(column, 'integer');
      if (!isMinor && !isOfKind(column, 'number')) return [];
      const found = findCurrency(table, columnName, tables, edges, tenants);
      if (!isMinor && found === undefined) return [];
      return [
        {
          ...ref,
          numbers: {
            ...(isMinor ? { scale: 2 } : {}),
            ...(found === undefined ? {} : { currency: found.currency }),
          },
          label: isMinor ? labelOf(name, table) : null,
          reason: [
            ...(isMinor ? [`named like amounts in ${unit}`] : []),
            ...(found === undefined ? [] : [found.why]),
          ].join('; '),
        },
      ];
    }),
  );
