/** What is deleted once it is old enough, and how much of it. */

/**
 * `sessions`: the last session of each user, for reports. `hooks`: answers to webhooks of the host. `deliveries`: sent
 * reports and alerts. `tokens`: guest tokens that have expired.
 */
export type RetentionKind = 'audit' | 'explanations' | 'sessions' | 'hooks' | 'tokens' | 'deliveries' | 'usage';

/** How a slice of a sweep ended. `busy`: another process is sweeping. */
export type SliceEnd = 'more' | 'done' | 'busy';

/** Numbers of rows that are old enough. `held`: those that a hold keeps. */
export type DueRows = { readonly kind: RetentionKind; readonly due: number; readonly held: number };

export type Retained = {
  readonly kind: RetentionKind;
  /** Deletes at most one slice of what is old enough and not held. A crash in it loses nothing, and the next slice goes on. */
  readonly sweep: (now: Date) => Promise<SliceEnd>;
};

/** What one half of the product keeps for a time. */
export type Retention = {
  readonly kinds: readonly Retained[];
  /** Notes that a sweep went through all kinds. */
  readonly noteSwept: (now: Date) => Promise<void>;
};

const dayMs = 86_400_000;

/** The moment before which a row is old enough. */
export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);
