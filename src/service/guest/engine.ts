/** The query engine for guests: its errors do not reveal the datamart. */
import { type Restricted, restrictionMisfit } from '../../model/guest/restriction-misfit.js';
import { isTenancyFault, type MetricQuestion, type ReadEngine, type Reads } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';

const unnamed = (error: unknown): unknown => {
  if (!isTenancyFault(error)) return error;
  return new Refusal(
    'METRIC_QUERY_ERROR',
    'A table of this metric cannot be read, since its datamart does not say which client its rows belong to. The host application has to change the datamart.',
    { reason: error.reason, cause: error },
  );
};

type Asked = Pick<MetricQuestion, 'definition' | 'datamart' | 'conditions'>;

/** Adds to a refusal about a restriction what the operator needs. The message stays: a guest may not learn the cause. */
const explained = (error: unknown, question: Asked, restricted: Restricted | undefined): unknown => {
  if (restricted === undefined || !(error instanceof Refusal) || !(error.cause instanceof Refusal)) return error;
  if (!error.reason.startsWith('restriction-')) return error;
  const cause = restrictionMisfit(question, restricted, error.cause);
  return new Refusal(error.code, error.message, { reason: error.reason, cause });
};

const unnaming =
  <Question extends Asked, Answer>(ask: (question: Question) => Promise<Answer>, restricted: Restricted | undefined) =>
  (question: Question): Promise<Answer> =>
    ask(question).catch((error: unknown) => {
      throw explained(unnamed(error), question, restricted);
    });

/**
 * Returns the engine's read operations for guests. If a table cannot be read, the engine's message names tables,
 * columns and relationships for the host. A guest gets a message without these names. `restricted`: what the questions
 * are about, so that the log can say which restriction does not fit.
 */
export const guestReads = (engine: ReadEngine, signal: AbortSignal, restricted?: Restricted): Reads => {
  const { query, underlying, options, stream } = engine.until(signal);
  return {
    query: unnaming(query, restricted),
    underlying: unnaming(underlying, restricted),
    options: unnaming(options, restricted),
    stream: unnaming(stream, restricted),
  };
};
