/** What the front notes of each request: its id, and what its one line in the log and its measure say at the end. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../logs/log.js';
import type { Meters } from '../../logs/meters.js';
import type { DispatchResponse } from './bind.js';

/** The caller's `X-Request-Id` if it has 8 to 64 letters, digits, `_` and `-`; otherwise a new UUID. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
};

/** The address without a scheme and a host: a proxy may send a complete URL. */
export const localUrlOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): string =>
  url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');

/** The path, percent-encoded, without the query string. */
export const pathOf = (request: Pick<IncomingMessage, 'url'>): string => localUrlOf(request).replace(/[?#].*$/, '');

/** Whether the method changes nothing. */
export const readsOnly = ({ method }: Pick<IncomingMessage, 'method'>): boolean =>
  method === 'GET' || method === 'HEAD';

/**
 * Returns the cookie's value as it was sent. Null if there is none, or only empty ones: an app empties a cookie at a
 * logout. If several cookies of that name have different values, returns the empty string, which is refused.
 */
export const rawCookieOf = ({ cookie }: IncomingHttpHeaders, name: string): string | null => {
  const values = (cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [first] = values;
  if (first === undefined || values.every((value) => value === '')) return null;
  return values.every((value) => value === first) ? first : '';
};

/** As `rawCookieOf`, without the quotes around the value. */
export const cookieOf = (headers: IncomingHttpHeaders, name: string): string | null =>
  rawCookieOf(headers, name)?.replace(/^"(.*)"$/, '$1') ?? null;

type Note = { readonly requestId: string } & Partial<
  Pick<DispatchResponse, 'operation' | 'refused' | 'traceId' | 'exemplar'>
>;

const notes = new WeakMap<ServerResponse, Note>();

/** The note of an answer to a request that `beginning` began. */
export const noteOf = (response: ServerResponse): Note => {
  const note = notes.get(response);
  if (note === undefined) throw new Error('this request was not begun by the front');
  return note;
};

/** Says which operation answers, for the log and the meters. */
export const noteAnswer = (response: ServerResponse, { operation, refused, ...trace }: DispatchResponse): void => {
  const { traceId, exemplar } = trace;
  const noted = { operation, traceId, exemplar, ...(refused === undefined ? {} : { refused }) };
  notes.set(response, { ...noteOf(response), ...noted });
};

export type Begin = (request: IncomingMessage, response: ServerResponse) => string;

/**
 * Returns a function that begins a request, and returns its id. Each request is logged and measured once, when its answer
 * was sent or its client disconnected. The line has no header, query string or body.
 */
export const beginning = ({ log, meters }: { readonly log: Log; readonly meters?: Meters | undefined }): Begin => {
  // These fields contain no secrets, and searching for secrets to redact would take longer than writing the line.
  const lines = log.child({}, { redact: [] });
  return (request, response) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const { method } = request;
    const path = pathOf(request).slice(0, 500);
    notes.set(response, { requestId });
    response.once('close', () => {
      const durationInMs = performance.now() - startedAt;
      const { statusCode: status } = response;
      const { operation, refused, traceId, exemplar } = noteOf(response);
      const measured = { status, durationInSeconds: durationInMs / 1000, exemplar };
      meters?.observe({ operation: operation ?? 'unmatched', ...measured });
      const line = { method, path, status, durationInMs: Math.round(durationInMs), operation };
      const whole = { requestId, traceId, ...line, ...(refused === undefined ? {} : { refused }) };
      if (status >= 500) lines.error({ event: 'request.failed', ...whole }, 'request');
      else lines.info({ event: 'request.answered', ...whole }, 'request');
    });
    return requestId;
  };
};
