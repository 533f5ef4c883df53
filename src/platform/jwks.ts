/**
 * The keys that an issuer publishes at a URL (JWKS, RFC 7517). jwks-rsa reads the set; when it is fetched is decided here,
 * because the library counts by the machine's clock, keeps keys one by one, and lets strangers who invent key ids use up
 * the allowance that the refresh of good keys needs. Keys are kept as a set: what the issuer withdraws is gone as a whole.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../domain/ports.js';
import { JwtFault } from './jwt.js';
import { isWeak, type JwtKeys, keysFor, keysNamed, minimumRsaBits, type NamedKey } from './jwt-keys.js';
import type { Log } from './log.js';
import { readText } from './read-text.js';

export type JwksOptions = {
  /** https, or http on this machine. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long one fetch may take, its answer included. */
  readonly timeoutMs?: number;
};

/** From this age on, the set is fetched again; meanwhile the old one serves. */
export const freshForMs = 10 * 60_000;
/** After so long without an attempt to fetch it, the next token waits for one: its key may have been withdrawn meanwhile. */
export const quietForMs = 2 * freshForMs;
/** So long the last set serves while the issuer cannot be reached: a day, because a withdrawn key must end some time. */
export const servedForMs = 24 * 3_600_000;
/** Fetches that keys nobody knows may cause in a minute. */
export const fetchesPerMinute = 5;
/** Time between two attempts to renew an old set. */
export const renewEveryMs = 30_000;
const maxBytes = 256 * 1024;
const maxKeys = 100;

/** Fetches the set: in time, in bounds, and from nowhere but that URL. Of what jwks-rsa does itself, it has no size limit. */
const fetchSet = async (url: string, timeoutMs: number): Promise<{ keys: unknown[] }> => {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await readText(response, maxBytes);
  if (response.status !== 200) throw new Error(`the answer has status ${response.status}`);
  const set: unknown = JSON.parse(text);
  const keys = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined;
  if (!Array.isArray(keys) || keys.length > maxKeys) throw new Error(`the answer is no JWKS of up to ${maxKeys} keys`);
  return { keys };
};

/** One key, and what it is known by: the same key of a later set stays the same object. */
type Published = NamedKey & { readonly id: string };

const readSet = async (url: string, timeoutMs: number, known: readonly Published[]): Promise<readonly Published[]> => {
  // Loaded where it is used: most installations have no JWKS.
  const { default: jwksRsa } = await import('jwks-rsa');
  const client = jwksRsa({ jwksUri: url, cache: false, rateLimit: false, fetcher: (uri) => fetchSet(uri, timeoutMs) });
  const keys = await client.getSigningKeys();
  return keys.map((published) => {
    // The types promise both names; a set may lack them.
    const { kid = null, alg: algorithm = null }: { kid?: string | null; alg?: string | null } = published;
    const pem = published.getPublicKey();
    const id = JSON.stringify([kid, algorithm, pem]);
    return known.find((held) => held.id === id) ?? { id, kid, algorithm, key: createPublicKey(pem) };
  });
};

/** Says the first failure of an outage, and its end. */
const createOutageLog = (url: string, log: Log) => {
  let isDown = false;
  return (error: unknown): void => {
    if (error === undefined && isDown) log.info({ event: 'jwks.recovered', url }, 'the JWKS can be read again');
    if (error !== undefined && !isDown) {
      log.error(
        { event: 'jwks.failed', url, err: error },
        'failed to read the JWKS; sessions signed with an unknown key are refused',
      );
    }
    isDown = error !== undefined;
  };
};

type State = {
  keys: readonly Published[];
  held: ReadonlySet<KeyObject>;
  /** Null: never loaded. */
  loadedAtMs: number | null;
  failure: unknown;
};

/** Fetches into the state, once at a time. Never rejects: a failure keeps what there was. */
const createLoader = ({ url, clock, log, timeoutMs = 5_000 }: JwksOptions, state: State) => {
  const said = createOutageLog(url, log);
  const load = async (): Promise<void> => {
    try {
      const keys = await readSet(url, timeoutMs, state.keys);
      const strong = keys.filter(({ key }) => !isWeak(key));
      if (strong.length < keys.length)
        log.warn({ event: 'jwks.key_ignored', url }, `ignoring RSA keys of the JWKS under ${minimumRsaBits} bits`);
      const held = new Set(strong.map(({ key }) => key));
      Object.assign(state, { keys: strong, held, loadedAtMs: clock.now().getTime(), failure: undefined });
    } catch (error) {
      state.failure = error;
    }
    said(state.failure);
  };
  let flight: Promise<void> | null = null;
  return {
    isLoading: (): boolean => flight !== null,
    load: (): Promise<void> => {
      flight ??= load().finally(() => {
        flight = null;
      });
      return flight;
    },
  };
};

/** Lets so many pass within a minute. */
const createAllowance = (perMinute: number) => {
  let passed: readonly number[] = [];
  return (nowMs: number): boolean => {
    passed = passed.filter((at) => Math.abs(nowMs - at) < 60_000);
    if (passed.length >= perMinute) return false;
    passed = [...passed, nowMs];
    return true;
  };
};

/** The keys at a URL, kept and renewed. Finding rejects with JwtFault where there is none of that name. */
export const createJwks = (options: JwksOptions): JwtKeys => {
  const state: State = { keys: [], held: new Set(), loadedAtMs: null, failure: undefined };
  const loader = createLoader(options, state);
  const isAllowed = createAllowance(fetchesPerMinute);
  let renewedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether the set still counts as it is; renews an old one beside. */
  const isServed = (nowMs: number): boolean => {
    if (state.loadedAtMs === null || nowMs - state.loadedAtMs >= servedForMs) return false;
    if (nowMs - Math.max(state.loadedAtMs, renewedAtMs) >= quietForMs) return false;
    if (nowMs - state.loadedAtMs >= freshForMs && nowMs - renewedAtMs >= renewEveryMs) {
      renewedAtMs = nowMs;
      void loader.load();
    }
    return true;
  };
  const now = (): number => options.clock.now().getTime();
  const named = (kid: string | null): readonly NamedKey[] => (isServed(now()) ? keysNamed(state.keys, kid) : []);
  const fetchNamed = async (kid: string | null): Promise<readonly NamedKey[]> => {
    // Who comes while a fetch runs waits for it, and counts as none.
    if (loader.isLoading() || isAllowed(now())) {
      await loader.load();
      renewedAtMs = now();
    }
    const found = named(kid);
    if (found.length > 0) return found;
    throw new JwtFault(state.failure === undefined ? 'unknown-key' : 'keys-unavailable', state.failure);
  };
  return {
    find: (kid, algorithm) => {
      const found = named(kid);
      if (found.length > 0) return keysFor(found, algorithm);
      return fetchNamed(kid).then((fetched) => keysFor(fetched, algorithm));
    },
    holds: (key) => isServed(now()) && state.held.has(key),
  };
};
