/** The error for an upstream without a usable response, and the classification of such failures. */
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { UpstreamRefusal } from '../../platform/http/interface/client.js';

const longestRetrySeconds = 60;

/** Returns whole seconds for `Retry-After`: at least 1, and at most 60 even if the service asks for more. */
const retrySecondsOf = (retryAfterMs: number): number =>
  Math.min(Math.max(Math.ceil(retryAfterMs / 1000), 1), longestRetrySeconds);

/** UPSTREAM_UNAVAILABLE, with the time after which a retry makes sense, if it is known. */
export class Unavailable extends Refusal {
  constructor(
    reason: Reason,
    cause: unknown,
    readonly retryAfterMs?: number | undefined,
  ) {
    super(
      'UPSTREAM_UNAVAILABLE',
      "The analytics service cannot answer right now. Try again shortly; the gateway's log has the reason.",
      { reason, cause, retryAfterSeconds: retryAfterMs === undefined ? undefined : retrySecondsOf(retryAfterMs) },
    );
  }
}

/**
 * Returns the error for a service that could not be reached or did not respond as the interface says. `cause` is for
 * the log.
 */
export const unavailable = (reason: Reason, cause: unknown, retryAfterMs?: number): Unavailable =>
  new Unavailable(
    reason,
    cause,
    retryAfterMs ?? (cause instanceof UpstreamRefusal ? cause.answer.retryAfterMs : undefined),
  );

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/**
 * Whether a response refuses this one request: in the interface's envelope or, from another maker's service, in its own
 * JSON object. All other errors concern the gateway's access, are temporary, or do not come from the service.
 */
export const isAboutTheRequest = ({ status, code, answer }: UpstreamRefusal): boolean => {
  if (status < 400 || status >= 500 || [401, 408, 429].includes(status)) return false;
  return code !== 'UNKNOWN' || ((status === 400 || status === 422) && isObject(answer.body));
};

/**
 * `silent`: no response. `failed`: an error response. `busy`: the service asks for fewer requests. All three can be
 * temporary; any other error gives undefined.
 */
export type Failure = 'silent' | 'failed' | 'busy';

export const failureOf = (error: unknown): Failure | undefined => {
  if (!(error instanceof Unavailable)) return undefined;
  if (!(error.cause instanceof UpstreamRefusal)) return 'silent';
  const { status, code, answer } = error.cause;
  if (status === 429) return 'busy';
  // An error page of a proxy is not a response of the service, whatever its status.
  const isAnswer = status === 401 || code !== 'UNKNOWN' || isObject(answer.body);
  return status >= 400 && status < 500 && status !== 408 && isAnswer ? undefined : 'failed';
};

/**
 * Whether the upstream could not be reached or failed temporarily. False if it gave a response that the gateway must
 * obey.
 */
export const isUnreachable = (error: unknown): boolean => failureOf(error) !== undefined;

/**
 * Whether the upstream refused the request that caused this error. Then the gateway's cached data about that request is
 * outdated.
 */
export const isRefusedByUpstream = (error: unknown): boolean =>
  error instanceof Refusal && error.cause instanceof UpstreamRefusal && isAboutTheRequest(error.cause);
