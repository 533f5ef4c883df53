/**
 * Makes a DuckDB file of an uploaded file. The instance that reads the upload may open that one file only, loads no
 * extension, and has bounds for memory, disk and time.
 */
import { constants, copyFile, rename, stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import type { FileKind, MakeDatabase, UploadedFile } from '../../model/upload.js';
import { watch } from '../databases/duckdb/read.js';
import { refuseFile } from './file-kind.js';
import { literal, readDatabaseFile, withInstance } from './plain-database.js';

export type MakingLimits = {
  readonly memoryMegabytes: number;
  /** Of the database, and of what DuckDB puts aside while it makes it. */
  readonly diskMegabytes: number;
  readonly timeoutMs: number;
};

const megabyte = 1_048_576;
const threads = '2';
const sizeCheckMs = 250;

const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Aborts when the database has become larger than its limit: a small Parquet file may hold any number of rows. */
const sizeGuard = (path: string, { diskMegabytes }: MakingLimits) => {
  const tooLarge = new AbortController();
  const check = async (): Promise<void> => {
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size > diskMegabytes * megabyte) tooLarge.abort();
  };
  const timer = setInterval(() => void check(), sizeCheckMs);
  return { signal: tooLarge.signal, check, end: () => clearInterval(timer) };
};

const csv = "header = true, quote = '\"', escape = '\"', compression = 'none'";

/** Faults of the file are kept with their places; a few of them suffice. */
const readCsv = (path: string, texts: readonly string[]): string => {
  const types = texts.map((column) => `${literal(column)}: 'VARCHAR'`).join(', ');
  const given = texts.length === 0 ? '' : `, types = {${types}}`;
  return `read_csv(${literal(path)}, ${csv}, store_rejects = true, rejects_limit = 20${given})`;
};

/**
 * The columns that DuckDB takes for whole numbers by the first lines, and that have a value with a leading zero or plus
 * sign further down: a postcode or a telephone number, of which a number would lose a character.
 */
const codeColumns = async (connection: DuckDBConnection, path: string): Promise<readonly string[]> => {
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_csv(${literal(path)}, ${csv})`);
  const whole = described.getRows().flatMap(([column, type]) => (type === 'BIGINT' ? [String(column)] : []));
  if (whole.length === 0) return [];
  const tests = whole.map((column) => `bool_or(regexp_matches(${name(column)}, '^([+]|-?0)[0-9]'))`);
  const texts = `read_csv(${literal(path)}, ${csv}, all_varchar = true, ignore_errors = true)`;
  const [found] = (await connection.runAndReadAll(`SELECT ${tests.join(', ')} FROM ${texts}`)).getRows();
  return whole.filter((_, index) => found?.[index] === true);
};

const csvFaults: Readonly<Record<string, string>> = {
  CAST: 'the value does not have the type of the other values of its column',
  'MISSING COLUMNS': 'the line has fewer values than the first line has names',
  'TOO MANY COLUMNS': 'the line has more values than the first line has names',
  'UNQUOTED VALUE': 'a quoted value is not closed, or goes on after its closing quote',
  'LINE SIZE OVER MAXIMUM': 'the line is longer than 2 MB; a quote may not be closed',
  'INVALID ENCODING': 'the text is not UTF-8: save the file as CSV in UTF-8',
};

const firstFault = `SELECT line::DOUBLE, column_idx::DOUBLE, column_name, error_type::VARCHAR FROM reject_errors
ORDER BY line, column_idx LIMIT 1`;

const assertNoFault = async (connection: DuckDBConnection): Promise<void> => {
  const [fault] = (await connection.runAndReadAll(firstFault)).getRows();
  if (fault === undefined) return;
  const [line, at, columnName, kind] = fault;
  // Of a line that is too short, DuckDB names the first column without a value and the place of the last one with.
  const column = Number(at) + (kind === 'MISSING COLUMNS' ? 1 : 0);
  const named = typeof columnName === 'string' ? ` (${JSON.stringify(columnName.slice(0, 100))})` : '';
  const what = csvFaults[String(kind)] ?? 'the line cannot be read';
  refuseFile(`Line ${Number(line)}, column ${column}${named}: ${what}. Correct the file, and upload it again.`);
};

/** DuckDB's own text may repeat values of the file, so only its place is taken from it. */
const refuseUnread = (kind: FileKind, limits: MakingLimits, cause: unknown): never => {
  const text = cause instanceof Error ? cause.message : '';
  if (/out of memory/i.test(text)) {
    refuseFile(`This file needs more than ${limits.memoryMegabytes} MB of memory to be read. Split it.`, cause);
  }
  if (/No space left|max_temp_directory_size/i.test(text)) {
    throw new Refusal('UPSTREAM_UNAVAILABLE', 'The disk of the server has no room for this file. Ask its operator.', {
      reason: 'upload-no-room',
      cause,
    });
  }
  const [, line] = /\bLine:? (\d+)/i.exec(text) ?? [];
  const where = line === undefined ? '' : `Line ${line}: `;
  return kind === 'csv'
    ? refuseFile(`${where}this CSV file cannot be read. Its first line must have the names of the columns.`, cause)
    : refuseFile('This Parquet file cannot be read: it is damaged, encrypted, or compressed in an unknown way.', cause);
};

const load = async (
  connection: DuckDBConnection,
  { received, table }: UploadedFile,
  kind: Exclude<FileKind, 'duckdb'>,
): Promise<void> => {
  await connection.run(`SET allowed_paths = [${literal(received)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  const reader =
    kind === 'csv' ? readCsv(received, await codeColumns(connection, received)) : `read_parquet(${literal(received)})`;
  await connection.run(`CREATE OR REPLACE TABLE ${name(table)} AS SELECT * FROM ${reader}`);
  if (kind === 'csv') await assertNoFault(connection);
  await connection.run('CHECKPOINT');
};

const settingsOf = (made: string, { memoryMegabytes, diskMegabytes }: MakingLimits) => ({
  threads,
  memory_limit: `${memoryMegabytes}MB`,
  temp_directory: `${made}.temporary`,
  max_temp_directory_size: `${diskMegabytes}MB`,
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
});

/** A table of the file, beside the earlier ones. */
const makeTable = async (
  file: UploadedFile,
  kind: Exclude<FileKind, 'duckdb'>,
  limits: MakingLimits,
  gone: AbortSignal,
): Promise<void> => {
  if (file.before !== null) await copyFile(file.before, file.made, constants.COPYFILE_FICLONE);
  const guard = sizeGuard(file.made, limits);
  const late = AbortSignal.timeout(limits.timeoutMs);
  const signal = anyOf(gone, late, guard.signal);
  try {
    await withInstance(file.made, settingsOf(file.made, limits), (connection) =>
      watch(connection, limits.timeoutMs * 2, signal).within(() => load(connection, file, kind)),
    );
    await guard.check();
    guard.signal.throwIfAborted();
  } catch (cause) {
    if (gone.aborted) throw new Refusal('INVALID_REQUEST_BODY', 'The upload was cancelled.', { reason: 'caller-gone' });
    if (guard.signal.aborted) refuseFile(`The tables would take more than ${limits.diskMegabytes} MB. Split the file.`);
    if (late.aborted) refuseFile(`Reading this file takes more than ${limits.timeoutMs / 1000} s. Split it.`);
    if (cause instanceof Refusal) throw cause;
    refuseUnread(kind, limits, cause);
  } finally {
    guard.end();
  }
};

/** The file as it is, if it holds plain tables only. */
const takeDatabase = async ({ received, made }: UploadedFile): Promise<void> => {
  const { tables, other } = await readDatabaseFile(received).catch((cause: unknown) =>
    refuseFile(
      'This DuckDB file cannot be opened: it is damaged, not complete, encrypted, or of a newer DuckDB. Close the database before you copy its file.',
      cause,
    ),
  );
  if (other !== null)
    refuseFile(
      `This DuckDB file has ${other}. A file to upload holds plain tables only: make a table of it with CREATE TABLE … AS SELECT, or drop it, and upload the file again.`,
    );
  if (tables === 0) refuseFile('This DuckDB file has no tables. Close the database before you copy its file.');
  await rename(received, made);
};

export const createMakeDatabase =
  (limits: MakingLimits): MakeDatabase =>
  (file, kind, signal) =>
    kind === 'duckdb' ? takeDatabase(file) : makeTable(file, kind, limits, signal);
