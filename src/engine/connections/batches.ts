/** Limits how much of a result is read: drivers count bytes while rows arrive, and stop at the limit. */
import type { Duplex } from 'node:stream';
import { handled } from '../../model/handled.js';
import type { Cell } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { ReaderFailed, type ResultTable, type Sink } from './database.js';

type Row = readonly Cell[];

/** At least the protocols' own bytes per row and cell. */
const rowOverhead = 16;
const cellOverhead = 16;

/** Bytes of a row as the database sends it: text and binary by length, every other value at a flat rate. */
export const rowBytes = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + cellOverhead + valueBytes(value), rowOverhead);

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  // Binary values are answered in hexadecimal.
  return value instanceof Uint8Array ? 2 * value.byteLength : 0;
};

export type Collector = {
  readonly rows: readonly Row[];
  /** False where the row does not fit. It was not taken then, and no later row may be. */
  readonly take: (bytes: number, row: () => Row) => boolean;
};

/** Collects rows up to `maxBytes`. A row that does not fit is never built. */
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

/** Ends a statement at the read limit. Its rows are valid; its connection cannot be reused. */
export class ReadLimitReached extends Error {
  override readonly name = 'ReadLimitReached';
  constructor(readonly table: ResultTable) {
    super('enough was read');
  }
}

/** The table of `work`, or the rows it had read at the limit. */
export const untilReadLimit = async (work: () => Promise<ResultTable>): Promise<ResultTable> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ReadLimitReached) return cause.table;
    throw cause;
  }
};

export type Meter = {
  /** Allows `maxBytes` more bytes. One byte more closes the socket and calls `full`. */
  readonly allow: (maxBytes: number | undefined, full: () => void) => void;
};

/** Room for protocol messages that are not rows. */
const slackBytes = 1_048_576;

/** Limits the bytes that a socket receives. A driver reports a row only after buffering it, however large it is. */
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

/** Large enough to keep the reader and the database busy at the same time. */
export const batchBytes = 262_144;

/** A reader that takes no batch for this long is disconnected, because it holds a connection. */
const stallMs = 30_000;

/** Hands a batch to the reader and waits until it is taken. */
export const hand = async (sink: Sink, batch: ResultTable): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const stalled = handled(
    new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Refusal('METRIC_QUERY_ERROR', stall, { reason: 'reader-stalled' })), stallMs);
    }),
  );
  try {
    await Promise.race([sink(batch), stalled]);
  } catch (cause) {
    throw new ReaderFailed('the reader takes no more', { cause });
  } finally {
    clearTimeout(timer);
  }
};

const stall = `The download was cancelled: its reader took nothing for ${stallMs / 1000} s.`;

export const refuseLargeBatch = (): never => {
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    'A row exceeds the size limit of an answer. Leave out the column with the large values.',
    {
      reason: 'row-too-large',
    },
  );
};
