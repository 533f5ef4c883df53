import type { Duplex } from 'node:stream';
import type { Client, FieldDef, Query, QueryArrayConfig, QueryArrayResult } from 'pg';
import { handled } from '../../../model/handled.js';
import {
  batchBytes,
  collect,
  hand,
  type Meter,
  meter,
  ReadLimitReached,
  refuseLargeBatch,
  rowBytes,
} from '../../connections/batches.js';
import { type ResultTable, type Running, refuseOutdated, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { assumedStatement } from './assumed.js';
import { cellOf, dataTypeOf, readCastOf, valueTypeOf } from './values.js';

type Text = readonly (string | null)[];
type Asking = QueryArrayConfig & { readonly queryMode: 'extended' };

/** A connection with the limits that its driver lacks. */
export type Server = {
  readonly client: Client;
  readonly meter: Meter;
  readonly createQuery: (asking: Asking) => Query;
  /** BEGIN and the settings of the transaction, sent without waiting. No row is returned before they apply. */
  begun: Promise<unknown>;
  /** The end of the transaction, where it was sent already. */
  ended: Promise<unknown> | null;
};

export const createServer = async (client: Client): Promise<Server> => {
  const { default: pg } = await import('pg');
  const { stream } = client.connection as unknown as { readonly stream: Duplex };
  return {
    client,
    meter: meter(stream),
    createQuery: (asking) => new pg.Query(asking),
    begun: Promise.resolve(),
    ended: null,
  };
};

/** Runs one statement by the extended protocol, which refuses a second statement in the text. */
const asking = ({ sql, parameters }: Statement): Asking => ({
  text: sql,
  values: parameters.map(bindableOf),
  rowMode: 'array',
  queryMode: 'extended',
});

const bindableOf = (parameter: unknown): string | string[] =>
  Array.isArray(parameter) ? parameter.map(storable) : storable(parameter);

export const storable = (parameter: unknown): string => {
  const text = textOf(parameter);
  return text.includes('\0')
    ? refuseQuery('A value contains the character NUL, which PostgreSQL cannot store. Remove it.', 'value-with-nul')
    : text;
};

const typesOf = (fields: readonly FieldDef[]): readonly number[] => fields.map(({ dataTypeID }) => dataTypeID);
const columnsOf = (fields: readonly FieldDef[]) => ({
  names: fields.map(({ name }) => name),
  dataTypes: typesOf(fields).map(dataTypeOf),
  valueTypes: typesOf(fields).map(valueTypeOf),
  readCasts: typesOf(fields).map(readCastOf),
});
const cellsOf = (row: Text, types: readonly number[]) => row.map((text, index) => cellOf(text, types[index] ?? 0));

/** Sets a setting. By the extended protocol, so that a quoted value cannot begin a second statement. */
export const runSetting = ({ client }: Server, statement: Statement): Promise<unknown> =>
  client.query(asking(statement));

/**
 * Runs the whole transaction in one round trip: later statements wait at the server. Throws ReadLimitReached above
 * `maxBytes`.
 */
export const runStatement = async (
  server: Server,
  statement: Statement,
  running: Running = {},
): Promise<ResultTable> => {
  const rows = handled(askRows(server, statement, running));
  const assumed = handled(assertAssumed(server, statement));
  server.ended = server.client.query('ROLLBACK');
  // The first error is the cause of the later ones.
  for (const later of [rows, assumed, server.ended]) later.catch(() => undefined);
  await server.begun;
  const table = await rows;
  await assumed;
  return table;
};

/** Refuses the rows where assumed columns have changed. Runs after the statement, in the same transaction. */
export const assertAssumed = async ({ client }: Server, { assumed = [] }: Statement): Promise<void> => {
  if (assumed.length === 0) return;
  const { rows } = await client.query<string[]>(asking(assumedStatement(assumed)));
  if (Number(rows[0]?.[0]) !== assumed.length) refuseOutdated();
};

const askRows = (server: Server, statement: Statement, { maxBytes }: Running): Promise<ResultTable> => {
  const query = server.createQuery(asking(statement));
  const collected = collect(maxBytes);
  let fields: readonly FieldDef[] = [];
  let types: readonly number[] = [];
  const table = (): ResultTable => ({ ...columnsOf(fields), rows: collected.rows });
  return new Promise<ResultTable>((resolve, reject) => {
    const enough = (): void => reject(new ReadLimitReached({ ...table(), isCut: true }));
    server.meter.allow(maxBytes, enough);
    query.on('row', (row, result) => {
      if (result !== undefined && fields !== result.fields) {
        fields = result.fields;
        types = typesOf(fields);
      }
      const text = row as unknown as Text;
      if (!collected.take(rowBytes(text), () => cellsOf(text, types))) enough();
    });
    query.on('error', reject);
    query.on('end', (result) => {
      fields = result.fields;
      resolve(table());
    });
    server.client.query(query);
  }).finally(() => server.meter.allow(undefined, () => undefined));
};

const firstFetch = 100;
const largestFetch = 5000;

/** Reads with a cursor: rows that are not fetched stay at the server. */
export const streamStatement = async (
  server: Server,
  statement: Statement,
  sink: Sink,
  { maxBytes }: Running = {},
): Promise<void> => {
  const { client } = server;
  await server.begun;
  // All rows are needed, so a plan that returns the first rows early has no advantage.
  await client.query("SELECT set_config('cursor_tuple_fraction', '1', true)");
  await client.query(
    asking({ sql: `DECLARE gl_rows NO SCROLL CURSOR FOR ${statement.sql}`, parameters: statement.parameters }),
  );
  await assertAssumed(server, statement);
  for (let count = firstFetch, isFirst = true; ; isFirst = false) {
    const { rows, fields } = await fetchRows(server, count, maxBytes);
    const types = typesOf(fields);
    if (rows.length > 0 || isFirst) {
      await hand(sink, { ...columnsOf(fields), rows: rows.map((row) => cellsOf(row, types)) });
    }
    if (rows.length < count) return;
    const bytes = rows.reduce((sum, row) => sum + rowBytes(row), 0);
    count = Math.max(1, Math.min(largestFetch, Math.floor((count * batchBytes) / bytes)));
  }
};

const fetchRows = async ({ client, meter }: Server, count: number, maxBytes: number | undefined) => {
  let isFull = false;
  meter.allow(maxBytes, () => {
    isFull = true;
  });
  try {
    const result: QueryArrayResult<(string | null)[]> = await client.query(
      asking({ sql: `FETCH FORWARD ${count} FROM gl_rows`, parameters: [] }),
    );
    return result;
  } catch (cause) {
    return isFull ? refuseLargeBatch() : Promise.reject(cause);
  } finally {
    meter.allow(undefined, () => undefined);
  }
};
