/** What a refused push says of metrics, whose ids differ between the files and the service. */
import { expect, test } from 'vitest';
import { type Content, storedDashboard } from '../../src/cli/files/formats.js';
import type { DashboardStep } from '../../src/cli/files/plan.js';
import { inFileWords } from '../../src/cli/files/push.js';
import type { ChartType } from '../../src/model/dashboard/chart.js';
import { getDashboardContent } from '../../src/service/dashboards/contract/content.js';
import { definitionOf } from '../product/chart-metrics.js';

/** A dashboard of a service that gave its metrics ids of its own, and keeps those of the files as their origin. */
const copied = (...types: readonly ChartType[]): Content =>
  getDashboardContent.output.parse({
    _meta: { version: 3, dashboardId: 'charts', name: 'Charts' },
    data: {
      version: 3,
      layout: types.map((type, at) => ({ metricId: `own-${type}`, x: 0, y: at * 4, w: 6, h: 4 })),
      filters: [],
      gridMargin: [8, 8],
      metrics: types.map((type) => ({
        ...{ metricId: `own-${type}`, name: type, placement: 'METRIC', lineage: [`file-${type}`] },
        definition: definitionOf(type),
      })),
    },
    digest: '0'.repeat(64),
  });

test('names the metrics of a changed dashboard by the ids of its file', () => {
  const content = copied('bar', 'line');
  const value = storedDashboard('flights', content);
  const named = { kind: 'dashboard', name: 'flights/charts', file: 'charts.yaml', fields: [], value } as const;
  const changed: DashboardStep = { ...named, action: 'change', before: { value, content } };
  expect(inFileWords(changed, 'own-bar and own-line clash')).toBe('file-bar and file-line clash');
  const created: DashboardStep = { ...named, action: 'create' };
  expect(inFileWords(created, 'file-bar is refused')).toBe('file-bar is refused');
});
