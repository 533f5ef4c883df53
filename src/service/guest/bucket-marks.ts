/**
 * Marks of buckets whose width the rows decide (`bucketCount`), for the rows behind them. The answer that the mark is of is
 * read again: the rows of a bucket are those up to the next bucket that has rows.
 */
import type { Dimension, Metric } from '../../model/dashboard/metric.js';
import { compareNumbers, isNotFinite } from '../../model/filter/exact-number.js';
import type { Condition, Predicate, Scalar } from '../../model/filter/filter.js';
import type { GuestQuery } from '../../model/guest/view.js';
import type { MetricAnswer, MetricQuestion } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';

export type BucketMark = { readonly dimension: Dimension; readonly value: Scalar | null };

type Split = { readonly query: GuestQuery; readonly marks: readonly BucketMark[] };

/** Returns the metric's own marks of such buckets, and the query without them. */
export const takeBucketMarks = ({ metricId, definition }: Metric, query: GuestQuery): Split => {
  const marks: BucketMark[] = [];
  const others = (query.crossFilter ?? []).filter((mark) => {
    if (definition.kind === 'sql' || mark.metricId !== metricId || !('value' in mark)) return true;
    const dimension = definition.dimensions.find(({ name }) => name === mark.columnName);
    if (dimension?.bucketCount === undefined) return true;
    marks.push({ dimension, value: mark.value });
    return false;
  });
  return marks.length === 0 ? { query, marks } : { query: { ...query, crossFilter: others }, marks };
};

/**
 * Returns the conditions of the marks. `question` is that of the answer which shows them. Throws INVALID_REQUEST_BODY for
 * a bucket that the answer does not have.
 */
export const bucketConditions = async (
  marks: readonly BucketMark[],
  question: MetricQuestion,
  ask: (question: MetricQuestion) => Promise<MetricAnswer>,
): Promise<readonly Condition[]> => {
  const { definition } = question;
  if (marks.length === 0 || definition.kind === 'sql') return [];
  const { having: _, ...rest } = definition;
  const whole = { ...rest, calculations: [], sort: [], limit: null };
  const answer = await ask({ ...question, definition: whole, sort: null, limit: null, offset: 0 });
  return marks.map(({ dimension, value }) => ({
    column: dimension.column,
    predicate: bucketOf(value, lowsOf(answer, dimension), dimension),
  }));
};

const refuse = ({ name }: Dimension): never => {
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `crossFilter: "${name}" takes the least value of a bucket, as its answer has them.`,
    {
      reason: 'cross-filter',
    },
  );
};

/** The least values of all buckets that have rows. Of a cut answer, the next bucket may be missing. */
const lowsOf = ({ rows, isTruncated }: MetricAnswer, dimension: Dimension): readonly (Scalar | null)[] =>
  isTruncated === true ? refuse(dimension) : rows.map((row) => row[dimension.name] ?? null);

const bucketOf = (value: Scalar | null, lows: readonly (Scalar | null)[], dimension: Dimension): Predicate => {
  const isEqual = (low: Scalar | null) =>
    low === value || (low !== null && value !== null && compareNumbers(low, value) === 0);
  if (!lows.some(isEqual)) return refuse(dimension);
  if (value === null) return { kind: 'isNull' };
  if (isNotFinite(value)) return { kind: 'compare', operator: '=', value };
  const above = lows.filter((low) => low !== null && !isNotFinite(low) && (compareNumbers(low, value) ?? 0) > 0);
  const next = (above as readonly Scalar[]).toSorted((a, b) => compareNumbers(a, b) ?? 0)[0];
  // Databases order NaN above all numbers.
  const end = lows.some(isNotFinite) ? 'Infinity' : null;
  return { kind: 'range', from: value, to: next ?? end, toIsExclusive: true };
};
