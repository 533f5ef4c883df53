/** How much of a result is read: what a driver counts while rows come in, and where it stops. */
import type { Duplex } from 'node:stream';
import type { Cell } from '../../domain/query/engine.js';
import { Refusal } from '../../domain/refusal.js';
import { ReaderFailed, type ResultTable, type Sink } from './database.js';

type Row = readonly Cell[];

/** Never less than what a row is on the wire, whatever the protocol. */
const rowOverhead = 16;
const cellOverhead = 16;

/** Bytes of a row as a database sends it: text and binary by their length, everything else at a flat rate. */
export const rowBytes = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + cellOverhead + valueBytes(value), rowOverhead);

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  // It is answered in hexadecimal.
  return value instanceof Uint8Array ? 2 * value.byteLength : 0;
};

export type Collector = {
  readonly rows: readonly Row[];
  /** False where the row does not fit any more; then it was not taken, and none after it may be. */
  readonly take: (bytes: number, row: () => Row) => boolean;
};

/** Rows up to so many bytes. A row that does not fit is never made. */
export const collect = (maxBytes = Number.POSITIVE_INFINITY): Collector => {
  const rows: Row[] = [];
  let left = maxBytes;
  return {
    rows,
    take: (bytes, row) => {
      left -= bytes;
      if (left < 0) return false;
      rows.push(row());
      return true;
    },
  };
};

/** Ends a statement of which enough was read: its connection cannot be used again, its rows can. */
export class ReadLimitReached extends Error {
  override readonly name = 'ReadLimitReached';
  constructor(readonly table: ResultTable) {
    super('enough was read');
  }
}

/** The table of `work`, or what it had read when it had read enough. */
export const untilReadLimit = async (work: () => Promise<ResultTable>): Promise<ResultTable> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ReadLimitReached) return cause.table;
    throw cause;
  }
};

export type Meter = {
  /** From now on, no more than so many bytes come in: one more closes the socket and calls `full`. */
  readonly allow: (maxBytes: number | undefined, full: () => void) => void;
};

/** For what is not a row but a part of one. */
const slackBytes = 1_048_576;

/** Bounds what a socket brings: a driver shows a row when it has all of it in memory, however large it is. */
export const meter = (socket: Duplex): Meter => {
  let left = Number.POSITIVE_INFINITY;
  let onFull: () => void = () => undefined;
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left >= 0) return;
    left = Number.POSITIVE_INFINITY;
    socket.destroy();
    onFull();
  });
  return {
    allow: (maxBytes = Number.POSITIVE_INFINITY, full) => {
      left = maxBytes + slackBytes;
      onFull = full;
    },
  };
};

/** A batch of so many bytes is enough to keep reader and database both at work. */
export const batchBytes = 262_144;

/** A reader that does not take a batch in this time holds a connection for nothing. */
export const stallMs = 30_000;

/** Gives a batch to the reader, and waits until it was taken. */
export const hand = async (sink: Sink, batch: ResultTable): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('METRIC_QUERY_ERROR', stall, { reason: 'reader-stalled' })), stallMs);
  });
  try {
    await Promise.race([sink(batch), stalled]);
  } catch (cause) {
    throw new ReaderFailed('the reader takes no more', { cause });
  } finally {
    clearTimeout(timer);
  }
};

const stall = `Nothing was read of the answer for ${stallMs / 1000} seconds, so it was stopped.`;

export const refuseLargeBatch = (): never => {
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    'A row is larger than an answer may be; leave out the column that holds so much.',
    {
      reason: 'row-too-large',
    },
  );
};
