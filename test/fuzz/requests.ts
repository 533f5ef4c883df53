/** Sends many single requests and checks each answer. */
import fc from 'fast-check';
import { judge } from './judge.js';
import { anyPlan } from './plan.js';
import type { World } from './world.js';

export type Tally = {
  /** Faults with their requests; each fault of an operation is listed once. */
  readonly faults: readonly string[];
  /** Answers by operation and status. */
  readonly answers: Readonly<Record<string, number>>;
  /** How many of the requests that the contract accepts have succeeded. */
  readonly succeeded: number;
  readonly sent: number;
};

const atOnce = 8;
const chunk = 200;

/** Sends `count` requests from `seed`: the same seed plans the same requests. */
export const sendMany = async (world: World, { seed, count }: { seed: number; count: number }): Promise<Tally> => {
  const faults = new Map<string, string>();
  const answers: Record<string, number> = {};
  let succeeded = 0;
  let sent = 0;
  for (let start = 0; start < count; start += chunk) {
    await world.refresh();
    const plans = fc.sample(anyPlan, { seed: seed + start, numRuns: Math.min(chunk, count - start) });
    const work = plans.values();
    const worker = async (): Promise<void> => {
      for (const plan of work) {
        const { method, path, answer, shown } = await world.send(plan);
        sent += 1;
        if (answer.status === 200) succeeded += 1;
        const key = `${plan.operation} ${answer.status}`;
        answers[key] = (answers[key] ?? 0) + 1;
        const fault = judge(method, path, answer, world.secrets());
        if (fault !== undefined) faults.set(`${plan.operation} ${fault.slice(0, 40)}`, `${fault}\n  ${shown}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
  return { faults: [...faults.values()], answers, succeeded, sent };
};
