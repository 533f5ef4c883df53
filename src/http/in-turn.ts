/** The steps of the front, on Node's request and response. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Answers, or calls `next`. Express and a host's router call a step as they call their own. */
export type Step = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => unknown;

/** Offers a request to each step until one answers. */
export const inTurn = (steps: readonly (Step | null)[], last: Handle): Handle =>
  steps.reduceRight<Handle>(
    (next, step) => (step === null ? next : (...asked) => step(...asked, () => void next(...asked))),
    last,
  );
