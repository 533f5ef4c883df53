import { UpstreamRefusal } from '../../contract/client.js';
import { Refusal } from '../../domain/refusal.js';
import { encodeError, namedUnavailable, retryAfterSeconds } from '../common/wire.js';
import { ExpressionFault } from '../policy/expression.js';
import { MintRefusal } from '../token/mint-refusal.js';
import { Unavailable } from '../upstream/unavailable.js';
import { bodyTooLarge } from './body.js';
import type { FlatHeaders } from './headers.js';

/** An answer as it is sent. */
export type Answer = { readonly status: number; readonly body: string; readonly headers: FlatHeaders };

export const noHeaders: FlatHeaders = [];

const retryAfter = (error: unknown, status: number): FlatHeaders => {
  const seconds = error instanceof Refusal ? error.retryAfterSeconds : null;
  if (seconds === null && status !== 503) return noHeaders;
  const retryAfterMs = error instanceof Unavailable ? error.retryAfterMs : undefined;
  return ['Retry-After', String(seconds ?? retryAfterSeconds(retryAfterMs))];
};

/** The answer to what was thrown. */
export const answerError = (thrown: unknown): Answer & { readonly code: string } => {
  const error = namedUnavailable(thrown);
  const { code, status, body } = encodeError(error);
  const isUnread = error instanceof Refusal && error.reason === bodyTooLarge;
  return { code, status, body, headers: isUnread ? ['Connection', 'close'] : retryAfter(error, status) };
};

/** Why, for the log. No claim's value is in it: an expression is named by its place, a refusal by its slug. */
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

/** The methods that the path takes. */
export const allow: FlatHeaders = ['Allow', 'POST, OPTIONS'];

/** The answer to any method but POST. */
export const wrongMethod = (method: string | undefined): Answer => {
  const { status, body } = encodeError(
    new Refusal('METHOD_NOT_ALLOWED', `${method ?? 'This method'} is not allowed here: send POST.`),
  );
  return { status, body, headers: allow };
};
