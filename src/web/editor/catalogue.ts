/** The fields that an editor offers, and how they are found. Pure: no page, no network. */
import type { ColumnRef, TableRef } from '../../model/datamart/datamart.js';
import type { Field, FieldTable, GuestFields } from '../../model/guest/fields.js';
import { folded, wordsOf } from '../base/search.js';

export type Catalogue = GuestFields;

export const sameTable = (a: TableRef, b: TableRef): boolean =>
  a.schemaName === b.schemaName && a.tableName === b.tableName;

export const sameColumn = (a: ColumnRef, b: ColumnRef): boolean => sameTable(a, b) && a.columnName === b.columnName;

export const findTable = ({ tables }: Catalogue, table: TableRef): FieldTable | undefined =>
  tables.find((one) => sameTable(one, table));

export const findField = (catalogue: Catalogue, column: ColumnRef): Field | undefined =>
  findTable(catalogue, column)?.fields.find(({ columnName }) => columnName === column.columnName);

/** Whether one metric may read both tables. */
export const areJoinable = (catalogue: Catalogue, a: TableRef, b: TableRef): boolean => {
  const [one, other] = [findTable(catalogue, a), findTable(catalogue, b)];
  return one !== undefined && one.joinGroup === other?.joinGroup;
};

/** What people call a table or a field. */
export const titleOf = (of: FieldTable | Field): string => {
  if (of.label !== '') return of.label;
  return 'columnName' in of ? of.columnName : of.tableName;
};

/** 0: a name begins so. 1: a name has it. 2: a synonym or the description has it. Undefined: nothing has it. */
const rankOf = (of: Field | FieldTable, word: string): number | undefined => {
  const names = [titleOf(of), 'columnName' in of ? of.columnName : of.tableName].map(folded);
  if (names.some((name) => name.startsWith(word))) return 0;
  if (names.some((name) => name.includes(word))) return 1;
  return [...of.synonyms, of.description ?? ''].some((text) => folded(text).includes(word)) ? 2 : undefined;
};

export type Found = { readonly table: FieldTable; readonly field: Field };

/** Returns the fields in which every word of the text occurs, also by their table's name; the best first. */
export const searchFields = ({ tables }: Catalogue, text: string): readonly Found[] => {
  const words = wordsOf(text);
  const found = tables.flatMap((table) =>
    table.fields.flatMap((field) => {
      const ranks = words.map((word) => rankOf(field, word) ?? (rankOf(table, word) === undefined ? undefined : 3));
      const isFound = ranks.every((rank) => rank !== undefined);
      return isFound ? [{ table, field, rank: Math.max(0, ...ranks.map((rank) => rank ?? 0)) }] : [];
    }),
  );
  return found.toSorted((a, b) => a.rank - b.rank).map(({ table, field }) => ({ table, field }));
};
