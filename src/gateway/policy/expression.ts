/**
 * The policy's expressions: CEL over declared variables. An unknown claim name, a wrong type or an evaluation that can
 * take too long is a fault when the policy is loaded. An expression that cannot be evaluated for one user denies that
 * user.
 */
import { type ASTNode, TypeError as CheckError, Environment, ParseError } from '@marcbachmann/cel-js';
import { safeAsText } from '../../model/filter/exact-number.js';
import { Refusal } from '../../model/refusal.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import { type CelClaims, type ClaimPlan, type ClaimSchema, claimPlan, misfits, unsafeClaims } from './claim-values.js';
import {
  evaluationsOverTime,
  expressionCost,
  listOf,
  maxClaimList,
  maxExpressionCost,
  objectOf,
  type Shapes,
} from './expression-cost.js';

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
  /** Whether it reads anything of the user. */
  readonly readsUser: boolean;
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

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value && 'start' in value;

const children = (value: unknown): readonly ASTNode[] => {
  if (isNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(children) : [];
};

const callName = (node: ASTNode): string | null => (node.op === 'call' || node.op === 'rcall' ? node.args[0] : null);

/** What the library keeps with a node. Its types do not have it. */
type Checker = { readonly check: (node: ASTNode, context: unknown) => unknown };
type HasMeta = {
  readonly macro?: { typeCheck: (checker: Checker, macro: unknown, context: unknown) => unknown };
};
const metaOf = (node: ASTNode): HasMeta => ('meta' in node ? Object(node.meta) : {});

/** Whether the names of the node's members are those of claims or of a variable: `has` of an unknown one is false. */
const hasOpenMembers = (node: ASTNode): boolean =>
  node.op === 'id'
    ? ['claims', 'user', 'tenant'].includes(node.args)
    : node.op === '.' && node.args[1] === 'claims' && node.args[0].op === 'id' && node.args[0].args === 'user';

/** Writes `a["b"]` as `a.b`: the library's `has` takes no other form. */
const nameMembers = (node: ASTNode): void => {
  if (node.op === '[]' && node.args[1].op === 'value' && typeof node.args[1].args === 'string')
    Object.assign(node, { op: '.', args: [node.args[0], node.args[1].args] });
  if (node.op === '.') nameMembers(node.args[0]);
};

/**
 * Lets `has` name a member in brackets, such as a claim whose name is a URL, and checks the members of declared objects
 * in it, which the library does not.
 */
const checkPresence = (node: ASTNode): void => {
  const [argument] = callName(node) === 'has' ? children(node.args) : [];
  const { macro } = metaOf(node);
  if (argument !== undefined && macro !== undefined) {
    nameMembers(argument);
    const typeCheck = macro.typeCheck;
    macro.typeCheck = (checker, itself, context) => {
      const type = typeCheck(checker, itself, context);
      if (argument.op === '.' && !hasOpenMembers(argument.args[0])) checker.check(argument, context);
      return type;
    };
  }
  for (const child of children(node.args)) checkPresence(child);
};

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

const tooCostly = (cost: number, source: string, readsNow: boolean): ExpressionError => ({
  message:
    `takes up to ${cost.toLocaleString('en')} steps where each list has ${maxClaimList} entries` +
    `${readsNow ? `, because what reads \`now\` is evaluated up to ${evaluationsOverTime} times` : ''}; ` +
    `an expression may take ${maxExpressionCost.toLocaleString('en')}: go through fewer lists inside of others, or compare by \`in\`: ${source}`,
  offset: 0,
});

const namesVariable = (node: ASTNode, name: string): boolean =>
  (node.op === 'id' && node.args === name) || children(node.args).some((child) => namesVariable(child, name));

const fitsType = (type: string, expected: readonly string[]): boolean =>
  type === 'dyn' || expected.includes(type) || (expected.includes('list<string>') && /^list<(T|dyn)>$/.test(type));

const describe = (error: unknown, { explain }: ClaimPlan): ExpressionError => {
  if (error instanceof ParseError || error instanceof CheckError) {
    return { message: explain(error.summary), offset: error.range?.start ?? 0 };
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
  <Variables extends Record<string, unknown>>(
    environment: Environment,
    shapes: Shapes,
    plan: ClaimPlan,
  ): Compile<Variables> =>
  ({ source, at, expected, isPresenceRefused = false }) => {
    try {
      const program = environment.parse(source);
      const refused = findRefused(program.ast, 0, isPresenceRefused);
      if (refused !== null) return refused;
      checkPresence(program.ast);
      const { valid, type = 'dyn', error } = program.check();
      if (!valid) return describe(error, plan);
      if (!fitsType(type, expected)) {
        return { message: `gives ${plan.explain(type)} where ${expected.join(' or ')} is needed`, offset: 0 };
      }
      const readsNow = namesVariable(program.ast, 'now');
      const cost = expressionCost(program.ast, shapes) * (readsNow ? evaluationsOverTime : 1);
      if (cost > maxExpressionCost) return tooCostly(cost, source, readsNow);
      const evaluate = (variables: Variables): unknown => {
        try {
          return program(variables);
        } catch (cause) {
          throw new ExpressionFault(at, source, codeOf(cause));
        }
      };
      return { source, at, readsNow, readsUser: namesVariable(program.ast, 'user'), cost, evaluate };
    } catch (error) {
      return describe(error, plan);
    }
  };

/** What all expressions may use. A function that is registered here is one of every policy. */
const base = new Environment({ limits: { maxAstNodes: 500, maxDepth: 50, maxListElements: 1000 } });

/** Compiles the expressions of one policy: those over `claims`, and those over `user`, `tenant` and `now`. */
export const createCompilers = (
  claims: ClaimSchema,
): { readonly session: Compile<SessionVariables>; readonly policy: Compile<PolicyVariables> } => {
  const plan = claimPlan(claims);
  return {
    session: compileIn(
      plan.register(base.clone()).registerVariable('claims', { schema: { ...plan.fields } }),
      new Map([['claims', plan.shape]]),
      plan,
    ),
    policy: compileIn(
      plan
        .register(base.clone())
        .registerVariable('user', {
          schema: { id: 'string', issuer: 'string', roles: 'list<string>', claims: { ...plan.fields } },
        })
        .registerVariable('tenant', { schema: { id: 'string' } })
        .registerVariable('now', 'google.protobuf.Timestamp'),
      new Map([
        [
          'user',
          objectOf(
            new Map([
              ['id', null],
              ['issuer', null],
              ['roles', listOf(null)],
              ['claims', plan.shape],
            ]),
          ),
        ],
        ['tenant', objectOf(new Map([['id', null]]))],
        ['now', null],
      ]),
      plan,
    ),
  };
};

export type EventVariables = { readonly event: unknown };

/** Compiles an expression over the `event` of a webhook, whose shape nothing declares. */
export const compileOfEvent: Compile<EventVariables> = compileIn(
  base.clone().registerVariable('event', 'dyn'),
  new Map(),
  claimPlan({}),
);

/** Whether the expression names the claim. A name in a text of it counts too. */
const isNamed = (source: string, name: string): boolean =>
  /\W/.test(name) ? source.includes(name) : source.split(/\W+/).includes(name);

/**
 * Says which claims that the expression names have another type than the policy declares, as sentences for developers
 * without a value of a claim. Empty: none has.
 */
export const explainMisfits = (source: string, claims: JwtClaims, schema: ClaimSchema): readonly string[] =>
  [...misfits(claims, schema)].flatMap(([name, { place, expected, given }]) =>
    isNamed(source, name) ? [`Claim ${place}: ${expected} was expected, ${given} came.`] : [],
  );

/**
 * Throws INVALID_REQUEST_BODY if the expression reads such a claim, whatever type the policy declares. `cause` is why the
 * expression has no value. The message has the claim's name, and no value.
 */
export const refuseUnsafeClaim = (source: string, claims: JwtClaims, schema: ClaimSchema, cause?: unknown): void => {
  const name = unsafeClaims(claims, schema).find((one) => isNamed(source, one));
  if (name === undefined) return;
  throw new Refusal('INVALID_REQUEST_BODY', `The session's claim ${JSON.stringify(name)}: ${safeAsText}.`, {
    reason: 'claim-number-unsafe',
    cause,
  });
};
