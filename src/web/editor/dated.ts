/** The columns of a draft that show dates, and how their dates are written. Pure. */
import type { TimeGrain } from '../../model/dashboard/metric.js';
import { type ColumnDates, type DateStyle, datePrecisions, dateStyles } from '../../model/datamart/dates.js';
import type { Format } from '../base/format.js';
import type { Choice } from '../base/options.js';
import { type Catalogue, findField } from './catalogue.js';
import type { Draft } from './draft.js';
import { isPeriod, measureType } from './fitting.js';

export type DatedColumn = { readonly name: string; readonly grain: TimeGrain | undefined };

/** Whether a date of this grain is written as a date: a quarter is named, and what recurs has no date. */
const isWritten = (grain: TimeGrain | undefined): boolean =>
  grain === undefined || (isPeriod(grain) && grain !== 'quarter');

/** The dimensions, also those that a drill leads to, and the measures that are dates. */
export const datedColumns = (
  { dimensions, drillPath, measures }: Draft,
  catalogue: Catalogue,
): readonly DatedColumn[] => [
  ...[...dimensions, ...drillPath].flatMap(({ name, column, grain }) =>
    findField(catalogue, column)?.type === 'date' && isWritten(grain) ? [{ name, grain }] : [],
  ),
  ...measures.flatMap((measure) => {
    const field = measure.column && findField(catalogue, measure.column);
    return field !== undefined && measureType(measure, field) === 'date'
      ? [{ name: measure.name, grain: undefined }]
      : [];
  }),
];

/** The draft with dates of one column written so; without style and precision, as usual. */
export const withDates = (draft: Draft, name: string, { style, precision }: ColumnDates): Draft => {
  const { dates: before = [], ...chart } = draft.chart;
  const others = before.filter((one) => one.name !== name);
  const parts = { ...(style === undefined ? {} : { style }), ...(precision === undefined ? {} : { precision }) };
  const dates = Object.keys(parts).length === 0 ? others : [...others, { name, ...parts }];
  return { ...draft, chart: dates.length === 0 ? chart : { ...chart, dates } };
};

/** The thirteenth: no reader takes the day for the month. */
export const sampleDate = '2026-02-13T14:05:09';

/** The styles by examples, the usual one first and without a value. */
export const styleChoices = (
  { grain }: DatedColumn,
  { precision = 'day' }: ColumnDates,
  format: Format,
): readonly Choice[] => {
  const write = (style?: DateStyle): string => format.dimension(sampleDate, 'date', grain, { style, precision });
  const others = dateStyles.map((style) => [style, write(style)] as const);
  const usual = write();
  return [['', usual], ...others.filter(([, label]) => label !== usual)];
};

/** The precisions by examples. The first one, without a value, is that of each date. */
export const precisionChoices = ({ style }: ColumnDates, format: Format): readonly Choice[] => [
  ['', format.text('Time if there is one')],
  ...datePrecisions.map(
    (precision) => [precision, format.dimension(sampleDate, 'date', undefined, { style, precision })] as const,
  ),
];
