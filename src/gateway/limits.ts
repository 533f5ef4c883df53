/**
 * How much one user, one tenant and one address may ask for. Each process takes points of a budget in advance, one at first and twice as
 * many each time, and spends them by itself: so a limit costs next to nothing, over all replicas never more than the budget is
 * granted, and no process holds back more than what it has used before.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Limiter, Limiters } from '../platform/limiter.js';
import { createLru } from '../platform/lru.js';
import { createSingleFlight } from '../platform/single-flight.js';
import type { Session } from './identity.js';
import { addressOf } from './sessions/address.js';

/** Requests in a minute; null: no limit. */
export type LimitSettings = {
  readonly userPerMinute: number | null;
  readonly tenantPerMinute: number | null;
  /** Sessions of one address that could not be verified. */
  readonly failedSessionsPerMinute: number | null;
  /** How many proxies in front each append to X-Forwarded-For whom they were called by; 0: the header is never read. */
  readonly trustedProxies: number;
};

/** What holds unless it is set otherwise. */
export const defaultLimits: LimitSettings = {
  userPerMinute: 300,
  tenantPerMinute: 12_000,
  failedSessionsPerMinute: 300,
  trustedProxies: 0,
};

/** All throw, or reject with, RATE_LIMITED that says when to come again. */
export type Limits = {
  readonly assertUser: (session: Session) => void | Promise<void>;
  readonly assertTenant: (clientId: string) => void | Promise<void>;
  readonly failedSessions: FailedSessions;
};

/** Sessions that could not be verified, by the address that they came from. */
export type FailedSessions = {
  /** Called before a session is verified; one that was verified before is not held up by its neighbours. */
  readonly assertFew: (request: IncomingMessage) => void;
  readonly count: (request: IncomingMessage) => Promise<void>;
};

/** Lets everybody pass. */
export const noLimits: Limits = {
  assertUser: () => {},
  assertTenant: () => {},
  failedSessions: { assertFew: () => {}, count: async () => {} },
};

export type LimitsOptions = {
  readonly settings: LimitSettings;
  readonly limiters: Limiters;
  /** Gateways of one scope count together, where they share a place to count in. */
  readonly scope: string;
  readonly clock: Clock;
};

const windowSeconds = 60;
const maxKeys = 50_000;
/** Of a budget, the part that is taken in advance at most. */
const largestShare = 16;

/** Points of one key that this process may spend. `isLast`: there are no more of them in this window. */
type Lease = {
  left: number;
  readonly size: number;
  readonly isLast: boolean;
  readonly takenAtMs: number;
  readonly untilMs: number;
};

const refuse = (what: string, perMinute: number, reason: string, waitMs: number): never => {
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

const createAssert = (
  { limiters, scope, clock }: LimitsOptions,
  name: 'user' | 'tenant',
  perMinute: number | null,
): ((key: string) => void | Promise<void>) => {
  if (perMinute === null) return () => {};
  const spend = createSpend(
    limiters.create({ name: `${scope}:${name}`, points: perMinute, windowSeconds }),
    perMinute,
    clock,
  );
  const check = (waitMs: number): void => {
    if (waitMs > 0) refuse(`requests of this ${name}`, perMinute, `${name}-limit`, waitMs);
  };
  return (key) => {
    const waitMs = spend(key);
    return typeof waitMs === 'number' ? check(waitMs) : waitMs.then(check);
  };
};

const createFailedSessions = ({ settings, limiters, scope, clock }: LimitsOptions): FailedSessions => {
  const { failedSessionsPerMinute: points, trustedProxies } = settings;
  if (points === null) return noLimits.failedSessions;
  const limiter = limiters.create({ name: `${scope}:failed-sessions`, points, windowSeconds });
  const blockedUntilMs = createLru<string, number>(maxKeys);
  return {
    assertFew: (request) => {
      const waitMs = (blockedUntilMs.get(addressOf(request, trustedProxies)) ?? 0) - clock.now().getTime();
      if (waitMs <= 0 || waitMs > windowSeconds * 1000) return;
      refuse('sessions of this address that could not be verified', points, 'failed-sessions-limit', waitMs);
    },
    count: async (request) => {
      const address = addressOf(request, trustedProxies);
      const nowMs = clock.now().getTime();
      const { granted, windowEndsInMs } = await limiter.take(address, 1);
      if (granted === 0) blockedUntilMs.set(address, nowMs + windowOf(windowEndsInMs));
    },
  };
};

/** Makes the limits of one gateway. */
export const createLimits = (options: LimitsOptions): Limits => {
  const { userPerMinute, tenantPerMinute } = options.settings;
  const assertUser = createAssert(options, 'user', userPerMinute);
  return {
    assertUser: ({ userIdentifier }) => assertUser(userIdentifier),
    assertTenant: createAssert(options, 'tenant', tenantPerMinute),
    failedSessions: createFailedSessions(options),
  };
};
