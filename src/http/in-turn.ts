/** Calls several handlers one after the other until one answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;
type Front = (...asked: [...Parameters<Handle>, next: () => void]) => void;

/** A handler that does not answer calls the next one. */
export const inTurn = (fronts: readonly (Front | null)[], last: Handle): Handle =>
  fronts.reduceRight<Handle>(
    (next, front) => (front === null ? next : (...asked) => front(...asked, () => next(...asked))),
    last,
  );
