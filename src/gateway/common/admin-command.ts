/**
 * Declares a command of `POST /gateway/admin/<command>` as one value beside its function. The gateway, Studio, its
 * assistants and their oracles read from it who may run it and what its answer tells.
 */
import { z } from 'zod';
import type { StudioRole, StudioSession } from '../../model/person.js';
import { Refusal } from '../../model/refusal.js';
import type { Callable, Rule, ToolWords, Unchanging } from '../../platform/http/interface/callable.js';
import { decodeBody } from '../../platform/http/wire/faults.js';

/** Who may run a command, what its answer tells, and whether it changes something. */
export type Ruled<Input = unknown> = Rule &
  Pick<Callable, 'isChange' | 'narrower'> & { auditDetail?(input: Input): Readonly<Record<string, string>> };

/** One command with its function. */
export type AdminCommand = Callable & {
  /**
   * Checks the input and runs. Rejects with INVALID_REQUEST_BODY and the command's own refusals. `by` left out: the
   * gateway token runs it, which sees data. `signal` aborts when the caller leaves: only commands that compute for long
   * end then.
   */
  readonly run: (input: unknown, by?: RunBy, signal?: AbortSignal) => Promise<unknown>;
};

/** Who runs a command, and whether the answer may tell of rows and of claims. */
export type RunBy = {
  /** As in the audit: two words, of which the second is the name. Null: nobody is named. */
  readonly name: string | null;
  readonly seesData: boolean;
  readonly roles: readonly StudioRole[];
  /** The session in Studio, and the request that it sent. Null: the gateway token runs it. */
  readonly studio: { readonly session: StudioSession; readonly requestId: string } | null;
};

/**
 * The name, in kebab-case, is the last part of its path. `output` has every field that any caller gets. What it takes is
 * what the function returns, and what it gives is the JSON.
 */
export const declareCommand = <const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(
  name: Name,
  input: Input,
  output: Output,
  rule: Ruled<z.output<Input>>,
  tool?: ToolWords,
): Callable<Name, Input, Output> => ({
  name,
  input,
  output,
  ...rule,
  ...(tool === undefined ? {} : { tool }),
});

export const noInput = z.strictObject({});

/** Those who read definitions. */
export const readers = ['author', 'publisher', 'support', 'auditor'] as const;

export const readBy = (...roles: readonly StudioRole[]): Ruled => ({ roles, reads: 'definitions', isChange: false });

/** Where a command of Studio alone was asked from. */
export const askedIn = ({ studio }: RunBy): NonNullable<RunBy['studio']> => {
  if (studio === null) throw new Error('only Studio runs this command');
  return studio;
};

/** A change, which has an entry in the audit. */
export const changedBy = (...roles: readonly StudioRole[]): Ruled => ({ roles, reads: 'nothing', isChange: true });

/** A change that Studio never makes. */
export const operatorsAlone: Ruled = { reads: 'nothing', isChange: true };

/** Whether a database can store every text of the value. It cannot store U+0000 or a lone surrogate. */
const isStorable = (value: unknown): boolean => {
  if (typeof value === 'string') return !value.includes('\0') && !/\p{Cs}/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
};

/** Throws INVALID_REQUEST_BODY for text that no database stores. Operators, pages and assistants all come through here. */
const assertStorable = (input: unknown): void => {
  if (isStorable(input)) return;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    'The input holds U+0000 or half a character (a lone surrogate): leave it out.',
    { reason: 'text-not-storable' },
  );
};

/** The holder of the gateway token. */
export const tokenRun: RunBy = { name: null, seesData: true, roles: ['owner'], studio: null };

/** Joins a command and its function. The input is checked against the schema before `run`. */
export const adminCommand = <Input extends z.ZodType, Output extends z.ZodType>(
  declaration: Callable<string, Input, Output>,
  run: (input: z.output<Input>, by: RunBy, signal: AbortSignal) => Promise<Unchanging<z.input<Output>>>,
): AdminCommand => ({
  ...declaration,
  run: async (given, by, signal) => {
    const input = decodeBody(declaration.input, given);
    assertStorable(given);
    return run(input, by ?? tokenRun, signal ?? new AbortController().signal);
  },
});

/** A moment. A function may answer it as a Date; JSON has its ISO 8601 text. */
export const moment = z.union([z.iso.datetime(), z.date().transform((date) => date.toISOString())]);

/** A value as JSON has it: a moment is its ISO 8601 text. */
type Written<T> = T extends Date ? string : T extends object ? { readonly [Key in keyof T]: Written<T[Key]> } : T;

/** A value whose type is stated elsewhere, such as a domain type. The compiler checks it, and nothing at run time does. */
export const written = <T>(): z.ZodType<Written<T>, T> => z.custom<T>() as unknown as z.ZodType<Written<T>, T>;
