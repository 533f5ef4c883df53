/** Reads a visual metric's custom SQL before anything is planned: custom columns, expressions and conditions in SQL. */

import { columnsOf } from '../../model/dashboard/definition.js';
import { testsOf, type VisualDefinition } from '../../model/dashboard/metric.js';
import type { ColumnRef, Datamart } from '../../model/datamart/datamart.js';
import type { Condition } from '../../model/filter/filter.js';
import type { Catalog } from '../dialect/catalog.js';
import type { Computed } from '../plan/plan.js';
import {
  columnsIn,
  type Expressions,
  isWritten,
  namedBy,
  readCasts,
  readComputed,
  readExpressions,
  readSums,
} from './computed.js';
import type { SqlContext } from './context.js';
import { type Queries, readQueries } from './queries.js';
import { assertSum } from './sums.js';

export type Custom = {
  /** The catalog with the types of the custom columns that the question names; null where it names none. */
  readonly catalog: Catalog | null;
  readonly columns: ReadonlyMap<string, readonly Computed[]>;
  readonly expressions: Expressions;
  /** See `readCasts`. */
  readonly casts: ReadonlyMap<string, string>;
  readonly queries: Queries;
};

export const noCustom: Custom = {
  catalog: null,
  ...{ columns: new Map(), expressions: new Map(), casts: new Map(), queries: new Map() },
};

export type CustomQuestion = {
  readonly datamart: Datamart;
  readonly definition: VisualDefinition;
  readonly conditions: readonly Condition[];
  readonly column?: ColumnRef | undefined;
};

/** The columns of measures that are taken as they are have no values of their own. */
const withoutWritten = (definition: VisualDefinition): VisualDefinition => ({
  ...definition,
  measures: definition.measures.filter((measure) => !isWritten(measure)),
});

/** Throws METRIC_QUERY_ERROR for SQL that does not parse or is not allowed. */
export const readCustom = async (context: SqlContext, question: CustomQuestion): Promise<Custom> => {
  const { definition, column } = question;
  const conditions = [...question.conditions, ...testsOf(definition.where)];
  const queries = await readQueries(context, conditions);
  const named = [...columnsOf(withoutWritten(definition)), ...conditions.map(namedBy), ...(column ? [column] : [])];
  const near = [
    definition.from,
    ...[...definition.dimensions, ...definition.measures].flatMap((one) => one.column ?? []),
  ];
  const expressions = await readExpressions(context, definition.measures.filter(isWritten), near);
  const refs = [...named, ...[...expressions.values()].flatMap(columnsIn)];
  const computed = await readComputed(context, refs);
  const { catalog, columns } = computed;
  if (context.isWritten) {
    const sums = await readSums(context, definition.measures.filter(isWritten), near);
    for (const { aggregate, column: summed } of sums) assertSum({ catalog }, aggregate, [summed]);
  }
  const casts = await readCasts(context, expressions, computed);
  return { catalog: columns.size === 0 ? null : catalog, columns, expressions, casts, queries };
};
