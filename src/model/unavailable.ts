import type { Reason } from './reasons.js';

/**
 * A dependency (a database, a folder) is unavailable, and the request is not the cause: the dependency is unreachable,
 * frozen, read-only or full. The same request may succeed later. The HTTP layers answer with 503 and `Retry-After`,
 * never with 500.
 */
export class DependencyUnavailable extends Error {
  override readonly name = 'DependencyUnavailable';
  constructor(
    /** Slug for the log: the dependency and its fault. */
    readonly reason: Reason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Value of `Retry-After` in seconds. Restarts and failovers take a few seconds. */
export const unavailableRetrySeconds = 2;

const maxDepth = 8;

/** Returns the first DependencyUnavailable in a chain of causes, or undefined. */
export const findUnavailable = (error: unknown): DependencyUnavailable | undefined => {
  for (let depth = 0, at = error; depth < maxDepth && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof DependencyUnavailable) return at;
  }
  return undefined;
};
