/**
 * Messages between replicas over Redis Pub/Sub. A message may be lost, and every client of Redis can forge one. A
 * message therefore only makes its receiver check the state.
 */

import { z } from 'zod';
import type { Log } from '../../model/log-events.js';
import type { Timing } from '../work/time.js';
import { type Attempt, createRedisClient, type RedisClient } from './redis.js';
import { createTopics, type Sharing } from './sharing.js';

/**
 * How the work under a lease ended. `failure` is the encoded failure. It is null if there is a value, or if the failure
 * is not shared.
 */
export type Outcome = { readonly key: string; readonly fence: string; readonly failure: string | null };

export type Notices = Pick<Sharing, 'publish' | 'subscribe'> & {
  readonly tellOutcome: (outcome: Outcome) => Promise<void>;
  /**
   * Returns the failure of the holder with this fence. Returns null if the holder ended in another way, or if the
   * timeout passes.
   */
  readonly outcomeOf: (key: string, fence: string, timeoutMs: number) => Promise<string | null>;
  readonly close: () => void;
};

export type NoticesOptions = {
  readonly redis: RedisClient;
  readonly attempt: Attempt;
  readonly url: string;
  readonly log: Log;
  readonly timing: Timing;
  readonly publishTimeoutMs: number;
};

const topicChannel = 'guestlist:topics';
const outcomeChannel = 'guestlist:outcomes';
const outcomeSchema = z.strictObject({ key: z.string(), fence: z.string(), failure: z.string().nullable() });

const decodeOutcome = (text: string): Outcome | null => {
  try {
    return outcomeSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // The message is not from a replica. Waiting callers poll, so it can be ignored.
    return null;
  }
};

const createWaiting = (timing: Timing) => {
  const waiting = new Map<string, (outcome: Outcome) => void>();
  return {
    tell: (outcome: Outcome): void => waiting.get(outcome.key)?.(outcome),
    /** At most one wait per key at a time. */
    outcomeOf: (key: string, fence: string, timeoutMs: number): Promise<string | null> =>
      new Promise((resolve) => {
        const end = (failure: string | null): void => {
          cancel();
          waiting.delete(key);
          resolve(failure);
        };
        const cancel = timing.after(timeoutMs, () => end(null));
        waiting.set(key, (outcome) => end(outcome.fence === fence ? outcome.failure : null));
      }),
  };
};

const openSubscriber = (options: NoticesOptions, hear: (channel: string, text: string) => void): RedisClient => {
  const subscriber = createRedisClient(options);
  // The connection for commands already logs the outage. A second log line would repeat it.
  const note = (err: unknown): void =>
    options.log.debug({ event: 'redis.subscribe_failed', err }, "the connection for replicas' messages failed");
  subscriber.on('error', note);
  subscriber.on('ready', () => void subscriber.subscribe(topicChannel, outcomeChannel).catch(note));
  subscriber.on('message', hear);
  subscriber.connect().catch(note);
  return subscriber;
};

export const createNotices = (options: NoticesOptions): Notices => {
  const { redis, attempt, timing, publishTimeoutMs } = options;
  const topics = createTopics();
  const waiting = createWaiting(timing);
  const subscriber = openSubscriber(options, (channel, text) => {
    if (channel === topicChannel) return topics.tell(text);
    const outcome = decodeOutcome(text);
    if (outcome !== null) waiting.tell(outcome);
  });
  const send = async (channel: string, text: string): Promise<void> => {
    await attempt(publishTimeoutMs, () => redis.publish(channel, text));
  };
  return {
    publish: (topic) => send(topicChannel, topic),
    subscribe: topics.subscribe,
    tellOutcome: (outcome) => send(outcomeChannel, JSON.stringify(outcome)),
    outcomeOf: waiting.outcomeOf,
    close: () => subscriber.disconnect(),
  };
};
