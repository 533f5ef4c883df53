import { LRUCache } from 'lru-cache';

type Options<Value> = {
  /** The size of a value, 1 or more. Left out: each counts 1. */
  readonly sizeOf?: ((value: Value) => number) | undefined;
  /** Whether a value is of no more use. */
  readonly isOver?: ((value: Value) => boolean) | undefined;
  /** Called with each value that was removed because the maximum was reached. */
  readonly evicted?: ((value: Value) => void) | undefined;
};

/** Fewer values than this are not worth a look. */
const fewestToDrop = 500;

/**
 * Creates a cache of up to `max` values, or of that total size. The least recently used value is removed first. A value
 * larger than `max` is not stored. Memory is allocated as it is needed: the `max` option of lru-cache reserves all at once,
 * so a gateway with ten caches took 0.1 s to create.
 *
 * What is over is dropped whenever twice as many values are held as the last time, so it takes no memory until the maximum
 * is reached, and no timer is needed.
 */
export const createLru = <Key extends {}, Value extends {}>(
  max: number,
  { sizeOf = () => 1, isOver, evicted }: Options<Value> = {},
): LRUCache<Key, Value> => {
  let dropAt = fewestToDrop;
  const cache: LRUCache<Key, Value> = new LRUCache<Key, Value>({
    maxSize: max,
    sizeCalculation: sizeOf,
    ...(evicted !== undefined && {
      dispose: (value: Value, _key: Key, reason: string) => {
        if (reason === 'evict') evicted(value);
      },
    }),
    ...(isOver !== undefined && {
      onInsert: () => {
        if (cache.size < dropAt) return;
        for (const [key, value] of [...cache.entries()]) if (isOver(value)) cache.delete(key);
        dropAt = Math.max(fewestToDrop, 2 * cache.size);
      },
    }),
  });
  return cache;
};
