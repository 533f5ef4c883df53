/** What a card shows after a drill: the type that fits the next dimension, and a title that names it. Pure. */
import type { ChartType } from '../../model/dashboard/chart.js';
import type { TimeGrain } from '../../model/dashboard/metric.js';
import type { AnswerColumn } from '../../model/query/engine.js';
import { type Format, titleOf } from '../base/format.js';

/** Hours of the day and days of the week are names in an order, not moments. */
const isMoment = ({ dataType }: AnswerColumn, grain: TimeGrain | undefined): boolean =>
  dataType === 'date' && grain !== 'hourOfDay' && grain !== 'dayOfWeek';

/** Charts of names and parts, and charts over time. A drill leads to one dimension, so that flows have no second. */
const ofNames: ReadonlySet<ChartType> = new Set(['bar', 'row', 'stack', 'pie', 'doughnut', 'funnel']);
const overTime: ReadonlySet<ChartType> = new Set(['line', 'stepped', 'area', 'timeSeries']);
const ofOwnAxis: ReadonlySet<ChartType> = new Set(['histogram', 'waterfall', 'sankey']);

/** The type that draws the dimension that a drill has led to. All other types stay. */
export const drilledType = (type: ChartType, column: AnswerColumn, grain: TimeGrain | undefined): ChartType => {
  if (isMoment(column, grain)) return ofNames.has(type) || ofOwnAxis.has(type) ? 'line' : type;
  return overTime.has(type) || ofOwnAxis.has(type) ? 'bar' : type;
};

/** “Flights by Day”. */
export const drilledTitle = (
  dimension: AnswerColumn,
  measures: readonly AnswerColumn[],
  { text, language }: Format,
): string => {
  const name = new Intl.ListFormat(language, { type: 'conjunction' }).format(measures.map(titleOf));
  return text('{name} by {group}', { name, group: titleOf(dimension) });
};
