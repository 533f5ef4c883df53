/** What a metric must be like to combine all but its greatest groups, and what its faults tell the author to change. */
import { describe, expect, it } from 'vitest';
import { definitionFaults } from '../../src/model/dashboard/definition.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { drill } from '../../src/model/query/drill.js';
import { columnRef, datamart, metric, table } from '../engine/world.js';

const mart = datamart({ tables: [table('sales', { country: 'VARCHAR', kind: 'VARCHAR', amount: 'BIGINT' })] });
const country = { name: 'country', column: columnRef('sales.country') };
const kind = { name: 'kind', column: columnRef('sales.kind') };
const total = { name: 'total', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
const whole = metric('sales', {
  chart: { type: 'bar' },
  ...{ dimensions: [country], measures: [total], limit: 5, others: true },
  sort: [{ name: 'total', direction: 'DESC' }],
});
const faults = (parts: Partial<VisualDefinition>) => definitionFaults({ ...whole, ...parts }, mart);

describe('others of a metric', () => {
  it('may be asked for beside a limit and a measure that sorts downwards', () => {
    for (const type of ['bar', 'row', 'stack', 'pie', 'doughnut', 'table'] as const) {
      expect(faults({ chart: { type } })).toEqual([]);
    }
    expect(faults({ chart: { type: 'stack' }, dimensions: [country, kind] })).toEqual([]);
    expect(faults({ calculations: [{ kind: 'shareOfTotal', name: 'share', of: 'total' }] })).toEqual([]);
    expect(faults({ others: false, limit: null, sort: [], chart: { type: 'line' } })).toEqual([]);
  });

  it.each<[string, Partial<VisualDefinition>, string]>([
    ['no limit', { limit: null }, 'set limit'],
    ['no sort', { sort: [] }, 'sort by a measure'],
    ['an ascending sort', { sort: [{ name: 'total', direction: 'ASC' }] }, 'sort by a measure'],
    ['a sort by a dimension', { sort: [{ name: 'country', direction: 'DESC' }] }, 'sort by a measure'],
    ['no dimension', { dimensions: [] }, 'group by one dimension'],
    ['a condition on groups', { having: { measure: 'total', predicate: { kind: 'isNotNull' } } }, 'remove having'],
    ['a comparison', { comparison: { column: kind.column, grain: 'year', periods: 1 } }, 'remove the comparison'],
    [
      'a running total',
      { calculations: [{ kind: 'runningTotal', name: 'so far', of: 'total' }] },
      'remove calculation "so far"',
    ],
    ['a pivot table', { chart: { type: 'pivotTable' } }, 'pivotTable has no place'],
    ['a line', { chart: { type: 'line' } }, 'choose a chart of type bar'],
  ])('tell the author what to change with %s', (_, parts, expected) => {
    const found = faults(parts).filter((fault) => fault.startsWith('others: '));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it('are left out after a drill, whose groups have no limit', () => {
    const drilled = drill({ ...whole, drillPath: [kind] }, [{ columnName: 'country', value: 'DE' }]);
    expect(drilled.definition).toMatchObject({ limit: null, dimensions: [kind] });
    expect(definitionFaults(drilled.definition, mart)).toEqual([]);
  });
});
