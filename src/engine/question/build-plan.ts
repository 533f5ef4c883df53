import { sortOf } from '../../model/dashboard/as-sql.js';
import type { Aggregate, Sort, VisualDefinition } from '../../model/dashboard/metric.js';
import { othersFaults } from '../../model/dashboard/others.js';
import { type ColumnRef, qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import type { MetricQuestion, OptionsQuestion } from '../../model/query/engine.js';
import type { Column } from '../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../dialect/refuse.js';
import { isOpaque } from '../dialect/sql-type.js';
import type { Template } from '../parsing/sql-parser.js';
import type { Expression, Output, OutputColumn, Plan } from '../plan/plan.js';
import { isAggregate, isDimensional } from '../sql/expressions.js';
import { isReachable, spreadOver } from './paths.js';
import type { Resolved } from './resolve.js';
import type { ResolvedCalculation } from './resolve-calculation.js';
import type { ResolvedDimension } from './resolve-dimension.js';
import type { ResolvedMeasure } from './resolve-measure.js';
import { planRowSet, type RowSet } from './row-set.js';

/** What is asked of a metric: its answer, its underlying rows, or the values of one column. */
export type Ask =
  | { readonly kind: 'answer'; readonly question: Visual<MetricQuestion> }
  | { readonly kind: 'underlying'; readonly question: Visual<MetricQuestion> }
  | { readonly kind: 'options'; readonly question: Visual<OptionsQuestion> };

type Visual<Question> = Question & { readonly definition: VisualDefinition };

/** Decides joins, semi-joins, output, order and page. Throws METRIC_QUERY_ERROR for ambiguous questions. */
export const buildPlan = (resolved: Resolved, ask: Ask): Plan => {
  switch (ask.kind) {
    case 'answer':
      return planAnswer(resolved, ask.question);
    case 'underlying':
      return planUnderlying(resolved, ask.question);
    case 'options':
      return planOptions(resolved, ask.question);
    default:
      return refuseUnknown('question', ask);
  }
};

const planAnswer = (resolved: Resolved, question: Visual<MetricQuestion>): Plan => {
  const { dimensions, measures, calculations } = resolved;
  if (dimensions.length + measures.length === 0) {
    refuseQuery('The metric has neither dimensions nor measures; give it at least one.', 'metric-empty');
  }
  assertUnique([...dimensions, ...measures, ...calculations].map(({ name }) => name));
  const rows = planRowSet(resolved, metricTables(resolved));
  const groups = [
    ...dimensions.map((dimension) => ({ name: dimension.name, expression: dimensionExpression(dimension, rows) })),
    ...measures.map((measure) => ({
      name: measure.name,
      expression: measureExpression(measure, resolved.from, rows),
      isOverlapping: isOverlapping(measure, dimensions, resolved.from, rows) || undefined,
      isLeftOut: measure.isHidden,
    })),
  ];
  const calculated = calculations.map((calculation) => withOverlap(calculation, resolved, rows));
  const columns = [...groups, ...calculated];
  const plan: Plan = {
    ...rowsOf(rows, columns),
    output: { kind: 'group', columns, search: null },
    having: resolved.having,
    order: orderBy(
      sortOf(question.definition, question.sort ?? question.definition.sort, resolved.datamart),
      columns,
      dimensions.length,
    ),
    page: resolved.page,
  };
  return question.definition.others === true ? withOthers(plan, question.definition) : plan;
};

/** Groups all but the top values of the last dimension together, from their rows, and orders these groups last. */
const withOthers = (plan: Plan, definition: VisualDefinition): Plan => {
  const [fault] = othersFaults(definition);
  if (fault !== undefined) refuseQuery(`The metric cannot combine its other groups: ${fault}`, 'others-invalid');
  const { columns } = plan.output;
  const at = definition.dimensions.length - 1;
  const dimension = columns[at];
  const of = dimension?.expression;
  if (dimension === undefined || of === undefined || !isDimensional(of)) throw new TypeError('no dimension to rank');
  const isOther: OutputColumn = { name: '', expression: { kind: 'isOther', of }, isLeftOut: true };
  const shown = columns.map((column, index) =>
    index === at ? { ...column, expression: { kind: 'top', of } as const } : column,
  );
  // Calculations come last.
  const first = definition.dimensions.length + definition.measures.length;
  const ranking = [dimension, ...columns.filter(({ expression }) => isAggregate(expression))];
  const sort = definition.sort.filter(({ name }) => ranking.some((column) => column.name === name));
  return {
    ...plan,
    output: { ...plan.output, columns: [...shown.slice(0, first), isOther, ...shown.slice(first)] },
    order: [{ output: first, direction: 'ASC' }, ...plan.order.map(moved(first))],
    page: { ...plan.page, cap: null },
    top: { columns: ranking, order: orderBy(sort, ranking, 1), limit: plan.page.cap ?? 0 },
  };
};

/** The position of a column after one more stands at `first`. */
const moved =
  (first: number) =>
  (item: Plan['order'][number]): Plan['order'][number] =>
    item.output < first ? item : { ...item, output: item.output + 1 };

/** Orders by every column that can be compared, so a page holds the same rows each time. */
const planUnderlying = (resolved: Resolved, question: Visual<MetricQuestion>): Plan => {
  const { underlying } = question.definition;
  if (underlying.length === 0) {
    refuseQuery('The metric names no columns for its underlying rows; add them to "underlying".', 'underlying-empty');
  }
  const rows = planRowSet(resolved, metricTables(resolved), { kind: 'lookup', tables: underlying });
  const names = underlyingNames(underlying);
  assertUnique(names);
  const columns = underlying.map(
    (ref, index): OutputColumn => ({
      name: names[index] ?? ref.columnName,
      expression: { kind: 'field', field: rows.fieldOf(resolved.columnOf(ref)) },
    }),
  );
  const sort = question.sort ?? [];
  // The database may have no order of a type that the engine does not know.
  const isOrdered = ({ output }: Plan['order'][number]): boolean =>
    sort.some(({ name }) => name === names[output]) ||
    !isOpaque(resolved.columnOf(underlying[output] as ColumnRef).type);
  return {
    ...rowsOf(rows, columns),
    output: { kind: 'rows', columns, search: null },
    having: null,
    order: orderBy(sort, columns, columns.length).filter(isOrdered),
    page: { ...resolved.page, cap: null },
  };
};

const planOptions = (resolved: Resolved, question: Visual<OptionsQuestion>): Plan => {
  const column = resolved.columnOf(question.column);
  const rows = planRowSet(resolved, metricTables(resolved), { kind: 'narrow', tables: [column.ref] });
  const output: Output = {
    kind: 'distinct',
    columns: [{ name: column.ref.columnName, expression: { kind: 'field', field: rows.fieldOf(column) } }],
    search: question.search === null || question.search === '' ? null : question.search,
  };
  return {
    ...rowsOf(rows, output.columns),
    output,
    having: null,
    order: [{ output: 0, direction: 'ASC' }],
    page: { cap: null, limit: resolved.page.limit, offset: 0 },
  };
};

/** The tables that the metric names; for a worksheet, every table that relationships reach. */
export const metricTables = ({ dimensions, measures, isWorksheet, datamart, from }: Resolved): readonly TableRef[] => [
  ...[...dimensions, ...measures].flatMap(({ column }) => (column === null ? [] : [column.ref])),
  ...measures.flatMap(({ custom = [] }) => custom.flatMap((part) => (typeof part === 'string' ? [] : [part.ref]))),
  ...(isWorksheet ? datamart.tables.filter((table) => isReachable(datamart, from, table)) : []),
];

/**
 * A leaf is marked where its rows are counted and an outer join may pad them, and numbered where joins repeat rows
 * that are aggregated.
 */
export const rowsOf = (
  { leaves, joins, tests, semiJoins, where, steps }: RowSet,
  columns: readonly OutputColumn[],
): Pick<Plan, 'leaves' | 'joins' | 'tests' | 'semiJoins' | 'where'> => {
  const isPadded = steps.some(({ kind }) => kind === 'RIGHT JOIN' || kind === 'FULL JOIN');
  const isMarked = (leaf: number): boolean =>
    isPadded && columns.some(({ expression }) => expression.kind === 'rowCount' && expression.leaf === leaf);
  const isNumbered = (leaf: number): boolean =>
    columns.some(({ expression }) => isAggregate(expression) && expression.once === leaf);
  return {
    leaves: leaves.map((leaf, index) => ({ ...leaf, isMarked: isMarked(index), isNumbered: isNumbered(index) })),
    joins,
    tests,
    semiJoins,
    where,
  };
};

const dimensionExpression = ({ column, grain, bucketWidth }: ResolvedDimension, rows: RowSet): Expression => {
  const field = rows.fieldOf(column);
  if (grain !== null) return { kind: 'grain', field, grain };
  return bucketWidth === null ? { kind: 'field', field } : { kind: 'bucket', field, width: bucketWidth };
};

/** Aggregates that repeated rows do not change. */
const repeatable: ReadonlySet<Aggregate> = new Set(['MIN', 'MAX', 'COUNT_DISTINCT']);

/** Whether a row may count in several of the groups: one of `dimensions` is of a table that has several rows to it. */
const isOverlapping = (
  { column }: ResolvedMeasure,
  dimensions: readonly ResolvedDimension[],
  root: TableRef,
  { steps }: RowSet,
): boolean =>
  spreadOver(steps, column === null ? root : column.ref).some((table) =>
    dimensions.some((dimension) => sameTable(dimension.column.ref, table)),
  );

/** A share and a running total add up the groups that differ in the dimensions outside of `within`. */
const withOverlap = (calculation: ResolvedCalculation, asked: Resolved, rows: RowSet): OutputColumn => {
  const { name, expression } = calculation;
  const { dimensions, measures, from } = asked;
  const measure = measures[expression.of - dimensions.length];
  const added = dimensions.filter((_, index) => !expression.within.includes(index));
  if (measure === undefined || expression.kind === 'previous') return calculation;
  if (!isOverlapping(measure, added, from, rows)) return calculation;
  return { name, expression: { ...expression, isOverlapping: true }, isOverlapping: true };
};

/** Where joins repeat the rows of the measure's table, each row counts once per group. */
const measureExpression = (measure: ResolvedMeasure, root: TableRef, rows: RowSet): Expression => {
  const { aggregate, column, indicator, fraction, custom } = measure;
  if (custom !== undefined) return customExpression(measure, custom, root, rows);
  const isRepeated =
    !repeatable.has(aggregate) && spreadOver(rows.steps, column === null ? root : column.ref).length > 0;
  if (column === null) return { kind: 'rowCount', leaf: 0, once: isRepeated ? 0 : null };
  const field = rows.fieldOf(column);
  return {
    kind: 'aggregate',
    aggregate,
    field,
    indicator,
    fraction,
    among: null,
    once: isRepeated ? field.leaf : null,
  };
};

/** A custom expression cannot skip repeated or padded rows, so such joins are refused. */
const customExpression = (
  { name, readCast = null }: ResolvedMeasure,
  template: Template<Column>,
  root: TableRef,
  rows: RowSet,
): Expression => {
  const columns = template.filter((part): part is Column => typeof part !== 'string');
  const tables = columns.length === 0 ? [root] : columns.map(({ ref }) => ref);
  const repeated = tables.find((table) => spreadOver(rows.steps, table).length > 0);
  if (repeated !== undefined) {
    refuseQuery(
      `Measure ${name} is an expression, and joins would repeat rows of ${qualifiedName(repeated)} in it; use columns of one table that no other repeats, or leave out what joins the others.`,
      'expression-fan-out',
    );
  }
  if (rows.steps.some(({ kind }) => kind === 'RIGHT JOIN' || kind === 'FULL JOIN')) {
    refuseQuery(
      `Measure ${name} is an expression, and a RIGHT or FULL JOIN would add rows without values to it; join its tables by LEFT JOIN or INNER JOIN.`,
      'expression-padded',
    );
  }
  return {
    kind: 'custom',
    template: template.map((part) => (typeof part === 'string' ? part : rows.fieldOf(part))),
    readCast,
    once: null,
  };
};

/** Columns that are not aggregated break ties, so the order is total. */
export const orderBy = (
  sort: readonly Sort[],
  columns: readonly Pick<OutputColumn, 'name'>[],
  tieBreakers: number,
): Plan['order'] => {
  const chosen = sort.map(({ name, direction }) => {
    const output = columns.findIndex((column) => column.name === name);
    if (output < 0 || (direction !== 'ASC' && direction !== 'DESC')) {
      refuseQuery(
        `The sort names an unknown column. Sort ASC or DESC by one of: ${columns.map((column) => column.name).join(', ')}.`,
        'sort-unknown',
      );
    }
    return { output, direction };
  });
  const rest = columns.slice(0, tieBreakers).map((_, output) => ({ output, direction: 'ASC' as const }));
  return [...chosen, ...rest.filter(({ output }) => !chosen.some((item) => item.output === output))];
};

const underlyingNames = (columns: readonly ColumnRef[]): readonly string[] =>
  columns.map((column) => {
    const isShared = (name: (ref: ColumnRef) => string): boolean =>
      columns.filter((other) => name(other) === name(column)).length > 1;
    const short = (ref: ColumnRef): string => ref.columnName;
    const longer = (ref: ColumnRef): string => `${ref.tableName}.${ref.columnName}`;
    if (!isShared(short)) return short(column);
    return isShared(longer) ? `${qualifiedName(column)}.${column.columnName}` : longer(column);
  });

const assertUnique = (names: readonly string[]): void => {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) refuseQuery(`The answer would have two columns named ${twice}; rename one.`, 'name-twice');
};
