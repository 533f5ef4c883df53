/**
 * A second, naive implementation of a metric's answer: rows in memory and nested loops, without SQL. It uses nothing of
 * the engine except the types of a question. It is slow but simple, so that a reader can verify it.
 */

import { type Sort, testsOf, type VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type ColumnRef, type Datamart, findColumn, type TableRef } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { roundWidth } from './buckets.js';
import { calculate, compareNullsLast, dimensionValue, type Group, groupRows, stays } from './evaluator-groups.js';
import {
  columnKind,
  isWholeColumn,
  type JoinedRows,
  joinAll,
  maybeSeveral,
  meets,
  positionIn,
  type Source,
  type Step,
  satisfies,
  stepsTo,
  theWay,
  Unanswerable,
  valueIn,
  waysBetween,
} from './evaluator-joins.js';
import { type ColumnKind, isExact, keyOf, type Value } from './values.js';

export type Asked = {
  readonly definition: VisualDefinition;
  readonly conditions: readonly Condition[];
  readonly isWorksheet: boolean;
  readonly sort: readonly Sort[] | null;
  readonly limit: number | null;
  readonly offset: number;
  /** Calculations without values, since they would add up groups that share rows. */
  readonly unadded?: ReadonlySet<string> | undefined;
};

/**
 * The rows in the order of the answer, their cells in the order of its columns. `total`: number of rows before limit
 * and offset.
 */
export type Expected = { readonly rows: readonly (readonly Value[])[]; readonly total: number };

export const metricTables = ({ definition, isWorksheet }: Asked, { mart }: Source): readonly TableRef[] => [
  ...definition.dimensions.map(({ column }) => column),
  ...definition.measures.flatMap(({ column }) => column ?? []),
  ...(isWorksheet ? mart.tables.filter((table) => waysBetween(mart, definition.from, table).length > 0) : []),
];

/** Returns the joined rows that pass all conditions. `extra`: tables in addition to the metric's own. */
const rowsOf = (
  source: Source,
  asked: Asked,
  extra: { readonly kind: 'narrow' | 'lookup'; readonly tables: readonly TableRef[] },
): JoinedRows => {
  const { from, where } = asked.definition;
  const own = stepsTo(source.mart, from, metricTables(asked, source));
  const more = stepsTo(source.mart, from, extra.tables).filter(
    ({ relationship }) => !own.some((step) => step.relationship === relationship),
  );
  if (extra.kind === 'lookup' && more.some(maybeSeveral)) throw new Unanswerable('fan-out');
  const added = more.map((step): Step => ({ ...step, kind: extra.kind === 'narrow' ? 'INNER JOIN' : 'LEFT JOIN' }));
  const joined = joinAll(source, from, [...own, ...added]);
  // A looked-up row may be missing, so a condition on its table tests whether a matching row exists.
  const tested = extra.kind === 'narrow' ? joined.tables : joined.tables.slice(0, own.length + 1);
  // Checks each path once in advance, since there may be no rows that would check it.
  for (const { column } of [...asked.conditions, ...testsOf(where)]) theWay(source.mart, from, column);
  const judged = { source, from, tables: joined.tables, tested };
  const rows = joined.rows.filter(
    (row) => meets(judged, row, asked.conditions) && (where === undefined || satisfies(judged, row, where)),
  );
  return { tables: joined.tables, rows };
};

const ordered = (rows: readonly Group[], sort: readonly Sort[]): readonly Group[] =>
  [...rows].sort((a, b) => {
    for (const { name, direction } of sort) {
      const [left, right] = [a[name] ?? null, b[name] ?? null];
      const sign = compareNullsLast(left, right);
      if (sign !== 0) return direction === 'DESC' && left !== null && right !== null ? -sign : sign;
    }
    return 0;
  });

const page = (
  rows: readonly Group[],
  names: readonly string[],
  { cap, limit, offset }: { cap: number | null; limit: number; offset: number },
): Expected => {
  const there = cap === null ? rows : rows.slice(0, cap);
  return {
    rows: there.slice(offset, offset + limit).map((row) => names.map((name) => row[name] ?? null)),
    total: there.length,
  };
};

const ascending = (names: readonly string[]): readonly Sort[] => names.map((name) => ({ name, direction: 'ASC' }));

/** Replaces a number of buckets by the width that fits the values in the rows. */
const fitted = (source: Source, definition: VisualDefinition, { tables, rows }: JoinedRows): VisualDefinition => ({
  ...definition,
  dimensions: definition.dimensions.map((dimension) => {
    if (dimension.bucketCount === undefined) return dimension;
    const position = positionIn(tables, dimension.column);
    const values = rows.map((row) => valueIn(source, row[position], dimension.column)).filter(isExact);
    const isWhole = isWholeColumn(source.mart, dimension.column);
    return { ...dimension, bucketWidth: roundWidth(values, dimension.bucketCount, isWhole) };
  }),
});

/** Returns the metric's answer. Throws Unanswerable. */
export const evaluate = (source: Source, asked: Asked): Expected => {
  const { definition } = asked;
  const { dimensions, measures, having, calculations = [] } = definition;
  const joined = rowsOf(source, asked, { kind: 'narrow', tables: [] });
  const whole = fitted(source, definition, joined);
  const [groups, combined] =
    definition.others === true ? withOthers(source, whole, joined) : [groupRows(source, whole, joined), []];
  const left = [...groups, ...combined].filter(
    (group) => having === undefined || stays(group, having, measureKind(source, definition)),
  );
  const calculated = (group: Group): Group => ({
    ...group,
    ...Object.fromEntries(
      calculations.map((item): [string, Value] => [
        item.name,
        asked.unadded?.has(item.name) === true ? null : calculate(item, group, left, definition),
      ]),
    ),
  });
  const names = [...dimensions, ...measures, ...calculations].map(({ name }) => name);
  const sort = [...chosenSort(source.mart, asked), ...ascending(dimensions.map(({ name }) => name))];
  const sorted = [groups, combined].flatMap((some) =>
    ordered(some.filter((group) => left.includes(group)).map(calculated), sort),
  );
  const cap = definition.others === true ? null : definition.limit;
  return page(sorted, names, { cap, limit: asked.limit ?? 10_000, offset: asked.offset });
};

/** The groups of the greatest values of the last dimension, and those of the rows with any other value. */
const withOthers = (
  source: Source,
  definition: VisualDefinition,
  joined: JoinedRows,
): readonly [readonly Group[], readonly Group[]] => {
  const last = definition.dimensions.at(-1);
  if (last === undefined) throw new TypeError('others of no dimension');
  const { name } = last;
  const ranked = ordered(groupRows(source, { ...definition, dimensions: [last] }, joined), [
    ...definition.sort.filter((one) => [last, ...definition.measures].some((ranked) => ranked.name === one.name)),
    ...ascending([name]),
  ]);
  const top = new Set(ranked.slice(0, definition.limit ?? 0).map((group) => keyOf(group[name] ?? null)));
  const position = positionIn(joined.tables, last.column);
  const isTop = (row: JoinedRows['rows'][number]): boolean =>
    top.has(keyOf(dimensionValue(source, row[position], last)));
  const rest = joined.rows.filter((row) => !isTop(row));
  const before = definition.dimensions.slice(0, -1);
  const groups = groupRows(source, definition, { ...joined, rows: joined.rows.filter(isTop) });
  if (rest.length === 0) return [groups, []];
  const combined = groupRows(source, { ...definition, dimensions: before }, { ...joined, rows: rest });
  return [groups, combined.map((group) => ({ ...group, [name]: null }))];
};

const chosenSort = (mart: Datamart, { sort, definition }: Asked): readonly Sort[] => {
  const chosen = sort ?? definition.sort;
  if (chosen.length > 0) return chosen;
  return definition.dimensions.flatMap(({ name, column }) => {
    const direction = findColumn(mart, column)?.defaultSort;
    return direction == null ? [] : [{ name, direction }];
  });
};

const measureKind =
  ({ mart }: Source, { measures }: VisualDefinition) =>
  (name: string): ColumnKind => {
    const measure = measures.find((candidate) => candidate.name === name);
    const isOfColumn = measure?.aggregate === 'SUM' || measure?.aggregate === 'MIN' || measure?.aggregate === 'MAX';
    if (measure?.column === undefined || !isOfColumn || measure.indicator !== undefined) return 'exact';
    return columnKind(mart, measure.column);
  };

/** Returns the joined rows with the definition's `underlying` columns. */
export const evaluateUnderlying = (source: Source, asked: Asked): Expected => {
  const { underlying } = asked.definition;
  const { tables, rows } = rowsOf(source, asked, { kind: 'lookup', tables: underlying });
  const names = underlying.map((_, index) => String(index));
  const shown = rows.map((row) =>
    Object.fromEntries(
      underlying.map((ref, index): [string, Value] => [
        String(index),
        valueIn(source, row[positionIn(tables, ref)], ref),
      ]),
    ),
  );
  return page(ordered(shown, ascending(names)), names, { cap: null, limit: asked.limit ?? 1000, offset: asked.offset });
};

/** Returns the distinct values of the column in the metric's rows, ascending, without NULL. */
export const evaluateOptions = (
  source: Source,
  asked: Asked,
  column: ColumnRef,
  search: string | null,
): readonly Value[] => {
  const { tables, rows } = rowsOf(source, asked, { kind: 'narrow', tables: [column] });
  const values = new Map(
    rows.map((row): [string, Value] => {
      const value = valueIn(source, row[positionIn(tables, column)], column);
      return [keyOf(value), value];
    }),
  );
  return [...values.values()]
    .filter(
      (value) => value !== null && (search === null || String(value).toLowerCase().includes(search.toLowerCase())),
    )
    .sort(compareNullsLast)
    .slice(0, asked.limit ?? 100);
};
