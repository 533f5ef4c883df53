import type { Calculation } from '../../model/dashboard/metric.js';
import { maxPeriods } from '../../model/dashboard/metric.js';
import type { Period } from '../../model/filter/period.js';
import { periods } from '../../model/filter/period.js';
import { refuseQuery, refuseUnknown } from '../dialect/refuse.js';
import { isNumeric } from '../dialect/sql-type.js';
import type { Calculated } from '../plan/plan.js';
import type { ResolvedDimension } from './resolve-dimension.js';
import { measureType, type ResolvedMeasure } from './resolve-measure.js';

/** Positions count the answer's columns: the dimensions, then the measures. */
export type ResolvedCalculation = { readonly name: string; readonly expression: Calculated };

type Answer = { readonly dimensions: readonly ResolvedDimension[]; readonly measures: readonly ResolvedMeasure[] };

/** Throws METRIC_QUERY_ERROR for columns that the answer lacks or whose types do not fit. */
export const resolveCalculations = (
  calculations: readonly Calculation[],
  dimensions: readonly ResolvedDimension[],
  measures: readonly ResolvedMeasure[],
): readonly ResolvedCalculation[] =>
  calculations.map((calculation) => ({
    name: calculation.name,
    expression: resolveCalculation(calculation, { dimensions, measures }),
  }));

const resolveCalculation = (calculation: Calculation, answer: Answer): Calculated => {
  const source = sourceOf(calculation, answer);
  switch (calculation.kind) {
    case 'shareOfTotal': {
      const within = (calculation.within ?? []).map((name) => dimensionOf(calculation.name, name, answer));
      return { kind: 'share', ...source, within };
    }
    case 'runningTotal':
      return { kind: 'runningTotal', ...source, ...alongOf(calculation.name, calculation.along, answer) };
    case 'previousPeriod': {
      const walk = alongOf(calculation.name, calculation.along, answer);
      const { result = 'value' } = calculation;
      if (!results.has(result)) return refuseUnknown('result of a calculation', result as never);
      return { kind: 'previous', ...source, ...walk, ...periodsOf(calculation, walk.along, answer), result };
    }
    default:
      return refuseUnknown('calculation', calculation);
  }
};

const results: ReadonlySet<string> = new Set(['value', 'change', 'relativeChange']);

const sourceOf = ({ name, of }: Calculation, { dimensions, measures }: Answer) => {
  const index = measures.findIndex((measure) => measure.name === of);
  const measure = measures[index];
  if (measure === undefined || !isNumeric(measureType(measure))) {
    return refuseQuery(
      `Calculation ${name} needs a measure of numbers; name one of the metric's in "of".`,
      'calculation-of',
    );
  }
  return { of: dimensions.length + index, isFloat: measureType(measure).kind === 'float' };
};

const dimensionOf = (calculation: string, name: string | undefined, { dimensions }: Answer): number => {
  const index = name === undefined ? 0 : dimensions.findIndex((dimension) => dimension.name === name);
  if (index >= 0 && index < dimensions.length) return index;
  return refuseQuery(
    `Calculation ${calculation} names a dimension that the metric does not have. Use one of: ${dimensions.map((dimension) => dimension.name).join(', ')}.`,
    'calculation-dimension',
  );
};

const alongOf = (calculation: string, name: string | undefined, answer: Answer) => {
  const along = dimensionOf(calculation, name, answer);
  return { along, within: answer.dimensions.map((_, index) => index).filter((index) => index !== along) };
};

const periodsOf = (
  { name, periods: count = 1 }: Extract<Calculation, { kind: 'previousPeriod' }>,
  along: number,
  { dimensions }: Answer,
): { readonly grain: Period; readonly periods: number } => {
  const grain = periods.find((period) => period === dimensions[along]?.grain);
  if (grain === undefined || !Number.isSafeInteger(count) || count < 1 || count > maxPeriods) {
    return refuseQuery(
      `Calculation ${name} looks 1 to ${maxPeriods} periods back, along a dimension with a grain from minute to year.`,
      'calculation-periods',
    );
  }
  return { grain, periods: count };
};
