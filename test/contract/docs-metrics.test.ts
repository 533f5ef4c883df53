/** An import accepts the metrics in docs/reference/metrics.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importedData } from '../../src/contract/dashboard-versions.js';

const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);

test('both of them', () => {
  expect(examples).toHaveLength(2);
  for (const text of examples) {
    const metric = { metricId: 'm', name: 'M', lineage: [], placement: 'GALLERY', definition: JSON.parse(text) };
    const read = importedData.safeParse({ layout: [], filters: [], gridMargin: [], metrics: [metric] });
    expect(read.error?.issues).toBeUndefined();
  }
});
