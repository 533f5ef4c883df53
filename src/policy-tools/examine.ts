/** Every rule and restriction of a policy for one user, each for itself: a request stops at the first that is undecided. */

import { type AppliedRestriction, combineRestrictions } from '../gateway/policy/combine.js';
import { evaluateBoolean, evaluateRestriction, variablesOf } from '../gateway/policy/decide.js';
import { ExpressionFault, type PolicyVariables } from '../gateway/policy/expression.js';
import type { Policy } from '../gateway/policy/policy.js';
import { recordBounds } from '../gateway/policy/record.js';
import type { Denied, DryRun } from './dry-run.js';
import { evaluateTerms, type Term } from './terms.js';

/** `at` is the place of its `when`. `fault` says at which expression, and why, it is undecided. */
export type Examined = {
  readonly name: string;
  readonly at: string;
  readonly when: string;
  readonly result: 'matches' | 'does not match' | 'undecided';
  readonly fault: { readonly at: string; readonly expression: string; readonly code: string } | null;
  /** Of a condition that does not match, and joins several terms. */
  readonly terms: readonly Term[];
};

export type Examination = {
  readonly roles: readonly string[];
  readonly rules: readonly Examined[];
  readonly restrictions: readonly Examined[];
  /** Those that match and whose values could be evaluated. */
  readonly applied: readonly AppliedRestriction[];
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

/** Null where it did not come to a rule: without a user or a tenant, and where not even the roles could be evaluated. */
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

const placesOf = ({
  rules,
  restrictions,
}: Policy): readonly { readonly name: string; readonly places: readonly string[] }[] => [
  ...rules.map(({ name, when, grant: { timezone } }) => ({
    name,
    places: timezone === null || timezone === 'request' ? [when.at] : [when.at, timezone.at],
  })),
  ...restrictions.map(({ name, when, restrict: { dashboardFilters, rls, appFilters } }) => ({
    name,
    places: [
      when.at,
      ...[dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()].map(({ at }) => at)),
    ],
  })),
];

/** The names of the rules and restrictions that leave a denial undecided; none where it has another cause. */
export const blamed = (denied: Denied, now: Date): readonly string[] => {
  const { cause } = denied.refusal;
  if (cause instanceof ExpressionFault) {
    return placesOf(denied.policy)
      .filter(({ places }) => places.includes(cause.at))
      .map(({ name }) => name);
  }
  const applied = examinePolicy(denied, now)?.applied ?? [];
  return recordBounds(combineRestrictions(applied))
    .filter(({ value }) => value === null)
    .flatMap(({ from }) => from.map(({ name }) => name));
};
