/** Downloads of metrics as files. The rows are read in the same way as by a query, under the same restrictions. */
import { sameName } from '../../model/dashboard/dashboard.js';
import type { Translation } from '../../model/dashboard/translations.js';
import type { FilterValue } from '../../model/filter/filter.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import { openMetricFilters, visibleFilters } from '../../model/guest/conditions.js';
import { markWords } from '../../model/guest/cross-filter.js';
import type { DownloadRows, DownloadSheet, StatedFilter, Workbook } from '../../model/guest/download.js';
import { appliedValue } from '../../model/guest/end-user-filters.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { GuestQuery } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { columnLabels, withMeasureNumbers } from '../../model/query/answer-columns.js';
import type { MetricQuestion, ReadEngine } from '../../model/query/engine.js';
import { speechOf } from '../../model/texts/messages.js';
import type { Opened } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { guestReads } from './engine.js';
import { labelBatches, translationOf } from './labels.js';
import {
  assertPermitted,
  assertStillGood,
  marksFor,
  type OpenMetric,
  openDashboard,
  openMetric,
  questionFor,
} from './scope.js';

type Deps = { readonly store: Store; readonly engine: ReadEngine; readonly clock: Clock };

/** Opens the metric, if `isEnableDownloadMetrics` permits to download it. */
const openForDownload = async (
  { store }: Pick<Deps, 'store'>,
  { grant }: GuestCaller,
  { metricId, dashboardId }: Pick<GuestQuery, 'metricId' | 'dashboardId'>,
): Promise<OpenMetric> => {
  const target = await openMetric(store.contentAt(grant.revision), grant, metricId, dashboardId);
  assertPermitted(grant, target.opened, 'isEnableDownloadMetrics');
  return target;
};

const questionOf = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { grant }: GuestCaller,
  target: OpenMetric,
  query: GuestQuery,
): Promise<MetricQuestion> => questionFor(store.contentAt(grant.revision), grant, target, query, clock.now());

const translationFor = (
  { store }: Pick<Deps, 'store'>,
  { grant }: GuestCaller,
  { dashboard }: Opened,
  language: string | undefined,
): Promise<Translation> => translationOf(store.contentAt(grant.revision), dashboard, language);

/** The column's own translation, else that of its title in the datamart. */
const titleIn = ({ name: translate }: Translation, name: string, title: string): string =>
  translate(name) === name ? translate(title) : translate(name);

/** Names are translated. Values stay as the guest wrote them: a label would tell that the dictionary has the value. */
const named = (filters: readonly StatedFilter[], { name }: Translation): readonly StatedFilter[] =>
  filters.map((filter) => ({ ...filter, name: name(filter.name) }));

const rowsOf = async (
  { engine }: Pick<Deps, 'engine'>,
  question: MetricQuestion,
  {
    target,
    translation,
    language,
  }: { readonly target: OpenMetric; readonly translation: Translation; readonly language: string | undefined },
  signal: AbortSignal,
): Promise<DownloadRows> => {
  const { definition, datamart, limit, offset } = question;
  const oneMore = limit === null ? null : limit + 1;
  const stream = await guestReads(engine, signal, target).stream({ ...question, limit: oneMore });
  const { columns } = stream;
  const labels = columnLabels(definition, datamart);
  const grains = new Map(
    definition.kind === 'visual' ? definition.dimensions.map(({ name, grain }) => [name, grain]) : [],
  );
  return {
    columns: withMeasureNumbers(columns, definition).map((column) => ({
      ...column,
      label: titleIn(translation, column.name, labels.get(column.name) ?? column.name),
      grain: grains.get(column.name),
      dates: definition.chart.dates?.find(({ name }) => name === column.name),
    })),
    ...{ batches: labelBatches(stream, translation, othersIn(definition, language)), limit, offset, language },
  };
};

/** The text of the row that combines all other values of the last dimension. */
const othersIn = (definition: MetricQuestion['definition'], language: string | undefined) => {
  const name = definition.dimensions.at(-1)?.name;
  if (definition.kind !== 'visual' || definition.others !== true || name === undefined) return undefined;
  return { name, label: speechOf(language).text('Other') };
};

/** Returns all rows of the metric for download, or those that the query's limit allows. */
export const downloadGuestCsv =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery, signal: AbortSignal): Promise<DownloadRows> => {
    const target = await openForDownload(deps, caller, query);
    const translation = await translationFor(deps, caller, target.opened, query.language);
    const { language } = query;
    return rowsOf(deps, await questionOf(deps, caller, target, query), { target, translation, language }, signal);
  };

type Choices = GuestQuery['dashboardFilter'];

/** The guest's choice for a filter, else its default. `names`: every name that the guest may use for the filter. */
const chosenOr = (names: readonly string[], choices: Choices = {}, usual: FilterValue | undefined) =>
  Object.entries(choices).find(([key]) => names.some((name) => sameName(name, key)))?.[1] ?? usual;

const stated = (name: string, value: FilterValue | undefined, isFixed = false): readonly StatedFilter[] =>
  value === undefined ? [] : [{ name, value, isFixed }];

/** The dashboard's filters with their values: the guest's choices, defaults, and what the token fixes and shows. */
const dashboardFilters = (grant: GuestGrant, { dashboard }: Opened, choices: Choices = {}): readonly StatedFilter[] => {
  const visible = visibleFilters(grant, dashboard);
  const columns = Object.entries(choices).filter(([key]) => !visible.some(({ name }) => sameName(name, key)));
  return [
    ...visible.flatMap(({ name, defaultValue }) => [
      ...stated(name, appliedValue(grant, dashboard, name), true),
      ...stated(name, chosenOr([name], choices, defaultValue)),
    ]),
    ...columns.flatMap(([key, value]) => stated(key, value)),
  ];
};

/** The metric's own filters, the columns that the guest chose, and the guest's steps of the drill. */
const metricFilters = (grant: GuestGrant, { metric }: OpenMetric, query: GuestQuery): readonly StatedFilter[] => {
  const open = openMetricFilters(grant, metric);
  const { metricFilter = {}, drill = [] } = query;
  const isFilter = (key: string) => open.some(({ name, label }) => sameName(name, key) || sameName(label, key));
  const columns = Object.entries(metricFilter).filter(([key]) => !isFilter(key));
  return [
    ...open.flatMap(({ name, label, defaultValue }) =>
      stated(label, chosenOr([name, label], metricFilter, defaultValue)),
    ),
    ...columns.flatMap(([key, value]) => stated(key, value)),
    ...drill.flatMap(({ columnName, value }) => stated(columnName, value ?? '(empty)')),
  ];
};

/** What a sheet states beside the dashboard's filters: the metric's own filters, and marks of other cards on it. */
const sheetFilters = async (
  { store }: Pick<Deps, 'store'>,
  { grant }: GuestCaller,
  target: OpenMetric,
  query: GuestQuery,
  { datamart }: MetricQuestion,
): Promise<readonly StatedFilter[]> => {
  const marks = await marksFor(store.contentAt(grant.revision), grant, target, datamart, query);
  return [
    ...marks.flatMap((mark) => stated(mark.filter.columnName, markWords(mark))),
    ...metricFilters(grant, target, query),
  ];
};

/** Returns a workbook with the metric's rows. The rows are read before it returns, so that a refusal is an answer. */
export const downloadGuestXlsx =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery, signal: AbortSignal): Promise<Workbook> => {
    const { grant } = caller;
    const target = await openForDownload(deps, caller, query);
    const question = await questionOf(deps, caller, target, query);
    const { opened, metric } = target;
    const { language } = query;
    const translation = await translationFor(deps, caller, opened, language);
    const rows = await rowsOf(deps, question, { target, translation, language }, signal);
    const filters = named(await sheetFilters(deps, caller, target, query, question), translation);
    const isOfDashboard = opened.embed.embedType === 'dashboard';
    const title = translation.name(metric.name);
    return {
      ...{ title, language },
      madeAt: deps.clock.now(),
      timezone: grant.timezone,
      filters: isOfDashboard ? named(dashboardFilters(grant, opened, query.dashboardFilter), translation) : [],
      sheets: [{ name: title, filters, load: async () => rows }],
    };
  };

/** Metrics of one dashboard for a workbook. */
export type DashboardDownload = {
  readonly dashboardId: string;
  readonly dashboardFilter?: GuestQuery['dashboardFilter'];
  readonly crossFilter?: GuestQuery['crossFilter'];
  readonly language?: GuestQuery['language'];
  readonly metrics: readonly Omit<GuestQuery, 'dashboardId' | 'dashboardFilter' | 'crossFilter' | 'language'>[];
};

/**
 * Returns a workbook with a sheet for each metric. The sheets are read one after the other, each only if the token is
 * still valid. Throws if a metric is not open to the token, or a choice does not fit.
 */
export const downloadGuestDashboardXlsx =
  (deps: Deps) =>
  async (caller: GuestCaller, download: DashboardDownload, signal: AbortSignal): Promise<Workbook> => {
    const { grant } = caller;
    const { dashboardId, dashboardFilter, crossFilter, language, metrics } = download;
    const opened = await openDashboard(deps.store.contentAt(grant.revision), grant, dashboardId);
    const translation = await translationFor(deps, caller, opened, language);
    const sheet = async (asked: DashboardDownload['metrics'][number]): Promise<DownloadSheet> => {
      const query = { ...asked, dashboardId, dashboardFilter, crossFilter };
      const target = await openForDownload(deps, caller, query);
      const question = await questionOf(deps, caller, target, query);
      const load = async (): Promise<DownloadRows> => {
        await assertStillGood(deps, caller);
        return rowsOf(deps, question, { target, translation, language }, signal);
      };
      const filters = named(await sheetFilters(deps, caller, target, query, question), translation);
      return { name: translation.name(target.metric.name), filters, load };
    };
    return {
      language,
      title: translation.name(opened.dashboard.name),
      madeAt: deps.clock.now(),
      timezone: grant.timezone,
      filters: named(dashboardFilters(grant, opened, dashboardFilter), translation),
      sheets: await Promise.all(metrics.map(sheet)),
    };
  };
