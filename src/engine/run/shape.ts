import type { Aggregate } from '../../model/dashboard/metric.js';
import { isNotFinite, plainText } from '../../model/filter/exact-number.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import type { ResultTable } from '../connections/database.js';
import type { SqlKind } from '../dialect/sql-type.js';
import type { Expression, Output, OutputCurrency } from '../plan/plan.js';
import { isAggregate, isCalculated } from '../sql/expressions.js';
import type { RunResult } from './run.js';
import type { StreamBatch } from './stream.js';

type Shown = Pick<Output, 'columns'> & Pick<ResultTable, 'rows' | 'dataTypes'>;

/** The columns of the answer with their cells, without those that are left out. */
const shownOf = ({ columns }: Output, { rows, dataTypes }: Pick<ResultTable, 'rows' | 'dataTypes'>): Shown => {
  const kept = columns.flatMap(({ isLeftOut }, index) => (isLeftOut === true ? [] : [index]));
  if (kept.length === columns.length) return { columns, rows, dataTypes };
  return {
    columns: columns.filter(({ isLeftOut }) => isLeftOut !== true),
    rows: rows.map((row) => kept.map((index) => row[index] ?? null)),
    dataTypes: kept.map((index) => dataTypes[index] ?? 'string'),
  };
};

/** Rows as objects by column name. An answer without rows has no columns either, as the interface says. */
export const shape = (output: Output, result: RunResult, tenantCurrency: string | undefined): MetricAnswer => {
  const { total, isCut } = result;
  const { columns, rows, dataTypes } = shownOf(output, result);
  if (total === 0) return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
  const types = columns.map(({ expression }, index) => typeOf(expression) ?? dataTypes[index] ?? 'string');
  return {
    rows: rowsByName(
      columns.map(({ name }) => name),
      rows,
      types,
    ),
    columns: columns.map(({ name, isOverlapping, currency }, index) => ({
      ...{ name, dataType: types[index] ?? 'string' },
      ...(isOverlapping === true ? { isOverlapping } : {}),
      ...currencyPart(currency, tenantCurrency),
    })),
    groupbyColumnList: columns
      .filter(({ expression }) => !isAggregate(expression) && !isCalculated(expression))
      .map(({ name }) => name),
    totalRecords: total,
    ...(isCut === true ? { isTruncated: true } : {}),
    ...othersIn(output, result.rows),
  };
};

const currencyPart = (
  currency: OutputCurrency | undefined,
  tenantCurrency: string | undefined,
): Pick<AnswerColumn, 'currency' | 'currencyColumn'> => {
  if (currency === undefined) return {};
  if ('column' in currency) return { currencyColumn: currency.column };
  const code = 'code' in currency ? currency.code : tenantCurrency;
  return code === undefined ? {} : { currency: code };
};

/** The rows of all other values, which come last. */
const othersIn = ({ columns }: Output, rows: ResultTable['rows']): Pick<MetricAnswer, 'others'> => {
  const name = columns.find(({ expression }) => expression.kind === 'top')?.name;
  if (name === undefined) return {};
  const mark = columns.findIndex(({ expression }) => expression.kind === 'isOther');
  const count = rows.filter((row) => Number(row[mark]) === 1).length;
  return count === 0 ? {} : { others: { name, rows: count } };
};

/**
 * Whether the values of a column, as they are, are of another type than the catalog says. MySQL answers numbers for
 * booleans.
 */
export const hasOtherTypes = ({ columns }: Output, { dataTypes }: Pick<ResultTable, 'dataTypes'>): boolean =>
  columns.some(({ expression }, index) => {
    const shown = expression.kind === 'top' ? expression.of : expression;
    const said = shown.kind === 'field' ? typeOf(shown) : undefined;
    const found = dataTypes[index];
    return said !== undefined && found !== undefined && said !== found && !(said === 'boolean' && found === 'number');
  });

type Named = MetricAnswer['rows'];

/**
 * The rows as objects. The numbers of a column are all text if one of them is. Assigning properties takes a third of the
 * time of Object.fromEntries, but cannot set `__proto__`.
 */
export const rowsByName = (
  names: readonly string[],
  rows: ResultTable['rows'],
  types: ResultTable['dataTypes'],
): Named => {
  const written = types.map((type, index) => (type === 'number' && hasText(rows, index) ? 'text' : type));
  const cell = (row: readonly Cell[], index: number): Cell => cellAs(written[index], row[index] ?? null);
  if (names.includes('__proto__')) {
    return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, cell(row, index)])));
  }
  return rows.map((row) => {
    const named: Record<string, Cell> = {};
    for (const [index, name] of names.entries()) named[name] = cell(row, index);
    return named;
  });
};

/** A batch as arrays of cells, always with its columns. */
export const shapeBatch = (output: Output, result: ResultTable, tenantCurrency: string | undefined): StreamBatch => {
  const { columns, rows, dataTypes } = shownOf(output, result);
  const types = columns.map(({ expression }, index) => typeOf(expression) ?? dataTypes[index] ?? 'string');
  return {
    columns: columns.map(({ name, currency }, index) => ({
      ...{ name, dataType: types[index] ?? 'string' },
      ...currencyPart(currency, tenantCurrency),
    })),
    rows: rows.map((row) => row.map((cell, index) => cellAs(types[index], cell))),
    ...othersIn(output, result.rows),
  };
};

/** Whether the column has a number that JSON would round. Then all its numbers are text, so that they are of one type. */
const hasText = (rows: ResultTable['rows'], index: number): boolean =>
  rows.some((row) => typeof row[index] === 'string' && !isNotFinite(row[index]));

/** MySQL answers 1 for true. */
const cellAs = (type: AnswerColumn['dataType'] | 'text' | undefined, cell: Cell): Cell => {
  if (typeof cell !== 'number') return cell;
  if (type === 'boolean') return cell !== 0;
  return type === 'text' ? plainText(cell) : cell;
};

const dataTypes: Readonly<Record<SqlKind, AnswerColumn['dataType'] | undefined>> = {
  text: 'string',
  enum: 'string',
  uuid: 'string',
  integer: 'number',
  decimal: 'number',
  float: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date',
  instant: 'date',
  json: undefined,
  other: undefined,
};

/**
 * The answer's type by the catalog, so the same data has the same type on every database; undefined: as the database
 * says.
 */
const typeOf = (expression: Expression): AnswerColumn['dataType'] | undefined => {
  switch (expression.kind) {
    case 'field':
      return dataTypes[expression.field.column.type.kind];
    case 'grain':
      return expression.grain === 'hourOfDay' || expression.grain === 'dayOfWeek' ? 'number' : 'date';
    case 'top':
      return typeOf(expression.of);
    case 'aggregate':
      return aggregateType(expression);
    case 'custom':
      return undefined;
    default:
      return 'number';
  }
};

const valued: ReadonlySet<Aggregate> = new Set(['MIN', 'MAX', 'MEDIAN', 'PERCENTILE']);

const aggregateType = ({
  aggregate,
  indicator,
  field,
}: Extract<Expression, { kind: 'aggregate' }>): AnswerColumn['dataType'] | undefined => {
  const isValue = valued.has(aggregate);
  return isValue && indicator === null ? dataTypes[field.column.type.kind] : 'number';
};
