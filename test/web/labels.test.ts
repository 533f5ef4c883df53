/** Labels are shown; what goes back to the service is the stored value. */
import { expect, test } from 'vitest';
import type { GuestMetric } from '../../src/model/guest/view.js';
import type { MetricAnswer } from '../../src/model/query/engine.js';
import { createFormat, titleOf } from '../../src/web/base/format.js';
import { plotOf } from '../../src/web/charts/model/plot.js';
import { pivotOf } from '../../src/web/charts/pivot.js';
import { markOf } from '../../src/web/elements/marks.js';
import { filterNotes } from '../../src/web/filters/filter-values.js';

const format = createFormat('en');
const state = {
  name: 'home_state',
  dataType: 'string' as const,
  label: 'Bundesstaat',
  valueLabels: { CA: 'Kalifornien' },
};
const sales = { name: 'sales', dataType: 'number' as const, label: 'Verkäufe' };
const answer: MetricAnswer = {
  rows: [
    { home_state: 'CA', sales: 2 },
    { home_state: 'constructor', sales: 1 },
    { home_state: null, sales: 1 },
  ],
  columns: [state, sales],
  groupbyColumnList: ['home_state'],
  totalRecords: 3,
};
const chart = { type: 'bar' as const, dimensions: ['home_state'], measures: ['sales'], isDrillable: true };
const metric: GuestMetric = { metricId: 'm', name: 'M', chart, filters: [] };

test('a chart shows labels on its axis and in its legend, and keeps the stored values for a drill', () => {
  const { points, series } = plotOf(answer, chart, format);
  expect(points.map(({ label }) => label)).toEqual(['Kalifornien', 'constructor', '(none)']);
  expect(points.map(({ value }) => value)).toEqual(['CA', 'constructor', null]);
  expect(series.map(({ name }) => name)).toEqual(['Verkäufe']);
});

test('a mark filters by the stored value, and is named by its label', () => {
  expect(markOf(metric, state, 'CA', format)).toEqual({
    filter: { metricId: 'm', columnName: 'home_state', value: 'CA' },
    label: 'Bundesstaat: Kalifornien',
  });
});

test('a pivot table shows labels', () => {
  const pivot = pivotOf(answer, { ...chart, type: 'pivotTable' }, format);
  expect(pivot.downNames).toEqual(['Bundesstaat']);
  expect(pivot.rows[0]?.labels).toEqual(['Kalifornien']);
});

test('a column without a label is named as before', () => {
  expect(titleOf({ name: 'home_state' })).toBe('Home state');
});

test('filters in words have the filter’s label, and labels of values that options had', () => {
  const filter = { name: 'State', label: 'Staat', dataType: 'string' as const, defaultValue: null };
  const labels = new Map([['State', new Map([['CA', 'Kalifornien']])]]);
  expect(filterNotes([filter], { State: ['CA', 'NV'] }, format, labels)).toEqual(['Staat: Kalifornien, NV']);
});
