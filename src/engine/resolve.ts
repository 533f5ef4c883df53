import type { ColumnRef, Datamart, TableRef } from '../domain/datamart.js';
import { findColumn, findTable } from '../domain/datamart.js';
import { isTimezone } from '../domain/date-range.js';
import { qualifiedName } from '../domain/embed.js';
import type { Condition } from '../domain/filter.js';
import type { Aggregate, AggregateMeasure, Dimension, Measure, TimeGrain, VisualDefinition } from '../domain/metric.js';
import type { MetricQuestion } from '../domain/ports.js';
import { type Catalog, columnName, columnsOf, typeOf } from './catalog.js';
import type { Column, PageOfRows } from './plan.js';
import { refuseQuery } from './refuse.js';
import { isNumeric, isTemporal } from './sql-type.js';
import { type Bound, type BoundPredicate, bindPredicate, bindScalar } from './values.js';

/** A question whose every name was found and whose every value was checked; what is left to decide is how to ask it. */
export type Resolved = {
  readonly datamart: Datamart;
  /** The columns that relationships join by are looked up when a path is chosen. */
  readonly columnOf: (ref: ColumnRef) => Column;
  readonly from: TableRef;
  /** All of the datamart's tables are joined, whatever the metric names. */
  readonly isWorksheet: boolean;
  readonly dimensions: readonly ResolvedDimension[];
  readonly measures: readonly ResolvedMeasure[];
  readonly conditions: readonly ResolvedCondition[];
  readonly page: PageOfRows;
};

export type ResolvedDimension = {
  readonly name: string;
  readonly column: Column;
  readonly grain: TimeGrain | null;
  readonly bucketWidth: Bound | null;
};
export type ResolvedMeasure = {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Null: the root's rows are counted. */
  readonly column: Column | null;
  readonly indicator: BoundPredicate | null;
};
export type ResolvedCondition = { readonly column: Column; readonly predicate: BoundPredicate };

/** Options have neither sort nor offset of their own. */
export type Question = Omit<MetricQuestion, 'sort' | 'offset' | 'definition'> & {
  readonly definition: VisualDefinition;
  readonly offset?: number;
};

/** Finds every name of the question in the datamart and the datasource. Throws METRIC_QUERY_ERROR with a mend. */
export const resolve = (question: Question, catalog: Catalog): Resolved => {
  const { datamart, definition } = question;
  const zone = question.timezone === null ? null : resolveZone(question.timezone);
  const columnOf = (ref: ColumnRef): Column => resolveColumn(ref, datamart, catalog, zone);
  assertTable(definition.from, datamart, catalog);
  assertKnown(definition);
  return {
    datamart,
    columnOf,
    from: definition.from,
    isWorksheet: question.joinModel === 'single',
    dimensions: definition.dimensions.map((dimension) => resolveDimension(dimension, columnOf)),
    measures: definition.measures.map((measure) => resolveMeasure(measure, columnOf)),
    conditions: question.conditions.map((condition) => resolveCondition(condition, columnOf)),
    page: {
      cap: assertCount(definition.limit, "The metric's limit"),
      limit: assertCount(question.limit, 'limit'),
      offset: assertCount(question.offset ?? 0, 'offset') ?? 0,
    },
  };
};

/** Nothing of a definition is passed over. */
const assertKnown = ({ where, having, calculations = [] }: VisualDefinition): void => {
  if (where === undefined && having === undefined && calculations.length === 0) return;
  refuseQuery(
    'This version of the engine does not know groups of conditions and calculations yet.',
    'part-unsupported',
  );
};

/** As Intl spells it, whatever the case it was given in. */
const resolveZone = (timezone: string): string =>
  isTimezone(timezone)
    ? new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
    : refuseQuery('The timezone is unknown; give an IANA name such as Europe/Berlin.', 'timezone-unknown');

const assertTable = (table: TableRef, datamart: Datamart, catalog: Catalog): void => {
  if (findTable(datamart, table) === undefined) {
    refuseQuery(
      `Table ${qualifiedName(table)} is not in datamart ${datamart.name}; add it there or correct the name (case counts).`,
      'table-not-in-datamart',
    );
  }
  if (columnsOf(catalog, table).size === 0) {
    refuseQuery(
      catalog.client === undefined
        ? `Table ${qualifiedName(table)} of datamart ${datamart.name} is not in its datasource; update the datamart.`
        : `Table ${qualifiedName(table)} of datamart ${datamart.name} is not in this client's database, or may not be read there; make it there, as the datasource's own database has it.`,
      'table-not-in-datasource',
    );
  }
};

const resolveColumn = (ref: ColumnRef, datamart: Datamart, catalog: Catalog, zone: string | null): Column => {
  assertTable(ref, datamart, catalog);
  const column = findColumn(datamart, ref);
  if (column === undefined) {
    return refuseQuery(
      `Column ${columnName(ref)} is not in datamart ${datamart.name}; add it there or correct the name (case counts).`,
      'column-not-in-datamart',
    );
  }
  if (column.isCustomColumn === true) {
    return refuseQuery(
      `Column ${columnName(ref)} is a custom column, and this version does not compute those yet; use a column of the datasource.`,
      'custom-column',
    );
  }
  const type = typeOf(catalog, ref);
  if (type === undefined) {
    return refuseQuery(
      catalog.client === undefined
        ? `Column ${columnName(ref)} of datamart ${datamart.name} is not in its datasource; update the datamart.`
        : `Column ${columnName(ref)} of datamart ${datamart.name} is not in this client's database; make it there, as the datasource's own database has it.`,
      'column-not-in-datasource',
    );
  }
  return { ref, type, zone: localZone(type.kind, column.isApplyTimezone, zone) };
};

/** An instant has no date or hour without a zone; a plain timestamp is stored in UTC where the datamart says so. */
const localZone = (kind: Column['type']['kind'], isApplyTimezone: boolean, zone: string | null): string | null => {
  if (kind === 'instant') return isApplyTimezone ? (zone ?? 'UTC') : 'UTC';
  return kind === 'timestamp' && isApplyTimezone ? zone : null;
};

const resolveDimension = (dimension: Dimension, columnOf: Resolved['columnOf']): ResolvedDimension => {
  const column = columnOf(dimension.column);
  const { name, grain, bucketWidth } = dimension;
  if (grain !== undefined && !isTemporal(column.type)) {
    refuseQuery(
      `Dimension ${name} has a time grain, but ${columnName(column.ref)} holds no dates.`,
      'grain-without-date',
    );
  }
  if (bucketWidth === undefined) return { name, column, grain: grain ?? null, bucketWidth: null };
  if (grain !== undefined || !isNumeric(column.type) || !Number.isFinite(bucketWidth) || bucketWidth <= 0) {
    refuseQuery(
      `Dimension ${name}: bucketWidth must be a number above 0, on a column of numbers, without a time grain.`,
      'bucket-invalid',
    );
  }
  const width = bindScalar(bucketWidth, { ref: column.ref, type: { kind: 'float', cast: 'DOUBLE' } });
  return { name, column, grain: null, bucketWidth: width };
};

const numericOnly: ReadonlySet<Aggregate> = new Set(['SUM', 'AVG']);

const resolveMeasure = (measure: Measure, columnOf: Resolved['columnOf']): ResolvedMeasure => {
  if (measure.aggregate === undefined) {
    return refuseQuery(
      `Measure ${measure.name} is an expression, which this version does not compute yet.`,
      'expression',
    );
  }
  return resolveAggregate(measure, columnOf);
};

const resolveAggregate = (measure: AggregateMeasure, columnOf: Resolved['columnOf']): ResolvedMeasure => {
  const { name, aggregate } = measure;
  if (measure.column === undefined) {
    if (aggregate !== 'COUNT' || measure.indicator !== undefined) {
      refuseQuery(`Measure ${name} needs a column; only a plain COUNT goes without.`, 'measure-without-column');
    }
    return { name, aggregate, column: null, indicator: null };
  }
  const column = columnOf(measure.column);
  if (measure.indicator !== undefined) {
    return { name, aggregate, column, indicator: resolveIndicator(measure, bindPredicate(measure.indicator, column)) };
  }
  const isSummable = isNumeric(column.type) || (aggregate === 'MEDIAN' && isTemporal(column.type));
  if ((numericOnly.has(aggregate) || aggregate === 'MEDIAN') && !isSummable) {
    refuseQuery(
      `Measure ${name}: ${aggregate} needs numbers, and ${columnName(column.ref)} holds none.`,
      'measure-type',
    );
  }
  return { name, aggregate, column, indicator: null };
};

/** NULL stays NULL in an indicator, so to ask it for NULL would always answer 0. */
const resolveIndicator = (measure: Measure, predicate: BoundPredicate): BoundPredicate =>
  predicate.kind === 'isNull' || predicate.kind === 'isNotNull'
    ? refuseQuery(
        `Measure ${measure.name}: an indicator passes NULL by, so it cannot ask for it; COUNT the column instead.`,
        'indicator-of-null',
      )
    : predicate;

const resolveCondition = (condition: Condition, columnOf: Resolved['columnOf']): ResolvedCondition => {
  const column = columnOf(condition.column);
  return { column, predicate: bindPredicate(condition.predicate, column) };
};

const assertCount = (count: number | null, what: string): number | null =>
  count === null || (Number.isSafeInteger(count) && count >= 0)
    ? count
    : refuseQuery(`${what} must be a whole number, 0 or above.`, 'count-invalid');
