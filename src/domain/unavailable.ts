/**
 * A dependency (a database, a folder) cannot serve now, through no fault of the request: it is away, frozen, read-only or
 * full. The same request may succeed later. The edges answer it with 503 and `Retry-After`, never with 500.
 */
export class DependencyUnavailable extends Error {
  override readonly name = 'DependencyUnavailable';
  constructor(
    /** Slug for the log: which dependency, and what is wrong with it. */
    readonly reason: string,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** What `Retry-After` says: restarts and failovers take a few seconds. */
export const unavailableRetrySeconds = 2;

const maxDepth = 8;

/** The DependencyUnavailable in a chain of causes, if there is one. */
export const findUnavailable = (error: unknown): DependencyUnavailable | undefined => {
  for (let depth = 0, at = error; depth < maxDepth && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof DependencyUnavailable) return at;
  }
  return undefined;
};
