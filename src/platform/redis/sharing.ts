/**
 * What the replicas of one product share besides values: work that is done once for all of them, and messages. Shared
 * state may be lost at any time. Then every replica works for itself, which costs time but is still correct.
 */
import { createSingleFlight } from '../work/single-flight.js';

/** The result of shared work, with its lifetime in milliseconds. Nothing is stored if `lifeMs` is not positive. */
export type Made = { readonly text: string; readonly lifeMs: number };

/** Work that is done once for a key. Its errors are passed to all waiting callers. */
export type SharedWork = {
  /** Whether the stored text is acceptable. Any client of the server can write to it, so the text may be anything. */
  readonly isGood: (text: string) => boolean;
  readonly make: () => Promise<Made>;
  /** Called with the made text if another replica's text is used instead. */
  readonly discard: (text: string) => Promise<void>;
  /** Encodes a failure for the waiting callers. Returns null if each of them must try for itself. */
  readonly encodeFailure: (error: unknown) => string | null;
  readonly decodeFailure: (text: string) => unknown;
};

/** The result of shared work. `isShared` is false if other replicas do not have it. */
export type Shared = { readonly text: string; readonly isShared: boolean };

export type Sharing = {
  /**
   * Returns the stored value of the key, or the result of `make`. One replica calls `make`, and the others wait for its
   * result. If that replica dies or stops, another one soon takes over. Rejects like `make`, or with WaitedTooLong.
   * Keys must not contain `{` or `}`.
   */
  readonly once: (key: string, work: SharedWork) => Promise<Shared>;
  /**
   * Stores the value if no acceptable value is stored. Returns the value that is stored afterwards, perhaps from
   * another replica. Returns null if the server could not be reached.
   */
  readonly offer: (key: string, made: Made, isGood: SharedWork['isGood']) => Promise<string | null>;
  /** Returns a number that changes whenever stored values may have been lost. */
  readonly generation: () => number;
  /** Notifies all replicas, including this one. Some replicas may miss the message. */
  readonly publish: (topic: string) => Promise<void>;
  /** Calls `heard` for each message of the topic. Returns a function that ends the subscription. */
  readonly subscribe: (topic: string, heard: () => void) => () => void;
};

/** Another replica has been working on the value for longer than callers wait. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong';
}

/** Creates the list of this process's listeners for each topic. */
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

/** The store for results of shared work. See `Cache`. */
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
