import { type Call, createClient, type Transport, UpstreamRefusal } from '../contract/client.js';
import { Refusal } from '../domain/refusal.js';

/** The service could not be asked, or did not answer as the interface says. `cause` is for the log. */
export const unavailable = (reason: string, cause: unknown): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The analytics service cannot answer right now. Try again shortly; the gateway's log has the reason.",
    { reason, cause },
  );

/** Statuses of an answer that are about the gateway's own access or the moment, and not about the request. */
const isAnswer = ({ status, code }: UpstreamRefusal): boolean =>
  status >= 400 && status < 500 && ![401, 408, 429].includes(status) && code !== 'UNKNOWN';

const reasonOf = (error: unknown): string => {
  if (!(error instanceof UpstreamRefusal)) return 'upstream-unreachable';
  return error.status === 401 ? 'upstream-refuses-the-api-key' : 'upstream-failed';
};

/**
 * The gateway's way to its upstream. Throws UpstreamRefusal where the service refuses this very request, and
 * UPSTREAM_UNAVAILABLE for everything else that is not a good answer.
 */
export const createUpstream = (transport: Transport, apiKey: string): Call => {
  const call = createClient(transport, apiKey);
  return async (operation, input) => {
    try {
      return await call(operation, input);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof UpstreamRefusal && isAnswer(error)) throw error;
      throw unavailable(reasonOf(error), error);
    }
  };
};
