/** Files that people upload in Studio, each of which becomes a source. */

/** What a source was made of: a whole DuckDB file, or CSV and Parquet files that are tables of one. */
export type UploadedKind = 'tables' | 'database';

export type FileKind = 'csv' | 'parquet' | 'duckdb';

export type UploadedFile = {
  readonly received: string;
  readonly made: string;
  /** The table that CSV and Parquet become. */
  readonly table: string;
  /** The database with the earlier tables. Null: the file is the first one. */
  readonly before: string | null;
};

/**
 * Makes a database of a file, by its content. Rejects with INVALID_REQUEST_BODY, which says what is wrong with the file
 * and where, and repeats no value of it.
 */
export type MakeDatabase = (file: UploadedFile, kind: FileKind, signal: AbortSignal) => Promise<void>;

/** The kind of a file by its content. Rejects with INVALID_REQUEST_BODY for any other. */
export type ReadFileKind = (path: string) => Promise<FileKind>;

const longestTableName = 60;

/** The name of the table for a file of this name. Letters and digits of all languages stay. */
export const tableNameOf = (fileName: string): string => {
  const words = fileName
    .normalize('NFC')
    .replace(/\.[A-Za-z0-9]{1,8}$/, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
  return [...words].slice(0, longestTableName).join('').toLowerCase() || 'data';
};
