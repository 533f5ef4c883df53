import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Cell } from '../../../model/query/engine.js';
import { MalformedAnswer } from '../../../platform/addresses/answer-guard.js';
import { batchBytes, collect, hand, ReadLimitReached, refuseLargeBatch, rowBytes } from '../../connections/batches.js';
import { type ResultTable, type Running, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import type { Progress } from './agent.js';
import { greatestValueBytes } from './names.js';
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

/**
 * How a query reads `Distributed` tables: rows of every shard once, or an error. Without a cluster they change nothing.
 * docs/reference/databases.md says what each is for.
 */
const clusterSettings: ClickHouseSettings = {
  // A shard that does not answer is an error, and not fewer rows.
  skip_unavailable_shards: 0,
  // A replica that is more than 5 minutes behind is not read, and without another one the query fails.
  max_replica_delay_for_distributed_queries: '300',
  fallback_to_stale_replicas_for_distributed_queries: 0,
  // The rows of a subquery are read once, of all shards, and sent to each: a shard's own subquery would lack rows.
  distributed_product_mode: 'global',
  prefer_global_in_and_join: 1,
  // Groups of several shards become one group.
  distributed_group_by_no_merge: '0',
  optimize_distributed_group_by_sharding_key: 0,
  // All shards are asked: rows may be elsewhere than the sharding key says.
  optimize_skip_unused_shards: 0,
  // Replicas that share one query have repeated rows of joins, and lost rows of row policies.
  max_parallel_replicas: '1',
};

/**
 * Sent with every query, so neither a server profile nor an earlier query changes its meaning. The server refuses
 * unknown settings.
 *
 * @internal Tests record what is sent.
 */
export const settings: ClickHouseSettings = {
  ...clusterSettings,
  // Semantics of SQL.
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
  // An answer is complete, or an error.
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
  // An error in the middle of a result gives an error status. A query whose client disconnected is cancelled.
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  // Numbers that JSON would round are text.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'simple',
  // Text of values in SQL.
  bool_true_representation: 'true',
  bool_false_representation: 'false',
};
