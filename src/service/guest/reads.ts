/**
 * Reads with a guest token. Every query goes through `enforcedQuestion`, on a dashboard or metric that the token opens.
 */
import { mayShowFewerPoints } from '../../model/dashboard/chart.js';
import type { LayoutCard } from '../../model/dashboard/dashboard.js';
import { type Metric, measureNames, type VisualDefinition } from '../../model/dashboard/metric.js';
import { besideCards, type Tile, translatedTile } from '../../model/dashboard/tile.js';
import type { Translation } from '../../model/dashboard/translations.js';
import type { FilterDataType, FilterValue } from '../../model/filter/filter.js';
import { effectivePermissions, withoutWrites } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import { combiningOf } from '../../model/guest/combining.js';
import { openMetricFilters, visibleFilters } from '../../model/guest/conditions.js';
import { crossFilteredBy } from '../../model/guest/cross-filter.js';
import { appliedValue, areEndUserFiltersAllowed } from '../../model/guest/end-user-filters.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { hasMadeChart, showsChartValuesOf, showsValuesOf, withoutChartValues } from '../../model/guest/made-values.js';
import type {
  FindTheme,
  GuestChart,
  GuestDashboard,
  GuestFilter,
  GuestMetric,
  GuestQuery,
  GuestTheme,
  MetricReply,
} from '../../model/guest/view.js';
import type { WarmUp } from '../../model/guest/warm-up.js';
import type { Clock, Digest, Tag } from '../../model/ports.js';
import { colourAnswer, withMeasureNumbers, withRowFormats } from '../../model/query/answer-columns.js';
import type { MetricAnswer, MetricQuestion, ReadEngine } from '../../model/query/engine.js';
import { findSource, metricsFor, type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { ContentStore } from '../store/content.js';
import type { Store } from '../store/store.js';
import { answerTag } from './answer-tag.js';
import { bucketConditions, takeBucketMarks } from './bucket-marks.js';
import { guestReads } from './engine.js';
import { fewerPoints } from './fewer-points.js';
import { labelAnswer, translationOf } from './labels.js';
import { boardFor } from './layouts.js';
import { type ChatDeps, chatOffer } from './may-chat.js';
import { type SchedulingDeps, scheduleFormats } from './may-schedule.js';
import { boardsOf, mayMakeBoards } from './own-boards.js';
import {
  accessOf,
  assertPermitted,
  type OpenMetric,
  openDashboard,
  openMetric,
  ownFiltersOf,
  questionFor,
} from './scope.js';
import { openingView } from './views.js';

type Deps = { readonly store: Store; readonly engine: ReadEngine; readonly clock: Clock };
type TaggingDeps = Deps & { readonly tag: Tag };

const viewFilter = (
  filter: {
    readonly dataType: FilterDataType;
    readonly defaultValue?: FilterValue | undefined;
    readonly isSingleChoice?: true | undefined;
  },
  name: string,
): GuestFilter => ({
  name,
  dataType: filter.dataType,
  defaultValue: filter.defaultValue ?? null,
  isSingleChoice: filter.isSingleChoice,
});

/** Grains of the dimensions that a drill can lead to, too. */
const grainsOf = ({ dimensions, drillPath }: VisualDefinition): GuestChart['grains'] =>
  Object.fromEntries(
    [...dimensions, ...drillPath].flatMap(({ name, grain }) => (grain === undefined ? [] : [[name, grain]])),
  );

/** The distance in time only: the column of a comparison may be hidden from the guest. */
const comparisonOf = ({ comparison }: VisualDefinition): Pick<GuestChart, 'comparison'> =>
  comparison === undefined ? {} : { comparison: { grain: comparison.grain, periods: comparison.periods } };

/** Whether the metric names columns for the rows behind it. */
const hasRows = (definition: Metric['definition']): boolean =>
  definition.kind === 'visual' && definition.underlying.length > 0;

/** A click on a bucket whose width the rows decide leads nowhere. */
const drillLevelsOf = (definition: Metric['definition']): number => {
  if (definition.kind === 'sql') return 0;
  const { dimensions, drillPath } = definition;
  const end = [...dimensions.slice(0, 1), ...drillPath].findIndex(({ bucketCount }) => bucketCount !== undefined);
  return end < 0 ? drillPath.length : Math.min(end, drillPath.length);
};

/** A chart as everybody who may open its metric sees it. */
export const viewChart = (definition: Metric['definition']): GuestChart => {
  const drillLevels = drillLevelsOf(definition);
  // Of its colours, a guest gets those of values in the answer.
  const { colours: _, ...chart } = definition.chart;
  return {
    ...chart,
    dimensions: definition.dimensions.map((dimension) => dimension.name),
    measures: measureNames(definition),
    ...(mayShowFewerPoints(definition.chart.type) ? { takesMaxPoints: true as const } : {}),
    isDrillable: drillLevels > 0,
    ...(hasRows(definition) ? {} : { isWithoutRows: true as const }),
    ...(drillLevels > 0 ? { drillLevels } : {}),
    ...(definition.kind === 'visual'
      ? { grains: grainsOf(definition), combine: combiningOf(definition), ...comparisonOf(definition) }
      : {}),
  };
};

/**
 * Returns the metric as this guest sees it. A default that another guest chose is not shown to those who see fewer rows, nor
 * in a view of a person without access to data (`isBlind`); it applies all the same. Neither are numbers in the chart.
 */
export const viewMetric = (grant: GuestGrant, metric: Metric, isBlind = false): GuestMetric => {
  const { metricId, name, definition } = metric;
  const showsValues = showsValuesOf(grant, metric) && !(isBlind && metric.guest !== null);
  const showsChart = showsChartValuesOf(grant, metric) && !(isBlind && hasMadeChart(metric));
  const chart = viewChart(definition);
  const filters = openMetricFilters(grant, metric).map((filter) =>
    viewFilter(showsValues ? filter : { ...filter, defaultValue: undefined }, filter.label),
  );
  return { metricId, name, chart: showsChart ? chart : withoutChartValues(chart), filters };
};

type Themed = Pick<Deps, 'store'> & { readonly findTheme: FindTheme };
type Opening = Themed & SchedulingDeps & ChatDeps & { readonly digest: Digest };

const themeFor = async (
  { findTheme }: Themed,
  content: ContentStore,
  { clientId }: GuestGrant,
  { dashboard }: Opened,
): Promise<GuestTheme | null> =>
  findTheme((await content.workspaces.findById(dashboard.workspaceId))?.themeName, clientId);

/** Returns the metrics as this guest sees them together, with the marks that filter the others. */
const viewMetrics = async (
  content: ContentStore,
  { grant, isBlind }: GuestCaller,
  opened: Opened,
  metrics: readonly Metric[],
): Promise<readonly GuestMetric[]> => {
  const isAllowed = areEndUserFiltersAllowed(grant.accessPermissions, opened.embed.accessSettings).dashboard;
  const source = isAllowed ? await findSource(content, opened, grant) : undefined;
  const own = ownFiltersOf(grant, opened, source?.datamart);
  return metrics.map((metric) => {
    const view = viewMetric(grant, metric, isBlind);
    return { ...view, chart: { ...view.chart, crossFilters: crossFilteredBy(metric, metrics, own) } };
  });
};

const labelled = (filter: GuestFilter, { name, valuesOf }: Translation): GuestFilter => {
  const label = name(filter.name);
  const hasValueLabels = filter.dataType === 'string' && valuesOf(filter.name) !== undefined;
  return {
    ...filter,
    ...(label === filter.name ? {} : { label }),
    ...(hasValueLabels ? { hasValueLabels } : {}),
  };
};

/** Units, and the words that the author wrote into the chart. Names of columns stay: the answer has their labels. */
const translatedChart = (chart: GuestChart, { name }: Translation): GuestChart => {
  const unitOf = <Of extends { readonly unit?: string | undefined }>(of: Of): Of =>
    of.unit === undefined ? of : { ...of, unit: name(of.unit) };
  const { numbers, lines, rules } = chart;
  return {
    ...unitOf(chart),
    ...(numbers === undefined ? {} : { numbers: numbers.map(unitOf) }),
    ...(lines === undefined
      ? {}
      : { lines: lines.map((line) => (line.name === undefined ? line : { ...line, name: name(line.name) })) }),
    ...(rules === undefined
      ? {}
      : { rules: rules.map((rule) => (rule.word === undefined ? rule : { ...rule, word: name(rule.word) })) }),
  };
};

/** Only what the guest sees is translated, so a translation tells nothing of what is hidden. */
const translated = (metric: GuestMetric, translation: Translation): GuestMetric => ({
  ...metric,
  name: translation.name(metric.name),
  chart: translatedChart(metric.chart, translation),
  filters: metric.filters.map((filter) => labelled(filter, translation)),
});

/** Tiles are of the dashboard that the token opens, and hold no data. */
const shownTiles = (
  tiles: readonly Tile[],
  layout: readonly LayoutCard[],
  { name }: Translation,
): Pick<GuestDashboard, 'tiles'> =>
  tiles.length === 0 ? {} : { tiles: besideCards(tiles, layout).map((tile) => translatedTile(tile, name)) };

/** Whether cards have summaries. */
const summaryOffer = async (
  content: ContentStore,
  { dashboard }: Opened,
): Promise<Pick<GuestDashboard, 'hasSummary'>> =>
  (await content.workspaces.findById(dashboard.workspaceId))?.isEnableMetricSummary === true
    ? { hasSummary: true }
    : {};

/** What the guest may have done besides reading. A view in Studio may not, so that it offers none of it. */
const offersOf = async (deps: Opening, content: ContentStore, caller: GuestCaller, opened: Opened) => ({
  scheduleFormats: scheduleFormats(deps, caller.grant, opened),
  chat: await chatOffer(deps, content, caller, opened),
  ...(await summaryOffer(content, opened)),
});

/** Returns the dashboard as this guest sees it, without hidden metrics, their cards and hidden filters. */
export const getGuestDashboard =
  (deps: Opening) =>
  async (
    caller: GuestCaller,
    { dashboardId, language }: { readonly dashboardId: string; readonly language?: string | undefined },
  ): Promise<GuestDashboard> => {
    const { grant } = caller;
    const { store } = deps;
    const content = store.contentAt(grant.revision);
    const opened = await openDashboard(content, grant, dashboardId);
    const { embed, dashboard } = opened;
    const translation = await translationOf(content, dashboard, language);
    const all = await metricsFor(content, dashboard, grant);
    const metrics = await openMetricsOf(content, grant, opened);
    const own = {
      ...effectivePermissions(grant.permissions, embed.accessSettings),
      isEnableCreateDashboard: mayMakeBoards(grant, opened),
    };
    const permissions = caller.isView === true ? withoutWrites(own) : own;
    const { layout, tiles } = await boardFor(store, grant, dashboard, { all, open: metrics });
    return {
      dashboardId,
      name: translation.name(dashboard.name),
      ...(embed.description === null || embed.description === '' ? {} : { description: embed.description }),
      layout,
      ...shownTiles(tiles, layout, translation),
      metrics: (await viewMetrics(content, caller, opened, metrics)).map((metric) => translated(metric, translation)),
      filters: visibleFilters(grant, dashboard).map((filter) => ({
        ...labelled(viewFilter(filter, filter.name), translation),
        appliedValue: appliedValue(grant, dashboard, filter.name),
      })),
      permissions,
      accessPermissions: await accessOf(content, grant, opened),
      theme: await themeFor(deps, content, grant, opened),
      // A view holds values that users chose.
      defaultView: caller.isBlind === true ? null : await openingView(deps, grant, opened, metrics),
      ...(caller.isView === true ? {} : await offersOf(deps, content, caller, opened)),
      boards: await boardsOf(store, grant, opened),
      ...(permissions.isEnableCustomizeLayout
        ? { hasOwnLayout: (await store.guestLayouts.find(dashboard.id, grant)) !== undefined }
        : {}),
    };
  };

/** Returns a metric embed by its own id or its metric's id. */
export const getGuestMetric =
  (deps: Themed) =>
  async (
    { grant, isBlind }: GuestCaller,
    { metricId, language }: { readonly metricId: string; readonly language?: string | undefined },
  ): Promise<GuestMetric & { readonly theme: GuestTheme | null }> => {
    const content = deps.store.contentAt(grant.revision);
    const { metric, opened } = await openMetric(content, grant, metricId, undefined);
    const translation = await translationOf(content, opened.dashboard, language);
    return {
      ...translated(viewMetric(grant, metric, isBlind), translation),
      theme: await themeFor(deps, content, grant, opened),
    };
  };

const openTarget = ({ store }: Pick<Deps, 'store'>, { grant }: GuestCaller, query: GuestQuery): Promise<OpenMetric> =>
  openMetric(store.contentAt(grant.revision), grant, query.metricId, query.dashboardId);

type Ask = (question: MetricQuestion) => Promise<MetricAnswer>;

const reply = async (
  deps: Deps,
  caller: GuestCaller,
  target: OpenMetric,
  query: GuestQuery,
  ask: Ask,
): Promise<MetricReply> => {
  const { grant } = caller;
  const started = deps.clock.now();
  const question = await questionFor(deps.store.contentAt(grant.revision), grant, target, query, started);
  return answerTo(deps, caller, target, query, { question, ask, started });
};

/** Asks the question, and adds labels and colours of what the answer has. */
const answerTo = async (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { grant }: GuestCaller,
  target: OpenMetric,
  query: GuestQuery,
  { question, ask, started }: { readonly question: MetricQuestion; readonly ask: Ask; readonly started: Date },
): Promise<MetricReply> => {
  const content = store.contentAt(grant.revision);
  const translation = await translationOf(content, target.opened.dashboard, query.language);
  const answer = colourAnswer(labelAnswer(await ask(question), translation), target.metric.definition.chart);
  return { metricId: target.metric.metricId, answer, timeTakenInMs: clock.now().getTime() - started.getTime() };
};

type Answering = Deps & {
  /** What is asked of the engine in place of the question. */
  readonly asked: (question: MetricQuestion, target: OpenMetric) => MetricQuestion;
};

const answerGuest = async (
  { asked, ...deps }: Answering,
  caller: GuestCaller,
  query: GuestQuery,
  signal: AbortSignal,
): Promise<MetricReply> => {
  const target = await openTarget(deps, caller, query);
  const reads = guestReads(deps.engine, signal, target);
  const ask = measured(fewerPoints(query, target.metric, reads));
  return reply(deps, caller, target, query, (question) => ask(asked(question, target)));
};

/**
 * Returns the metric's answer, with the value of an earlier period if the metric has a comparison that applies. Throws
 * UNAUTHORIZED if the token does not open the metric. The answer is none that the cache keeps no longer.
 */
export const answerGuestMetric =
  (deps: Deps) =>
  (caller: GuestCaller, query: GuestQuery, signal: AbortSignal): Promise<MetricReply> =>
    answerGuest({ ...deps, asked: (question) => question }, caller, query, signal);

/** As `answerGuestMetric`, for a card: an older answer will do where the datamart allows it, and the question is remembered. */
export const queryGuestMetric =
  (deps: TaggingDeps & { readonly warmUp?: Pick<WarmUp, 'seen'> | undefined }) =>
  async (
    caller: GuestCaller,
    query: GuestQuery,
    signal: AbortSignal,
  ): Promise<MetricReply & { readonly tag: string }> => {
    const { warmUp } = deps;
    const asked: Answering['asked'] = (question, { opened }) => {
      warmUp?.seen({ caller, query, datamartId: question.datamart.id, dashboardId: opened.dashboard.id });
      return { ...question, mayBeStale: true };
    };
    const replied = await answerGuest({ ...deps, asked }, caller, query, signal);
    return { ...replied, tag: await answerTag(deps.tag, caller.grant, replied) };
  };

/** The answer with the formats of its measures. */
const measured =
  (ask: Ask): Ask =>
  async (question) => {
    const answer = await ask(question);
    return { ...answer, columns: withMeasureNumbers(answer.columns, question.definition) };
  };

/** The columns of underlying rows are those that the definition names, in its order. */
const formatted =
  (ask: Ask): Ask =>
  async (question) => {
    const answer = await ask(question);
    const { definition, datamart } = question;
    if (definition.kind === 'sql') return answer;
    return { ...answer, columns: withRowFormats(answer.columns, definition.underlying, datamart) };
  };

/** The question for the rows behind the metric, or behind its own marks. */
const rowsQuestion = async (
  { store }: Deps,
  { grant }: GuestCaller,
  target: OpenMetric,
  asked: GuestQuery,
  { started, ask }: { readonly started: Date; readonly ask: Ask },
): Promise<MetricQuestion> => {
  const content = store.contentAt(grant.revision);
  const { query, marks } = takeBucketMarks(target.metric, asked);
  const question = await questionFor(content, grant, target, query, started, 'rows');
  if (marks.length === 0) return question;
  const shown = await questionFor(content, grant, target, query, started);
  return { ...question, conditions: [...question.conditions, ...(await bucketConditions(marks, shown, ask))] };
};

/** Returns the underlying rows of the metric, if `isEnableUnderlyingData` permits it. */
export const listGuestUnderlying =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery, signal: AbortSignal): Promise<MetricReply> => {
    const target = await openTarget(deps, caller, query);
    assertPermitted(caller.grant, target.opened, 'isEnableUnderlyingData');
    const reads = guestReads(deps.engine, signal, target);
    const started = deps.clock.now();
    const question = await rowsQuestion(deps, caller, target, query, { started, ask: reads.query });
    return answerTo(deps, caller, target, query, { question, ask: formatted(reads.underlying), started });
  };
