/** Whether the groups of a metric have amounts of several currencies, which one limit cannot be compared with. Pure. */
import { namesColumn } from '../datamart/column-rules.js';
import { type ColumnRef, type Datamart, findColumn, sameColumn } from '../datamart/datamart.js';
import { type Currency, currencyOf } from '../datamart/money.js';
import type { Measure, MetricDefinition } from './metric.js';
import { demanded, onlyValue } from './only-value.js';

type Row = Extract<Currency, { readonly kind: 'row' }>;

/** The columns whose amounts the text of an expression names. */
const namedIn = (text: string, datamart: Datamart): readonly Currency[] =>
  datamart.tables.flatMap((table) =>
    table.columns.flatMap(({ columnName }) =>
      namesColumn(text, { columnName }) ? (currencyOf(datamart, { ...table, columnName }) ?? []) : [],
    ),
  );

const currenciesOf = (
  { column, expression, aggregate, indicator }: Measure,
  datamart: Datamart,
): readonly Currency[] => {
  if (expression !== undefined) return namedIn(expression, datamart);
  const isCounted = aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT' || indicator !== undefined;
  if (column === undefined || isCounted) return [];
  const own = currencyOf(datamart, column);
  if (own !== undefined) return [own];
  const { sql, isCustomColumn } = findColumn(datamart, column) ?? {};
  return isCustomColumn === true && sql !== undefined ? namedIn(sql, datamart) : [];
};

/**
 * The dimension by which the amounts of a measure or calculation are of several currencies: the metric is grouped by it,
 * and its conditions leave more than one value. Undefined: there is none, or the metric is in SQL.
 */
export const currencyDimension = (
  definition: MetricDefinition,
  name: string,
  datamart: Datamart,
): string | undefined => {
  if (definition.kind === 'sql') return undefined;
  const { measures, calculations = [], dimensions, where } = definition;
  const calculation = calculations.find((one) => one.name === name);
  if (calculation?.kind === 'shareOfTotal') return undefined;
  const measure = measures.find((one) => one.name === (calculation?.of ?? name));
  const rows = (measure === undefined ? [] : currenciesOf(measure, datamart)).filter(
    (currency): currency is Row => currency.kind === 'row',
  );
  const isOne = (ref: ColumnRef): boolean =>
    demanded(where).some((one) => sameColumn(one.column, ref) && onlyValue(one) !== undefined);
  return dimensions.find(({ column }) => rows.some(({ ref }) => sameColumn(ref, column)) && !isOne(column))?.name;
};
