/** Who a request comes from, as the host application says that runs in this very process: its own session, by its own means. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { JwtClaims } from '../../platform/jwt.js';
import { createSizedLru } from '../../platform/lru.js';
import { bearerOf, isTrustedOrigin, type Origins } from './credential.js';
import {
  type Identity,
  refuseExpired,
  refuseOrigin,
  refuseSession,
  type Session,
  sessionOf,
} from './signed-session.js';

/** What the host says of a user: claims as a session token would carry them, `sub` at least; nothing: nobody is logged in. */
export type HostClaims = { readonly sub: string } & JwtClaims;

/** The host's function. It may throw, and say anything: what it says is checked, and what it throws gives no token. */
export type Identify<Request = IncomingMessage> = (
  request: Request,
) => HostClaims | null | undefined | Promise<HostClaims | null | undefined>;

export type HostIdentityOptions = Origins & {
  readonly identify: Identify;
  /** How long the host may take to say who it is; ten seconds where left out. */
  readonly identifyTimeoutMs?: number | undefined;
  readonly clock: Clock;
};

/** Characters of the largest claims, as JSON. */
const maxClaimsLength = 16_384;

/** As JSON carries them: later changes by the host, getters and classes have no part in what was decided. */
const claimsText = (value: unknown): string => {
  const text: unknown = typeof value === 'object' ? JSON.stringify(value) : undefined;
  if (typeof text !== 'string' || text.length > maxClaimsLength || !text.startsWith('{')) {
    throw new Error(`identify must give claims, an object of up to ${maxClaimsLength} characters of JSON, or null`);
  }
  return text;
};

/** Of the sessions that are remembered, in characters of their claims. */
const maxRemembered = 16 * 1024 * 1024;
/** What a session takes beside its claims. */
const sessionLength = 512;

/** One session for the same claims, so that what is kept with it is found again. */
const createSessionsByClaims = (): ((text: string) => Session) => {
  const remembered = createSizedLru<string, { readonly session: Session; readonly length: number }>(
    maxRemembered,
    ({ length }) => length,
    () => {},
  );
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known.session;
    const session = sessionOf(JSON.parse(text));
    remembered.set(text, { session, length: sessionLength + text.length });
    return session;
  };
};

const isTime = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === 'number' && Number.isFinite(value));

const assertInTime = ({ exp, nbf }: JwtClaims, nowSeconds: number): void => {
  if (!isTime(exp) || !isTime(nbf)) throw new Error('identify gave an exp or nbf that is no number of seconds');
  if (exp !== undefined && nowSeconds >= exp) refuseExpired();
  if (nbf !== undefined && nbf > nowSeconds) refuseSession('The session is not valid yet.', 'session-not-yet-valid');
};

/** A promise of whichever library. */
const isLater = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value;

const inTime = async (answer: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`identify took longer than ${timeoutMs} ms`)), timeoutMs);
  });
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
 * Asks the host at every request, whatever it said before. As its session comes most likely by a cookie, only pages of trusted
 * origins may ask, or requests with a Bearer header and no cookie, which no page of another origin can send unasked. Rejects with
 * SESSION_INVALID where nobody is logged in, with UPSTREAM_UNAVAILABLE where the host's function fails or is late.
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
