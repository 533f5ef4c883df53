/**
 * Spends a budget of requests in a minute. Each process takes points of a budget in advance, one at first and twice as many each time, and
 * spends them by itself: so a limit costs next to nothing, over all replicas never more than the budget is granted, and no process
 * holds back more than what it has used before.
 */
import type { Clock } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { createLru } from '../work/lru.js';
import { createSingleFlight } from '../work/single-flight.js';
import type { Limiter, Limiters } from './limiter.js';

const windowSeconds = 60;
const maxKeys = 50_000;
/** A process takes at most this part of a budget in advance: one in sixteen. */
const largestShare = 16;

/** Points of one key that this process may spend. `isLast`: the window has no further points. */
type Lease = {
  left: number;
  readonly size: number;
  readonly isLast: boolean;
  readonly takenAtMs: number;
  readonly untilMs: number;
};

const refuse = (what: string, perMinute: number, reason: Reason, waitMs: number): never => {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new Refusal(
    'RATE_LIMITED',
    `Too many ${what}: more than ${perMinute} in a minute. Try again in ${retryAfterSeconds} s.`,
    { reason, retryAfterSeconds },
  );
};

/** Spends a point of a key: 0, or the milliseconds to wait where its budget is used up. At once where it can be. */
type Spend = (key: string) => number | Promise<number>;

/** A clock that was set back, here or where it is counted, must not hold anybody up for longer than a window. */
const windowOf = (endsInMs: number): number => Math.min(Math.max(1, endsInMs), windowSeconds * 1000);

const createLeases = (limiter: Limiter, points: number) => {
  const leases = createLru<string, Lease>(maxKeys);
  const largest = Math.max(1, Math.floor(points / largestShare));
  const find = (key: string, nowMs: number): Lease | undefined => {
    const lease = leases.get(key);
    return lease !== undefined && nowMs >= lease.takenAtMs && nowMs < lease.untilMs ? lease : undefined;
  };
  return {
    find,
    take: async (key: string, takenAtMs: number): Promise<void> => {
      const size = Math.min(largest, (find(key, takenAtMs)?.size ?? 0.5) * 2);
      const { granted, windowEndsInMs } = await limiter.take(key, size);
      const untilMs = takenAtMs + windowOf(windowEndsInMs);
      leases.set(key, { left: granted, size, isLast: granted < size, takenAtMs, untilMs });
    },
  };
};

const createSpend = (limiter: Limiter, points: number, clock: Clock): Spend => {
  const leases = createLeases(limiter, points);
  const flights = createSingleFlight<void>();
  /** Null: more must be taken first. */
  const spendHeld = (key: string, nowMs: number): number | null => {
    const lease = leases.find(key, nowMs);
    if (lease === undefined) return null;
    if (lease.left === 0) return lease.isLast ? lease.untilMs - nowMs : null;
    lease.left -= 1;
    return 0;
  };
  const spendTaken = async (key: string): Promise<number> => {
    for (;;) {
      // Who comes meanwhile shares what is taken, and takes more where that is not enough.
      await flights(key, () => leases.take(key, clock.now().getTime()));
      const waitMs = spendHeld(key, clock.now().getTime());
      if (waitMs !== null) return waitMs;
    }
  };
  return (key) => spendHeld(key, clock.now().getTime()) ?? spendTaken(key);
};

export type BudgetOptions = {
  readonly limiters: Limiters;
  /** Processes of one scope count together, where they share a place to count in. */
  readonly scope: string;
  readonly clock: Clock;
};

/** Spends a point of a key. Throws, or rejects with, RATE_LIMITED that says when to come again. At once where it can be. */
export type AssertBudget = (key: string) => void | Promise<void>;

/** What a budget is of: `<name>-limit` is the reason code of its refusals. */
export type BudgetName = 'user' | 'tenant' | 'replaces' | 'guest-token' | 'guest-address' | 'chat-user' | 'chat-tenant';

/** `what` names what is counted to the caller, `name` to the log and in the keys. `perMinute` null: no limit. */
export const createBudget = (
  { limiters, scope, clock }: BudgetOptions,
  { name, what, perMinute }: { readonly name: BudgetName; readonly what: string; readonly perMinute: number | null },
): AssertBudget => {
  if (perMinute === null) return () => {};
  const limiter = limiters.create({ name: `${scope}:${name}`, points: perMinute, windowSeconds });
  const spend = createSpend(limiter, perMinute, clock);
  const check = (waitMs: number): void => {
    if (waitMs > 0) refuse(what, perMinute, `${name}-limit`, waitMs);
  };
  return (key) => {
    const waitMs = spend(key);
    return typeof waitMs === 'number' ? check(waitMs) : waitMs.then(check);
  };
};
