/**
 * The record of a decision, for `policy explain` and policy tests. It has each part of a grant, with the rules and
 * restrictions that the part came from. This file renders the result of combine.ts and must not combine anything
 * itself.
 */

import { accessSwitches } from '../../model/guest/grant.js';
import {
  type AppliedRestriction,
  type Bound,
  boundFields,
  type CombinedAccess,
  type CombinedRestrictions,
  type CombinedRules,
  type Union,
} from './combine.js';
import type { PolicyDecision } from './decide.js';
import { sourceFields } from './source-names.js';

/**
 * One rule's or restriction's contribution to a field. `at` is the place of its `when`, and `valueAt` the place of its
 * expression for this field.
 */
export type Contributor = {
  readonly name: string;
  readonly at: string;
  readonly valueAt?: string;
  readonly says: Bound | null;
  /** True if the rule has no value and the file's value is used. */
  readonly isFileDefault?: true;
  /** False if the value of another rule was used. */
  readonly counts: boolean;
};

/**
 * The record of one field. `value` is null if there is none, or, for a filter, if the restrictions allow no common
 * value.
 */
export type FieldRecord = {
  readonly field: string;
  readonly value: Bound | null;
  readonly from: readonly Contributor[];
};

type Conditional = { readonly name: string; readonly when: { readonly at: string } };

const contributor = ({ name, when }: Conditional, says: Bound | null, counts = true): Contributor => ({
  name,
  at: when.at,
  says,
  counts,
});

/** Returns one record for each item of a union. */
const recordUnion = <By>(
  field: string,
  union: Union<By>,
  conditionalOf: (by: By) => Conditional,
  nameOf: (item: string) => string = (item) => item,
): readonly FieldRecord[] =>
  [...union].map(([item, all]) => ({
    field,
    value: nameOf(item),
    from: all.map((by) => contributor(conditionalOf(by), nameOf(item))),
  }));

/** Returns the part of a union that is in the grant, in the order of the grant. */
const within = <By>(union: Union<By>, items: readonly string[]): Union<By> =>
  new Map(items.map((item) => [item, union.get(item) ?? []]));

const ruleItself = (rule: Conditional): Conditional => rule;
const ruleOf = ({ rule }: AppliedRestriction): Conditional => rule;

const recordAccess = ({ switches, dashboardFilterColumns, metricFilterColumns }: CombinedAccess) => {
  const order = accessSwitches.filter((name) => switches.has(name));
  const columns = (field: string, tables: typeof dashboardFilterColumns) =>
    [...tables].flatMap(([table, union]) =>
      recordUnion('accessPermissions', union, ruleItself, (column) => `${field} ${table}.${column}`),
    );
  return [
    ...recordUnion('accessPermissions', within(switches, order), ruleItself),
    ...columns('dashboardFilterColumns', dashboardFilterColumns),
    ...columns('metricFilterColumns', metricFilterColumns),
  ];
};

const recordExpiry = ({ expiryMinutes }: CombinedRules, expiryMs: number): FieldRecord => ({
  field: 'expiryMinutes',
  value: expiryMs / 60_000,
  from: expiryMinutes.map(({ rule, value, counts }) => {
    const said = contributor(rule, value, counts);
    return rule.grant.expiryMinutes === undefined ? { ...said, isFileDefault: true as const } : said;
  }),
});

const recordTimezone = ({ timezone }: CombinedRules, value: string | null): FieldRecord => ({
  field: 'timezone',
  value,
  from: timezone.map(({ rule, value: named, counts }) =>
    named === 'request'
      ? contributor(rule, 'request', counts)
      : { ...contributor(rule, named.source, counts), valueAt: named.at },
  ),
});

/** Returns a record for each name of a source. Those who name it agree, so each of them counts. */
const recordSource = ({ grant, sources }: PolicyDecision): readonly FieldRecord[] =>
  sourceFields.flatMap((field) => {
    const value = grant.source[field];
    if (value === undefined) return [];
    const from = sources[field].map(({ statement: { name, when, names }, value: says }): Contributor => {
      const valueAt = names[field]?.at ?? '';
      return { name, at: when?.at ?? valueAt, valueAt, says, counts: true };
    });
    return [{ field, value, from }];
  });

/**
 * Returns a record for each filter or variable that restrictions bind. Its value is null if they allow no common value.
 */
export const recordBounds = (combined: CombinedRestrictions): readonly FieldRecord[] =>
  boundFields.flatMap((field) =>
    [...combined[field]].map(([name, { value, from }]) => ({
      field: `${field}.${name}`,
      value,
      from: from.map(({ rule, restriction }): Contributor => {
        const said = contributor(rule, restriction[field].get(name) ?? null);
        const valueAt = rule.restrict[field].get(name)?.at;
        return valueAt === undefined ? said : { ...said, valueAt };
      }),
    })),
  );

const recordRestrictions = (combined: CombinedRestrictions): readonly FieldRecord[] => [
  ...recordBounds(combined),
  ...recordUnion('shownFilters', combined.shownFilters, ruleOf),
  ...recordUnion('hideDashboardFilters', combined.hideDashboardFilters, ruleOf),
  ...[...combined.hideMetrics].flatMap(([source, union]) => recordUnion(`hideMetrics.${source}`, union, ruleOf)),
  ...recordUnion('hideColumns', combined.hideColumns, ruleOf),
  ...[...combined.maskColumns].map(([name, { value, from }]) => ({
    field: `maskColumns.${name}`,
    value,
    from: from.map(({ rule, restriction }) => {
      const mask = restriction.maskColumns.get(name) ?? null;
      return contributor(rule, mask, mask === value);
    }),
  })),
  ...[...combined.quota].map(([name, { value, from }]) => ({
    field: `quota.${name}`,
    value,
    from: from.map(({ rule, restriction }) => {
      const limit = restriction.quota[name] ?? null;
      return contributor(rule, limit, limit === value);
    }),
  })),
  ...(combined.isDisableMetricCreation.length === 0
    ? []
    : [
        {
          field: 'isDisableMetricCreation',
          value: true,
          from: combined.isDisableMetricCreation.map(({ rule }) => contributor(rule, true)),
        },
      ]),
];

/**
 * Returns the records of a decision, in the order of the table in combine.ts. Each item of a set has its own record.
 */
export const recordOf = (decision: PolicyDecision): readonly FieldRecord[] => {
  const { grant, rules, restrictions } = decision;
  const templates = grant.templates.map(({ template }) => template);
  const permissions = Object.keys(grant.permissions).filter((name) => rules.permissions.has(name));
  return [
    ...recordUnion('templates', within(rules.templates, templates), ruleItself),
    ...recordUnion('embeds', within(rules.embeds, grant.embeds), ruleItself),
    ...recordUnion('permissions', within(rules.permissions, permissions), ruleItself),
    ...recordAccess(rules.access),
    ...[...rules.channels].flatMap(([source, union]) => recordUnion(`channels.${source}`, union, ruleItself)),
    ...recordUnion('schedule', rules.schedule, ruleItself),
    ...[...rules.addressDomains].flatMap(([source, union]) =>
      recordUnion(`addressDomains.${source}`, union, ruleItself),
    ),
    recordExpiry(rules, grant.expiryMs),
    recordTimezone(rules, grant.timezone),
    ...recordSource(decision),
    ...recordRestrictions(restrictions),
  ];
};
