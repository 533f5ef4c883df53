/**
 * Writes and rewrites the file of a period: Parquet, sorted by tenant. The DuckDB instance may open the folder of its
 * rollup and nothing else, and has bounds for memory and disk.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { ResultTable } from '../connections/database.js';
import { keptText } from './cells.js';
import type { Layout, RollupColumn } from './layout.js';

export type FileLimits = { readonly memoryMegabytes: number; readonly diskMegabytes: number };

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * One tenant's rows of a period should be in few row groups. Each question looks at the entry of every row group, which
 * takes as long as reading some hundred rows: with a third of this size, a tenant among thousands waits twice as long.
 */
const rowGroup = 61_440;

const options = `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroup})`;

const settingsOf = (folder: string, { memoryMegabytes, diskMegabytes }: FileLimits) => ({
  threads: '2',
  memory_limit: `${memoryMegabytes}MB`,
  temp_directory: join(folder, `.spill-${randomUUID()}`),
  max_temp_directory_size: `${diskMegabytes}MB`,
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  preserve_insertion_order: 'true',
});

/** One connection for all files of a build. */
export const withConnection = async <R>(
  folder: string,
  limits: FileLimits,
  work: (connection: DuckDBConnection) => Promise<R>,
): Promise<R> => {
  const instance = await DuckDBInstance.create(':memory:', settingsOf(folder, limits));
  try {
    const connection = await instance.connect();
    try {
      await connection.run(`SET allowed_directories = [${literal(folder)}]`);
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
      return await work(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
};

/** The rows of tenants stand together, and those of one tenant by time. */
const orderOf = (columns: readonly RollupColumn[]): string => {
  const first = columns.filter(({ role }) => role === 'client');
  const then = columns.filter(({ role }) => role === 'time');
  const last = columns.filter(({ role }) => role === 'dimension');
  return [...first, ...then, ...last].map((column) => name(column.name)).join(', ');
};

/** Not the rows of erased clients. */
const withoutErased = (clientColumn: string | null, erased: readonly string[]): string => {
  if (clientColumn === null || erased.length === 0) return '';
  const marks = erased.map(literal).join(', ');
  const own = name(clientColumn);
  return ` WHERE ${own} IS NULL OR sha256(CAST(${own} AS VARCHAR)) NOT IN (${marks})`;
};

const count = async (connection: DuckDBConnection, path: string): Promise<number> => {
  const [row] = (await connection.runAndReadAll(`SELECT count(*) FROM read_parquet(${literal(path)})`)).getRows();
  return Number(row?.[0] ?? 0);
};

type Batches = (sink: (batch: Pick<ResultTable, 'rows'>) => Promise<void>) => Promise<void>;

type Writing = { readonly path: string; readonly erased: readonly string[]; readonly read: Batches };

/** Writes the groups that `read` gives, in the order of the layout's columns, to `path`. Returns the rows of the file. */
export const writeFileOf = async (
  connection: DuckDBConnection,
  { columns, clientColumn }: Pick<Layout, 'columns' | 'clientColumn'>,
  { path, erased, read }: Writing,
): Promise<number> => {
  await connection.run(`CREATE OR REPLACE TABLE staged (${columns.map((_, at) => `c${at} VARCHAR`).join(', ')})`);
  await read(async ({ rows }) => {
    const appender = await connection.createAppender('staged');
    try {
      for (const row of rows) {
        for (const [at, column] of columns.entries()) {
          const text = keptText(row[at] ?? null, column);
          if (text === null) appender.appendNull();
          else appender.appendVarchar(text);
        }
        appender.endRow();
      }
    } finally {
      appender.closeSync();
    }
  });
  const cast = columns.map(({ name: own, stored }, at) => `CAST(c${at} AS ${stored}) AS ${name(own)}`).join(', ');
  const kept = `SELECT * FROM (SELECT ${cast} FROM staged)${withoutErased(clientColumn, erased)}`;
  await connection.run(`COPY (${kept} ORDER BY ${orderOf(columns)}) TO ${literal(path)} ${options}`);
  return count(connection, path);
};

type Rewriting = {
  readonly from: string;
  readonly path: string;
  readonly clientColumn: string;
  readonly erased: readonly string[];
};

/** Copies a file without the rows of erased clients. Null: it has none of them, and nothing was written. */
export const rewriteFile = async (
  connection: DuckDBConnection,
  { from, path, clientColumn, erased }: Rewriting,
): Promise<number | null> => {
  const kept = `SELECT * FROM read_parquet(${literal(from)})${withoutErased(clientColumn, erased)}`;
  const [row] = (await connection.runAndReadAll(`SELECT count(*) FROM (${kept})`)).getRows();
  if (Number(row?.[0] ?? 0) === (await count(connection, from))) return null;
  // DuckDB keeps the order of rows, so the copy is sorted as the file was.
  await connection.run(`COPY (${kept}) TO ${literal(path)} ${options}`);
  return count(connection, path);
};
