/** Causes a fault and ends it while users log in. Returns the line of the table. */
import { expect, vi } from 'vitest';
import { analyst, session } from '../product/guest.js';
import type { Product } from '../product/product.js';
import { askOnce, faultsOf, type Outcome, startLoad } from './clients.js';
import { countStatuses, type Line, longestOf, middleOf } from './table.js';

export type Fault = {
  readonly fault: string;
  readonly begin: () => unknown;
  readonly end: () => unknown;
  /** Checks what must hold during the fault. */
  readonly during?: () => Promise<unknown>;
  /** Number of rounds; default: two. */
  readonly rounds?: number;
};

const usualRounds = 2;
const clients = 6;

let users = 0;
/** Logs in a new user, so that no answer comes from a cache. */
export const askToken = (product: Product, sub?: string): Promise<Outcome> => {
  users += 1;
  const claims = { ...analyst('LAX'), sub: sub ?? `user-${users}` };
  const headers = { authorization: `Bearer ${session(product, claims)}` };
  return askOnce(`${product.url}/embed-token`, { method: 'POST', headers });
};

export const reads = async (product: Product, token: string): Promise<boolean> => {
  const headers = { authorization: `Bearer ${token}` };
  return (await askOnce(`${product.url}/api/v2/guest/dashboards/delays--LAX`, { headers })).status === 200;
};

/** Returns the milliseconds until a user gets a token. */
const untilGood = (product: Product): Promise<number> => {
  const startedMs = performance.now();
  return vi.waitFor(
    async () => {
      expect((await askToken(product)).status).toBe(200);
      return performance.now() - startedMs;
    },
    { timeout: 30_000, interval: 20 },
  );
};

/** Logs in until a login is refused: a full disk still accepts writes to allocated blocks. */
export const untilRefused = async (product: Product): Promise<Outcome> => {
  for (;;) {
    const outcome = await askToken(product);
    if (outcome.status !== 200) return outcome;
  }
};

export const faultTimeoutMs = 240_000;

export type Measured = { readonly line: Line; readonly faults: readonly string[] };

/** `faults`: the answers that no user may see. */
export const measure = async (
  product: Product,
  { fault, begin, end, during, rounds = usualRounds }: Fault,
): Promise<Measured> => {
  const load = startLoad(clients, () => askToken(product));
  const recoveries: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await load.ended(8);
    await begin();
    await load.ended(12);
    await during?.();
    await end();
    recoveries.push(await untilGood(product));
  }
  await load.ended(clients);
  await load.stop();
  const { outcomes } = load;
  const tokens = outcomes.flatMap(({ status, body }) => (status === 200 ? [JSON.parse(body).token] : []));
  let lost = 0;
  for (const token of tokens) if (!(await reads(product, token))) lost += 1;
  const line = {
    fault: rounds === 1 ? fault : `${fault}, ${rounds} times`,
    answers: countStatuses(outcomes.map(({ status }) => status)),
    longestMs: longestOf(outcomes),
    goodAgainMs: middleOf(recoveries),
    goodAgainMaxMs: Math.round(Math.max(...recoveries)),
    acknowledged: tokens.length,
    lost,
  };
  return { line, faults: faultsOf(outcomes) };
};
