/** Amounts of money: in which currency the values of a column are, and what a datamart may say of them. Pure. */
import { faultOf } from '../faults.js';
import {
  type ColumnRef,
  type CurrencySource,
  type Datamart,
  type DatamartColumn,
  type DatamartTable,
  findColumn,
  findTable,
  type ModelNumbers,
  sameTable,
  type TableRef,
} from './datamart.js';
import { storedKind } from './datatypes.js';

/** The currency of the values of a column. */
export type Currency =
  | { readonly kind: 'code'; readonly code: string }
  /** Each row names its own, in the column `ref`. `isShown` false: the token hides or masks that column. */
  | { readonly kind: 'row'; readonly ref: ColumnRef; readonly isShown: boolean }
  /** One for all rows of a tenant: the column `ref` of the client master table names it. */
  | { readonly kind: 'tenant'; readonly ref: ColumnRef };

/** The most decimal places of a scale. */
export const greatestScale = 9;

const isRowSource = (currency: CurrencySource): currency is { readonly column: string } => 'column' in currency;

/** Undefined: the values of the column are no amounts, as far as the datamart says. */
export const currencyOf = (datamart: Datamart, ref: ColumnRef): Currency | undefined => {
  const currency = findColumn(datamart, ref)?.numbers?.currency;
  if (currency === undefined) return undefined;
  if (typeof currency === 'string') return { kind: 'code', code: currency };
  const { schemaName, tableName } = ref;
  if (isRowSource(currency)) {
    const named = { schemaName, tableName, columnName: currency.column };
    const found = findColumn(datamart, named);
    return { kind: 'row', ref: named, isShown: found !== undefined && found.mask === undefined };
  }
  const { tenancy } = datamart;
  if (tenancy?.tenancyLevel !== 'TABLE') return undefined;
  const master = { schemaName: tenancy.schemaName, tableName: tenancy.tableName };
  return { kind: 'tenant', ref: { ...master, columnName: currency.tenantColumn } };
};

/** How new metrics write the numbers: without what is no matter of writing, and without a currency that rows or tenants name. */
export const writtenNumbers = (numbers: ModelNumbers | null | undefined) => {
  if (numbers == null) return null;
  const { scale: _, currency, ...rest } = numbers;
  const written = typeof currency === 'string' ? { ...rest, currency } : rest;
  return Object.keys(written).length === 0 ? null : written;
};

/** What the datamart says of amounts, in words: `stored with 2 decimal places, in the currency of each row (currency)`. */
export const amountWords = ({ scale, currency }: ModelNumbers): string => {
  const places = scale === undefined ? [] : [`stored with ${scale} decimal places`];
  if (currency === undefined) return [...places, 'currency not known'].join(', ');
  if (typeof currency === 'string') return [...places, `in ${currency}`].join(', ');
  const source = isRowSource(currency)
    ? `in the currency of each row (${currency.column})`
    : `in the tenant's currency (${currency.tenantColumn})`;
  return [...places, source].join(', ');
};

type Within = {
  /** The client master table; undefined: there is none. */
  readonly master: TableRef | undefined;
  /** Whether each row of the table is one tenant's. */
  readonly isOwned: (table: TableRef) => boolean;
  /** Whether the datamart has the column. */
  readonly isListed: (column: ColumnRef) => boolean;
};

/** The amounts as a datamart takes them: without currencies of columns that it lacks, and of tenants for rows of all. */
export const amountsWithin = <Amount extends ColumnRef & { readonly numbers: ModelNumbers }>(
  amounts: readonly Amount[],
  { master, isOwned, isListed }: Within,
): readonly Amount[] =>
  amounts.flatMap((amount) => {
    const { currency, ...others } = amount.numbers;
    const isTenantRead = (columnName: string): boolean =>
      master !== undefined && isOwned(amount) && isListed({ ...master, columnName });
    const isRead =
      typeof currency !== 'object' ||
      (isRowSource(currency)
        ? isListed({ ...amount, columnName: currency.column })
        : isTenantRead(currency.tenantColumn));
    if (isRead) return [amount];
    return Object.keys(others).length === 0 ? [] : [{ ...amount, numbers: others }];
  });

type Parts = Pick<Datamart, 'tenancy' | 'tables' | 'relationships'>;

const numeric: ReadonlySet<string | undefined> = new Set(['integer', 'number', undefined]);

const scaleFault = (
  { tenancy, relationships }: Parts,
  table: DatamartTable,
  column: DatamartColumn,
): string | undefined => {
  const { columnName } = column;
  if (column.isCustomColumn === true) return 'left out: the sql of a custom column divides by itself';
  if (!numeric.has(storedKind(column))) return 'left out: the column holds no numbers';
  if (table.baseFilters?.some((filter) => filter.columnName === columnName) === true)
    return 'left out: a base filter tests the values as they are stored';
  const isJoined = relationships
    .flatMap(({ parent, child }) => [parent, child])
    .some((end) => sameTable(end, table) && end.columnName === columnName);
  const isKey =
    tenancy?.tenancyLevel === 'TABLE' && sameTable(table, tenancy) && tenancy.tablePrimaryKeyColumn === columnName;
  return table.clientColumn === columnName || isKey || isJoined
    ? 'left out: the column tells tenants apart or joins tables'
    : undefined;
};

const isText = (column: DatamartColumn | undefined): boolean => {
  const kind = column && storedKind(column);
  return column !== undefined && (kind === undefined || kind === 'text' || kind === 'enum');
};

const currencyFault = (
  { tenancy, tables }: Parts,
  table: DatamartTable,
  { currency }: ModelNumbers,
): string | undefined => {
  if (currency === undefined || typeof currency === 'string') return undefined;
  const columnIn = (own: DatamartTable | undefined, name: string) =>
    own?.columns.find(({ columnName, isCustomColumn }) => columnName === name && isCustomColumn !== true);
  if (isRowSource(currency)) {
    return isText(columnIn(table, currency.column))
      ? undefined
      : 'a column of texts that the datamart has in the same table';
  }
  if (tenancy?.tenancyLevel !== 'TABLE') {
    return 'left out: tenantColumn is read from the client master table, which only tenancyLevel TABLE has';
  }
  const { schemaName, tableName } = tenancy;
  const master = findTable({ tables } as Datamart, { schemaName, tableName });
  return isText(columnIn(master, currency.tenantColumn))
    ? undefined
    : `a column of texts of the client master table ${JSON.stringify(tableName)}, which the datamart has too`;
};

/** Returns the faults of scales and currencies. `isListed`: the caller sent the tables; else they are kept. */
export const moneyFaults = (parts: Parts, isListed: boolean): readonly string[] =>
  parts.tables.flatMap((table, at) =>
    table.columns.flatMap((column, index) => {
      const { numbers } = column;
      if (numbers == null) return [];
      const path = isListed
        ? `tableList[${at}].columns[${index}].numbers`
        : `the kept column ${table.tableName}.${column.columnName}: numbers`;
      const scale = numbers.scale === undefined ? undefined : scaleFault(parts, table, column);
      const currency = currencyFault(parts, table, numbers);
      return [
        ...(scale === undefined ? [] : [faultOf(`${path}.scale`, String(numbers.scale), scale)]),
        ...(currency === undefined ? [] : [faultOf(`${path}.currency`, JSON.stringify(numbers.currency), currency)]),
      ];
    }),
  );
