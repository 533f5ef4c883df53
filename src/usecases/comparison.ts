import { earlierQuestion } from '../domain/query/comparison.js';
import type { MetricAnswer, MetricQuestion } from '../domain/query/engine.js';

type Query = (question: MetricQuestion) => Promise<MetricAnswer>;

/** The same query, whose answer has the earlier value beside it where the metric's comparison applies. */
export const compared =
  (query: Query): Query =>
  async (question) => {
    const earlier = earlierQuestion(question);
    if (earlier === undefined) return query(question);
    const [answer, { rows }] = await Promise.all([query(question), query(earlier.question)]);
    return { ...answer, comparisonValue: rows[0]?.[earlier.measure] ?? null };
  };
