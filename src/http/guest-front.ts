/**
 * Answers requests with guest tokens before Express does. A browser sends one request for each chart, most answers come
 * from a cache, and Express would cost more time than the rest. Dispatch, headers and log line are the same as behind
 * Express. `request` and `response` are Node's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { unavailableRetrySeconds } from '../domain/unavailable.js';
import type { Log } from '../platform/log.js';
import type { Metrics } from '../platform/metrics.js';
import type { AddressOf } from './address.js';
import { senderOf } from './admission.js';
import { type Dispatch, type DispatchResponse, isPieces } from './bind.js';
import { answerOf } from './body-faults.js';
import { bodyOf } from './body-reader.js';
import { constantHeaders } from './constant-headers.js';
import { notFound } from './envelope.js';
import { jsonText } from './json-text.js';
import { guestHeaders, guestPreflightHeaders, securityHeaders } from './middleware.js';
import { requestIdOf } from './request-id.js';
import { goneSignal, sendPieces } from './sending.js';

export type GuestFront = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

type Deps = {
  readonly dispatch: Dispatch;
  readonly addressOf: AddressOf;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** The paths that it answers, with all below them. Left out: those of guests' operations. */
  readonly roots?: readonly string[];
};

const guestRoots = ['/api/v2/guest'] as const;

type Target = { readonly path: string; readonly query: Readonly<Record<string, unknown>> };

const noQuery: Target['query'] = Object.freeze({});

/** Returns undefined for a path that is not a guest's. A proxy may send a complete URL as the path. */
const targetOf = (url: string, roots: readonly string[]): Target | undefined => {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (!roots.some((root) => local.startsWith(root))) return undefined;
  const at = local.indexOf('?');
  const path = at < 0 ? local : local.slice(0, at);
  if (!roots.some((root) => path === root || path.startsWith(`${root}/`))) return undefined;
  return { path, query: at < 0 ? noQuery : parseQuery(local.slice(at + 1)) };
};

type Outcome = Pick<DispatchResponse, 'status' | 'body' | 'contentType' | 'headers'> &
  Partial<Pick<DispatchResponse, 'operation' | 'refused'>>;

const plain = (status: number, body: unknown): Outcome => ({
  status,
  body,
  contentType: 'application/json; charset=utf-8',
  headers: {
    'Cache-Control': 'no-store',
    ...(status === 503 ? { 'Retry-After': String(unavailableRetrySeconds) } : {}),
  },
});

/** Writes the body as text, unless it is in pieces. */
const written = async (answer: DispatchResponse): Promise<DispatchResponse> =>
  isPieces(answer.body) || typeof answer.body === 'string' ? answer : { ...answer, body: await jsonText(answer.body) };

/** Calls the dispatch, which reads the body. An error that the dispatch throws is an internal failure. */
const createAsk =
  ({ dispatch, addressOf, log }: Deps) =>
  async (request: IncomingMessage, response: ServerResponse, target: Target, id: string): Promise<Outcome> => {
    const method = request.method ?? 'GET';
    try {
      const signal = goneSignal(response, id);
      const { authorization, 'if-none-match': ifNoneMatch, 'accept-language': acceptLanguage } = request.headers;
      const readBody = bodyOf(request);
      const sender = senderOf(addressOf, request);
      const asked = {
        ...target,
        method,
        authorization,
        ifNoneMatch,
        acceptLanguage,
        readBody,
        sender,
        from: request,
        requestId: id,
        signal,
      };
      const answer = await dispatch(asked);
      return answer === undefined ? plain(404, notFound(method, target.path)) : await written(answer);
    } catch (error) {
      const { status, body } = answerOf(error, id, log);
      return plain(status, body);
    }
  };

const createSend = () => {
  const constant = [...constantHeaders(securityHeaders()), ...guestHeaders];
  const preflight = [...constant, ...guestPreflightHeaders];
  return {
    preflight: (response: ServerResponse, id: string): void => {
      response.writeHead(204, [...preflight, 'X-Request-Id', id]).end();
    },
    send: async (response: ServerResponse, outcome: Outcome, id: string): Promise<void> => {
      const { status, body, contentType, headers } = outcome;
      if (status === 304) {
        response.writeHead(304, [...constant, 'X-Request-Id', id, ...Object.entries(headers).flat()]).end();
        return;
      }
      const own = ['X-Request-Id', id, 'Content-Type', contentType, ...Object.entries(headers).flat()];
      if (isPieces(body)) {
        response.writeHead(status, [...constant, ...own]);
        return sendPieces(response, body);
      }
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, [...constant, ...own, 'Content-Length', String(Buffer.byteLength(text))]);
      response.end(text);
    },
  };
};

/** Logs and measures each request once, when its answer is sent or its client has disconnected. */
const createNote = ({ log, metrics }: Deps) => {
  // These fields contain no secrets, and searching for secrets to redact would take longer than writing the line.
  const requests = log.child({}, { redact: [] });
  return (
    { method }: IncomingMessage,
    { statusCode: status }: ServerResponse,
    { path }: Target,
    { id, startedAt, outcome }: { id: string; startedAt: number; outcome: Outcome | undefined },
  ): void => {
    const durationInMs = performance.now() - startedAt;
    const { operation, refused } = outcome ?? {};
    metrics?.observe({ operation: operation ?? 'unmatched', status, durationInSeconds: durationInMs / 1000 });
    const line = { method, path: path.slice(0, 500), status, durationInMs: Math.round(durationInMs), operation };
    const whole = { requestId: id, ...line, ...(refused === undefined ? {} : { refused }) };
    if (status >= 500) requests.error({ event: 'request.failed', ...whole }, 'request');
    else requests.info({ event: 'request.answered', ...whole }, 'request');
  };
};

export const createGuestFront = (deps: Deps): GuestFront => {
  const { roots = guestRoots } = deps;
  const ask = createAsk(deps);
  const { send, preflight } = createSend();
  const note = createNote(deps);
  return (request, response, next) => {
    const target = targetOf(request.url ?? '/', roots);
    if (target === undefined) {
      next();
      return;
    }
    const noted = { id: requestIdOf(request), startedAt: performance.now(), outcome: undefined as Outcome | undefined };
    response.once('close', () => note(request, response, target, noted));
    if (request.method === 'OPTIONS') {
      preflight(response, noted.id);
      return;
    }
    const answer = async (): Promise<void> => {
      noted.outcome = await ask(request, response, target, noted.id);
      await send(response, noted.outcome, noted.id);
    };
    answer().catch((err: unknown) => {
      deps.log.error({ event: 'response.failed', err, requestId: noted.id }, 'failed to send an answer');
      response.destroy();
    });
  };
};
