import type { Check } from './kit/check.js';
import { createCleanup, type Thing } from './kit/cleanup.js';
import { createContext } from './kit/context.js';
import { Fault, NotTried } from './kit/expect.js';
import type { OperationId } from './kit/operations.js';
import type { Options } from './kit/options.js';
import { openWire, writeExchange } from './kit/wire.js';

export type Outcome = {
  readonly operation: OperationId;
  readonly sentence: string;
  readonly result: 'holds' | 'fails' | 'not tried';
  /** Why the check fails, or why it was not tried. */
  readonly message?: string;
  readonly request?: string;
  readonly answer?: string;
};

export type Report = {
  readonly outcomes: readonly Outcome[];
  /** Things that the run created and could not delete, such as `data app conf1234app`. */
  readonly left: readonly string[];
};

const isWanted = ({ only, isOurs }: Options, check: Check): boolean =>
  (only === null || only.includes(check.operation)) && (isOurs || check.isOurs !== true);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const writeThing = ({ kind, name }: Thing): string => `${kind} ${name}`;

/**
 * Runs the checks in sequence, then deletes what they created. After `stop`, the remaining checks are reported as not tried, and
 * the deletion still runs.
 */
export const runChecks = async (
  checks: readonly Check[],
  options: Options,
  stop: AbortSignal,
  ask: typeof fetch,
): Promise<Report> => {
  const known = [options.serviceToken, options.apiKey ?? ''];
  // Replaced after the checks, so that the deletion is not stopped.
  let signal = stop;
  const wire = openWire(options.baseUrl, known, () => signal, ask);
  const made = createCleanup();
  const context = createContext(wire, made, options);

  const tryCheck = async ({ operation, sentence, run }: Check): Promise<Outcome> => {
    if (stop.aborted) return { operation, sentence, result: 'not tried', message: 'the run was stopped' };
    wire.forget();
    try {
      await run(context);
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
