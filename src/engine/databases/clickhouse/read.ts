import type { ClickHouseClient } from '@clickhouse/client';
import type { Cell } from '../../../model/query/engine.js';
import { MalformedAnswer } from '../../../platform/addresses/answer-guard.js';
import { batchBytes, collect, hand, ReadLimitReached, refuseLargeBatch, rowBytes } from '../../connections/batches.js';
import { type ResultTable, type Running, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import type { Progress } from './agent.js';
import { greatestValueBytes } from './names.js';
import { settings } from './settings.js';
import { readerOf } from './values.js';

/**
 * `readonly`: the setting that keeps the query from writing and from changing settings. Null: the user's profile is
 * read-only already and accepts no other value; the grammar refuses SETTINGS in custom SQL.
 */
export type Server = {
  readonly client: ClickHouseClient;
  readonly readonly: '1' | null;
  /** Aborts the request. The server then cancels the query. */
  readonly hangUp: AbortController;
  /** Told of every batch of rows; see agent.ts. */
  readonly progress: Progress;
};

type Asked = Omit<Parameters<ClickHouseClient['query']>[0], 'format' | 'abort_signal'>;
type Reader = ReturnType<typeof readerOf>;
type Head = { readonly names: readonly string[]; readonly readers: readonly Reader[] };
/** False: stop reading. */
type Take = (row: readonly unknown[], head: Head) => boolean | Promise<void>;

const headOf = ({ names, readers }: Head) => ({
  names,
  dataTypes: readers.map(({ dataType }) => dataType),
  valueTypes: readers.map(({ valueType }) => valueType),
});
const cellsOf = (row: readonly unknown[], { readers }: Head): readonly Cell[] =>
  readers.map(({ cellOf }, index) => cellOf(row[index]));

const valuesOf = (line: string): unknown[] => {
  try {
    return JSON.parse(line) as unknown[];
  } catch (cause) {
    throw new MalformedAnswer('a line of the answer is no JSON', { cause });
  }
};

/** Reads rows as they arrive: a line of names, a line of types, then one line per row. */
const readRows = async (
  { client, progress }: Pick<Server, 'client' | 'progress'>,
  asked: Asked,
  signal: AbortSignal,
  take: Take,
): Promise<Head> => {
  progress.note();
  const format = 'JSONCompactEachRowWithNamesAndTypes';
  const result = await client.query({ ...asked, format, abort_signal: signal });
  // The client listens to the signal only until the response begins.
  const hangUp = (): void => result.close();
  signal.addEventListener('abort', hangUp);
  let names: readonly string[] | undefined;
  let head: Head | undefined;
  try {
    for await (const rows of result.stream()) {
      progress.note();
      for (const line of rows) {
        const values = valuesOf(line.text);
        if (names === undefined) names = values as string[];
        else if (head === undefined) head = { names, readers: (values as string[]).map(readerOf) };
        else {
          const taken = take(values, head);
          if (taken instanceof Promise) await taken;
          else if (!taken) return head;
        }
      }
    }
    if (head === undefined) throw new MalformedAnswer('the answer ends too early');
    return head;
  } finally {
    signal.removeEventListener('abort', hangUp);
    result.close();
  }
};

export const readTable = async (
  server: Pick<Server, 'client' | 'progress'>,
  asked: Asked,
  signal: AbortSignal,
): Promise<ResultTable> => {
  const rows: (readonly Cell[])[] = [];
  const head = await readRows(server, asked, signal, (row, of) => rows.push(cellsOf(row, of)) > 0);
  return { ...headOf(head), rows };
};

const askedOf = ({ readonly }: Server, { sql, parameters }: Statement, timeoutMs: number): Asked => {
  const values = parameters.map(bindableOf);
  return {
    query: sql,
    query_params: Object.fromEntries(values.map((value, index) => [`p${index + 1}`, value])),
    clickhouse_settings: {
      ...settings,
      max_execution_time: timeoutMs / 1000,
      ...(readonly === null ? {} : { readonly }),
    },
  };
};

/** Throws ReadLimitReached above `maxBytes`. */
export const runStatement = async (
  server: Server,
  statement: Statement,
  timeoutMs: number,
  { maxBytes }: Running = {},
): Promise<ResultTable> => {
  const collected = collect(maxBytes);
  let isCut = false;
  const head = await readRows(server, askedOf(server, statement, timeoutMs), server.hangUp.signal, (row, of) => {
    isCut = !collected.take(rowBytes(row), () => cellsOf(row, of));
    return !isCut;
  });
  const table = { ...headOf(head), rows: collected.rows };
  if (isCut) throw new ReadLimitReached({ ...table, isCut: true });
  return table;
};

/** Reads the socket only as fast as batches are taken. */
export const streamStatement = async (
  server: Server,
  statement: Statement,
  { sink, timeoutMs }: { readonly sink: Sink; readonly timeoutMs: number },
  { maxBytes = Number.POSITIVE_INFINITY }: Running = {},
): Promise<void> => {
  let rows: (readonly Cell[])[] = [];
  let bytes = 0;
  let isFirst = true;
  const flush = (head: Head): Promise<void> => {
    const batch = { ...headOf(head), rows };
    isFirst = false;
    rows = [];
    bytes = 0;
    return hand(sink, batch);
  };
  const head = await readRows(server, askedOf(server, statement, timeoutMs), server.hangUp.signal, (row, of) => {
    bytes += rowBytes(row);
    if (bytes > maxBytes) refuseLargeBatch();
    rows.push(cellsOf(row, of));
    return bytes < batchBytes ? true : flush(of);
  });
  if (rows.length > 0 || isFirst) await flush(head);
};

const bindableOf = (parameter: unknown): string | string[] =>
  Array.isArray(parameter) ? parameter.map(bindable) : bindable(parameter);

const bindable = (parameter: unknown): string => {
  const text = textOf(parameter);
  return Buffer.byteLength(text) > greatestValueBytes
    ? refuseQuery('A value is longer than ClickHouse accepts in a query. Shorten it.', 'value-too-long')
    : text;
};
