import { UpstreamRefusal } from '../../contract/client.js';
import { Refusal } from '../../domain/refusal.js';
import { BodyTooLarge } from '../../http/body-faults.js';
import { publicReason } from '../common/reasons.js';
import { encodeError, type GatewayCode, namedUnavailable, usualRetrySeconds } from '../common/wire.js';
import { ExpressionFault } from '../policy/expression.js';
import { MintRefusal } from '../token/mint-refusal.js';
import type { FlatHeaders } from './headers.js';

/** A response as it is sent. */
export type Answer = { readonly status: number; readonly body: string; readonly headers: FlatHeaders };

export const noHeaders: FlatHeaders = [];

const retryAfter = (error: unknown, status: number): FlatHeaders => {
  const seconds = error instanceof Refusal ? error.retryAfterSeconds : null;
  if (seconds === null && status !== 503) return noHeaders;
  return ['Retry-After', String(seconds ?? usualRetrySeconds)];
};

/**
 * Returns the response for an error, for callers with credentials of the host. It contains the message for developers.
 */
export const answerError = (thrown: unknown): Answer & { readonly code: GatewayCode } => {
  const error = namedUnavailable(thrown);
  const { code, status, body } = encodeError(error);
  // The host's server would otherwise read the rest of the body, however long, to use the connection again.
  const headers = error instanceof BodyTooLarge ? ['Connection', 'close'] : retryAfter(error, status);
  return { code, status, body, headers };
};

/**
 * Returns the response of `/embed-token` for an error. A browser reads it, so a 403 has a neutral message, its reason
 * code and the request's id, but names no rule, file or tenant. Write `developerText` of the error to the log.
 */
export const answerBrowser = (thrown: unknown, requestId: string): ReturnType<typeof answerError> => {
  const answer = answerError(thrown);
  if (answer.status !== 403 || !(thrown instanceof Refusal)) return answer;
  const { code, status } = answer;
  const message = `You can't see these analytics. Ask your administrator. Reference: ${requestId}`;
  const error = { code, reason: publicReason(code, thrown.reason), message, status, requestId };
  return { ...answer, body: JSON.stringify({ error }) };
};

/** Returns the error's message if the response withholds it from the browser, for the log. */
export const developerText = (thrown: unknown, status: number): { readonly detail?: string } =>
  status === 403 && thrown instanceof Refusal ? { detail: thrown.message } : {};

/**
 * Returns the cause of an error as log fields. They contain no claim value: an expression is identified by its place.
 */
export const explain = (thrown: unknown): Record<string, unknown> => {
  const error = namedUnavailable(thrown);
  if (!(error instanceof Refusal)) return { err: error };
  const { reason, cause } = error;
  if (cause instanceof ExpressionFault) return { reason, at: cause.at, expression: cause.source, fault: cause.code };
  if (cause instanceof MintRefusal)
    return { reason, upstream: { status: cause.status, code: cause.code, ...cause.fields } };
  if (cause instanceof UpstreamRefusal) {
    return { reason, upstream: { status: cause.status, code: cause.code, message: cause.message } };
  }
  return cause instanceof Error ? { reason, cause: cause.message } : { reason };
};

/** The header with the methods that the path accepts. */
export const allow: FlatHeaders = ['Allow', 'POST, OPTIONS'];

/** Returns the response for any method other than POST. */
export const wrongMethod = (method: string | undefined): Answer => {
  const { status, body } = encodeError(
    new Refusal('METHOD_NOT_ALLOWED', `${method ?? 'This method'} is not allowed here: send POST.`),
  );
  return { status, body, headers: allow };
};
