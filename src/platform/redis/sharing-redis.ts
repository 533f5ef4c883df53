/** Implements `Sharing` over Redis. sharing.ts defines the contract, and sharing-scripts.ts holds the atomic steps. */
import type { Log } from '../../model/log-events.js';
import { createSingleFlight } from '../work/single-flight.js';
import { repeat, systemTiming, type Timing } from '../work/time.js';
import { createNotices, type Notices } from './notices-redis.js';
import type { Attempt, RedisClient } from './redis.js';
import { type Made, type Shared, type SharedWork, type Sharing, WaitedTooLong } from './sharing.js';
import { beatScript, offerScript, releaseScript, storeScript, takeScript } from './sharing-scripts.js';

/** Limits in milliseconds. */
export type SharingLimits = {
  /** A holder that is dead or stopped for this time loses the lease to the next replica. */
  readonly leaseMs: number;
  /** How often a waiting replica polls, in case no message arrives. */
  readonly pollMs: number;
  readonly maxWaitMs: number;
  /** Maximum time of one command. Longer than for a cached value, because a failure makes two replicas do the same work. */
  readonly commandTimeoutMs: number;
};

const usualLimits: SharingLimits = { leaseMs: 3_000, pollMs: 150, maxWaitMs: 30_000, commandTimeoutMs: 2_000 };
/** A holder that was stopped for longer than this time may store its value without a fence check. */
const fenceLifeMs = 3_600_000;

export type RedisSharingOptions = {
  readonly redis: RedisClient;
  readonly attempt: Attempt;
  readonly url: string;
  readonly log: Log;
  readonly sharingLimits?: Partial<SharingLimits> | undefined;
  readonly timing?: Timing | undefined;
};

type Names = { readonly value: string; readonly lease: string; readonly fence: string };

/** The braces place the three keys in one slot of a cluster: the slot of the bare key. */
const namesOf = (key: string): Names => {
  if (/[{}]/.test(key)) throw new Error('a shared key holds a brace');
  return { value: key, lease: `{${key}}:lease`, fence: `{${key}}:fence` };
};

type Reply = readonly (string | number)[];
type Taken =
  | { readonly kind: 'there'; readonly text: string }
  | { readonly kind: 'held'; readonly fence: string; readonly leftMs: number }
  | { readonly kind: 'taken'; readonly fence: string };

const takenOf = ([kind, text, leftMs]: Reply): Taken => {
  if (kind === 'there') return { kind, text: String(text) };
  return kind === 'held'
    ? { kind, fence: String(text), leftMs: Number(leftMs) }
    : { kind: 'taken', fence: String(text) };
};

/** The Redis commands. They return null if Redis could not be reached. */
const createCommands = ({ redis, attempt }: RedisSharingOptions, limits: SharingLimits) => {
  const run = <T>(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<T | null> =>
    attempt(limits.commandTimeoutMs, async () => (await redis.eval(script, keys.length, ...keys, ...args)) as T);
  const all = ({ value, lease, fence }: Names) => [value, lease, fence];
  return {
    take: async (names: Names, rejected: string) => {
      const reply = await run<Reply>(takeScript, all(names), [limits.leaseMs, fenceLifeMs, rejected]);
      return reply === null ? null : takenOf(reply);
    },
    store: (names: Names, fence: string, { text, lifeMs }: Made, rejected: string) =>
      run<Reply>(storeScript, all(names), [fence, text, Math.floor(lifeMs), rejected]),
    beat: (names: Names, fence: string) => run<number>(beatScript, [names.lease], [fence, limits.leaseMs]),
    release: (names: Names, fence: string) => run<number>(releaseScript, [names.lease], [fence]),
    offer: (key: string, { text, lifeMs }: Made, rejected: string) =>
      run<string>(offerScript, [key], [text, Math.floor(lifeMs), rejected]),
  };
};
type Commands = ReturnType<typeof createCommands>;

type Parts = {
  readonly commands: Commands;
  readonly notices: Notices;
  readonly timing: Timing;
  readonly limits: SharingLimits;
};

/** Makes the value under a lease. Returns null if another replica's value must be used. */
const hold = async (
  { commands, notices, timing, limits }: Parts,
  names: Names,
  fence: string,
  rejected: string,
  work: SharedWork,
): Promise<Shared | null> => {
  const stop = repeat(timing, limits.leaseMs / 3, async () => void (await commands.beat(names, fence)));
  let failure: string | null = null;
  try {
    const made = await work.make();
    const reply = await commands.store(names, fence, made, rejected);
    if (reply === null) return { text: made.text, isShared: false };
    if (reply[0] === 'stored') return { text: made.text, isShared: true };
    await work.discard(made.text);
    return null;
  } catch (error) {
    failure = work.encodeFailure(error);
    throw error;
  } finally {
    stop();
    // Neither of these calls rejects, and the response need not wait for them.
    void commands.release(names, fence).then(() => notices.tellOutcome({ key: names.value, fence, failure }));
  }
};

const runOnce = async (parts: Parts, key: string, work: SharedWork): Promise<Shared> => {
  const { commands, notices, timing, limits } = parts;
  const names = namesOf(key);
  const latestMs = timing.nowMs() + limits.maxWaitMs;
  let rejected = '';
  for (;;) {
    // The time limit applies whatever the key holds, because a client of Redis could replace the value again and again.
    if (timing.nowMs() > latestMs) throw new WaitedTooLong('another replica has been making it for too long');
    const taken = await commands.take(names, rejected);
    if (taken === null) return { text: (await work.make()).text, isShared: false };
    if (taken.kind === 'there') {
      if (work.isGood(taken.text)) return { text: taken.text, isShared: true };
      rejected = taken.text;
    } else if (taken.kind === 'held') {
      const failure = await notices.outcomeOf(key, taken.fence, Math.max(1, Math.min(taken.leftMs, limits.pollMs)));
      if (failure !== null) throw work.decodeFailure(failure);
    } else {
      const shared = await hold(parts, names, taken.fence, rejected, work);
      if (shared !== null) return shared;
    }
  }
};

/** Creates sharing over Redis. The connection for messages opens in the background, and again after each outage. */
export const createRedisSharing = (
  options: RedisSharingOptions,
): { readonly sharing: Sharing; readonly close: () => void } => {
  const { redis, timing = systemTiming } = options;
  const limits = { ...usualLimits, ...options.sharingLimits };
  const commands = createCommands(options, limits);
  const notices = createNotices({ ...options, timing, publishTimeoutMs: limits.commandTimeoutMs });
  const parts = { commands, notices, timing, limits };
  const flight = createSingleFlight<Shared>();
  let generation = 0;
  redis.on('ready', () => {
    generation += 1;
  });
  const offer: Sharing['offer'] = async (key, made, isGood) => {
    if (made.lifeMs < 1) return made.text;
    const kept = await commands.offer(key, made, '');
    return kept === null || isGood(kept) ? kept : commands.offer(key, made, kept);
  };
  return {
    sharing: {
      once: (key, work) => flight(key, () => runOnce(parts, key, work)),
      offer,
      generation: () => generation,
      publish: notices.publish,
      subscribe: notices.subscribe,
    },
    close: notices.close,
  };
};
