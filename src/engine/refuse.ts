import { Refusal } from '../domain/refusal.js';

/** Refuses the query before it runs. `message` says what is wrong and how to mend it, and repeats no value. */
export const refuseQuery = (message: string, reason: string): never => {
  throw new Refusal('METRIC_QUERY_ERROR', message, { reason });
};

/** Where a closed union meets a value outside of it (stored by a newer version, say): the query is refused, not guessed. */
export const refuseUnknown = (what: string, value: never): never => {
  throw new Refusal('METRIC_QUERY_ERROR', `This version of the engine does not know this ${what}.`, {
    reason: 'unknown-kind',
    cause: value,
  });
};
