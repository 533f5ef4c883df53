/** Turns a random case into a datamart and a question, restricted so that most cases have an answer. */

import type { ConditionTree, Dimension, Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { ColumnRef, Datamart, TableRef } from '../../src/model/datamart/datamart.js';
import { sameTable } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { columnRef, metric } from '../engine/world.js';
import type { ACase, AColumn, ATest, ATree, ColumnName } from './cases.js';
import { computedOf } from './computed.js';
import { type Dataset, numberOf, type TableName } from './dataset.js';
import type { Asked } from './evaluator.js';
import { stepsTo, Unanswerable } from './evaluator-joins.js';
import { martOf } from './marts.js';
import { isOfNumbers, isText, predicateOf } from './predicates.js';

export type Posed = {
  /** The datamart with tenancy over the shared database, and the one without tenancy over the tenant's own database. */
  readonly shared: Datamart;
  /** It has tenancy only where the ways between tables depend on which table is that of the clients. */
  readonly alone: Datamart;
  readonly clientId: string;
  readonly clientIdAlone: string;
  readonly asked: Asked;
  readonly option: ColumnRef;
  readonly search: string | null;
  /** Whether all declared cardinalities are true, so that repeated rows of a measure can be recognised. */
  readonly isTrue: boolean;
};

/** Returns a column that a test may name. The client master table has only few. */
const refIn = (
  { tables }: ACase,
  { table: index, column }: AColumn,
  near?: readonly TableName[],
): ColumnRef & { readonly column: ColumnName } => {
  const among = near ?? tables;
  const name = among[index % among.length] ?? 'orders';
  if (name !== 'clients') return { ...columnRef(`${name}.${column}`), column };
  return column === 'amount' || column === 'id' || column === 'ref' || column === 'weight' || column === 'price'
    ? { ...columnRef('clients.amount'), column: 'amount' }
    : { ...columnRef(`clients.${isText(column) ? 'name' : 'id'}`), column: 'label' };
};

const bare = ({ schemaName, tableName, columnName }: ColumnRef): ColumnRef => ({ schemaName, tableName, columnName });

export const conditionOf = (aCase: ACase, test: ATest, near?: readonly TableName[]): Condition => {
  const ref = refIn(aCase, test, near);
  return { column: bare(ref), predicate: predicateOf({ ...test, column: ref.column }) };
};

const treeOf = (aCase: ACase, tree: ATree, near: readonly TableName[]): ConditionTree => {
  if ('all' in tree) return { all: tree.all.map((item) => treeOf(aCase, item, near)) };
  if ('any' in tree) return { any: tree.any.map((item) => treeOf(aCase, item, near)) };
  return conditionOf(aCase, tree, near);
};

const dates: ReadonlySet<string> = new Set(['day', 'at', 'stamp', 'moment']);

/**
 * Returns the bucket. Float columns get no number of buckets, since the width could be one by which floats cannot be
 * divided exactly.
 */
const bucketOf = ({ bucket, isCounted }: ACase['dimensions'][number], column: string): Partial<Dimension> =>
  isCounted && column !== 'weight' ? { bucketCount: (bucket ?? 1) < 5 ? 3 : 7 } : { bucketWidth: bucket ?? 1 };

const dimensionOf = (
  aCase: ACase,
  at: ACase['dimensions'][number],
  index: number,
  near: readonly TableName[],
): Dimension => {
  const { column, ...ref } = refIn(aCase, at, near);
  const isBucketed = isOfNumbers(column) && at.bucket !== null;
  return {
    name: `by ${index}`,
    column: ref,
    ...(dates.has(column) && at.isGrained ? { grain: at.grain } : {}),
    ...(isBucketed ? bucketOf(at, column) : {}),
  };
};

const measureOf = (aCase: ACase, at: ACase['measures'][number], index: number, near: readonly TableName[]): Measure => {
  const name = `of ${index}`;
  if (at.aggregate === 'COUNT' && at.isOfRows) return { name, aggregate: 'COUNT' };
  const { column, ...ref } = refIn(aCase, at, near);
  const indicator = at.indicator === null ? null : predicateOf({ ...at.indicator, column });
  const isIndicated = indicator !== null && indicator.kind !== 'isNull' && indicator.kind !== 'isNotNull';
  const isNumeric = isOfNumbers(column) || isIndicated;
  const needsNumbers =
    at.aggregate === 'SUM' || at.aggregate === 'AVG' || at.aggregate === 'MEDIAN' || at.aggregate === 'PERCENTILE';
  const aggregate = needsNumbers && !isNumeric ? 'COUNT_DISTINCT' : at.aggregate;
  return {
    name,
    aggregate,
    column: ref,
    ...(isIndicated ? { indicator } : {}),
    ...(aggregate === 'PERCENTILE' ? { percentile: at.share } : {}),
  };
};

/**
 * Whether answers may be sorted by the measure. The last digit of sums of floats and averages of decimals depends on
 * the order of addition, so they must not decide the order.
 */
const isSortable = ({ aggregate, column }: Measure): boolean =>
  aggregate === 'COUNT' ||
  aggregate === 'COUNT_DISTINCT' ||
  aggregate === 'MIN' ||
  aggregate === 'MAX' ||
  (aggregate === 'SUM' && column?.columnName !== 'weight');

/** Returns the tables that are reachable from the first one, so that a case is refused only for its intended flaw. */
export const nearTables = (mart: Datamart, { tables, flaw }: ACase, from: TableName): readonly TableName[] =>
  flaw === 'wild'
    ? tables
    : [from, ...tables.filter((name) => name !== from)].filter((name) => {
        const ref: TableRef = columnRef(`${name}.id`);
        return sameTable(ref, columnRef(`${from}.id`)) || leads(mart, columnRef(`${from}.id`), ref);
      });

const leads = (mart: Datamart, from: TableRef, to: TableRef): boolean => {
  try {
    return stepsTo(mart, from, [to]).length > 0;
  } catch (cause) {
    if (cause instanceof Unanswerable) return false;
    throw cause;
  }
};

const definitionOf = (aCase: ACase, mart: Datamart): VisualDefinition => {
  const from = aCase.tables[aCase.from % aCase.tables.length] ?? 'orders';
  const near = nearTables(mart, aCase, from);
  const dimensions = aCase.dimensions.map((at, index) => dimensionOf(aCase, at, index, near));
  const measures = aCase.measures.map((at, index) => measureOf(aCase, at, index, near));
  const sortable = [...dimensions, ...measures.filter(isSortable)].map(({ name }) => name);
  const sort = aCase.sorts.flatMap(({ of, direction }) => {
    const name = sortable[of % Math.max(sortable.length, 1)];
    return name === undefined ? [] : [{ name, direction }];
  });
  const underlying = aCase.underlying.map((at) => bare(refIn(aCase, at, near)));
  return metric(from, {
    dimensions,
    measures: dimensions.length + measures.length === 0 ? [{ name: 'of 0', aggregate: 'COUNT' }] : measures,
    ...computedOf(aCase, dimensions, measures),
    ...(aCase.where !== null ? { where: treeOf(aCase, aCase.where, near) } : {}),
    sort: sort.filter(({ name }, index) => sort.findIndex((other) => other.name === name) === index),
    limit: aCase.cap,
    underlying: underlying.filter(
      (ref, index) =>
        underlying.findIndex((other) => other.tableName === ref.tableName && other.columnName === ref.columnName) ===
        index,
    ),
  });
};

/** The definition with its greatest groups alone and all others combined, as far as it may ask for that. */
const withOthers = (definition: VisualDefinition, { cap }: ACase): VisualDefinition => {
  const { having: _, measures: drawn, dimensions, sort, calculations = [], ...rest } = definition;
  const isRanked = drawn.some(isSortable);
  const measures = isRanked ? drawn : [...drawn, { name: `of ${drawn.length}`, aggregate: 'COUNT' } as const];
  const first = measures.find(isSortable)?.name ?? '';
  const isAdded = (name: string): boolean =>
    measures.some((measure) => measure.name === name && ['SUM', 'COUNT'].includes(measure.aggregate ?? ''));
  const kept = dimensions.slice(0, 2);
  const isShown = (name: string): boolean => name !== first && !dimensions.slice(2).some((gone) => gone.name === name);
  return {
    ...rest,
    ...{ dimensions: kept, measures, limit: Math.max(1, cap ?? 2), others: true },
    sort: [{ name: first, direction: 'DESC' }, ...sort.filter(({ name }) => isShown(name))],
    calculations: calculations.flatMap((one) =>
      one.kind === 'shareOfTotal' && isAdded(one.of) ? [{ ...one, within: [] }] : [],
    ),
  };
};

/** `hasFullJoin`: the database supports FULL JOIN. If not, FULL JOIN is used only rarely. */
export const pose = (dataset: Dataset, given: ACase, hasFullJoin: boolean): Posed => {
  const aCase: ACase =
    hasFullJoin || given.flaw === 'wild'
      ? given
      : {
          ...given,
          edges: given.edges.map((edge) => (edge.join === 'FULL JOIN' ? { ...edge, join: 'LEFT JOIN' } : edge)),
        };
  const alone = martOf(dataset, aCase, aCase.flaw === 'keys');
  const from = aCase.tables[aCase.from % aCase.tables.length] ?? 'orders';
  const near = nearTables(alone, aCase, from);
  const drawn = definitionOf(aCase, alone);
  const isOthers = aCase.isOthers && drawn.dimensions.length > 0;
  const definition = isOthers ? withOthers(drawn, aCase) : drawn;
  const conditions = aCase.conditions.map((test) => conditionOf(aCase, test, near));
  const option = refIn(aCase, aCase.option, near);
  const { isSortAsked, limit, offset, isWorksheet, flaw, isNumber, tenant } = aCase;
  const asked: Asked = {
    definition: isSortAsked && !isOthers ? { ...definition, sort: [] } : definition,
    conditions,
    isWorksheet,
    sort: isSortAsked ? definition.sort.slice(isOthers ? 1 : 0) : null,
    limit,
    offset,
  };
  const clientId = isNumber ? numberOf(tenant) : tenant;
  return {
    shared: martOf(dataset, aCase, true),
    alone,
    clientId,
    clientIdAlone: flaw === 'keys' ? clientId : 'None',
    asked,
    option: bare(option),
    search: isText(option.column) ? aCase.search : null,
    isTrue: flaw !== 'untrue',
  };
};
