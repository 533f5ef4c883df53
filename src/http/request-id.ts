/** The id of a request, for the log and for the `X-Request-Id` header of the answer. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The caller's `X-Request-Id` if it has 8 to 64 letters, digits, `_` and `-`; otherwise a new UUID. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
};
