/** Identifies the user by a session that one of the configured issuers signed. host-session.ts is the alternative. */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import {
  assertIssuers,
  assertStillValid,
  type JwtClaims,
  JwtFault,
  type JwtIssuer,
  type VerifiedJwt,
  verifyJwt,
} from '../../platform/jwt.js';
import { createLru } from '../../platform/lru.js';
import type { SessionReason } from '../common/reasons.js';
import { bearerOf, cookieOf, isAuthorizedTwice, isTrustedOrigin, type Origins } from './credential.js';
import type { RequestGuard } from './limits.js';

export type IdentityOptions = Origins & {
  readonly issuers: readonly JwtIssuer[];
  /** The host's session cookie that holds the JWT; null: only `Authorization: Bearer`. */
  readonly cookieName: string | null;
  readonly clock: Clock;
  /** Number of verified sessions to remember; 10,000 if left out. */
  readonly maxSessions?: number;
  /** Left out: failed sessions are not limited. */
  readonly guard?: RequestGuard | undefined;
};

/** A user whose host session was verified in this request. */
export type Session = {
  readonly issuer: string | null;
  readonly subject: string;
  /** Issuer and subject together: different for every two users. */
  readonly userIdentifier: string;
  /**
   * The earliest possible time of login in milliseconds: `auth_time`, otherwise `iat`, minus the clock tolerance; null: unknown.
   * A revocation after it ends the session.
   */
  readonly issuedAtMs: number | null;
  readonly claims: JwtClaims;
};

/** Returns the verified session of the request. Throws, or rejects with, SESSION_INVALID. */
export type Identity = (request: IncomingMessage) => Session | Promise<Session>;

const mend = 'Send the host session as "Authorization: Bearer <jwt>" (a signed JWT with exp and sub).';

/** The refusal of a session. */
export const refuseSession = (message: string, reason: SessionReason, cause?: unknown): never => {
  throw new Refusal('SESSION_INVALID', message, { reason, cause });
};

/** The page's origin may not use the session cookie. */
export const refuseOrigin = (): never =>
  refuseSession(
    "The session cookie is accepted only from the gateway's own pages and its allowed origins; add the page's origin to them, or send the session as a Bearer token.",
    'origin-not-allowed',
  );

export const refuseRevoked = (): never =>
  refuseSession('This session was revoked. Log in to the host application again.', 'session-revoked');

export const refuseExpired = (cause?: unknown): never =>
  refuseSession('The session has expired. Log in to the host application again.', 'session-expired', cause);

/** The userIdentifier of guest tokens. Injective: neither part can hold the separator, and a hash has none. At most 255 characters. */
export const identifierOf = (issuer: string | null, subject: string): string => {
  const identifier = `${encodeURIComponent(issuer ?? '')}|${encodeURIComponent(subject)}`;
  return identifier.length <= 255 ? identifier : `sha256:${hash('sha256', identifier, 'hex')}`;
};

const subjectPattern = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** A renewed session has a new `iat` but the `auth_time` of its login, so the earlier counts. Null if one of them is no number. */
const issuedAtOf = ({ iat, auth_time }: JwtClaims, clockToleranceSeconds: number): number | null => {
  const times = [iat, ...(auth_time === undefined ? [] : [auth_time])];
  const isTime = (time: unknown): time is number => typeof time === 'number' && Number.isFinite(time);
  return times.every(isTime) ? (Math.min(...times) - clockToleranceSeconds) * 1000 : null;
};

/** Makes the session of verified claims. Throws SESSION_INVALID if they name no user. */
export const sessionOf = (claims: JwtClaims, clockToleranceSeconds = 0): Session => {
  const issuer = typeof claims.iss === 'string' ? claims.iss : null;
  const subject = claims.sub;
  if (typeof subject !== 'string' || !subjectPattern.test(subject) || (issuer !== null && /\p{Cs}/u.test(issuer))) {
    return refuseSession(`The session names no user. ${mend}`, 'no-subject');
  }
  return {
    issuer,
    subject,
    userIdentifier: identifierOf(issuer, subject),
    issuedAtMs: issuedAtOf(claims, clockToleranceSeconds),
    claims,
  };
};

const refuseFault = (error: unknown): never => {
  if (!(error instanceof JwtFault)) throw error;
  if (error.reason === 'expired') return refuseExpired(error);
  return refuseSession(`The session could not be verified. ${mend}`, `session-${error.reason}`, error);
};

/**
 * The credential of a request. If there is a Bearer header, only it counts: a bad one never falls back to the cookie. It is accepted
 * from every page, because a page of another origin cannot send it without permission. The cookie, which browsers add to every
 * request, is accepted only from pages of a trusted origin.
 */
const credentialOf = (request: IncomingMessage, options: IdentityOptions): string => {
  const { headers } = request;
  if (isAuthorizedTwice(request)) return refuseSession(`The request carries two sessions. ${mend}`, 'two-sessions');
  const bearer = bearerOf(headers);
  if (bearer !== null) return bearer;
  const cookie = options.cookieName === null ? null : cookieOf(headers, options.cookieName);
  if (cookie === null) return refuseSession(`The request carries no session. ${mend}`, 'no-session');
  return isTrustedOrigin(headers, options) ? cookie : refuseOrigin();
};

/** Whether the failure may be an attack. An unreachable issuer, or a session that is expired or not yet valid, is none. */
const isGuess = (error: unknown): boolean =>
  error instanceof JwtFault && !['expired', 'not-yet-valid', 'keys-unavailable'].includes(error.reason);

type Remembered = { readonly token: VerifiedJwt; readonly session: Session };

const secondsOf = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);

/**
 * Remembers verified sessions by the hash of their token. Every request checks again that the session has not expired and that its
 * issuer still has the key; if the issuer withdrew the key, the session is verified again.
 */
export const createIdentity = (options: IdentityOptions): Identity => {
  const { issuers, clock } = options;
  assertIssuers(issuers);
  const remembered = createLru<string, Remembered>(options.maxSessions ?? 10_000);
  const verify = async (request: IncomingMessage, credential: string, key: string): Promise<Session> => {
    const attempt = options.guard?.(request, key);
    const nowSeconds = secondsOf(clock);
    try {
      const token = await verifyJwt(credential, issuers, nowSeconds, attempt?.assertMayVerify);
      const session = sessionOf(token.claims, token.clockToleranceSeconds);
      remembered.set(key, { token, session });
      return session;
    } catch (error) {
      if (isGuess(error)) await attempt?.failed();
      return refuseFault(error);
    }
  };
  return (request) => {
    const credential = credentialOf(request, options);
    const key = hash('sha256', credential, 'base64url');
    const known = remembered.get(key);
    if (known === undefined || !known.token.isKeyHeld()) return verify(request, credential, key);
    try {
      assertStillValid(known.token, secondsOf(clock));
      return known.session;
    } catch (error) {
      return refuseFault(error);
    }
  };
};
