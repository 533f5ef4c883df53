/**
 * Identifies the user with a function of the host application, which runs in the same process and has its own sessions.
 */
import type { IncomingMessage } from 'node:http';
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import { createLru } from '../../platform/work/lru.js';
import { bearerOf, isTrustedOrigin, type Origins } from './credential.js';
import {
  type Identity,
  refuseExpired,
  refuseOrigin,
  refuseSession,
  type Session,
  sessionOf,
} from './signed-session.js';

/** The claims of a user as a session token would carry them; `sub` is required. */
export type HostClaims = { readonly sub: string } & JwtClaims;

/**
 * A request of Node, or of a framework on it, in the fields that the gateway's callers need. Written out, because a host
 * need not have the types of Node.
 */
export type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly cookie?: string | undefined;
    readonly [name: string]: string | readonly string[] | undefined;
  };
};

/** A request with the fields that the host's middleware declares in `Express.Request`, such as `session` or `user`. */
export type HostRequest = NodeRequest & Express.Request;

/**
 * The host's function. It returns null or undefined if nobody is logged in. Its result is checked. If it throws, no
 * token is issued.
 */
export type Identify<Request extends NodeRequest = HostRequest> = (
  request: Request,
) => HostClaims | null | undefined | Promise<HostClaims | null | undefined>;

export type HostIdentityOptions = Origins & {
  readonly identify: Identify<IncomingMessage>;
  /** Timeout of `identify` in milliseconds. Default: ten seconds. */
  readonly identifyTimeoutMs?: number | undefined;
  readonly clock: Clock;
};

/** Maximum length of the claims as JSON, in characters. */
export const maxClaimsLength = 16_384;

/** Returns the claims as JSON, so that later changes by the host, getters and classes have no effect. */
const claimsText = (value: unknown): string => {
  const text: unknown = typeof value === 'object' ? JSON.stringify(value) : undefined;
  if (typeof text !== 'string' || text.length > maxClaimsLength || !text.startsWith('{')) {
    throw new Error(`identify must give claims, an object of up to ${maxClaimsLength} characters of JSON, or null`);
  }
  return text;
};

/** Maximum total size of the cached sessions, in characters of their claims. */
const maxRemembered = 16 * 1024 * 1024;
/** Size of a cached session without its claims. */
const sessionLength = 512;

/** Returns the same Session object for equal claims, so that caches keyed by the session work. */
export const createSessionsByClaims = (): ((text: string) => Session) => {
  const remembered = createLru<string, { readonly session: Session; readonly length: number }>(maxRemembered, {
    sizeOf: ({ length }) => length,
  });
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known.session;
    const session = sessionOf(JSON.parse(text));
    remembered.set(text, { session, length: sessionLength + text.length });
    return session;
  };
};

/** Whether the value of `exp` or `nbf` is a time, or left out. */
export const isTime = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === 'number' && Number.isFinite(value));

/** Throws SESSION_INVALID if the claims have ended or have not begun. */
export const assertInTime = ({ exp, nbf }: JwtClaims, nowSeconds: number): void => {
  if (!isTime(exp) || !isTime(nbf)) throw new Error('the host gave an exp or nbf that is no number of seconds');
  if (exp !== undefined && nowSeconds >= exp) refuseExpired();
  if (nbf !== undefined && nbf > nowSeconds) refuseSession('The session is not valid yet.', 'session-not-yet-valid');
};

/** Whether the value is a promise of any library. */
const isLater = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value;

const inTime = async (answer: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = handled(
    new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`identify took longer than ${timeoutMs} ms`)), timeoutMs);
    }),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

const ask = async (
  { identify, identifyTimeoutMs = 10_000 }: HostIdentityOptions,
  request: IncomingMessage,
): Promise<unknown> => {
  try {
    const said = identify(request);
    return isLater(said) ? await inTime(said, identifyTimeoutMs) : said;
  } catch (cause) {
    throw new Refusal(
      'UPSTREAM_UNAVAILABLE',
      "The host application could not say who is logged in. Try again shortly; the gateway's log has the reason.",
      { reason: 'identify-failed', cause },
    );
  }
};

/**
 * Creates an identity that calls the host's function at every request. The host's session is usually a cookie. So a
 * request must come from a page of a trusted origin, or have a Bearer header and no cookie, which a page of another
 * origin cannot send without permission. Rejects with SESSION_INVALID if nobody is logged in, and with
 * UPSTREAM_UNAVAILABLE if the host's function fails or times out.
 */
export const createHostIdentity = (options: HostIdentityOptions): Identity => {
  const sessionBy = createSessionsByClaims();
  return async (request): Promise<Session> => {
    const { headers } = request;
    const isForgeable = bearerOf(headers) === null || headers.cookie !== undefined;
    if (isForgeable && !isTrustedOrigin(headers, options)) return refuseOrigin();
    const said = await ask(options, request);
    if (said === null || said === undefined) {
      return refuseSession('Nobody is logged in. Log in to the host application first.', 'no-session');
    }
    const session = sessionBy(claimsText(said));
    assertInTime(session.claims, Math.floor(options.clock.now().getTime() / 1000));
    return session;
  };
};
