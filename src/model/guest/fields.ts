/** The fields that a guest may build a metric on. What is not listed here, an editor neither shows nor names. */

import { abilitiesOf } from '../dashboard/abilities.js';
import { type Aggregate, aggregates, type MeasureAggregate } from '../dashboard/metric.js';
import { isIdentifying, isMeasurement, wordsOf } from '../datamart/column-names.js';
import {
  type Cardinality,
  type ColumnNumbers,
  type Datamart,
  type DatamartColumn,
  type DatamartTable,
  isKeyColumn,
  isMeasureColumn,
  sameTable,
  type TableRef,
  tableKey,
  visibleDatamart,
} from '../datamart/datamart.js';
import { columnKind, type WireKind, wireKind } from '../datamart/datatypes.js';
import type { ColumnDates } from '../datamart/dates.js';
import { type JoinGroups, joinGroups } from '../datamart/join-groups.js';
import { writtenNumbers } from '../datamart/money.js';
import {
  type SemanticColumn,
  type SemanticLayer,
  type SemanticTable,
  viewSemanticTables,
} from '../datamart/semantic-layer.js';
import type { Condition } from '../filter/filter.js';
import type { Period } from '../filter/period.js';

export type GuestFields = {
  readonly tables: readonly FieldTable[];
  /** Joins between two of the tables. A pair of tables that has none may still be joined through a hidden table. */
  readonly relationships: readonly FieldRelationship[];
};

export type FieldTable = TableRef & {
  readonly label: string;
  readonly description: string | null;
  readonly synonyms: readonly string[];
  /** One metric may read tables of one group only. */
  readonly joinGroup: number;
  readonly fields: readonly Field[];
};

export type Field = {
  readonly columnName: string;
  readonly label: string;
  readonly description: string | null;
  readonly synonyms: readonly string[];
  /** Kind of the values. `other`: only the database knows. */
  readonly type: WireKind;
  readonly columnType: string | null;
  readonly isIdentifier: boolean;
  /** Whether it is a measure of the datamart, which is nothing but measured. */
  readonly isMeasure: boolean;
  /** Aggregates that fit the values. */
  readonly aggregates: readonly MeasureAggregate[];
  /** Those that a measure most likely means, best first. */
  readonly suggestedAggregates: readonly MeasureAggregate[];
  /** The grain by which its dates are grouped in new metrics. Undefined: by month. */
  readonly defaultGrain?: Period | undefined;
  /** How its numbers are written in new metrics. Null: plainly. */
  readonly numbers: ColumnNumbers | null;
  /**
   * The field of the same table that has the currency of each row's amount: measures of the amounts are grouped by it, or
   * filtered to one value. Undefined: its numbers add up.
   */
  readonly currencyColumn?: string | undefined;
  /** How its dates are written in new metrics. Undefined: as usual. */
  readonly dates?: ColumnDates | undefined;
};

export type FieldRelationship = {
  readonly parent: TableRef;
  readonly child: TableRef;
  /** As declared; null if it is not. Reads from parent to child. */
  readonly cardinality: Cardinality | null;
};

/** Where only the database knows the type, it refuses what does not fit. */
const aggregatesOf = (column: DatamartColumn): readonly Aggregate[] => {
  const kind = columnKind(column);
  if (kind === undefined) return column.isCustomColumn === true ? aggregates : ['COUNT'];
  return abilitiesOf[kind].aggregates;
};

/** Keys are counted, measurements have a mean, and other numbers may add up. */
const usual = (columnName: string, type: WireKind, isKey: boolean): readonly Aggregate[] => {
  const isNumber = type === 'integer' || type === 'number';
  if (isKey || (isNumber && isIdentifying(wordsOf(columnName)))) return ['COUNT_DISTINCT'];
  if (isNumber) return isMeasurement(columnName) ? ['AVG'] : ['SUM', 'AVG'];
  return type === 'text' || type === 'enum' || type === 'uuid' ? ['COUNT_DISTINCT'] : [];
};

/** The host's default first, where the host allows it for measures. An aggregate that does not fit, or needs a fraction, is no suggestion. */
const suggested = (
  { columnName, allowAggregate, defaultAggregation }: DatamartColumn,
  type: WireKind,
  isKey: boolean,
  fit: readonly Aggregate[],
): readonly Aggregate[] => {
  const own = allowAggregate === true ? defaultAggregation?.toUpperCase() : undefined;
  const wanted = [own, ...usual(columnName, type, isKey)];
  return fit
    .filter((one) => one !== 'PERCENTILE' && wanted.includes(one))
    .toSorted((a, b) => wanted.indexOf(a) - wanted.indexOf(b));
};

/** Undefined also where the guest is not shown the column. */
const currencyColumnOf = ({ columns }: DatamartTable, { numbers }: DatamartColumn): string | undefined => {
  const currency = numbers?.currency;
  if (typeof currency !== 'object' || !('column' in currency)) return undefined;
  const found = columns.find(({ columnName }) => columnName === currency.column);
  return found === undefined || found.mask !== undefined ? undefined : currency.column;
};

const fieldOf = (
  datamart: Datamart,
  table: DatamartTable,
  column: DatamartColumn,
  notes: SemanticColumn | undefined,
): Field => {
  const type = wireKind(columnKind(column));
  const isIdentifier = notes?.isIdentifier === true || notes?.columnType === 'Identifier';
  const isKey = isIdentifier || isKeyColumn(datamart, table, column.columnName);
  const isMeasure = isMeasureColumn(column);
  const fit = aggregatesOf(column);
  const currencyColumn = currencyColumnOf(table, column);
  const asItIs = ['AGGREGATE'] as const;
  return {
    columnName: column.columnName,
    label: column.label,
    description: notes?.description ?? null,
    synonyms: notes?.synonyms ?? [],
    type,
    columnType: notes?.columnType ?? null,
    isIdentifier,
    isMeasure,
    aggregates: isMeasure ? asItIs : fit,
    suggestedAggregates: isMeasure ? asItIs : suggested(column, type, isKey, fit),
    ...(column.defaultGrain == null || type !== 'date' ? {} : { defaultGrain: column.defaultGrain }),
    numbers: writtenNumbers(column.numbers),
    ...(currencyColumn === undefined ? {} : { currencyColumn }),
    ...(column.dates == null ? {} : { dates: column.dates }),
  };
};

/** What decides which tables a metric of the guest may start from. */
export type FieldScope = {
  readonly datamart: Datamart;
  /** Whether the rows of the table belong to clients in a declared way. Every query of another table is refused. */
  readonly isReadable: (table: DatamartTable) => boolean;
  readonly joinModel: 'single' | 'multi';
  /** Conditions that every metric of the guest on the dashboard has. */
  readonly conditions: readonly Condition[];
};

/** A condition whose table cannot be joined is refused; of a filter's columns, one in the metric's own table is enough. */
const takesAll = (table: TableRef, conditions: readonly Condition[], { isJoinable }: JoinGroups): boolean =>
  conditions.every(({ column, mappedTo = [] }) => {
    return mappedTo.some((other) => sameTable(other, table)) || isJoinable(table, column);
  });

/**
 * Numbers the groups in the order of the tables, so that the numbers do not tell of groups that are left out. A metric may
 * start from any table of a group and read any other.
 */
const numbered = (tables: readonly DatamartTable[], { isJoinable }: JoinGroups): readonly number[] => {
  const groups: DatamartTable[][] = [];
  return tables.map((table) => {
    const known = groups.findIndex((group) => group.every((one) => isJoinable(one, table) && isJoinable(table, one)));
    if (known < 0) return groups.push([table]) - 1;
    groups[known]?.push(table);
    return known;
  });
};

const tableRef = ({ schemaName, tableName }: TableRef): TableRef => ({ schemaName, tableName });

const viewTable = (
  datamart: Datamart,
  table: DatamartTable,
  notes: SemanticTable | undefined,
  joinGroup: number,
): FieldTable => {
  const columns = new Map(notes?.columns.map((column) => [column.columnName, column]));
  return {
    ...tableRef(table),
    label: table.label,
    description: notes?.description ?? null,
    synonyms: notes?.synonyms ?? [],
    joinGroup,
    fields: table.columns
      // A plain column that is only said to aggregate has nothing to be taken as it is.
      .filter((column) => column.isAggregate !== true || isMeasureColumn(column))
      .map((column) => fieldOf(datamart, table, column, columns.get(column.columnName))),
  };
};

/**
 * Returns the tables and fields that are not hidden and that queries of the guest may read. Names and columns of
 * relationships are left out, since hidden columns may be among them.
 */
export const guestFields = (scope: FieldScope, layer: SemanticLayer | undefined): GuestFields => {
  const { datamart, joinModel, conditions } = scope;
  const readable = new Set(datamart.tables.filter(scope.isReadable).map(tableKey));
  const isReadable = (table: TableRef): boolean => readable.has(tableKey(table));
  const groups = joinGroups(datamart, isReadable);
  const tables = visibleDatamart(datamart).tables.filter(
    (table) =>
      isReadable(table) && takesAll(table, conditions, groups) && (joinModel === 'multi' || groups.isWorksheet(table)),
  );
  const notes = viewSemanticTables({ tables }, layer);
  const numbers = numbered(tables, groups);
  const isListed = (ref: TableRef): boolean => tables.some((table) => sameTable(table, ref));
  return {
    tables: tables.map((table, index) => viewTable(datamart, table, notes[index], numbers[index] ?? 0)),
    relationships: groups.relationships
      .filter(({ parent, child }) => isListed(parent) && isListed(child))
      .map(({ parent, child, cardinality }) => ({ parent: tableRef(parent), child: tableRef(child), cardinality })),
  };
};
