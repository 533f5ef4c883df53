/**
 * Decides what a user may see. Every rule whose condition is true adds what it grants; every restriction whose condition is true
 * applies to all of it (combine.ts). Must not call the upstream, the ledger or the host.
 */

import { basename } from 'node:path';
import { LRUCache } from 'lru-cache';
import { isTimezone as isTimezoneName } from '../../model/filter/date-range.js';
import { isUnsafeNumber } from '../../model/filter/exact-number.js';
import type { AccessPermissions, GuestPermission } from '../../model/guest/grant.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { counted } from '../../model/texts/counted.js';
import type { Session } from '../authenticate/signed-session.js';
import { dashboardIdOf } from '../common/dashboard-id.js';
import type { Reason } from '../common/reasons.js';
import type { EmbedTokenBody } from '../common/wire.js';
import { celClaims } from './claim-values.js';
import {
  type AppliedRestriction,
  accessPermissionsOf,
  type Bound,
  type BoundValues,
  type CombinedRestrictions,
  type CombinedRules,
  combineRestrictions,
  combineRules,
  EmptyIntersection,
  permissionsOf,
  type Restriction,
  restrictionOf,
} from './combine.js';
import {
  type Expression,
  ExpressionFault,
  explainMisfits,
  type PolicyVariables,
  refuseUnsafeClaim,
} from './expression.js';
import { maxClaimList } from './expression-cost.js';
import { celMoment } from './moment.js';
import { type Policy, policyFor, type RestrictionRule, type Rule, type Template } from './policy.js';
import type { SourceNames } from './source-names.js';
import { type CombinedSource, evaluateSources, SourcesDisagree, sourceOf, statementsOf } from './tenant-source.js';
import { createLifetimes } from './validity.js';

/** The access that the policy grants this user in this tenant. */
export type Grant = {
  readonly templates: readonly Template[];
  /** Ids of embeds that are not copies of templates: metrics, and dashboards that all clients share. */
  readonly embeds: readonly string[];
  readonly permissions: Readonly<Record<GuestPermission, boolean>>;
  readonly accessPermissions: AccessPermissions | null;
  /**
   * Names of channels by the id of the dashboard or embed that may go there. No part of the token: it is asked for when a
   * message leaves.
   */
  readonly channels: ReadonlyMap<string, readonly string[]>;
  /**
   * The ids of dashboards and embeds that this user may send to others of the tenant, each with the domains of addresses
   * without an account. No part of the token, as `channels`.
   */
  readonly scheduling: ReadonlyMap<string, readonly string[]>;
  /**
   * Life of the token in milliseconds. It ends before the next time at which the decision would change without any
   * other input.
   */
  readonly expiryMs: number;
  /** IANA timezone name. Null if there is none. */
  readonly timezone: string | null;
  /** The datasource and datamart that the token names. Empty: the embeds' own. */
  readonly source: SourceNames;
  readonly restriction: Restriction;
  /** The rules and restrictions that matched, for the audit. */
  readonly because: { readonly rules: readonly Rule[]; readonly restrictions: readonly AppliedRestriction[] };
};

/** A grant with the rules and restrictions that each part came from. record.ts renders them. */
export type PolicyDecision = {
  readonly grant: Grant;
  readonly rules: CombinedRules;
  readonly restrictions: CombinedRestrictions;
  readonly sources: CombinedSource;
};

/**
 * Decides a request. Throws NO_POLICY, POLICY_UNDECIDED, EMBED_NOT_GRANTED, or INVALID_REQUEST_BODY for an unusable
 * timezone in the request and for a claim with a number that JSON may have rounded.
 */
export type Decide = (policy: Policy, session: Session, clientId: string, asked: EmbedTokenBody) => Grant;

/**
 * Returns the refusal of a policy that cannot be evaluated. `cause` is for the log only, since it can tell one user
 * about another's rules. `hints`: sentences for developers.
 */
export const undecided = (
  reason: Reason<'POLICY_UNDECIDED'>,
  cause: unknown,
  hints: readonly string[] = [],
): Refusal => {
  const said =
    "The policy could not be decided for this user, so nothing is shown. The gateway's log names the expression and the reason.";
  return new Refusal('POLICY_UNDECIDED', [said, ...hints].join(' '), { reason, cause });
};

const guarded = <T>(policy: Policy, session: Session, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof ExpressionFault) {
      refuseUnsafeClaim(error.source, session.claims, policy.claims, error);
      throw undecided('expression-failed', error, explainMisfits(error.source, session.claims, policy.claims));
    }
    if (error instanceof EmptyIntersection) throw undecided('empty-intersection', error);
    if (error instanceof SourcesDisagree) throw undecided('sources-disagree', error);
    throw error;
  }
};

const fault = (expression: Expression<PolicyVariables>, code: string): never => {
  throw new ExpressionFault(expression.at, expression.source, code);
};

/** Evaluates a condition. Throws ExpressionFault if the result is not true or false. */
export const evaluateBoolean = (expression: Expression<PolicyVariables>, variables: PolicyVariables): boolean => {
  const value = expression.evaluate(variables);
  return typeof value === 'boolean' ? value : fault(expression, 'not_a_boolean');
};

const isFilledText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 4000;

/** Evaluates the value of a filter. Refuses an empty value, since the service could treat it as "no filter". */
const evaluateBound = (expression: Expression<PolicyVariables>, variables: PolicyVariables): Bound => {
  const value = expression.evaluate(variables);
  if (typeof value === 'boolean' || isFilledText(value)) return value;
  // A claim of JSON may have been rounded: the service would restrict to another value than the token's.
  if (isUnsafeNumber(value)) return fault(expression, 'number_beyond_2^53_give_it_as_text');
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  // Sent as text beyond 2^53, since a JSON number would be rounded and the service refuses it.
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value) && value.length > 0 && value.every(isFilledText)) return [...new Set(value)].toSorted();
  return fault(expression, 'not_a_filter_value');
};

const evaluateValues = (
  values: ReadonlyMap<string, Expression<PolicyVariables>>,
  variables: PolicyVariables,
): BoundValues => new Map([...values].map(([name, expression]) => [name, evaluateBound(expression, variables)]));

type ValuesOf = (values: ReadonlyMap<string, Expression<PolicyVariables>>) => BoundValues;

const restrictionWith = ({ restrict }: RestrictionRule, valuesOf: ValuesOf): Restriction => ({
  dashboardFilters: valuesOf(restrict.dashboardFilters),
  shownFilters: restrict.show === true ? [...restrict.dashboardFilters.keys()] : [],
  rls: valuesOf(restrict.rls),
  appFilters: valuesOf(restrict.appFilters),
  hideDashboardFilters: restrict.hideDashboardFilters,
  hideMetrics: new Map(Object.entries(restrict.hideMetrics)),
  hideColumns: restrict.hideColumns,
  maskColumns: new Map(Object.entries(restrict.maskColumns)),
  isDisableMetricCreation: restrict.isDisableMetricCreation ?? false,
  quota: restrict.quota,
});

/** Evaluates the values of a restriction. Throws ExpressionFault if one cannot be evaluated. */
export const evaluateRestriction = (rule: RestrictionRule, variables: PolicyVariables): Restriction =>
  restrictionWith(rule, (values) => evaluateValues(values, variables));

/** The restriction as far as it is the same for every user: each value that it binds is an empty text. */
export const restrictionWithoutValues = (rule: RestrictionRule): Restriction =>
  restrictionWith(rule, (values) => new Map([...values.keys()].map((name) => [name, ''])));

/** Returns the roles of a session. Throws ExpressionFault. */
export const rolesOf = (
  policy: Policy,
  session: Pick<Session, 'claims'>,
  claims = celClaims(session.claims, policy.claims),
): readonly string[] => {
  const roles = policy.roles.evaluate({ claims });
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) {
    throw new ExpressionFault(policy.roles.at, policy.roles.source, 'not_a_list_of_strings');
  }
  if (roles.length > maxClaimList) {
    throw new ExpressionFault(policy.roles.at, policy.roles.source, `more_than_${maxClaimList}_roles`);
  }
  return roles;
};

/** Returns the variables of the policy's expressions for one session. Throws ExpressionFault. */
export const variablesOf = (policy: Policy, session: Session, clientId: string, now: Date): PolicyVariables => {
  const claims = celClaims(session.claims, policy.claims);
  return {
    user: { id: session.subject, issuer: session.issuer ?? '', roles: rolesOf(policy, session, claims), claims },
    tenant: { id: clientId },
    now: celMoment(now.getTime()),
  };
};

const quote = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/**
 * Throws NO_POLICY. The message contains no role of the user, since it is logged and roles are claims. `policy explain`
 * shows them.
 */
const refuseUngranted = (policy: Policy, { user, tenant }: PolicyVariables): never => {
  const roles = counted(user.roles.length, 'role');
  throw new Refusal(
    'NO_POLICY',
    `No rule of ${basename(policy.file)} grants anything to user "${user.id}" with ${roles} in tenant "${tenant.id}". ` +
      `Rules tried: ${quote(policy.rules.map(({ name }) => name))}. ` +
      'Give the user a role that one of them names, or add a rule.',
  );
};

const knownTimezones = new LRUCache<string, boolean>({ max: 1000 });

/** Whether a value is the name of an IANA timezone. Results are cached, because Intl is slow. */
const isTimezone = (value: unknown): value is string => {
  if (typeof value !== 'string') return false;
  const held = knownTimezones.get(value);
  if (held !== undefined) return held;
  const result = isTimezoneName(value);
  knownTimezones.set(value, result);
  return result;
};

const timezoneOf = (
  [first]: CombinedRules['timezone'],
  variables: PolicyVariables,
  asked: string | undefined,
): string | null => {
  const timezone = first?.value ?? null;
  if (asked !== undefined) {
    if (timezone === 'request' && isTimezone(asked)) return asked;
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      timezone === 'request'
        ? "The body's field timezone is not an IANA name such as Europe/Lisbon."
        : "The body's field timezone is refused: the policy sets it for this user. Leave it out.",
      { reason: 'timezone-refused' },
    );
  }
  if (timezone === null || timezone === 'request') return null;
  const value = timezone.evaluate(variables);
  return isTimezone(value) ? value : fault(timezone, 'not_a_timezone');
};

type Granted = Pick<Grant, 'templates' | 'embeds'>;

const narrow = ({ templates, embeds }: Granted, clientId: string, asked: readonly string[]): Granted => {
  const isNamed = (name: string) => (template: Template) =>
    template.template === name || dashboardIdOf(template.template, clientId) === name;
  if (asked.every((name) => embeds.includes(name) || templates.some(isNamed(name)))) {
    return {
      templates: templates.filter((template) => asked.some((name) => isNamed(name)(template))),
      embeds: embeds.filter((id) => asked.includes(id)),
    };
  }
  const ids = [...templates.map(({ template }) => dashboardIdOf(template, clientId)), ...embeds];
  throw new Refusal(
    'EMBED_NOT_GRANTED',
    `The body asks for an embed that this user is not granted. Granted are: ${quote(ids)}.`,
  );
};

/** Returns what was granted for templates and embeds by the ids under which the user opens them. */
const byOpenedId = (
  { templates }: CombinedRules,
  clientId: string,
  granted: Iterable<readonly [string, Iterable<string>]>,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...granted].map(([source, items]) => [
      templates.has(source) ? dashboardIdOf(source, clientId) : source,
      [...items],
    ]),
  );

const channelsOf = (rules: CombinedRules, clientId: string): Grant['channels'] =>
  byOpenedId(
    rules,
    clientId,
    [...rules.channels].map(([source, names]) => [source, names.keys()]),
  );

const schedulingOf = (rules: CombinedRules, clientId: string): Grant['scheduling'] =>
  byOpenedId(
    rules,
    clientId,
    [...rules.schedule.keys()].map((source) => [source, rules.addressDomains.get(source)?.keys() ?? []]),
  );

const decideBy = (
  policy: Policy,
  matching: readonly Rule[],
  variables: PolicyVariables,
  asked: EmbedTokenBody,
): PolicyDecision => {
  const rules = combineRules(matching, policy.expiryMinutes);
  const applied = policy.restrictions
    .filter(({ when }) => evaluateBoolean(when, variables))
    .map((rule) => ({ rule, restriction: evaluateRestriction(rule, variables) }));
  const restrictions = combineRestrictions(applied);
  const restriction = restrictionOf(restrictions);
  const granted = {
    templates: [...policy.templates.values()].filter(({ template }) => rules.templates.has(template)),
    embeds: [...rules.embeds.keys()],
  };
  const opened = asked.embeds === undefined ? granted : narrow(granted, variables.tenant.id, asked.embeds);
  const applying = { rules: matching, restrictions: applied.map(({ rule }) => rule), templates: opened.templates };
  const sources = evaluateSources(statementsOf(policy, applying), variables);
  const expiryMinutes = Math.min(...rules.expiryMinutes.map(({ value }) => value));
  const grant: Grant = {
    ...opened,
    permissions: permissionsOf(rules, restriction.isDisableMetricCreation),
    accessPermissions: accessPermissionsOf(rules),
    channels: channelsOf(rules, variables.tenant.id),
    scheduling: schedulingOf(rules, variables.tenant.id),
    expiryMs: expiryMinutes * 60_000,
    timezone: timezoneOf(rules.timezone, variables, asked.timezone),
    source: sourceOf(sources, opened),
    restriction,
    because: { rules: matching, restrictions: applied },
  };
  return { grant, rules, restrictions, sources };
};

/**
 * Creates a function that decides a request and returns the decision with its record. It throws what `Decide` throws.
 */
export const createPolicyDecision = (clock: Clock) => {
  const lifetimeOf = createLifetimes();
  return (base: Policy, session: Session, clientId: string, asked: EmbedTokenBody): PolicyDecision =>
    guarded(base, session, () => {
      const policy = policyFor(base, clientId);
      const variables = variablesOf(policy, session, clientId, clock.now());
      const matching = policy.rules.filter(({ when }) => evaluateBoolean(when, variables));
      if (matching.length === 0) return refuseUngranted(policy, variables);
      const decision = decideBy(policy, matching, variables, asked);
      const expiryMs = lifetimeOf(policy, session, variables, decision.grant.expiryMs);
      return { ...decision, grant: { ...decision.grant, expiryMs } };
    });
};

/** Creates the policy step of a request, which needs only the grant. */
export const createPolicyStep = (clock: Clock): Decide => {
  const decide = createPolicyDecision(clock);
  return (policy, session, clientId, asked) => decide(policy, session, clientId, asked).grant;
};
