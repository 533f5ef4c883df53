/** What a chart may add up: values of groups combine only if the measure says how. */
import { expect, test } from 'vitest';
import type { Measure } from '../../src/model/dashboard/metric.js';
import { viewChart } from '../../src/service/guest/reads.js';
import { viewOf } from '../../src/web/editor/preview.js';
import { columnRef, metric } from '../engine/world.js';

const measure = (aggregate: NonNullable<Measure['aggregate']>): Measure => ({
  name: aggregate,
  aggregate,
  column: columnRef('sales.amount'),
});

// lightdash#5540: the total of distinct users of five months was 50, though the same ten came each month.
test('sums, counts and extremes combine, and averages and distinct counts never do', () => {
  const measures = (['SUM', 'COUNT', 'MIN', 'MAX', 'AVG', 'MEDIAN', 'COUNT_DISTINCT'] as const).map(measure);
  expect(viewChart(metric('sales', { measures })).combine).toEqual({
    SUM: 'sum',
    COUNT: 'sum',
    MIN: 'min',
    MAX: 'max',
  });
});

test('a draft in the editor combines as the saved metric does, shares of a total too', () => {
  const calculations = [{ kind: 'shareOfTotal', name: 'Share', of: 'SUM' } as const];
  const measures = [measure('SUM'), measure('AVG')];
  const draft = { chart: { type: 'table' } as const, dimensions: [], measures, calculations, comparison: null };
  const { combine } = viewChart(metric('sales', { measures, calculations }));
  expect([viewOf(draft, 'Sales').chart.combine, combine]).toEqual([combine, { SUM: 'sum', Share: 'sum' }]);
});
