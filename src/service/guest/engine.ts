/** The query engine for guests: its errors do not reveal the datamart. */
import { isTenancyFault, type ReadEngine, type Reads } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';

const unnamed = (error: unknown): unknown => {
  if (!isTenancyFault(error)) return error;
  return new Refusal(
    'METRIC_QUERY_ERROR',
    'A table of this metric cannot be read, since its datamart does not say which client its rows belong to. The host application has to change the datamart.',
    { reason: error.reason, cause: error },
  );
};

const unnaming =
  <Question, Answer>(ask: (question: Question) => Promise<Answer>) =>
  (question: Question): Promise<Answer> =>
    ask(question).catch((error: unknown) => {
      throw unnamed(error);
    });

/**
 * Returns the engine's read operations for guests. If a table cannot be read, the engine's message names tables,
 * columns and relationships for the host. A guest gets a message without these names.
 */
export const guestReads = (engine: ReadEngine, signal: AbortSignal): Reads => {
  const { query, underlying, options, stream } = engine.until(signal);
  return {
    query: unnaming(query),
    underlying: unnaming(underlying),
    options: unnaming(options),
    stream: unnaming(stream),
  };
};
