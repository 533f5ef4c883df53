import type { Aggregate, AggregateMeasure, HavingTree, Measure } from '../../model/dashboard/metric.js';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { expressionKey, isWritten } from '../custom/computed.js';
import type { Custom } from '../custom/read-custom.js';
import { columnName } from '../dialect/catalog.js';
import type { Column } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import { isNumeric, isReadAsText, isTemporal, otherType, type SqlType } from '../dialect/sql-type.js';
import type { Template } from '../parsing/sql-parser.js';
import type { Having } from '../plan/plan.js';
import { type BoundPredicate, bindPredicate } from '../plan/values.js';

export type ResolvedMeasure = {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Null: counts the root's rows. */
  readonly column: Column | null;
  readonly indicator: BoundPredicate | null;
  /** The fraction of MEDIAN and PERCENTILE, from 0 to 1. */
  readonly fraction: number | null;
  /** A custom expression of aggregates, which replaces the fields above. */
  readonly custom?: Template<Column> | undefined;
  readonly isHidden?: true | undefined;
  /** The type that the values of the expression are cast to. */
  readonly readCast?: string | null | undefined;
};

type ColumnOf = (ref: ColumnRef) => Column;
/** Computed over the values of a column. */
type Computed = AggregateMeasure & { readonly aggregate: Aggregate };

/** Throws METRIC_QUERY_ERROR where the column's type cannot be aggregated this way. */
export const resolveMeasure = (
  measure: Measure,
  columnOf: ColumnOf,
  { expressions, casts }: Pick<Custom, 'expressions' | 'casts'>,
): ResolvedMeasure => {
  const { aggregate } = measure;
  if (aggregate !== undefined && aggregate !== 'AGGREGATE')
    return resolveAggregate({ ...measure, aggregate }, columnOf);
  if (!isWritten(measure)) throw new TypeError('a measure of an unknown kind');
  const key = expressionKey(measure);
  const template = expressions.get(key);
  if (template === undefined) throw new TypeError('an expression that was not read');
  const custom = template.map((part) => (typeof part === 'string' ? part : columnOf(part)));
  const readCast = casts.get(key) ?? null;
  return { name: measure.name, aggregate: 'COUNT', column: null, indicator: null, fraction: null, custom, readCast };
};

const percentiles: ReadonlySet<Aggregate> = new Set(['MEDIAN', 'PERCENTILE']);
const numericOnly: ReadonlySet<Aggregate> = new Set(['SUM', 'AVG']);

const resolveAggregate = (measure: Computed, columnOf: ColumnOf): ResolvedMeasure => {
  const { name, aggregate } = measure;
  const fraction = fractionOf(measure);
  if (measure.column === undefined) {
    if (aggregate !== 'COUNT' || measure.indicator !== undefined) {
      refuseQuery(`Measure ${name} needs a column; only a plain COUNT goes without.`, 'measure-without-column');
    }
    return { name, aggregate, column: null, indicator: null, fraction };
  }
  const column = columnOf(measure.column);
  if (measure.indicator !== undefined) {
    const indicator = resolveIndicator(measure, bindPredicate(measure.indicator, column));
    return { name, aggregate, column, indicator, fraction };
  }
  const isSummable = isNumeric(column.type) || (percentiles.has(aggregate) && isTemporal(column.type));
  if ((numericOnly.has(aggregate) || percentiles.has(aggregate)) && !isSummable) {
    refuseQuery(
      `Measure ${name}: ${aggregate} needs numbers, and ${columnName(column.ref)} holds none.`,
      'measure-type',
    );
  }
  return { name, aggregate, column, indicator: null, fraction };
};

const fractionOf = ({ name, aggregate, percentile }: Computed): number | null => {
  if (aggregate === 'MEDIAN') return 0.5;
  if (aggregate !== 'PERCENTILE') return null;
  return percentile !== undefined && percentile >= 0 && percentile <= 1
    ? percentile
    : refuseQuery(`Measure ${name}: PERCENTILE needs "percentile", a number from 0 to 1.`, 'percentile-invalid');
};

/** An indicator of a NULL value is NULL, so an indicator that tests for NULL would always answer 0. */
const resolveIndicator = (measure: Measure, predicate: BoundPredicate): BoundPredicate =>
  predicate.kind === 'isNull' || predicate.kind === 'isNotNull'
    ? refuseQuery(
        `Measure ${measure.name}: an indicator ignores NULL, so it cannot test for NULL. COUNT the column instead.`,
        'indicator-of-null',
      )
    : predicate;

const whole: SqlType = { kind: 'integer', cast: 'BIGINT' };
/** Wider than any column, so a compared value keeps its own digits. */
const exact: SqlType = { kind: 'decimal', cast: 'DECIMAL(38,0)' };
const double: SqlType = { kind: 'float', cast: 'DOUBLE' };

/** The type of the measure's values, the same on every database. */
export const measureType = ({ aggregate, column, indicator, custom }: ResolvedMeasure): SqlType => {
  if (custom !== undefined) return exact;
  if (column === null || aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT') return whole;
  if (indicator !== null || aggregate === 'AVG') return double;
  const { type } = column;
  if (percentiles.has(aggregate)) return isTemporal(type) ? { kind: 'timestamp', cast: 'TIMESTAMP' } : double;
  if (aggregate !== 'SUM') return isReadAsText(type) ? otherType : type;
  return type.kind === 'float' ? double : exact;
};

/** Resolves conditions on measures. `first` is the position of the first measure among the output columns. */
export const resolveHaving = (tree: HavingTree, measures: readonly ResolvedMeasure[], first: number): Having => {
  if (!('measure' in tree)) {
    const [kind, items] = 'all' in tree ? (['all', tree.all] as const) : (['any', tree.any] as const);
    if (items.length === 0) {
      refuseQuery("A group of the metric's having has no condition. Add one, or remove the group.", 'group-empty');
    }
    return { kind, items: items.map((item) => resolveHaving(item, measures, first)) };
  }
  const index = measures.findIndex(({ name }) => name === tree.measure);
  const measure = measures[index];
  if (measure === undefined || tree.predicate.kind === 'inQuery') {
    return refuseQuery(
      `having must compare a measure of the metric with values. Its measures are: ${measures.map(({ name }) => name).join(', ')}.`,
      'having-unknown',
    );
  }
  const type = measureType(measure);
  const predicate = bindPredicate(tree.predicate, { name: `Measure ${measure.name}`, type });
  return { kind: 'test', output: first + index, type, predicate };
};
