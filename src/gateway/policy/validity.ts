/**
 * Limits the life of a token to the time in which its decision is valid. Conditions can read `now`. A token that is
 * valid after the next change of a condition would grant access that the policy no longer grants, or lack a new
 * restriction. So the token expires before that change.
 */

import type { Session } from '../authenticate/signed-session.js';
import { ExpressionFault, type PolicyVariables } from './expression.js';
import { celMoment } from './moment.js';
import type { Policy } from './policy.js';
import { sourceExpressionsOf } from './tenant-source.js';

type TimedExpression = Policy['rules'][number]['when'];

/**
 * The expressions that read `now`: conditions of rules and restrictions, and values, which do not change in a token
 * after the mint.
 */
type Timed = { readonly conditions: readonly TimedExpression[]; readonly values: readonly TimedExpression[] };

const minuteMs = 60_000;
/** Maximum life of a token whose policy reads `now`. The next change is searched within it. */
const longestMs = 60 * minuteMs;
const shortestMs = 1000;

const timedOf = (policy: Policy): Timed => {
  const { rules, restrictions } = policy;
  const conditions = [...rules, ...restrictions].map(({ when }) => when);
  const timezones = rules.flatMap(({ grant: { timezone } }) =>
    timezone === null || timezone === 'request' ? [] : [timezone],
  );
  const filters = restrictions.flatMap(({ restrict: { dashboardFilters, rls, appFilters } }) =>
    [dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()]),
  );
  return {
    conditions: conditions.filter(({ readsNow }) => readsNow),
    values: [...timezones, ...filters, ...sourceExpressionsOf(policy)].filter(({ readsNow }) => readsNow),
  };
};

/** Whether a decision of this policy can change with time only. */
export const readsTime = (policy: Policy): boolean => {
  const { conditions, values } = timedOf(policy);
  return conditions.length + values.length > 0;
};

const readAt = (expression: TimedExpression, variables: PolicyVariables, atMs: number): unknown => {
  try {
    return expression.evaluate({ ...variables, now: celMoment(atMs) });
  } catch (error) {
    if (error instanceof ExpressionFault) return { fault: error.code };
    throw error;
  }
};

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

/**
 * Returns the first time at which a value of the expressions differs from its current one, or `untilMs` if there is
 * none before. Exact to the millisecond if the values change at most once a minute.
 */
const firstChange = (expressions: readonly TimedExpression[], variables: PolicyVariables, untilMs: number): number => {
  if (expressions.length === 0) return untilMs;
  const state = (atMs: number): string =>
    JSON.stringify(
      expressions.map((expression) => readAt(expression, variables, atMs)),
      plain,
    );
  const nowMs = variables.now.getTime();
  const before = state(nowMs);
  let same = nowMs;
  let other = (Math.floor(nowMs / minuteMs) + 1) * minuteMs;
  while (state(other) === before) {
    if (other >= untilMs) return untilMs;
    same = other;
    other += minuteMs;
  }
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (state(middle) === before) same = middle;
    else other = middle;
  }
  return other;
};

/**
 * Halves the life until it fits. This gives few different lifetimes, so that requests within that time find the same
 * cached token.
 */
const shorten = (expiryMs: number, remainingMs: number): number => {
  let lifeMs = expiryMs;
  while (lifeMs > remainingMs && lifeMs > shortestMs) lifeMs = Math.max(Math.floor(lifeMs / 2), shortestMs);
  return lifeMs;
};

/** When the session's decision changes next. It is computed once a minute for each session. */
type Seen = { readonly policy: Policy; readonly clientId: string; readonly minute: number; readonly endMs: number };

/**
 * Returns the life of a token of this decision, in milliseconds. At least one second, so that the request can succeed.
 */
export type LifetimeOf = (policy: Policy, session: Session, variables: PolicyVariables, expiryMs: number) => number;

export const createLifetimes = (): LifetimeOf => {
  const timedBy = new WeakMap<Policy, Timed>();
  const seenBy = new WeakMap<Session, Seen>();
  const endOf = (
    policy: Policy,
    { conditions, values }: Timed,
    session: Session,
    variables: PolicyVariables,
  ): number => {
    const nowMs = variables.now.getTime();
    const minute = Math.floor(nowMs / minuteMs);
    const clientId = variables.tenant.id;
    const seen = seenBy.get(session);
    if (seen?.policy === policy && seen.clientId === clientId && seen.minute === minute && nowMs < seen.endMs) {
      return seen.endMs;
    }
    const untilMs = nowMs + longestMs + minuteMs;
    // A value that changes constantly would leave no life, so values count as constant for one minute.
    const endMs = Math.min(
      firstChange(conditions, variables, untilMs),
      Math.max(firstChange(values, variables, untilMs), nowMs + minuteMs),
    );
    seenBy.set(session, { policy, clientId, minute, endMs });
    return endMs;
  };
  return (policy, session, variables, expiryMs) => {
    const timed = timedBy.get(policy) ?? timedOf(policy);
    timedBy.set(policy, timed);
    if (timed.conditions.length + timed.values.length === 0) return expiryMs;
    const endMs = endOf(policy, timed, session, variables);
    return shorten(Math.min(expiryMs, longestMs), endMs - variables.now.getTime());
  };
};
