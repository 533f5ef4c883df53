import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Cell } from '../../../domain/query/engine.js';
import { batchBytes, collect, hand, ReadLimitReached, refuseLargeBatch, rowBytes } from '../../connections/batches.js';
import { type ResultTable, type Running, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../dialect.js';
import { refuseQuery } from '../refuse.js';
import { greatestValueBytes } from './names.js';
import { readerOf } from './values.js';

/**
 * `readonly`: what is sent to keep the query from writing and from changing a setting. Null: the user's own profile keeps it from writing, and
 * takes no other value; that its SQL holds no SETTINGS is then the engine's to see to.
 */
export type Server = {
  readonly client: ClickHouseClient;
  readonly readonly: '1' | null;
  /** Ends what it asks; the server, which is told to, then stops it too. */
  readonly hangUp: AbortController;
};

type Asked = Omit<Parameters<ClickHouseClient['query']>[0], 'format' | 'abort_signal'>;
type Reader = ReturnType<typeof readerOf>;
type Head = { readonly names: readonly string[]; readonly readers: readonly Reader[] };
/** False: no more rows are wanted. */
type Take = (row: readonly unknown[], head: Head) => boolean | Promise<void>;

const headOf = ({ names, readers }: Head) => ({
  names,
  dataTypes: readers.map(({ dataType }) => dataType),
  numberTypes: readers.map(({ numberType }) => numberType),
});
const cellsOf = (row: readonly unknown[], { readers }: Head): readonly Cell[] =>
  readers.map(({ cellOf }, index) => cellOf(row[index]));

/** A line of names, one of types, and one for each row, as they come in. */
const readRows = async (client: ClickHouseClient, asked: Asked, signal: AbortSignal, take: Take): Promise<Head> => {
  const format = 'JSONCompactEachRowWithNamesAndTypes';
  const result = await client.query({ ...asked, format, abort_signal: signal });
  // The client itself hears the signal only until the answer begins.
  const hangUp = (): void => result.close();
  signal.addEventListener('abort', hangUp);
  let names: readonly string[] | undefined;
  let head: Head | undefined;
  try {
    for await (const rows of result.stream()) {
      for (const line of rows) {
        const values = JSON.parse(line.text) as unknown[];
        if (names === undefined) names = values as string[];
        else if (head === undefined) head = { names, readers: (values as string[]).map(readerOf) };
        else {
          const taken = take(values, head);
          if (taken instanceof Promise) await taken;
          else if (!taken) return head;
        }
      }
    }
    if (head === undefined) throw new Error('the answer ends too early');
    return head;
  } finally {
    signal.removeEventListener('abort', hangUp);
    result.close();
  }
};

export const readTable = async (client: ClickHouseClient, asked: Asked, signal: AbortSignal): Promise<ResultTable> => {
  const rows: (readonly Cell[])[] = [];
  const head = await readRows(client, asked, signal, (row, of) => rows.push(cellsOf(row, of)) > 0);
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

/** Throws `ReadLimitReached` where there are more bytes than allowed. */
export const runStatement = async (
  server: Server,
  statement: Statement,
  timeoutMs: number,
  { maxBytes }: Running = {},
): Promise<ResultTable> => {
  const collected = collect(maxBytes);
  let isCut = false;
  const head = await readRows(server.client, askedOf(server, statement, timeoutMs), server.hangUp.signal, (row, of) => {
    isCut = !collected.take(rowBytes(row), () => cellsOf(row, of));
    return !isCut;
  });
  const table = { ...headOf(head), rows: collected.rows };
  if (isCut) throw new ReadLimitReached({ ...table, isCut: true });
  return table;
};

/** The socket is read as fast as batches are taken. */
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
  const head = await readRows(server.client, askedOf(server, statement, timeoutMs), server.hangUp.signal, (row, of) => {
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
    ? refuseQuery('A value is longer than ClickHouse takes in a question; shorten it.', 'value-too-long')
    : text;
};

/**
 * Said with every question, so that neither a server's profile nor another question's settings decide what it means. An unknown one is an
 * error at the server, and never passed over.
 */
export const settings: ClickHouseSettings = {
  // What SQL means.
  allow_experimental_analyzer: 1,
  join_use_nulls: 1,
  join_default_strictness: 'ALL',
  transform_null_in: 0,
  aggregate_functions_null_for_empty: 1,
  empty_result_for_aggregation_by_empty_set: 0,
  group_by_use_nulls: 0,
  count_distinct_implementation: 'uniqExact',
  cast_keep_nullable: 1,
  decimal_check_overflow: 1,
  prefer_column_name_to_alias: 0,
  enable_positional_arguments: 1,
  enable_extended_results_for_datetime_functions: 1,
  session_timezone: 'UTC',
  // What an answer is made of: all of it, or an error.
  limit: '0',
  offset: '0',
  extremes: 0,
  use_query_cache: 0,
  optimize_trivial_approximate_count_query: 0,
  timeout_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  // A fault halfway is told by the status, and not in the midst of rows; a question whose asker is gone is given up.
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  // How values are written: what a JSON number would round is text.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'simple',
};
