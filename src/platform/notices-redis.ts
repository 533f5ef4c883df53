/** What replicas tell each other over Redis's channels. A notice may be lost, and anyone who reaches Redis can forge one: it only ever makes its hearer look. */

import { z } from 'zod';
import type { Log } from '../domain/log-events.js';
import { type Attempt, createRedisClient, type RedisClient } from './redis.js';
import { createTopics, type Sharing } from './sharing.js';
import type { Timing } from './timing.js';

/** How work under a lease ended; `failure` as its maker encoded it, null: there is a value, or nobody's error to pass on. */
export type Outcome = { readonly key: string; readonly fence: string; readonly failure: string | null };

export type Notices = Pick<Sharing, 'publish' | 'subscribe'> & {
  readonly tellOutcome: (outcome: Outcome) => Promise<void>;
  /** The failure of that fence's holder; null as soon as it ended otherwise, or the time is over. */
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
    // Not ours: whoever waits looks for itself soon.
    return null;
  }
};

const createWaiting = (timing: Timing) => {
  const waiting = new Map<string, (outcome: Outcome) => void>();
  return {
    tell: (outcome: Outcome): void => waiting.get(outcome.key)?.(outcome),
    /** One at a time for a key. */
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
  // The connection for commands tells of the outage: this one would only say it twice.
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
