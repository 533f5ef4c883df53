/** What is told where the upstream gave no good answer, and what kind of failure it was. */
import { UpstreamRefusal } from '../../contract/client.js';
import { Refusal } from '../../domain/refusal.js';

/** UPSTREAM_UNAVAILABLE, with the time after which asking again makes sense, where that is known. */
export class Unavailable extends Refusal {
  constructor(
    reason: string,
    cause: unknown,
    readonly retryAfterMs?: number | undefined,
  ) {
    super(
      'UPSTREAM_UNAVAILABLE',
      "The analytics service cannot answer right now. Try again shortly; the gateway's log has the reason.",
      { reason, cause },
    );
  }
}

/** The service could not be asked, or did not answer as the interface says. `cause` is for the log. */
export const unavailable = (reason: string, cause: unknown, retryAfterMs?: number): Unavailable =>
  new Unavailable(
    reason,
    cause,
    retryAfterMs ?? (cause instanceof UpstreamRefusal ? cause.answer.retryAfterMs : undefined),
  );

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/**
 * Whether an answer refuses this very request, in the interface's envelope or, of a foreign service, in a JSON object of its
 * own. All others are about the gateway's own access, about the moment, or no answer of a service at all.
 */
export const isAboutTheRequest = ({ status, code, answer }: UpstreamRefusal): boolean => {
  if (status < 400 || status >= 500 || [401, 408, 429].includes(status)) return false;
  return code !== 'UNKNOWN' || ((status === 400 || status === 422) && isObject(answer.body));
};

/**
 * `silent`: nobody answered. `failed`: something answered, and not well. `busy`: the service asks to be asked less. All
 * three may pass by themselves; everything else is undefined.
 */
export type Failure = 'silent' | 'failed' | 'busy';

export const failureOf = (error: unknown): Failure | undefined => {
  if (!(error instanceof Unavailable)) return undefined;
  if (!(error.cause instanceof UpstreamRefusal)) return 'silent';
  const { status, code, answer } = error.cause;
  if (status === 429) return 'busy';
  // A page of some proxy on the way is no answer of the service, whatever its status.
  const isAnswer = status === 401 || code !== 'UNKNOWN' || isObject(answer.body);
  return status >= 400 && status < 500 && status !== 408 && isAnswer ? undefined : 'failed';
};

/** Whether the upstream could not be asked, rather than had something to say that the gateway must heed. */
export const isUnreachable = (error: unknown): boolean => failureOf(error) !== undefined;

/** Whether the upstream refused the request that this came of: something that was known of it no longer fits. */
export const isRefusedByUpstream = (error: unknown): boolean =>
  error instanceof Refusal && error.cause instanceof UpstreamRefusal && isAboutTheRequest(error.cause);
