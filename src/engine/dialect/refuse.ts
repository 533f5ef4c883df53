import { type Reason, restrictionReason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import type { TextPlace } from '../../model/text-place.js';

/**
 * Refuses the query before it runs. `message` says what is wrong and how to correct it, and repeats no value. `place`: of
 * the text that the caller wrote.
 */
export const refuseQuery = (message: string, reason: Reason, place?: TextPlace): never => {
  throw new Refusal('METRIC_QUERY_ERROR', message, { reason, place });
};

/**
 * Runs `work` for a condition that the caller may not know of (`isHidden`). A refusal then names neither table nor
 * column.
 */
export const withoutNames = <T>(isHidden: boolean | undefined, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (isHidden !== true || !(cause instanceof Refusal)) throw cause;
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'A restriction that the host application set does not fit the current data. The host application must change it.',
      { reason: restrictionReason(cause.reason), cause },
    );
  }
};

/** The same for an error that was thrown already. */
export const rethrowUnnamed = (isHidden: boolean | undefined, cause: unknown): never =>
  withoutNames(isHidden, () => {
    throw cause;
  });

/** Refuses a value outside of a closed union, for example one stored by a newer version. */
export const refuseUnknown = (what: string, value: never): never => {
  throw new Refusal('METRIC_QUERY_ERROR', `This version of the engine does not know this ${what}.`, {
    reason: 'unknown-kind',
    cause: value,
  });
};
