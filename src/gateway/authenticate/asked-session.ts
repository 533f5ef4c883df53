/**
 * Identifies the user of an opaque session, whose meaning only the host application knows: sends the configured cookies and
 * headers, and nothing else of the request, to the host's endpoint. The host answers 200 with claims, or 401.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isRecord } from '../../model/is-record.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { rawCookieOf } from '../../platform/http/wire/request.js';
import type { Log } from '../../platform/logs/log.js';
import { createHostQuestions, noBody, QuestionRefused } from '../host/questions.js';
import { isTrustedOrigin, type Origins } from './credential.js';
import { assertInTime, createSessionsByClaims, isTime, maxClaimsLength } from './host-session.js';
import type { RequestGuard } from './limits.js';
import { type AskedSessions, refuseOrigin, refuseSession, type Session } from './signed-session.js';

/** An issuer whose sessions the host is asked for. */
export type AskedIssuer = {
  /** The issuer's name in `userIdentifier`. */
  readonly issuer: string;
  readonly ask: {
    readonly url: string;
    /** Names of the cookies that are sent to the host. */
    readonly cookies: readonly string[];
    /** Names of the headers that are sent to the host, in lower case. */
    readonly headers: readonly string[];
    /** The secret that signs the question, in the format of Standard Webhooks. */
    readonly secret: string;
    readonly cacheSeconds: number;
    readonly staleSeconds: number;
    readonly timeoutMs: number;
  };
};

export type AskedSessionsOptions = Origins & {
  readonly asked: readonly AskedIssuer[];
  readonly clock: Clock;
  readonly log: Log;
  readonly guard?: RequestGuard | undefined;
};

/** What a request carries of one issuer: the headers that are sent to the host. */
type Carried = { readonly headers: Readonly<Record<string, string>>; readonly hasCookie: boolean };

const maxKnownSessions = 10_000;

const refuseTwo = (): never =>
  refuseSession('The request carries two sessions. Send one cookie or header of each name.', 'two-sessions');

const headerOf = ({ headersDistinct }: IncomingMessage, name: string): string | null => {
  const [value, ...others] = headersDistinct[name] ?? [];
  return others.length > 0 ? refuseTwo() : (value ?? null);
};

const cookiesOf = ({ headers }: IncomingMessage, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => {
    const value = rawCookieOf(headers, name);
    if (value === null) return [];
    return value === '' ? refuseTwo() : [`${name}=${value}`];
  });

const carriedOf = (request: IncomingMessage, { cookies, headers }: AskedIssuer['ask']): Carried | undefined => {
  const sent: Record<string, string> = {};
  for (const name of headers) {
    const value = headerOf(request, name);
    if (value !== null) sent[name] = value;
  }
  const pairs = cookiesOf(request, cookies);
  if (pairs.length > 0) sent.cookie = pairs.join('; ');
  return Object.keys(sent).length === 0 ? undefined : { headers: sent, hasCookie: pairs.length > 0 };
};

const claimsIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error would quote the text.
    return undefined;
  }
};

/** The claims as JSON, and when they end, in seconds. */
type LoggedIn = { readonly text: string; readonly exp: number };

/** Whether the status is about what was sent. The host is not away, so nothing older counts in its place. */
const isAboutRequest = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

/**
 * Returns a reader of the host's answer about a session. Null: nobody is logged in. Its errors contain nothing of the
 * answer.
 */
export const readAnswer =
  (issuer: string) =>
  (status: number, text: string): LoggedIn | null => {
    if (status === 401) return null;
    const mend = 'answer 200 with the claims as JSON, or 401 if nobody is logged in';
    if (status !== 200) {
      const message = `the host's answer about a session has status ${status}: ${mend}`;
      throw isAboutRequest(status) ? new QuestionRefused(message) : new Error(message);
    }
    const claims = claimsIn(text);
    const isUsable = isRecord(claims) && typeof claims.sub === 'string' && isTime(claims.exp) && isTime(claims.nbf);
    if (!isUsable || text.length > maxClaimsLength)
      throw new Error(
        `the host's answer about a session is no JSON object of up to ${maxClaimsLength} characters with "sub" as text, and "exp" and "nbf" in seconds if they are given: ${mend}`,
      );
    const { exp = Number.POSITIVE_INFINITY } = claims;
    return { text: JSON.stringify({ ...claims, iss: issuer }), exp: Number(exp) };
  };

const secondsOf = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);

const createQuestions = ({ issuer, ask }: AskedIssuer, { clock, log }: AskedSessionsOptions) =>
  createHostQuestions<Carried, LoggedIn | null>({
    address: { ...ask, allowsPrivate: true, maxEntries: maxKnownSessions },
    ...{ secret: ask.secret, clock, log },
    what: 'the question to the host who is logged in',
    privateMend: 'give another address',
    refusal: {
      message:
        "The host application could not say who is logged in. Try again shortly; the gateway's log has the reason.",
      reason: 'session-question-failed',
    },
    events: { failed: 'session_question.failed', recovered: 'session_question.recovered' },
    write: ({ headers }) => ({ method: 'GET', headers, body: noBody }),
    read: readAnswer(issuer),
    // The answer "nobody is logged in" is not kept: a login may leave the value of the cookie as it is.
    secondsOf: (answer) => answer && Math.min(ask.cacheSeconds, Math.max(0, answer.exp - secondsOf(clock))),
  });

/** Creates the sessions of one issuer. */
const createIssuer = (of: AskedIssuer, options: AskedSessionsOptions) => {
  const { ask } = of;
  const sessionBy = createSessionsByClaims();
  const questions = createQuestions(of, options);
  const sessionOf = (answer: LoggedIn | null): Session => {
    if (answer === null)
      return refuseSession('Nobody is logged in. Log in to the host application first.', 'no-session');
    const session = sessionBy(answer.text);
    assertInTime(session.claims, secondsOf(options.clock));
    return session;
  };
  const askHost = async (request: IncomingMessage, key: string, carried: Carried): Promise<Session> => {
    const attempt = options.guard?.(request, key);
    attempt?.assertMayVerify();
    try {
      const answer = await questions.ask(key, carried);
      if (answer === null) await attempt?.failed();
      return sessionOf(answer);
    } catch (error) {
      if (error instanceof Refusal && error.cause instanceof QuestionRefused) await attempt?.failed();
      throw error;
    }
  };
  return {
    isByAuthorization: ask.headers.includes('authorization'),
    find: (request: IncomingMessage): Session | Promise<Session> | undefined => {
      const carried = carriedOf(request, ask);
      if (carried === undefined) return undefined;
      if (carried.hasCookie && !isTrustedOrigin(request.headers, options)) return refuseOrigin();
      const key = hash('sha256', JSON.stringify(Object.entries(carried.headers)), 'base64url');
      const known = questions.known(key);
      return known === undefined ? askHost(request, key, carried) : sessionOf(known);
    },
  };
};

export const createAskedSessions = (options: AskedSessionsOptions): AskedSessions => {
  const issuers = options.asked.map((issuer) => createIssuer(issuer, options));
  const firstOf = (request: IncomingMessage, among: typeof issuers) => {
    for (const { find } of among) {
      const found = find(request);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const byAuthorization = issuers.filter(({ isByAuthorization }) => isByAuthorization);
  return {
    names: options.asked.map(({ issuer }) => issuer),
    find: (request) => firstOf(request, issuers),
    findByAuthorization: (request) => firstOf(request, byAuthorization),
  };
};
