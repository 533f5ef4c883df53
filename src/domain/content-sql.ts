/** The SQL that a dashboard's content holds: values of filters that are `{sql, columnName}`. */
import type { DashboardContent } from './dashboard.js';
import type { FilterValue } from './filter.js';

type ValuesOfQuery = Extract<FilterValue, { readonly sql: string }>;
type WithDefault = { readonly defaultValue?: FilterValue | undefined };

const isQuery = (value: FilterValue | undefined): value is ValuesOfQuery =>
  typeof value === 'object' && !Array.isArray(value) && 'sql' in value;

/** The content with every SQL replaced by what `replace` answers for it and its place. */
const mapSql = (content: DashboardContent, replace: (sql: string, place: string) => string): DashboardContent => {
  const inFilters = <T extends WithDefault>(filters: readonly T[], where: string): readonly T[] =>
    filters.map((filter, index) => {
      const { defaultValue } = filter;
      if (!isQuery(defaultValue)) return filter;
      const sql = replace(defaultValue.sql, `${where}[${index}].defaultValue.sql`);
      return { ...filter, defaultValue: { ...defaultValue, sql } };
    });
  return {
    ...content,
    filters: inFilters(content.filters, 'filters'),
    metrics: content.metrics.map((metric, index) => ({
      ...metric,
      definition: {
        ...metric.definition,
        filters: inFilters(metric.definition.filters, `metrics[${index}].definition.filters`),
      },
    })),
  };
};

/** All SQL of the content, by its place: `filters[0].defaultValue.sql`. */
export const listSql = (content: DashboardContent): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  mapSql(content, (sql, place) => {
    found.set(place, sql);
    return sql;
  });
  return found;
};

/** The content with the SQL of these places replaced. */
export const replaceSql = (content: DashboardContent, rewritten: ReadonlyMap<string, string>): DashboardContent =>
  mapSql(content, (sql, place) => rewritten.get(place) ?? sql);
