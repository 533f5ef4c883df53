import { handled } from '../../model/handled.js';
import type { AnswerColumn, Cell, MetricAnswer, MetricStream } from '../../model/query/engine.js';
import { refuseAborted } from '../connections/database.js';

export type StreamBatch = {
  readonly columns: readonly AnswerColumn[];
  readonly rows: readonly (readonly Cell[])[];
  readonly others?: MetricAnswer['others'];
};

type Give = (batch: StreamBatch) => Promise<void>;

/** Hands one batch at a time from a writer to a reader. Each waits for the other. */
const createHandover = () => {
  let wake: () => void = () => undefined;
  let offered: {
    readonly batch: StreamBatch;
    readonly taken: () => void;
    readonly refused: (why: unknown) => void;
  } | null = null;
  let end: { readonly error?: unknown } | null = null;
  return {
    give: ((batch) =>
      new Promise<void>((taken, refused) => {
        if (end !== null) return refused(end.error);
        offered = { batch, taken, refused };
        wake();
      })) satisfies Give,
    /** Ends the exchange: the writer finished or failed, or the reader stopped. */
    end: (of: { readonly error?: unknown }): void => {
      end ??= of;
      offered?.refused(end.error);
      offered = null;
      wake();
    },
    /** The next batch; asking for it confirms the previous one. Null at the end. */
    take: async (): Promise<StreamBatch | null> => {
      const waiting = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (offered === null && end === null) await waiting;
      if (offered !== null) {
        const { batch, taken } = offered;
        offered = null;
        taken();
        return batch;
      }
      if (end !== null && 'error' in end) throw end.error;
      return null;
    },
  };
};

/**
 * Turns what `write` gives into a stream. The writer is at most one batch ahead of the reader. A reader that stops,
 * or a signal that aborts, ends the writer; the writer has ended when the iteration ends. `noted`: see refuseAborted.
 */
export const streamed = async (
  signal: AbortSignal | undefined,
  noted: () => void,
  write: (give: Give) => Promise<void>,
): Promise<MetricStream> => {
  const handover = createHandover();
  const others = new WeakSet<readonly Cell[]>();
  const abort = (): void => handover.end({ error: signal?.reason });
  signal?.addEventListener('abort', abort, { once: true });
  const written = handled(
    write(handover.give)
      .then(
        () => handover.end({}),
        (error: unknown) => handover.end({ error }),
      )
      .finally(() => signal?.removeEventListener('abort', abort)),
  );
  const take = (): Promise<StreamBatch | null> =>
    refuseAborted(signal, noted, async () => {
      try {
        const batch = await handover.take();
        for (const row of othersOf(batch)) others.add(row);
        return batch;
      } catch (cause) {
        await written;
        throw signal?.aborted === true ? signal.reason : cause;
      }
    });
  const first = await take();
  const stop = (): Promise<void> => {
    handover.end({ error: stopped });
    return written;
  };
  return {
    columns: first?.columns ?? [],
    isOther: (row) => others.has(row),
    batches: { [Symbol.asyncIterator]: () => iterate(first, take, stop) },
  };
};

const othersOf = (batch: StreamBatch | null): StreamBatch['rows'] =>
  batch?.others === undefined ? [] : batch.rows.slice(-batch.others.rows);

const stopped = new Error('the reader stopped');

/** Not a generator: `return` of a generator that never started would not stop the writer. */
const iterate = (
  first: StreamBatch | null,
  take: () => Promise<StreamBatch | null>,
  stop: () => Promise<void>,
): AsyncIterator<StreamBatch['rows']> => {
  let isFirst = true;
  return {
    next: async () => {
      const batch = isFirst ? first : await take();
      isFirst = false;
      return batch === null ? { done: true, value: undefined } : { done: false, value: batch.rows };
    },
    return: async () => {
      await stop();
      return { done: true, value: undefined };
    },
  };
};
