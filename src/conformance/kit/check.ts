import { expectRefusal } from './expect.js';
import type { OperationId } from './operations.js';
import type { Stage } from './stage.js';
import { type Answer, isJson, type Json, type Method, type Request } from './wire.js';

/** One sentence of the specification, tried against a server. */
export type Check = {
  readonly operation: OperationId;
  /** As the specification says it, or shortened. */
  readonly sentence: string;
  /** Of this project's own additions, and choices where the specification leaves one. */
  readonly isOurs?: boolean;
  readonly run: (stage: Stage) => Promise<void>;
};

/** Declares the checks of one operation. */
export const checksOf =
  (operation: OperationId) =>
  (sentence: string, run: Check['run']): Check => ({ operation, sentence, run });

/** The same, for what is this project's own. */
export const ours = (check: Check): Check => ({ ...check, isOurs: true });

export type Credential = 'apiKey' | 'serviceToken';

/** How an operation is reached, and a body or query that it takes. */
export type Target = {
  readonly operation: OperationId;
  readonly method: Method;
  readonly path: string;
  readonly credential: Credential;
  readonly in: 'body' | 'query';
  readonly input: (stage: Stage) => Promise<Json>;
};

export const bearerOf = async (stage: Stage, credential: Credential): Promise<string> =>
  credential === 'apiKey' ? (await stage.app()).key : stage.serviceToken;

const toQuery = (input: Json): Record<string, string> =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]));

/** Sends an input as the target says; `bearer` replaces its credential. */
export const sendTo = async (
  stage: Stage,
  { method, path, credential, in: place }: Omit<Target, 'operation' | 'input'>,
  input: Json,
  bearer?: string | null,
): Promise<Answer> => {
  const request: Request = {
    method,
    path,
    bearer: bearer === undefined ? await bearerOf(stage, credential) : bearer,
    ...(place === 'body' ? { body: input } : { query: toQuery(input) }),
  };
  return stage.send(request);
};

const segments = (path: string): readonly string[] => path.split('.');

/** The input with the value at a path (`accessSettings.datamartName`) replaced; undefined leaves it out. */
export const withValue = (input: Json, path: string, value: unknown): Json => {
  const [name = '', ...rest] = segments(path);
  const inner = input[name];
  const replaced = rest.length === 0 ? value : withValue(isJson(inner) ? inner : {}, rest.join('.'), value);
  const { [name]: _, ...others } = input;
  return replaced === undefined ? others : { ...others, [name]: replaced };
};

/** For each path: the input without it is refused as INVALID_REQUEST_BODY. */
export const requires = (target: Target, paths: readonly string[]): readonly Check[] =>
  paths.map((path) => ({
    operation: target.operation,
    sentence: `${path} is required: without it, 400 INVALID_REQUEST_BODY`,
    run: async (stage) => {
      const input = withValue(await target.input(stage), path, undefined);
      expectRefusal(await sendTo(stage, target, input), 400, 'INVALID_REQUEST_BODY');
    },
  }));

/** For each path and value: the input with it is refused as INVALID_REQUEST_BODY. */
export const refuses = (
  target: Target,
  values: readonly (readonly [path: string, value: unknown])[],
): readonly Check[] =>
  values.map(([path, value]) => ({
    operation: target.operation,
    sentence: `${path} may not be ${JSON.stringify(value)}: 400 INVALID_REQUEST_BODY`,
    run: async (stage) => {
      const input = withValue(await target.input(stage), path, value);
      expectRefusal(await sendTo(stage, target, input), 400, 'INVALID_REQUEST_BODY');
    },
  }));

type Refusal = { readonly statuses: number | readonly number[]; readonly codes: string | readonly string[] };

/** Without a credential, and with one that nobody gave out. */
export const guards = (target: Target, { statuses, codes }: Refusal): readonly Check[] =>
  [
    ['a missing credential', null],
    ['an invalid credential', 'no-such-credential'],
  ].map(([what, bearer]) => ({
    operation: target.operation,
    sentence: `${what} yields ${[codes].flat().join(' or ')}`,
    run: async (stage) =>
      expectRefusal(await sendTo(stage, target, await target.input(stage), bearer ?? null), statuses, codes),
  }));
