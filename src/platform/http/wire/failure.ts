/** Maps an error to what its caller is told: the one mapper of the service, the gateway and Studio, which differ in words and statuses. */
import type { ServerResponse } from 'node:http';
import type { Reason } from '../../../model/reasons.js';
import { type Code, Refusal } from '../../../model/refusal.js';
import { type DependencyUnavailable, findUnavailable, unavailableRetrySeconds } from '../../../model/unavailable.js';
import type { Log } from '../../logs/log.js';
import { BodyTooLarge } from './body-faults.js';
import type { FlatHeaders } from './constant-headers.js';
import { envelope } from './envelope.js';
import { flat, json, send } from './sending.js';

export type Failure = {
  readonly status: number;
  readonly code: Code;
  readonly message: string;
  readonly reason: Reason;
  readonly retryAfterSeconds: number | null;
};

/** What one kind of callers is told. */
export type Telling = {
  /** The codes that they may get, with the status of each. Any other error is a failure of this process. */
  readonly statuses: Readonly<Partial<Record<Code, number>>>;
  /** The failure for an error of a dependency that is unavailable; undefined for other errors. */
  readonly away: (error: unknown) => Failure | undefined;
  /** The message of a failure of this process. Its cause is only logged. */
  readonly failed: string;
};

export const refusedWith = (
  { code, message, reason, retryAfterSeconds }: Refusal,
  status: number,
  changed: Partial<Failure> = {},
): Failure => ({ status, code, message, reason, retryAfterSeconds, ...changed });

/** Returns what the caller is told. The message of an error that is no refusal stays here. */
export const failureOf = (error: unknown, { statuses, away, failed }: Telling): Failure => {
  const gone = away(error);
  if (gone !== undefined) return gone;
  const own = error instanceof Refusal ? statuses[error.code] : undefined;
  const status = error instanceof BodyTooLarge ? 413 : own;
  if (error instanceof Refusal && status !== undefined) return refusedWith(error, status);
  const [code, reason] = ['INTERNAL_SERVER_ERROR', 'internal-server-error'] as const;
  return { status: 500, code, message: failed, reason, retryAfterSeconds: null };
};

/** The header that says when the same request may succeed: always with 503. */
export const retryAfter = (
  { status, retryAfterSeconds }: Failure,
  usualSeconds: number = unavailableRetrySeconds,
): Readonly<Record<string, string>> => {
  const seconds = status === 503 ? (retryAfterSeconds ?? usualSeconds) : retryAfterSeconds;
  return seconds === null ? {} : { 'Retry-After': String(seconds) };
};

/** Whether the request names a server that does not answer: the request is at fault. A server without room answers. */
const namesWrongServer = ({ code }: Refusal, { reason }: DependencyUnavailable): boolean =>
  code === 'DATASOURCE_CONNECTION_ERROR' && reason === 'datasource-lost';

/**
 * What callers of an operation are told. `statuses`: the errors that the operation declares. An unavailable database or
 * server is 503 in every operation, declared or not. A refusal keeps its code and message; UPSTREAM_UNAVAILABLE is the
 * gateway's code, so the service has its own. spec-gap: the interface has no code for it.
 */
export const ofService = (requestId: string, statuses: Telling['statuses'] = {}): Telling => ({
  statuses,
  away: (error) => {
    const fault = findUnavailable(error);
    const code = 'SERVICE_UNAVAILABLE';
    if (error instanceof Refusal && error.code === 'UPSTREAM_UNAVAILABLE') return refusedWith(error, 503, { code });
    if (fault === undefined) return undefined;
    if (error instanceof Refusal) return namesWrongServer(error, fault) ? undefined : refusedWith(error, 503);
    const message = `A database of the service is unavailable. Try again shortly; quote request id ${requestId} when you report it.`;
    return { status: 503, code, message, reason: fault.reason, retryAfterSeconds: null };
  },
  // The log has the cause under the same request id.
  failed: `Something failed on our side. Quote request id ${requestId} when you report it.`,
});

type WriteError = (response: ServerResponse, body: ReturnType<typeof envelope>, headers: FlatHeaders) => unknown;

/** The interface answers in JSON, whatever its caller accepts. */
const writeJson: WriteError = (response, body, headers) =>
  send(response, { status: body.error.status, headers: [...headers, ...json], body });

/**
 * Ends a request that failed outside of any operation: with an answer, or by cutting an answer that was begun. The error is
 * logged unless the body of the request is at fault.
 */
export const endFailed = (
  response: ServerResponse,
  error: unknown,
  requestId: string,
  headers: FlatHeaders,
  log: Log,
  write: WriteError = writeJson,
): void => {
  if (response.headersSent) {
    log.error({ event: 'response.failed', err: error, requestId }, 'failed to send an answer');
    response.destroy();
    return;
  }
  const failure = failureOf(error, ofService(requestId, { INVALID_REQUEST_BODY: 400 }));
  const { code, message, status } = failure;
  if (status >= 500)
    log.error({ event: 'request.crashed', err: error, requestId }, 'a request failed outside of any operation');
  write(response, envelope(code, message, status), [...headers, ...flat(retryAfter(failure))]);
};
