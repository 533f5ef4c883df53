import type { Check } from './kit/check.js';
import { createMade, type Thing } from './kit/cleanup.js';
import { Fault, NotTried } from './kit/expect.js';
import type { OperationId } from './kit/operations.js';
import type { Options } from './kit/options.js';
import { createStage } from './kit/stage.js';
import { openWire, writeExchange } from './kit/wire.js';

export type Outcome = {
  readonly operation: OperationId;
  readonly sentence: string;
  readonly result: 'holds' | 'fails' | 'not tried';
  /** What was wrong, or why it was not tried. */
  readonly message?: string;
  readonly request?: string;
  readonly answer?: string;
};

export type Report = {
  readonly outcomes: readonly Outcome[];
  /** What the run made and could not remove: `data app conf1234app`. */
  readonly left: readonly string[];
};

const isWanted = ({ only, isOurs }: Options, check: Check): boolean =>
  (only === null || only.includes(check.operation)) && (isOurs || check.isOurs !== true);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const writeThing = ({ kind, name }: Thing): string => `${kind} ${name}`;

/**
 * Tries the checks one after another, then removes what they made, also where `stop` ended them: what was not tried by
 * then says so.
 */
export const runChecks = async (checks: readonly Check[], options: Options, stop: AbortSignal): Promise<Report> => {
  const known = [options.serviceToken, options.apiKey ?? ''];
  // The removal goes on where the run was stopped.
  let signal = stop;
  const wire = openWire(options.baseUrl, known, () => signal);
  const made = createMade();
  const stage = createStage(wire, made, options);

  const tryCheck = async ({ operation, sentence, run }: Check): Promise<Outcome> => {
    if (stop.aborted) return { operation, sentence, result: 'not tried', message: 'the run was stopped' };
    wire.forget();
    try {
      await run(stage);
      return { operation, sentence, result: 'holds' };
    } catch (error) {
      if (stop.aborted) return { operation, sentence, result: 'not tried', message: 'the run was stopped' };
      if (error instanceof NotTried) return { operation, sentence, result: 'not tried', message: error.message };
      const message = error instanceof Fault ? error.message : `no answer: ${messageOf(error)}`;
      const last = wire.last();
      const exchange = last === null ? {} : writeExchange(last, wire.mask);
      return { operation, sentence, result: 'fails', message: wire.mask(message), ...exchange };
    }
  };

  const outcomes: Outcome[] = [];
  try {
    for (const check of checks) if (isWanted(options, check)) outcomes.push(await tryCheck(check));
  } finally {
    signal = new AbortController().signal;
  }
  return { outcomes, left: (await made.remove(wire)).map(writeThing) };
};
