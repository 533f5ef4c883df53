/** When a metric may combine all but its top groups into one, and what to change where it may not. Pure. */
import type { ChartType } from './chart.js';
import { type Calculation, type Measure, shownMeasures, type VisualDefinition } from './metric.js';

/** Charts whose groups have no order of their own, so that the combined group can be the last. */
const combining: ReadonlySet<ChartType> = new Set(['bar', 'row', 'stack', 'pie', 'doughnut', 'table']);

const added: ReadonlySet<Measure['aggregate']> = new Set(['SUM', 'COUNT']);

/** A share of sums or counts: other values of groups do not add up to that of the combined group. */
const isShare = (calculation: Calculation, measures: readonly Measure[]): boolean =>
  calculation.kind === 'shareOfTotal' &&
  (calculation.within ?? []).length === 0 &&
  measures.some(({ name, aggregate }) => name === calculation.of && added.has(aggregate));

/** Returns what keeps the metric from combining its other groups; nothing if it does not ask for it. */
export const othersFaults = (definition: VisualDefinition): readonly string[] => {
  const { others, limit, sort, dimensions, measures, having, comparison, calculations = [], chart } = definition;
  if (others !== true) return [];
  const [first] = sort;
  const isRanked = first?.direction === 'DESC' && measures.some(({ name }) => name === first.name);
  const refused = calculations.find((calculation) => !isShare(calculation, measures));
  return [
    ...(limit === null ? ['others: set limit, the number of groups that are shown by themselves'] : []),
    ...(isRanked ? [] : ['others: sort by a measure, DESC, first: the greatest groups are shown by themselves']),
    ...(dimensions.length === 1 || dimensions.length === 2
      ? []
      : ['others: group by one dimension, or by two, of which the second is combined']),
    ...(shownMeasures(measures).length > 0 ? [] : ['others: show a measure']),
    ...(having === undefined ? [] : ['others: remove having, since all groups that are not shown are combined']),
    ...(comparison === undefined ? [] : ['others: remove the comparison, which belongs to a single value']),
    ...(refused === undefined
      ? []
      : [
          `others: remove calculation "${refused.name}": only a share of total of a SUM or COUNT, without within, has a value for all others`,
        ]),
    ...(combining.has(chart.type)
      ? []
      : [`others: choose a chart of type ${[...combining].join(', ')}; ${chart.type} has no place for all others`]),
  ];
};
