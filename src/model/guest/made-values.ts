/** Values in what guests made: filter defaults, conditions and charts of their metrics. */
import type { Chart } from '../dashboard/chart.js';
import type { Metric } from '../dashboard/metric.js';
import type { GuestGrant } from './grant.js';
import { isUnrestricted } from './saved-view.js';

/**
 * Whether a guest may see the values that the metric's maker chose. They may be values of rows that only the maker sees, and
 * it is not stored which rows those are: besides the maker, only a guest who sees all rows of the client may see them.
 */
export const showsValuesOf = (grant: GuestGrant, { guest }: Pick<Metric, 'guest'>): boolean => {
  if (guest === null || isUnrestricted(grant)) return true;
  return guest.userIdentifier !== null && guest.userIdentifier === grant.userIdentifier;
};

/** The same for the chart, which guests also change in metrics of the host. It is not stored who did. */
export const showsChartValuesOf = (grant: GuestGrant, metric: Pick<Metric, 'guest' | 'isChangedByGuest'>): boolean =>
  metric.isChangedByGuest ? isUnrestricted(grant) : showsValuesOf(grant, metric);

/** Whether guests may have chosen values of the chart. */
export const hasMadeChart = ({ guest, isChangedByGuest }: Pick<Metric, 'guest' | 'isChangedByGuest'>): boolean =>
  guest !== null || isChangedByGuest;

/** The chart without the numbers that its maker chose: fixed lines, rules of cells, and the range of a gauge. */
export const withoutChartValues = <C extends Chart>({ lines, rules: _, range: __, ...chart }: C) => ({
  ...chart,
  ...(lines === undefined ? {} : { lines: lines.filter(({ kind }) => kind !== 'value') }),
});
