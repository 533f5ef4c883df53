/**
 * Verifies tokens of several issuers side by side. Read `verifyJwt` first: the token's `iss` chooses an issuer, and from
 * there on that issuer's algorithms, keys, audience and tolerance alone count. The clock is the caller's. Says nothing about
 * where the token came from or what it is good for.
 */
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { type JwtAlgorithm, type JwtKeys, jwtAlgorithms } from './jwt-keys.js';

/** One accepted signer. `issuer` null: for tokens whose `iss` belongs to no named issuer, or that have none. */
export type JwtIssuer = {
  readonly issuer: string | null;
  /** Left out: not checked. Several: one of them must be among the token's. */
  readonly audience?: string | readonly string[] | undefined;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly clockToleranceSeconds: number;
  readonly keys: JwtKeys;
};

export type JwtClaims = Readonly<Record<string, unknown>>;

/** A token whose signature and claims were checked. Times are in seconds since the epoch. */
export type VerifiedJwt = {
  readonly claims: JwtClaims;
  readonly expiresAtSeconds: number;
  readonly notBeforeSeconds: number | null;
  readonly clockToleranceSeconds: number;
  /** Whether its issuer still has the key that it is signed with; asked anew at every request. */
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

/** Why a token is not accepted. `reason` and the cause are for the log. */
export class JwtFault extends Error {
  override readonly name = 'JwtFault';
  readonly reason: JwtFaultReason;

  constructor(reason: JwtFaultReason, cause?: unknown) {
    super(`token refused: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Longest token that is looked at: header, payload and signature together, in characters. */
export const maxJwtLength = 8192;
const maxKidLength = 255;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const decodeJson = (part: string | undefined): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  } catch (cause) {
    throw new JwtFault('malformed', cause);
  }
  if (!isObject(value)) throw new JwtFault('malformed');
  return value;
};

/** What a token says of itself before anything is verified. It only selects what the token is verified with. */
type Claimed = { readonly issuer: string | null; readonly algorithm: string; readonly kid: string | null };

const claimedBy = (token: string): Claimed => {
  if (token.length > maxJwtLength) throw new JwtFault('too-long');
  const parts = token.split('.');
  if (parts.length !== 3) throw new JwtFault('malformed');
  const header = decodeJson(parts[0]);
  const { iss } = decodeJson(parts[1]);
  // RFC 7515, 4.1.11: an extension that is not understood makes the token invalid; none is understood here. What else may
  // be in the header, such as keys (jwk, x5c) and addresses of keys (jku, x5u), is never read.
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
  if (found === undefined) throw new JwtFault('unknown-issuer');
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

/** What every session must say about its times, beyond what the library checks: `exp` always, `iat` only if not to come. */
const checkTimes = (claims: Record<string, unknown>, latestSeconds: number): number => {
  const { exp, iat } = claims;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new JwtFault('malformed', new Error('exp is required'));
  if (iat !== undefined && typeof iat !== 'number') throw new JwtFault('malformed', new Error('iat is no time'));
  if (iat !== undefined && iat > latestSeconds) throw new JwtFault('issued-in-the-future');
  return exp;
};

type Pinned = { readonly issuer: JwtIssuer; readonly algorithm: JwtAlgorithm; readonly nowSeconds: number };

const verifySignature = (token: string, key: KeyObject, { issuer, algorithm, nowSeconds }: Pinned): unknown => {
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

const verifyWithKey = (token: string, key: KeyObject, pinned: Pinned): VerifiedJwt => {
  const { keys, clockToleranceSeconds } = pinned.issuer;
  const claims = verifySignature(token, key, pinned);
  if (!isObject(claims)) throw new JwtFault('malformed');
  const expiresAtSeconds = checkTimes(claims, pinned.nowSeconds + clockToleranceSeconds);
  return {
    claims,
    expiresAtSeconds,
    notBeforeSeconds: typeof claims.nbf === 'number' ? claims.nbf : null,
    clockToleranceSeconds,
    isKeyHeld: () => keys.holds(key),
  };
};

const verifyWithAny = (token: string, keys: readonly KeyObject[], pinned: Pinned): VerifiedJwt => {
  // Made only where it is thrown: an error takes as long as the rest of a verification by a secret.
  let fault: JwtFault | undefined;
  for (const key of keys) {
    try {
      return verifyWithKey(token, key, pinned);
    } catch (error) {
      if (!(error instanceof JwtFault) || error.reason !== 'not-verified') throw error;
      fault = error;
    }
  }
  throw fault ?? new JwtFault('unknown-key');
};

/**
 * Verifies signature, issuer, audience, `exp` (required), `nbf` and `iat`. Rejects with JwtFault. `assertMayVerify` is called before a
 * key is looked for, and may throw.
 */
export const verifyJwt = async (
  token: string,
  issuers: readonly JwtIssuer[],
  nowSeconds: number,
  assertMayVerify: () => void = () => {},
): Promise<VerifiedJwt> => {
  const claimed = claimedBy(token);
  const issuer = issuerOf(issuers, claimed.issuer);
  const algorithm = algorithmOf(issuer, claimed.algorithm);
  // What costs comes last: until here a garbled token is refused by its text.
  assertMayVerify();
  const keys = await issuer.keys.find(claimed.kid, algorithm);
  return verifyWithAny(token, keys, { issuer, algorithm, nowSeconds });
};

/** Checks the times of a token that was verified before. Throws JwtFault as `verifyJwt` would now. */
export const assertStillValid = (token: VerifiedJwt, nowSeconds: number): void => {
  const { expiresAtSeconds, notBeforeSeconds, clockToleranceSeconds } = token;
  if (nowSeconds >= expiresAtSeconds + clockToleranceSeconds) throw new JwtFault('expired');
  if (notBeforeSeconds !== null && notBeforeSeconds > nowSeconds + clockToleranceSeconds) {
    throw new JwtFault('not-yet-valid');
  }
};

/** Issuers that cannot be told apart, or accept nothing, are a mistake of the program. */
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
