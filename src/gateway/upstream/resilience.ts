/**
 * How calls to an upstream behave when it is slow, broken or away: places for so many at once, a circuit that opens, and a few
 * tries again, all within one deadline. What fails here is UPSTREAM_UNAVAILABLE, said at once wherever asking is pointless.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { BulkheadFull, createBulkhead } from '../../platform/bulkhead.js';
import { type CircuitBreaker, CircuitOpen, createCircuitBreaker } from '../../platform/circuit-breaker.js';
import type { Log } from '../../platform/log.js';
import { failureOf, Unavailable, unavailable } from './unavailable.js';

/** Of one upstream; times in milliseconds. */
export type ResilienceSettings = {
  /** Of a whole call: its wait for a place, its tries and the pauses between. */
  readonly deadlineMs: number;
  /** Further tries of a call that may be repeated. */
  readonly retries: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** Failures in a row that open the circuit, and how long it stays open at first. */
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
};

/** What a call is, as far as it decides about it. */
export type CallKind = { readonly operation: string; readonly method: string | undefined; readonly client: string };

export type Resilience = <T>(kind: CallKind, work: (until: AbortSignal | undefined) => Promise<T>) => Promise<T>;

/** Time and chance, which tests set. */
export type Timing = {
  /** Of a clock that only goes forward. */
  readonly nowMs: () => number;
  /** Rejects where the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** From 0 to 1. */
  readonly random: () => number;
};

/** Hears each change of the circuit. */
export type NoteCircuit = (circuit: 'open' | 'closed') => void;

export const realTiming: Timing = {
  nowMs: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
  random: Math.random,
};

/**
 * Calls other than GET whose repetition changes nothing. createDashboardEmbed names the id of what it makes, which the interface
 * keeps unique in the data app: where the first try was done and its answer lost, the second is told that the id is taken,
 * and provisioning then verifies owner, template and metrics as for any dashboard that it finds. revokeGuestTokens ends what
 * is there, once or twice. createGuestToken is none of them: each try makes a token, and one whose
 * answer was lost would live on without anybody who knows it.
 */
const repeatable: ReadonlySet<string> = new Set(['createDashboardEmbed', 'revokeGuestTokens']);

const isRepeatable = ({ operation, method }: CallKind): boolean => method === 'GET' || repeatable.has(operation);

/** What takes something away waits behind no logins: a revocation that comes late is one that did not come. */
const urgent: ReadonlySet<string> = new Set(['revokeGuestTokens', 'eraseClient', 'deleteDashboard', 'deleteEmbed']);
const urgentPlaces = 8;

const firstPauseMs = 100;
const longestPauseMs = 2_000;
const longestOpenMs = 30_000;

/** "Full jitter": anything up to a bound that doubles, so that those who failed together do not return together. */
const pauseMs = (tried: number, error: unknown, random: number): number => {
  const askedMs = error instanceof Unavailable ? (error.retryAfterMs ?? 0) : 0;
  return askedMs + random * Math.min(firstPauseMs * 2 ** tried, longestPauseMs);
};

/** Tells the breaker what became of a try. */
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
      // It answered: that it is asked too often, or something about this request.
      else admission.succeeded();
    },
  };
};

/** In words of the gateway. */
const named = (error: unknown, until: AbortSignal): unknown => {
  if (error instanceof BulkheadFull) return unavailable('upstream-calls-full', error);
  if (error instanceof CircuitOpen) return unavailable('upstream-circuit-open', error, error.remainingMs);
  return until.aborted && error === until.reason ? unavailable('upstream-deadline', error) : error;
};

/** Each call once, without bounds: for a service in the same process. */
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

/** One try, in its turn, where the circuit lets it. */
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
    // Asked before the wait too: who cannot be answered takes no place in the queue.
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
        // A deadline that was used up by waiting for a place says nothing about the upstream.
        outcome.failed(error, until.aborted && nowMs() - startedMs < settings.deadlineMs / 2);
        throw error;
      }
    }, until);
  };
};

/** For all calls to one upstream. */
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
