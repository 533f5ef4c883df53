/** Planning and sending in rounds that a test begins. While no test waits for a report, nothing asks the database for one. */
import type { Timing } from '../../src/platform/work/time.js';

const hourMs = 3_600_000;

type Turn = { readonly ms: number; readonly begin: () => void };

/** `timing` is for one `startReports`. `run` lets the planner look for moments, then the senders for what is due. */
export const createRounds = () => {
  const waiting = new Set<Turn>();
  let running = 0;
  let onIdle = (): void => {};
  const timing: Timing = {
    nowMs: () => performance.now(),
    after: (ms, begin) => {
      // Old rows are removed by the hour, and no test waits for that.
      if (ms >= hourMs) return () => {};
      const turn = { ms, begin };
      waiting.add(turn);
      running -= 1;
      if (running === 0) onIdle();
      return () => waiting.delete(turn);
    },
  };
  const runAll = (turns: readonly Turn[]): Promise<void> =>
    new Promise((resolve) => {
      running = turns.length;
      onIdle = resolve;
      for (const turn of turns) {
        waiting.delete(turn);
        turn.begin();
      }
    });
  /** Resolves once nothing is due: each of them looks until it finds nothing. */
  const run = async (): Promise<void> => {
    // The planner waits longest, so it is the first.
    const times = [...new Set([...waiting].map(({ ms }) => ms))].toSorted((one, other) => other - one);
    for (const time of times) await runAll([...waiting].filter(({ ms }) => ms === time));
  };
  return { timing, run };
};

export type Rounds = ReturnType<typeof createRounds>;
