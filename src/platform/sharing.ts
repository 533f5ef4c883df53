/**
 * What the replicas of one product share beside values: work that is done once over all of them, and notices. It may be lost at
 * any time: then every replica works for itself, and nothing is wrong but the cost.
 */
import { createSingleFlight } from './single-flight.js';

/** What work gave, and for how long it may be answered. Nothing is kept where `lifeMs` is not positive. */
export type Made = { readonly text: string; readonly lifeMs: number };

/** Work that is done once for a key, its errors told to whoever waits for it. */
export type SharedWork = {
  /** Whether what is found under the key will do. Anything may be there: who reaches the server can write to it. */
  readonly isGood: (text: string) => boolean;
  readonly make: () => Promise<Made>;
  /** Called with what was made where another replica's is taken instead. */
  readonly discard: (text: string) => Promise<void>;
  /** A failure as those who wait get it; null: they try for themselves. */
  readonly encodeFailure: (error: unknown) => string | null;
  readonly decodeFailure: (text: string) => unknown;
};

/** `isShared` false: the others do not know of it. */
export type Shared = { readonly text: string; readonly isShared: boolean };

export type Sharing = {
  /**
   * What is kept under the key, or what `make` gives: one replica makes it, and the others wait for that. Who makes it may die or
   * stop: another takes over soon. Rejects as `make` does, and with WaitedTooLong. Keys hold no `{` and no `}`.
   */
  readonly once: (key: string, work: SharedWork) => Promise<Shared>;
  /** Keeps it where nothing good is; answers what is kept then, another's perhaps. Null: nobody could be asked. */
  readonly offer: (key: string, made: Made, isGood: SharedWork['isGood']) => Promise<string | null>;
  /** Another number whenever what was kept may have been lost. */
  readonly generation: () => number;
  /** Tells all replicas, this one too, that there is news. Some may never hear it. */
  readonly publish: (topic: string) => Promise<void>;
  /** Answers what ends it. */
  readonly subscribe: (topic: string, heard: () => void) => () => void;
};

/** Another replica has been at it for longer than anyone waits. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong';
}

/** Who wants to hear of which topic, in this process. */
export const createTopics = () => {
  const listeners = new Map<string, Set<() => void>>();
  return {
    tell: (topic: string): void => {
      for (const heard of listeners.get(topic) ?? []) heard();
    },
    subscribe: (topic: string, heard: () => void): (() => void) => {
      const those = listeners.get(topic) ?? new Set();
      listeners.set(topic, those.add(heard));
      return () => void those.delete(heard);
    },
  };
};

/** Where results of shared work are kept; see `Cache`. */
type Results = {
  readonly get: (key: string) => Promise<string | null>;
  readonly set: (key: string, value: string, ttlMs: number) => Promise<void>;
};

/** Single flight within one process. */
export const createLocalSharing = (cache: Results): Sharing => {
  const flight = createSingleFlight<Shared>();
  const offers = createSingleFlight<string>();
  const topics = createTopics();
  const findGood = async (key: string, isGood: SharedWork['isGood']): Promise<string | null> => {
    const text = await cache.get(key);
    return text !== null && isGood(text) ? text : null;
  };
  const keep = async (key: string, { text, lifeMs }: Made): Promise<string> => {
    await cache.set(key, text, lifeMs);
    return text;
  };
  return {
    once: (key, work) =>
      flight(key, async () => ({
        text: (await findGood(key, work.isGood)) ?? (await keep(key, await work.make())),
        isShared: true,
      })),
    offer: (key, made, isGood) => offers(key, async () => (await findGood(key, isGood)) ?? (await keep(key, made))),
    generation: () => 0,
    publish: async (topic) => topics.tell(topic),
    subscribe: topics.subscribe,
  };
};
