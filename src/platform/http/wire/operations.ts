/**
 * Answers the paths of operations before Express does. A browser sends one request for each chart, most answers come from a
 * cache, and Express would cost more time than the rest.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Log } from '../../logs/log.js';
import { remoteTraceOf } from '../../traces/trace.js';
import type { AddressOf } from './address.js';
import { senderOf } from './admission.js';
import type { Dispatch, DispatchResponse } from './bind.js';
import { bodyOf } from './body-reader.js';
import type { FlatHeaders } from './constant-headers.js';
import { notFound } from './envelope.js';
import { endFailed } from './failure.js';
import type { Step } from './in-turn.js';
import { type Begin, localUrlOf, noteAnswer } from './request.js';
import { flat, goneSignal, json, send } from './sending.js';

/** Sends the answer of an operation. `headers` come before its own. */
export const sendAnswer = (
  response: ServerResponse,
  answer: DispatchResponse,
  headers: FlatHeaders = [],
): void | Promise<void> => {
  noteAnswer(response, answer);
  const { status } = answer;
  const all = [...headers, ...flat(answer.headers)];
  if (status === 304) return send(response, { status, headers: all });
  return send(response, { status, headers: [...all, 'Content-Type', answer.contentType], body: answer.body });
};

type Target = { readonly path: string; readonly query: Readonly<Record<string, unknown>> };

const noQuery: Target['query'] = Object.freeze({});

/** Returns undefined for a path that is neither one of the roots nor below one. */
const targetOf = (request: IncomingMessage, roots: readonly string[]): Target | undefined => {
  const local = localUrlOf(request);
  if (!roots.some((root) => local.startsWith(root))) return undefined;
  const at = local.indexOf('?');
  const path = at < 0 ? local : local.slice(0, at);
  if (!roots.some((root) => path === root || path.startsWith(`${root}/`))) return undefined;
  return { path, query: at < 0 ? noQuery : parseQuery(local.slice(at + 1)) };
};

type Served = {
  /** The paths that are answered, with all below them. */
  readonly roots: readonly string[];
  readonly dispatch: Dispatch;
  readonly addressOf: AddressOf;
  readonly begin: Begin;
  readonly log: Log;
  /** The headers of every answer. */
  readonly headers: FlatHeaders;
  /** The further headers of the answer to a preflight. Left out: `OPTIONS` is a method as all others. */
  readonly preflight?: FlatHeaders;
};

/** Calls the dispatch, which reads the body, for the paths of the roots, and `next` for all others. */
export const serveOperations =
  ({ roots, dispatch, addressOf, begin, log, headers, preflight }: Served): Step =>
  (request, response, next) => {
    const target = targetOf(request, roots);
    if (target === undefined) return next();
    const requestId = begin(request, response);
    const own = [...headers, 'X-Request-Id', requestId];
    const { method = 'GET' } = request;
    if (preflight !== undefined && method === 'OPTIONS')
      return send(response, { status: 204, headers: [...own, ...preflight] });
    const answer = async (): Promise<void> => {
      const answered = await dispatch({
        ...target,
        method,
        authorization: request.headers.authorization,
        ifNoneMatch: request.headers['if-none-match'],
        acceptLanguage: request.headers['accept-language'],
        gateway: request.headers['guestlist-gateway']?.toString(),
        readBody: bodyOf(request),
        sender: senderOf(addressOf, request),
        from: request,
        requestId,
        trace: remoteTraceOf(request.headers),
        signal: goneSignal(response, requestId),
      });
      if (answered !== undefined) return sendAnswer(response, answered, own);
      return send(response, { status: 404, headers: [...own, ...json], body: notFound(method, target.path) });
    };
    return answer().catch((error: unknown) => endFailed(response, error, requestId, own, log));
  };
