/** Tokens that were found before, for a database that nobody else writes to: while nothing was written, each is what it was. */
import type { GuestTokenStore } from '../domain/store/credentials.js';
import { createLru } from '../platform/lru.js';

const greatestMemory = 10_000;

type Find = GuestTokenStore['findByHash'];
type Found = NonNullable<Awaited<ReturnType<Find>>>;

/** `writes` as `Database` has it; null: nothing is remembered. What a write may have changed is let go, so that nothing erased stays here. */
export const rememberTokens = (find: Find, writes: (() => number) | null): Find => {
  if (writes === null) return find;
  const known = createLru<string, Found>(greatestMemory);
  let knownAt = writes();
  return async (hash) => {
    const before = writes();
    if (knownAt !== before) known.clear();
    knownAt = before;
    const there = known.get(hash);
    if (there !== undefined) return there;
    const found = await find(hash);
    if (found !== undefined && writes() === before) known.set(hash, found);
    return found;
  };
};
