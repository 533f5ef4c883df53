import type { Calculation, Dimension, MetricDefinition, VisualDefinition } from '../dashboard/metric.js';
import { type Digits, digitsOf, isNotFinite, isUnsafeNumber, unitsOf } from '../filter/exact-number.js';
import type { Condition, Predicate, Scalar } from '../filter/filter.js';
import { isPeriod, isStartOf, movePeriods, type Period } from '../filter/period.js';
import { Refusal } from '../refusal.js';

export type Click = { readonly columnName: string; readonly value: Scalar | null };

/** A metric after some clicks: the next dimensions of its drill path, and one condition for each click. */
export type Drilled = { readonly definition: MetricDefinition; readonly conditions: readonly Condition[] };

const refuse = (message: string): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'drill' });
};

/** Returns the test for the rows of a mark: those with this value of the dimension, in this period or in this bucket. */
export const predicateOf = (dimension: Dimension, value: Scalar | null): Predicate => {
  const { name, grain, bucketWidth, bucketCount } = dimension;
  if (value === null) {
    const isRecurring = grain === 'hourOfDay' || grain === 'dayOfWeek';
    return isRecurring ? { kind: 'recurring', grain, value } : { kind: 'isNull' };
  }
  // NaN and the infinities are in no period or bucket with other values.
  if (isNotFinite(value)) return { kind: 'compare', operator: '=', value };
  if (grain === 'hourOfDay' || grain === 'dayOfWeek') return { kind: 'recurring', grain, value: Number(value) };
  if (grain !== undefined) return { kind: 'range', ...rangeOfPeriod(name, grain, value), toIsExclusive: true };
  if (bucketWidth !== undefined) return bucketOf(name, bucketWidth, value);
  if (bucketCount !== undefined) {
    refuse(`drill: the buckets of "${name}" change with the rows, so no click can choose one of them.`);
  }
  return { kind: 'compare', operator: '=', value };
};

type Range = { readonly from: Scalar; readonly to: Scalar | null };

/** Returns the range from the start of the period, as in the answer, to the start of the next period. */
const rangeOfPeriod = (name: string, grain: Period, value: Scalar): Range => {
  const from = typeof value === 'string' ? movePeriods(value, grain, 0) : undefined;
  if (from === undefined) return refuse(`drill: "${name}" takes a date, as its answer has them.`);
  // No date and no row exists after the last supported year.
  return { from, to: movePeriods(from, grain, 1) ?? null };
};

/**
 * Computed in decimal digits, as the buckets are: 0.1 + 0.2 is 0.3. Text stays text, since it is more exact than a
 * number.
 */
const bucketOf = (name: string, width: number, value: Scalar): Predicate => {
  const [least, size] = [digitsOf(value), digitsOf(width)];
  if (least === undefined || size === undefined) {
    return refuse(`drill: "${name}" takes a number, as its answer has them.`);
  }
  const text = sumOf(least, size);
  const next = Number(text);
  // If floats are further apart than the width, the bucket holds exactly one value.
  if (next === value) return { kind: 'compare', operator: '=', value };
  const isText = typeof value === 'string' || isUnsafeNumber(next);
  return { kind: 'range', from: value, to: isText ? text : next, toIsExclusive: true };
};

const sumOf = (a: Digits, b: Digits): string => {
  const scale = Math.max(a.scale, b.scale);
  return decimalText(unitsOf(a, scale) + unitsOf(b, scale), scale);
};

const decimalText = (units: bigint, scale: number): string => {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
};

/** The least and the greatest value. */
const recurring = { hourOfDay: [0, 23], dayOfWeek: [1, 7] } as const;

const isRecurring = (grain: keyof typeof recurring, value: Scalar): boolean => {
  const [least, greatest] = recurring[grain];
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= greatest;
};

const isMultiple = (value: Scalar, width: number): boolean => {
  const [least, size] = [digitsOf(value), digitsOf(width)];
  if (least === undefined || size === undefined) return false;
  const scale = Math.max(least.scale, size.scale);
  return unitsOf(least, scale) % unitsOf(size, scale) === 0n;
};

/**
 * What is wrong with a value that no answer has; undefined if nothing. A range that starts inside of a period or bucket
 * would show parts of its group.
 */
export const groupFault = ({ name, grain, bucketWidth }: Dimension, value: Scalar | null): string | undefined => {
  if (value === null || isNotFinite(value)) return undefined;
  if ((grain === 'hourOfDay' || grain === 'dayOfWeek') && !isRecurring(grain, value)) {
    return `"${name}" takes ${recurring[grain].join(' to ')}, as its answer has them.`;
  }
  if (isPeriod(grain) && !isStartOf(String(value), grain)) {
    return `"${name}" takes the first moment of a ${grain}, as its answer has them.`;
  }
  if (bucketWidth !== undefined && !isMultiple(value, bucketWidth)) {
    return `"${name}" takes the least value of a bucket, as its answer has them.`;
  }
  return undefined;
};

const conditionOf = (dimension: Dimension, { value }: Click): Condition => {
  const predicate = predicateOf(dimension, value);
  const fault = groupFault(dimension, value);
  if (fault !== undefined) refuse(`drill: ${fault}`);
  return { column: dimension.column, predicate };
};

/** Removes calculations along or within dimensions that the click replaced. */
const calculationsOver = (calculations: readonly Calculation[], { name, grain }: Dimension): readonly Calculation[] =>
  calculations.filter((calculation) => {
    if (calculation.kind === 'shareOfTotal') return (calculation.within ?? []).every((within) => within === name);
    const isPeriodic = isPeriod(grain);
    return (calculation.along ?? name) === name && (calculation.kind === 'runningTotal' || isPeriodic);
  });

/**
 * Returns the metric after the clicks. Each click adds `<dimension> = <value>` and continues with the next dimension of
 * the path. Only a displayed dimension can be clicked, so the browser cannot choose columns.
 */
export const drill = (definition: MetricDefinition, clicks: readonly Click[]): Drilled => {
  if (clicks.length === 0) return { definition, conditions: [] };
  return definition.kind === 'visual'
    ? drillVisual(definition, clicks)
    : refuse('drill: this metric has no drill path.');
};

type DrilledVisual = Drilled & { readonly definition: VisualDefinition };

const drillVisual = (definition: VisualDefinition, clicks: readonly Click[]): DrilledVisual =>
  clicks.reduce<DrilledVisual>(
    ({ definition: shown, conditions }, click, index) => {
      const clicked = shown.dimensions.find(({ name }) => name === click.columnName);
      if (clicked === undefined) return refuse(`drill[${index}]: "${click.columnName}" is not a dimension on show.`);
      const next = definition.drillPath[index];
      if (next === undefined)
        return refuse(`drill[${index}]: the metric's drill path ends after ${definition.drillPath.length}.`);
      return {
        // Sort, limit and others refer to the dimensions that the click replaced.
        definition: {
          ...shown,
          dimensions: [next],
          calculations: calculationsOver(shown.calculations ?? [], next),
          sort: [],
          limit: null,
          others: undefined,
        },
        conditions: [...conditions, conditionOf(clicked, click)],
      };
    },
    { definition, conditions: [] },
  );
