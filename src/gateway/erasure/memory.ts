/** What this process holds of a tenant to answer faster. Elsewhere it ends by itself: what expires there, or with the process. */
import type { LRUCache } from 'lru-cache';
import type { Eraser } from './eraser.js';

/** Answers how many entries there were. */
export type ForgetClient = (clientId: string) => number;

export const dropWhere = <Key extends object | string, Value extends object>(
  held: LRUCache<Key, Value>,
  isOfClient: (key: Key, value: Value) => boolean,
): number => {
  const found = [...held.entries()].filter(([key, value]) => isOfClient(key, value));
  for (const [key] of found) held.delete(key);
  return found.length;
};

export const createMemoryEraser = (parts: readonly ForgetClient[]): Eraser => ({
  where: "this gateway's memory",
  erase: async ({ clientId }) => ({
    erased: { entries: parts.reduce((sum, forget) => sum + forget(clientId), 0) },
  }),
});
