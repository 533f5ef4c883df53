/** A metric of fields as a metric in SQL that answers the same: what stays beside the SQL, and what no SQL can say. */
import { type Datamart, findColumn } from '../datamart/datamart.js';
import type { Predicate } from '../filter/filter.js';
import { Refusal } from '../refusal.js';
import type { DashboardFilter } from './dashboard.js';
import { mappedColumns, optionColumns } from './mapped-columns.js';
import {
  type HavingTree,
  outputNames,
  type Sort,
  type SqlDefinition,
  testsOf,
  type VisualDefinition,
} from './metric.js';

/** Throws METRIC_QUERY_ERROR, which says why the metric stays as it is. */
export const refuseAsSql = (why: string, cause?: unknown): never => {
  throw new Refusal('METRIC_QUERY_ERROR', `This metric can’t be turned into SQL: ${why}.`, {
    reason: 'metric-not-in-sql',
    cause,
  });
};

const predicatesOf = ({ where, having, measures }: VisualDefinition): readonly Predicate[] => [
  ...testsOf(where).map(({ predicate }) => predicate),
  ...(having === undefined ? [] : ofHaving(having)),
  ...measures.flatMap(({ indicator }) => indicator ?? []),
];

const ofHaving = (tree: HavingTree): readonly Predicate[] =>
  'predicate' in tree ? [tree.predicate] : ('all' in tree ? tree.all : tree.any).flatMap(ofHaving);

/** Why no one SELECT says what the metric asks, as far as its definition shows. Undefined: nothing is known against it. */
export const beyondSql = (definition: VisualDefinition): string | undefined => {
  const { calculations = [], comparison, others, dimensions } = definition;
  const predicates = predicatesOf(definition);
  const isAmong = (kind: Predicate['kind']): boolean => predicates.some((predicate) => predicate.kind === kind);
  if (calculations.length > 0) return 'it has calculations over the groups of its answer. Take them out first';
  if (comparison !== undefined) return 'it compares with an earlier period. Take the comparison out first';
  if (others === true) return 'it combines its smaller groups into “Other”. Switch that off first';
  if (dimensions.some(({ bucketCount }) => bucketCount !== undefined))
    return 'the width of its buckets follows from the rows. Set the width first';
  if (isAmong('relative'))
    return 'one of its conditions is on a period that moves with the day. Make it a filter of the metric first';
  if (isAmong('inQuery')) return 'one of its conditions compares with the rows of SQL';
  const names = outputNames(definition);
  if (definition.sort.some(({ name }) => !names.includes(name)))
    return 'it is sorted by a measure that it does not show. Show the measure, or sort by another column';
  return undefined;
};

/** The metric's own sort, else that of its columns in the datamart, which a metric in SQL does not follow by itself. */
export const sortOf = (
  { dimensions }: Pick<VisualDefinition, 'dimensions'>,
  chosen: readonly Sort[],
  datamart: Datamart,
): readonly Sort[] => {
  if (chosen.length > 0) return chosen;
  return dimensions.flatMap(({ name, column }) => {
    const direction = findColumn(datamart, column)?.defaultSort;
    return direction == null ? [] : [{ name, direction }];
  });
};

/** The metric in SQL. Its filters, variables, sort and limit stay settings beside the text. */
export const sqlDefinition = (metric: VisualDefinition, sql: string, datamart: Datamart): SqlDefinition => {
  const { chart, dimensions, filters, rlsVariables, limit, withoutBaseFilters } = metric;
  const dimensionNames = dimensions.map(({ name }) => name);
  return {
    kind: 'sql',
    ...{ chart, sql, filters, rlsVariables, limit },
    dimensions: dimensionNames.map((name) => ({ name })),
    measures: outputNames(metric)
      .slice(dimensionNames.length)
      .map((name) => ({ name })),
    sort: sortOf(metric, metric.sort, datamart),
    ...(withoutBaseFilters === undefined ? {} : { withoutBaseFilters }),
  };
};

/**
 * Whether a filter of the dashboard would restrict the metric by other columns once it is in SQL: then it is on each of its
 * columns whose table the SQL names, and no table comes before the others.
 */
export const filterBeyondSql = (filter: DashboardFilter, before: VisualDefinition, { sql }: SqlDefinition): boolean => {
  const columns = mappedColumns(filter);
  const read = columns.filter(({ tableName }) => sql.includes(tableName));
  const chosen = read.length === 0 ? columns : read;
  return JSON.stringify(chosen) !== JSON.stringify(optionColumns(filter, before));
};
