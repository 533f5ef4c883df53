/**
 * Caches minted tokens: a copy in this process, in front of a cache that the replicas share. Shared entries are sealed
 * with a key derived from the upstream's API key, so nobody can read or add tokens with access to the shared cache
 * alone. A cache key contains everything that its token depends on, including the revocation epochs, so a copy needs no
 * message about a revocation.
 */
import { hkdfSync } from 'node:crypto';
import type { Clock } from '../../model/ports.js';
import { createSealedValues } from '../../platform/keys/sealed-values.js';
import { createSealer } from '../../platform/keys/sealing.js';
import type { Made, SharedWork, Sharing } from '../../platform/redis/sharing.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { dropWhere } from '../common/eraser.js';
import { isGatewayCode } from '../common/wire.js';
import { unavailable } from '../upstream/unavailable.js';

export type CachedToken = {
  readonly token: string;
  readonly expiresAtMs: number;
  /** Id of the request that minted the token. */
  readonly mintedBy: string;
};

export type TokenRequest = {
  /** Minimum remaining life of the token, in milliseconds. */
  readonly minimumLifeMs: number;
  readonly mint: () => Promise<CachedToken>;
  /** Called with a minted token that is not used, because another replica's token is. */
  readonly discard: (token: string) => Promise<void>;
};

export type TokenCache = {
  /** Returns this process's copy if it can be used without I/O. If undefined, call `load`. */
  readonly find: (key: string, minimumLifeMs: number) => CachedToken | undefined;
  /**
   * Returns the cached token of this key, or mints one. All replicas together mint only once. Rejects as `mint` does,
   * or with UPSTREAM_UNAVAILABLE.
   */
  readonly load: (key: string, wanted: TokenRequest) => CachedToken | Promise<CachedToken>;
  /**
   * Returns another token of this key than the dead one: that of another replica, or a new one. No replica returns the
   * dead one for longer than a comparison takes.
   */
  readonly replace: (key: string, dead: string, wanted: TokenRequest) => Promise<CachedToken>;
  /** Deletes this process's copies whose keys begin with `prefix`. Returns their number. */
  readonly forget: (prefix: string) => number;
};

export type TokenCacheOptions = {
  readonly sharing: Sharing;
  /** The same for all replicas, since shared tokens are encrypted with a key derived from it. */
  readonly apiKey: string;
  readonly clock: Clock;
  /** Maximum number of tokens in this process. */
  readonly maxCopies?: number | undefined;
};

/**
 * Interval in milliseconds between comparisons of a copy with the shared token. The comparisons make all replicas
 * return the same token in the end.
 */
const compareAfterMs = 5_000;

const readHeld = (value: unknown): CachedToken | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const { token, expiresAtMs, mintedBy } = value as Partial<Record<keyof CachedToken, unknown>>;
  return typeof token === 'string' && typeof mintedBy === 'string' && Number.isSafeInteger(expiresAtMs)
    ? { token, expiresAtMs: Number(expiresAtMs), mintedBy }
    : undefined;
};

/** Encodes and decodes the entries that the replicas share. */
const createCodec = ({ apiKey, clock }: TokenCacheOptions) => {
  const sealer = createSealer(Buffer.from(hkdfSync('sha256', apiKey, '', 'guestlist: cached guest tokens', 32)));
  const sealed = createSealedValues<CachedToken>({
    sealer,
    read: readHeld,
    isSharedFailure: () => true,
    isCode: isGatewayCode,
    unknownFailure: () => unavailable('mint-failed-elsewhere', new Error('another replica could not mint')),
  });
  const lifeOf = ({ expiresAtMs }: CachedToken, minimumLifeMs: number): number =>
    expiresAtMs - minimumLifeMs - clock.now().getTime();
  const decode = (key: string, text: string): CachedToken | undefined => sealed.decode(key, text);
  return {
    lifeOf,
    decode,
    encode: (key: string, held: CachedToken, minimumLifeMs: number): Made => ({
      text: sealed.encode(key, held),
      lifeMs: lifeOf(held, minimumLifeMs),
    }),
    isGood: (key: string, minimumLifeMs: number) => (text: string) => {
      const held = decode(key, text);
      return held !== undefined && lifeOf(held, minimumLifeMs) > 0;
    },
    encodeFailure: sealed.encodeFailure,
    decodeFailure: sealed.decodeFailure,
  };
};
type Codec = ReturnType<typeof createCodec>;

/** `dead`: a token that is good no more. */
const workOf = (
  codec: Codec,
  key: string,
  { minimumLifeMs, mint, discard }: TokenRequest,
  dead: string | null,
): SharedWork => ({
  isGood: (text) => codec.isGood(key, minimumLifeMs)(text) && codec.decode(key, text)?.token !== dead,
  make: async () => codec.encode(key, await mint(), minimumLifeMs),
  discard: async (text) => {
    const held = codec.decode(key, text);
    if (held !== undefined) await discard(held.token);
  },
  encodeFailure: (error) => codec.encodeFailure(key, error),
  decodeFailure: (text) => codec.decodeFailure(key, text),
});

type Copy = { readonly held: CachedToken; generation: number; comparedAtMs: number };

/** Throws if the text of shared work is none. */
const opened = (held: CachedToken | undefined): CachedToken => {
  if (held === undefined) throw new Error('a token that was just sealed does not open');
  return held;
};

const createReplace =
  (
    copies: { readonly get: (key: string) => Copy | undefined; readonly delete: (key: string) => unknown },
    shareOther: (key: string, dead: string, wanted: TokenRequest) => Promise<CachedToken>,
  ): TokenCache['replace'] =>
  async (key, dead, wanted) => {
    const ask = (): Promise<CachedToken> => {
      if (copies.get(key)?.held.token === dead) copies.delete(key);
      return shareOther(key, dead, wanted);
    };
    const first = await ask();
    // A request that knew nothing of the death may have been under way, and shared its result with this one.
    return first.token === dead ? ask() : first;
  };

export const createTokenCache = (options: TokenCacheOptions): TokenCache => {
  const { sharing, clock, maxCopies = 50_000 } = options;
  const codec = createCodec(options);
  const copies = createLru<string, Copy>(maxCopies, { isOver: ({ held }) => codec.lifeOf(held, 0) <= 0 });
  const shares = createSingleFlight<CachedToken>();
  const comparisons = createSingleFlight<CachedToken>();
  const nowMs = (): number => clock.now().getTime();
  const copy = (key: string, held: CachedToken, comparedAtMs = nowMs()): CachedToken => {
    copies.set(key, { held, generation: sharing.generation(), comparedAtMs });
    return held;
  };
  const share = async (key: string, wanted: TokenRequest, dead: string | null = null): Promise<CachedToken> => {
    const { text, isShared } = await sharing.once(key, workOf(codec, key, wanted, dead));
    const held = opened(codec.decode(key, text));
    return isShared ? copy(key, held) : copy(key, held, Number.NEGATIVE_INFINITY);
  };
  /** Resolves to the shared token if there is one. Otherwise shares this copy and resolves to it. */
  const compare = async (key: string, own: Copy, { minimumLifeMs }: TokenRequest): Promise<CachedToken> => {
    own.generation = sharing.generation();
    own.comparedAtMs = nowMs();
    const made = codec.encode(key, own.held, minimumLifeMs);
    const kept = await sharing.offer(key, made, codec.isGood(key, minimumLifeMs));
    const held = kept === null ? undefined : codec.decode(key, kept);
    return held === undefined || held.token === own.held.token ? own.held : copy(key, held);
  };
  return {
    find: (key, minimumLifeMs) => {
      const own = copies.get(key);
      if (own === undefined || codec.lifeOf(own.held, minimumLifeMs) <= 0) return undefined;
      const isCompared = own.generation === sharing.generation() && nowMs() - own.comparedAtMs < compareAfterMs;
      return isCompared ? own.held : undefined;
    },
    load: (key, wanted) => {
      const own = copies.get(key);
      if (own === undefined || codec.lifeOf(own.held, wanted.minimumLifeMs) <= 0) {
        return shares(key, () => share(key, wanted));
      }
      // If the shared cache lost the token, replicas can have different copies. Compare before the response, so that
      // all use the same one.
      if (own.generation !== sharing.generation()) return comparisons(key, () => compare(key, own, wanted));
      // Not awaited, so that a slow shared cache delays no response. If it fails, the next comparison tries again.
      if (nowMs() - own.comparedAtMs >= compareAfterMs)
        comparisons(key, () => compare(key, own, wanted)).catch(() => {});
      return own.held;
    },
    replace: createReplace(copies, (key, dead, wanted) => shares(key, () => share(key, wanted, dead))),
    forget: (prefix) => dropWhere(copies, (key) => key.startsWith(prefix)),
  };
};
