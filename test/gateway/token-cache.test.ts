import { describe, expect, it } from 'vitest';
import { type CachedToken, createTokenCache, type TokenRequest } from '../../src/gateway/token/cache.js';
import { type Cache, createMemoryCache } from '../../src/platform/caches/cache.js';
import { createLocalSharing } from '../../src/platform/redis/sharing.js';
import { createMovableClock } from './harness.js';

const clock = createMovableClock();
const expiresAtMs = clock.now().getTime() + 600_000;

/** A replica with a shared store. It counts its mints. */
const createReplica = (cache: Pick<Cache, 'get' | 'set'>, apiKey = 'the-api-key', own = clock) => {
  let minted = 0;
  const tokens = createTokenCache({ sharing: createLocalSharing(cache), apiKey, clock: own });
  const wanted: TokenRequest = {
    minimumLifeMs: 60_000,
    mint: async () => {
      minted += 1;
      return { token: `secret-token-${minted}`, expiresAtMs, mintedBy: `request-${minted}` };
    },
    discard: async () => {},
  };
  return { load: async (key: string): Promise<CachedToken> => tokens.load(key, wanted), minted: () => minted };
};

const createStore = () => {
  const values = new Map<string, string>();
  return {
    values,
    get: async (key: string) => values.get(key) ?? null,
    set: async (key: string, value: string) => void values.set(key, value),
  };
};

describe('cached tokens', () => {
  it('are encrypted in a shared cache, so nothing of a token can be read there', async () => {
    const store = createStore();
    const { token, mintedBy } = await createReplica(store).load('key');
    const sealed = store.values.get('key') ?? '';
    expect(sealed.length).toBeGreaterThan(0);
    expect(sealed).not.toContain(token);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain(token);
    const again = createStore();
    await createReplica(again).load('key');
    expect(again.values.get('key')).not.toBe(sealed);
    const other = createReplica(store);
    expect(await other.load('key')).toMatchObject({ token, mintedBy });
    expect(other.minted()).toBe(0);
  });

  it('decrypt only under their own cache key and API key: an entry that was moved is a miss', async () => {
    const store = createStore();
    await createReplica(store).load("tenant A's key");
    const sealed = store.values.get("tenant A's key") ?? '';
    store.values.set("tenant B's key", sealed);
    const moved = createReplica(store);
    await moved.load("tenant B's key");
    expect(moved.minted()).toBe(1);
    expect(store.values.get("tenant B's key")).not.toBe(sealed);
    const stranger = createReplica(store, 'another-api-key');
    await stranger.load("tenant A's key");
    expect(stranger.minted()).toBe(1);
  });

  it.each(['', 'null', '{"token":"x","expiresAtMs":9e15}', 'v1.00000000.', 'v1', `v1.${'A'.repeat(400)}`, '\u0000'])(
    'what an attacker writes to the cache is a miss: %j',
    async (text) => {
      const store = createStore();
      store.values.set('key', text);
      const replica = createReplica(store);
      expect((await replica.load('key')).token).toBe('secret-token-1');
    },
  );

  it('a single changed character is a miss', async () => {
    const store = createStore();
    await createReplica(store).load('key');
    const sealed = store.values.get('key') ?? '';
    for (const at of [0, 5, 14, sealed.length - 1, Math.floor(sealed.length / 2)]) {
      const changed = sealed[at] === 'A' ? 'B' : 'A';
      store.values.set('key', `${sealed.slice(0, at)}${changed}${sealed.slice(at + 1)}`);
      const replica = createReplica(store);
      await replica.load('key');
      // The last character of base64url may contain unused bits. If only those change, the decoded text is the same.
      expect(replica.minted(), `at ${at}`).toBe(at === sealed.length - 1 ? replica.minted() : 1);
    }
  });

  it('are minted again when less than their minimum life is left, in memory and in the shared cache', async () => {
    const own = createMovableClock();
    const replica = createReplica(createMemoryCache({ clock: own }), undefined, own);
    await replica.load('key');
    own.advance(539_999);
    await replica.load('key');
    expect(replica.minted()).toBe(1);
    own.advance(1);
    await replica.load('key');
    expect(replica.minted()).toBe(2);
  });

  it('become one for all replicas again, after each had minted its own', async () => {
    const own = createMovableClock();
    const stores = [createStore(), createStore()];
    let isTorn = true;
    const parted = (index: number) => ({
      get: async (key: string) => (isTorn ? stores[index] : stores[0])?.get(key) ?? null,
      set: async (key: string, value: string) => (isTorn ? stores[index] : stores[0])?.set(key, value),
    });
    const replicas = [0, 1].map((index) => createReplica(parted(index), undefined, own));
    for (const replica of replicas) await replica.load('key');
    stores[0]?.values.clear();
    isTorn = false;
    own.advance(5_000);
    for (const replica of replicas) await replica.load('key');
    await expect
      .poll(async () => new Set((await Promise.all(replicas.map((each) => each.load('key')))).map((t) => t.token)).size)
      .toBe(1);
    expect(replicas.map((replica) => replica.minted())).toEqual([1, 1]);
  });
});
