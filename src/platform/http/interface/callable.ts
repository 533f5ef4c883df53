/**
 * What everything that can be called states as one value beside its function: operations of the interface, and commands of
 * operators. Routes, roles, the audit, tools of assistants, the reference and the oracles are made from it.
 */
import type { z } from 'zod';
import type { StudioRole } from '../../../model/person.js';

/**
 * `nothing`: the answer repeats the request, or says that it was done. `definitions`: also what hosts and operators wrote,
 * and names and types in a database. `outcomes`: also how a query of rows ended: whether it failed or was empty, a count.
 * `rows`: also values of rows, or claims of end users.
 */
export type Reads = 'nothing' | 'definitions' | 'outcomes' | 'rows';

/** Whether only a person who sees data may have the answer. An outcome tells a row bit by bit to those who choose the query. */
export const needsData = (reads: Reads): boolean => reads === 'outcomes' || reads === 'rows';

/** Who may call it in Studio, and what the answer tells. */
export type Rule = {
  /** An owner has every role. Left out: Studio never calls it. */
  readonly roles?: readonly StudioRole[];
  /** An answer of `definitions` leaves out what it tells only people who see data. */
  readonly reads: Reads;
};

/** What assistants read of it. */
export type ToolWords = {
  /** Left out: the name of what is called, in snake case. */
  readonly name?: string;
  readonly title: string;
  readonly description: string;
  /** Whether it ends or replaces something that its caller cannot bring back. Left out: no. */
  readonly isDestructive?: boolean;
  /** Whether every guest token that opens a dashboard or metric may call it. Otherwise `listGuestEmbeds` says who may. */
  readonly isForAll?: boolean;
};

export type Callable<
  Name extends string = string,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> = Rule & {
  readonly name: Name;
  readonly input: Input;
  /** The schema of the JSON answer. */
  readonly output: Output;
  /** Whether it changes something. Studio then writes it to the audit before it is done. */
  readonly isChange: boolean;
  /** What the entry of the audit names besides the name and the person. */
  auditDetail?(input: z.output<Input>): Readonly<Record<string, string>>;
  /** A field of the input that needs this rule instead. */
  readonly narrower?: Rule & { readonly field: string };
  /** Left out: it is for people alone. */
  readonly tool?: ToolWords;
};

/** The rule for this input. */
export const ruleFor = ({ roles, reads, narrower }: Callable, input: unknown): Rule => {
  const isNarrower = narrower !== undefined && typeof input === 'object' && input !== null;
  return isNarrower && Object.hasOwn(input, narrower.field) ? narrower : { ...(roles && { roles }), reads };
};

/** A value that its reader does not change. */
export type Unchanging<T> = T extends Date
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;

/** What its callers send. */
export type InputOf<Called extends Pick<Callable, 'input'>> = Unchanging<z.input<Called['input']>>;

/** What its callers read. */
export type AnswerOf<Called extends Pick<Callable, 'output'>> = Unchanging<z.output<Called['output']>>;

/** What an encoder gives for a schema of an answer. */
export type Encoded<Output extends z.ZodType> = Unchanging<z.input<Output>>;
