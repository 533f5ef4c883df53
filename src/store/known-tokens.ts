/** Tokens that were found before, for a database that nobody else writes to: while nothing was written, each is what it was. */
import type { GuestTokenStore } from '../domain/ports.js';
import { createLru } from '../platform/lru.js';

const greatestMemory = 10_000;

type Find = GuestTokenStore['findByHash'];
type Known = { readonly writes: number; readonly found: NonNullable<Awaited<ReturnType<Find>>> };

/** `writes` as `Database` has it; null: nothing is remembered. */
export const rememberTokens = (find: Find, writes: (() => number) | null): Find => {
  if (writes === null) return find;
  const known = createLru<string, Known>(greatestMemory);
  return async (hash) => {
    const before = writes();
    const there = known.get(hash);
    if (there?.writes === before) return there.found;
    const found = await find(hash);
    if (found === undefined) known.delete(hash);
    else known.set(hash, { writes: before, found });
    return found;
  };
};
