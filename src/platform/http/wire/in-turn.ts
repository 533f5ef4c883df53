/** The steps of the front, on Node's request and response. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Answers, or calls `next`. Express and a host's router call a step as they call their own. A step returns its promise and
 * what `next` returns, so that its caller sees a rejection.
 */
export type Step = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => unknown) => unknown;

/** Offers a request to each step until one answers. An error that a step passes to `next` skips the others. */
export const inTurn = (steps: readonly (Step | null)[]): Step =>
  steps.reduceRight<Step>(
    (rest, step) =>
      step === null
        ? rest
        : (request, response, next) =>
            step(request, response, (error) => (error === undefined ? rest(request, response, next) : next(error))),
    (_request, _response, next) => next(),
  );
