/**
 * Protects the gateway from an upstream that is slow, failing or down: a limit on concurrent calls, a circuit breaker,
 * and a few retries, all within one deadline. A call that fails this way throws UPSTREAM_UNAVAILABLE, at once if the
 * circuit is open.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../platform/logs/log.js';
import { BulkheadFull, createBulkhead } from '../../platform/work/bulkhead.js';
import { type CircuitBreaker, CircuitOpen, createCircuitBreaker } from '../../platform/work/circuit-breaker.js';
import { failureOf, Unavailable, unavailable } from './unavailable.js';

/** Settings for one upstream. Times are in milliseconds. */
export type ResilienceSettings = {
  /** Deadline of a whole call: its time in the queue, its attempts and the pauses between them. */
  readonly deadlineMs: number;
  /** Maximum number of retries of a call that is safe to repeat. */
  readonly retries: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** The number of consecutive failures that opens the circuit. `breakerOpenMs` is how long it first stays open. */
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
};

/** The properties of a call that decide how it is limited and retried. */
export type CallKind = { readonly operation: string; readonly method: string | undefined; readonly client: string };

export type Resilience = <T>(kind: CallKind, work: (until: AbortSignal | undefined) => Promise<T>) => Promise<T>;

/** Time and randomness. Tests replace them. */
export type Timing = {
  /** The time of a monotonic clock. */
  readonly nowMs: () => number;
  /** Resolves after `ms`. Rejects if the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
};

/** Called at each change of the circuit. */
export type NoteCircuit = (circuit: 'open' | 'closed') => void;

export const realTiming: Timing = {
  nowMs: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
  random: Math.random,
};

/**
 * Calls other than GET that are safe to repeat. createDashboardEmbed sends the new embed's id, which must be unique in
 * the data app. If the first attempt succeeded and its response was lost, the retry is refused because the id exists;
 * provisioning then verifies owner, template and metrics as for any existing dashboard. revokeGuestTokens has the same
 * effect once or twice. createGuestToken is not safe: each attempt creates a token, and a token whose response was lost
 * would stay valid with no record of it.
 */
const repeatable: ReadonlySet<string> = new Set(['createDashboardEmbed', 'revokeGuestTokens']);

const isRepeatable = ({ operation, method }: CallKind): boolean => method === 'GET' || repeatable.has(operation);

/** Calls that revoke or delete. They have their own queue, so that logins cannot delay a revocation. */
const urgent: ReadonlySet<string> = new Set(['revokeGuestTokens', 'eraseClient', 'deleteDashboard', 'deleteEmbed']);
const urgentPlaces = 8;

const firstPauseMs = 100;
const longestPauseMs = 2_000;
const longestOpenMs = 30_000;

/**
 * Pause before the next attempt, with "full jitter": a random time up to a bound that doubles, so that calls that
 * failed together are not retried together.
 */
const pauseMs = (tried: number, error: unknown, random: number): number => {
  const askedMs = error instanceof Unavailable ? (error.retryAfterMs ?? 0) : 0;
  return askedMs + random * Math.min(firstPauseMs * 2 ** tried, longestPauseMs);
};

/** Reports the outcome of one attempt to the circuit breaker. */
const tell = (breaker: CircuitBreaker, client: string) => {
  const admission = breaker.admit();
  return {
    succeeded: admission.succeeded,
    failed: (error: unknown, isOwnFault: boolean): void => {
      const failure = failureOf(error);
      const askedMs = error instanceof Unavailable ? error.retryAfterMs : undefined;
      if (isOwnFault) admission.void();
      else if (failure === 'silent') admission.failed(undefined, askedMs);
      else if (failure === 'failed') admission.failed(client, askedMs);
      // The upstream responded: either "too many requests", or an error about this one request.
      else admission.succeeded();
    },
  };
};

/** Converts an error of a limit or the deadline to UPSTREAM_UNAVAILABLE. Returns any other error unchanged. */
const named = (error: unknown, until: AbortSignal): unknown => {
  if (error instanceof BulkheadFull) return unavailable('upstream-calls-full', error);
  if (error instanceof CircuitOpen) return unavailable('upstream-circuit-open', error, error.remainingMs);
  return until.aborted && error === until.reason ? unavailable('upstream-deadline', error) : error;
};

/** Runs each call once, without limits. For a service in the same process. */
export const callOnce: Resilience = (_, work) => work(undefined);

const withDeadline = async <T>(deadlineMs: number, work: (until: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
};

type Work<T> = (until: AbortSignal) => Promise<T>;
type Attempt = <T>(kind: CallKind, work: Work<T>, until: AbortSignal) => Promise<T>;

/** Returns a function that runs one attempt, if the circuit allows it and after its turn in the queue. */
const createAttempt = (settings: ResilienceSettings, log: Log, { nowMs }: Timing, noted: NoteCircuit): Attempt => {
  const usual = createBulkhead(settings);
  const ahead = createBulkhead({ ...settings, maxConcurrent: urgentPlaces });
  const breaker = createCircuitBreaker({
    failures: settings.breakerFailures,
    openMs: settings.breakerOpenMs,
    maxOpenMs: Math.max(settings.breakerOpenMs, longestOpenMs),
    nowMs,
    onChange: (circuit, openMs) => {
      noted(circuit);
      if (circuit === 'closed')
        log.info({ event: 'upstream.circuit_closed', circuit }, 'the analytics service answers again');
      else
        log.error(
          { event: 'upstream.circuit_opened', circuit, openMs },
          'the analytics service failed too often in a row; calls pause',
        );
    },
  });
  return async (kind, work, until) => {
    // Also checked before the queue, so that a call that an open circuit would refuse does not wait.
    breaker.assertAsking();
    const bulkhead = urgent.has(kind.operation) ? ahead : usual;
    return bulkhead(async () => {
      const outcome = tell(breaker, kind.client);
      const startedMs = nowMs();
      try {
        const answer = await work(until);
        outcome.succeeded();
        return answer;
      } catch (error) {
        // If the call spent most of its deadline in the queue, the timeout is not a failure of the upstream.
        outcome.failed(error, until.aborted && nowMs() - startedMs < settings.deadlineMs / 2);
        throw error;
      }
    }, until);
  };
};

/** Creates the limits, retries and circuit breaker that all calls to one upstream share. */
export const createResilience = (
  settings: ResilienceSettings,
  log: Log,
  timing: Timing = realTiming,
  noted: NoteCircuit = () => {},
): Resilience => {
  const { deadlineMs, retries } = settings;
  const attempt = createAttempt(settings, log, timing, noted);
  return (kind, work) =>
    withDeadline(deadlineMs, async (until) => {
      const endMs = timing.nowMs() + deadlineMs;
      const tries = isRepeatable(kind) ? retries : 0;
      for (let tried = 0; ; tried += 1) {
        try {
          return await attempt(kind, work, until);
        } catch (error) {
          const ms = pauseMs(tried, error, timing.random());
          const mayPass = failureOf(error) !== undefined && !until.aborted;
          if (tried >= tries || !mayPass || ms > endMs - timing.nowMs()) throw named(error, until);
          await timing.wait(ms, until).catch(() => {
            throw error;
          });
        }
      }
    });
};
