import { Refusal } from '../../domain/refusal.js';

/** It cannot be done just now, and nothing is half done that the next attempt would not finish. */
export const busy = (reason: string): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    'This tenant is being worked on just now. What the event says is noted; send it again shortly for the rest.',
    { reason },
  );
