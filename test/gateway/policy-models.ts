/**
 * Random policies as simple models. Each can be written as a policy file for the gateway, and is also decided here by
 * brute force.
 */
import fc from 'fast-check';
import { basePolicy } from './policies.js';

export type Condition =
  | { readonly by: 'always' }
  | { readonly by: 'role'; readonly role: string }
  | { readonly by: 'tenant'; readonly tenant: string }
  /** The condition fails to evaluate for a user without the claim. */
  | { readonly by: 'region'; readonly region: string };
export type Value = { readonly list: readonly string[] } | 'the region';
export type RuleModel = {
  readonly when: Condition;
  readonly templates: readonly string[];
  readonly permissions: readonly string[];
  readonly columns: readonly string[];
  readonly expiryMinutes: number | null;
  readonly timezone: string | null;
};
export type RestrictionModel = {
  readonly when: Condition;
  readonly dashboardFilters: Readonly<Record<string, Value>>;
  readonly rls: Readonly<Record<string, Value>>;
  readonly appFilters: Readonly<Record<string, Value>>;
  readonly hideDashboardFilters: readonly string[];
  readonly hideMetrics: Readonly<Record<string, readonly string[]>>;
  readonly isDisableMetricCreation: boolean;
};
export type PolicyModel = {
  readonly tenant: 'of the claims' | 'ATL';
  readonly expiryMinutes: number;
  readonly rules: readonly RuleModel[];
  readonly restrictions: readonly RestrictionModel[];
};
export type UserModel = {
  readonly org: string;
  readonly roles: readonly string[];
  readonly region: string | null;
  readonly embeds: readonly string[] | null;
};

export const templates = ['delays', 'routes', 'third-one'];
export const permissions = ['isShowSideBar', 'isEnableUnderlyingData', 'isEnableDownloadMetrics'];
export const columns = ['origin', 'date'];
export const regions = ['CA', 'NV', 'OR'];
export const filterNames = ['State', 'Carrier'];
export const metrics = ['M1', 'M2'];
export const expiries = [15, 30, 60];
const roles = ['a', 'b', 'c'];
const tenants = ['LAX', 'ATL'];

const subset = (of: readonly string[], minLength = 0) => fc.uniqueArray(fc.constantFrom(...of), { minLength });

const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...roles).map((role) => ({ by: 'role' as const, role })) },
  { weight: 2, arbitrary: fc.constant({ by: 'always' as const }) },
  { weight: 1, arbitrary: fc.constantFrom(...tenants).map((tenant) => ({ by: 'tenant' as const, tenant })) },
  { weight: 1, arbitrary: fc.constantFrom(...regions).map((region) => ({ by: 'region' as const, region })) },
);

const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 5, arbitrary: subset(regions, 1).map((list) => ({ list })) },
  { weight: 1, arbitrary: fc.constant('the region' as const) },
);
const values = fc.dictionary(fc.constantFrom(...filterNames), value, { maxKeys: 2 });

const rule: fc.Arbitrary<RuleModel> = fc.record({
  when: condition,
  templates: subset(templates, 1),
  permissions: subset(permissions),
  columns: subset(columns),
  expiryMinutes: fc.option(fc.constantFrom(...expiries)),
  timezone: fc.option(fc.constantFrom('UTC', 'Europe/Lisbon')),
});

const restriction: fc.Arbitrary<RestrictionModel> = fc.record({
  when: condition,
  dashboardFilters: values,
  rls: values,
  appFilters: values,
  // Never empty, since an empty restriction is a fault.
  hideDashboardFilters: subset(filterNames, 1),
  hideMetrics: fc.dictionary(fc.constantFrom(...templates), subset(metrics, 1), { maxKeys: 2 }),
  isDisableMetricCreation: fc.boolean(),
});

export const policyModel: fc.Arbitrary<PolicyModel> = fc.record({
  tenant: fc.oneof({ weight: 5, arbitrary: fc.constant('of the claims' as const) }, fc.constant('ATL' as const)),
  expiryMinutes: fc.constantFrom(...expiries),
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
  restrictions: fc.array(restriction, { maxLength: 3 }),
});

/** A policy and its successor, usually with few changes, as in a review. */
export const changedPolicy: fc.Arbitrary<readonly [PolicyModel, PolicyModel]> = fc
  .tuple(policyModel, policyModel, fc.constantFrom('all', 'rules', 'restrictions', 'first rule', 'less', 'nothing'))
  .map(([old, other, what]) => {
    if (what === 'rules') return [old, { ...old, rules: other.rules }];
    if (what === 'restrictions') return [old, { ...old, restrictions: other.restrictions }];
    if (what === 'first rule') return [old, { ...old, rules: [...other.rules.slice(0, 1), ...old.rules.slice(1)] }];
    if (what === 'less') return [old, { ...old, restrictions: old.restrictions.slice(1) }];
    return [old, what === 'all' ? other : old];
  });

export const user: fc.Arbitrary<UserModel> = fc.record({
  org: fc.constantFrom(...tenants),
  roles: subset(roles),
  region: fc.option(fc.constantFrom(...regions), { freq: 3 }),
  embeds: fc.option(subset(templates, 1), { freq: 2 }),
});

const celCondition = (when: Condition): string => {
  if (when.by === 'always') return 'true';
  if (when.by === 'role') return `"${when.role}" in user.roles`;
  return when.by === 'tenant' ? `tenant.id == "${when.tenant}"` : `user.claims.region == "${when.region}"`;
};

const celValues = (all: Readonly<Record<string, Value>>): object =>
  Object.fromEntries(
    Object.entries(all).map(([name, given]) => [
      name,
      given === 'the region' ? 'user.claims.region' : JSON.stringify(given.list),
    ]),
  );

const optional = (name: string, given: unknown): object => (given === null ? {} : { [name]: given });

/** Returns the model as the content of a policy file. */
export const documentOf = (model: PolicyModel): object => ({
  ...basePolicy,
  session: { ...basePolicy.session, tenant: model.tenant === 'ATL' ? '"ATL"' : 'claims.org_id' },
  expiryMinutes: model.expiryMinutes,
  rules: model.rules.map((each, index) => ({
    name: `rule ${index}`,
    when: celCondition(each.when),
    grant: {
      templates: each.templates,
      permissions: each.permissions,
      ...(each.columns.length === 0
        ? {}
        : {
            accessPermissions: {
              isAllowEndUserMetricFilter: true,
              metricFilterColumns: [{ tableName: 'main.flights', columns: each.columns }],
            },
          }),
      ...optional('expiryMinutes', each.expiryMinutes),
      ...optional('timezone', each.timezone === null ? null : JSON.stringify(each.timezone)),
    },
  })),
  restrictions: model.restrictions.map((each, index) => ({
    name: `restriction ${index}`,
    when: celCondition(each.when),
    restrict: {
      dashboardFilters: celValues(each.dashboardFilters),
      rls: celValues(each.rls),
      appFilters: celValues(each.appFilters),
      hideDashboardFilters: each.hideDashboardFilters,
      hideMetrics: each.hideMetrics,
      ...(each.isDisableMetricCreation ? { isDisableMetricCreation: true } : {}),
    },
  })),
});

export const claimsOf = ({ org, roles: held, region }: UserModel): Readonly<Record<string, unknown>> => ({
  sub: 'ann',
  org_id: org,
  roles: held,
  ...optional('region', region),
});
export const bodyOf = ({ embeds }: UserModel) => (embeds === null ? {} : { embeds: [...embeds] });
