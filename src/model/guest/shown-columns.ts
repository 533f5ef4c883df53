/**
 * What a token with rules for columns leaves of metrics and filters. A metric that needs a hidden column is not shown. A
 * table, and the rows behind a metric, keep their other columns. What the policy binds stays whole: its conditions read
 * hidden columns too.
 */
import type { Chart } from '../dashboard/chart.js';
import type { Dashboard, DashboardFilter } from '../dashboard/dashboard.js';
import {
  type Calculation,
  type HavingTree,
  type Measure,
  type MetricDefinition,
  type MetricFilter,
  type SqlDefinition,
  testsOf,
  type VisualDefinition,
} from '../dashboard/metric.js';
import { isHiddenColumn, namesHidden } from '../datamart/column-rules.js';
import type { ColumnRef, Datamart } from '../datamart/datamart.js';
import type { Condition } from '../filter/filter.js';

type Hides = {
  readonly column: (ref: ColumnRef) => boolean;
  /** `near`: tables whose columns the text may name alone. */
  readonly sql: (text: string, near: readonly string[]) => boolean;
};

const hidesOf = (datamart: Datamart): Hides => ({
  column: (ref) => isHiddenColumn(datamart, ref),
  sql: (text, near) => namesHidden(datamart, text, near),
});

const hidesCondition = (hides: Hides, { column, predicate }: Pick<Condition, 'column' | 'predicate'>): boolean =>
  hides.column(column) || (predicate.kind === 'inQuery' && hides.sql(predicate.sql, []));

/** Whether a condition that the author fixed needs a hidden column. Without the condition, the metric would mean something else. */
const hidesFixed = (hides: Hides, filters: readonly MetricFilter[]): boolean =>
  filters.some(({ column, predicate }) => predicate !== undefined && hidesCondition(hides, { column, predicate }));

/** A token may bind the filter, so it stays in the definition. */
const withClosed = (hides: Hides, filters: readonly MetricFilter[]): readonly MetricFilter[] =>
  filters.some(({ column }) => hides.column(column))
    ? filters.map((filter) => (hides.column(filter.column) ? { ...filter, isClosed: true } : filter))
    : filters;

const namesOfHaving = (tree: HavingTree | undefined): readonly string[] => {
  if (tree === undefined) return [];
  if ('measure' in tree) return [tree.measure];
  return ('all' in tree ? tree.all : tree.any).flatMap(namesOfHaving);
};

const dependsOn = (calculation: Calculation): readonly string[] => [
  calculation.of,
  ...(calculation.kind === 'shareOfTotal' ? (calculation.within ?? []) : [calculation.along ?? []].flat()),
];

const hidesMeasure = (hides: Hides, { from, dimensions, measures }: VisualDefinition, measure: Measure): boolean => {
  if (measure.expression === undefined) return measure.column !== undefined && hides.column(measure.column);
  const near = [from, ...[...dimensions, ...measures].flatMap(({ column }) => column ?? [])];
  return hides.sql(
    measure.expression,
    near.map(({ tableName }) => tableName),
  );
};

/** Of what the chart says of columns by name, what is about the names that are left. */
const shownChart = (chart: Chart, names: readonly string[]): Chart => {
  const isLeft = (name: string): boolean => names.includes(name);
  const { series, across, numbers, dates, lines, colours, rules, bars, ...rest } = chart;
  const kept = {
    series: series?.filter(({ measure }) => isLeft(measure)),
    across: across?.filter(isLeft),
    numbers: numbers?.filter(({ measure }) => isLeft(measure)),
    dates: dates?.filter(({ name }) => isLeft(name)),
    lines: lines?.filter((line) => line.kind === 'value' || isLeft(line.measure)),
    colours: colours?.filter(({ name }) => isLeft(name)),
    rules: rules?.filter(({ measure }) => isLeft(measure)),
    bars: bars?.filter(isLeft),
  };
  return { ...rest, ...Object.fromEntries(Object.entries(kept).filter(([, list]) => list !== undefined)) };
};

const shownVisual = (hides: Hides, definition: VisualDefinition): VisualDefinition | undefined => {
  const { dimensions, measures, calculations = [], chart, filters, comparison, having } = definition;
  const shown = {
    dimensions: dimensions.filter(({ column }) => !hides.column(column)),
    measures: measures.filter((measure) => !hidesMeasure(hides, definition, measure)),
  };
  const left = [...shown.dimensions, ...shown.measures].map(({ name }) => name);
  const isWhole = left.length === dimensions.length + measures.length;
  if (!isWhole && (chart.type !== 'table' || left.length === 0)) return undefined;
  const isFixed = hidesFixed(hides, filters) || testsOf(definition.where).some((test) => hidesCondition(hides, test));
  const isCompared = comparison !== undefined && hides.column(comparison.column);
  if (isFixed || isCompared || namesOfHaving(having).some((name) => !left.includes(name))) return undefined;
  // Without a dimension, a calculation along the first one would follow another.
  const isFirstGone = shown.dimensions[0] !== dimensions[0];
  const kept = calculations.filter(
    (one) =>
      dependsOn(one).every((name) => left.includes(name)) &&
      !(isFirstGone && one.kind !== 'shareOfTotal' && one.along === undefined),
  );
  const names = [...left, ...kept.map(({ name }) => name)];
  return {
    ...definition,
    ...(isWhole ? {} : { chart: shownChart(chart, names) }),
    ...shown,
    ...(calculations.length === 0 ? {} : { calculations: kept }),
    filters: withClosed(hides, filters),
    underlying: definition.underlying.filter((ref) => !hides.column(ref)),
    drillPath: definition.drillPath.filter(({ column }) => !hides.column(column)),
    sort: isWhole ? definition.sort : definition.sort.filter(({ name }) => names.includes(name)),
  };
};

const shownSql = (hides: Hides, definition: SqlDefinition): SqlDefinition | undefined =>
  hides.sql(definition.sql, []) || hidesFixed(hides, definition.filters)
    ? undefined
    : { ...definition, filters: withClosed(hides, definition.filters) };

const shown = new WeakMap<MetricDefinition, WeakMap<Datamart, MetricDefinition | undefined>>();

/**
 * Returns the definition without what the datamart's rules hide; undefined where nothing is left that may be shown. The
 * same object for the same definition and datamart: prepared questions are found by it.
 */
export const shownDefinition = (definition: MetricDefinition, datamart: Datamart): MetricDefinition | undefined => {
  if (!datamart.tables.some(({ hiddenColumns }) => hiddenColumns !== undefined)) return definition;
  const known = shown.get(definition) ?? new WeakMap<Datamart, MetricDefinition | undefined>();
  shown.set(definition, known);
  if (known.has(datamart)) return known.get(datamart);
  const hides = hidesOf(datamart);
  const left = definition.kind === 'sql' ? shownSql(hides, definition) : shownVisual(hides, definition);
  known.set(datamart, left);
  return left;
};

/** Returns the dashboard with the columns by which a guest may set each filter. The policy's values hold on all of them. */
export const withShownFilters = (dashboard: Dashboard, datamart: Datamart): Dashboard => {
  const isShown = (ref: ColumnRef): boolean => !isHiddenColumn(datamart, ref);
  if (dashboard.filters.every(({ applyOnTables }) => applyOnTables.every(isShown))) return dashboard;
  const filters = dashboard.filters.map(
    (filter): DashboardFilter => ({ ...filter, shownOn: filter.applyOnTables.filter(isShown) }),
  );
  return { ...dashboard, filters };
};
