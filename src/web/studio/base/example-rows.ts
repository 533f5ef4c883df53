/** Made-up rows of a metric, for people who may see no rows of tenants: the chart has its shape, and no number is true. */
import type { MetricDefinition } from '../../../model/dashboard/metric.js';
import type { GuestMetric } from '../../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../../model/query/engine.js';

const letters = ['A', 'B', 'C', 'D', 'E', 'F'];
const dayMs = 86_400_000;
/** So many days are between the values of a grain. Months are written as their first days. */
const stepOf: Readonly<Record<string, number>> = { day: 1, week: 7 };
const datesOf = (grain: string): readonly string[] =>
  Array.from({ length: 12 }, (_, index) => {
    const step = stepOf[grain];
    const at = step === undefined ? Date.UTC(2024, index, 1) : Date.UTC(2024, 0, 1) + index * step * dayMs;
    return new Date(at).toISOString().slice(0, 10);
  });

type Split = Pick<AnswerColumn, 'name' | 'dataType'> & { readonly values: readonly Cell[] };

const splitOf = (name: string, grain: string | undefined, most: number): Split => {
  if (grain === undefined)
    return { name, dataType: 'string', values: letters.slice(0, most).map((letter) => `${name} ${letter}`) };
  if (grain === 'hourOfDay') return { name, dataType: 'number', values: Array.from({ length: 24 }, (_, hour) => hour) };
  if (grain === 'dayOfWeek') return { name, dataType: 'number', values: [1, 2, 3, 4, 5, 6, 7] };
  return { name, dataType: 'date', values: datesOf(grain) };
};

const splitsOf = ({ dimensions }: MetricDefinition, { grains = {} }: GuestMetric['chart']): readonly Split[] =>
  dimensions.map(({ name }, index) => splitOf(name, grains[name], index === 0 ? 6 : 3));

type Row = Readonly<Record<string, Cell>>;

const crossed = (splits: readonly Split[]): readonly Row[] =>
  splits.reduce<readonly Row[]>(
    (rows, { name, values }) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );

/** The same rows for the same metric. */
export const exampleAnswer = (definition: MetricDefinition, { chart }: GuestMetric): MetricAnswer => {
  const splits = splitsOf(definition, chart);
  const whole = chart.format === 'percent' ? 100 : 1;
  const numberAt = (row: number, column: number): number => (40 + ((row * 37 + column * 53) % 61)) / whole;
  const rows = crossed(splits).map((row, index) => ({
    ...row,
    ...Object.fromEntries(chart.measures.map((name, column) => [name, numberAt(index, column)])),
  }));
  return {
    rows,
    columns: [
      ...splits.map(({ name, dataType }) => ({ name, dataType })),
      ...chart.measures.map((name) => ({ name, dataType: 'number' as const })),
    ],
    groupbyColumnList: splits.map(({ name }) => name),
    totalRecords: rows.length,
  };
};
