/** The values that a guest may choose of a dashboard's filter: those that occur in rows that this guest may see. */
import { notOpen } from '../domain/access.js';
import type { GuestCaller, LiveGrant } from '../domain/caller.js';
import { canonicalJson } from '../domain/canonical-json.js';
import { visibleFilters } from '../domain/conditions.js';
import { sameName } from '../domain/dashboard.js';
import type { Scalar } from '../domain/filter.js';
import type { GuestOption } from '../domain/guest-view.js';
import { optionColumns } from '../domain/mapped-columns.js';
import type { Metric, MetricDefinition } from '../domain/metric.js';
import type { Clock, ContentStore, OptionsQuestion, ReadEngine, Reads, Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { type Opened, openMetricsOf } from './embed-lookup.js';
import { enforcedQuestion, openDashboard } from './guest-scope.js';

type Deps = { readonly store: Store; readonly engine: ReadEngine; readonly clock: Clock };

type OptionsQuery = { readonly dashboardId: string; readonly filter: string; readonly search?: string | undefined };

/** How many options one answer holds; a search narrows them. */
const optionLimit = 100;

/** A question with the metrics that ask it. */
type Asked = { readonly question: OptionsQuestion; readonly metrics: readonly Metric[] };

/** What of a metric its rows depend on: two that differ in nothing else have the same options. */
const rowsOf = (definition: MetricDefinition): unknown => {
  if (definition.kind === 'sql') return definition;
  const { from, dimensions, measures, where } = definition;
  const measured = measures.map((measure) => measure.column ?? measure.expression ?? null);
  return { from, where, columns: [...dimensions.map(({ column }) => column), ...measured] };
};

/** Each question once, however many metrics ask it, under every restriction of each. */
const questionsOf = async (
  { content, clock }: { readonly content: ContentStore; readonly clock: Clock },
  grant: LiveGrant,
  opened: Opened,
  { filter: name, search }: OptionsQuery,
): Promise<readonly Asked[]> => {
  const filter = visibleFilters(grant, opened.dashboard).find((candidate) => sameName(candidate.name, name));
  if (filter === undefined) throw notOpen('filter-unknown-or-hidden');
  const now = clock.now();
  const asked = new Map<string, Asked>();
  for (const metric of await openMetricsOf(content, grant, opened.dashboard)) {
    const target = { opened, metric, dashboards: [opened.dashboard] };
    for (const column of optionColumns(filter, metric.definition)) {
      const enforced = await enforcedQuestion(content, grant, target, now);
      const question = { ...enforced, column, search: search ?? null, limit: optionLimit };
      const variables = [...(question.variables ?? [])];
      const key = canonicalJson({ ...question, variables, definition: rowsOf(metric.definition) });
      asked.set(key, { question, metrics: [...(asked.get(key)?.metrics ?? []), metric] });
    }
  }
  return [...asked.values()];
};

/**
 * What one guest defined badly must not take the options from everyone: without its values, there are fewer of them. Nor must SQL, whose
 * rows are not its tables' rows.
 */
const skipUnanswerable = (error: unknown, metrics: readonly Metric[]): readonly Scalar[] => {
  const isSkipped = metrics.every(
    ({ guest, isChangedByGuest, definition }) => guest !== null || isChangedByGuest || definition.kind === 'sql',
  );
  if (isSkipped && error instanceof Refusal && error.code === 'METRIC_QUERY_ERROR') return [];
  throw error;
};

/** Asks all of them; the first that fails ends the others, since nobody will read their answers. */
const askAll = async (
  engine: ReadEngine,
  asked: readonly Asked[],
  signal: AbortSignal,
): Promise<readonly (readonly Scalar[])[]> => {
  const failed = new AbortController();
  const reads: Reads = engine.until(AbortSignal.any([signal, failed.signal]));
  try {
    return await Promise.all(
      asked.map(({ question, metrics }) =>
        reads.options(question).catch((error: unknown) => skipUnanswerable(error, metrics)),
      ),
    );
  } catch (error) {
    failed.abort();
    throw error;
  }
};

const inOrder = (a: Scalar, b: Scalar): number => (a < b ? -1 : a > b ? 1 : 0);

export const listGuestFilterOptions =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, query: OptionsQuery, signal: AbortSignal): Promise<readonly GuestOption[]> => {
    const content = deps.store.contentAt(grant.revision);
    const opened = await openDashboard(content, grant, query.dashboardId);
    const questions = await questionsOf({ content, clock: deps.clock }, grant, opened, query);
    const values = await askAll(deps.engine, questions, signal);
    const distinct = [...new Set(values.flat())].sort(inOrder);
    return distinct.slice(0, optionLimit).map((value) => ({ label: String(value), value }));
  };
