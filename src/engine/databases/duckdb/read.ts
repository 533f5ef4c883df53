import {
  DuckDBBlobVector,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBVarCharVector,
  type DuckDBVector,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import type { Cell } from '../../../model/query/engine.js';
import { batchBytes, collect, hand, refuseLargeBatch, rowBytes } from '../../connections/batches.js';
import { type ResultTable, type Running, refuseLate, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { keepStatement, takeStatement } from './statements.js';
import { cellOf, dataTypeOf, valueTypeOf } from './values.js';

/** Limits a statement by time and by the signal. */
export type Watch = {
  /** Runs work of the database, and interrupts it at the time limit. */
  readonly within: <R>(work: () => Promise<R>) => Promise<R>;
};

const interruptAgainMs = 100;

/** Interrupts a statement that runs too long, or whose client disconnected, so it frees its connection. */
export const watch = (connection: DuckDBConnection, timeoutMs: number, signal: AbortSignal | undefined): Watch => ({
  within: async (work) => {
    signal?.throwIfAborted();
    let stopped: 'late' | 'gone' | undefined;
    const stop = (why: 'late' | 'gone'): void => {
      stopped ??= why;
      clearTimeout(timer);
      connection.interrupt();
      // On a busy machine the statement may not have started yet and miss the first interrupt.
      timer = setTimeout(stop, interruptAgainMs, why);
    };
    const leave = (): void => stop('gone');
    let timer = setTimeout(stop, timeoutMs, 'late');
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await work();
    } catch (cause) {
      if (stopped === undefined) throw cause;
      if (stopped === 'gone') throw signal?.reason;
      return refuseLate(timeoutMs, cause);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  },
});

type Opened = { readonly head: Omit<ResultTable, 'rows'>; readonly next: Next };
type Next = () => Promise<DuckDBDataChunk | null>;

/** Lends the open result. The database computes only the rows that are read. */
const open = async <R>(
  connection: DuckDBConnection,
  { sql, parameters }: Statement,
  { within }: Watch,
  work: (opened: Opened) => Promise<R>,
): Promise<R> => {
  const statement = await within(() => takeStatement(connection, sql));
  let isRead = false;
  try {
    statement.bind(parameters.map(bindableOf), parameters.map(typeOf));
    const result = await within(() => statement.stream());
    const next: Next = async () => {
      const chunk = await within(() => result.fetchChunk());
      isRead = chunk === null || chunk.rowCount === 0;
      return isRead ? null : chunk;
    };
    const types = result.columnTypes();
    const head = {
      names: result.columnNames(),
      dataTypes: types.map(dataTypeOf),
      valueTypes: types.map(valueTypeOf),
    };
    return await work({ head, next });
  } finally {
    if (isRead) {
      keepStatement(connection, sql, statement);
    } else {
      statement.destroySync();
      // Running another statement ends this one and frees its memory.
      await connection.run('SELECT 1');
    }
  }
};

const bindableOf = (parameter: unknown): string | ReturnType<typeof listValue> =>
  Array.isArray(parameter) ? listValue(parameter.map(textOrNull)) : textOf(parameter);

/** The open time of a rollup has NULL among its values. */
const textOrNull = (item: unknown): string | null => (item === null ? null : textOf(item));

const typeOf = (parameter: unknown): typeof VARCHAR | ReturnType<typeof LIST> =>
  Array.isArray(parameter) ? LIST(VARCHAR) : VARCHAR;

/** Reads up to `maxBytes`. A row that does not fit is never converted to JavaScript values. */
export const runStatement = (
  connection: DuckDBConnection,
  statement: Statement,
  watched: Watch,
  { maxBytes }: Running = {},
): Promise<ResultTable> =>
  open(connection, statement, watched, async ({ head, next }) => {
    const collected = collect(maxBytes);
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      const read = readerOf(chunk);
      for (let row = 0; row < chunk.rowCount; row += 1) {
        if (!collected.take(read.bytes(row), () => read.cells(row)))
          return { ...head, rows: collected.rows, isCut: true };
      }
    }
    return { ...head, rows: collected.rows };
  });

export const streamStatement = (
  connection: DuckDBConnection,
  statement: Statement,
  sink: Sink,
  watched: Watch,
  { maxBytes = Number.POSITIVE_INFINITY }: Running = {},
): Promise<void> =>
  open(connection, statement, watched, async ({ head, next }) => {
    let rows: (readonly Cell[])[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const batch = { ...head, rows };
      rows = [];
      bytes = 0;
      await hand(sink, batch);
    };
    let isFirst = true;
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      const read = readerOf(chunk);
      for (let row = 0; row < chunk.rowCount; row += 1) {
        const size = read.bytes(row);
        if (size > maxBytes) return refuseLargeBatch();
        rows.push(read.cells(row));
        bytes += size;
        if (bytes < batchBytes) continue;
        await flush();
        isFirst = false;
      }
    }
    if (rows.length > 0 || isFirst) await flush();
  });

type ChunkReader = { readonly bytes: (row: number) => number; readonly cells: (row: number) => readonly Cell[] };

const readerOf = (chunk: DuckDBDataChunk): ChunkReader => {
  const vectors = Array.from({ length: chunk.columnCount }, (_, column) => chunk.getColumnVector(column));
  const base = rowBytes(vectors.map(() => null));
  return {
    bytes: (row) => vectors.reduce((sum, vector) => sum + textBytes(vector, row), base),
    cells: (row) => vectors.map((vector) => cellOf(vector.getItem(row))),
  };
};

/** The driver's memory of a vector, beneath the values that it makes. */
type Raw = { readonly dataView: DataView; readonly validity: { readonly itemValid: (row: number) => boolean } };

/**
 * The first four bytes of each string are its length. Reading the string itself would copy it. The bytes of NULL are
 * undefined.
 */
const textBytes = (vector: DuckDBVector, row: number): number => {
  const isBlob = vector instanceof DuckDBBlobVector;
  if (!isBlob && !(vector instanceof DuckDBVarCharVector)) return 0;
  const { dataView, validity } = vector as unknown as Raw;
  return validity.itemValid(row) ? (isBlob ? 2 : 1) * dataView.getUint32(row * 16, true) : 0;
};
