import { handled } from '../../model/handled.js';

/** Runs `atOnce` jobs at a time and yields each result when it is ready. Starts no job after the caller is gone. */
export async function* asReady<Result>(
  jobs: readonly (() => Promise<Result>)[],
  atOnce: number,
  signal: AbortSignal,
): AsyncGenerator<Result> {
  const running = new Set<Promise<{ readonly result: Result; readonly done: () => void }>>();
  const waiting = [...jobs];
  const start = (): void => {
    const job = signal.aborted ? undefined : waiting.shift();
    if (job === undefined) return;
    const run = handled(job().then((result) => ({ result, done: () => running.delete(run) })));
    running.add(run);
  };
  for (let count = 0; count < atOnce; count += 1) start();
  while (running.size > 0) {
    const { result, done } = await Promise.race(running);
    done();
    start();
    yield result;
  }
}
