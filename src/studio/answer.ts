/** How Studio answers what a handler threw. */
import { type Code, Refusal } from '../domain/refusal.js';
import { answerError } from '../gateway/http/answer.js';
import { envelope } from '../http/envelope.js';

/** Codes of the service, which the gateway's own answers do not have. A view that ended is no end of the session. */
const serviceErrors: Readonly<Partial<Record<Code, number>>> = {
  UNAUTHORIZED: 403,
  TOKEN_EXPIRED: 403,
  METRIC_QUERY_ERROR: 400,
  CLIENT_ID_ERROR: 400,
  RLS_SETTINGS_PARAM_ERROR: 400,
  APP_FILTER_PARAM_ERROR: 400,
};

export const answerOf = (
  error: unknown,
): Pick<ReturnType<typeof answerError>, 'status' | 'body' | 'headers'> & { code: string } => {
  const status = error instanceof Refusal ? serviceErrors[error.code] : undefined;
  if (!(error instanceof Refusal) || status === undefined) return answerError(error);
  const { code, message } = error;
  return { status, code, body: JSON.stringify(envelope(code, message, status)), headers: [] };
};
