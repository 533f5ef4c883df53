/** Writes the audit. Events that arrive while a batch is written go into the next transaction. */
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import type { Log } from '../../platform/logs/log.js';
import type { GatewayMeters } from '../common/meters.js';
import type { Ledger } from '../ledger/ledger.js';
import { appendEvents, type StampedEvent } from './append.js';
import type { Audit, AuditEvent } from './audit.js';

export type AuditOptions = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly meters?: Pick<GatewayMeters, 'audited' | 'watch'> | undefined;
  /**
   * Maximum number of waiting events. Beyond it, or beyond the rate limit of denials, denials are only counted. Any
   * other event is refused.
   */
  readonly maxWaiting?: number;
};

type Waiting = StampedEvent & { readonly resolve: () => void; readonly reject: (error: unknown) => void };

/** An audit that can be closed. `close` resolves once all waiting events are written. */
export type AuditLog = Audit & { readonly close: () => Promise<void> };

const batchSize = 500;

/** Burst and rate of denials that get their own entry. A caller without a session can cause any number of denials. */
const deniedBurst = 500;
const deniedPerSecond = 50;

/** Returns a function that tells whether one more denial can get its own entry. */
const createAllowance = (clock: Clock) => {
  let left = deniedBurst;
  let atMs = clock.now().getTime();
  return (): boolean => {
    const nowMs = clock.now().getTime();
    left = Math.min(deniedBurst, left + (Math.max(0, nowMs - atMs) / 1000) * deniedPerSecond);
    atMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
};

/** Number of entries after which the chain's head is logged, so that a rewritten chain contradicts the log. */
const anchorEvery = 1000;

/** Returns a function that writes one batch and settles the promises of its events. */
const createWrite =
  ({ ledger, log, meters }: AuditOptions) =>
  async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const head = await appendEvents(ledger, batch);
      if (Math.floor(head.seq / anchorEvery) > Math.floor((head.seq - batch.length) / anchorEvery)) {
        log.info({ event: 'audit.anchored', seq: head.seq, hash: head.hash }, 'audit head');
      }
      meters?.audited(batch.length, 'kept');
      for (const { resolve } of batch) resolve();
    } catch (error) {
      meters?.audited(batch.length, 'failed');
      for (const { reject } of batch) reject(error);
    }
  };

/** Counts denials without their own entry, and returns the count as one event. */
const createDropped = (clock: Clock, log: Log) => {
  let count = 0;
  return {
    add: (): void => {
      count += 1;
    },
    some: () => count > 0,
    take: (): readonly Waiting[] => {
      if (count === 0) return [];
      const event: AuditEvent = { kind: 'denial', code: 'NOT_TOLD_APART', detail: { count } };
      const reject = (err: unknown) =>
        log.error({ event: 'audit.write_failed', err, ...event.detail }, 'failed to write denials to the audit');
      count = 0;
      return [{ at: clock.now(), event, resolve: () => {}, reject }];
    },
  };
};

/** Creates the audit log. */
export const createAudit = (options: AuditOptions): AuditLog => {
  const { clock, log, maxWaiting = 10_000 } = options;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  const mayDeny = createAllowance(clock);
  const dropped = createDropped(clock, log);
  const write = createWrite(options);
  options.meters?.watch('auditWaiting', () => waiting.length);
  const drain = async (): Promise<void> => {
    while (waiting.length > 0 || dropped.some()) {
      const batch = [...waiting.slice(0, batchSize), ...dropped.take()];
      waiting = waiting.slice(batchSize);
      await write(batch);
    }
    writing = null;
  };
  const refuse = async ({ kind }: AuditEvent): Promise<void> => {
    if (kind !== 'denial') throw new Error('the audit is overloaded: too many events are waiting');
    dropped.add();
  };
  return {
    record: (event) => {
      if (waiting.length >= maxWaiting || (event.kind === 'denial' && !mayDeny())) return refuse(event);
      return new Promise((resolve, reject) => {
        waiting.push({ at: clock.now(), event, resolve, reject });
        writing ??= handled(drain());
      });
    },
    close: async () => {
      if (dropped.some()) writing ??= handled(drain());
      while (writing !== null) await writing;
    },
  };
};
