/**
 * The policy's expressions: CEL over declared variables. An unknown claim name, a wrong type or an evaluation that can
 * take too long is a fault when the policy is loaded. An expression that cannot be evaluated for one user denies that
 * user.
 */
import { type ASTNode, TypeError as CheckError, Environment, ParseError } from '@marcbachmann/cel-js';
import { isUnsafeNumber, safeAsText } from '../../model/filter/exact-number.js';
import { Refusal } from '../../model/refusal.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import {
  evaluationsOverTime,
  expressionCost,
  listOf,
  maxClaimList,
  maxClaimText,
  maxExpressionCost,
  type Shape,
  type Shapes,
} from './expression-cost.js';

export const claimTypes = ['string', 'int', 'double', 'bool', 'list<string>'] as const;
export type ClaimType = (typeof claimTypes)[number];
export type ClaimSchema = Readonly<Record<string, ClaimType>>;

/** The value of a claim in CEL's types. */
export type CelValue = string | bigint | number | boolean | readonly string[] | null;
export type CelClaims = Readonly<Record<string, CelValue>>;

export type SessionVariables = { readonly claims: CelClaims };
export type PolicyVariables = {
  readonly user: {
    readonly id: string;
    readonly issuer: string;
    readonly roles: readonly string[];
    readonly claims: CelClaims;
  };
  readonly tenant: { readonly id: string };
  readonly now: Date;
};

/** A checked expression. `evaluate` throws ExpressionFault. `at` is `file:line:column`. */
export type Expression<Variables> = {
  readonly source: string;
  readonly at: string;
  /** Whether the value can change with time only. */
  readonly readsNow: boolean;
  /** Worst-case number of steps, over all evaluations that one request may need. */
  readonly cost: number;
  readonly evaluate: (variables: Variables) => unknown;
};

/** An expression cannot be evaluated for this user. Contains no claim value, since it is logged. */
export class ExpressionFault extends Error {
  override readonly name = 'ExpressionFault';
  constructor(
    readonly at: string,
    readonly source: string,
    readonly code: string,
  ) {
    super(`${at}: ${code} in ${source}`);
  }
}

/** A fault in the text of an expression. `offset` counts characters from its start. */
export type ExpressionError = { readonly message: string; readonly offset: number };

const maxComprehensionDepth = 2;
const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * Replaces a claim of another type than the declared one, so that reading it is a type error. A missing claim is
 * different: `has()` returns false for it.
 */
const mismatch = null;

const celClaim = (value: unknown, type: ClaimType): CelValue => {
  switch (type) {
    case 'string':
      return typeof value === 'string' && value.length <= maxClaimText ? value : mismatch;
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch;
    case 'double':
      return typeof value === 'number' ? value : mismatch;
    case 'int':
      return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : mismatch;
    case 'list<string>':
      return Array.isArray(value) && value.length <= maxClaimList && value.every((item) => typeof item === 'string')
        ? value
        : mismatch;
  }
};

const convertClaims = (claims: JwtClaims, schema: ClaimSchema): CelClaims => {
  const result: Record<string, CelValue> = Object.create(null);
  for (const [name, type] of Object.entries(schema)) {
    if (Object.hasOwn(claims, name) && claims[name] !== undefined) result[name] = celClaim(claims[name], type);
  }
  return result;
};

const converted = new WeakMap<JwtClaims, { readonly schema: ClaimSchema; readonly values: CelClaims }>();

/**
 * Returns the declared claims of a session in CEL's types. The result is cached with the claims for the latest schema,
 * so that the steps of one request convert them once. Claims must not change after the first call.
 */
export const celClaims = (claims: JwtClaims, schema: ClaimSchema): CelClaims => {
  const last = converted.get(claims);
  if (last?.schema === schema) return last.values;
  const values = convertClaims(claims, schema);
  converted.set(claims, { schema, values });
  return values;
};

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value && 'start' in value;

const children = (value: unknown): readonly ASTNode[] => {
  if (isNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(children) : [];
};

const callName = (node: ASTNode): string | null => (node.op === 'call' || node.op === 'rcall' ? node.args[0] : null);

const refusedCall = (node: ASTNode, depth: number, isPresenceRefused: boolean): ExpressionError | null => {
  const name = callName(node);
  const refuse = (message: string) => ({ message, offset: node.start });
  if (name === 'matches') {
    return refuse(
      'matches() is not available, because one pattern can block the gateway for minutes; use startsWith, endsWith, contains or ==',
    );
  }
  if (name === 'has' && isPresenceRefused) {
    return refuse(
      'a restriction must not depend on whether a claim is present: a user could lose it by losing the claim; choose by user.roles or tenant.id',
    );
  }
  if (depth > maxComprehensionDepth) {
    return refuse(`comprehensions (all, exists, map, filter) may be nested ${maxComprehensionDepth} deep`);
  }
  return null;
};

const findRefused = (node: ASTNode, depth: number, isPresenceRefused: boolean): ExpressionError | null => {
  const here = depth + (comprehensions.has(callName(node) ?? '') ? 1 : 0);
  const refused = refusedCall(node, here, isPresenceRefused);
  if (refused !== null) return refused;
  for (const child of children(node.args)) {
    const found = findRefused(child, here, isPresenceRefused);
    if (found !== null) return found;
  }
  return null;
};

const shapeOf = (type: ClaimType): Shape => (type === 'list<string>' ? listOf(null) : null);

const claimShapes = (path: string, claims: ClaimSchema): readonly (readonly [string, Shape])[] =>
  Object.entries(claims).map(([name, type]) => [`${path}.${name}`, shapeOf(type)]);

const tooCostly = (cost: number, source: string, readsNow: boolean): ExpressionError => ({
  message:
    `takes up to ${cost.toLocaleString('en')} steps where each list has ${maxClaimList} entries` +
    `${readsNow ? `, because what reads \`now\` is evaluated up to ${evaluationsOverTime} times` : ''}; ` +
    `an expression may take ${maxExpressionCost.toLocaleString('en')}: go through fewer lists inside of others, or compare by \`in\`: ${source}`,
  offset: 0,
});

const namesNow = (node: ASTNode): boolean =>
  (node.op === 'id' && node.args === 'now') || children(node.args).some(namesNow);

const fitsType = (type: string, expected: readonly string[]): boolean =>
  type === 'dyn' || expected.includes(type) || (expected.includes('list<string>') && /^list<(T|dyn)>$/.test(type));

const describe = (error: unknown): ExpressionError => {
  if (error instanceof ParseError || error instanceof CheckError) {
    return { message: error.summary, offset: error.range?.start ?? 0 };
  }
  throw error;
};

export type CompileOptions = {
  readonly source: string;
  readonly at: string;
  /** The CEL types that the result can have. */
  readonly expected: readonly string[];
  /** Whether `has` is refused, as in the condition of a restriction. */
  readonly isPresenceRefused?: boolean;
};

export type Compile<Variables> = (options: CompileOptions) => Expression<Variables> | ExpressionError;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'evaluation_failed';

const compileIn =
  <Variables extends Record<string, unknown>>(environment: Environment, shapes: Shapes): Compile<Variables> =>
  ({ source, at, expected, isPresenceRefused = false }) => {
    try {
      const program = environment.parse(source);
      const refused = findRefused(program.ast, 0, isPresenceRefused);
      if (refused !== null) return refused;
      const { valid, type = 'dyn', error } = program.check();
      if (!valid) return describe(error);
      if (!fitsType(type, expected)) {
        return { message: `gives ${type} where ${expected.join(' or ')} is needed`, offset: 0 };
      }
      const readsNow = namesNow(program.ast);
      const cost = expressionCost(program.ast, shapes) * (readsNow ? evaluationsOverTime : 1);
      if (cost > maxExpressionCost) return tooCostly(cost, source, readsNow);
      const evaluate = (variables: Variables): unknown => {
        try {
          return program(variables);
        } catch (cause) {
          throw new ExpressionFault(at, source, codeOf(cause));
        }
      };
      return { source, at, readsNow, cost, evaluate };
    } catch (error) {
      return describe(error);
    }
  };

/** What all expressions may use. A function that is registered here is one of every policy. */
const base = new Environment({ limits: { maxAstNodes: 500, maxDepth: 50, maxListElements: 1000 } });

/** Compiles the expressions of one policy: those over `claims`, and those over `user`, `tenant` and `now`. */
export const createCompilers = (
  claims: ClaimSchema,
): { readonly session: Compile<SessionVariables>; readonly policy: Compile<PolicyVariables> } => ({
  session: compileIn(
    base.clone().registerVariable('claims', { schema: { ...claims } }),
    new Map(claimShapes('claims', claims)),
  ),
  policy: compileIn(
    base
      .clone()
      .registerVariable('user', {
        schema: { id: 'string', issuer: 'string', roles: 'list<string>', claims: { ...claims } },
      })
      .registerVariable('tenant', { schema: { id: 'string' } })
      .registerVariable('now', 'google.protobuf.Timestamp'),
    new Map([
      ...(['user.id', 'user.issuer', 'tenant.id', 'now'] as const).map((path) => [path, null] as const),
      ['user.roles', listOf(null)],
      ...claimShapes('user.claims', claims),
    ]),
  ),
});

/** Whether the expression names the claim. A name in a text of it counts too. */
const isNamed = (source: string, name: string): boolean => source.split(/\W+/).includes(name);

/**
 * Throws INVALID_REQUEST_BODY if the expression reads such a claim, whatever type the policy declares. `cause` is why the
 * expression has no value. The message has the claim's name, and no value.
 */
export const refuseUnsafeClaim = (source: string, claims: JwtClaims, schema: ClaimSchema, cause?: unknown): void => {
  const name = Object.keys(schema).find(
    (one) => Object.hasOwn(claims, one) && [claims[one]].flat().some(isUnsafeNumber) && isNamed(source, one),
  );
  if (name === undefined) return;
  throw new Refusal('INVALID_REQUEST_BODY', `The session's claim ${JSON.stringify(name)}: ${safeAsText}.`, {
    reason: 'claim-number-unsafe',
    cause,
  });
};
