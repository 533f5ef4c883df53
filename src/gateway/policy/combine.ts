/**
 * How the rules and restrictions that match combine. Grants add, restrictions always apply:
 *
 * | field | two rules, or two restrictions |
 * |---|---|
 * | `templates`, `embeds` | union |
 * | `permissions` | union: granted if one rule grants it; the interface's ten are always sent, false if no rule grants it |
 * | `accessPermissions` switches | union |
 * | `accessPermissions` columns | union, table by table |
 * | `channels`, `addressDomains` | union, for each template and embed of the rules that name them |
 * | `schedule` | union, as templates and embeds of the rules that say so |
 * | `expiryMinutes` | the shortest (a rule without one has the file's, or the tenant's), and never past a change by time |
 * | `timezone` | of the first rule that names one; rules of a tenant override come before those of the file |
 * | `datasource`, `datamart` | all that apply must name the same, templates and overrides of the tenant too; else denied (tenant-source.ts) |
 * | `dashboardFilters`, `rls`, `appFilters` | intersection, value by value; an empty one denies |
 * | `show` | a filter's value is shown if all restrictions that bind the filter say so, and none hides the filter |
 * | `hideDashboardFilters`, `hideMetrics`, `hideColumns` | union: hidden if one restriction hides it |
 * | `maskColumns` | the stricter mask, column by column; none for a hidden column |
 * | `isDisableMetricCreation` | true if one restriction says so |
 * | `quota` | the smallest of each limit |
 *
 * A restriction applies to every granted dashboard and embed, whichever rule granted it. Overrides of a tenant are rules and
 * restrictions like the others; they may switch rules off, but no restriction. docs/reference/policies.md has the table for readers.
 *
 * Each combined value keeps references to the rules or restrictions that it came from: the grant is made of the values, and
 * record.ts renders the references for `policy explain`. No other code may combine rules.
 */
import type { FilterColumns } from '../../model/dashboard/embed.js';
import { stricterMask } from '../../model/datamart/masks.js';
import {
  type AccessPermissions,
  type AccessSwitch,
  accessSwitches,
  type GuestPermission,
  guestPermissionNames,
} from '../../model/guest/grant.js';
import { type Quota, type QuotaName, quotaNames, smallestQuota } from '../../model/quota.js';
import { recordOf } from '../../model/record-of.js';
import type { RestrictionRule, Rule } from './rules.js';

/** A value that a restriction binds. */
export type Bound = string | number | boolean | readonly string[];
export type BoundValues = ReadonlyMap<string, Bound>;

export type Restriction = {
  readonly dashboardFilters: BoundValues;
  /** The dashboard filters whose values the end user sees. */
  readonly shownFilters: readonly string[];
  readonly rls: BoundValues;
  readonly appFilters: BoundValues;
  readonly hideDashboardFilters: readonly string[];
  /** The hidden metrics, by name or id, for each template. */
  readonly hideMetrics: ReadonlyMap<string, readonly string[]>;
  readonly hideColumns: readonly string[];
  /** The mask by column. */
  readonly maskColumns: ReadonlyMap<string, string>;
  readonly isDisableMetricCreation: boolean;
  readonly quota: Quota;
};

/** A restriction that matches this user, with its evaluated values. */
export type AppliedRestriction = { readonly rule: RestrictionRule; readonly restriction: Restriction };

/** The items of a set, each with the rules or restrictions that name it. */
export type Union<By> = ReadonlyMap<string, readonly By[]>;

/** One rule's value for a field in which only one value counts. `counts` tells whether this one does. */
export type Statement<Value> = { readonly rule: Rule; readonly value: Value; readonly counts: boolean };

/**
 * The combined value of a filter or variable, with the restrictions that bind it. Null if they allow no common value.
 */
export type CombinedBound = { readonly value: Bound | null; readonly from: readonly AppliedRestriction[] };

/** The combined mask of a column, with the restrictions that mask it. */
export type CombinedMask = { readonly value: string; readonly from: readonly AppliedRestriction[] };

export const boundFields = ['dashboardFilters', 'rls', 'appFilters'] as const;
export type BoundField = (typeof boundFields)[number];

const bySmallerKey = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number =>
  left < right ? -1 : 1;

const sortByKey = <Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> =>
  new Map([...map].toSorted(bySmallerKey));

const addTo = <By>(union: Map<string, By[]>, items: Iterable<string>, by: By): void => {
  for (const item of items) {
    const held = union.get(item);
    if (held === undefined) union.set(item, [by]);
    else if (held.at(-1) !== by) held.push(by);
  }
};

/** Returns the union of the items, in order of first occurrence. */
const unite = <By>(all: readonly By[], itemsOf: (by: By) => Iterable<string>): Union<By> => {
  const union = new Map<string, By[]>();
  for (const by of all) addTo(union, itemsOf(by), by);
  return union;
};

/** Returns one union for each key. Keys and items are sorted. */
const uniteByKey = <By>(
  all: readonly By[],
  listsOf: (by: By) => Iterable<readonly [string, readonly string[]]>,
): ReadonlyMap<string, Union<By>> => {
  const unions = new Map<string, Map<string, By[]>>();
  for (const by of all) {
    for (const [key, items] of listsOf(by)) {
      const union = unions.get(key) ?? new Map<string, By[]>();
      unions.set(key, union);
      addTo(union, items, by);
    }
  }
  return new Map([...sortByKey(unions)].map(([key, union]) => [key, sortByKey(union)]));
};

/** Returns the values that both allow, or null if there are none. Values of different types have nothing in common. */
export const intersectBound = (left: Bound, right: Bound): Bound | null => {
  if (typeof left === 'object' && typeof right === 'object') {
    const common = [...new Set(left)].filter((value) => right.includes(value)).toSorted();
    return common.length === 0 ? null : common;
  }
  if (typeof left === 'object') return typeof right === 'string' && left.includes(right) ? right : null;
  if (typeof right === 'object') return intersectBound(right, left);
  return left === right ? left : null;
};

/** Thrown if the restrictions allow no common value of a filter or variable. `bound` is its name. */
export class EmptyIntersection extends Error {
  override readonly name = 'EmptyIntersection';
  constructor(readonly bound: string) {
    super(`the restrictions that apply leave no value for "${bound}"`);
  }
}

export type CombinedAccess = {
  readonly switches: Union<Rule>;
  /** The filter columns by table. */
  readonly dashboardFilterColumns: ReadonlyMap<string, Union<Rule>>;
  readonly metricFilterColumns: ReadonlyMap<string, Union<Rule>>;
};

/** The combined grants of all matching rules. */
export type CombinedRules = {
  readonly templates: Union<Rule>;
  readonly embeds: Union<Rule>;
  readonly permissions: Union<Rule>;
  readonly access: CombinedAccess;
  /** The names of channels by template or embed. */
  readonly channels: ReadonlyMap<string, Union<Rule>>;
  /** The templates and embeds that may be sent to others of the tenant. */
  readonly schedule: Union<Rule>;
  /** The domains of addresses without an account, by template or embed. */
  readonly addressDomains: ReadonlyMap<string, Union<Rule>>;
  /** One statement for each rule. Those with the shortest expiry count. */
  readonly expiryMinutes: readonly Statement<number>[];
  /** The statements of the rules with a timezone. Only the first counts. */
  readonly timezone: readonly Statement<NonNullable<Rule['grant']['timezone']>>[];
};

const columnsOf = (tables: readonly FilterColumns[] | undefined): readonly (readonly [string, readonly string[]])[] =>
  (tables ?? []).map(({ tableName, columns }) => [tableName, columns]);

const combineAccess = (rules: readonly Rule[]): CombinedAccess => ({
  switches: unite(rules, ({ grant: { accessPermissions } }) =>
    accessSwitches.filter((name) => accessPermissions?.[name] === true),
  ),
  dashboardFilterColumns: uniteByKey(rules, ({ grant }) => columnsOf(grant.accessPermissions?.dashboardFilterColumns)),
  metricFilterColumns: uniteByKey(rules, ({ grant }) => columnsOf(grant.accessPermissions?.metricFilterColumns)),
});

const sourcesOf = ({ grant: { templates, embeds } }: Rule): readonly string[] => [...templates, ...embeds];

/** Returns the united items of a list for each template and embed of the rules that have the list. */
const uniteBySource = (rules: readonly Rule[], field: 'channels' | 'addressDomains') =>
  uniteByKey(rules, (rule) => {
    const items = rule.grant[field];
    return items.length === 0 ? [] : sourcesOf(rule).map((source) => [source, items] as const);
  });

const combineExpiry = (rules: readonly Rule[], fileMinutes: number): CombinedRules['expiryMinutes'] => {
  const said = rules.map((rule) => ({ rule, value: rule.grant.expiryMinutes ?? fileMinutes }));
  const shortest = Math.min(...said.map(({ value }) => value));
  return said.map(({ rule, value }) => ({ rule, value, counts: value === shortest }));
};

/** Combines the matching rules. `fileExpiryMinutes` applies to each rule without an expiry. */
export const combineRules = (rules: readonly Rule[], fileExpiryMinutes: number): CombinedRules => ({
  templates: unite(rules, ({ grant }) => grant.templates),
  embeds: unite(rules, ({ grant }) => grant.embeds),
  permissions: unite(rules, ({ grant }) => grant.permissions),
  access: combineAccess(rules),
  channels: uniteBySource(rules, 'channels'),
  schedule: unite(rules, (rule) => (rule.grant.schedule === true ? sourcesOf(rule) : [])),
  addressDomains: uniteBySource(rules, 'addressDomains'),
  expiryMinutes: combineExpiry(rules, fileExpiryMinutes),
  timezone: rules
    .flatMap((rule) => (rule.grant.timezone === null ? [] : [{ rule, value: rule.grant.timezone }]))
    .map((said, index) => ({ ...said, counts: index === 0 })),
});

/** Returns all permissions. The token request has the ten of the interface, and of the others those that are granted. */
export const permissionsOf = (
  { permissions }: Pick<CombinedRules, 'permissions'>,
  isDisableMetricCreation: boolean,
): Readonly<Record<GuestPermission, boolean>> => ({
  ...recordOf(guestPermissionNames, (name) => permissions.has(name)),
  isDisableMetricCreation,
});

const tablesOf = (columns: ReadonlyMap<string, Union<Rule>>): readonly FilterColumns[] =>
  [...columns].map(([tableName, union]) => ({ tableName, columns: [...union.keys()] }));

/** Returns the combined access permissions, or null if no rule grants any. */
export const accessPermissionsOf = ({ access }: Pick<CombinedRules, 'access'>): AccessPermissions | null => {
  const dashboardFilterColumns = tablesOf(access.dashboardFilterColumns);
  const metricFilterColumns = tablesOf(access.metricFilterColumns);
  const has = (name: AccessSwitch): boolean => access.switches.has(name);
  const result: AccessPermissions = {
    ...(dashboardFilterColumns.length > 0 ? { isAllowEndUserDashboardFilter: true, dashboardFilterColumns } : {}),
    ...(metricFilterColumns.length > 0 ? { isAllowEndUserMetricFilter: true, metricFilterColumns } : {}),
    ...(has('isAllowDashboardFilterNameChange') ? { isAllowDashboardFilterNameChange: true } : {}),
    ...(has('isAllowMetricFilterNameChange') ? { isAllowMetricFilterNameChange: true } : {}),
  };
  return Object.keys(result).length === 0 ? null : result;
};

/** The combined requirements of all matching restrictions. */
export type CombinedRestrictions = Readonly<Record<BoundField, ReadonlyMap<string, CombinedBound>>> & {
  /** The dashboard filters whose values the end user sees, with the restrictions that bind them. */
  readonly shownFilters: Union<AppliedRestriction>;
  readonly hideDashboardFilters: Union<AppliedRestriction>;
  /** The hidden metrics by template or embed. */
  readonly hideMetrics: ReadonlyMap<string, Union<AppliedRestriction>>;
  readonly hideColumns: Union<AppliedRestriction>;
  /** The masks of the columns that no restriction hides. */
  readonly maskColumns: ReadonlyMap<string, CombinedMask>;
  /** The restrictions that disable metric creation. */
  readonly isDisableMetricCreation: readonly AppliedRestriction[];
  /** The smallest of each limit, with the restrictions that limit the same. */
  readonly quota: ReadonlyMap<QuotaName, { readonly value: number; readonly from: readonly AppliedRestriction[] }>;
};

/** Returns the intersection of the values for each name. The names are sorted. */
const intersectField = (all: readonly AppliedRestriction[], field: BoundField): ReadonlyMap<string, CombinedBound> => {
  const result = new Map<string, { value: Bound | null; from: AppliedRestriction[] }>();
  for (const applied of all) {
    for (const [name, value] of applied.restriction[field]) {
      const held = result.get(name);
      if (held === undefined) result.set(name, { value, from: [applied] });
      else {
        held.value = held.value === null ? null : intersectBound(held.value, value);
        held.from.push(applied);
      }
    }
  }
  return sortByKey(result);
};

/** Returns the filters that every restriction which binds them shows. A value that one restriction hides is not shown. */
const shownOf = (
  bounds: ReadonlyMap<string, CombinedBound>,
  hidden: Union<AppliedRestriction>,
): Union<AppliedRestriction> => {
  const names = new Set([...hidden.keys()].map((name) => name.toLowerCase()));
  return new Map(
    [...bounds]
      .filter(([name, { from }]) => from.every(({ restriction }) => restriction.shownFilters.includes(name)))
      .filter(([name]) => !names.has(name.toLowerCase()))
      .map(([name, { from }]) => [name, from]),
  );
};

/** Returns the stricter mask for each column. The names are sorted. */
const combineMasks = (
  all: readonly AppliedRestriction[],
  hidden: Union<AppliedRestriction>,
): ReadonlyMap<string, CombinedMask> => {
  const result = new Map<string, { value: string; from: AppliedRestriction[] }>();
  for (const applied of all) {
    for (const [name, mask] of applied.restriction.maskColumns) {
      if (hidden.has(name)) continue;
      const held = result.get(name);
      if (held === undefined) result.set(name, { value: mask, from: [applied] });
      else {
        held.value = stricterMask(held.value, mask);
        held.from.push(applied);
      }
    }
  }
  return sortByKey(result);
};

const combineQuotas = (all: readonly AppliedRestriction[]): CombinedRestrictions['quota'] => {
  const smallest = smallestQuota(all.map(({ restriction }) => restriction.quota));
  return new Map(
    quotaNames.flatMap((name) => {
      const value = smallest[name];
      const from = all.filter(({ restriction }) => restriction.quota[name] !== undefined);
      return value === undefined ? [] : [[name, { value, from }] as const];
    }),
  );
};

export const combineRestrictions = (all: readonly AppliedRestriction[]): CombinedRestrictions => {
  const dashboardFilters = intersectField(all, 'dashboardFilters');
  const hideDashboardFilters = sortByKey(unite(all, ({ restriction }) => restriction.hideDashboardFilters));
  const hideColumns = sortByKey(unite(all, ({ restriction }) => restriction.hideColumns));
  return {
    dashboardFilters,
    shownFilters: shownOf(dashboardFilters, hideDashboardFilters),
    rls: intersectField(all, 'rls'),
    appFilters: intersectField(all, 'appFilters'),
    hideDashboardFilters,
    hideMetrics: uniteByKey(all, ({ restriction }) => restriction.hideMetrics),
    hideColumns,
    maskColumns: combineMasks(all, hideColumns),
    isDisableMetricCreation: all.filter(({ restriction }) => restriction.isDisableMetricCreation),
    quota: combineQuotas(all),
  };
};

const valuesOf = (bounds: ReadonlyMap<string, CombinedBound>): BoundValues =>
  new Map(
    [...bounds].map(([name, { value }]) => {
      if (value === null) throw new EmptyIntersection(name);
      return [name, value];
    }),
  );

/** Returns the restriction of the grant. Throws EmptyIntersection. */
export const restrictionOf = (combined: CombinedRestrictions): Restriction => ({
  dashboardFilters: valuesOf(combined.dashboardFilters),
  shownFilters: [...combined.shownFilters.keys()],
  rls: valuesOf(combined.rls),
  appFilters: valuesOf(combined.appFilters),
  hideDashboardFilters: [...combined.hideDashboardFilters.keys()],
  hideMetrics: new Map([...combined.hideMetrics].map(([source, union]) => [source, [...union.keys()]])),
  hideColumns: [...combined.hideColumns.keys()],
  maskColumns: new Map([...combined.maskColumns].map(([name, { value }]) => [name, value])),
  isDisableMetricCreation: combined.isDisableMetricCreation.length > 0,
  quota: Object.fromEntries([...combined.quota].map(([name, { value }]) => [name, value])),
});
