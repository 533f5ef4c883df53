/** What a dashboard is made of: checked against its datamart, moved to another schema, copied for a client. */
import { type DashboardContent, type LayoutCard, sameName } from './dashboard.js';
import { type ColumnRef, type Datamart, findColumn, findTable, type TableRef } from './datamart.js';
import { type Dimension, lineageOfCopy, type Measure, type MetricDefinition, maxLineage } from './metric.js';

/** As a fault names a column. */
export const written = (ref: ColumnRef): string => `${ref.schemaName}.${ref.tableName}.${ref.columnName}`;

/** Every column that the definition names. */
export const columnsOf = (definition: MetricDefinition): readonly ColumnRef[] => [
  ...[...definition.dimensions, ...definition.drillPath].map(({ column }) => column),
  ...definition.measures.flatMap(({ column }) => (column === undefined ? [] : [column])),
  ...definition.filters.map(({ column }) => column),
  ...definition.rlsVariables.map(({ column }) => column),
  ...definition.underlying,
];

const repeated = (names: readonly string[]): readonly string[] =>
  names.filter((name, index) => names.findIndex((other) => sameName(other, name)) < index);

/** A key that is one filter's name and another's label would restrict whichever of them comes first. */
const sharedFilterNames = ({ filters }: MetricDefinition): readonly string[] =>
  repeated(filters.flatMap(({ name, label }) => (sameName(name, label) ? [name] : [name, label])));

/** Everything that is wrong with one metric for this datamart. */
export const definitionFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => {
  const { dimensions, measures, sort, from } = definition;
  const names = [...dimensions, ...measures].map(({ name }) => name);
  return [
    ...(findTable(datamart, from) === undefined
      ? [`from: the datamart has no table ${from.schemaName}.${from.tableName}`]
      : []),
    ...columnsOf(definition)
      .filter((ref) => findColumn(datamart, ref) === undefined)
      .map((ref) => `the datamart has no column ${written(ref)}`),
    ...repeated(names).map((name) => `two dimensions or measures are named "${name}"`),
    ...sharedFilterNames(definition).map((name) => `two filters have the name or label "${name}"`),
    ...sort.filter(({ name }) => !names.includes(name)).map(({ name }) => `sort: no dimension or measure "${name}"`),
    ...measures.flatMap(measureFaults),
    ...(names.length === 0 ? ['it has neither a dimension nor a measure'] : []),
  ];
};

const measureFaults = ({ name, aggregate, column, indicator }: Measure): readonly string[] =>
  column === undefined && (aggregate !== 'COUNT' || indicator !== undefined)
    ? [`measure "${name}" needs a column`]
    : [];

/** The faults for the datamart that it fits best. */
const fewest = (datamarts: readonly Datamart[], faultsFor: (datamart: Datamart) => readonly string[]) =>
  datamarts.map(faultsFor).toSorted((a, b) => a.length - b.length)[0] ?? ['the workspace reaches no datamart'];

/** Everything that is wrong with the content for these datamarts, each with its place; empty: it can be used. A metric reads one of them. */
export const contentFaults = (content: DashboardContent, ...datamarts: readonly Datamart[]): readonly string[] => {
  const ids = content.metrics.map(({ metricId }) => metricId);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `metrics: "${id}" is there twice`),
    ...content.metrics
      .filter((metric) => lineageOfCopy(metric).length > maxLineage)
      .map(({ metricId }) => `metrics["${metricId}"]: it was copied more than ${maxLineage} times`),
    ...content.metrics.flatMap(({ metricId, definition }) =>
      fewest(datamarts, (datamart) => definitionFaults(definition, datamart)).map(
        (fault) => `metrics["${metricId}"]: ${fault}`,
      ),
    ),
    ...content.layout
      .filter(({ metricId }) => !ids.includes(metricId))
      .map(({ metricId }) => `layout: a card names "${metricId}", which is not among the metrics`),
    ...repeated(content.filters.map(({ name }) => name)).map((name) => `filters: "${name}" is there twice`),
    ...content.filters.flatMap(({ name, applyOnTables }) =>
      applyOnTables
        .filter((ref) => datamarts.every((datamart) => findColumn(datamart, ref) === undefined))
        .map((ref) => `filters["${name}"]: the datamart has no column ${written(ref)}`),
    ),
  ];
};

export type SchemaPair = { readonly replaceSchema: string; readonly targetSchema: string };

/** The content with its schemas renamed: those of its columns and tables. Its SQL is for a parser (`SqlRewriter`). */
export const replaceSchemas = (content: DashboardContent, pairs: readonly SchemaPair[]): DashboardContent => {
  const move = <T extends TableRef>(ref: T): T => {
    const pair = pairs.find(({ replaceSchema }) => replaceSchema === ref.schemaName);
    return pair === undefined ? ref : { ...ref, schemaName: pair.targetSchema };
  };
  const moveColumn = <T extends { readonly column: ColumnRef }>(item: T): T => ({ ...item, column: move(item.column) });
  const moveDefinition = (definition: MetricDefinition): MetricDefinition => ({
    ...definition,
    from: move(definition.from),
    dimensions: definition.dimensions.map(moveColumn<Dimension>),
    drillPath: definition.drillPath.map(moveColumn<Dimension>),
    measures: definition.measures.map((measure) =>
      measure.column === undefined ? measure : { ...measure, column: move(measure.column) },
    ),
    filters: definition.filters.map(moveColumn),
    rlsVariables: definition.rlsVariables.map(moveColumn),
    underlying: definition.underlying.map(move),
  });
  return {
    ...content,
    metrics: content.metrics.map((metric) => ({ ...metric, definition: moveDefinition(metric.definition) })),
    filters: content.filters.map((filter) => ({ ...filter, applyOnTables: filter.applyOnTables.map(move) })),
  };
};

/** An import over a template: what the import says holds; filters that it does not name, and margins where it has none, are the template's. */
export const overTemplate = (imported: DashboardContent, template: DashboardContent): DashboardContent => ({
  ...imported,
  filters: [
    ...imported.filters,
    ...template.filters.filter(({ name }) => !imported.filters.some((own) => sameName(own.name, name))),
  ],
  gridMargin: imported.gridMargin.length > 0 ? imported.gridMargin : template.gridMargin,
});

/** The cards of metrics that are there, under the metrics' new ids. */
export const relabelLayout = (
  layout: readonly LayoutCard[],
  newIds: ReadonlyMap<string, string>,
): readonly LayoutCard[] =>
  layout.flatMap((card) => {
    const metricId = newIds.get(card.metricId);
    return metricId === undefined ? [] : [{ ...card, metricId }];
  });
