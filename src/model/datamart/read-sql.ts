/** What texts of SQL read, as the parser of their database says. */
import { namesRead } from './column-rules.js';
import type { ColumnRef, TableRef } from './datamart.js';

type Path = readonly string[];

/** Of a SELECT: its tables, and the text without comments. Of an expression: its columns. Names are as the database folds them. */
export type ParsedSql =
  | { readonly tables: readonly Path[]; readonly written: string }
  | { readonly columns: readonly Path[] };

/** Undefined: no parser could read the text. */
export type ReadSql = (text: string) => ParsedSql | undefined;

const isSame = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();

/** A path without a schema means any. */
const isTable = (path: Path, { schemaName, tableName }: TableRef): boolean => {
  const schema = path.at(-2);
  return isSame(path.at(-1), tableName) && (schema === undefined || isSame(schema, schemaName));
};

/** Without a parser, a word counts that stands in no longer one. */
const hasWord = (sql: string, word: string): boolean => {
  const text = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${text}(?![\\p{L}\\p{N}_])`, 'iu').test(sql);
};

/** Whether the text reads the table. An expression reads the tables of its metric. */
export const readsTable = (text: string, table: TableRef, readSql: ReadSql): boolean => {
  const parsed = readSql(text);
  if (parsed === undefined) return hasWord(text, table.tableName);
  return 'tables' in parsed && parsed.tables.some((path) => isTable(path, table));
};

/** Whether the text reads the column. `near`: the tables whose columns an expression may name alone. */
export const readsColumn = (
  text: string,
  column: ColumnRef,
  near: (table: TableRef) => boolean,
  readSql: ReadSql,
): boolean => {
  const { tableName, columnName } = column;
  const parsed = readSql(text);
  if (parsed === undefined) return hasWord(text, columnName) && (hasWord(text, tableName) || near(column));
  if ('tables' in parsed)
    return parsed.tables.some((path) => isTable(path, column)) && namesRead(parsed.written, [columnName]).length > 0;
  return parsed.columns.some((path) => {
    if (!isSame(path.at(-1), columnName)) return false;
    return path.length === 1 ? near(column) : isTable(path.slice(0, -1), column);
  });
};
