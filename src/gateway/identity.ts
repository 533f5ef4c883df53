import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import {
  assertStillValid,
  type JwtClaims,
  JwtFault,
  type JwtIssuer,
  type VerifiedJwt,
  verifyJwt,
} from '../platform/jwt.js';
import { bearerOf, cookieOf, isTrustedOrigin } from './credential.js';

export type IdentityOptions = {
  readonly issuers: readonly JwtIssuer[];
  /** The host's session cookie that holds the JWT; null: only `Authorization: Bearer`. */
  readonly cookieName: string | null;
  /** Origins beside the gateway's own whose pages may use the session cookie, such as `https://app.example.com`. */
  readonly allowedOrigins: readonly string[];
  readonly clock: Clock;
  /** How many verified sessions are remembered. */
  readonly maxSessions?: number;
};

/** A user whose host session was verified in this request. */
export type Session = {
  readonly issuer: string | null;
  readonly subject: string;
  /** Issuer and subject together: different for every two users. */
  readonly userIdentifier: string;
  readonly claims: JwtClaims;
};

/** Verifies the session that the headers carry. Throws SESSION_INVALID. */
export type Identity = (headers: IncomingHttpHeaders) => Session;

const mend = 'Send the host session as "Authorization: Bearer <jwt>" (HS256, with exp and sub).';

const refuse = (message: string, reason: string, cause?: unknown): never => {
  throw new Refusal('SESSION_INVALID', message, { reason, cause });
};

/** Injective: neither part can hold the separator, and a hash has none. At most 255 characters. */
const identify = (issuer: string | null, subject: string): string => {
  const identifier = `${encodeURIComponent(issuer ?? '')}|${encodeURIComponent(subject)}`;
  return identifier.length <= 255 ? identifier : `sha256:${hash('sha256', identifier, 'hex')}`;
};

const subjectPattern = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

const sessionOf = ({ claims }: VerifiedJwt): Session => {
  const issuer = typeof claims.iss === 'string' ? claims.iss : null;
  const subject = claims.sub;
  if (typeof subject !== 'string' || !subjectPattern.test(subject) || (issuer !== null && /\p{Cs}/u.test(issuer))) {
    return refuse(`The session names no user. ${mend}`, 'no-subject');
  }
  return { issuer, subject, userIdentifier: identify(issuer, subject), claims };
};

const refuseFault = (error: unknown): never => {
  if (!(error instanceof JwtFault)) throw error;
  if (error.reason === 'expired') {
    return refuse('The session has expired. Log in to the host application again.', 'session-expired', error);
  }
  return refuse(`The session could not be verified. ${mend}`, `session-${error.reason}`, error);
};

/**
 * The credential of a request. A Bearer header is the one credential where there is one: a bad one never falls back to
 * the cookie. The cookie, which browsers send by themselves, counts only for pages of a trusted origin.
 */
const credentialOf = (headers: IncomingHttpHeaders, { cookieName, allowedOrigins }: IdentityOptions): string => {
  const bearer = bearerOf(headers);
  if (bearer !== null) return bearer;
  const cookie = cookieName === null ? null : cookieOf(headers, cookieName);
  if (cookie === null) return refuse(`The request carries no session. ${mend}`, 'no-session');
  if (!isTrustedOrigin(headers, allowedOrigins)) {
    return refuse(
      "The session cookie is accepted only from the gateway's own pages and its allowed origins; add the page's origin to them, or send the session as a Bearer token.",
      'origin-not-allowed',
    );
  }
  return cookie;
};

type Remembered = { readonly token: VerifiedJwt; readonly session: Session };

/** Remembers verified sessions by the hash of their token; their times are checked again at every request. */
export const createIdentity = (options: IdentityOptions): Identity => {
  const remembered = new LRUCache<string, Remembered>({ max: options.maxSessions ?? 10_000 });
  const verify = (credential: string): Session => {
    const nowSeconds = Math.floor(options.clock.now().getTime() / 1000);
    const key = hash('sha256', credential, 'base64url');
    const known = remembered.get(key);
    if (known !== undefined) {
      assertStillValid(known.token, nowSeconds);
      return known.session;
    }
    const token = verifyJwt(credential, options.issuers, nowSeconds);
    const session = sessionOf(token);
    remembered.set(key, { token, session });
    return session;
  };
  return (headers) => {
    const credential = credentialOf(headers, options);
    try {
      return verify(credential);
    } catch (error) {
      return error instanceof Refusal ? refuse(error.message, error.reason, error) : refuseFault(error);
    }
  };
};
