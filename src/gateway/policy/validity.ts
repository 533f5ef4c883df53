/**
 * How long a decision may stand in a token. Conditions may read `now`; a token that lived on when one of them changes would grant
 * what the policy no longer does, or lack a restriction that began. So where a policy reads `now`, its tokens end before that.
 */

import type { Session } from '../authenticate/signed-session.js';
import { ExpressionFault, type PolicyVariables } from './expression.js';
import { celMoment } from './moment.js';
import type { Policy } from './policy.js';

type TimedExpression = Policy['rules'][number]['when'];

/** What reads `now`: conditions, which choose, and values, which a token holds as they were when it was made. */
type Timed = { readonly conditions: readonly TimedExpression[]; readonly values: readonly TimedExpression[] };

const minuteMs = 60_000;
/** The longest life of a token whose policy reads `now`; how far ahead it is looked. */
const longestMs = 60 * minuteMs;
const shortestMs = 1000;

const timedOf = ({ rules, restrictions }: Policy): Timed => {
  const conditions = [...rules, ...restrictions].map(({ when }) => when);
  const timezones = rules.flatMap(({ grant: { timezone } }) =>
    timezone === null || timezone === 'request' ? [] : [timezone],
  );
  const filters = restrictions.flatMap(({ restrict: { dashboardFilters, rls, appFilters } }) =>
    [dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()]),
  );
  return {
    conditions: conditions.filter(({ readsNow }) => readsNow),
    values: [...timezones, ...filters].filter(({ readsNow }) => readsNow),
  };
};

/** Whether time alone may change what the policy decides. */
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

/** When the expressions first differ from what they are now; `untilMs` where they do not before. To the millisecond where they change at most once a minute. */
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

/** Halved until it fits: so few lifetimes occur, and a token is found again in the cache until the next halving. */
const shorten = (expiryMs: number, remainingMs: number): number => {
  let lifeMs = expiryMs;
  while (lifeMs > remainingMs && lifeMs > shortestMs) lifeMs = Math.max(Math.floor(lifeMs / 2), shortestMs);
  return lifeMs;
};

/** A minute of a session, in which the next change is looked for once. */
type Seen = { readonly policy: Policy; readonly clientId: string; readonly minute: number; readonly endMs: number };

/** Milliseconds that a token of this decision may live. A second where it would be less: what is decided now must be answered. */
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
    // A value that changes all the time would leave no life at all: it holds for a minute.
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
