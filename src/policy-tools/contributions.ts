/** Each field of a grant down to the rules and restrictions that it comes from, by the table in combine.ts. */

import { type Bound, intersectBound } from '../gateway/policy/combine.js';
import type { AppliedRestriction, Grant } from '../gateway/policy/decide.js';
import type { Policy, Rule } from '../gateway/policy/policy.js';
import type { Granted } from './dry-run.js';
import { accessItems } from './grant-facts.js';

/** What one rule or restriction says of a field. `at`: the place of its `when`; `valueAt`: that of its own expression. */
export type Contributor = {
  readonly name: string;
  readonly at: string;
  readonly valueAt?: string;
  readonly says: Bound | null;
  /** It says nothing of its own, so that the file's value is its word. */
  readonly isFileDefault?: true;
  /** False: another one's word counts. */
  readonly counts: boolean;
};

/** `value` null: none, or for a filter that the restrictions leave nothing. */
export type Contribution = {
  readonly field: string;
  readonly value: Bound | null;
  readonly from: readonly Contributor[];
};

type Said = { readonly rule: { readonly name: string; readonly when: { readonly at: string } } };

const says = ({ rule }: Said, value: Bound | null, counts = true): Contributor => ({
  name: rule.name,
  at: rule.when.at,
  says: value,
  counts,
});

/** A set that grows with each who names an item. */
const union = <Who extends Said>(
  field: string,
  items: readonly string[],
  all: readonly Who[],
  itemsOf: (who: Who) => readonly string[],
): readonly Contribution[] =>
  items.map((item) => ({
    field,
    value: item,
    from: all.filter((who) => itemsOf(who).includes(item)).map((who) => says(who, item)),
  }));

const expiry = (policy: Policy, { expiryMs }: Grant, rules: readonly Rule[]): Contribution => {
  const minutesOf = (rule: Rule): number => rule.grant.expiryMinutes ?? policy.expiryMinutes;
  const shortest = Math.min(...rules.map(minutesOf));
  return {
    field: 'expiryMinutes',
    value: expiryMs / 60_000,
    from: rules.map((rule) => {
      const minutes = minutesOf(rule);
      const said = says({ rule }, minutes, minutes === shortest);
      return rule.grant.expiryMinutes === undefined ? { ...said, isFileDefault: true as const } : said;
    }),
  };
};

const timezone = ({ timezone: value }: Grant, rules: readonly Rule[]): Contribution => {
  const naming = rules.filter(({ grant }) => grant.timezone !== null);
  return {
    field: 'timezone',
    value,
    from: naming.map((rule, index) => {
      const { timezone: named } = rule.grant;
      if (named === null || named === 'request') return says({ rule }, 'request', index === 0);
      return { ...says({ rule }, named.source, index === 0), valueAt: named.at };
    }),
  };
};

const boundFields = ['dashboardFilters', 'rls', 'appFilters'] as const;

const intersect = (values: readonly Bound[]): Bound | null =>
  values.reduce<Bound | null>((held, value) => (held === null ? null : intersectBound(held, value)), values[0] ?? null);

/** Each filter value that restrictions bind; null where they leave nothing of it. */
export const boundContributions = (restrictions: readonly AppliedRestriction[]): readonly Contribution[] =>
  boundFields.flatMap((field) => {
    const names = [...new Set(restrictions.flatMap(({ restriction }) => [...restriction[field].keys()]))].toSorted();
    return names.map((name) => {
      const from = restrictions.flatMap((applied): readonly Contributor[] => {
        const value = applied.restriction[field].get(name);
        if (value === undefined) return [];
        const valueAt = applied.rule.restrict[field].get(name)?.at;
        return [{ ...says(applied, value), ...(valueAt === undefined ? {} : { valueAt }) }];
      });
      return {
        field: `${field}.${name}`,
        value: intersect(from.map(({ says: said }) => said).filter((said) => said !== null)),
        from,
      };
    });
  });

const grantContributions = ({ policy, grant }: Granted): readonly Contribution[] => {
  const { rules } = grant.because;
  const all = rules.map((rule) => ({ rule }));
  const templates = grant.templates.map(({ template }) => template);
  const permissions = Object.entries(grant.permissions)
    .filter(([name, isOn]) => isOn && name !== 'isDisableMetricCreation')
    .map(([name]) => name);
  return [
    ...union('templates', templates, all, ({ rule }) => rule.grant.templates),
    ...union('embeds', grant.embeds, all, ({ rule }) => rule.grant.embeds),
    ...union('permissions', permissions, all, ({ rule }) => rule.grant.permissions),
    ...union('accessPermissions', accessItems(grant.accessPermissions), all, ({ rule }) =>
      accessItems(rule.grant.accessPermissions ?? null),
    ),
    expiry(policy, grant, rules),
    timezone(grant, rules),
  ];
};

const restrictionContributions = ({ restriction, because }: Grant): readonly Contribution[] => {
  const { restrictions: all } = because;
  return [
    ...boundContributions(all),
    ...union(
      'hideDashboardFilters',
      restriction.hideDashboardFilters,
      all,
      (one) => one.restriction.hideDashboardFilters,
    ),
    ...[...restriction.hideMetrics].flatMap(([template, names]) =>
      union(`hideMetrics.${template}`, names, all, (one) => one.restriction.hideMetrics.get(template) ?? []),
    ),
    ...(restriction.isDisableMetricCreation
      ? [
          {
            field: 'isDisableMetricCreation',
            value: true,
            from: all.filter((one) => one.restriction.isDisableMetricCreation).map((one) => says(one, true)),
          },
        ]
      : []),
  ];
};

/** In the order of the table in combine.ts, the items of a set each for themselves. */
export const contributionsOf = (granted: Granted): readonly Contribution[] => [
  ...grantContributions(granted),
  ...restrictionContributions(granted.grant),
];
