/**
 * Questions that the gateway asks the host application, each signed as in Standard Webhooks: the tenants of a key, and who
 * is logged in. Concurrent requests share one question for each key. Answers are cached for the time that is configured; after a
 * failure an answer is used longer only if `staleSeconds` says so.
 */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Clock } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { shownUrl } from '../../platform/addresses/shown-url.js';
import { askFrom, Barred, type Outgoing } from '../../platform/calls/outgoing.js';
import type { Log } from '../../platform/logs/log.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { dropWhere } from '../common/eraser.js';

/** Where the host answers. */
export type HostAddress = Outgoing & {
  readonly timeoutMs: number;
  /** How much longer a cached answer may be used while the host fails. */
  readonly staleSeconds: number;
  /** Maximum number of cached answers. */
  readonly maxEntries: number;
};

type Sent = {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type HostQuestionOptions<Asked, Answer> = {
  readonly address: HostAddress;
  /** The secret in the format of Standard Webhooks: `whsec_` and base64. */
  readonly secret: string;
  /** What is asked, for messages: "the tenant lookup". */
  readonly what: string;
  /** Which setting lets the host have an address of the own network. */
  readonly privateMend: string;
  /** The refusal of a request whose question failed. */
  readonly refusal: { readonly message: string; readonly reason: Reason };
  readonly events: {
    readonly failed: 'tenant_lookup.failed' | 'session_question.failed';
    readonly recovered: 'tenant_lookup.recovered' | 'session_question.recovered';
  };
  readonly write: (asked: Asked) => Sent;
  /** Its errors must not contain any part of the answer, because errors are logged. */
  readonly read: (status: number, text: string) => Answer;
  /** For how long an answer is used. Null: it is not kept. */
  readonly secondsOf: (answer: Answer) => number | null;
  readonly clock: Clock;
  readonly log: Log;
};

export type HostQuestions<Asked, Answer> = {
  /** Not a promise if the answer is cached. Rejects with UPSTREAM_UNAVAILABLE. */
  readonly ask: (key: string, asked: Asked) => Answer | Promise<Answer>;
  /** The cached answer, while `ask` would not ask the host. */
  readonly known: (key: string) => Answer | undefined;
  /** Deletes the cached answers for which this is true. Returns their number. */
  readonly forget: (isMeant: (answer: Answer) => boolean) => number;
};

/** The host refused the question: asking again is of no use, and an older answer no longer holds. */
export class QuestionRefused extends Error {
  override readonly name = 'QuestionRefused';
}

type Known<Answer> = {
  readonly answer: Answer;
  /** When a later question failed. Null: none did. */
  readonly failedAtMs: number | null;
  readonly askedAtMs: number;
  readonly freshUntilMs: number;
  readonly staleUntilMs: number;
};

const maxAnswerBytes = 128 * 1024;
/** Maximum number of concurrent requests to the host. Further ones are refused at once. */
const maxUnderWay = 64;
/** After a failure, time in milliseconds during which stale answers are used and the host is not asked. */
const restMs = 1_000;

const causeOf = (error: unknown, what: string, privateMend: string): Error => {
  if (!(error instanceof Error)) return new Error(`${what} failed`);
  if (error instanceof Barred)
    return new Error(`${what} has an address that may not be reached: ${privateMend}`, { cause: error });
  if (error.name === 'AbortError') return new Error(`${what} did not answer in time`, { cause: error });
  const code = 'code' in error ? String(error.code) : undefined;
  return code === undefined ? error : new Error(`${what} cannot be reached (${code})`, { cause: error });
};

/** What is signed of a question without a body: the libraries of Standard Webhooks read JSON. */
export const noBody = '{}';

/** Returns the headers that sign a question. Loads the library at the first one: most gateways ask their host nothing. */
export const signQuestion = async (
  secret: string,
  now: Date,
  body = noBody,
): Promise<Readonly<Record<string, string>>> => {
  const { Webhook } = await import('standardwebhooks');
  const id = `msg_${randomUUID()}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
};

const createSend = <Asked, Answer>(options: HostQuestionOptions<Asked, Answer>) => {
  const { address, secret, clock, what } = options;
  const Agent = address.url.startsWith('https:') ? HttpsAgent : HttpAgent;
  const agent = new Agent({ keepAlive: true });
  const send = async ({ method, headers, body }: Sent): Promise<Answer> => {
    const signed = { accept: 'application/json', ...headers, ...(await signQuestion(secret, clock.now(), body)) };
    const asking = { method, headers: signed, signal: AbortSignal.timeout(address.timeoutMs) };
    const sent = method === 'GET' ? asking : { ...asking, body };
    const answer = await askFrom(address, sent, { maxBytes: maxAnswerBytes, agent });
    return options.read(answer.status, await answer.text());
  };
  let underWay = 0;
  return async (asked: Asked): Promise<Answer> => {
    if (underWay >= maxUnderWay) throw new Error(`${maxUnderWay} requests of ${what} are under way already`);
    underWay += 1;
    try {
      return await send(options.write(asked));
    } finally {
      underWay -= 1;
    }
  };
};

/** Logs the first failure of an outage and its end. Omits the query of the URL. */
const createOutageLog = <Asked, Answer>({ address, events, what, log }: HostQuestionOptions<Asked, Answer>) => {
  const url = shownUrl(address.url);
  let isDown = false;
  return (error: unknown): void => {
    if (error !== undefined && !isDown) log.error({ event: events.failed, url, err: error }, `${what} fails`);
    if (error === undefined && isDown) log.info({ event: events.recovered, url }, `${what} is answered again`);
    isDown = error !== undefined;
  };
};

const isBetween = (nowMs: number, from: number, until: number): boolean => nowMs >= from && nowMs < until;

/**
 * Whether a cached answer is used without asking the host: while it is fresh, and for a second after the host failed to
 * answer the same question.
 */
const holdsAt = ({ freshUntilMs, failedAtMs }: Known<unknown>, nowMs: number): boolean =>
  nowMs < freshUntilMs || (failedAtMs !== null && isBetween(nowMs, failedAtMs, failedAtMs + restMs));

/** Creates the questions of one kind to one address, with their own cache. */
export const createHostQuestions = <Asked, Answer>(
  options: HostQuestionOptions<Asked, Answer>,
): HostQuestions<Asked, Answer> => {
  const { address, clock, refusal } = options;
  const known = createLru<string, Known<Answer>>(address.maxEntries, {
    isOver: ({ staleUntilMs }) => clock.now().getTime() >= staleUntilMs,
  });
  const flights = createSingleFlight<Answer>();
  const send = createSend(options);
  const said = createOutageLog(options);
  const remember = (key: string, answer: Answer, askedAtMs: number): void => {
    const seconds = options.secondsOf(answer);
    const freshUntilMs = askedAtMs + (seconds ?? 0) * 1000;
    const staleUntilMs = freshUntilMs + address.staleSeconds * 1000;
    if (seconds !== null && staleUntilMs > askedAtMs)
      known.set(key, { answer, failedAtMs: null, askedAtMs, freshUntilMs, staleUntilMs });
    else known.delete(key);
  };
  const askHost = async (key: string, asked: Asked, stale: Known<Answer> | undefined): Promise<Answer> => {
    const askedAtMs = clock.now().getTime();
    try {
      const answer = await send(asked);
      said(undefined);
      remember(key, answer, askedAtMs);
      return answer;
    } catch (error) {
      const cause = causeOf(error, options.what, options.privateMend);
      said(cause);
      if (error instanceof QuestionRefused) known.delete(key);
      else if (stale !== undefined) {
        known.set(key, { ...stale, failedAtMs: askedAtMs });
        return stale.answer;
      }
      throw new Refusal('UPSTREAM_UNAVAILABLE', refusal.message, { reason: refusal.reason, cause });
    }
  };
  /** The cached answer, and whether it holds without a question. */
  const find = (key: string): { readonly stale?: Known<Answer>; readonly holds?: Known<Answer> } => {
    const nowMs = clock.now().getTime();
    const found = known.get(key);
    if (found === undefined || !isBetween(nowMs, found.askedAtMs, found.staleUntilMs)) return {};
    return holdsAt(found, nowMs) ? { holds: found } : { stale: found };
  };
  return {
    ask: (key, asked) => {
      const { holds, stale } = find(key);
      return holds === undefined ? flights(key, () => askHost(key, asked, stale)) : holds.answer;
    },
    known: (key) => find(key).holds?.answer,
    forget: (isMeant) => dropWhere(known, (_, { answer }) => isMeant(answer)),
  };
};
