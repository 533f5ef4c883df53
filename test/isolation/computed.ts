/** The HAVING conditions and the calculations of a random case. */
import type {
  Calculation,
  Dimension,
  HavingTree,
  Measure,
  VisualDefinition,
} from '../../src/model/dashboard/metric.js';
import type { ACalculation, ACase, AHaving } from './cases.js';
import { havingOf, isExactNumber, isNumber } from './predicates.js';

const treeOf = (tree: AHaving, measures: readonly Measure[]): HavingTree => {
  if ('all' in tree) return { all: tree.all.map((item) => treeOf(item, measures)) };
  if ('any' in tree) return { any: tree.any.map((item) => treeOf(item, measures)) };
  const measure = measures[tree.of % measures.length];
  if (measure === undefined) throw new RangeError('there is no measure');
  return { measure: measure.name, predicate: havingOf(tree, measure) };
};

const isPeriodic = ({ grain }: Dimension): boolean =>
  grain !== undefined && grain !== 'hourOfDay' && grain !== 'dayOfWeek';

const calculationOf = (
  asked: ACalculation,
  index: number,
  dimensions: readonly Dimension[],
  measures: readonly Measure[],
): Calculation | null => {
  // The difference of two floats may be smaller than their rounding error.
  const able = measures.filter(asked.kind === 'previousPeriod' ? isExactNumber : isNumber);
  const of = able[asked.of % Math.max(able.length, 1)]?.name;
  if (of === undefined) return null;
  const name = `calculated ${index}`;
  const walked = asked.kind === 'previousPeriod' ? dimensions.filter(isPeriodic) : dimensions;
  const along = walked[asked.along % Math.max(walked.length, 1)]?.name;
  if (asked.kind === 'shareOfTotal') {
    return { kind: 'shareOfTotal', name, of, ...(asked.isPlain || along === undefined ? {} : { within: [along] }) };
  }
  if (along === undefined) return null;
  if (asked.kind === 'runningTotal') return { kind: 'runningTotal', name, of, along };
  return { kind: 'previousPeriod', name, of, along, periods: asked.periods, result: asked.result };
};

export const computedOf = (
  { having, calculations }: ACase,
  dimensions: readonly Dimension[],
  measures: readonly Measure[],
): Pick<VisualDefinition, 'having' | 'calculations'> => ({
  ...(having === null || measures.length === 0 ? {} : { having: treeOf(having, measures) }),
  calculations: calculations.flatMap((asked, index) => calculationOf(asked, index, dimensions, measures) ?? []),
});
