/**
 * Writes and rewrites the files of a period: Parquet, sorted by tenant; in the process of `process.ts`. The DuckDB instance
 * may open the folder of its rollup and nothing else, and has bounds for memory and disk.
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { WrittenFile } from '../../platform/files/rollup-folder.js';
import type { ResultTable } from '../connections/database.js';
import { keptText } from './cells.js';
import type { Layout, RollupColumn } from './layout.js';

export type FileLimits = {
  readonly memoryMegabytes: number;
  readonly diskMegabytes: number;
  /** Rows after which the next tenant's stand in another file. Left out: as many as answer a question fastest. */
  readonly fileRows?: number | undefined;
};

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * A question reads at least one row group of each file, and looks at the entry of each one, so the files of a tenant
 * have few of them. Smaller ones were not faster, and take more of the disk.
 */
const rowGroup = 61_440;
const usualFileRows = 4 * rowGroup;
/** Of a period. */
const greatestFiles = 64;

/** zstd takes half of the disk, and a quarter more of the processor at each question. */
const options = `(FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE ${rowGroup})`;

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

export type OpenedFiles = { readonly connection: DuckDBConnection; readonly close: () => void };

/** One connection for all files of a build. */
export const openFiles = async (folder: string, limits: FileLimits): Promise<OpenedFiles> => {
  const instance = await DuckDBInstance.create(':memory:', settingsOf(folder, limits));
  try {
    const connection = await instance.connect();
    await connection.run(`SET allowed_directories = [${literal(folder)}]`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    const close = (): void => {
      connection.closeSync();
      instance.closeSync();
    };
    return { connection, close };
  } catch (cause) {
    instance.closeSync();
    throw cause;
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

const rowsOf = async (connection: DuckDBConnection, query: string) => (await connection.runAndReadAll(query)).getRows();

const writtenAt = async (
  connection: DuckDBConnection,
  path: string,
  clientColumn: string | null,
): Promise<WrittenFile> => {
  const own = clientColumn === null ? 'NULL' : name(clientColumn);
  const ends = `CAST(min(${own}) AS VARCHAR), CAST(max(${own}) AS VARCHAR)`;
  const [row] = await rowsOf(connection, `SELECT count(*), ${ends} FROM read_parquet(${literal(path)})`);
  const [rows, first, last] = row ?? [];
  const clients: WrittenFile['clients'] = typeof first === 'string' && typeof last === 'string' ? [first, last] : null;
  return { path, rows: Number(rows ?? 0), clients };
};

type Batches = (sink: (batch: Pick<ResultTable, 'rows'>) => Promise<void>) => Promise<void>;

const stage = async (connection: DuckDBConnection, columns: readonly RollupColumn[], read: Batches): Promise<void> => {
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
};

/** A value as a text that holds any character. */
const constant = (text: string, stored: string): string =>
  `CAST(decode(from_hex('${Buffer.from(text).toString('hex')}')) AS ${stored})`;

/** The last client of each file: all rows of a client are in one, beside those of the next ones. */
const lastClients = async (connection: DuckDBConnection, path: string, client: RollupColumn, fileRows: number) => {
  const own = name(client.name);
  const counted = `SELECT ${own} AS client, count(*) AS kept FROM read_parquet(${literal(path)}) WHERE ${own} IS NOT NULL
    GROUP BY 1`;
  const placed = `SELECT client, (sum(kept) OVER (ORDER BY client) - 1) // ${fileRows} AS place FROM (${counted})`;
  const last = `SELECT CAST(max(client) AS VARCHAR) FROM (${placed}) GROUP BY place ORDER BY place`;
  return (await rowsOf(connection, last)).map(([text]) => constant(String(text), client.stored));
};

/** Copies the rows of a file to several, so that a question opens those of its tenant alone. */
const divide = async (
  connection: DuckDBConnection,
  client: RollupColumn,
  { path, rows }: WrittenFile,
  fileRows: number,
): Promise<readonly WrittenFile[]> => {
  const size = Math.max(fileRows, Math.ceil(rows / greatestFiles));
  const ends = await lastClients(connection, path, client, size);
  const own = name(client.name);
  const files: WrittenFile[] = [];
  for (const [at, end] of ends.entries()) {
    const before = ends[at - 1];
    const isIn =
      before === undefined ? `${own} <= ${end} OR ${own} IS NULL` : `${own} > ${before} AND ${own} <= ${end}`;
    const file = join(dirname(path), `${at}.parquet`);
    // DuckDB keeps the order of rows, and skips the row groups of other clients.
    await connection.run(
      `COPY (SELECT * FROM read_parquet(${literal(path)}) WHERE ${isIn}) TO ${literal(file)} ${options}`,
    );
    files.push(await writtenAt(connection, file, client.name));
  }
  return files;
};

type Writing = {
  /** A folder that is made for the files. */
  readonly path: string;
  readonly erased: readonly string[];
  readonly fileRows?: number | undefined;
  readonly read: Batches;
};

/** Writes the groups that `read` gives, in the order of the layout's columns. No file is empty. */
export const writeFilesOf = async (
  connection: DuckDBConnection,
  { columns, clientColumn }: Pick<Layout, 'columns' | 'clientColumn'>,
  { path, erased, fileRows = usualFileRows, read }: Writing,
): Promise<readonly WrittenFile[]> => {
  await mkdir(path);
  await stage(connection, columns, read);
  const sorted = join(path, 'sorted.parquet');
  const cast = columns.map(({ name: own, stored }, at) => `CAST(c${at} AS ${stored}) AS ${name(own)}`).join(', ');
  const kept = `SELECT * FROM (SELECT ${cast} FROM staged)${withoutErased(clientColumn, erased)}`;
  await connection.run(`COPY (${kept} ORDER BY ${orderOf(columns)}) TO ${literal(sorted)} ${options}`);
  const whole = await writtenAt(connection, sorted, clientColumn);
  const client = columns.find(({ role }) => role === 'client');
  if (client === undefined || whole.clients === null || whole.rows <= fileRows) return whole.rows === 0 ? [] : [whole];
  return divide(connection, client, whole, fileRows);
};

export type Rewriting = {
  readonly from: string;
  readonly path: string;
  readonly clientColumn: string;
  readonly erased: readonly string[];
};

/**
 * Copies a file without the rows of erased clients. Null: it has none of them, and nothing was written. The copy may be
 * empty.
 */
export const rewriteFile = async (
  connection: DuckDBConnection,
  { from, path, clientColumn, erased }: Rewriting,
): Promise<WrittenFile | null> => {
  const kept = `SELECT * FROM read_parquet(${literal(from)})${withoutErased(clientColumn, erased)}`;
  const [row] = await rowsOf(connection, `SELECT count(*) FROM (${kept})`);
  if (Number(row?.[0] ?? 0) === (await writtenAt(connection, from, clientColumn)).rows) return null;
  // DuckDB keeps the order of rows, so the copy is sorted as the file was.
  await connection.run(`COPY (${kept}) TO ${literal(path)} ${options}`);
  return writtenAt(connection, path, clientColumn);
};
