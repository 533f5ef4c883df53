import { describe, expect, it, test } from 'vitest';
import type { Comparison, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import { movePeriods } from '../../src/model/filter/period.js';
import { earlierQuestion, withCourse } from '../../src/model/query/comparison.js';
import type { MetricQuestion } from '../../src/model/query/engine.js';

describe('a date some periods away', () => {
  it.each([
    ['2024-03-15', 'day', -1, '2024-03-14'],
    ['2024-03-01', 'day', -1, '2024-02-29'],
    ['2024-03-15', 'week', -2, '2024-03-01'],
    ['2024-03-15', 'month', -1, '2024-02-15'],
    ['2024-03-31', 'month', -1, '2024-02-29'],
    ['2023-03-31', 'month', -1, '2023-02-28'],
    ['2024-01-31', 'month', 1, '2024-02-29'],
    ['2024-05-31', 'quarter', -1, '2024-02-29'],
    ['2024-02-29', 'year', -1, '2023-02-28'],
    ['2024-02-29', 'year', -4, '2020-02-29'],
    ['2024-01-15', 'month', -13, '2022-12-15'],
    ['2024-03-15', 'hour', -1, '2024-03-14T23:00:00'],
    ['2024-03-15T00:00:00', 'minute', -1, '2024-03-14T23:59:00'],
    ['2024-03-31T10:20:30.5', 'month', -1, '2024-02-29T10:20:30.5'],
    ['2024-03-15 10:20', 'day', 1, '2024-03-16T10:20:00'],
    ['0050-01-01', 'year', -1, '0049-01-01'],
  ] as const)('%s by %s x %i is %s', (text, period, count, expected) => {
    expect(movePeriods(text, period, count)).toBe(expected);
  });

  it.each([
    ['2024-04-01', '2024-03-01'],
    ['2024-03-31', '2024-03-01'],
    ['2024-03-30', '2024-03-01'],
    ['2024-03-29', '2024-02-29'],
    ['2024-03-31T12:00:00', '2024-03-01T00:00:00'],
  ])('the end %s that a range leaves out is %s a month earlier', (text, expected) => {
    expect(movePeriods(text, 'month', -1, true)).toBe(expected);
  });

  it.each(['', 'x', '2024-02-30', '2024-13-01', '24-01-01', '2024-01-01T25:00:00', '2024-01-01T10:00:00Z'])(
    'there is no date that is some periods away of %j',
    (text) => {
      expect(movePeriods(text, 'day', 1)).toBeUndefined();
    },
  );

  it.each([
    ['0001-01-01', 'day', -1, '0000-12-31'],
    ['0000-03-31', 'month', -1, '0000-02-29'],
    ['0000-01-01T00:00:00', 'minute', -1, '-000001-12-31T23:59:00'],
    ['-000043-03-15', 'year', 43, '0000-03-15'],
    ['-000001-12-01', 'month', 1, '0000-01-01'],
    ['9999-12-31', 'day', 1, '+010000-01-01'],
    ['+275761-01-31', 'month', 1, '+275761-02-28'],
  ] as const)('beyond four digits too: %s by %s x %i is %s', (text, period, count, expected) => {
    expect(movePeriods(text, period, count)).toBe(expected);
  });

  it('where no database has timestamps there is none', () => {
    expect(movePeriods('-004712-01-01', 'day', -1)).toBeUndefined();
    expect(movePeriods('+294245-12-31', 'day', 1)).toBeUndefined();
  });
});

const column = (columnName: string) => ({ schemaName: 'main', tableName: 'sales', columnName });
const on = (columnName: string, predicate: Predicate): Condition => ({ column: column(columnName), predicate });
const march: Predicate = { kind: 'range', from: '2024-03-01', to: '2024-04-01', toIsExclusive: true };
const february: Predicate = { kind: 'range', from: '2024-02-01', to: '2024-03-01', toIsExclusive: true };
const monthEarlier: Comparison = { column: column('day'), grain: 'month', periods: 1 };

const definition: VisualDefinition = {
  kind: 'visual',
  chart: { type: 'singleValue' },
  from: { schemaName: 'main', tableName: 'sales' },
  dimensions: [],
  measures: [{ name: 'n', aggregate: 'COUNT' }],
  comparison: monthEarlier,
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
};

const asked = (
  conditions: readonly Condition[],
  movable: readonly Condition[] = conditions,
  parts: Partial<VisualDefinition> = {},
) =>
  ({
    definition: { ...definition, ...parts },
    conditions,
    movable,
    timezone: null,
    sort: null,
    limit: 5,
    offset: 2,
  }) as unknown as MetricQuestion;
const ask = (...given: Parameters<typeof asked>) => earlierQuestion(asked(...given));
const askCourse = async (...given: Parameters<typeof asked>): Promise<MetricQuestion | undefined> => {
  const questions: MetricQuestion[] = [];
  await withCourse(async (question) => {
    questions.push(question);
    return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
  })(asked(...given));
  return questions.find(({ definition: { dimensions } }) => dimensions.length > 0);
};

describe('the question for a course', () => {
  test('reaches twelve periods back, by the grain, and keeps every other condition', async () => {
    const state = on('state', { kind: 'oneOf', values: ['CA'] });
    const enforced = on('day', { kind: 'range', from: '2024-02-15', to: null, toIsExclusive: true });
    const chosen = on('day', march);
    const course = await askCourse([state, enforced, chosen], [state, chosen]);
    expect(course?.conditions).toEqual([state, enforced, on('day', { ...march, from: '2023-04-01' })]);
    expect(course?.definition).toMatchObject({
      dimensions: [{ name: 'period', column: column('day'), grain: 'month' }],
      sort: [{ name: 'period', direction: 'ASC' }],
      limit: null,
    });
  });

  test('counts an end that the range includes as the end of its day', async () => {
    const inclusive = on('day', { kind: 'range', from: '2024-03-01', to: '2024-03-31', toIsExclusive: false });
    expect((await askCourse([inclusive]))?.conditions).toMatchObject([{ predicate: { from: '2023-04-01' } }]);
  });

  test.each<readonly [string, readonly Condition[], Partial<VisualDefinition>]>([
    ['two periods', [on('day', { ...march, to: '2024-05-01' })], {}],
    ['a part of a period', [on('day', { ...march, from: '2024-03-02' })], {}],
    ['two conditions on the column', [on('day', march), on('day', march)], {}],
    ['another chart', [on('day', march)], { chart: { type: 'gauge' } }],
    ['a condition on the measure', [on('day', march)], { having: { measure: 'n', predicate: march } as never }],
    ['a value of all time', [], {}],
  ])('is not asked for %s', async (_, conditions, parts) => {
    expect(await askCourse(conditions, conditions, parts)).toBeUndefined();
  });

  test('has a name for its periods that no measure has', async () => {
    const measures = [{ name: 'period', aggregate: 'COUNT' as const }];
    const course = await askCourse([on('day', march)], undefined, { measures });
    expect(course?.definition.dimensions.map(({ name }) => name)).toEqual(['period_']);
  });
});

describe('the earlier question', () => {
  test('has the range of the column earlier, and every other condition as it is', () => {
    const state = on('state', { kind: 'oneOf', values: ['CA'] });
    const other = on('paid', march);
    const earlier = ask([on('day', march), state, other]);
    expect(earlier?.measure).toBe('n');
    expect(earlier?.question.conditions).toEqual([on('day', february), state, other]);
    expect(earlier?.question).toMatchObject({ sort: null, limit: null, offset: 0 });
  });

  test('leaves what the token enforces where it is, on the same column too', () => {
    const enforced = on('day', { kind: 'range', from: '2024-02-15', to: null, toIsExclusive: true });
    const chosen = on('day', march);
    expect(ask([enforced, chosen], [chosen])?.question.conditions).toEqual([enforced, on('day', february)]);
    // An equal condition of the guest is a different condition.
    expect(ask([enforced], [{ ...enforced }])).toBeUndefined();
  });

  test.each<readonly [string, Predicate, Predicate]>([
    [
      'a comparison',
      { kind: 'compare', operator: '>=', value: '2024-03-31' },
      { kind: 'compare', operator: '>=', value: '2024-02-29' },
    ],
    [
      'an open end',
      { kind: 'compare', operator: '<', value: '2024-03-31' },
      { kind: 'compare', operator: '<', value: '2024-03-01' },
    ],
    [
      'days',
      { kind: 'oneOf', values: ['2024-03-01', '2024-03-30'] },
      { kind: 'oneOf', values: ['2024-02-01', '2024-02-29'] },
    ],
    [
      'a range of one end',
      { kind: 'range', from: '2024-03-05', to: null, toIsExclusive: true },
      { kind: 'range', from: '2024-02-05', to: null, toIsExclusive: true },
    ],
    [
      'an end that is part of it',
      { kind: 'range', from: '2024-03-01', to: '2024-03-31', toIsExclusive: false },
      { kind: 'range', from: '2024-02-01', to: '2024-02-29', toIsExclusive: false },
    ],
  ])('the earlier question moves %s', (_, given, expected) => {
    expect(ask([on('day', given)])?.question.conditions).toEqual([on('day', expected)]);
  });

  test('moves what the metric’s own where says of the column', () => {
    const paid = on('paid', { kind: 'isNotNull' });
    const where = { any: [{ all: [on('day', march), paid] }, on('state', { kind: 'isNull' })] };
    const moved = ask([], [], { where })?.question.definition;
    expect(moved).toMatchObject({ where: { any: [{ all: [on('day', february), paid] }, where.any[1]] } });
  });

  test.each<readonly [string, Parameters<typeof ask>]>([
    ['no condition on the column', [[on('paid', march)]]],
    ['a condition that bounds nothing', [[on('day', { kind: 'isNotNull' })]]],
    ['a value that is no date', [[on('day', { kind: 'compare', operator: '=', value: 20240301 })]]],
    ['a date before all calendars', [[on('day', { kind: 'compare', operator: '>', value: '-004712-01-01' })]]],
    ['groups', [[on('day', march)], undefined, { dimensions: [{ name: 'd', column: column('state') }] }]],
    ['no comparison', [[on('day', march)], undefined, { comparison: undefined }]],
    ['no measure', [[on('day', march)], undefined, { measures: [] }]],
  ])('there is none with %s', (_, given) => {
    expect(ask(...given)).toBeUndefined();
  });
});
