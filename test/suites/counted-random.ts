/**
 * Random ids and bytes that are counted instead, for what `runCounted` calls and everything that it starts: two installations
 * that do the same then have the same ids and keys, and lists in the order of ids are alike.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto, { type randomBytes, type randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Count = { readonly first: number; ids: number; bytes: number };

const counts = new AsyncLocalStorage<Count>();
const real = { randomUUID: crypto.randomUUID, randomBytes: crypto.randomBytes };

const countedUuid: typeof randomUUID = (options) => {
  const count = counts.getStore();
  if (count === undefined) return real.randomUUID(options);
  count.ids += 1;
  return `${count.first.toString(16).padStart(8, '0')}-0000-4000-8000-${count.ids.toString(16).padStart(12, '0')}`;
};

const countedBytes = (size: number, done?: (error: Error | null, bytes: Buffer) => void): Buffer | undefined => {
  const count = counts.getStore();
  if (count === undefined || done !== undefined) {
    if (done === undefined) return real.randomBytes(size);
    real.randomBytes(size, done);
    return undefined;
  }
  count.bytes += 1;
  const hash = crypto.createHash('shake256', { outputLength: size });
  return hash.update(String(count.bytes)).digest();
};

/** Counts from now on, until the returned function is called. */
export const countRandom = () => {
  Object.assign(crypto, { randomUUID: countedUuid, randomBytes: countedBytes as typeof randomBytes });
  syncBuiltinESMExports();
  return {
    /** Ids begin with `first`, and are counted from the beginning. */
    runCounted: <T>(first: number, work: () => Promise<T>): Promise<T> => counts.run({ first, ids: 0, bytes: 0 }, work),
    restore: (): void => {
      Object.assign(crypto, real);
      syncBuiltinESMExports();
    },
  };
};
