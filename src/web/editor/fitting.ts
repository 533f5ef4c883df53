/** Which values, grains and buckets fit a field. The service decides; these rules say the same beforehand. */
import type { Calculation, Dimension, Measure, MeasureAggregate, TimeGrain } from '../../model/dashboard/metric.js';
import type { Predicate, Scalar } from '../../model/filter/filter.js';
import type { Period } from '../../model/filter/period.js';
import { readRelative } from '../../model/filter/relative.js';
import type { Field } from '../../model/guest/fields.js';
import type { Draft } from './draft.js';

/** Why an action is not possible. The editor has a sentence for each. */
export type Reason =
  | 'unknown-field'
  | 'unknown-part'
  | 'not-joined'
  | 'full'
  /** Conditions are nested as deep as they may be. */
  | 'too-deep'
  | 'aggregate-does-not-fit'
  | 'percentile-missing'
  | 'no-groups'
  | 'needs-date'
  | 'needs-number'
  | 'needs-period'
  | 'needs-numbers'
  /** Only a measure of which something is calculated may be hidden. */
  | 'needs-calculation'
  | 'others-do-not-fit'
  | 'cannot-filter'
  | 'wrong-value'
  | 'name-taken'
  | 'name-empty';

const periods: readonly Period[] = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
export const isPeriod = (grain: TimeGrain | undefined): grain is Period => periods.some((one) => one === grain);

export const isNumeric = ({ type }: Field): boolean => type === 'integer' || type === 'number';

/** Returns why the field cannot be grouped so, or null. */
export const groupingFault = (
  field: Field,
  { grain, bucketWidth, bucketCount }: Pick<Dimension, 'grain' | 'bucketWidth' | 'bucketCount'>,
): Reason | null => {
  if (field.type === 'json' || field.isMeasure) return 'no-groups';
  if (grain !== undefined && field.type !== 'date') return 'needs-date';
  if (bucketWidth === undefined && bucketCount === undefined) return null;
  if (!isNumeric(field)) return 'needs-number';
  const isWidth = bucketWidth === undefined || (isPlain(bucketWidth) && bucketWidth > 0);
  const isCount =
    bucketCount === undefined || (Number.isInteger(bucketCount) && bucketCount > 0 && bucketCount <= 1000);
  const isOne = bucketWidth === undefined || bucketCount === undefined;
  return isWidth && isCount && isOne ? null : 'wrong-value';
};

/** Whether the number has at most 15 digits, all of which are written. */
const isPlain = (value: number): boolean =>
  Number.isFinite(value) && !/e/.test(String(value)) && String(value).replace(/[-.]/g, '').length <= 15;

/** Returns why the field cannot be aggregated so, or null. */
export const aggregateFault = (
  field: Field,
  aggregate: MeasureAggregate,
  percentile: number | undefined,
): Reason | null => {
  if (!field.aggregates.includes(aggregate)) return 'aggregate-does-not-fit';
  if (aggregate !== 'PERCENTILE') return percentile === undefined ? null : 'wrong-value';
  if (percentile === undefined) return 'percentile-missing';
  return percentile >= 0 && percentile <= 1 ? null : 'wrong-value';
};

const datePattern = /^(\d{4})-(\d{2})-(\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/;

const isDate = (text: string): boolean => {
  const [, year, month, day] = datePattern.exec(text) ?? [];
  if (year === undefined || Number(year) === 0) return false;
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const greatestText = 4000;
/** The range of the whole numbers that most columns hold. A column of smaller numbers refuses more. */
const greatestInteger = 2_147_483_647;

const isText = (value: Scalar): value is string =>
  typeof value === 'string' && value.length <= greatestText && !/[\0\p{Cs}]/u.test(value);

const takes = ({ type }: Pick<Field, 'type'>, value: Scalar): boolean => {
  switch (type) {
    case 'text':
    case 'enum':
      return isText(value);
    case 'uuid':
      return typeof value === 'string' && uuidPattern.test(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return typeof value === 'number' && isPlain(value) && Math.abs(value) <= greatestInteger;
    case 'number':
      return typeof value === 'number' && isPlain(value);
    case 'date':
      return typeof value === 'string' && isDate(value);
    default:
      return false;
  }
};

/** The kinds of condition that an editor offers for a field, the usual one first. */
const predicateKinds = ({ type }: Pick<Field, 'type'>): readonly Predicate['kind'][] => {
  const always = ['isNull', 'isNotNull'] as const;
  if (type === 'json' || type === 'other') return always;
  const ordered = ['range', 'compare', 'oneOf', 'noneOf', ...always] as const;
  if (type === 'date') return [...ordered, 'relative'];
  if (type === 'integer' || type === 'number') return ordered;
  return type === 'text' ? ['oneOf', 'noneOf', 'like', ...always] : ['oneOf', 'noneOf', ...always];
};

const greatestList = 1000;

/** Returns why the condition does not fit the field, or null. */
export const predicateFault = (
  field: Pick<Field, 'type'> & Partial<Pick<Field, 'isMeasure'>>,
  predicate: Predicate,
): Reason | null => {
  if (field.isMeasure === true) return 'cannot-filter';
  if (!predicateKinds(field).includes(predicate.kind)) return 'cannot-filter';
  const fits = (value: Scalar): boolean => takes(field, value);
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf': {
      const { length } = predicate.values;
      return length > 0 && length <= greatestList && predicate.values.every(fits) ? null : 'wrong-value';
    }
    case 'compare':
      return fits(predicate.value) ? null : 'wrong-value';
    case 'range': {
      const ends = [predicate.from, predicate.to].filter((end) => end !== null);
      return ends.length > 0 && ends.every(fits) ? null : 'wrong-value';
    }
    case 'relative':
      return readRelative(predicate.period) === undefined ? 'wrong-value' : null;
    case 'like':
      return isText(predicate.pattern) && (/\\*$/.exec(predicate.pattern)?.[0].length ?? 0) % 2 === 0
        ? null
        : 'wrong-value';
    default:
      return null;
  }
};

/** Whether the measure's values are numbers. `field` is that of its column. */
export const isNumberMeasure = ({ aggregate, column, indicator }: Measure, field: Field | undefined): boolean => {
  if (aggregate === undefined || aggregate === 'AGGREGATE' || indicator !== undefined) return true;
  if (column === undefined || aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT') return true;
  return field !== undefined && isNumeric(field);
};

/** Returns why the draft cannot have the calculation, or null. `isNumbers`: whether the values of a measure are. */
export const calculationFault = (
  draft: Draft,
  calculation: Calculation,
  isNumbers: (measure: Measure) => boolean,
): Reason | null => {
  const measure = draft.measures.find(({ name }) => name === calculation.of);
  if (measure === undefined) return 'unknown-part';
  if (!isNumbers(measure)) return 'needs-numbers';
  const named = (name: string | undefined) => draft.dimensions.find((dimension) => dimension.name === name);
  if (calculation.kind === 'shareOfTotal')
    return (calculation.within ?? []).every((name) => named(name) !== undefined) ? null : 'unknown-part';
  const along = named(calculation.along);
  if (along === undefined) return 'unknown-part';
  if (calculation.kind === 'runningTotal') return null;
  if (!isPeriod(along.grain)) return 'needs-period';
  const { periods: count = 1 } = calculation;
  return Number.isInteger(count) && count >= 1 && count <= 60 ? null : 'wrong-value';
};

/** The kind of a measure's values. `field` is that of its column. */
export const measureType = (measure: Measure, field: Field | undefined): Field['type'] => {
  const { aggregate } = measure;
  if (aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT') return 'integer';
  if (aggregate === undefined || measure.indicator !== undefined) return 'number';
  if (aggregate === 'AGGREGATE' || aggregate === 'SUM' || aggregate === 'AVG') return 'number';
  return field?.type ?? 'other';
};
