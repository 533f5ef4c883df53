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

/** The filters and variables by which a token can restrict the column, as a policy names them. */
const namesAt = (column: ColumnRef, { metric, dashboards }: Restricted): readonly string[] => {
  const { filters, rlsVariables } = metric.definition;
  const isIt = (other: ColumnRef | undefined): boolean => other !== undefined && sameColumn(other, column);
  const found = [
    ...dashboards.flatMap((one) => one.filters).filter((one) => mappedColumns(one).some(isIt)),
    ...filters.filter((one) => isIt(one.column)),
    ...rlsVariables.filter((one) => isIt(one.column)),
  ].map(({ name }) => name);
  return found.filter((name, index) => found.findIndex((other) => sameName(other, name)) === index);
};

const restrictionText = (column: ColumnRef, restricted: Restricted): string => {
  const names = namesAt(column, restricted).map((name) => JSON.stringify(name));
  const by = names.length === 0 ? '' : `${names.join(' or ')} on `;
  return `${by}${qualifiedName(column)}.${column.columnName}`;
};

/**
 * Returns the cause with the metric, the restrictions in question, and the engine's own message, which names the tables,
 * the ways and how to mend them.
 */
export const restrictionMisfit = (question: Asked, restricted: Restricted, cause: Error): RestrictionMisfit => {
  const { metricId, name } = restricted.metric;
  const all = misfits(question).map(({ column }) => restrictionText(column, restricted));
  const restrictions = [...new Set(all)].join('; ') || 'of its author';
  return new RestrictionMisfit(
    `Metric ${JSON.stringify(name)} (${metricId}) cannot be read under the restriction ${restrictions}. ${cause.message}`,
    { cause },
  );
};
