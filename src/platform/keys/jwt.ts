/**
 * Verifies tokens of several issuers. Read `verifyJwt` first: the token's `iss` selects an issuer, and then only that
 * issuer's algorithms, keys, audience and tolerance are used. The caller passes in the clock. This file does not decide
 * where a token may come from or what it permits.
 */

import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { isRecord } from '../../model/is-record.js';
import { type JwtAlgorithm, type JwtKeys, jwtAlgorithms } from './jwt-keys.js';

/** One accepted issuer. `issuer` is null for tokens without `iss` or with an `iss` that no other issuer has. */
export type JwtIssuer = {
  readonly issuer: string | null;
  /** Accepted audiences. At least one must be in the token. Not checked if undefined. */
  readonly audience?: string | readonly string[] | undefined;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly clockToleranceSeconds: number;
  readonly keys: JwtKeys;
};

export type JwtClaims = Readonly<Record<string, unknown>>;

/** A token with verified signature and claims. Times are in seconds since the epoch. */
export type VerifiedJwt = {
  readonly claims: JwtClaims;
  readonly expiresAtSeconds: number;
  readonly notBeforeSeconds: number | null;
  readonly clockToleranceSeconds: number;
  /** Whether the issuer still has the signing key. Called for every request. */
  readonly isKeyHeld: () => boolean;
};

export type JwtFaultReason =
  | 'malformed'
  | 'too-long'
  | 'critical-extension'
  | 'unknown-issuer'
  | 'algorithm-not-allowed'
  | 'unknown-key'
  | 'keys-unavailable'
  | 'not-verified'
  | 'expired'
  | 'not-yet-valid'
  | 'issued-in-the-future';

/** Thrown if a token is not accepted. `reason`, the message and the cause are only for the log. */
export class JwtFault extends Error {
  override readonly name = 'JwtFault';
  readonly reason: JwtFaultReason;

  /** `of`: what the token was verified with, for the message. */
  constructor(reason: JwtFaultReason, cause?: unknown, of = '') {
    super(`token refused: ${reason}${of}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Maximum length of a token in characters: header, payload and signature together. Longer tokens are refused unread. */
const maxJwtLength = 8192;
const maxKidLength = 255;

const decodeJson = (part: string | undefined): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  } catch (cause) {
    throw new JwtFault('malformed', cause);
  }
  if (!isRecord(value)) throw new JwtFault('malformed');
  return value;
};

/** Unverified claims of a token. They only select what the token is verified with. */
type Claimed = { readonly issuer: string | null; readonly algorithm: string; readonly kid: string | null };

const claimedBy = (token: string): Claimed => {
  if (token.length > maxJwtLength) throw new JwtFault('too-long');
  const parts = token.split('.');
  if (parts.length !== 3) throw new JwtFault('malformed');
  const header = decodeJson(parts[0]);
  const { iss } = decodeJson(parts[1]);
  // RFC 7515, 4.1.11: a critical extension that is not understood makes the token invalid. No extension is supported
  // here. Other header fields, such as keys (jwk, x5c) and key URLs (jku, x5u), are never read.
  if ('crit' in header) throw new JwtFault('critical-extension');
  const { alg, kid = null } = header;
  if (typeof alg !== 'string') throw new JwtFault('malformed');
  if (kid !== null && (typeof kid !== 'string' || kid === '' || kid.length > maxKidLength)) {
    throw new JwtFault('malformed');
  }
  if (iss !== undefined && (typeof iss !== 'string' || iss === '')) throw new JwtFault('malformed');
  return { issuer: iss ?? null, algorithm: alg, kid };
};

const issuerOf = (issuers: readonly JwtIssuer[], claimed: string | null): JwtIssuer => {
  const found =
    issuers.find(({ issuer }) => issuer !== null && issuer === claimed) ??
    issuers.find(({ issuer }) => issuer === null);
  if (found === undefined)
    throw new JwtFault('unknown-issuer', undefined, `; its "iss" is ${JSON.stringify(claimed?.slice(0, 200) ?? null)}`);
  return found;
};

const algorithmOf = ({ algorithms }: JwtIssuer, claimed: string): JwtAlgorithm => {
  const found = algorithms.find((algorithm) => algorithm === claimed);
  if (found === undefined) throw new JwtFault('algorithm-not-allowed');
  return found;
};

const faultOf = (error: unknown): JwtFault => {
  if (error instanceof jwt.TokenExpiredError) return new JwtFault('expired', error);
  if (error instanceof jwt.NotBeforeError) return new JwtFault('not-yet-valid', error);
  return new JwtFault('not-verified', error);
};

/** Checks times that the library does not check: `exp` is required, and `iat` must not be in the future. */
const checkTimes = (claims: Record<string, unknown>, latestSeconds: number): number => {
  const { exp, iat } = claims;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new JwtFault('malformed', new Error('exp is required'));
  if (iat !== undefined && typeof iat !== 'number') throw new JwtFault('malformed', new Error('iat is no time'));
  if (iat !== undefined && iat > latestSeconds) throw new JwtFault('issued-in-the-future');
  return exp;
};

type Pinned = { readonly issuer: JwtIssuer; readonly algorithm: JwtAlgorithm; readonly nowSeconds: number };

/** For EdDSA, which jsonwebtoken does not know. Loaded on first use: most issuers sign otherwise. */
const verifyEdDsa = async (token: string, key: KeyObject, { issuer, nowSeconds }: Pinned): Promise<unknown> => {
  const { errors, jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['EdDSA'],
      currentDate: new Date(nowSeconds * 1000),
      clockTolerance: issuer.clockToleranceSeconds,
      ...(issuer.issuer === null ? {} : { issuer: issuer.issuer }),
      ...(issuer.audience === undefined ? {} : { audience: [issuer.audience].flat() }),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new JwtFault('expired', error);
    const isEarly =
      error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf' && error.reason === 'check_failed';
    throw new JwtFault(isEarly ? 'not-yet-valid' : 'not-verified', error);
  }
};

type OfLibrary = Pinned & { readonly algorithm: Exclude<JwtAlgorithm, 'EdDSA'> };

const verifySignature = (token: string, key: KeyObject, { issuer, algorithm, nowSeconds }: OfLibrary): unknown => {
  try {
    return jwt.verify(token, key, {
      algorithms: [algorithm],
      clockTimestamp: nowSeconds,
      clockTolerance: issuer.clockToleranceSeconds,
      ...(issuer.issuer === null ? {} : { issuer: issuer.issuer }),
      ...(issuer.audience === undefined ? {} : { audience: [issuer.audience].flat() as [string, ...string[]] }),
    });
  } catch (error) {
    throw faultOf(error);
  }
};

const verifyWithKey = async (token: string, key: KeyObject, pinned: Pinned): Promise<VerifiedJwt> => {
  const { issuer, algorithm, nowSeconds } = pinned;
  const { keys, clockToleranceSeconds } = issuer;
  const claims =
    algorithm === 'EdDSA'
      ? await verifyEdDsa(token, key, pinned)
      : verifySignature(token, key, { issuer, algorithm, nowSeconds });
  if (!isRecord(claims)) throw new JwtFault('malformed');
  const expiresAtSeconds = checkTimes(claims, nowSeconds + clockToleranceSeconds);
  return {
    claims,
    expiresAtSeconds,
    notBeforeSeconds: typeof claims.nbf === 'number' ? claims.nbf : null,
    clockToleranceSeconds,
    isKeyHeld: () => keys.holds(key),
  };
};

const verifyWithAny = async (token: string, keys: readonly KeyObject[], pinned: Pinned): Promise<VerifiedJwt> => {
  // The error is created only when needed, because it costs as much as the rest of a verification with a secret.
  let fault: JwtFault | undefined;
  for (const key of keys) {
    try {
      return await verifyWithKey(token, key, pinned);
    } catch (error) {
      if (!(error instanceof JwtFault) || error.reason !== 'not-verified') throw error;
      fault = error;
    }
  }
  throw fault ?? new JwtFault('unknown-key');
};

/** Which signature was verified: with the keys of which issuer, by which algorithm, and by which key of the header. */
const describeChoice = ({ issuer }: JwtIssuer, { algorithm, kid }: Claimed): string => {
  const named = issuer === null ? 'the issuer without a name' : `issuer ${JSON.stringify(issuer)}`;
  const key = kid === null ? 'no key id' : `key id ${JSON.stringify(kid)}`;
  return `; the signature was to fit ${named}, with ${JSON.stringify(algorithm.slice(0, 20))} and ${key}`;
};

/**
 * Verifies signature, issuer, audience, `exp` (required), `nbf` and `iat`. Rejects with JwtFault. Calls
 * `assertMayVerify`, which may throw, before it looks for a key.
 */
export const verifyJwt = async (
  token: string,
  issuers: readonly JwtIssuer[],
  nowSeconds: number,
  assertMayVerify: () => void = () => {},
): Promise<VerifiedJwt> => {
  const claimed = claimedBy(token);
  const issuer = issuerOf(issuers, claimed.issuer);
  try {
    const algorithm = algorithmOf(issuer, claimed.algorithm);
    // The expensive steps come last. A malformed token was already refused above.
    assertMayVerify();
    const keys = await issuer.keys.find(claimed.kid, algorithm);
    return await verifyWithAny(token, keys, { issuer, algorithm, nowSeconds });
  } catch (error) {
    if (!(error instanceof JwtFault)) throw error;
    const why = error.cause instanceof Error ? ` (${error.cause.message})` : '';
    throw new JwtFault(error.reason, error.cause, `${why}${describeChoice(issuer, claimed)}`);
  }
};

export const hasEnded = ({ expiresAtSeconds, clockToleranceSeconds }: VerifiedJwt, nowSeconds: number): boolean =>
  nowSeconds >= expiresAtSeconds + clockToleranceSeconds;

/** Checks the times of a token that was verified before. Throws the same JwtFault as `verifyJwt` would now. */
export const assertStillValid = (token: VerifiedJwt, nowSeconds: number): void => {
  const { notBeforeSeconds, clockToleranceSeconds } = token;
  if (hasEnded(token, nowSeconds)) throw new JwtFault('expired');
  if (notBeforeSeconds !== null && notBeforeSeconds > nowSeconds + clockToleranceSeconds) {
    throw new JwtFault('not-yet-valid');
  }
};

/** What a token says of itself. Nothing of it is verified: for people who look for a fault. */
export type UnverifiedJwt = {
  readonly header: { readonly algorithm: string; readonly keyId: string | null };
  readonly claims: JwtClaims;
};

/** Null: the text is no JWT. */
export const readUnverified = (token: string): UnverifiedJwt | null => {
  const decoded = jwt.decode(token, { complete: true });
  if (decoded === null || !isRecord(decoded.payload)) return null;
  const { alg, kid } = decoded.header;
  return { header: { algorithm: String(alg), keyId: kid ?? null }, claims: decoded.payload };
};

/** Throws if issuers cannot be told apart or accept nothing. Both are bugs in the calling code. */
export const assertIssuers = (issuers: readonly JwtIssuer[]): void => {
  const names = issuers.map(({ issuer }) => issuer);
  if (issuers.length === 0) throw new TypeError('issuers: name at least one');
  for (const { issuer, algorithms } of issuers) {
    if (names.filter((name) => name === issuer).length > 1) throw new TypeError(`issuers: ${issuer} is there twice`);
    if (algorithms.length === 0 || !algorithms.every((algorithm) => jwtAlgorithms.includes(algorithm))) {
      throw new TypeError(`issuers: ${issuer} needs algorithms among ${jwtAlgorithms.join(', ')}`);
    }
  }
};
