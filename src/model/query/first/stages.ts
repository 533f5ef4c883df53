/** Stages are a funnel only where the rows found say so. Pure. */

import type { FirstMetric } from '../../dashboard/first/first-dashboard.js';
import { wordsOf } from '../../datamart/column-names.js';
import type { Cell } from '../engine.js';

/** Words of where rows end beside the stages. */
const exits = new Set(
  'cancelled canceled void voided failed rejected declined refused refunded returned expired lost dropped abandoned no'.split(
    ' ',
  ),
);

/** How much more rows a stage may have than the one before it, since rows wait in some stages longer than in others. */
const tolerance = 1.1;

const isFunnel = (stages: readonly (readonly [Cell | undefined, number])[]): boolean => {
  const counts = stages.map(([, count]) => count);
  return (
    stages.length >= 3 &&
    stages.every(([stage]) => typeof stage === 'string' && !wordsOf(stage).some((word) => exits.has(word))) &&
    counts.every((count, at) => at === 0 || count <= (counts[at - 1] ?? 0) * tolerance) &&
    (counts.at(-1) ?? 0) < (counts[0] ?? 0)
  );
};

/** The metric as a funnel if each of its stages has about as many rows as the one before it, or fewer; else as it is. */
export const withFunnel = (metric: FirstMetric, rows: readonly Readonly<Record<string, Cell>>[]): FirstMetric => {
  const { dimensions, measures, chart } = metric.definition;
  const [[dimension], [measure]] = [dimensions, measures];
  if (metric.isOfStages !== true || dimension === undefined || measure === undefined) return metric;
  const stages = rows.map((row) => [row[dimension.name], Number(row[measure.name])] as const);
  if (!isFunnel(stages)) return metric;
  return { ...metric, definition: { ...metric.definition, chart: { ...chart, type: 'funnel' } } };
};
