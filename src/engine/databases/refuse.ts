import { Refusal } from '../../domain/refusal.js';

/** Refuses the query before it runs. `message` says what is wrong and how to mend it, and repeats no value. */
export const refuseQuery = (message: string, reason: string): never => {
  throw new Refusal('METRIC_QUERY_ERROR', message, { reason });
};

/** `work` on a condition that whoever asks may not know of: where it is refused, nothing names its table or its column. */
export const withoutNames = <T>(isHidden: boolean | undefined, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (isHidden !== true || !(cause instanceof Refusal)) throw cause;
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'A restriction that the host application set does not fit the data as it is now; the host application has to change it.',
      { reason: `restriction-${cause.reason}`, cause },
    );
  }
};

/** The same for work that failed already. */
export const rethrowUnnamed = (isHidden: boolean | undefined, cause: unknown): never =>
  withoutNames(isHidden, () => {
    throw cause;
  });

/** Where a closed union meets a value outside of it (stored by a newer version, say): the query is refused, not guessed. */
export const refuseUnknown = (what: string, value: never): never => {
  throw new Refusal('METRIC_QUERY_ERROR', `This version of the engine does not know this ${what}.`, {
    reason: 'unknown-kind',
    cause: value,
  });
};
