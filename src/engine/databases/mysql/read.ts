import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Connection, FieldPacket } from 'mysql2/promise';
import type { Cell } from '../../../model/query/engine.js';
import { Refusal } from '../../../model/refusal.js';
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
import { NamesRefused, type ResultTable, type Running, type Sink, textOf } from '../../connections/database.js';
import type { Statement } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { cellOf, dataTypeOf, valueTypeOf } from './values.js';

export type Server = {
  readonly connection: Connection;
  readonly isMariaDb: boolean;
  readonly meter: Meter;
  /** Returns how many warnings the server has for the last statement. */
  readonly countWarnings: () => number;
};

type Packet = { readonly isEOF: () => boolean; readonly eofWarningCount: () => number };

type Row = readonly unknown[];

/** The driver's event interface, which reports rows as they arrive. */
type Core = Pick<EventEmitter, 'once' | 'off'> & {
  readonly stream: Duplex;
  readonly execute: (asking: { readonly sql: string; readonly values: readonly string[] }) => EventEmitter;
  readonly pause: () => void;
  readonly resume: () => void;
  handlePacket: (packet?: Packet) => void;
};

const coreOf = (connection: Connection): Core => (connection as unknown as { readonly connection: Core }).connection;

export const createServer = (connection: Connection, isMariaDb: boolean): Server => {
  const core = coreOf(connection);
  return { connection, isMariaDb, meter: meter(core.stream), countWarnings: watchWarnings(core) };
};

/** The last packet of an answer has the number of its warnings, which the driver does not tell. */
const watchWarnings = (core: Core): (() => number) => {
  let count = 0;
  const handle = core.handlePacket.bind(core);
  core.handlePacket = (packet) => {
    if (packet?.isEOF() === true) count = packet.eofWarningCount();
    handle(packet);
  };
  return () => count;
};

const adding = /\b(?:sum|avg|std|stddev|variance|var)(?:_pop|_samp)?\s*\(/i;
const truncatedValue = 1292;

/**
 * The server adds text as the number that it begins with, or as 0, and has only warnings of it. A sum of such text is a
 * wrong number: of a view's column that became text, or in SQL that did not convert it. `isRepeatable`: no row was handed
 * on, so that the statement may be run again with a newer catalog.
 */
const assertNumbersAdded = async (
  { connection, countWarnings }: Server,
  { sql }: Statement,
  isRepeatable: boolean,
): Promise<void> => {
  if (countWarnings() === 0 || !adding.test(sql)) return;
  const [warnings] = await connection.query<never[]>('SHOW WARNINGS');
  const isOfText = ([, code, message]: Row): boolean =>
    Number(code) === truncatedValue && String(message).includes('DOUBLE');
  if (!warnings.some(isOfText)) return;
  throw new (isRepeatable ? NamesRefused : Refusal)(
    'METRIC_QUERY_ERROR',
    'A sum or average reads text that is no number, which the database would count as 0. Correct the column, or convert and filter its text in the SQL.',
    { reason: 'text-added' },
  );
};

/** The protocol counts parameters in 16 bits. */
const greatestCount = 65_535;

type Columns = {
  readonly names: readonly string[];
  readonly types: readonly number[];
  readonly characterSets: readonly number[];
};
type Listener = { readonly columns: (columns: Columns) => void; readonly row: (row: Row) => void };

/** Runs one prepared statement, whose values are never part of its text. Resolves after the last row. */
const execute = (core: Core, { sql, parameters }: Statement, listener: Listener): Promise<void> => {
  if (parameters.length > greatestCount) {
    refuseQuery(`The question compares with more than ${greatestCount} values; shorten its lists.`, 'too-many-values');
  }
  const values = parameters.map(textOf);
  let lost: (cause: unknown) => void = () => undefined;
  return new Promise<void>((resolve, reject) => {
    lost = reject;
    // When the connection breaks, the driver notifies only the connection, and the statement would wait for its time
    // limit.
    core.once('error', lost);
    const asked = core.execute({ sql, values });
    asked.on('error', reject);
    asked.on('fields', (fields: readonly FieldPacket[]) =>
      listener.columns({
        names: fields.map(({ name }) => name),
        types: fields.map(({ columnType }) => columnType ?? 0),
        characterSets: fields.map(({ characterSet }) => characterSet ?? 0),
      }),
    );
    asked.on('result', listener.row);
    asked.on('end', () => resolve());
  }).finally(() => core.off('error', lost));
};

const noColumns: Columns = { names: [], types: [], characterSets: [] };
const headOf = ({ names, types, characterSets }: Columns) => ({
  names,
  dataTypes: types.map(dataTypeOf),
  valueTypes: types.map((type, index) => valueTypeOf(type, characterSets[index] ?? 0)),
});

const cellsOf = (row: Row, { types }: Columns): readonly Cell[] =>
  row.map((value, index) => cellOf(value, types[index] ?? 0));

/** Throws ReadLimitReached above `maxBytes`. */
export const runStatement = async (
  server: Server,
  statement: Statement,
  { maxBytes }: Running = {},
): Promise<ResultTable> => {
  const { connection, meter } = server;
  const collected = collect(maxBytes);
  let columns: Columns = noColumns;
  const table = (): ResultTable => ({ ...headOf(columns), rows: collected.rows });
  try {
    await new Promise<void>((resolve, reject) => {
      const enough = (): void => reject(new ReadLimitReached({ ...table(), isCut: true }));
      meter.allow(maxBytes, enough);
      execute(coreOf(connection), statement, {
        columns: (given) => {
          columns = given;
        },
        row: (row) => {
          if (!collected.take(rowBytes(row), () => cellsOf(row, columns))) enough();
        },
      }).then(resolve, reject);
    });
    await assertNumbersAdded(server, statement, true);
    return table();
  } finally {
    meter.allow(undefined, () => undefined);
  }
};

/** Between batches the socket is not read, so the server sends no faster than rows are taken. */
export const streamStatement = async (
  server: Server,
  statement: Statement,
  sink: Sink,
  { maxBytes }: Running = {},
): Promise<void> => {
  const { connection, meter } = server;
  const core = coreOf(connection);
  let columns: Columns = noColumns;
  let rows: (readonly Cell[])[] = [];
  let bytes = 0;
  let isFirst = true;
  const flush = (): Promise<void> => {
    const batch = { ...headOf(columns), rows };
    isFirst = false;
    rows = [];
    bytes = 0;
    return hand(sink, batch);
  };
  try {
    await new Promise<void>((resolve, reject) => {
      const full = (): void => {
        try {
          refuseLargeBatch();
        } catch (cause) {
          reject(cause);
        }
      };
      const next = (): void => {
        meter.allow(maxBytes, full);
        core.resume();
      };
      meter.allow(maxBytes, full);
      execute(core, statement, {
        columns: (given) => {
          columns = given;
        },
        row: (row) => {
          rows.push(cellsOf(row, columns));
          bytes += rowBytes(row);
          if (bytes < batchBytes) return;
          core.pause();
          flush().then(next, reject);
        },
      }).then(resolve, reject);
    });
    await assertNumbersAdded(server, statement, isFirst);
    if (rows.length > 0 || isFirst) await flush();
  } finally {
    meter.allow(undefined, () => undefined);
  }
};
