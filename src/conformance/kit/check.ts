import type { CheckContext } from './context.js';
import { expectRefusal } from './expect.js';
import type { OperationId } from './operations.js';
import { type Answer, isJson, type Json, type Method, type Request } from './wire.js';

/** One sentence of the specification, checked against a server. */
export type Check = {
  readonly operation: OperationId;
  /** The sentence of the specification, possibly shortened. */
  readonly sentence: string;
  /** Whether the check is about Guestlist's additions, or its choice where the specification is open. */
  readonly isOurs?: boolean;
  readonly run: (context: CheckContext) => Promise<void>;
};

/** Declares the checks of one operation. */
export const checksOf =
  (operation: OperationId) =>
  (sentence: string, run: Check['run']): Check => ({ operation, sentence, run });

/** Marks a check as Guestlist's own: it runs with `--ours` only. */
export const ours = (check: Check): Check => ({ ...check, isOurs: true });

export type Credential = 'apiKey' | 'serviceToken';

/** How to call an operation, with a valid body or query. */
export type Target = {
  readonly operation: OperationId;
  readonly method: Method;
  readonly path: string;
  readonly credential: Credential;
  readonly in: 'body' | 'query';
  readonly input: (context: CheckContext) => Promise<Json>;
};

export const bearerOf = async (context: CheckContext, credential: Credential): Promise<string> =>
  credential === 'apiKey' ? (await context.app()).key : context.serviceToken;

const toQuery = (input: Json): Record<string, string> =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]));

/** Sends an input to the target. `bearer` replaces the target's credential; null sends none. */
export const sendTo = async (
  context: CheckContext,
  { method, path, credential, in: place }: Omit<Target, 'operation' | 'input'>,
  input: Json,
  bearer?: string | null,
): Promise<Answer> => {
  const request: Request = {
    method,
    path,
    bearer: bearer === undefined ? await bearerOf(context, credential) : bearer,
    ...(place === 'body' ? { body: input } : { query: toQuery(input) }),
  };
  return context.send(request);
};

const segments = (path: string): readonly string[] => path.split('.');

/** The input with the value at a path (`accessSettings.datamartName`) replaced, or removed if undefined. */
export const withValue = (input: Json, path: string, value: unknown): Json => {
  const [name = '', ...rest] = segments(path);
  const inner = input[name];
  const replaced = rest.length === 0 ? value : withValue(isJson(inner) ? inner : {}, rest.join('.'), value);
  const { [name]: _, ...others } = input;
  return replaced === undefined ? others : { ...others, [name]: replaced };
};

/** A check for each path: without the field, the answer is INVALID_REQUEST_BODY. */
export const requires = (target: Target, paths: readonly string[]): readonly Check[] =>
  paths.map((path) => ({
    operation: target.operation,
    sentence: `${path} is required: without it, 400 INVALID_REQUEST_BODY`,
    run: async (context) => {
      const input = withValue(await target.input(context), path, undefined);
      expectRefusal(await sendTo(context, target, input), 400, 'INVALID_REQUEST_BODY');
    },
  }));

/** A check for each path and value: with the value, the answer is INVALID_REQUEST_BODY. */
export const refuses = (
  target: Target,
  values: readonly (readonly [path: string, value: unknown])[],
): readonly Check[] =>
  values.map(([path, value]) => ({
    operation: target.operation,
    sentence: `${path} may not be ${JSON.stringify(value)}: 400 INVALID_REQUEST_BODY`,
    run: async (context) => {
      const input = withValue(await target.input(context), path, value);
      expectRefusal(await sendTo(context, target, input), 400, 'INVALID_REQUEST_BODY');
    },
  }));

type Refusal = { readonly statuses: number | readonly number[]; readonly codes: string | readonly string[] };

/** Checks that a missing and an unknown credential are refused. */
export const guards = (target: Target, { statuses, codes }: Refusal): readonly Check[] =>
  [
    ['a missing credential', null],
    ['an invalid credential', 'no-such-credential'],
  ].map(([what, bearer]) => ({
    operation: target.operation,
    sentence: `${what} yields ${[codes].flat().join(' or ')}`,
    run: async (context) =>
      expectRefusal(await sendTo(context, target, await target.input(context), bearer ?? null), statuses, codes),
  }));
