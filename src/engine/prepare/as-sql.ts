/**
 * A metric of fields as a metric in SQL that answers the same. Only its definition is written: the question
 * holds no condition, variable, timezone or page of a viewer, and its plan is not scoped to a tenant, since the text is not
 * run.
 */

import type { Epoch } from '../../model/brand.js';
import { beyondSql, refuseAsSql, sqlDefinition } from '../../model/dashboard/as-sql.js';
import type { SqlDefinition, VisualDefinition } from '../../model/dashboard/metric.js';
import { type Datamart, findColumn } from '../../model/datamart/datamart.js';
import type { DefinedQuestion } from '../../model/query/engine.js';
import type { Database } from '../connections/database.js';
import { readCustom } from '../custom/read-custom.js';
import { columnName } from '../dialect/catalog.js';
import type { Dialect } from '../dialect/dialect.js';
import type { Expression, Field, Plan, SemiJoin, Where } from '../plan/plan.js';
import { buildPlan } from '../question/build-plan.js';
import { withCurrencies } from '../question/currencies.js';
import { resolve } from '../question/resolve.js';
import { isCalculated } from '../sql/expressions.js';
import { writtenSql } from '../sql/written.js';
import { contextOf, type Preparing, withReadableColumns } from './prepare.js';

/** What a viewer adds to a question: nothing of it is part of the text. */
const ofNobody = {
  ...{ dataAppId: '', epoch: 'none' as Epoch, conditions: [], timezone: null, sort: null, limit: null, offset: 0 },
};

/** Throws METRIC_QUERY_ERROR for a metric that no SELECT says, with the reason. */
export const metricAsSql = async (
  database: Database,
  { datasource, datamart, tenant, definition }: DefinedQuestion & { readonly definition: VisualDefinition },
  preparing: Preparing,
): Promise<SqlDefinition> => {
  const why = beyondSql(definition);
  if (why !== undefined) refuseAsSql(why);
  const asked = { kind: 'answer', question: { datasource, datamart, tenant, definition, ...ofNobody } } as const;
  const ask = withReadableColumns(asked);
  const { question } = ask;
  const context = contextOf(database, question, preparing);
  const custom = await readCustom(context, question);
  const planned = withCurrencies(buildPlan(resolve(question, context, custom), ask), ask.kind, question, custom);
  assertWritable(planned, question.datamart, context.dialect);
  const tables = planned.leaves.map(({ table }) => table);
  const text = writtenSql(context.dialect, { ...planned, tables }, custom.columns);
  return sqlDefinition(definition, text, question.datamart);
};

const assertWritable = (plan: Plan, datamart: Datamart, { percentile, capabilities }: Dialect): void => {
  const { leaves, output } = plan;
  if (leaves.some(({ isNumbered }) => isNumbered === true))
    refuseAsSql('a relationship repeats rows that it counts once. Use measures and dimensions of one table');
  if (leaves.some(({ isMarked }) => isMarked))
    refuseAsSql('a RIGHT or FULL JOIN adds rows that it does not count. Count a column instead');
  if (percentile === null && output.columns.some(({ expression }) => isPercentile(expression)))
    refuseAsSql(`${capabilities.databaseName} has no medians and percentiles. Use another measure`);
  for (const { column } of fieldsOf(plan)) {
    const { mask, isApplyTimezone } = findColumn(datamart, column.ref) ?? {};
    if (mask !== undefined || column.stored !== undefined)
      refuseAsSql(`${columnName(column.ref)} is masked or hidden for this user. View as a user who sees it`);
    if (isApplyTimezone === true && (column.type.kind === 'instant' || column.type.kind === 'timestamp'))
      refuseAsSql(`${columnName(column.ref)} is shown in the reader’s own timezone, and SQL has only one`);
  }
};

const isPercentile = (expression: Expression): boolean =>
  expression.kind === 'aggregate' && (expression.aggregate === 'MEDIAN' || expression.aggregate === 'PERCENTILE');

/** Every column that the plan reads. */
const fieldsOf = ({ joins, where, output }: Plan): readonly Field[] => [
  ...joins.flatMap(({ near, far }) => [near, far]),
  ...(where === null ? [] : ofWhere(where)),
  ...output.columns.flatMap(({ expression }) => ofExpression(expression)),
];

const ofWhere = (where: Where): readonly Field[] => {
  if (where.kind === 'test') return [where.field];
  return where.kind === 'exists' ? ofSemiJoin(where) : where.items.flatMap(ofWhere);
};

const ofSemiJoin = ({ joins, tests, nested }: SemiJoin): readonly Field[] => [
  ...joins.flatMap(({ near, far }) => [near, far]),
  ...tests.map(({ field }) => field),
  ...nested.flatMap(ofSemiJoin),
];

const ofExpression = (expression: Expression): readonly Field[] => {
  if (isCalculated(expression) || expression.kind === 'rowCount') return [];
  if (expression.kind === 'custom') return expression.template.filter((part) => typeof part !== 'string');
  if (expression.kind === 'top' || expression.kind === 'isOther') return [expression.of.field];
  return [expression.field];
};
