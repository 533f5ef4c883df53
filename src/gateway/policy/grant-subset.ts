/** Whether an earlier grant is a subset of the current one. If so, tokens issued for the earlier grant may stay valid. */
import type { FilterColumns } from '../../model/dashboard/embed.js';
import { isAsStrict } from '../../model/datamart/masks.js';
import type { AccessPermissions } from '../../model/guest/grant.js';
import { isQuotaWithin } from '../../model/quota.js';
import { type BoundValues, intersectBound } from './combine.js';
import type { Grant } from './decide.js';
import { sourceFields } from './source-names.js';

const holdsAll = (all: readonly string[], some: readonly string[]): boolean => some.every((item) => all.includes(item));

/**
 * Whether the earlier columns are a subset. Without columns in a grant, the embed's own settings decide, which are not
 * known here. So if one grant has no columns, it is a subset only if the other has none either.
 */
const areColumnsSubset = (
  now: readonly FilterColumns[] | undefined,
  before: readonly FilterColumns[] | undefined,
): boolean => {
  if (now === undefined || before === undefined) return now === before;
  return before.every(({ tableName, columns }) => {
    const held = now.filter((table) => table.tableName === tableName).flatMap((table) => table.columns);
    return holdsAll(held, columns);
  });
};

const isAccessSubset = (now: AccessPermissions, before: AccessPermissions): boolean => {
  const { dashboardFilterColumns, metricFilterColumns, ...switches } = before;
  return (
    Object.entries(switches).every(([name, isOn]) => isOn !== true || Reflect.get(now, name) === true) &&
    areColumnsSubset(now.dashboardFilterColumns, dashboardFilterColumns) &&
    areColumnsSubset(now.metricFilterColumns, metricFilterColumns)
  );
};

/** Whether each current filter also applied before, with only values that are still allowed. */
const areValuesSubset = (now: BoundValues, before: BoundValues): boolean =>
  [...now].every(([name, allowed]) => {
    const held = before.get(name);
    if (held === undefined) return false;
    const both = intersectBound(held, allowed);
    return both !== null && JSON.stringify(both) === JSON.stringify(typeof held === 'object' ? held.toSorted() : held);
  });

/** Whether each column that is hidden or masked now was hidden before, or masked as strictly. */
const areColumnsAsStrict = ({ restriction: now }: Grant, { restriction: before }: Grant): boolean => {
  const isHidden = (name: string): boolean => before.hideColumns.includes(name);
  return (
    now.hideColumns.every(isHidden) &&
    [...now.maskColumns].every(([name, mask]) => {
      const held = before.maskColumns.get(name);
      return isHidden(name) || (held !== undefined && isAsStrict(held, mask));
    })
  );
};

const isRestrictionSubset = ({ restriction: now }: Grant, { restriction: before }: Grant): boolean =>
  areValuesSubset(now.dashboardFilters, before.dashboardFilters) &&
  holdsAll(now.shownFilters, before.shownFilters) &&
  areValuesSubset(now.rls, before.rls) &&
  areValuesSubset(now.appFilters, before.appFilters) &&
  holdsAll(before.hideDashboardFilters, now.hideDashboardFilters) &&
  [...now.hideMetrics].every(([source, names]) => holdsAll(before.hideMetrics.get(source) ?? [], names)) &&
  (before.isDisableMetricCreation || !now.isDisableMetricCreation) &&
  isQuotaWithin(before.quota, now.quota);

/** Whether `before` is a subset of `now` in everything except the lifetime. */
export const isGrantSubset = (before: Grant, now: Grant): boolean => {
  const templates = (grant: Grant) => grant.templates.map(({ template }) => template);
  const permissions = Object.entries(before.permissions).filter(([name]) => name !== 'isDisableMetricCreation');
  return (
    holdsAll(templates(now), templates(before)) &&
    holdsAll(now.embeds, before.embeds) &&
    permissions.every(([name, isOn]) => !isOn || Reflect.get(now.permissions, name) === true) &&
    isAccessSubset(now.accessPermissions ?? {}, before.accessPermissions ?? {}) &&
    now.timezone === before.timezone &&
    sourceFields.every((field) => now.source[field] === before.source[field]) &&
    isRestrictionSubset(now, before) &&
    areColumnsAsStrict(now, before)
  );
};
