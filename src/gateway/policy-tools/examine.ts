/**
 * Evaluates every rule and restriction of a policy for one user separately, for explanations. A real request stops at the first one
 * that cannot be evaluated.
 */

import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { type AppliedRestriction, combineRestrictions } from '../policy/combine.js';
import { evaluateBoolean, evaluateRestriction, variablesOf } from '../policy/decide.js';
import { type Compile, createCompilers, ExpressionFault, type PolicyVariables } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import { recordBounds } from '../policy/record.js';
import type { SourceExpressions } from '../policy/source-names.js';
import { SourcesDisagree } from '../policy/tenant-source.js';
import type { Denied, DryRun } from './dry-run.js';

/** One term of a condition that joins several by && or ||. */
export type Term = { readonly expression: string; readonly result: 'true' | 'false' | 'undecided' };

/**
 * The result of one rule or restriction. `at` is the place of `when`. `fault` has the expression that could not be
 * evaluated, and the reason.
 */
export type Examined = {
  readonly name: string;
  readonly at: string;
  readonly when: string;
  readonly result: 'matches' | 'does not match' | 'undecided';
  readonly fault: { readonly at: string; readonly expression: string; readonly code: string } | null;
  /** The terms of a condition that does not match, if it joins several by && or ||. */
  readonly terms: readonly Term[];
};

export type Examination = {
  readonly roles: readonly string[];
  readonly rules: readonly Examined[];
  readonly restrictions: readonly Examined[];
  /** The restrictions that match and whose values could be evaluated. */
  readonly applied: readonly AppliedRestriction[];
};

const parser = new Environment({ unlistedVariablesAreDyn: true });

const leavesOf = (node: ASTNode): readonly ASTNode[] =>
  node.op === '&&' || node.op === '||' ? node.args.flatMap(leavesOf) : [node];

/**
 * Whether the text parses as an expression. It may not: the parser gives a term that stood in parentheses with one of
 * the two missing.
 */
const isExpression = (text: string): boolean => {
  try {
    parser.parse(text);
    return true;
  } catch (error) {
    if (error instanceof ParseError) return false;
    throw error;
  }
};

const compilers = new WeakMap<Policy, Compile<PolicyVariables>>();

const compilerOf = (policy: Policy): Compile<PolicyVariables> => {
  const compile = compilers.get(policy) ?? createCompilers(policy.claims).policy;
  compilers.set(policy, compile);
  return compile;
};

const evaluate = (compile: Compile<PolicyVariables>, expression: string, variables: PolicyVariables): Term[] => {
  const compiled = compile({ source: expression, at: '', expected: ['bool'] });
  if (!('evaluate' in compiled)) return [];
  try {
    return [{ expression, result: compiled.evaluate(variables) === true ? 'true' : 'false' }];
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    return [{ expression, result: 'undecided' }];
  }
};

/** Returns the result of each term that `when` joins by && and ||. Empty if the condition has only one term. */
const evaluateTerms = (policy: Policy, when: string, variables: PolicyVariables): readonly Term[] => {
  const leaves = leavesOf(parser.parse(when).ast);
  if (leaves.length < 2) return [];
  const compile = compilerOf(policy);
  return leaves
    .map(({ start, end }) => when.slice(start, end))
    .filter(isExpression)
    .flatMap((expression) => evaluate(compile, expression, variables));
};

type Conditional = { readonly name: string; readonly when: Policy['rules'][number]['when'] };

const describeFault = (error: unknown): NonNullable<Examined['fault']> => {
  if (!(error instanceof ExpressionFault)) throw error;
  return { at: error.at, expression: error.source, code: error.code };
};

const examine = (
  policy: Policy,
  { name, when }: Conditional,
  variables: PolicyVariables,
  onMatch: () => void,
): Examined => {
  const known = { name, at: when.at, when: when.source };
  try {
    if (!evaluateBoolean(when, variables)) {
      return { ...known, result: 'does not match', fault: null, terms: evaluateTerms(policy, when.source, variables) };
    }
    onMatch();
    return { ...known, result: 'matches', fault: null, terms: [] };
  } catch (error) {
    const fault = describeFault(error);
    const terms = fault.at === when.at ? evaluateTerms(policy, when.source, variables) : [];
    return { ...known, result: 'undecided', fault, terms };
  }
};

/** Returns null if no rule was evaluated: there is no user or no tenant, or the roles could not be evaluated. */
export const examinePolicy = ({ policy, session, clientId }: DryRun, now: Date): Examination | null => {
  if (session === null || clientId === null) return null;
  let variables: PolicyVariables;
  try {
    variables = variablesOf(policy, session, clientId, now);
  } catch (error) {
    describeFault(error);
    return null;
  }
  const applied: AppliedRestriction[] = [];
  return {
    roles: variables.user.roles,
    rules: policy.rules.map((rule) => examine(policy, rule, variables, () => {})),
    restrictions: policy.restrictions.map((rule) =>
      examine(policy, rule, variables, () => applied.push({ rule, restriction: evaluateRestriction(rule, variables) })),
    ),
    applied,
  };
};

const placesOfSource = (names: SourceExpressions): readonly string[] => Object.values(names).map(({ at }) => at);

const placesOf = ({
  rules,
  restrictions,
  templates,
  sources,
}: Policy): readonly { readonly name: string; readonly places: readonly string[] }[] => [
  ...rules.map(({ name, when, grant: { timezone, source } }) => ({
    name,
    places: [when, ...(timezone === null || timezone === 'request' ? [] : [timezone]), ...Object.values(source)].map(
      ({ at }) => at,
    ),
  })),
  ...[...templates.values()].map(({ template, source }) => ({ name: template, places: placesOfSource(source) })),
  ...sources.map(({ name, names }) => ({ name, places: placesOfSource(names) })),
  ...restrictions.map(({ name, when, restrict: { dashboardFilters, rls, appFilters, source } }) => ({
    name,
    places: [
      when.at,
      ...placesOfSource(source),
      ...[dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()].map(({ at }) => at)),
    ],
  })),
];

/** Returns the names of the rules and restrictions that caused POLICY_UNDECIDED. Empty if the cause is another one. */
export const blamed = (denied: Denied, now: Date): readonly string[] => {
  const { cause } = denied.refusal;
  if (cause instanceof ExpressionFault) {
    return placesOf(denied.policy)
      .filter(({ places }) => places.includes(cause.at))
      .map(({ name }) => name);
  }
  if (cause instanceof SourcesDisagree) return cause.from.map(({ name }) => name);
  const applied = examinePolicy(denied, now)?.applied ?? [];
  return recordBounds(combineRestrictions(applied))
    .filter(({ value }) => value === null)
    .flatMap(({ from }) => from.map(({ name }) => name));
};
