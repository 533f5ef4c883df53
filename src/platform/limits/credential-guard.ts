/**
 * Limits failed credentials for each client address. A valid credential is never refused because of the failures of
 * others. Credentials that are known to be valid pass at once. All other credentials are verified first and refused
 * only if they are wrong. While an address has too many failures, only a limited number of its new credentials is
 * verified each second.
 */
import type { Clock } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { createLru } from '../work/lru.js';
import { createCounts } from '../work/window-counts.js';
import type { Limiter, Limiters } from './limiter.js';

/** The kinds of credentials. Failures of each kind are counted separately. */
export type CredentialKind = 'session' | 'apiKey' | 'guestToken' | 'serviceToken' | 'gatewayToken' | 'hook' | 'studio';

/** One credential in one request. */
export type Attempt = {
  /** Throws RATE_LIMITED if the credential may not be verified now. Call it before any expensive verification. */
  readonly assertMayVerify: () => void;
  readonly passed: () => void;
  /**
   * Counts a failure. Rejects with RATE_LIMITED if the address has too many failures. If it resolves, the caller
   * refuses the request.
   */
  readonly failed: () => Promise<void>;
};

/**
 * Creates an attempt. `credential` is a hash. It is null if credentials cannot be told apart, for example for a
 * signature over one body.
 */
export type CredentialGuard = (address: string, credential: string | null) => Attempt;

/** Reports failures to the log and the meters. */
export type NoteFailures = {
  readonly failed: (kind: CredentialKind) => void;
  /** A limit refused a credential, either before or after its verification. */
  readonly limited: (kind: CredentialKind) => void;
  /** The address has reached its limit of failures. It stays blocked until its window ends. */
  readonly blocked: (kind: CredentialKind, address: string) => void;
};

export type GuardOptions = {
  readonly kind: CredentialKind;
  /** Maximum failures per minute of one address, and of one credential from all addresses. Null means no limit. */
  readonly failuresPerMinute: number | null;
  readonly limiters: Limiters;
  /** Processes with the same scope count together if they share a Redis. */
  readonly scope: string;
  readonly clock: Clock;
  readonly note?: NoteFailures | undefined;
};

const windowMs = 60_000;
const secondMs = 1000;
const maxKeys = 50_000;
/**
 * New credentials that are verified per second for an address with too many failures. The numbers cost about a tenth of
 * a core. A session costs one signature check, a key or token costs one query, and a hook costs the signature of a body
 * that must be read first.
 */
const verifiedPerSecond: Readonly<Record<CredentialKind, number>> = {
  session: 1000,
  gatewayToken: 1000,
  apiKey: 200,
  guestToken: 200,
  serviceToken: 200,
  hook: 200,
  studio: 200,
};
const names: Readonly<Record<CredentialKind, string>> = {
  session: 'sessions',
  apiKey: 'API keys',
  guestToken: 'guest tokens',
  serviceToken: 'service tokens',
  gatewayToken: 'gateway tokens',
  hook: 'signatures of hooks',
  studio: 'logins to Studio',
};

const nothing: Attempt = { assertMayVerify: () => {}, passed: () => {}, failed: async () => {} };

/** A guard that limits nothing. */
export const noGuard: CredentialGuard = () => nothing;

const refuse = (message: string, reason: Reason, waitMs: number): never => {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  throw new Refusal('RATE_LIMITED', `${message} Try again in ${retryAfterSeconds} s.`, { reason, retryAfterSeconds });
};

/** Stores until when each address is blocked. */
const createBlocks = (limiter: Limiter, clock: Clock) => {
  const untilMs = createLru<string, number>(maxKeys);
  const waitMs = (address: string): number => {
    const left = (untilMs.get(address) ?? 0) - clock.now().getTime();
    return left > 0 && left <= windowMs ? left : 0;
  };
  return {
    waitMs,
    /**
     * Counts one failure. Returns whether this failure blocks the address. Failures of a blocked address are not
     * counted, so a flood causes no calls to Redis.
     */
    count: async (address: string): Promise<boolean> => {
      if (waitMs(address) > 0) return false;
      const nowMs = clock.now().getTime();
      const { granted, windowEndsInMs } = await limiter.take(address, 1);
      if (granted > 0 || waitMs(address) > 0) return false;
      // Limits the block to one window, even if the clock here or in Redis was set back.
      untilMs.set(address, nowMs + Math.min(Math.max(1, windowEndsInMs), windowMs));
      return true;
    },
  };
};

/** Creates the guard for the credentials of one kind. */
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
      // The request that reaches the limit still gets the error about its credential.
      const waitMs = blocks.waitMs(address);
      if (waitMs === 0 && (await blocks.count(address))) note?.blocked(kind, address);
      if (waitMs === 0) return;
      const what = `Too many ${names[kind]} of this address could not be verified`;
      limit(`${what}: more than ${points} in a minute.`, `failed-${kind}-limit`, waitMs);
    },
  });
};
