/** A dashboard with one metric of each chart type, over the real flights, in the format of an export. */
import { type ChartType, chartTypes } from '../../src/model/dashboard/chart.js';

type Json = Readonly<Record<string, unknown>>;

const column = (tableName: string, columnName: string): Json => ({ schemaName: 'main', tableName, columnName });
const date = (name: string, grain: string): Json => ({ name, column: column('flights', 'date'), grain });
const state: Json = { name: 'State', column: column('airports', 'state') };
const city: Json = { name: 'City', column: column('airports', 'city') };
const airport: Json = { name: 'Airport', column: column('airports', 'name') };
const flights: Json = { name: 'Flights', aggregate: 'COUNT' };
const delay: Json = { name: 'Average delay', aggregate: 'AVG', column: column('flights', 'delay') };
const distance: Json = { name: 'Average distance', aggregate: 'AVG', column: column('flights', 'distance') };
const total: Json = { name: 'Total delay', aggregate: 'SUM', column: column('flights', 'delay') };
const quantile = (name: string, percentile: number): Json => ({
  name,
  aggregate: 'PERCENTILE',
  column: column('flights', 'delay'),
  percentile,
});
const late: Json = {
  name: 'Share late',
  aggregate: 'AVG',
  column: column('flights', 'delay'),
  indicator: { kind: 'compare', operator: '>', value: 15 },
};
/** A value has one colour in all charts that name its dimension alike, and the first chart that is drawn chooses it. */
const named = (name: string, dimension: Json): Json => ({ ...dimension, name });
const descending = (name: string): Json => ({ sort: [{ name, direction: 'DESC' }] });
const ascending = (...names: readonly string[]): Json => ({ sort: names.map((name) => ({ name, direction: 'ASC' })) });

type Parts = { readonly dimensions: readonly Json[]; readonly measures: readonly Json[] } & Json;

const parts: Readonly<Record<ChartType, Parts>> = {
  line: { dimensions: [date('Day', 'day')], measures: [flights], ...ascending('Day') },
  stepped: { dimensions: [date('Week', 'week')], measures: [flights], ...ascending('Week') },
  bar: { dimensions: [airport], measures: [delay], ...descending('Average delay'), limit: 15, chart: { unit: 'min' } },
  stack: { dimensions: [date('Month', 'month'), state], measures: [flights], ...ascending('Month') },
  histogram: {
    dimensions: [{ name: 'Distance in miles', column: column('flights', 'distance'), bucketWidth: 250 }],
    measures: [flights],
    ...ascending('Distance in miles'),
  },
  bubble: { dimensions: [state], measures: [distance, delay, flights] },
  scatter: { dimensions: [airport], measures: [distance, delay] },
  row: { dimensions: [date('Day of the week', 'dayOfWeek')], measures: [flights], ...ascending('Day of the week') },
  area: { dimensions: [date('Month', 'month'), state], measures: [flights], ...ascending('Month') },
  combo: {
    dimensions: [date('Month', 'month')],
    measures: [flights, late],
    ...ascending('Month'),
    chart: {
      series: [
        { measure: 'Flights', type: 'bar' },
        { measure: 'Share late', type: 'line', axis: 'right' },
      ],
    },
  },
  pie: { dimensions: [named('Destination state', state)], measures: [flights], ...descending('Flights') },
  doughnut: { dimensions: [named('Destination state', state)], measures: [flights], ...descending('Flights') },
  waterfall: { dimensions: [date('Month', 'month')], measures: [total], ...ascending('Month'), chart: { unit: 'min' } },
  funnel: {
    dimensions: [named('Destination state', state)],
    measures: [flights],
    ...descending('Flights'),
    limit: 6,
  },
  gauge: {
    dimensions: [],
    measures: [late],
    chart: { format: 'percent', range: { min: 0, max: 0.5, target: 0.2 } },
  },
  sankey: {
    dimensions: [date('Quarter', 'quarter'), named('Destination', state)],
    measures: [flights],
    ...ascending('Quarter'),
  },
  singleValue: { dimensions: [], measures: [flights] },
  boxplot: {
    dimensions: [date('Day of the week', 'dayOfWeek')],
    measures: [
      quantile('Least', 0.05),
      quantile('Lower quartile', 0.25),
      quantile('Median', 0.5),
      quantile('Upper quartile', 0.75),
      quantile('Most', 0.95),
    ],
    ...ascending('Day of the week'),
    chart: { unit: 'min' },
  },
  table: { dimensions: [airport, state], measures: [flights, delay], ...descending('Flights') },
  timeSeries: { dimensions: [date('Day', 'day')], measures: [flights, total], ...ascending('Day') },
  pivotTable: {
    dimensions: [state, city, date('Quarter', 'quarter')],
    measures: [flights, delay],
    ...ascending('State', 'City'),
    chart: { across: ['Quarter'] },
  },
};

/** The definition of the metric of that type. */
export const definitionOf = (type: ChartType): Json => definitionFrom(type, parts[type]);

const definitionFrom = (type: ChartType, from: Parts): Json => {
  const { chart = {}, dimensions, measures, sort = [], limit = null, ...rest } = from;
  return {
    kind: 'visual',
    chart: { type, ...(chart as Json) },
    from: { schemaName: 'main', tableName: 'flights' },
    dimensions,
    measures,
    sort,
    limit,
    underlying: [],
    drillPath: [],
    ...rest,
  };
};

const metricOf = (name: string, definition: Json): Json => ({
  metricId: `chart-${name}`,
  name: `The ${name}`,
  lineage: [],
  placement: 'METRIC',
  definition,
});

const dashboardOf = (definitions: Readonly<Record<string, Json>>): Json => ({
  layout: Object.keys(definitions).map((name, at) => ({
    metricId: `chart-${name}`,
    x: (at % 2) * 6,
    y: Math.floor(at / 2) * 4,
    w: 6,
    h: 4,
  })),
  filters: [],
  gridMargin: [],
  metrics: Object.entries(definitions).map(([name, definition]) => metricOf(name, definition)),
  version: 2,
});

const typed = Object.fromEntries(chartTypes.map((type) => [type, definitionOf(type)]));

/** Charts that are no type of their own. */
export const variants: Readonly<Record<string, Json>> = {
  panels: definitionFrom('line', {
    dimensions: [date('Month', 'month')],
    measures: [flights, delay, late],
    ...ascending('Month'),
  }),
};

export const chartsDashboard: Json = dashboardOf(typed);

/** The charts of which a picture is stored. */
export const picturesDashboard: Json = dashboardOf({ ...typed, ...variants });
