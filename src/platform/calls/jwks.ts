/**
 * The keys that an issuer publishes at a URL (JWKS, RFC 7517). jwks-rsa reads the set. This file decides when to fetch
 * it, because the library uses the machine's clock, caches keys one by one, and lets strangers with invented key ids
 * use up the fetches that the refresh of valid keys needs. Keys are kept as a set, so that withdrawn keys disappear
 * with the next fetch.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import { isLoopback } from '../addresses/addresses.js';
import { keysAddressFault } from '../addresses/keys-address.js';
import { shownUrl } from '../addresses/shown-url.js';
import { JwtFault } from '../keys/jwt.js';
import { isWeak, type JwtKeys, keysFor, keysNamed, minimumRsaBits, type NamedKey } from '../keys/jwt-keys.js';
import type { Log } from '../logs/log.js';
import { discoverIssuer } from './openid-issuer.js';
import { askFrom } from './outgoing.js';

export type JwksOptions = {
  /** An https URL, or an http URL of this machine: of the set, or of the issuer if `isIssuer`. */
  readonly url: string;
  /** Whether the issuer's OpenID document says where the set is. It is read at each fetch. Left out: false. */
  readonly isIssuer?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum time of one fetch in milliseconds, including the response body. Default: 5 seconds. */
  readonly timeoutMs?: number;
};

/** A set of this age is fetched again. The old set is used meanwhile. */
const freshForMs = 10 * 60_000;
/**
 * After this time without an attempt to fetch the set, the next token waits for a fetch, because its key may have been
 * withdrawn.
 */
const quietForMs = 2 * freshForMs;
/**
 * The last set is used for this time while the issuer cannot be reached. The limit is a day, so that a withdrawn key
 * stops working eventually.
 */
const servedForMs = 24 * 3_600_000;
/** Maximum fetches per minute that unknown keys may cause. */
const fetchesPerMinute = 5;
/** Time between two attempts to renew an old set. */
const renewEveryMs = 30_000;
const maxBytes = 256 * 1024;
const maxKeys = 100;
const usualTimeoutMs = 5_000;

type Located = { readonly url: string; readonly timeoutMs: number };

/** Returns where the issuer's document says that its keys are. */
const discoverSet = async (issuer: string, timeoutMs: number): Promise<string> => {
  const mend = 'give the address as jwksUrl in place of discover if it is yours';
  const asked = { issuer, clientId: 'guestlist', clientSecret: null, allowsPrivate: false, mend };
  const found = await discoverIssuer({ ...asked, timeoutSeconds: timeoutMs / 1000 });
  const { jwks_uri: url } = found.serverMetadata();
  if (url === undefined) throw new Error("the issuer's document names no jwks_uri");
  const fault = keysAddressFault(url, isLoopback(new URL(issuer).hostname));
  if (fault !== null) throw new Error(`the jwks_uri of the issuer's document ${fault}`);
  return url;
};

/** Fetches the set with a time limit and a size limit, and follows no redirect. jwks-rsa itself has no size limit. */
const fetchSet = async (url: string, { url: named, timeoutMs }: Located): Promise<{ keys: unknown[] }> => {
  // The configuration names the host, so it may be of the operator's own network. A host that only the document names may not.
  const allowsPrivate = new URL(url).hostname === new URL(named).hostname;
  const response = await askFrom(
    { url, allowsPrivate },
    { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) },
    { maxBytes },
  );
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the answer has status ${response.status}`);
  const set: unknown = JSON.parse(text);
  const keys = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined;
  if (!Array.isArray(keys) || keys.length > maxKeys) throw new Error(`the answer is no JWKS of up to ${maxKeys} keys`);
  return { keys };
};

/** A published key with its `id`. If a later set has the same key, the same object is kept. */
type Published = NamedKey & { readonly id: string; readonly seenAt: Date };

/** The set as this process has it. */
export type ReadSet = {
  readonly keys: readonly (NamedKey & { readonly seenAt: Date })[];
  /** Null: it was never read. */
  readonly readAt: Date | null;
  readonly isFailing: boolean;
};

const readSet = async (
  { url, isIssuer = false, timeoutMs = usualTimeoutMs, clock }: JwksOptions,
  known: readonly Published[],
): Promise<readonly Published[]> => {
  // Imported on first use, because most installations have no JWKS.
  const { default: jwksRsa } = await import('jwks-rsa');
  const jwksUri = isIssuer ? await discoverSet(url, timeoutMs) : url;
  const fetcher = (uri: string) => fetchSet(uri, { url, timeoutMs });
  const client = jwksRsa({ jwksUri, cache: false, rateLimit: false, fetcher });
  const keys = await client.getSigningKeys();
  return keys.map((published) => {
    // The library's types declare both names as present, but a set may lack them.
    const { kid = null, alg: algorithm = null }: { kid?: string | null; alg?: string | null } = published;
    const pem = published.getPublicKey();
    const id = JSON.stringify([kid, algorithm, pem]);
    const found = known.find((held) => held.id === id);
    return found ?? { id, kid, algorithm, key: createPublicKey(pem), seenAt: clock.now() };
  });
};

/** Logs the first failure of an outage and its end. */
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
  /** Null if the set was never loaded. */
  loadedAtMs: number | null;
  failure: unknown;
};

/**
 * Creates a loader that fetches the set into `state`, one fetch at a time. It never rejects. After a failure the
 * previous set is kept.
 */
const createLoader = (options: JwksOptions, state: State) => {
  const { clock, log } = options;
  const url = shownUrl(options.url);
  const said = createOutageLog(url, log);
  const load = async (): Promise<void> => {
    try {
      const keys = await readSet(options, state.keys);
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
      flight ??= handled(
        load().finally(() => {
          flight = null;
        }),
      );
      return flight;
    },
  };
};

/** Allows `perMinute` calls within a minute. */
const createAllowance = (perMinute: number) => {
  let passed: readonly number[] = [];
  return (nowMs: number): boolean => {
    passed = passed.filter((at) => Math.abs(nowMs - at) < 60_000);
    if (passed.length >= perMinute) return false;
    passed = [...passed, nowMs];
    return true;
  };
};

/** Creates the keys of a URL, with cache and renewal. `find` rejects with JwtFault if no key has that name. */
export const createJwks = (options: JwksOptions): JwtKeys & { readonly read: () => ReadSet } => {
  const state: State = { keys: [], held: new Set(), loadedAtMs: null, failure: undefined };
  const loader = createLoader(options, state);
  const isAllowed = createAllowance(fetchesPerMinute);
  let renewedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether the set is still valid. Starts a renewal in the background if the set is old. */
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
    // Callers during a fetch wait for its result and do not count against the limit.
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
    read: () => ({
      keys: state.loadedAtMs === null || now() - state.loadedAtMs >= servedForMs ? [] : state.keys,
      readAt: state.loadedAtMs === null ? null : new Date(state.loadedAtMs),
      isFailing: state.failure !== undefined,
    }),
  };
};
