/** Sharing over Redis: sharing.ts says what it promises, sharing-scripts.ts what is one step of Redis. */
import type { Log } from '../domain/log-events.js';
import { createNotices, type Notices } from './notices-redis.js';
import type { Attempt, RedisClient } from './redis.js';
import { repeat } from './repeat.js';
import { type Made, type Shared, type SharedWork, type Sharing, WaitedTooLong } from './sharing.js';
import { beatScript, offerScript, releaseScript, storeScript, takeScript } from './sharing-scripts.js';
import { createSingleFlight } from './single-flight.js';
import { systemTiming, type Timing } from './timing.js';

/** In milliseconds. */
export type SharingLimits = {
  /** A holder that is dead or stopped for this long has lost it to the next. */
  readonly leaseMs: number;
  /** How often who waits looks for itself, should no notice arrive. */
  readonly pollMs: number;
  readonly maxWaitMs: number;
  /** Longer than that of a cached value's command: what is at stake is work done twice. */
  readonly commandTimeoutMs: number;
};

const usualLimits: SharingLimits = { leaseMs: 3_000, pollMs: 150, maxWaitMs: 30_000, commandTimeoutMs: 2_000 };
/** A holder that was stopped for longer than this may store what it made. */
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

/** The braces keep the three in one slot of a cluster: the slot of the bare key. */
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

/** The commands. Null: Redis could not be asked. */
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

/** Makes it under a lease. Null: another's is to be taken. */
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
    // Neither fails, and the answer need not wait for them.
    void commands.release(names, fence).then(() => notices.tellOutcome({ key: names.value, fence, failure }));
  }
};

const runOnce = async (parts: Parts, key: string, work: SharedWork): Promise<Shared> => {
  const { commands, notices, timing, limits } = parts;
  const names = namesOf(key);
  const latestMs = timing.nowMs() + limits.maxWaitMs;
  let rejected = '';
  for (;;) {
    // Whatever is found: who can write to the server could go on putting something else there for ever.
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

/** Its connection for notices is opened by the way, and again after each outage. */
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
