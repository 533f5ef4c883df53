/** The token lookup cache. It serves a database that only this process writes to: any write clears it, so a hit is always current. */

import { createLru } from '../../platform/work/lru.js';
import type { GuestTokenStore } from './guest-tokens.js';

const maxTokens = 10_000;

type Find = GuestTokenStore['findByHash'];
type Found = NonNullable<Awaited<ReturnType<Find>>>;

/**
 * `find` with a cache before it. `writes` counts the database's writes; null: other processes write too, and nothing is cached. Any write
 * clears the cache, so erased tokens cannot be served.
 */
export const cacheTokenLookups = (find: Find, writes: (() => number) | null): Find => {
  if (writes === null) return find;
  const cached = createLru<string, Found>(maxTokens);
  let cachedAt = writes();
  return async (hash) => {
    const before = writes();
    if (cachedAt !== before) cached.clear();
    cachedAt = before;
    const there = cached.get(hash);
    if (there !== undefined) return there;
    const found = await find(hash);
    if (found !== undefined && writes() === before) cached.set(hash, found);
    return found;
  };
};
