/**
 * The right to the column: what a token or a table's `through` hides of a datamart, and what a token masks. The rules are applied to the datamart
 * itself, before anybody reads it: hidden columns are no longer among its columns, and masked ones carry their mask.
 * So a read path that does not know of the rules cannot show what they hide.
 */
import type { ColumnRef, Datamart, DatamartColumn, DatamartTable } from './datamart.js';
import { columnKind } from './datatypes.js';
import { type Mask, readMask, suitsKind } from './masks.js';

/** The columns, each as `schema.table.column`, and the masks as the policy writes them. */
export type ColumnRules = {
  readonly hideColumns: readonly string[];
  readonly maskColumns: Readonly<Record<string, string>>;
};

export const noColumnRules: ColumnRules = { hideColumns: [], maskColumns: {} };

/** `schema.table.column`, as the rules name it. */
export const ruleName = ({ schemaName, tableName, columnName }: ColumnRef): string =>
  `${schemaName}.${tableName}.${columnName}`;

export const hasColumnRules = ({ hideColumns, maskColumns }: ColumnRules): boolean =>
  hideColumns.length > 0 || Object.keys(maskColumns).length > 0;

/** The words of an expression or statement outside of its text literals, in lower case, without names of functions. */
const wordsOf = (sql: string): ReadonlySet<string> =>
  new Set(
    [
      ...sql.replaceAll(/'(?:[^']|'')*'/g, ' ').matchAll(/([\p{L}_][\p{L}\p{N}_$]*)(?!\s*\()|"([^"]+)"|`([^`]+)`/gu),
    ].map(([, word = '', quoted = '', ticked = '']) => (word || quoted || ticked).toLowerCase()),
  );

const maskedColumn = (column: DatamartColumn, mask: Mask): DatamartColumn => {
  switch (mask.kind) {
    case 'hash':
    case 'last4':
    case 'first':
      return { ...column, mask, kind: 'text' };
    case 'year':
      // The year is that of the stored value, and has no time to convert.
      return { ...column, mask, isApplyTimezone: false };
    default:
      return { ...column, mask };
  }
};

/** Whether the table's `through`, if it has one, lets the column be read. */
const isNamedByThrough = ({ through }: Pick<DatamartTable, 'through'>, { columnName }: DatamartColumn): boolean =>
  through == null || through.columns.includes(columnName);

/** The columns of `names` that the expression may read. */
export const namesRead = (sql: string, names: readonly string[]): readonly string[] => {
  if (names.length === 0) return [];
  const words = wordsOf(sql);
  return names.filter((name) => words.has(name.toLowerCase()));
};

/** Whether a text of SQL names the column, whichever table it means. */
export const namesColumn = (sql: string, { columnName }: Pick<ColumnRef, 'columnName'>): boolean =>
  namesRead(sql, [columnName]).length > 0;

const ruledTable = (table: DatamartTable, rules: ColumnRules): DatamartTable => {
  const nameOf = ({ columnName }: DatamartColumn): string => ruleName({ ...table, columnName });
  const maskOf = (column: DatamartColumn): Mask | undefined => {
    const name = nameOf(column);
    return Object.hasOwn(rules.maskColumns, name) ? readMask(rules.maskColumns[name] ?? '') : undefined;
  };
  const isNamed = (column: DatamartColumn): boolean => Object.hasOwn(rules.maskColumns, nameOf(column));
  const isHidden = (column: DatamartColumn): boolean => {
    if (!isNamedByThrough(table, column)) return true;
    if (rules.hideColumns.includes(nameOf(column))) return true;
    if (!isNamed(column)) return false;
    const mask = maskOf(column);
    return mask === undefined || column.isCustomColumn === true || !suitsKind(mask, columnKind(column));
  };
  const hidden = table.columns.filter(isHidden);
  const names = hidden.map(({ columnName }) => columnName);
  // A column that is computed from a hidden one tells of it.
  const isComputed = ({ isCustomColumn, sql = '' }: DatamartColumn): boolean =>
    isCustomColumn === true && namesRead(sql, names).length > 0;
  const shown = table.columns.filter((column) => !isHidden(column) && !isComputed(column));
  const hiddenColumns = table.columns.filter((column) => !shown.includes(column));
  const columns = shown.map((column) => {
    const mask = maskOf(column);
    return mask === undefined ? column : maskedColumn(column, mask);
  });
  return hiddenColumns.length === 0 && columns.every(({ mask }) => mask === undefined)
    ? table
    : { ...table, columns, hiddenColumns };
};

const applied = new WeakMap<Datamart, Map<string, Datamart>>();
const greatestMemory = 100;

/**
 * Returns the datamart as the rules and the `through` of its tables show it: the same object for the same datamart and
 * rules.
 */
export const withColumnRules = (datamart: Datamart, rules: ColumnRules): Datamart => {
  if (!hasColumnRules(rules) && datamart.tables.every(({ through }) => through == null)) return datamart;
  const known = applied.get(datamart) ?? new Map<string, Datamart>();
  applied.set(datamart, known);
  const key = JSON.stringify(columnRulesKey(rules));
  const found = known.get(key) ?? {
    ...datamart,
    tables: datamart.tables.map((table) => ruledTable(table, rules)),
    ruled: { key, stored: datamart },
  };
  if (known.size >= greatestMemory) known.clear();
  known.set(key, found);
  return found;
};

/** The rules in one order. */
const columnRulesKey = ({ hideColumns, maskColumns }: ColumnRules): unknown => [
  [...new Set(hideColumns)].toSorted(),
  Object.entries(maskColumns).toSorted(([left], [right]) => (left < right ? -1 : 1)),
];

/** Whether the rules hide the column, or hide what it is computed from. */
export const isHiddenColumn = ({ tables }: Pick<Datamart, 'tables'>, ref: ColumnRef): boolean =>
  tables.some(
    ({ schemaName, tableName, hiddenColumns = [] }) =>
      schemaName === ref.schemaName &&
      tableName === ref.tableName &&
      hiddenColumns.some(({ columnName }) => columnName === ref.columnName),
  );

/**
 * Whether a text of SQL names a hidden column of a table that it names. A name that another of its tables has too counts:
 * without the hidden column, an inner name could be that of an outer table, and the statement would mean something else.
 * The engine refuses what this does not find: it reads no hidden column by any name.
 */
export const namesHidden = ({ tables }: Pick<Datamart, 'tables'>, sql: string, near: readonly string[]): boolean => {
  if (!tables.some(({ hiddenColumns }) => hiddenColumns !== undefined)) return false;
  const words = wordsOf(sql);
  const read = tables.filter(
    ({ tableName }) => words.has(tableName.toLowerCase()) || near.some((one) => one === tableName),
  );
  return read.some((table) =>
    table.hiddenColumns?.some(
      // What `through` hides is hidden from everyone, so that a statement means the same without it.
      (column) => isNamedByThrough(table, column) && words.has(column.columnName.toLowerCase()),
    ),
  );
};
