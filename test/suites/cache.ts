/** What every cache must do. Runs on each implementation. */
import { describe, expect, it } from 'vitest';
import type { Cache } from '../../src/platform/caches/cache.js';

export type CacheUnderTest = {
  readonly cache: () => Cache;
  /** Returns a key that only this run uses. */
  readonly key: (name: string) => string;
  /** Advances the cache's time by at least `ms`. */
  readonly pass: (ms: number) => Promise<void>;
};

/** Registers the suite. */
export const describeCache = (name: string, { cache, key, pass }: CacheUnderTest): void => {
  describe(`a cache: ${name}`, () => {
    it('gives back what it was given, exactly', async () => {
      const text = '{"token":"é\u0000\u{1f6eb}","n":1}';
      await cache().set(key('exact'), text, 60_000);
      expect(await cache().get(key('exact'))).toBe(text);
    });

    it('says null for what it does not hold', async () => {
      expect(await cache().get(key('absent'))).toBeNull();
    });

    it('keeps keys apart, however alike', async () => {
      const keys = ['a', 'A', 'a ', 'a:b', 'á', `${'x'.repeat(500)}1`, `${'x'.repeat(500)}2`].map(key);
      await Promise.all(keys.map((each, index) => cache().set(each, String(index), 60_000)));
      expect(await Promise.all(keys.map((each) => cache().get(each)))).toEqual(keys.map((_, index) => String(index)));
    });

    it('replaces a value, and its time to live', async () => {
      await cache().set(key('replaced'), 'old', 40);
      await cache().set(key('replaced'), 'new', 60_000);
      await pass(60);
      expect(await cache().get(key('replaced'))).toBe('new');
    });

    it('forgets a value after its time to live', async () => {
      await cache().set(key('short'), 'value', 30);
      await pass(40);
      expect(await cache().get(key('short'))).toBeNull();
    });

    it.each([0, -1])('stores nothing for a time to live of %i, and removes an earlier value', async (ttlMs) => {
      await cache().set(key('none'), 'value', 60_000);
      await cache().set(key('none'), 'value', ttlMs);
      expect(await cache().get(key('none'))).toBeNull();
    });

    it('takes a time to live with a fraction', async () => {
      await cache().set(key('fraction'), 'value', 60_000.5);
      expect(await cache().get(key('fraction'))).toBe('value');
    });

    it('a cache forgets what is deleted', async () => {
      await cache().set(key('deleted'), 'value', 60_000);
      await cache().delete(key('deleted'));
      await cache().delete(key('never there'));
      expect(await cache().get(key('deleted'))).toBeNull();
    });

    it('deletes by prefix, whose wildcards are plain text', async () => {
      const own = ['p*[a]?:1', 'p*[a]?:2', 'p*[a]?:'].map(key);
      const others = ['p*[a]', 'pxa?:1', 'pxxaa:1', 'p*[b]?:1'].map(key);
      for (const each of [...own, ...others]) await cache().set(each, 'value', 60_000);
      expect(await cache().deleteByPrefix(key('p*[a]?:'))).toBe(3);
      expect(await cache().deleteByPrefix(key('p*[a]?:'))).toBe(0);
      const left = await Promise.all([...own, ...others].map((each) => cache().get(each)));
      expect(left.map((value) => value !== null)).toEqual([...own.map(() => false), ...others.map(() => true)]);
    });
  });
};
