import type { Transport, WireRequest } from '../contract/client.js';
import { unavailable } from './upstream.js';

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

const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is not the interface; the client says so for every status.
    return undefined;
  }
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
          authorization: `Bearer ${request.bearer}`,
          accept: 'application/json',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      return { status: response.status, body: parse(await readText(response)) };
    } catch (cause) {
      throw unavailable(timeout.aborted ? 'upstream-timeout' : 'upstream-unreachable', cause);
    }
  };
