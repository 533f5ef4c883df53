/** Groups that keep the currencies of a new metric apart, so that an editor and an assistant need not run into a refusal. Pure. */
import type { ConditionTree, Dimension, Measure } from '../dashboard/metric.js';
import { demanded, onlyValue } from '../dashboard/only-value.js';
import { type ColumnRef, sameColumn, sameTable } from '../datamart/datamart.js';
import type { Field, GuestFields } from './fields.js';
import type { NewGuestDefinition } from './metric.js';

type Grouped = {
  readonly dimensions: readonly Dimension[];
  readonly measures: readonly Pick<Measure, 'column' | 'aggregate' | 'indicator'>[];
  readonly where?: ConditionTree | undefined;
};

const fieldAt = ({ tables }: GuestFields, ref: ColumnRef): Field | undefined =>
  tables.find((table) => sameTable(table, ref))?.fields.find(({ columnName }) => columnName === ref.columnName);

const isWhole = ({ grain, bucketWidth, bucketCount }: Dimension): boolean =>
  grain === undefined && bucketWidth === undefined && bucketCount === undefined;

/** The columns of currencies that the measures combine: the metric is neither grouped by them nor filtered to one value. */
const mixedIn = (fields: GuestFields, { dimensions, measures, where }: Grouped): readonly ColumnRef[] =>
  measures.flatMap(({ column, aggregate, indicator }) => {
    const isCounted = aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT' || indicator !== undefined;
    const currencyColumn = column && fieldAt(fields, column)?.currencyColumn;
    if (column === undefined || currencyColumn === undefined || isCounted) return [];
    const { schemaName, tableName } = column;
    const ref = { schemaName, tableName, columnName: currencyColumn };
    const isGrouped = dimensions.some((one) => sameColumn(one.column, ref) && isWhole(one));
    const isOne = demanded(where).some((one) => sameColumn(one.column, ref) && onlyValue(one) !== undefined);
    return isGrouped || isOne ? [] : [ref];
  });

/** The groups that are missing, the last of a metric. `freeName`: the name of a group that no other part has. */
export const missingCurrencies = (
  fields: GuestFields,
  grouped: Grouped,
  freeName: (title: string) => string,
): readonly Dimension[] => {
  const [column, ...others] = mixedIn(fields, grouped);
  if (column === undefined) return [];
  const label = fieldAt(fields, column)?.label ?? '';
  const dimension = { name: freeName(label === '' ? column.columnName : label), column };
  const dimensions = [...grouped.dimensions, dimension];
  return others.length === 0
    ? [dimension]
    : [dimension, ...missingCurrencies(fields, { ...grouped, dimensions }, freeName)];
};

/** The definition with the groups that are missing. */
export const withCurrencyGroups = (fields: GuestFields, definition: NewGuestDefinition): NewGuestDefinition => {
  const { dimensions = [], measures = [], where } = definition;
  const taken = new Set([...dimensions, ...measures].map(({ name }) => name));
  const freeName = (title: string): string => (taken.has(title) ? freeName(`${title} 2`) : title);
  const missing = missingCurrencies(fields, { dimensions, measures, where }, freeName);
  return missing.length === 0 ? definition : { ...definition, dimensions: [...dimensions, ...missing] };
};
