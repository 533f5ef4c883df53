/**
 * Failed credentials of one address are limited, and a good one is never refused for them. Known good credentials pass at once. Any
 * other is verified first and refused only where it is wrong; while too many of an address are, so many new ones a second are verified.
 */
import type { Clock } from '../domain/ports.js';
import type { Reason } from '../domain/reasons.js';
import { Refusal } from '../domain/refusal.js';
import type { Limiter, Limiters } from './limiter.js';
import { createLru } from './lru.js';
import { createCounts } from './window-counts.js';

/** What may fail. Each is counted by itself. */
export type CredentialKind = 'session' | 'apiKey' | 'guestToken' | 'serviceToken' | 'gatewayToken' | 'hook';

/** One credential of one request. */
export type Attempt = {
  /** Throws RATE_LIMITED where the credential may not be verified now. Called before what verifying costs. */
  readonly assertMayVerify: () => void;
  readonly passed: () => void;
  /** Counts a failure. Rejects with RATE_LIMITED where the address has too many of them; otherwise the caller refuses. */
  readonly failed: () => Promise<void>;
};

/** `credential` is a hash; null where none can be told from another, as with a signature over one body. */
export type CredentialGuard = (address: string, credential: string | null) => Attempt;

/** For the log and the metrics. */
export type NoteFailures = {
  readonly failed: (kind: CredentialKind) => void;
  /** A credential was refused by a limit, seen or unseen. */
  readonly limited: (kind: CredentialKind) => void;
  /** The address has too many failures from now on, until its window ends. */
  readonly blocked: (kind: CredentialKind, address: string) => void;
};

export type GuardOptions = {
  readonly kind: CredentialKind;
  /** Failures of one address in a minute, and of one credential from wherever it comes; null: any number. */
  readonly failuresPerMinute: number | null;
  readonly limiters: Limiters;
  /** Processes of one scope count together, where they share a place to count in. */
  readonly scope: string;
  readonly clock: Clock;
  readonly note?: NoteFailures | undefined;
};

const windowMs = 60_000;
const secondMs = 1000;
const maxKeys = 50_000;
/**
 * New credentials of an address with too many failures that are verified in a second: as many as cost about a tenth of a core. A
 * session costs a signature, a key or token a query, a hook the signature of a body that is read for it.
 */
const verifiedPerSecond: Readonly<Record<CredentialKind, number>> = {
  session: 1000,
  gatewayToken: 1000,
  apiKey: 200,
  guestToken: 200,
  serviceToken: 200,
  hook: 200,
};
const names: Readonly<Record<CredentialKind, string>> = {
  session: 'sessions',
  apiKey: 'API keys',
  guestToken: 'guest tokens',
  serviceToken: 'service tokens',
  gatewayToken: 'gateway tokens',
  hook: 'signatures of hooks',
};

const nothing: Attempt = { assertMayVerify: () => {}, passed: () => {}, failed: async () => {} };

/** Guards nothing. */
export const noGuard: CredentialGuard = () => nothing;

const refuse = (message: string, reason: Reason, waitMs: number): never => {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  throw new Refusal('RATE_LIMITED', `${message} Try again in ${retryAfterSeconds} s.`, { reason, retryAfterSeconds });
};

/** Until when an address has too many failures. */
const createBlocks = (limiter: Limiter, clock: Clock) => {
  const untilMs = createLru<string, number>(maxKeys);
  const waitMs = (address: string): number => {
    const left = (untilMs.get(address) ?? 0) - clock.now().getTime();
    return left > 0 && left <= windowMs ? left : 0;
  };
  return {
    waitMs,
    /** Whether the address is blocked by this very failure. One that is blocked is not counted: a flood asks no Redis. */
    count: async (address: string): Promise<boolean> => {
      if (waitMs(address) > 0) return false;
      const nowMs = clock.now().getTime();
      const { granted, windowEndsInMs } = await limiter.take(address, 1);
      if (granted > 0 || waitMs(address) > 0) return false;
      // A clock that was set back, here or where it is counted, must not hold anybody up for longer than a window.
      untilMs.set(address, nowMs + Math.min(Math.max(1, windowEndsInMs), windowMs));
      return true;
    },
  };
};

/** Guards the credentials of one kind. */
export const createCredentialGuard = (options: GuardOptions): CredentialGuard => {
  const { kind, failuresPerMinute: points, limiters, scope, clock, note } = options;
  if (points === null) return noGuard;
  const limiter = limiters.create({ name: `${scope}:failed-${kind}`, points, windowSeconds: windowMs / secondMs });
  const blocks = createBlocks(limiter, clock);
  const good = createLru<string, true>(maxKeys);
  const wrong = createCounts(windowMs);
  const verified = createCounts(secondMs);
  const limit = (message: string, reason: Reason, waitMs: number): never => {
    note?.limited(kind);
    return refuse(message, reason, waitMs);
  };
  const assertNotWrong = (credential: string): void => {
    const waitMs = wrong.waitMs(credential, points, clock.now().getTime());
    if (waitMs === 0) return;
    limit(`This credential was wrong ${points} times in a minute.`, 'same-failed-credential', waitMs);
  };
  const assertFewNew = (address: string): void => {
    if (blocks.waitMs(address) === 0) return;
    const nowMs = clock.now().getTime();
    const waitMs = verified.waitMs(address, verifiedPerSecond[kind], nowMs);
    verified.add(address, nowMs);
    if (waitMs > 0) limit(`Too many new ${names[kind]} of this address at once.`, 'new-credentials-limit', waitMs);
  };
  return (address, credential) => ({
    assertMayVerify: () => {
      if (credential !== null && good.has(credential)) return;
      if (credential !== null) assertNotWrong(credential);
      assertFewNew(address);
    },
    passed: () => {
      if (credential !== null) good.set(credential, true);
    },
    failed: async () => {
      note?.failed(kind);
      if (credential !== null) {
        good.delete(credential);
        wrong.add(credential, clock.now().getTime());
      }
      // The one that uses the budget up is still told what is wrong with it.
      const waitMs = blocks.waitMs(address);
      if (waitMs === 0 && (await blocks.count(address))) note?.blocked(kind, address);
      if (waitMs === 0) return;
      const what = `Too many ${names[kind]} of this address could not be verified`;
      limit(`${what}: more than ${points} in a minute.`, `failed-${kind}-limit`, waitMs);
    },
  });
};
