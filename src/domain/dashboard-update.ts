/** What becomes of a dashboard whose filters are mapped anew and whose gallery changes. */
import { type Dashboard, type DashboardFilter, type PlacedMetric, sameName } from './dashboard.js';
import { type ColumnRef, type Datamart, findColumn } from './datamart.js';

export type FilterMapping = {
  readonly name: string;
  readonly applyOnTables: readonly (ColumnRef & { readonly dataType: string })[];
};

/** The dashboard's filters with these mappings in place of theirs, or what is wrong with the mappings. */
export const mapFilters = (
  dashboard: Dashboard,
  mappings: readonly FilterMapping[],
  datamarts: readonly Datamart[],
): { readonly filters: readonly DashboardFilter[] } | { readonly faults: readonly string[] } => {
  const faults = mappings.flatMap(({ name, applyOnTables }) => [
    ...(dashboard.filters.some((filter) => sameName(filter.name, name))
      ? []
      : [`the dashboard has no filter "${name}"`]),
    ...applyOnTables
      // A mapping to nothing would restrict nothing, or break every metric.
      .filter((ref) => datamarts.every((datamart) => findColumn(datamart, ref) === undefined))
      .map((ref) => `"${name}": the workspace has no column ${ref.schemaName}.${ref.tableName}.${ref.columnName}`),
  ]);
  if (faults.length > 0) return { faults };
  return {
    filters: dashboard.filters.map((filter) => {
      const mapping = mappings.find(({ name }) => sameName(filter.name, name));
      return mapping === undefined ? filter : { ...filter, applyOnTables: mapping.applyOnTables };
    }),
  };
};

/** What an id names among a dashboard's metrics: the metric itself, or its copy there. */
export const findPlaced = (placed: readonly PlacedMetric[], metricId: string): PlacedMetric | undefined =>
  placed.find(({ metric }) => metric.metricId === metricId) ??
  placed.find(({ metric }) => metric.lineage[0] === metricId);
