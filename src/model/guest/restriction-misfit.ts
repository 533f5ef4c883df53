/** Why a restriction of a token does not fit a metric, for the log of the operator. Names no value. */
import { type Dashboard, sameName } from '../dashboard/dashboard.js';
import { mappedColumns } from '../dashboard/mapped-columns.js';
import type { Metric } from '../dashboard/metric.js';
import { type ColumnRef, qualifiedName, sameColumn, sameTable } from '../datamart/datamart.js';
import { findWay } from '../datamart/ways.js';
import type { Condition } from '../filter/filter.js';
import type { MetricQuestion } from '../query/engine.js';

/** The cause of a refusal that a guest may not learn. Its message has the metric, the restriction and the way. */
export class RestrictionMisfit extends Error {
  override readonly name = 'RestrictionMisfit';
}

/** What the restriction is on: the metric, and the dashboards whose filters restrict it. */
export type Restricted = { readonly metric: Metric; readonly dashboards: readonly Dashboard[] };

type Asked = Pick<MetricQuestion, 'definition' | 'datamart' | 'conditions'>;

/** The restrictions whose table has no single way from the table of the metric; all of them if none stands out. */
const misfits = ({ definition, datamart, conditions }: Asked): readonly Condition[] => {
  const restricting = conditions.filter(({ restriction }) => restriction !== undefined);
  if (definition.kind === 'sql') return restricting;
  const { from } = definition;
  const torn = restricting.filter(
    ({ column }) => !sameTable(from, column) && findWay(datamart, from, column).kind !== 'one',
  );
  return torn.length === 0 ? restricting : torn;
};

/** A filter or variable by which a token restricts rows, as a policy names it and its field. */
export type RestrictionName = {
  readonly field: 'dashboardFilters' | 'appFilters' | 'rls';
  readonly name: string;
};

/** A column that a restriction is on, and the filters and variables of the metric and its dashboards that map to it. */
export type Misfit = { readonly column: ColumnRef; readonly names: readonly RestrictionName[] };

const namesAt = (column: ColumnRef, { metric, dashboards }: Restricted): readonly RestrictionName[] => {
  const { filters, rlsVariables } = metric.definition;
  const isIt = (other: ColumnRef | undefined): boolean => other !== undefined && sameColumn(other, column);
  const ofDashboards = dashboards.flatMap((one) => one.filters).filter((one) => mappedColumns(one).some(isIt));
  return [
    ...ofDashboards.map(({ name }) => ({ field: 'dashboardFilters' as const, name })),
    ...filters.filter((one) => isIt(one.column)).map(({ name }) => ({ field: 'appFilters' as const, name })),
    ...rlsVariables.filter((one) => isIt(one.column)).map(({ name }) => ({ field: 'rls' as const, name })),
  ];
};

/** Returns the restrictions that do not fit the metric; all of them if none stands out. */
export const misfitsOf = (question: Asked, restricted: Restricted): readonly Misfit[] =>
  misfits(question)
    .map(({ column: { schemaName, tableName, columnName } }) => ({ schemaName, tableName, columnName }))
    .filter((column, index, all) => all.findIndex((other) => sameColumn(other, column)) === index)
    .map((column) => ({ column, names: namesAt(column, restricted) }));

const restrictionText = ({ column, names }: Misfit): string => {
  const quoted = names
    .map(({ name }) => name)
    .filter((name, index, all) => all.findIndex((other) => sameName(other, name)) === index)
    .map((name) => JSON.stringify(name));
  const by = quoted.length === 0 ? '' : `${quoted.join(' or ')} on `;
  return `${by}${qualifiedName(column)}.${column.columnName}`;
};

/**
 * Returns the cause with the metric, the restrictions in question, and the engine's own message, which names the tables,
 * the ways and how to mend them.
 */
export const restrictionMisfit = (question: Asked, restricted: Restricted, cause: Error): RestrictionMisfit => {
  const { metricId, name } = restricted.metric;
  const restrictions = misfitsOf(question, restricted).map(restrictionText).join('; ') || 'of its author';
  return new RestrictionMisfit(
    `Metric ${JSON.stringify(name)} (${metricId}) cannot be read under the restriction ${restrictions}. ${cause.message}`,
    { cause },
  );
};
