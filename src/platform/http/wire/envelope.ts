import type { Code } from '../../../model/refusal.js';
import { limits } from '../interface/fields.js';

/** The body of every error. */
export const envelope = (code: Code, message: string, status: number) => ({ error: { code, message, status } });

/** The error for an unknown path. */
export const notFound = (method: string, path: string) =>
  envelope('NOT_FOUND', `Nothing answers ${method.slice(0, 20)} ${path.slice(0, 200)}; see /docs.`, 404);

export const tooLarge = (limit: number = limits.bodyBytes) =>
  envelope('INVALID_REQUEST_BODY', `The body is larger than ${limit} bytes.`, 413);
