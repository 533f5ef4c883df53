/** Answers a chart that can show fewer points than there are rows. */
import { mayShowFewerPoints } from '../../model/dashboard/chart.js';
import type { Metric } from '../../model/dashboard/metric.js';
import type { GuestQuery } from '../../model/guest/view.js';
import { withCourse } from '../../model/query/comparison.js';
import type {
  AnswerColumn,
  Cell,
  MetricAnswer,
  MetricQuestion,
  MetricStream,
  Reads,
} from '../../model/query/engine.js';
import { createThinning } from '../../model/query/thin-points.js';

/** The most rows that are read for one chart. An answer of more is truncated, and says so. */
const greatestRead = 500_000;

/**
 * Asks as every query. Only if there are more rows than the chart has points, all of them are read in the order of the
 * axis, in batches and in the same scope, and thinned.
 */
export const fewerPoints = (
  { maxPoints, limit, offset }: GuestQuery,
  { definition: { chart } }: Metric,
  { query, stream }: Pick<Reads, 'query' | 'stream'>,
): ((question: MetricQuestion) => Promise<MetricAnswer>) => {
  const plain = withCourse(query);
  if (maxPoints === undefined || limit !== undefined || offset !== undefined) return plain;
  if (!mayShowFewerPoints(chart.type)) return plain;
  return async (question) => {
    const answer = await plain(question);
    const [axis] = answer.groupbyColumnList;
    const isLong = answer.rows.length > maxPoints || answer.isTruncated === true;
    if (!isLong || axis === undefined) return answer;
    const sort = question.sort ?? [{ name: axis, direction: 'ASC' as const }];
    return thinned(await stream({ ...question, sort, limit: greatestRead }), answer, maxPoints);
  };
};

const thinned = async (
  { columns, batches }: MetricStream,
  { groupbyColumnList, comparisonValue, totalRecords }: MetricAnswer,
  maxPoints: number,
): Promise<MetricAnswer> => {
  const thinning = createThinning(columns, groupbyColumnList, maxPoints);
  for await (const batch of batches) for (const row of batch) thinning.add(row);
  const rows = thinning.rows().map((row) => rowOf(columns, row));
  const total = thinning.total();
  const isCut = total === greatestRead && totalRecords > total;
  return {
    ...{ columns, groupbyColumnList, rows, points: { shown: rows.length, total } },
    totalRecords: isCut ? totalRecords : total,
    ...(isCut ? { isTruncated: true } : {}),
    ...(comparisonValue === undefined ? {} : { comparisonValue }),
  };
};

const rowOf = (columns: readonly AnswerColumn[], row: readonly Cell[]): Readonly<Record<string, Cell>> =>
  Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
