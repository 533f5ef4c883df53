/** An import accepts the metrics in docs/reference/metrics.md and docs/reference/chart-gallery.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chartTypes } from '../../../src/model/dashboard/chart.js';
import { importedData } from '../../../src/service/dashboards/contract/versions.js';

test.each([
  ['metrics', 2],
  ['chart-gallery', chartTypes.length],
])('each metric in docs/reference/%s.md can be imported', (name, count) => {
  const page = readFileSync(new URL(`../../../docs/reference/${name}.md`, import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  expect(examples).toHaveLength(count);
  for (const text of examples) {
    const metric = { metricId: 'm', name: 'M', lineage: [], placement: 'GALLERY', definition: JSON.parse(text) };
    const read = importedData.safeParse({ layout: [], filters: [], gridMargin: [], metrics: [metric] });
    expect(read.error?.issues).toBeUndefined();
  }
});
