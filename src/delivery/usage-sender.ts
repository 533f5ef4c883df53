/**
 * Sends to a billing system what tenants used, hour by hour, in order. A message is deleted once it was taken, and until
 * then it is sent again: nothing is left out, and nothing comes before it.
 */
import type { Log } from '../model/log-events.js';
import type { Clock, Ids } from '../model/ports.js';
import { whole } from '../model/slices.js';
import type { UsageMessage } from '../model/usage.js';
import type { Channel } from '../platform/config/channels.js';
import type { Store } from '../service/store/store.js';
import type { ClaimedUsage } from '../service/store/usage-sending.js';
import { delayMs } from './sender.js';
import type { Post } from './webhook.js';

const hourMs = 3_600_000;
/** Each process stores its counts within a second: what comes after this time is told as late. */
const closingMs = 300_000;
/** Longer than an attempt, so that no two send at once. */
const leaseMs = 60_000;

const hourOf = (ms: number): Date => new Date(ms - (ms % hourMs));

/** The names of data apps by their ids. */
type Names = ReadonlyMap<string, string>;

const bodyOf = ({ at, isLate, tenants }: UsageMessage, names: Names): string => {
  const to = new Date(at.getTime() + hourMs).toISOString();
  const told = tenants.map(({ dataAppId, clientId, counts }) => ({
    ...{ dataAppName: names.get(dataAppId) ?? null, clientId },
    ...counts,
  }));
  return JSON.stringify({
    type: 'usage.counted',
    timestamp: to,
    data: { from: at.toISOString(), to, isLate, tenants: told },
  });
};

type UsageSenderOptions = {
  readonly store: {
    readonly usage: Pick<Store['usage'], 'sending'>;
    readonly dataApps: Pick<Store['dataApps'], 'list'>;
  };
  readonly channel: Channel;
  readonly post: Post;
  /** The time that all processes share. */
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Pick<Log, 'info' | 'warn'>;
};

type UsageSender = {
  /** Everything from this hour on is sent, unless an earlier one began it. */
  readonly begin: () => Promise<void>;
  /** Closes hours that are over, and sends one message. Returns false if none is due. */
  readonly send: () => Promise<boolean>;
};

const attempt = async (
  { store, channel, post, clock, log }: UsageSenderOptions,
  leaseId: string,
  { attempts, ...message }: ClaimedUsage,
): Promise<void> => {
  const names = new Map((await whole(store.dataApps.list(null))).map(({ id, name }) => [id, name]));
  const outcome = await post(channel, { id: message.id, body: bodyOf(message, names) });
  const fields = { channel: channel.name, messageId: message.id, hour: message.at.toISOString(), attempts };
  if (outcome.kind === 'taken') {
    await store.usage.sending.taken(leaseId, message.id);
    log.info({ event: 'usage.sent', ...fields }, 'what was used in an hour was sent');
    return;
  }
  const attemptAt = new Date(clock.now().getTime() + delayMs(attempts));
  await store.usage.sending.failed(leaseId, outcome.kind, attemptAt);
  const status = outcome.kind === 'refused' ? { status: outcome.status } : {};
  log.warn(
    { event: 'usage.send_failed', ...fields, reason: outcome.kind, ...status },
    'failed to send what was used in an hour; trying again, and later hours wait',
  );
};

export const createUsageSender = (options: UsageSenderOptions): UsageSender => {
  const { store, clock, ids } = options;
  const { sending } = store.usage;
  return {
    begin: () => sending.begin(hourOf(clock.now().getTime())),
    send: async () => {
      const now = clock.now();
      await sending.close(hourOf(now.getTime() - closingMs));
      const leaseId = ids.uuid();
      const message = await sending.claim({ now, leaseId, leasedUntil: new Date(now.getTime() + leaseMs) });
      if (message === undefined) return false;
      await attempt(options, leaseId, message);
      return true;
    },
  };
};
