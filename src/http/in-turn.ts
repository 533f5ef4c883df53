/** Handlers that are asked one after the other. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;
type Front = (...asked: [...Parameters<Handle>, next: () => void]) => void;

/** Whoever does not answer leaves it to the next. */
export const inTurn = (fronts: readonly (Front | null)[], last: Handle): Handle =>
  fronts.reduceRight<Handle>(
    (next, front) => (front === null ? next : (...asked) => front(...asked, () => next(...asked))),
    last,
  );
