/** Every rule and restriction of a policy for one user, each for itself: a request stops at the first that is undecided. */
import { ExpressionFault, type PolicyVariables } from './expression.js';
import { type AppliedRestriction, evaluateBoolean, evaluateRestriction, variablesOf } from './policy.js';
import { boundContributions } from './policy-contributions.js';
import type { Policy } from './policy-file.js';
import type { Denied, Granted } from './policy-trial.js';

/** `at` is the place of its `when`. `fault` says at which expression, and why, it is undecided. */
export type Examined = {
  readonly name: string;
  readonly at: string;
  readonly when: string;
  readonly result: 'matches' | 'does not match' | 'undecided';
  readonly fault: { readonly at: string; readonly expression: string; readonly code: string } | null;
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

const examine = ({ name, when }: Conditional, variables: PolicyVariables, onMatch: () => void): Examined => {
  const known = { name, at: when.at, when: when.source };
  try {
    if (!evaluateBoolean(when, variables)) return { ...known, result: 'does not match', fault: null };
    onMatch();
    return { ...known, result: 'matches', fault: null };
  } catch (error) {
    return { ...known, result: 'undecided', fault: describeFault(error) };
  }
};

/** Null where not even the roles could be evaluated. */
export const examinePolicy = (
  policy: Policy,
  { session, clientId }: Pick<Granted, 'session' | 'clientId'>,
  now: Date,
): Examination | null => {
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
    rules: policy.rules.map((rule) => examine(rule, variables, () => {})),
    restrictions: policy.restrictions.map((rule) =>
      examine(rule, variables, () => applied.push({ rule, restriction: evaluateRestriction(rule, variables) })),
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
export const blamed = (policy: Policy, { refusal, session, clientId }: Denied, now: Date): readonly string[] => {
  const { cause } = refusal;
  if (session === null || clientId === null) return [];
  if (cause instanceof ExpressionFault) {
    return placesOf(policy)
      .filter(({ places }) => places.includes(cause.at))
      .map(({ name }) => name);
  }
  const applied = examinePolicy(policy, { session, clientId }, now)?.applied ?? [];
  return boundContributions(applied)
    .filter(({ value }) => value === null)
    .flatMap(({ from }) => from.map(({ name }) => name));
};
