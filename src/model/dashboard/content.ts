/** The content of a dashboard: checked against datamarts, moved to another schema, copied for a client. */
import { type ColumnRef, type Datamart, findColumn, type TableRef } from '../datamart/datamart.js';
import { type DashboardContent, type DashboardFilter, type LayoutCard, sameName } from './dashboard.js';
import { definitionFaults, written } from './definition.js';
import { type ConditionTree, lineageOfCopy, type MetricDefinition, maxLineage } from './metric.js';
import { pathFaults } from './path-faults.js';
import { tileFaults } from './tile.js';
import { dashboardFilterTypeFaults, definitionTypeFaults } from './type-faults.js';

const repeated = (names: readonly string[]): readonly string[] =>
  names.filter((name, index) => names.findIndex((other) => sameName(other, name)) < index);

/** Returns the faults for the datamart that has the fewest. */
const fewest = (datamarts: readonly Datamart[], faultsFor: (datamart: Datamart) => readonly string[]) =>
  datamarts.map(faultsFor).toSorted((a, b) => a.length - b.length)[0] ?? ['the workspace reaches no datamart'];

/**
 * Which parts of a content are written anew, and so have their types checked. A part that is stored already is not: a
 * faulty metric shows its error on its card, and must not stop a copy or a change of the others.
 */
export type Written = {
  readonly isNewMetric: (definition: MetricDefinition) => boolean;
  readonly isNewFilter: (filter: DashboardFilter) => boolean;
  /**
   * Whether a stored part may also name tables and columns that the datamart does not have any more. So each part of a
   * dashboard can be mended or removed by itself. A copy may not: it is made for another tenant or schema.
   */
  readonly mayStayBroken: boolean;
};

export const allWritten: Written = { isNewMetric: () => true, isNewFilter: () => true, mayStayBroken: false };
export const nothingWritten: Written = { isNewMetric: () => false, isNewFilter: () => false, mayStayBroken: false };

/**
 * Returns all faults of the content for these datamarts, each with its place. Empty if the content can be used. Each
 * metric reads one of the datamarts.
 */
export const contentFaults = (
  content: DashboardContent,
  datamarts: readonly Datamart[],
  { isNewMetric, isNewFilter, mayStayBroken }: Written = allWritten,
): readonly string[] => {
  const isChecked = (isNew: boolean): boolean => isNew || !mayStayBroken;
  const faultsOf = (definition: MetricDefinition) => (datamart: Datamart) => [
    ...definitionFaults(definition, datamart),
    ...(isNewMetric(definition)
      ? [...definitionTypeFaults(definition, datamart), ...pathFaults(definition, datamart)]
      : []),
  ];
  const ids = content.metrics.map(({ metricId }) => metricId);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `metrics: "${id}" occurs twice`),
    ...content.metrics
      .filter((metric) => lineageOfCopy(metric).length > maxLineage)
      .map(({ metricId }) => `metrics["${metricId}"]: it was copied more than ${maxLineage} times`),
    ...content.metrics
      .filter(({ definition }) => isChecked(isNewMetric(definition)))
      .flatMap(({ metricId, definition }) =>
        fewest(datamarts, faultsOf(definition)).map((fault) => `metrics["${metricId}"]: ${fault}`),
      ),
    ...content.layout
      .filter(({ metricId }) => !ids.includes(metricId))
      .map(({ metricId }) => `layout: a card names "${metricId}", which is not among the metrics`),
    ...tileFaults(content.tiles ?? []),
    ...repeated(content.filters.map(({ name }) => name)).map((name) => `filters: "${name}" occurs twice`),
    ...content.filters
      .filter((filter) => isChecked(isNewFilter(filter)))
      .flatMap(({ name, applyOnTables }) =>
        applyOnTables
          .filter((ref) => datamarts.every((datamart) => findColumn(datamart, ref) === undefined))
          .map((ref) => `filters["${name}"]: the datamart has no column ${written(ref)}`),
      ),
    ...content.filters.filter(isNewFilter).flatMap((filter) => dashboardFilterTypeFaults(filter, datamarts)),
  ];
};

export type SchemaPair = { readonly replaceSchema: string; readonly targetSchema: string };

/**
 * Returns the content with the schemas of its columns and tables renamed. SQL texts stay unchanged: `SqlRewriter`
 * renames their schemas.
 */
export const replaceSchemas = (content: DashboardContent, pairs: readonly SchemaPair[]): DashboardContent => {
  const move = <T extends TableRef>(ref: T): T => {
    const pair = pairs.find(({ replaceSchema }) => replaceSchema === ref.schemaName);
    return pair === undefined ? ref : { ...ref, schemaName: pair.targetSchema };
  };
  const moveColumn = <T extends { readonly column?: ColumnRef | undefined }>(item: T): T =>
    item.column === undefined ? item : { ...item, column: move(item.column) };
  const moveTree = (tree: ConditionTree): ConditionTree => {
    if ('predicate' in tree) return moveColumn(tree);
    return 'all' in tree ? { all: tree.all.map(moveTree) } : { any: tree.any.map(moveTree) };
  };
  const moveDefinition = (definition: MetricDefinition): MetricDefinition => {
    const filters = definition.filters.map(moveColumn);
    const rlsVariables = definition.rlsVariables.map(moveColumn);
    if (definition.kind === 'sql') return { ...definition, filters, rlsVariables };
    const { where, comparison } = definition;
    return {
      ...definition,
      from: move(definition.from),
      dimensions: definition.dimensions.map(moveColumn),
      drillPath: definition.drillPath.map(moveColumn),
      measures: definition.measures.map(moveColumn),
      ...(where === undefined ? {} : { where: moveTree(where) }),
      ...(comparison === undefined ? {} : { comparison: moveColumn(comparison) }),
      filters,
      rlsVariables,
      underlying: definition.underlying.map(move),
    };
  };
  return {
    ...content,
    metrics: content.metrics.map((metric) => ({ ...metric, definition: moveDefinition(metric.definition) })),
    filters: content.filters.map((filter) => ({ ...filter, applyOnTables: filter.applyOnTables.map(move) })),
  };
};

/**
 * Returns an import merged over a template. The import takes precedence. The template supplies filters that the import
 * does not name, and the grid margins if the import has none.
 */
export const overTemplate = (imported: DashboardContent, template: DashboardContent): DashboardContent => ({
  ...imported,
  filters: [
    ...imported.filters,
    ...template.filters.filter(({ name }) => !imported.filters.some((own) => sameName(own.name, name))),
  ],
  gridMargin: imported.gridMargin.length > 0 ? imported.gridMargin : template.gridMargin,
});

/** Returns the cards with the metrics' new ids. Cards of metrics without a new id are removed. */
export const relabelLayout = (
  layout: readonly LayoutCard[],
  newIds: ReadonlyMap<string, string>,
): readonly LayoutCard[] =>
  layout.flatMap((card) => {
    const metricId = newIds.get(card.metricId);
    return metricId === undefined ? [] : [{ ...card, metricId }];
  });
