/** What the editor says, in the reader's language. */
import type { Aggregate, MeasureAggregate, TimeGrain } from '../../model/dashboard/metric.js';
import type { Text } from '../../model/texts/text.js';
import type { ChartNeed } from './charts.js';

const aggregateWords: Readonly<Record<Aggregate, (text: Text) => string>> = {
  SUM: (text) => text('Total'),
  AVG: (text) => text('Average'),
  MIN: (text) => text('Minimum'),
  MAX: (text) => text('Maximum'),
  COUNT: (text) => text('Count'),
  COUNT_DISTINCT: (text) => text('Distinct values'),
  MEDIAN: (text) => text('Median'),
  PERCENTILE: (text) => text('Median'),
};
export const aggregateName = (aggregate: Aggregate, text: Text): string => aggregateWords[aggregate](text);

/** Without PERCENTILE, which needs a fraction, and without AGGREGATE, which is no choice. */
export const offeredAggregates = (all: readonly MeasureAggregate[]): readonly Aggregate[] =>
  all.flatMap((aggregate) => (aggregate === 'PERCENTILE' || aggregate === 'AGGREGATE' ? [] : [aggregate]));

const grainWords = {
  hour: (text: Text) => text('Hour'),
  day: (text: Text) => text('Day'),
  week: (text: Text) => text('Week'),
  month: (text: Text) => text('Month'),
  quarter: (text: Text) => text('Quarter'),
  year: (text: Text) => text('Year'),
  dayOfWeek: (text: Text) => text('Day of week'),
  hourOfDay: (text: Text) => text('Hour of day'),
} as const satisfies Partial<Record<TimeGrain, (text: Text) => string>>;
type OfferedGrain = keyof typeof grainWords;
export const offeredGrains = Object.keys(grainWords) as readonly OfferedGrain[];
export const grainName = (grain: OfferedGrain, text: Text): string => grainWords[grain](text);

const needWords: Readonly<Record<ChartNeed['code'], (text: Text, count: number) => string>> = {
  'more-measures': (text, count) => text('Measures needed: {count}', { count }),
  'fewer-measures': (text, count) => text('Measures, at most: {count}', { count }),
  'more-groups': (text, count) => text('Fields to split by needed: {count}', { count }),
  'fewer-groups': (text, count) => text('Fields to split by, at most: {count}', { count }),
  'date-first': (text) => text('Needs a date to split by'),
  'buckets-first': (text) => text('Needs ranges of numbers to split by'),
  numbers: (text) => text('Needs measures that are numbers'),
};
export const needText = ({ code, count }: ChartNeed, text: Text): string => needWords[code](text, count);
