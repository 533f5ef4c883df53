import { startChild } from '../../../platform/work/child.js';
import { findThread } from '../../../platform/work/thread.js';
import { batchBytes, collect, hand, ReadLimitReached, refuseLargeBatch, rowBytes } from '../../connections/batches.js';
import { type ResultTable, type Running, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { processEnded, SqliteError } from './faults.js';
import type { Asked, Told } from './process.js';
import { cellOf } from './values.js';

/** A process that has the file open. Asks one question at a time. */
export type Reader = {
  /** Ends the process, and with it its statement, which fails with this code. Resolves when it has ended. */
  readonly end: (code: string) => Promise<void>;
  readonly ask: (asked: Asked) => Promise<Extract<Told, { kind: 'rows' }>>;
};

/** Beside this file, or below the command line's bundle; tests run the sources, and the program as it was built. */
const places = [
  './process.js',
  './engine/databases/sqlite/process.js',
  '../../../../dist/engine/databases/sqlite/process.js',
];

/** What the question asks beyond SQLite, and not what the database lacks. */
const throwFault = ({ message, code }: Extract<Told, { kind: 'fault' }>): never => {
  if (code === 'SQLITE_SUM_TOO_LARGE')
    refuseQuery('A sum exceeds 64 bits, the widest number of SQLite. Narrow it with a filter.', 'value-out-of-range');
  if (code === 'SQLITE_TOO_NESTED')
    refuseQuery('The question nests its conditions deeper than SQLite reads. Simplify them.', 'query-unsupported');
  throw new SqliteError(message, code);
};

/** Starts a process and lets it open the file. `lost` is called when it ends. */
export const openReader = async (url: string, busyMs: number, lost: () => void): Promise<Reader> => {
  let why = processEnded;
  const child = startChild<Asked, Told>(findThread(import.meta.url, places), {
    environment: {},
    ended: () => new SqliteError('the process that reads the file ended', why),
  });
  child.onEnd(lost);
  const ask = async (asked: Asked): Promise<Told> => {
    const told = await child.ask(asked);
    return told.kind === 'fault' ? throwFault(told) : told;
  };
  const end = (code: string): Promise<void> => {
    why = code;
    return child.kill();
  };
  try {
    await ask({ kind: 'open', url, busyMs });
  } catch (cause) {
    await end(processEnded);
    throw cause;
  }
  return { end, ask: async (asked) => rowsIn(await ask(asked)) };
};

const rowsIn = (told: Told): Extract<Told, { kind: 'rows' }> => {
  if (told.kind !== 'rows') throw new SqliteError('no rows were answered', processEnded);
  return told;
};

/** SQLite counts the values of a statement. */
const greatestCount = 32_766;

const runOf = ({ sql, parameters }: Statement): Asked => {
  if (parameters.length > greatestCount) {
    refuseQuery(`The question compares with more than ${greatestCount} values; shorten its lists.`, 'too-many-values');
  }
  return { kind: 'run', sql, parameters: parameters.map(textOf), batchBytes };
};

/** SQLite names no types of what it answers, so the catalog's are right. */
const headOf = ({ names }: { readonly names: readonly string[] }) => ({ names, dataTypes: [] });

/** Throws ReadLimitReached above `maxBytes`. */
export const runStatement = async (
  { ask }: Reader,
  statement: Statement,
  { maxBytes }: Running = {},
): Promise<ResultTable> => {
  const collected = collect(maxBytes);
  for (let batch = await ask(runOf(statement)); ; batch = await ask({ kind: 'next' })) {
    for (const row of batch.rows) {
      if (collected.take(rowBytes(row), () => row.map(cellOf))) continue;
      throw new ReadLimitReached({ ...headOf(batch), rows: collected.rows, isCut: true });
    }
    if (batch.isLast) return { ...headOf(batch), rows: collected.rows };
  }
};

/** The process reads the next batch when this one was taken. */
export const streamStatement = async (
  { ask }: Reader,
  statement: Statement,
  sink: Sink,
  { maxBytes = Number.POSITIVE_INFINITY }: Running = {},
): Promise<void> => {
  let isFirst = true;
  for (let batch = await ask(runOf(statement)); ; batch = await ask({ kind: 'next' })) {
    if (batch.rows.some((row) => rowBytes(row) > maxBytes)) return refuseLargeBatch();
    if (batch.rows.length > 0 || isFirst) {
      await hand(sink, { ...headOf(batch), rows: batch.rows.map((row) => row.map(cellOf)) });
      isFirst = false;
    }
    if (batch.isLast) return;
  }
};
