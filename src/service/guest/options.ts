/** The values that a guest may choose for a dashboard's filter: those that occur in rows that this guest may see. */
import { canonicalJson } from '../../model/canonical-json.js';
import { type DashboardFilter, sameName } from '../../model/dashboard/dashboard.js';
import { optionColumns } from '../../model/dashboard/mapped-columns.js';
import type { Metric, MetricDefinition } from '../../model/dashboard/metric.js';
import { compareNumbers } from '../../model/filter/exact-number.js';
import type { FilterDataType, Scalar } from '../../model/filter/filter.js';
import { readFilterValue } from '../../model/filter/value.js';
import { notOpen } from '../../model/guest/access.js';
import type { GuestCaller, LiveGrant } from '../../model/guest/caller.js';
import { visibleFilters } from '../../model/guest/conditions.js';
import type { FilterValues } from '../../model/guest/grant.js';
import { type GuestOption, greatestOptions } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import type { OptionsQuestion, ReadEngine, Reads, RequestSignal } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { ContentStore } from '../store/content.js';
import type { Store } from '../store/store.js';
import { guestReads } from './engine.js';
import { labelsOf, translationOf } from './labels.js';
import { choicesBeside, enforcedQuestion, openDashboard } from './scope.js';

type Deps = { readonly store: Store; readonly engine: ReadEngine; readonly clock: Clock };

type OptionsQuery = {
  readonly dashboardId: string;
  readonly filter: string;
  readonly search?: string | undefined;
  /** Choices on the other filters, which narrow the options. Undefined: the options of all rows. */
  readonly dashboardFilter?: FilterValues | undefined;
  readonly language?: string | undefined;
};

/** One more than an answer has, so that the answer says whether a search finds more. */
const optionLimit = greatestOptions + 1;

/** A question, and the metrics that need its answer. */
type Asked = { readonly question: OptionsQuestion; readonly metrics: readonly Metric[] };

/** Returns the parts of a definition that decide its rows. Metrics with equal parts have the same options. */
const rowsOf = (definition: MetricDefinition): unknown => {
  if (definition.kind === 'sql') return definition;
  const { from, dimensions, measures, where, withoutBaseFilters = [] } = definition;
  const measured = measures.map((measure) => measure.column ?? measure.expression ?? null);
  return { from, where, withoutBaseFilters, dimensions: dimensions.map(({ column }) => column), measured };
};

/** What the guest searches: part of a value, or one of the values whose label has that part. */
type Searched = { readonly search: string | undefined; readonly found: readonly string[] };

type Narrowed = Pick<OptionsQuery, 'dashboardFilter'>;

/** The same rows, and of them only those with one of these values. */
const withValues = (question: OptionsQuestion, values: readonly string[]): OptionsQuestion => {
  const { column, conditions } = question;
  const one = { column, predicate: { kind: 'oneOf', values }, isHidden: true } as const;
  return { ...question, search: null, conditions: [...conditions, one] };
};

/** Returns the questions without duplicates. Each one has every restriction of its metrics. */
const questionsOf = async (
  { content, clock }: { readonly content: ContentStore; readonly clock: Clock },
  grant: LiveGrant,
  opened: Opened,
  { filter, search, found, dashboardFilter }: { readonly filter: DashboardFilter } & Searched & Narrowed,
): Promise<readonly Asked[]> => {
  const now = clock.now();
  const asked = new Map<string, Asked>();
  for (const metric of await openMetricsOf(content, grant, opened)) {
    const target = { opened, metric, dashboards: [opened.dashboard] };
    for (const column of optionColumns(filter, metric.definition)) {
      const enforced = await enforcedQuestion(content, grant, target, now);
      const choices = { dashboardFilter: dashboardFilter ?? {}, moment: { now, timezone: grant.timezone } };
      const beside = dashboardFilter === undefined ? [] : choicesBeside(filter.name, grant, target, enforced, choices);
      const conditions = [...enforced.conditions, ...beside];
      // Metrics with the same rows share a question, which is then of none of them.
      const shownOn = { dashboardId: opened.dashboard.externalDashboardId, metricId: null };
      const plain = { ...enforced, shownOn, conditions, column, search: search ?? null, limit: optionLimit };
      for (const question of found.length === 0 ? [plain] : [plain, withValues(plain, found)]) {
        const variables = [...(question.variables ?? [])];
        const key = canonicalJson({ ...question, variables, definition: rowsOf(metric.definition) });
        asked.set(key, { question, metrics: [...(asked.get(key)?.metrics ?? []), metric] });
      }
    }
  }
  return [...asked.values()];
};

/**
 * Reasons of the engine for refusing a question: no path of relationships, or more than one, leads from the metric to
 * the table of the filter or of a restriction.
 */
const pathReasons: ReadonlySet<string> = new Set(
  ['path-missing', 'path-ambiguous'].flatMap((reason) => [reason, `restriction-${reason}`]),
);

/**
 * Whether the options may be computed without these metrics. True if the filter's column cannot be joined to the
 * metric, if a guest defined the metric wrongly (others must still get options), or if the metric is custom SQL, whose
 * rows are not those of its tables.
 */
const isUnanswerable = (error: unknown, metrics: readonly Metric[]): error is Refusal => {
  if (!(error instanceof Refusal) || error.code !== 'METRIC_QUERY_ERROR') return false;
  return (
    pathReasons.has(error.reason) ||
    metrics.every(
      ({ guest, isChangedByGuest, definition }) => guest !== null || isChangedByGuest || definition.kind === 'sql',
    )
  );
};

const answerOf = async (reads: Reads, { question, metrics }: Asked): Promise<readonly Scalar[] | Refusal> => {
  try {
    return await reads.options(question);
  } catch (error) {
    if (isUnanswerable(error, metrics)) return error;
    throw error;
  }
};

/**
 * Asks all questions. The first failure cancels the others, since their answers are no longer needed. Also throws if
 * every question was refused, at least one of them for a missing join.
 */
const askAll = async (
  engine: ReadEngine,
  asked: readonly Asked[],
  signal: RequestSignal,
): Promise<readonly Scalar[]> => {
  const failed = new AbortController();
  const { requestId, use } = signal;
  const either = Object.assign(anyOf(signal, failed.signal), { requestId, use });
  const reads: Reads = guestReads(engine, either);
  try {
    const answers = await Promise.all(asked.map((one) => answerOf(reads, one)));
    const refused = answers.find((answer) => answer instanceof Refusal && pathReasons.has(answer.reason));
    if (refused !== undefined && answers.every((answer) => answer instanceof Refusal)) throw refused;
    return answers.flatMap((answer) => (answer instanceof Refusal ? [] : answer));
  } catch (error) {
    failed.abort();
    throw error;
  }
};

/**
 * Returns the options of a dashboard filter, sorted, at most one more than `greatestOptions`. Throws UNAUTHORIZED for an
 * unknown or hidden filter.
 */
export const listGuestFilterOptions =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, query: OptionsQuery, signal: AbortSignal): Promise<readonly GuestOption[]> => {
    const content = deps.store.contentAt(grant.revision);
    const opened = await openDashboard(content, grant, query.dashboardId);
    const filter = visibleFilters(grant, opened.dashboard).find(({ name }) => sameName(name, query.filter));
    if (filter === undefined) throw notOpen('filter-unknown-or-hidden');
    const { search, dashboardFilter } = query;
    const translation = await translationOf(content, opened.dashboard, query.language);
    const isSearch = filter.dataType === 'string' && search !== undefined && search !== '';
    const found = isSearch ? (translation.valuesOf(filter.name)?.search(search) ?? []) : [];
    const questions = await questionsOf({ content, clock: deps.clock }, grant, opened, {
      ...{ filter, search, found, dashboardFilter },
    });
    const values = await askAll(deps.engine, questions, signal);
    const taken = values.flatMap((value) => takenBy(filter.dataType, value));
    const listed = [...new Set(taken)].sort(optionOrder(filter.dataType)).slice(0, optionLimit);
    const labels = labelsOf(translation, filter.name, filter.dataType === 'string' ? listed : []);
    return listed.map((value) => ({ label: labels.get(String(value)) ?? String(value), value }));
  };

/** The value in the form that a filter of this data type takes; none where it takes no such value. */
const takenBy = (dataType: FilterDataType, value: Scalar): readonly Scalar[] => {
  const given = dataType === 'string' ? String(value) : value;
  return 'predicate' in readFilterValue(dataType, given, anyMoment) ? [given] : [];
};

/** Whether a value is taken does not depend on the moment. */
const anyMoment = { now: new Date(0), timezone: null };

const byText = (a: Scalar, b: Scalar): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the year of a date. Years of more than four digits have a sign and must be compared as numbers; the rest of a
 * date has a fixed length.
 */
const yearOf = (text: string): number => Number(/^(-?Infinity|[+-]?[0-9]+)/.exec(text)?.[0] ?? Number.NaN);

const byDate = (a: Scalar, b: Scalar): number => {
  const [left, right] = [yearOf(String(a)), yearOf(String(b))];
  if (left === right || Number.isNaN(left) || Number.isNaN(right)) return byText(a, b);
  return left < right ? -1 : 1;
};

/** Returns the sort order of a filter's options. It is the same for all metrics, and also for numbers that are text. */
const optionOrder = (dataType: FilterDataType): ((a: Scalar, b: Scalar) => number) => {
  if (dataType === 'number') return (a, b) => compareNumbers(a, b) ?? byText(a, b);
  return dataType === 'date' ? byDate : byText;
};
