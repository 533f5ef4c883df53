/** How a new metric writes the numbers and dates of its columns: as the model says of each. Pure. */
import type { Chart, MeasureNumbers, NamedDates } from '../dashboard/chart.js';
import type { Dimension, Measure, MeasureAggregate } from '../dashboard/metric.js';
import type { ColumnRef } from '../datamart/datamart.js';
import type { Field, GuestFields } from './fields.js';
import type { NewGuestDefinition } from './metric.js';

type Formats = Pick<Field, 'numbers' | 'dates'>;

/** A count of amounts is no amount. */
const counting: ReadonlySet<MeasureAggregate | undefined> = new Set(['COUNT', 'COUNT_DISTINCT']);

/** Without empty lists, which say nothing. */
const withLists = (
  { numbers: _, dates: __, ...chart }: Chart,
  numbers: readonly MeasureNumbers[] = [],
  dates: readonly NamedDates[] = [],
): Chart => ({
  ...chart,
  ...(numbers.length === 0 ? {} : { numbers }),
  ...(dates.length === 0 ? {} : { dates }),
});

/** The chart with the dates of a dimension written as its column says. What the chart says of it stays. */
export const withDimensionFormats = (chart: Chart, { name }: Pick<Dimension, 'name'>, { dates }: Formats): Chart =>
  dates === undefined || chart.dates?.some((one) => one.name === name)
    ? chart
    : withLists(chart, chart.numbers, [...(chart.dates ?? []), { name, ...dates }]);

const isSameNumbers = (a: MeasureNumbers, b: MeasureNumbers): boolean =>
  (['format', 'unit', 'currency', 'notation', 'decimals'] as const).every((part) => a[part] === b[part]);

const isSameDates = (a: NamedDates, b: NamedDates): boolean => a.style === b.style && a.precision === b.precision;

const withoutNumbers = (chart: Chart, { name }: Pick<Measure, 'name'>, { numbers }: Formats): Chart => {
  if (numbers == null) return chart;
  const ours: MeasureNumbers = { measure: name, ...numbers };
  const isOurs = (one: MeasureNumbers): boolean => one.measure === name && isSameNumbers(one, ours);
  return withLists(
    chart,
    chart.numbers?.filter((one) => !isOurs(one)),
    chart.dates,
  );
};

const withoutDates = (chart: Chart, { name }: Pick<Dimension, 'name'>, { dates }: Formats): Chart => {
  if (dates === undefined) return chart;
  const isOurs = (one: NamedDates): boolean => one.name === name && isSameDates(one, { name, ...dates });
  return withLists(
    chart,
    chart.numbers,
    chart.dates?.filter((one) => !isOurs(one)),
  );
};

/**
 * The chart with the values of a measure written as its column says. What the chart says of it stays, but a count does
 * not have the numbers of its column.
 */
export const withMeasureFormats = (chart: Chart, measure: Measure, field: Formats): Chart => {
  const { name, aggregate, indicator } = measure;
  const { numbers } = field;
  if (indicator !== undefined) return chart;
  if (counting.has(aggregate)) return withoutNumbers(chart, measure, field);
  const isSaid = numbers == null || chart.numbers?.some((one) => one.measure === name);
  const numbered = isSaid
    ? chart
    : withLists(chart, [...(chart.numbers ?? []), { measure: name, ...numbers }], chart.dates);
  return withDimensionFormats(numbered, measure, field);
};

const fieldOf = ({ tables }: GuestFields, { schemaName, tableName, columnName }: ColumnRef): Formats | undefined =>
  tables
    .find((table) => table.schemaName === schemaName && table.tableName === tableName)
    ?.fields.find((field) => field.columnName === columnName);

type Change<Part> = (chart: Chart, part: Part, field: Formats) => Chart;

const changed = (
  definition: NewGuestDefinition,
  fields: GuestFields,
  ofDimension: Change<Dimension>,
  ofMeasure: Change<Measure>,
): NewGuestDefinition => {
  const { dimensions = [], drillPath = [], measures = [] } = definition;
  const read = <Part extends { readonly column?: ColumnRef | undefined }>(
    before: Chart,
    parts: readonly Part[],
    change: Change<Part>,
  ): Chart =>
    parts.reduce((chart, part) => {
      const field = part.column && fieldOf(fields, part.column);
      return field === undefined ? chart : change(chart, part, field);
    }, before);
  const grouped = read(definition.chart, [...dimensions, ...drillPath], ofDimension);
  return { ...definition, chart: read(grouped, measures, ofMeasure) };
};

/** Returns the definition with the formats of its columns. */
export const withColumnFormats = (definition: NewGuestDefinition, fields: GuestFields): NewGuestDefinition =>
  changed(definition, fields, withDimensionFormats, withMeasureFormats);

/** Returns the definition without what `withColumnFormats` adds, so that its parts can be changed or removed. */
export const withoutColumnFormats = (definition: NewGuestDefinition, fields: GuestFields): NewGuestDefinition =>
  changed(definition, fields, withoutDates, (chart, measure, field) =>
    withoutDates(withoutNumbers(chart, measure, field), measure, field),
  );
