/** What a visual metric has of the host's own SQL: custom columns, expressions, conditions in SQL. Read before anything is planned. */
import { type ColumnRef, type Datamart, tableKey } from '../../domain/datamart.js';
import { columnsOf } from '../../domain/definition.js';
import type { Condition } from '../../domain/filter.js';
import { type ExpressionMeasure, testsOf, type VisualDefinition } from '../../domain/metric.js';
import type { Catalog } from '../catalog.js';
import type { Computed, Leaf, Plan } from '../plan.js';
import type { Resolved } from '../resolve.js';
import { columnsIn, type Expressions, namedBy, readComputed, readExpressions } from './computed.js';
import { computeVisible, leavesOfQueries } from './hidden.js';
import { type Queries, readQueries } from './queries.js';
import type { Reader } from './reader.js';

export type Custom = {
  /** With the types of the custom columns that the question names; null: it names none. */
  readonly catalog: Catalog | null;
  readonly columns: ReadonlyMap<string, readonly Computed[]>;
  readonly expressions: Expressions;
  readonly queries: Queries;
};

export const noCustom: Custom = { catalog: null, columns: new Map(), expressions: new Map(), queries: new Map() };

export type CustomQuestion = {
  readonly datamart: Datamart;
  readonly definition: VisualDefinition;
  readonly conditions: readonly Condition[];
  readonly column?: ColumnRef | undefined;
};

const isExpression = (measure: VisualDefinition['measures'][number]): measure is ExpressionMeasure =>
  measure.aggregate === undefined;

/** Throws METRIC_QUERY_ERROR for what does not parse or is not allowed. */
export const readCustom = async (reader: Reader, question: CustomQuestion): Promise<Custom> => {
  const { definition, column } = question;
  const conditions = [...question.conditions, ...testsOf(definition.where)];
  const queries = await readQueries(reader, conditions);
  const named = [...columnsOf(definition), ...conditions.map(namedBy), ...(column ? [column] : [])];
  const near = [
    definition.from,
    ...[...definition.dimensions, ...definition.measures].flatMap((one) => one.column ?? []),
  ];
  const expressions = await readExpressions(reader, definition.measures.filter(isExpression), near);
  const refs = [...named, ...[...expressions.values()].flatMap(columnsIn)];
  const { catalog, columns } = await readComputed(reader, refs);
  return { catalog: columns.size === 0 ? null : catalog, columns, expressions, queries };
};

/** The plan with its leaves computed and kept apart, and those of the conditions in SQL beside them. */
export const withCustom = (plan: Plan, { columns, expressions, queries }: Custom, resolved: Resolved): Plan => {
  const own = plan.leaves.map((leaf): Leaf => {
    const computed = columns.get(tableKey(leaf.table));
    return computed === undefined && expressions.size === 0 ? leaf : { ...leaf, computed, isBarrier: true };
  });
  const { leaves, beyond } = computeVisible(own, resolved);
  return { ...plan, leaves: [...leaves, ...withComputed([...beyond, ...leavesOfQueries(queries, resolved)], columns)] };
};

/** A test of what the token hides may be of a custom column. */
export const withComputed = (leaves: readonly Leaf[], columns: Custom['columns']): readonly Leaf[] =>
  leaves.map((leaf) => ({ ...leaf, computed: columns.get(tableKey(leaf.table)) }));
