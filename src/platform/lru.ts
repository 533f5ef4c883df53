import { LRUCache } from 'lru-cache';

/**
 * Holds up to `max` values; the least recently used goes first. Room is taken as it is used: lru-cache's own `max` reserves all of
 * it at once, and a gateway with ten of them took a tenth of a second to make.
 */
export const createLru = <Key extends {}, Value extends {}>(max: number): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({ maxSize: max, sizeCalculation: () => 1 });

/** Holds values up to `max` in all, each as large as `sizeOf` says (1 or more); the least recently used goes first, and one that is larger than all is not held. */
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
