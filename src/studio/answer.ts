/** How Studio answers what a handler threw. */
import { gatewayErrors } from '../gateway/common/wire.js';
import { answerError, explain } from '../gateway/http/answer.js';
import type { Log } from '../model/log-events.js';
import { createApiKey } from '../service/keys/contract/api-keys.js';
import { createServiceToken } from '../service/keys/contract/service-tokens.js';

/** Codes of the service, which the gateway's own answers do not have. A view that ended is no end of the session. */
const statuses = {
  ...createApiKey.errors,
  ...createServiceToken.errors,
  ...gatewayErrors,
  UNAUTHORIZED: 403,
  TOKEN_EXPIRED: 403,
  METRIC_QUERY_ERROR: 400,
  CLIENT_ID_ERROR: 400,
  RLS_SETTINGS_PARAM_ERROR: 400,
  APP_FILTER_PARAM_ERROR: 400,
};

export const answerOf = (error: unknown): ReturnType<typeof answerError> => answerError(error, statuses);

/** Returns the answer to what a handler threw, and logs it. */
export const refuse = (
  { log }: { readonly log: Log },
  error: unknown,
  requestId: string,
  path: string,
): ReturnType<typeof answerError> => {
  const answer = answerOf(error);
  const line = { requestId, path: path.slice(0, 500), code: answer.code, ...explain(error) };
  if (answer.status >= 500) log.error({ event: 'studio.failed', ...line }, 'studio');
  else log.info({ event: 'studio.refused', ...line }, 'studio');
  return answer;
};
