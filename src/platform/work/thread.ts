/** Runs one piece of work in a thread of its own, so that it delays no request. The thread gets no environment. */
import { existsSync } from 'node:fs';
import { type Transferable, Worker } from 'node:worker_threads';

/** Finds the program of a thread. `places` are relative to `from`: beside the caller, or below the command line's bundle. */
export const findThread = (from: string, places: readonly string[]): URL => {
  const found = places.map((place) => new URL(place, from)).find((place) => existsSync(place));
  if (found === undefined) throw new Error(`${places.join(' or ')} is missing beside the program`);
  return found;
};

export type ThreadOptions = {
  /** What the thread reads as `workerData`. */
  readonly data: unknown;
  readonly transfer?: readonly Transferable[];
  /** Memory that the thread may use. Default: as much as this one. */
  readonly megabytes?: number;
  readonly signal?: AbortSignal;
};

const limitsOf = (megabytes: number | undefined) =>
  megabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: megabytes } };

/**
 * Runs the thread until its first message, the outcome, and ends it. Rejects with the thread's error, or with the signal's
 * reason once it aborts.
 */
export const runThread = <Outcome>(
  program: URL,
  { data, transfer = [], megabytes, signal }: ThreadOptions,
): Promise<Outcome> =>
  new Promise<Outcome>((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(program, {
      workerData: data,
      transferList: [...transfer],
      ...limitsOf(megabytes),
      ...{ env: {}, argv: [], execArgv: [] },
    });
    const end = (settle: () => void): void => {
      settle();
      signal?.removeEventListener('abort', leave);
      void worker.terminate();
    };
    const leave = (): void => end(() => reject(signal?.reason));
    signal?.addEventListener('abort', leave);
    worker.once('message', (outcome: Outcome) => end(() => resolve(outcome)));
    worker.once('error', (error) => end(() => reject(error)));
    worker.once('exit', (code) => end(() => reject(new Error(`a thread ended without an outcome, with ${code}`))));
  });
