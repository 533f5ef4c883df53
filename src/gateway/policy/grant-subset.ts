/** Whether a grant still gives all that an earlier one gave: then a token of the earlier one may live on. */
import type { FilterColumns } from '../../domain/dashboard/embed.js';
import type { AccessPermissions } from '../../domain/guest/grant.js';
import { type BoundValues, intersectBound } from './combine.js';
import type { Grant } from './decide.js';

const holdsAll = (all: readonly string[], some: readonly string[]): boolean => some.every((item) => all.includes(item));

/** Where a grant names none, those of the embed count, whatever they are: then nothing covers it but a grant that names none. */
const coversColumns = (
  now: readonly FilterColumns[] | undefined,
  before: readonly FilterColumns[] | undefined,
): boolean => {
  if (now === undefined || before === undefined) return now === before;
  return before.every(({ tableName, columns }) => {
    const held = now.filter((table) => table.tableName === tableName).flatMap((table) => table.columns);
    return holdsAll(held, columns);
  });
};

const coversAccess = (now: AccessPermissions, before: AccessPermissions): boolean => {
  const { dashboardFilterColumns, metricFilterColumns, ...switches } = before;
  return (
    Object.entries(switches).every(([name, isOn]) => isOn !== true || Reflect.get(now, name) === true) &&
    coversColumns(now.dashboardFilterColumns, dashboardFilterColumns) &&
    coversColumns(now.metricFilterColumns, metricFilterColumns)
  );
};

/** Every value that is bound now was bound before, to no more than is allowed now. */
const coversValues = (now: BoundValues, before: BoundValues): boolean =>
  [...now].every(([name, allowed]) => {
    const held = before.get(name);
    if (held === undefined) return false;
    const both = intersectBound(held, allowed);
    return both !== null && JSON.stringify(both) === JSON.stringify(typeof held === 'object' ? held.toSorted() : held);
  });

const coversRestriction = ({ restriction: now }: Grant, { restriction: before }: Grant): boolean =>
  coversValues(now.dashboardFilters, before.dashboardFilters) &&
  coversValues(now.rls, before.rls) &&
  coversValues(now.appFilters, before.appFilters) &&
  holdsAll(before.hideDashboardFilters, now.hideDashboardFilters) &&
  [...now.hideMetrics].every(([source, names]) => holdsAll(before.hideMetrics.get(source) ?? [], names)) &&
  (before.isDisableMetricCreation || !now.isDisableMetricCreation);

/** Its lifetime aside, which is a matter of what is left of it. */
export const covers = (now: Grant, before: Grant): boolean => {
  const templates = (grant: Grant) => grant.templates.map(({ template }) => template);
  const permissions = Object.entries(before.permissions).filter(([name]) => name !== 'isDisableMetricCreation');
  return (
    holdsAll(templates(now), templates(before)) &&
    holdsAll(now.embeds, before.embeds) &&
    permissions.every(([name, isOn]) => !isOn || Reflect.get(now.permissions, name) === true) &&
    coversAccess(now.accessPermissions ?? {}, before.accessPermissions ?? {}) &&
    now.timezone === before.timezone &&
    coversRestriction(now, before)
  );
};
