import type { Transport, WireRequest } from '../../contract/client.js';
import { readText } from '../../platform/read-text.js';
import { unavailable } from './unavailable.js';

export type HttpTransportOptions = {
  /** Of the service, with or without a path; the interface's paths are appended. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
};

const maxAnswerBytes = 16 * 1024 * 1024;

const urlOf = (baseUrl: string, { path, query }: WireRequest): string => {
  const search = new URLSearchParams(query).toString();
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is not the interface; the client says so for every status.
    return undefined;
  }
};

const dateMs = (text: string | null): number => (text?.endsWith(' GMT') === true ? Date.parse(text) : Number.NaN);

/** Of `Retry-After`, seconds or a date by the answer's own clock; undefined where it says nothing usable. */
const retryAfterMsOf = ({ headers }: Response): number | undefined => {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : dateMs(text) - dateMs(headers.get('date'));
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
};

/** Carries requests over HTTP. Follows no redirect, for they would carry the key along. Rejects with UPSTREAM_UNAVAILABLE. */
export const createHttpTransport =
  ({ baseUrl, timeoutMs }: HttpTransportOptions): Transport =>
  async (request, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(urlOf(baseUrl, request), {
        method: request.method,
        headers: {
          ...(request.bearer === '' ? {} : { authorization: `Bearer ${request.bearer}` }),
          accept: 'application/json',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const body = parse(await readText(response, maxAnswerBytes));
      return { status: response.status, body, retryAfterMs: retryAfterMsOf(response) };
    } catch (cause) {
      throw unavailable(
        timeout.aborted || signal?.aborted === true ? 'upstream-timeout' : 'upstream-unreachable',
        cause,
      );
    }
  };
