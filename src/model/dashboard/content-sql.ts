/** The SQL in a dashboard's content: custom SQL of metrics, and filter values of the form `{sql, columnName}`. */
import type { FilterValue } from '../filter/filter.js';
import type { DashboardContent } from './dashboard.js';
import type { MetricDefinition } from './metric.js';

type ValuesOfQuery = Extract<FilterValue, { readonly sql: string }>;
type WithDefault = { readonly defaultValue?: FilterValue | undefined };

const isQuery = (value: FilterValue | undefined): value is ValuesOfQuery =>
  typeof value === 'object' && !Array.isArray(value) && 'sql' in value;

/** Returns the content with each SQL text replaced by the result of `replace` for the text and its place. */
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
    metrics: content.metrics.map((metric, index) => {
      const place = `metrics[${index}].definition`;
      const filters = inFilters(metric.definition.filters, `${place}.filters`);
      const definition: MetricDefinition =
        metric.definition.kind === 'sql'
          ? { ...metric.definition, filters, sql: replace(metric.definition.sql, `${place}.sql`) }
          : { ...metric.definition, filters };
      return { ...metric, definition };
    }),
  };
};

/**
 * Returns all SQL texts of the content by place, such as `filters[0].defaultValue.sql`. Expressions of measures are not
 * included.
 */
export const listSql = (content: DashboardContent): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  mapSql(content, (sql, place) => {
    found.set(place, sql);
    return sql;
  });
  return found;
};

/** Returns the content with the SQL at these places replaced. */
export const replaceSql = (content: DashboardContent, rewritten: ReadonlyMap<string, string>): DashboardContent =>
  mapSql(content, (sql, place) => rewritten.get(place) ?? sql);

export type SqlPart = {
  readonly place: string;
  readonly text: string;
  readonly as: 'select' | 'expression';
  /** Names of the variables that the SQL may use. */
  readonly variables: readonly string[];
};

/** Returns every text of the content that the engine reads as SQL, including expressions of measures. */
export const listSqlParts = (content: DashboardContent): readonly SqlPart[] => {
  const all = listSql(content);
  const ofDashboard = [...all]
    .filter(([place]) => place.startsWith('filters['))
    .map(([place, text]): SqlPart => ({ place, text, as: 'select', variables: [] }));
  const ofMetrics = content.metrics.flatMap(({ definition }, index): readonly SqlPart[] => {
    const variables = definition.rlsVariables.map(({ name }) => name);
    const own = [...all].filter(([place]) => place.startsWith(`metrics[${index}].`));
    const selects = own.map(([place, text]): SqlPart => ({ place, text, as: 'select', variables }));
    const measures = definition.kind === 'visual' ? definition.measures : [];
    const expressions = measures.flatMap(({ expression: text }, at): readonly SqlPart[] =>
      text === undefined
        ? []
        : [{ place: `metrics[${index}].definition.measures[${at}].expression`, text, as: 'expression', variables: [] }],
    );
    return [...selects, ...expressions];
  });
  return [...ofDashboard, ...ofMetrics];
};

/** As `listSqlParts`, of one metric. Places are those in its definition. */
export const definitionSqlParts = (definition: MetricDefinition): readonly SqlPart[] => {
  const metric = { metricId: '', name: '', definition, lineage: [], placement: 'METRIC' } as const;
  return listSqlParts({ layout: [], filters: [], gridMargin: [], metrics: [metric] }).map((part) => ({
    ...part,
    place: part.place.replace('metrics[0].definition.', ''),
  }));
};
