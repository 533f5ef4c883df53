/**
 * How the rules that match combine. Grants add, restrictions always apply:
 *
 * | field | two rules, or two restrictions |
 * |---|---|
 * | `templates`, `embeds` | union |
 * | `permissions` | union: what one grants is granted; all ten are sent, false where no rule grants |
 * | `accessPermissions` switches | union |
 * | `accessPermissions` columns | union, table by table |
 * | `expiryMinutes` | the shortest (a rule without one has the file's, or the tenant's), and never past a change by time |
 * | `timezone` | the first rule that names one, the tenant's own before the file's |
 * | `dashboardFilters`, `rls`, `appFilters` | intersection, value by value; an empty one denies |
 * | `hideDashboardFilters`, `hideMetrics` | union: what one hides is hidden |
 * | `isDisableMetricCreation` | true where one says so |
 *
 * A restriction holds on every granted dashboard and embed, whichever rule granted it. Overrides of a tenant are rules and
 * restrictions like the others; they may switch rules off, and no restriction. docs/policies.md has the table for readers.
 */
import type { FilterColumns } from '../../domain/dashboard/embed.js';
import type { AccessPermissions, GuestPermission } from '../../domain/guest/grant.js';

/** A value that a restriction binds. */
export type Bound = string | number | boolean | readonly string[];
export type BoundValues = ReadonlyMap<string, Bound>;

export type Restriction = {
  readonly dashboardFilters: BoundValues;
  readonly rls: BoundValues;
  readonly appFilters: BoundValues;
  readonly hideDashboardFilters: readonly string[];
  /** Metrics by name or id, for each template. */
  readonly hideMetrics: ReadonlyMap<string, readonly string[]>;
  readonly isDisableMetricCreation: boolean;
};

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].toSorted();

/** What both values allow; null where that is nothing. Values of different kinds have nothing in common. */
export const intersectBound = (left: Bound, right: Bound): Bound | null => {
  if (typeof left === 'object' && typeof right === 'object') {
    const common = sorted(left.filter((value) => right.includes(value)));
    return common.length === 0 ? null : common;
  }
  if (typeof left === 'object') return typeof right === 'string' && left.includes(right) ? right : null;
  if (typeof right === 'object') return intersectBound(right, left);
  return left === right ? left : null;
};

/** Two restrictions that leave nothing of one value. `name` is the filter's or the variable's. */
export class EmptyIntersection extends Error {
  override readonly name = 'EmptyIntersection';
  constructor(readonly bound: string) {
    super(`the restrictions that apply leave no value for "${bound}"`);
  }
}

const intersectValues = (all: readonly BoundValues[]): BoundValues => {
  const result = new Map<string, Bound>();
  for (const [name, value] of all.flatMap((values) => [...values])) {
    const held = result.get(name);
    const both = held === undefined ? value : intersectBound(held, value);
    if (both === null) throw new EmptyIntersection(name);
    result.set(name, both);
  }
  return new Map([...result].toSorted(([left], [right]) => (left < right ? -1 : 1)));
};

const uniteByKey = (lists: Iterable<readonly [string, readonly string[]]>): ReadonlyMap<string, readonly string[]> => {
  const result = new Map<string, readonly string[]>();
  for (const [key, values] of lists) result.set(key, sorted([...(result.get(key) ?? []), ...values]));
  return new Map([...result].toSorted(([left], [right]) => (left < right ? -1 : 1)));
};

/** All restrictions at once. Throws EmptyIntersection. */
export const combineRestrictions = (all: readonly Restriction[]): Restriction => ({
  dashboardFilters: intersectValues(all.map(({ dashboardFilters }) => dashboardFilters)),
  rls: intersectValues(all.map(({ rls }) => rls)),
  appFilters: intersectValues(all.map(({ appFilters }) => appFilters)),
  hideDashboardFilters: sorted(all.flatMap(({ hideDashboardFilters }) => hideDashboardFilters)),
  hideMetrics: uniteByKey(all.flatMap(({ hideMetrics }) => [...hideMetrics])),
  isDisableMetricCreation: all.some(({ isDisableMetricCreation }) => isDisableMetricCreation),
});

/** All ten, as a token is sent them. */
export const combinePermissions = (
  granted: readonly GuestPermission[],
  isDisableMetricCreation: boolean,
): Readonly<Record<GuestPermission, boolean>> => {
  const has = (name: GuestPermission): boolean => granted.includes(name);
  return {
    isEnableArchiveMetrics: has('isEnableArchiveMetrics'),
    isEnableManageMetrics: has('isEnableManageMetrics'),
    isEnableCreateDashboardView: has('isEnableCreateDashboardView'),
    isEnableMetricUpdation: has('isEnableMetricUpdation'),
    isEnableCustomizeLayout: has('isEnableCustomizeLayout'),
    isEnableUnderlyingData: has('isEnableUnderlyingData'),
    isEnableDownloadMetrics: has('isEnableDownloadMetrics'),
    isShowSideBar: has('isShowSideBar'),
    isShowDashboardName: has('isShowDashboardName'),
    isDisableMetricCreation,
  };
};

const uniteColumns = (lists: readonly (readonly FilterColumns[] | undefined)[]): readonly FilterColumns[] => {
  const tables = lists.flatMap((list) => list ?? []).map(({ tableName, columns }) => [tableName, columns] as const);
  return [...uniteByKey(tables)].map(([tableName, columns]) => ({ tableName, columns }));
};

/** Null where no rule says anything. */
export const combineAccess = (all: readonly AccessPermissions[]): AccessPermissions | null => {
  const dashboardFilterColumns = uniteColumns(all.map((access) => access.dashboardFilterColumns));
  const metricFilterColumns = uniteColumns(all.map((access) => access.metricFilterColumns));
  const result: AccessPermissions = {
    ...(dashboardFilterColumns.length > 0 ? { isAllowEndUserDashboardFilter: true, dashboardFilterColumns } : {}),
    ...(metricFilterColumns.length > 0 ? { isAllowEndUserMetricFilter: true, metricFilterColumns } : {}),
    ...(all.some((access) => access.isAllowDashboardFilterNameChange)
      ? { isAllowDashboardFilterNameChange: true }
      : {}),
    ...(all.some((access) => access.isAllowMetricFilterNameChange) ? { isAllowMetricFilterNameChange: true } : {}),
  };
  return Object.keys(result).length === 0 ? null : result;
};
