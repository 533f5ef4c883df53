import { describe, expect, test } from 'vitest';
import type { Dimension, MetricDefinition } from '../../src/model/dashboard/metric.js';
import { drill } from '../../src/model/query/drill.js';
import { Refusal } from '../../src/model/refusal.js';

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

  const clicked = (extra: Partial<Dimension>, value: string | number | boolean | null) =>
    drill({ ...definition, dimensions: [dimension('At', extra)] }, [{ columnName: 'At', value }]).conditions[0]
      ?.predicate;
  const range = (from: string | number, to: string | number | null) => ({
    kind: 'range',
    from,
    to,
    toIsExclusive: true,
  });

  test.each([
    ['minute', '2024-02-29T23:59:00', '2024-03-01T00:00:00'],
    ['hour', '2024-02-29T23:00:00', '2024-03-01T00:00:00'],
    ['day', '2024-02-29', '2024-03-01'],
    ['week', '2024-12-30', '2025-01-06'],
    ['month', '2024-02-01', '2024-03-01'],
    ['quarter', '2024-10-01', '2025-01-01'],
    ['year', '2024-01-01', '2025-01-01'],
  ] as const)('into a %s asks for all of it', (grain, from, to) => {
    expect(clicked({ grain }, from)).toEqual(range(from, to));
    expect(clicked({ grain }, null)).toEqual({ kind: 'isNull' });
  });

  test.each([
    ['minute', '2024-02-29T23:59:30'],
    ['day', '2024-02-29T12:00:00'],
    ['week', '2024-12-31'],
    ['month', '2024-02-02'],
    ['year', '2024-02-01'],
  ] as const)('into a part of a %s is refused: the author declared no finer groups', (grain, value) => {
    expect(() => clicked({ grain }, value)).toThrow(`drill: "At" takes the first moment of a ${grain}`);
  });

  test('into a part of a bucket is refused', () => {
    expect(() => clicked({ bucketWidth: 5 }, 7)).toThrow('drill: "At" takes the least value of a bucket');
  });

  test('into the last year that has four digits ends with it', () => {
    expect(clicked({ grain: 'year' }, '9999-01-01')).toEqual(range('9999-01-01', '+010000-01-01'));
  });

  test.each([
    [5, 10, 15],
    [5, -5, 0],
    [0.1, 0.2, 0.3],
    [0.1, -0.3, -0.2],
    [2.5, 7.5, 10],
    [0.25, '12345678901234567890.50', '12345678901234567890.75'],
    [10, '9007199254741010', '9007199254741020'],
  ])('into a bucket %s wide from %s asks for all of it', (bucketWidth, from, to) => {
    expect(clicked({ bucketWidth }, from)).toEqual(range(from, to));
    expect(clicked({ bucketWidth }, null)).toEqual({ kind: 'isNull' });
  });

  test.each([
    ['an hour that no day has', { grain: 'hourOfDay' }, 24, '0 to 23'],
    ['a part of an hour', { grain: 'hourOfDay' }, 5.5, '0 to 23'],
    ['a day that no week has', { grain: 'dayOfWeek' }, 0, '1 to 7'],
    ['a day of the week by its name', { grain: 'dayOfWeek' }, 'Monday', '1 to 7'],
    ['a period that is no date', { grain: 'day' }, 'x', 'date'],
    ['a period of a number', { grain: 'day' }, 5, 'date'],
    ['a bucket that is no number', { bucketWidth: 5 }, 'x', 'number'],
    ['a bucket of true', { bucketWidth: 5 }, true, 'number'],
    ['a bucket whose width the rows decide', { bucketCount: 5 }, 5, 'change with the rows'],
  ] as const)('into %s is refused, with the reason', (_, extra, value, reason) => {
    expect(() => clicked(extra, value)).toThrow(reason);
  });

  test('into an hour of the day or a day of the week asks for the dates that have it', () => {
    expect(clicked({ grain: 'hourOfDay' }, 0)).toEqual({ kind: 'recurring', grain: 'hourOfDay', value: 0 });
    expect(clicked({ grain: 'dayOfWeek' }, 7)).toEqual({ kind: 'recurring', grain: 'dayOfWeek', value: 7 });
    expect(clicked({ grain: 'dayOfWeek' }, null)).toEqual({ kind: 'recurring', grain: 'dayOfWeek', value: null });
    expect(clicked({ grain: 'month' }, null)).toEqual({ kind: 'isNull' });
  });

  test('leaves what was calculated along the dimensions it left', () => {
    const calculations = [
      { kind: 'shareOfTotal', name: 'share', of: 'Flights' },
      { kind: 'shareOfTotal', name: 'within', of: 'Flights', within: ['State'] },
      { kind: 'runningTotal', name: 'total', of: 'Flights' },
      { kind: 'runningTotal', name: 'along', of: 'Flights', along: 'State' },
      { kind: 'previousPeriod', name: 'before', of: 'Flights' },
    ] as const;
    const shown = (clicks: number) =>
      drill({ ...definition, calculations }, [
        { columnName: 'State', value: 'CA' },
        ...(clicks > 1 ? [{ columnName: 'City', value: 'Fresno' }] : []),
      ]).definition;
    const names = (clicks: number) => {
      const drilled = shown(clicks);
      return drilled.kind === 'visual' ? drilled.calculations?.map(({ name }) => name) : [];
    };
    expect(names(1)).toEqual(['share', 'total']);
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
  ])('a drill is refused: %s', (_, clicks) => {
    expect(() => drill(definition, clicks)).toThrow(Refusal);
  });
});
