/** Starts the sending of what tenants used to a billing system. Every process with a service does; one sends at a time. */
import { randomUUID } from 'node:crypto';
import { createUsageSender } from '../delivery/usage-sender.js';
import { createPost } from '../delivery/webhook.js';
import { handled } from '../model/handled.js';
import type { Clock } from '../model/ports.js';
import type { Channel } from '../platform/config/channels.js';
import type { Log } from '../platform/logs/log.js';
import { repeat, systemTiming, type Timing } from '../platform/work/time.js';
import type { Service } from './service.js';

const minuteMs = 60_000;
const postTimeoutMs = 20_000;

type Parts = {
  /** Null: nothing is sent. */
  readonly channel: Channel | null;
  readonly service: Pick<Service, 'store'> | null;
  /** The time that all processes share. */
  readonly clock: Clock;
  readonly log: Log;
  /** Says when the next round is due. Left out: this machine's. */
  readonly timing?: Timing;
};

/** `close` waits for the message that is being sent. What waits is sent by the next process. */
export const startUsageSending = async ({ channel, service, clock, log, timing = systemTiming }: Parts) => {
  if (channel === null || service === null) return { close: async () => {} };
  const { begin, send } = createUsageSender({
    ...{ store: service.store, channel, clock, log, ids: { uuid: () => randomUUID() } },
    post: createPost({ clock, timeoutMs: postTimeoutMs }),
  });
  await begin();
  let isEnded = false;
  const sendDue = async (): Promise<void> => {
    try {
      while (!isEnded && (await send()));
    } catch (err) {
      log.warn({ event: 'usage.round_failed', err }, 'failed to send what was used; trying again in a minute');
    }
  };
  const first = handled(sendDue());
  const stop = repeat(timing, minuteMs, sendDue);
  return {
    close: async (): Promise<void> => {
      isEnded = true;
      await Promise.all([first, stop()]);
    },
  };
};
