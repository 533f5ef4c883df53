/**
 * Verifies HS256 tokens of several issuers side by side. The algorithm is pinned and the clock is the caller's.
 * Says nothing about where the token came from or what it is good for.
 */
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';

/** One accepted signer. `issuer` null: for tokens whose `iss` belongs to no named issuer, or that have none. */
export type JwtIssuer = {
  readonly issuer: string | null;
  /** Made once with `createSecretKey`: a secret passed as a string costs forty times as much on every call. */
  readonly secret: KeyObject;
  readonly audience?: string | undefined;
  readonly clockToleranceSeconds: number;
};

export type JwtClaims = Readonly<Record<string, unknown>>;

/** A token whose signature and claims were checked. Times are in seconds since the epoch. */
export type VerifiedJwt = {
  readonly claims: JwtClaims;
  readonly expiresAtSeconds: number;
  readonly notBeforeSeconds: number | null;
  readonly clockToleranceSeconds: number;
};

export type JwtFaultReason = 'malformed' | 'too-long' | 'unknown-issuer' | 'not-verified' | 'expired' | 'not-yet-valid';

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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const decodeJson = (part: string | undefined): unknown => {
  try {
    return JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  } catch (cause) {
    throw new JwtFault('malformed', cause);
  }
};

/** The `iss` that the token claims, before anything is verified: it only selects the keys to try. */
const claimedIssuer = (token: string): string | null => {
  const parts = token.split('.');
  if (parts.length !== 3) throw new JwtFault('malformed');
  const header = decodeJson(parts[0]);
  const payload = decodeJson(parts[1]);
  if (!isObject(header) || !isObject(payload)) throw new JwtFault('malformed');
  // RFC 7515, 4.1.11: an extension that is not understood makes the token invalid; none is understood here.
  if ('crit' in header) throw new JwtFault('malformed');
  if (payload.iss === undefined) return null;
  if (typeof payload.iss !== 'string' || payload.iss === '') throw new JwtFault('malformed');
  return payload.iss;
};

const candidates = (issuers: readonly JwtIssuer[], claimed: string | null): readonly JwtIssuer[] => {
  const named = issuers.filter(({ issuer }) => issuer !== null && issuer === claimed);
  return named.length > 0 ? named : issuers.filter(({ issuer }) => issuer === null);
};

const faultOf = (error: unknown): JwtFault => {
  if (error instanceof jwt.TokenExpiredError) return new JwtFault('expired', error);
  if (error instanceof jwt.NotBeforeError) return new JwtFault('not-yet-valid', error);
  return new JwtFault('not-verified', error);
};

const verifyWith = (token: string, signer: JwtIssuer, nowSeconds: number): VerifiedJwt | JwtFault => {
  try {
    const claims: unknown = jwt.verify(token, signer.secret, {
      algorithms: ['HS256'],
      clockTimestamp: nowSeconds,
      clockTolerance: signer.clockToleranceSeconds,
      ...(signer.issuer === null ? {} : { issuer: signer.issuer }),
      ...(signer.audience === undefined ? {} : { audience: signer.audience }),
    });
    if (!isObject(claims) || typeof claims.exp !== 'number' || !Number.isFinite(claims.exp)) {
      return new JwtFault('malformed', new Error('exp is required'));
    }
    return {
      claims,
      expiresAtSeconds: claims.exp,
      notBeforeSeconds: typeof claims.nbf === 'number' ? claims.nbf : null,
      clockToleranceSeconds: signer.clockToleranceSeconds,
    };
  } catch (error) {
    return faultOf(error);
  }
};

/** Verifies signature, issuer, audience, `exp` (required) and `nbf`. Throws JwtFault. */
export const verifyJwt = (token: string, issuers: readonly JwtIssuer[], nowSeconds: number): VerifiedJwt => {
  if (token.length > maxJwtLength) throw new JwtFault('too-long');
  let fault = new JwtFault('unknown-issuer');
  for (const signer of candidates(issuers, claimedIssuer(token))) {
    const result = verifyWith(token, signer, nowSeconds);
    if (!(result instanceof JwtFault)) return result;
    fault = result;
  }
  throw fault;
};

/** Checks the times of a token that was verified before. Throws JwtFault as `verifyJwt` would now. */
export const assertStillValid = (token: VerifiedJwt, nowSeconds: number): void => {
  const { expiresAtSeconds, notBeforeSeconds, clockToleranceSeconds } = token;
  if (nowSeconds >= expiresAtSeconds + clockToleranceSeconds) throw new JwtFault('expired');
  if (notBeforeSeconds !== null && notBeforeSeconds > nowSeconds + clockToleranceSeconds) {
    throw new JwtFault('not-yet-valid');
  }
};
