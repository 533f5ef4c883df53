import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of up to `max` values. The least recently used value is removed first. Memory is allocated as it is
 * needed. The `max` option of lru-cache reserves all memory at once, so a gateway with ten caches took 0.1 s to create.
 */
export const createLru = <Key extends {}, Value extends {}>(max: number): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({ maxSize: max, sizeCalculation: () => 1 });

/**
 * Creates a cache with a total size of up to `max`. `sizeOf` returns the size of a value (1 or more). The least
 * recently used value is removed first. A value larger than `max` is not stored.
 */
export const createSizedLru = <Key extends {}, Value extends {}>(
  max: number,
  sizeOf: (value: Value) => number,
  evicted: () => void,
): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({
    maxSize: max,
    sizeCalculation: sizeOf,
    dispose: (_value, _key, reason) => {
      if (reason === 'evict') evicted();
    },
  });
