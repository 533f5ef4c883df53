/**
 * The record of a decision, for `policy explain` and policy tests: each part of a grant with the rules and restrictions that it
 * came from. Renders what combine.ts returned; must not combine anything itself.
 */
import {
  type AppliedRestriction,
  accessSwitches,
  type Bound,
  boundFields,
  type CombinedAccess,
  type CombinedRestrictions,
  type CombinedRules,
  type Union,
} from './combine.js';
import type { PolicyDecision } from './decide.js';

/** What one rule or restriction says of a field. `at`: the place of its `when`; `valueAt`: that of its own expression. */
export type Contributor = {
  readonly name: string;
  readonly at: string;
  readonly valueAt?: string;
  readonly says: Bound | null;
  /** The rule names no value, so the file's value stands for it. */
  readonly isFileDefault?: true;
  /** False: the value of another rule was taken. */
  readonly counts: boolean;
};

/** `value` null: none, or for a filter: the restrictions leave no value. */
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

/** One record for each item. */
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

/** The part of a union that is in the grant, in the order of the grant. */
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

/** Each filter or variable that restrictions bind; a value of null means that they leave none. */
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
  ...recordUnion('hideDashboardFilters', combined.hideDashboardFilters, ruleOf),
  ...[...combined.hideMetrics].flatMap(([source, union]) => recordUnion(`hideMetrics.${source}`, union, ruleOf)),
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

/** In the order of the table in combine.ts; each item of a set has a record of its own. */
export const recordOf = ({ grant, rules, restrictions }: PolicyDecision): readonly FieldRecord[] => {
  const templates = grant.templates.map(({ template }) => template);
  const permissions = Object.keys(grant.permissions).filter((name) => rules.permissions.has(name));
  return [
    ...recordUnion('templates', within(rules.templates, templates), ruleItself),
    ...recordUnion('embeds', within(rules.embeds, grant.embeds), ruleItself),
    ...recordUnion('permissions', within(rules.permissions, permissions), ruleItself),
    ...recordAccess(rules.access),
    recordExpiry(rules, grant.expiryMs),
    recordTimezone(rules, grant.timezone),
    ...recordRestrictions(restrictions),
  ];
};
