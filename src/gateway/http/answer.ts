/** What callers of the gateway are told of an error, and what its log says of it. */
import { type Code, Refusal } from '../../model/refusal.js';
import { findUnavailable, unavailableRetrySeconds } from '../../model/unavailable.js';
import { UpstreamRefusal } from '../../platform/http/interface/client.js';
import { BodyTooLarge } from '../../platform/http/wire/body-faults.js';
import type { FlatHeaders } from '../../platform/http/wire/constant-headers.js';
import { envelope } from '../../platform/http/wire/envelope.js';
import { failureOf, refusedWith, retryAfter, type Telling } from '../../platform/http/wire/failure.js';
import { flat } from '../../platform/http/wire/sending.js';
import { publicReason } from '../common/reasons.js';
import { gatewayErrors } from '../common/wire.js';
import { ExpressionFault } from '../policy/expression.js';
import type { NamedTenant } from '../tenant/names.js';
import { MintRefusal } from '../token/mint-refusal.js';

/** An answer whose body is written already. */
export type TextAnswer = { readonly status: number; readonly headers: FlatHeaders; readonly body: string };

/** `Retry-After` of a 503 in seconds, if the service is unreachable and gave no delay of its own. */
const usualRetrySeconds = 5;

type Statuses = Telling['statuses'];

/**
 * Converts the error of an unavailable dependency to UPSTREAM_UNAVAILABLE with a delay for the retry. Returns other
 * errors unchanged.
 */
const namedUnavailable = (error: unknown, statuses: Statuses = gatewayErrors): unknown => {
  const isOwn = !(error instanceof Refusal) || (statuses[error.code] ?? 500) === 500;
  const unavailable = isOwn ? findUnavailable(error) : undefined;
  if (unavailable === undefined) return error;
  return new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The gateway's database is unavailable. Try again shortly; the gateway's log has the reason.",
    { reason: unavailable.reason, cause: error, retryAfterSeconds: unavailableRetrySeconds },
  );
};

const ofGateway = (statuses: Statuses): Telling => ({
  statuses,
  away: (error) => {
    const named = namedUnavailable(error, statuses);
    return named instanceof Refusal && named !== error ? refusedWith(named, 503) : undefined;
  },
  failed: 'The gateway failed to answer; the reason is in its log.',
});

/**
 * Returns the response for an error, for callers with credentials of the host. It contains the message for developers.
 * `statuses`: the codes that they may get.
 */
export const answerError = (
  error: unknown,
  statuses: Statuses = gatewayErrors,
): TextAnswer & { readonly code: Code } => {
  const failure = failureOf(error, ofGateway(statuses));
  const { code, status, message } = failure;
  // The host's server would otherwise read the rest of the body, however long, to use the connection again.
  const headers =
    error instanceof BodyTooLarge ? ['Connection', 'close'] : flat(retryAfter(failure, usualRetrySeconds));
  return { code, status, body: JSON.stringify(envelope(code, message, status)), headers };
};

/**
 * Returns the response of `/embed-token` for an error. A browser reads it, so a 403 has a neutral message, its reason
 * code and the request's id, but names no rule or file, and no tenant besides the session's own `tenants`. `withheld` is
 * the message for developers then, for the log.
 */
export const answerBrowser = (
  thrown: unknown,
  requestId: string,
  tenants?: readonly NamedTenant[],
): ReturnType<typeof answerError> & { readonly withheld?: string } => {
  const answer = answerError(thrown);
  if (answer.status !== 403 || !(thrown instanceof Refusal)) return answer;
  const { code, status } = answer;
  const message = `You can't see these analytics. Ask your administrator. Reference: ${requestId}`;
  const reason = publicReason(code, thrown.reason);
  const error = { code, reason, message, status, requestId, ...(tenants === undefined ? {} : { tenants }) };
  return { ...answer, body: JSON.stringify({ error }), withheld: thrown.message };
};

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
export const wrongMethod = (method: string | undefined): TextAnswer => ({
  ...answerError(new Refusal('METHOD_NOT_ALLOWED', `${method ?? 'This method'} is not allowed here: send POST.`)),
  headers: allow,
});
