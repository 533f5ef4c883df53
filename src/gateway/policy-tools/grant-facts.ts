/** A grant as a flat list of comparable facts, for policy tests and plans. */
import type { FilterColumns } from '../../model/dashboard/embed.js';
import type { AccessPermissions } from '../../model/guest/grant.js';
import { quotaNames } from '../../model/quota.js';
import type { Bound, BoundValues, Restriction } from '../policy/combine.js';
import type { SourceNames } from '../policy/source-names.js';
import type { Granted } from './dry-run.js';

/** A grant as its user experiences it. */
export type GrantView = {
  readonly dataApp: string;
  readonly tenant: string;
  readonly templates: readonly string[];
  /** Embed ids as in the answer of `/embed-token`. */
  readonly embeds: readonly string[];
  /** The granted permissions, without `isDisableMetricCreation`, which is a restriction. */
  readonly permissions: readonly string[];
  readonly accessPermissions: AccessPermissions | null;
  /** Names of channels by dashboard or embed. */
  readonly channels: ReadonlyMap<string, readonly string[]>;
  /** The dashboards and embeds that the user may send to others, with the domains of addresses without an account. */
  readonly scheduling: ReadonlyMap<string, readonly string[]>;
  readonly expiryMinutes: number;
  readonly timezone: string | null;
  readonly source: SourceNames;
  readonly restriction: Restriction;
};

/**
 * A fact of a grant. `granted`: more items are a gain. `hidden`: more items are a loss. `allowed`: the values that a
 * filter allows; without such a fact, all values are allowed. `masked`: what is shown of a column. `lasting`: a longer time is a gain.
 * `most`: a greater limit is a gain; without such a fact, there is no limit. `whose`: another
 * value selects other data. `other`: a change is neither gain nor loss.
 */
export type Fact =
  | { readonly kind: 'granted' | 'hidden'; readonly value: readonly string[] }
  | { readonly kind: 'allowed'; readonly value: Bound }
  | { readonly kind: 'masked'; readonly value: string }
  | { readonly kind: 'lasting' | 'most'; readonly value: number }
  | { readonly kind: 'whose' | 'other'; readonly value: string | null };

/** Facts by name, such as `permissions` or `rls.region`. */
export type Facts = ReadonlyMap<string, Fact>;

export const viewOf = ({ policy, clientId, grant, dashboards }: Granted): GrantView => ({
  dataApp: policy.dataApp,
  tenant: clientId,
  templates: grant.templates.map(({ template }) => template),
  embeds: [...dashboards.map(({ id }) => id), ...grant.embeds],
  permissions: Object.entries(grant.permissions)
    .filter(([name, isOn]) => isOn && name !== 'isDisableMetricCreation')
    .map(([name]) => name),
  accessPermissions: grant.accessPermissions,
  channels: grant.channels,
  scheduling: grant.scheduling,
  expiryMinutes: grant.expiryMs / 60_000,
  timezone: grant.timezone,
  source: grant.source,
  restriction: grant.restriction,
});

const sorted = (values: readonly string[]): readonly string[] => [...new Set(values)].toSorted();

/** Returns one item for each column, such as `dashboardFilterColumns main.flights.origin`. */
const columnItems = (field: string, tables: readonly FilterColumns[] | undefined): readonly string[] =>
  (tables ?? []).flatMap(({ tableName, columns }) => columns.map((column) => `${field} ${tableName}.${column}`));

/** Returns the switches that are on and the columns, as items of one set. */
const accessItems = (access: AccessPermissions | null): readonly string[] => {
  const { dashboardFilterColumns, metricFilterColumns, ...switches } = access ?? {};
  return [
    ...Object.entries(switches)
      .filter(([, isOn]) => isOn === true)
      .map(([name]) => name),
    ...columnItems('dashboardFilterColumns', dashboardFilterColumns),
    ...columnItems('metricFilterColumns', metricFilterColumns),
  ];
};

const allowed = (field: string, values: BoundValues): readonly (readonly [string, Fact])[] =>
  [...values].map(([name, value]) => [
    `${field}.${name}`,
    { kind: 'allowed', value: typeof value === 'object' ? sorted(value) : value },
  ]);

export const factsOf = (view: GrantView): Facts => {
  const { dashboardFilters, shownFilters, rls, appFilters, hideDashboardFilters, hideMetrics } = view.restriction;
  const { hideColumns, maskColumns, quota } = view.restriction;
  const isCreationDisabled = view.restriction.isDisableMetricCreation;
  return new Map<string, Fact>([
    ['dataApp', { kind: 'whose', value: view.dataApp }],
    ['tenant', { kind: 'whose', value: view.tenant }],
    ['templates', { kind: 'granted', value: sorted(view.templates) }],
    ['embeds', { kind: 'granted', value: sorted(view.embeds) }],
    ['permissions', { kind: 'granted', value: sorted(view.permissions) }],
    ['accessPermissions', { kind: 'granted', value: sorted(accessItems(view.accessPermissions)) }],
    ...[...view.channels].map(([id, names]) => [`channels.${id}`, { kind: 'granted', value: sorted(names) }] as const),
    ...(view.scheduling.size === 0
      ? []
      : [['schedule', { kind: 'granted', value: sorted([...view.scheduling.keys()]) }] as const]),
    ...[...view.scheduling].flatMap(([id, domains]) =>
      domains.length === 0 ? [] : [[`addressDomains.${id}`, { kind: 'granted', value: sorted(domains) }] as const],
    ),
    ['expiryMinutes', { kind: 'lasting', value: view.expiryMinutes }],
    ['timezone', { kind: 'other', value: view.timezone }],
    ...Object.entries(view.source).map(([field, value]) => [field, { kind: 'whose', value }] as const),
    ...allowed('dashboardFilters', dashboardFilters),
    ...(shownFilters.length === 0
      ? []
      : [['shownFilters', { kind: 'other', value: sorted(shownFilters).join(', ') }] as const]),
    ...allowed('rls', rls),
    ...allowed('appFilters', appFilters),
    ['hideDashboardFilters', { kind: 'hidden', value: sorted(hideDashboardFilters) }],
    ...[...hideMetrics].map(
      ([template, names]) => [`hideMetrics.${template}`, { kind: 'hidden', value: sorted(names) }] as const,
    ),
    ...(hideColumns.length === 0 ? [] : [['hideColumns', { kind: 'hidden', value: sorted(hideColumns) }] as const]),
    ...[...maskColumns].map(([name, value]) => [`maskColumns.${name}`, { kind: 'masked', value }] as const),
    ...quotaNames.flatMap((name) => {
      const value = quota[name];
      return value === undefined ? [] : [[`quota.${name}`, { kind: 'most', value }] as const];
    }),
    ['isDisableMetricCreation', { kind: 'hidden', value: isCreationDisabled ? ['metric creation'] : [] }],
  ]);
};

/** Returns the value of a fact as text, or `none` if there is no value. */
export const writeFact = (fact: Fact | undefined): string => {
  if (fact === undefined || fact.value === null) return 'none';
  // As JSON, since the text "1" and the number 1 are different filters.
  if (fact.kind === 'allowed') return JSON.stringify(fact.value);
  if (typeof fact.value === 'object') return fact.value.length === 0 ? 'none' : fact.value.join(', ');
  return String(fact.value);
};
