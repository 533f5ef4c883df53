/**
 * A hundred questions over the demo's data (flights of one airport in the first three months of 2001), each with a
 * definition that answers it. Another definition is right too if it has the same rows.
 */
import type { NewGuestDefinition } from '../../src/model/guest/metric.js';

export type Question = { readonly question: string; readonly definition: NewGuestDefinition };

type Dimension = NonNullable<NewGuestDefinition['dimensions']>[number];
type Measure = NonNullable<NewGuestDefinition['measures']>[number];
type Condition = Extract<NonNullable<NewGuestDefinition['where']>, { column: unknown }>;
type Predicate = Condition['predicate'];
type Parts = Omit<Partial<NewGuestDefinition>, 'from' | 'dimensions' | 'measures' | 'chart'>;

const flights = { schemaName: 'main', tableName: 'flights' };
const airports = { schemaName: 'main', tableName: 'airports' };
const [date, delay, distance, destination] = ['date', 'delay', 'distance', 'destination'].map((columnName) => ({
  ...flights,
  columnName,
}));
const [city, state, airport, country, latitude, longitude] = [
  'city',
  'state',
  'name',
  'country',
  'latitude',
  'longitude',
].map((columnName) => ({ ...airports, columnName }));
type Column = { readonly schemaName: string; readonly tableName: string; readonly columnName: string };
/** Every column of the lists above is there. */
const at = (column: Column | undefined): Column => {
  if (column === undefined) throw new Error('a column is missing');
  return column;
};

const count: Measure = { name: 'Flights', aggregate: 'COUNT' };
const of = (aggregate: Measure['aggregate'], column: Column | undefined, name: string): Measure => ({
  ...{ name, aggregate, column: at(column) },
});
const averageDelay = of('AVG', delay, 'Average delay');
const totalDelay = of('SUM', delay, 'Total delay');
const medianDelay = of('MEDIAN', delay, 'Median delay');
const worstDelay = of('MAX', delay, 'Longest delay');
const averageDistance = of('AVG', distance, 'Average distance');
const totalDistance = of('SUM', distance, 'Total distance');
const destinations = of('COUNT_DISTINCT', destination, 'Destinations');
const cities = of('COUNT_DISTINCT', city, 'Cities');
const states = of('COUNT_DISTINCT', state, 'States');
const isOver = (value: number): Predicate => ({ kind: 'compare', operator: '>', value });
const shareLate = (minutes: number): Measure => ({ ...of('AVG', delay, 'Share late'), indicator: isOver(minutes) });
const countLate = (minutes: number): Measure => ({ ...of('SUM', delay, 'Late flights'), indicator: isOver(minutes) });
const shareEarly: Measure = {
  ...of('AVG', delay, 'Share early'),
  indicator: { kind: 'compare', operator: '<', value: 0 },
};
const percentile = (part: number): Measure => ({ ...of('PERCENTILE', delay, 'Delay'), percentile: part });

const dimension = (name: string, column: Column | undefined, more: Partial<Dimension> = {}): Dimension => ({
  ...{ name, column: at(column), ...more },
});
const by = (grain: NonNullable<Dimension['grain']>): Dimension => dimension('When', date, { grain });
const byState = dimension('State', state);
const byCity = dimension('City', city);
const byAirport = dimension('Airport', airport);
const byCode = dimension('Destination', destination);

const only = (...conditions: readonly (readonly [Column | undefined, Predicate])[]): Parts => ({
  where: { all: conditions.map(([column, predicate]) => ({ column: at(column), predicate })) },
});
const is = (...values: readonly string[]): Predicate => ({ kind: 'oneOf', values });
const isNot = (...values: readonly string[]): Predicate => ({ kind: 'noneOf', values });
const within = (from: string, to: string): Predicate => ({ kind: 'range', from, to, toIsExclusive: true });
const between = (from: number, to: number): Predicate => ({ kind: 'range', from, to, toIsExclusive: false });
const top = (name: string, limit: number, direction: 'ASC' | 'DESC' = 'DESC'): Parts => ({
  ...{ sort: [{ name, direction }], limit },
});
const [january, february, march] = [
  within('2001-01-01', '2001-02-01'),
  within('2001-02-01', '2001-03-01'),
  within('2001-03-01', '2001-04-01'),
];

const metric = (
  type: NewGuestDefinition['chart']['type'],
  dimensions: readonly Dimension[],
  measures: readonly Measure[],
  parts: Parts = {},
): NewGuestDefinition => ({ chart: { type }, from: flights, dimensions, measures, ...parts });
const value = (measure: Measure, parts: Parts = {}) => metric('singleValue', [], [measure], parts);
const line = (grain: NonNullable<Dimension['grain']>, measure: Measure, parts: Parts = {}) =>
  metric('line', [by(grain)], [measure], parts);
const bar = (group: Dimension, measure: Measure, parts: Parts = {}) => metric('bar', [group], [measure], parts);

const asked: Readonly<Record<string, NewGuestDefinition>> = {
  // Single values
  'How many flights were there?': value(count),
  'How many flights left in January 2001?': value(count, only([date, january])),
  'How many flights left in February 2001?': value(count, only([date, february])),
  'How many flights left in March 2001?': value(count, only([date, march])),
  'What is the average delay?': value(averageDelay),
  'What is the median delay in minutes?': value(medianDelay),
  'What was the longest delay?': value(worstDelay),
  'What was the earliest arrival, as the smallest delay?': value(of('MIN', delay, 'Smallest delay')),
  'How many minutes were lost to delays in total?': value(totalDelay),
  'What share of flights was more than 15 minutes late?': value(shareLate(15)),
  'What share of flights was more than an hour late?': value(shareLate(60)),
  'How many flights were more than 30 minutes late?': value(countLate(30)),
  'What share of flights arrived early?': value(shareEarly),
  'What is the 90th percentile of delay?': value(percentile(0.9)),
  'What is the lower quartile of delay?': value(percentile(0.25)),
  'How far do flights go on average?': value(averageDistance),
  'How many miles were flown in total?': value(totalDistance),
  'What is the longest distance flown?': value(of('MAX', distance, 'Longest distance')),
  'What is the shortest distance flown?': value(of('MIN', distance, 'Shortest distance')),
  'How many different destinations are there?': value(destinations),
  'How many cities do we fly to?': value(cities),
  'How many states do we fly to?': value(states),
  'When did the first flight leave?': value(of('MIN', date, 'First departure')),
  'When did the latest flight leave?': value(of('MAX', date, 'Latest departure')),
  'How many flights went to California?': value(count, only([state, is('CA')])),
  'What is the average delay to New York state?': value(averageDelay, only([state, is('NY')])),
  'How many flights went farther than 1000 miles?': value(count, only([distance, isOver(1000)])),
  'What is the average delay of flights over 2000 miles?': value(averageDelay, only([distance, isOver(2000)])),
  'How many flights between 200 and 500 miles were there?': value(count, only([distance, between(200, 500)])),
  'How many flights to SFO were there?': value(count, only([destination, is('SFO')])),
  // Over time
  'Show flights a day': line('day', count),
  'Show flights by week': line('week', count),
  'Show flights by month': line('month', count),
  'How does the average delay develop by day?': line('day', averageDelay),
  'Average delay by week': line('week', averageDelay),
  'Average delay by month': line('month', averageDelay),
  'Share of flights over 15 minutes late, by week': line('week', shareLate(15)),
  'Share of flights over 15 minutes late, by day': line('day', shareLate(15)),
  'Total distance by week': line('week', totalDistance),
  'Number of destinations by month': line('month', destinations),
  'Flights to California by day': line('day', count, only([state, is('CA')])),
  'Average delay to Texas by week': line('week', averageDelay, only([state, is('TX')])),
  'Flights a day in February 2001': line('day', count, only([date, february])),
  'Median delay by day in March 2001': line('day', medianDelay, only([date, march])),
  'Longest delay of each day': line('day', worstDelay),
  'Flights by hour of the day': bar(by('hourOfDay'), count),
  'At which hour of the day are delays worst on average?': bar(by('hourOfDay'), averageDelay),
  'Flights by day of the week': bar(by('dayOfWeek'), count),
  'Average delay by day of the week': bar(by('dayOfWeek'), averageDelay),
  'Share more than 15 minutes late by hour of the day': bar(by('hourOfDay'), shareLate(15)),
  // By place
  'Flights by state': bar(byState, count),
  'Flights by city': bar(byCity, count),
  'Flights by destination airport name': bar(byAirport, count),
  'Flights by destination code': bar(byCode, count),
  'Average delay by state': bar(byState, averageDelay),
  'Average delay by destination code': bar(byCode, averageDelay),
  'Median delay by state': bar(byState, medianDelay),
  'Share over 15 minutes late by state': bar(byState, shareLate(15)),
  'Total distance by state': bar(byState, totalDistance),
  'Average distance by state': bar(byState, averageDistance),
  'Number of destinations by state': bar(byState, destinations),
  'Number of cities by state': bar(byState, cities),
  'The 10 states with the most flights': bar(byState, count, top('Flights', 10)),
  'The 5 cities with the most flights': bar(byCity, count, top('Flights', 5)),
  'Top 3 destinations by flights': bar(byCode, count, top('Flights', 3)),
  'The 5 states with the longest average delay': bar(byState, averageDelay, top('Average delay', 5)),
  'The 5 states with the most late minutes in total': bar(byState, totalDelay, top('Total delay', 5)),
  'The 10 cities with the most miles flown': bar(byCity, totalDistance, top('Total distance', 10)),
  'Flights by city in California': bar(byCity, count, only([state, is('CA')])),
  'Average delay by city in Texas': bar(byCity, averageDelay, only([state, is('TX')])),
  'Flights by state in January 2001': bar(byState, count, only([date, january])),
  'Flights by state, without California': bar(byState, count, only([state, isNot('CA')])),
  'Flights to California, Nevada and Arizona, by state': bar(byState, count, only([state, is('CA', 'NV', 'AZ')])),
  'Average delay by state for flights over 1000 miles': bar(byState, averageDelay, only([distance, isOver(1000)])),
  'How many flights over an hour late went to each state?': bar(byState, countLate(60)),
  'Flights by country': bar(dimension('Country', country), count),
  'Share of flights by state as a pie': metric('pie', [byState], [count]),
  'Each state’s share of all flights': metric('bar', [byState], [count], {
    calculations: [{ kind: 'shareOfTotal', name: 'Share', of: 'Flights' }],
  }),
  // Two groups
  'Flights by month and state': metric('stack', [by('month'), byState], [count]),
  'Average delay by day of week and hour of day': metric(
    'table',
    [by('dayOfWeek'), dimension('Hour', date, { grain: 'hourOfDay' })],
    [averageDelay],
  ),
  'Flights by state and city in a table': metric('table', [byState, byCity], [count]),
  'Average delay by month and state': metric('table', [by('month'), byState], [averageDelay]),
  'Flights by week for California and Texas': metric(
    'line',
    [by('week'), byState],
    [count],
    only([state, is('CA', 'TX')]),
  ),
  // Several measures
  'Flights and average delay by state': metric('table', [byState], [count, averageDelay]),
  'Flights and average delay by month': metric('table', [by('month')], [count, averageDelay]),
  'Average and median delay by state': metric('table', [byState], [averageDelay, medianDelay]),
  'Average distance and average delay by destination': metric('scatter', [byCode], [averageDistance, averageDelay]),
  'Flights, average delay and longest delay by city': metric('table', [byCity], [count, averageDelay, worstDelay]),
  'Flights and late flights over 15 minutes by day': metric('line', [by('day')], [count, countLate(15)]),
  // Distributions and sums
  'How are delays distributed? Use ranges of 10 minutes': metric(
    'histogram',
    [dimension('Delay', delay, { bucketWidth: 10 })],
    [count],
  ),
  'How are distances distributed in steps of 250 miles?': metric(
    'histogram',
    [dimension('Distance', distance, { bucketWidth: 250 })],
    [count],
  ),
  'Running total of flights by day': metric('line', [by('day')], [count], {
    calculations: [{ kind: 'runningTotal', name: 'So far', of: 'Flights' }],
  }),
  'Running total of miles by week': metric('line', [by('week')], [totalDistance], {
    calculations: [{ kind: 'runningTotal', name: 'So far', of: 'Total distance' }],
  }),
  'Change of flights from month to month': metric('table', [by('month')], [count], {
    calculations: [{ kind: 'previousPeriod', name: 'Change', of: 'Flights', result: 'change' }],
  }),
  // Places on the map
  'What is the northernmost latitude of a destination?': value(of('MAX', latitude, 'Latitude')),
  'What is the westernmost longitude of a destination?': value(of('MIN', longitude, 'Longitude')),
  'Flights to destinations north of 45 degrees': value(count, only([latitude, isOver(45)])),
  'Flights to destinations whose state is not known': value(count, only([state, { kind: 'isNull' }])),
  'Flights by city whose name begins with San': bar(byCity, count, only([city, { kind: 'like', pattern: 'San %' }])),
  'Average delay to Las Vegas by hour of the day': bar(by('hourOfDay'), averageDelay, only([city, is('Las Vegas')])),
};

export const questions: readonly Question[] = Object.entries(asked).map(([question, definition]) => ({
  ...{ question, definition },
}));
