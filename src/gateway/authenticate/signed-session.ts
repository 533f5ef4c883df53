/**
 * Identifies the user by a session of one of the configured issuers: signed by it, or opaque (asked-session.ts).
 * host-session.ts is the alternative.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { cookieOf } from '../../platform/http/wire/request.js';
import {
  assertIssuers,
  assertStillValid,
  hasEnded,
  type JwtClaims,
  JwtFault,
  type JwtIssuer,
  type VerifiedJwt,
  verifyJwt,
} from '../../platform/keys/jwt.js';
import { createLru } from '../../platform/work/lru.js';
import type { SessionReason } from '../common/reasons.js';
import { bearerOf, isAuthorizedTwice, isTrustedOrigin, type Origins } from './credential.js';
import type { RequestGuard } from './limits.js';

export type IdentityOptions = Origins & {
  readonly issuers: readonly JwtIssuer[];
  /** Finds opaque sessions. Left out: there are none. */
  readonly asked?: AskedSessions | undefined;
  /** Name of the host's session cookie with the JWT. If null, only `Authorization: Bearer` is accepted. */
  readonly cookieName: string | null;
  readonly clock: Clock;
  /** Maximum number of cached verified sessions. Default: 10,000. */
  readonly maxSessions?: number;
  /** Limits failed sessions. If left out, they are not limited. */
  readonly guard?: RequestGuard | undefined;
};

/** A user whose host session was verified in this request. */
export type Session = {
  readonly issuer: string | null;
  readonly subject: string;
  /** Issuer and subject, encoded so that every two users differ. */
  readonly userIdentifier: string;
  /**
   * The earliest possible time of login in milliseconds: `auth_time`, else `iat`, minus the clock tolerance. Null if
   * unknown. A later revocation ends the session.
   */
  readonly issuedAtMs: number | null;
  readonly claims: JwtClaims;
};

/** The opaque sessions that requests carry. */
export type AskedSessions = {
  /** The names of the issuers. No signed session may have one of them. */
  readonly names: readonly string[];
  /** Returns the session of the first issuer that the request carries anything of. Undefined: it carries nothing. */
  readonly find: (request: IncomingMessage) => Session | Promise<Session> | undefined;
  /** As `find`, for the issuers that take the Authorization header. */
  readonly findByAuthorization: (request: IncomingMessage) => Session | Promise<Session> | undefined;
};

/** Returns the verified session of the request. Throws, or rejects with, SESSION_INVALID. */
export type Identity = (request: IncomingMessage) => Session | Promise<Session>;

const mend = 'Send the host session as "Authorization: Bearer <jwt>" (a signed JWT with exp and sub).';

/** Throws the refusal of a session. */
export const refuseSession = (message: string, reason: SessionReason, cause?: unknown): never => {
  throw new Refusal('SESSION_INVALID', message, { reason, cause });
};

/** Throws the refusal of a page whose origin may not use the session cookie. */
export const refuseOrigin = (): never =>
  refuseSession(
    "The session cookie is accepted only from the gateway's own pages and its allowed origins; add the page's origin to them, or send the session as a Bearer token.",
    'origin-not-allowed',
  );

export const refuseRevoked = (): never =>
  refuseSession('This session was revoked. Log in to the host application again.', 'session-revoked');

export const refuseExpired = (cause?: unknown): never =>
  refuseSession('The session has expired. Log in to the host application again.', 'session-expired', cause);

/**
 * Returns the userIdentifier of guest tokens, with at most 255 characters. Injective: neither part can contain the
 * separator, and a hash contains none.
 */
export const identifierOf = (issuer: string | null, subject: string): string => {
  const identifier = `${encodeURIComponent(issuer ?? '')}|${encodeURIComponent(subject)}`;
  return identifier.length <= 255 ? identifier : `sha256:${hash('sha256', identifier, 'hex')}`;
};

const subjectPattern = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * Returns the earlier of `iat` and `auth_time`: a renewed session has a new `iat` but the `auth_time` of its login.
 * Null if there is neither, or one of them is not a number.
 */
const issuedAtOf = ({ iat, auth_time }: JwtClaims, clockToleranceSeconds: number): number | null => {
  const times = [iat, auth_time].filter((time) => time !== undefined);
  const isTime = (time: unknown): time is number => typeof time === 'number' && Number.isFinite(time);
  return times.length > 0 && times.every(isTime) ? (Math.min(...times) - clockToleranceSeconds) * 1000 : null;
};

/** Creates the session from verified claims. Throws SESSION_INVALID if they name no user. */
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

/** A signed session in its three parts. An opaque token has other forms. */
const isSigned = (credential: string): boolean => credential.split('.').length === 3;

const noSession = (): never => refuseSession(`The request carries no session. ${mend}`, 'no-session');

/**
 * Returns the signed credential of a request, or the session that the host is asked for. If there is a Bearer header, only it is
 * used: an invalid one never falls back to a cookie. It is accepted from every page, because a page of another origin
 * cannot send it without permission. Browsers add cookies to every request, so they are accepted only from pages of a
 * trusted origin.
 */
const credentialOf = (request: IncomingMessage, options: IdentityOptions): string | Session | Promise<Session> => {
  const { headers } = request;
  const { issuers, asked, cookieName } = options;
  if (isAuthorizedTwice(request)) return refuseSession(`The request carries two sessions. ${mend}`, 'two-sessions');
  const bearer = bearerOf(headers);
  if (bearer !== null) {
    const isForHost = asked !== undefined && (issuers.length === 0 || !isSigned(bearer));
    return (isForHost ? asked.findByAuthorization(request) : undefined) ?? bearer;
  }
  const cookie = cookieName === null || issuers.length === 0 ? null : cookieOf(headers, cookieName);
  if (cookie === null) return asked?.find(request) ?? noSession();
  return isTrustedOrigin(headers, options) ? cookie : refuseOrigin();
};

/**
 * Whether the failure can be an attack. An unreachable issuer is none, nor is a session that is expired or not yet
 * valid.
 */
const isGuess = (error: unknown): boolean =>
  error instanceof JwtFault && !['expired', 'not-yet-valid', 'keys-unavailable'].includes(error.reason);

type Remembered = { readonly token: VerifiedJwt; readonly session: Session };

const secondsOf = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);

/**
 * Caches verified sessions by the hash of their token. Every request checks again that the session has not expired and
 * that its issuer still has the key. If the issuer withdrew the key, the session is verified again.
 */
export const createIdentity = (options: IdentityOptions): Identity => {
  const { issuers, clock, asked } = options;
  if (asked === undefined || issuers.length > 0) assertIssuers(issuers);
  const remembered = createLru<string, Remembered>(options.maxSessions ?? 10_000, {
    isOver: ({ token }) => hasEnded(token, secondsOf(clock)),
  });
  const verify = async (request: IncomingMessage, credential: string, key: string): Promise<Session> => {
    const attempt = options.guard?.(request, key);
    const nowSeconds = secondsOf(clock);
    try {
      const token = await verifyJwt(credential, issuers, nowSeconds, attempt?.assertMayVerify);
      // An issuer without a name accepts every name that no other one has.
      if (asked?.names.some((name) => name === token.claims.iss) === true) throw new JwtFault('unknown-issuer');
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
    if (typeof credential !== 'string') return credential;
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
