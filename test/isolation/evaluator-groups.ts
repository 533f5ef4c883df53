/** Groups joined rows, aggregates each group, and computes the calculations. */

import type {
  Aggregate,
  AggregateMeasure,
  Calculation,
  Dimension,
  HavingTree,
  Measure,
  VisualDefinition,
} from '../../src/model/dashboard/metric.js';
import type { TableRef } from '../../src/model/datamart/datamart.js';
import type { Period } from '../../src/model/filter/period.js';
import {
  columnKind,
  type Joined,
  type JoinedRows,
  positionIn,
  type Source,
  type StoredRow,
  valueIn,
} from './evaluator-joins.js';
import { add, divide, type Exact, exact, floor, multiply, one, parseExact, subtract, zero } from './exact.js';
import { microsOf, periodsBefore, timeOfMicros, truncate } from './times.js';
import { type ColumnKind, compareValues, isExact, keyOf, passes, type Value } from './values.js';

/** A row of the answer, by column name. */
export type Group = Readonly<Record<string, Value>>;

export const dimensionValue = (source: Source, row: StoredRow | null | undefined, dimension: Dimension): Value => {
  const value = valueIn(source, row, dimension.column);
  if (value === null) return null;
  if (dimension.grain !== undefined) return truncate(String(value), dimension.grain);
  if (dimension.bucketWidth === undefined || !isExact(value)) return value;
  const width = parseExact(String(dimension.bucketWidth));
  return multiply(floor(divide(value, width)), width);
};

export const groupRows = (
  source: Source,
  { dimensions, measures, from }: VisualDefinition,
  { tables, rows }: JoinedRows,
): readonly Group[] => {
  const groups = new Map<string, { readonly keys: readonly Value[]; readonly rows: Joined[] }>();
  if (dimensions.length === 0) groups.set('[]', { keys: [], rows: [] });
  for (const row of rows) {
    const keys = dimensions.map((dimension) =>
      dimensionValue(source, row[positionIn(tables, dimension.column)], dimension),
    );
    const key = JSON.stringify(keys.map(keyOf));
    const group = groups.get(key) ?? { keys, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ keys, rows: members }) =>
    Object.fromEntries([
      ...dimensions.map(({ name }, index): [string, Value] => [name, keys[index] ?? null]),
      ...measures.map((measure): [string, Value] => [measure.name, measureOf(source, measure, from, tables, members)]),
    ]),
  );
};

/** Returns a measure's value. Each row of the measure's own table counts once, even if joins repeat it. */
const measureOf = (
  source: Source,
  measure: Measure,
  from: TableRef,
  tables: readonly TableRef[],
  members: readonly Joined[],
): Value => {
  if (measure.aggregate === undefined || measure.aggregate === 'AGGREGATE')
    throw new TypeError('the evaluator reads no SQL');
  const position = positionIn(tables, measure.column ?? from);
  const own = new Set(members.map((row) => row[position] ?? null).filter((row) => row !== null));
  if (measure.column === undefined) return exact(BigInt(own.size));
  const { column } = measure;
  const values = [...own].map((row) => indicated(source, measure, valueIn(source, row, column)));
  return aggregateOf(
    measure.aggregate,
    values.filter((value) => value !== null),
    measure.percentile,
  );
};

const indicated = ({ mart }: Source, { indicator, column }: AggregateMeasure, value: Value): Value => {
  if (indicator === undefined || column === undefined || value === null) return value;
  return passes(indicator, value, columnKind(mart, column)) ? one : zero;
};

const exactly = (values: readonly Value[]): readonly Exact[] => values.filter(isExact);

/** Aggregates the values that are not NULL. */
const aggregateOf = (aggregate: Aggregate, values: readonly Value[], percentile: number | undefined): Value => {
  if (aggregate === 'COUNT') return exact(BigInt(values.length));
  if (aggregate === 'COUNT_DISTINCT') return exact(BigInt(new Set(values.map(keyOf)).size));
  const sorted = [...values].sort(compareValues);
  if (sorted.length === 0) return null;
  switch (aggregate) {
    case 'MIN':
      return sorted[0] ?? null;
    case 'MAX':
      return sorted.at(-1) ?? null;
    case 'SUM':
      return exactly(values).reduce(add, zero);
    case 'AVG':
      return divide(exactly(values).reduce(add, zero), exact(BigInt(values.length)));
    case 'MEDIAN':
      return betweenValues(sorted, exact(1n, 2n));
    case 'PERCENTILE':
      return betweenValues(sorted, parseExact(String(percentile)));
  }
};

/** Interpolates numbers as numbers, and times as times. */
const betweenValues = (sorted: readonly Value[], share: Exact): Value => {
  const times = sorted.filter((value) => typeof value === 'string');
  return times.length === 0
    ? between(exactly(sorted), share)
    : timeOfMicros(
        between(
          times.map((time) => exact(microsOf(time))),
          share,
        ),
      );
};

/** Interpolates linearly between two values. */
const between = (sorted: readonly Exact[], share: Exact): Exact => {
  const place = multiply(share, exact(BigInt(sorted.length - 1)));
  const index = Number(floor(place).n);
  const [low, high] = [sorted[index], sorted[index + 1]];
  if (low === undefined) throw new RangeError('no values');
  return high === undefined ? low : add(low, multiply(subtract(high, low), subtract(place, floor(place))));
};

export const stays = (group: Group, tree: HavingTree, kind: (measure: string) => ColumnKind): boolean => {
  if ('all' in tree) return tree.all.every((item) => stays(group, item, kind));
  if ('any' in tree) return tree.any.some((item) => stays(group, item, kind));
  return passes(tree.predicate, group[tree.measure] ?? null, kind(tree.measure));
};

const isAlike = (a: Group, b: Group, names: readonly string[]): boolean =>
  names.every((name) => keyOf(a[name] ?? null) === keyOf(b[name] ?? null));

const numbers = (groups: readonly Group[], name: string): readonly Exact[] =>
  groups.map((group) => group[name] ?? null).filter(isExact);

/** Returns a calculation's value for one group, given all groups that HAVING left. */
export const calculate = (
  calculation: Calculation,
  group: Group,
  groups: readonly Group[],
  { dimensions }: VisualDefinition,
): Value => {
  const own = group[calculation.of] ?? null;
  if (calculation.kind === 'shareOfTotal') {
    const total = numbers(
      groups.filter((other) => isAlike(group, other, calculation.within ?? [])),
      calculation.of,
    ).reduce(add, zero);
    return isExact(own) && total.n !== 0n ? divide(own, total) : null;
  }
  const along = dimensions.find(({ name }) => name === (calculation.along ?? dimensions[0]?.name));
  if (along === undefined) throw new RangeError('a calculation goes along no dimension');
  const rest = dimensions.filter((dimension) => dimension !== along).map(({ name }) => name);
  const line = groups.filter((other) => isAlike(group, other, rest));
  const here = group[along.name] ?? null;
  if (calculation.kind === 'runningTotal') {
    const upTo = line.filter((other) => compareNullsLast(other[along.name] ?? null, here) <= 0);
    const values = numbers(upTo, calculation.of);
    return values.length === 0 ? null : values.reduce(add, zero);
  }
  const earlier =
    here === null
      ? undefined
      : line.find(
          (other) => other[along.name] === periodsBefore(String(here), along.grain as Period, calculation.periods ?? 1),
        );
  const before = earlier?.[calculation.of] ?? null;
  if ((calculation.result ?? 'value') === 'value') return before;
  if (!isExact(own) || !isExact(before)) return null;
  const change = subtract(own, before);
  if (calculation.result === 'change') return change;
  return before.n === 0n ? null : divide(change, before);
};

export const compareNullsLast = (a: Value, b: Value): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compareValues(a, b);
};
