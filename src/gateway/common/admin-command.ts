/** The type of the commands of `POST /gateway/admin/<command>`. Each folder declares its own; http/admin.ts serves them. */
import type { z } from 'zod';
import { Refusal } from '../../domain/refusal.js';
import { writeFaults } from '../../http/faults.js';

/** One command. */
export type AdminCommand = {
  /** Kebab-case: the last part of its path. */
  readonly name: string;
  readonly input: z.ZodType;
  /**
   * Checks the input and runs. Rejects with INVALID_REQUEST_BODY and the command's own refusals. `by` left out: the
   * gateway token runs it, which sees data. `signal` aborts when the caller leaves: only commands that compute for long
   * end then.
   */
  readonly run: (input: unknown, by?: RunBy, signal?: AbortSignal) => Promise<unknown>;
};

/** Who runs a command: the name as in the audit, and whether the answer may tell of rows and of claims. */
export type RunBy = { readonly name: string | null; readonly seesData: boolean };

const decodeInput = <Input extends z.ZodType>(name: string, schema: Input, input: unknown): z.output<Input> => {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the input'}: ${message}`);
  throw new Refusal('INVALID_REQUEST_BODY', `The input of ${name} is not valid: ${writeFaults(faults)}`);
};

/** Declares a command. Its input is checked against the schema before `run`. */
export const adminCommand = <Input extends z.ZodType>(
  name: string,
  input: Input,
  run: (input: z.output<Input>, by: RunBy, signal: AbortSignal) => Promise<unknown>,
): AdminCommand => ({
  name,
  input,
  run: async (given, by, signal) =>
    run(decodeInput(name, input, given), by ?? { name: null, seesData: true }, signal ?? new AbortController().signal),
});
