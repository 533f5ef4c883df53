import { expect, test } from 'vitest';
import { contentFaults } from '../../src/model/dashboard/content.js';
import { columnRef, datamart, metric, table } from '../engine/world.js';

const mart = datamart({ tables: [table('sales', { seller: 'VARCHAR', buyer: 'VARCHAR' })] });

test.each([
  [['seller', 'Seller'], ['buyer', 'Buyer'], []],
  [['seller', 'Region'], ['region', 'Buyer'], ['region']],
  [['seller', 'Region'], ['buyer', 'REGION'], ['REGION']],
  [['region', 'Seller'], ['REGION', 'Buyer'], ['REGION']],
])('filters %j and %j share %j: a value by that key would restrict only one of them', (first, second, shared) => {
  const filters = [first, second].map(([name = '', label = ''], index) => ({
    name,
    label,
    column: columnRef(index === 0 ? 'sales.seller' : 'sales.buyer'),
    dataType: 'string' as const,
  }));
  const definition = metric('sales', { measures: [{ name: 'Sales', aggregate: 'COUNT' }], filters });
  const content = {
    layout: [],
    filters: [],
    gridMargin: [],
    metrics: [{ metricId: 'm', name: 'M', definition, lineage: [], placement: 'METRIC' as const }],
  };
  expect(contentFaults(content, [mart])).toEqual(
    shared.map((name) => `metrics["m"]: filters[1]: two filters have the name or label "${name}"`),
  );
});
