import { describe, expect, test } from 'vitest';
import { drill } from '../../src/domain/drill.js';
import type { Dimension, MetricDefinition } from '../../src/domain/metric.js';
import { Refusal } from '../../src/domain/refusal.js';

const dimension = (name: string, extra: Partial<Dimension> = {}): Dimension => ({
  name,
  column: { schemaName: 'main', tableName: 'flights', columnName: name.toLowerCase() },
  ...extra,
});

const definition: MetricDefinition = {
  kind: 'visual',
  chart: { type: 'bar' },
  from: { schemaName: 'main', tableName: 'flights' },
  dimensions: [dimension('State')],
  measures: [{ name: 'Flights', aggregate: 'COUNT' }],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [dimension('City'), dimension('Day', { grain: 'day' })],
  sort: [{ name: 'State', direction: 'ASC' }],
  limit: 5,
};

describe('a drill', () => {
  test('adds <dimension> = <value> for each click and moves on to the next dimension', () => {
    const { definition: shown, conditions } = drill(definition, [
      { columnName: 'State', value: 'CA' },
      { columnName: 'City', value: 'Fresno' },
    ]);
    expect(shown.dimensions.map(({ name }) => name)).toEqual(['Day']);
    expect([shown.sort, shown.limit]).toEqual([[], null]);
    expect(conditions).toEqual([
      { column: dimension('State').column, predicate: { kind: 'compare', operator: '=', value: 'CA' } },
      { column: dimension('City').column, predicate: { kind: 'compare', operator: '=', value: 'Fresno' } },
    ]);
  });

  test('into the rows without a value asks for those', () => {
    expect(drill(definition, [{ columnName: 'State', value: null }]).conditions[0]?.predicate).toEqual({
      kind: 'isNull',
    });
  });

  test('no click leaves the metric as it is', () => {
    expect(drill(definition, [])).toEqual({ definition, conditions: [] });
  });

  test.each([
    ['a column that is not on show', [{ columnName: 'origin', value: 'LAX' }]],
    [
      'a dimension that was left',
      [
        { columnName: 'State', value: 'CA' },
        { columnName: 'State', value: 'CA' },
      ],
    ],
    [
      'beyond the path',
      [
        { columnName: 'State', value: 'CA' },
        { columnName: 'City', value: 'x' },
        { columnName: 'Day', value: 'x' },
      ],
    ],
    ['a name of the prototype', [{ columnName: 'constructor', value: 'x' }]],
  ])('%s is refused', (_, clicks) => {
    expect(() => drill(definition, clicks)).toThrow(Refusal);
  });
});
