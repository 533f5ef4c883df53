import { limits } from '../contract/fields.js';
import type { Code } from '../domain/refusal.js';

/** The body of every error. */
export const envelope = (code: Code, message: string, status: number) => ({ error: { code, message, status } });

/** The caller's message for an internal failure. The log has the cause under the same request id. */
export const failureMessage = (requestId: string): string =>
  `Something failed on our side. Quote request id ${requestId} when you report it.`;

/** The error if a dependency is unavailable. spec-gap: the interface has no code for it. */
export const unavailable = (requestId: string) =>
  envelope(
    'SERVICE_UNAVAILABLE',
    `A database of the service is unavailable. Try again shortly; quote request id ${requestId} when you report it.`,
    503,
  );

/** The error for an unknown path. */
export const notFound = (method: string, path: string) =>
  envelope('NOT_FOUND', `Nothing answers ${method.slice(0, 20)} ${path.slice(0, 200)}; see /docs.`, 404);

export const tooLarge = (limit: number = limits.bodyBytes) =>
  envelope('INVALID_REQUEST_BODY', `The body is larger than ${limit} bytes.`, 413);
