/** The query engine for guests: its errors do not reveal the datamart. */
import type { UnreadableReason } from '../../domain/datamart/unreadable-table.js';
import type { ReadEngine, Reads } from '../../domain/query/engine.js';
import { Refusal } from '../../domain/refusal.js';

type TenancyReason =
  | `table-${UnreadableReason}`
  | 'tenancy-join-types'
  | 'tenancy-column-missing'
  | 'client-column-missing'
  | 'client-column-type'
  | 'primary-table-not-shared';

const tenancyReasons: Readonly<Record<TenancyReason, true>> = {
  'table-no-owner': true,
  'table-several-paths': true,
  'table-cardinality-unknown': true,
  'table-key-within-client': true,
  'table-tenancy-path-unknown': true,
  'table-tenancy-path-nowhere': true,
  'table-cycle': true,
  'tenancy-join-types': true,
  'tenancy-column-missing': true,
  'client-column-missing': true,
  'client-column-type': true,
  'primary-table-not-shared': true,
};

const unnamed = (error: unknown): unknown => {
  if (!(error instanceof Refusal) || !Object.hasOwn(tenancyReasons, error.reason)) return error;
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
