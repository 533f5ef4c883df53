/** What an alert makes of an answer: properties over random answers, states and times. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Alert,
  type AlertAnswer,
  type AlertCondition,
  AlertFault,
  type AlertShape,
  type AlertState,
  alertFault,
  isQuiet,
  judge,
  observe,
} from '../../src/model/schedule/alert.js';

const now = new Date('2026-10-26T07:00:00Z');
const single: AlertShape = { dimensions: [], chronological: null, hasComparison: false };
const byDay: AlertShape = { dimensions: ['Day'], chronological: 'Day', hasComparison: false };
const byState: AlertShape = { dimensions: ['State'], chronological: null, hasComparison: false };
const alertOf = (condition: AlertCondition): Alert => ({
  metricId: 'm',
  measure: 'Sales',
  condition,
  quietHours: null,
});
const keyOf = async (cells: readonly unknown[]) => JSON.stringify(cells);
const observed = (condition: AlertCondition, shape: AlertShape, answer: AlertAnswer) =>
  observe(alertOf(condition), shape, answer, keyOf);
const basis = { right: 'right', rule: 'rule', now };

/** Judges one answer after the other, and returns the verdicts. */
const judgeAll = async (condition: AlertCondition, shape: AlertShape, answers: readonly AlertAnswer[]) => {
  const verdicts: ReturnType<typeof judge>[] = [];
  let last: AlertState | null = null;
  for (const answer of answers) {
    const verdict = judge(alertOf(condition), await observed(condition, shape, answer), { ...basis, last });
    verdicts.push(verdict);
    last = verdict.state;
  }
  return verdicts;
};
const valued = (Sales: number | string | null): AlertAnswer => ({ rows: [{ Sales }] });

describe('an alert', () => {
  test('tells each beginning and each end of a breach once, whatever the values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.integer({ min: 0, max: 10 })), { maxLength: 20 }), async (values) => {
        const verdicts = await judgeAll({ is: 'above', value: 5 }, single, values.map(valued));
        let wasBreached = false;
        for (const [index, { isTold, isBreached }] of verdicts.entries()) {
          const value = values[index] ?? null;
          const expected: boolean = value === null ? wasBreached : value > 5;
          expect([isBreached, isTold]).toEqual([expected, expected !== wasBreached]);
          wasBreached = expected;
        }
      }),
    );
  });

  test('takes the row with the least value for below, and with the greatest for above', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.integer()), { maxLength: 20 }), async (values) => {
        const rows = values.map((Sales, index) => ({ State: `s${index}`, Sales }));
        const numbers = values.filter((value) => value !== null);
        const most = await observed({ is: 'above', value: 0 }, byState, { rows });
        const least = await observed({ is: 'below', value: 0 }, byState, { rows });
        expect(most.value).toBe(numbers.length === 0 ? null : Math.max(...numbers));
        expect(least.value).toBe(numbers.length === 0 ? null : Math.min(...numbers));
      }),
    );
  });

  test('looks at the latest period, in whatever order the answer has them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 28 }), { minLength: 2 }), async (days) => {
        const two = (day: number) => String(day).padStart(2, '0');
        const rows = days.map((day) => ({ Day: `2026-10-${two(day)}T00:00:00`, Sales: day }));
        const condition = { is: 'changeAbove', percent: 0, to: 'previousPeriod' } as const;
        const sorted = days.toSorted((a, b) => a - b);
        const seen = await observed(condition, byDay, { rows });
        expect([seen.value, seen.before]).toEqual([sorted.at(-1), sorted.at(-2)]);
        expect(seen.at).toEqual([`2026-10-${two(sorted.at(-1) ?? 0)}T00:00:00`]);
      }),
    );
  });

  test.each([
    ['changeAbove', 20, [100, 121], true],
    ['changeAbove', 20, [100, 120], false],
    ['changeBelow', -20, [100, 79], true],
    ['changeBelow', -20, [-100, -121], true],
    ['changeAbove', 1000, [0, 1], true],
    ['changeAbove', 0, [0, 0], false],
  ] as const)('%s %d of %j is a breach: %s', async (is, percent, values, isBreached) => {
    const verdicts = await judgeAll({ is, percent, to: 'lastCheck' }, single, values.map(valued));
    expect(verdicts.map((verdict) => verdict.isBreached)).toEqual([false, isBreached]);
  });

  test('with a limit is refused where amounts are of several currencies, and with what to do', () => {
    const shape: AlertShape = { dimensions: ['Money'], chronological: null, hasComparison: false, currency: 'Money' };
    const faultOf = (condition: AlertCondition) => alertFault(alertOf(condition), ['Sales'], shape);
    for (const is of ['above', 'below'] as const)
      expect(faultOf({ is, value: 5 })).toContain('filter the metric to one value of "Money"');
    expect(faultOf({ is: 'newKey' })).toBeUndefined();
    expect(faultOf({ is: 'missing' })).toBeUndefined();
  });

  test('compares with the metric’s own comparison, if it has one', async () => {
    const condition = { is: 'changeAbove', percent: 20, to: 'previousPeriod' } as const;
    const shape = { ...single, hasComparison: true };
    const seen = await observed(condition, shape, { rows: [{ Sales: 130 }], comparisonValue: 100 });
    expect(judge(alertOf(condition), seen, { ...basis, last: null })).toMatchObject({ isTold: true, change: 30 });
  });

  test('tells missing data, and numbers that JSON cannot hold are numbers', async () => {
    const verdicts = await judgeAll({ is: 'missing' }, single, [
      { rows: [] },
      valued(null),
      valued('9007199254740993'),
    ]);
    expect(verdicts.map(({ isTold, isBreached }) => [isTold, isBreached])).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);
    await expect(observed({ is: 'above', value: 1 }, single, valued('many'))).rejects.toThrow(AlertFault);
  });

  test('takes NaN for no value, and compares the infinities without keeping them', async () => {
    const above = { is: 'above', value: 5 } as const;
    const verdicts = await judgeAll(above, single, [valued('NaN'), valued('Infinity'), valued('-Infinity')]);
    expect(verdicts.map(({ isBreached }) => isBreached)).toEqual([false, true, false]);
    expect(verdicts.map(({ state }) => state.value)).toEqual([null, null, null]);
    const change = { is: 'changeAbove', percent: 1, to: 'lastCheck' } as const;
    const changes = await judgeAll(change, single, [valued(1), valued('Infinity'), valued(1)]);
    expect(changes.map(({ isBreached, change: percent }) => [isBreached, percent])).toEqual([
      [false, null],
      [true, null],
      [false, 0],
    ]);
    const [missing] = await judgeAll({ is: 'missing' }, single, [valued('NaN')]);
    expect(missing?.isBreached).toBe(true);
  });

  test('compares with an exact value of the metric’s own comparison', async () => {
    const condition = { is: 'changeBelow', percent: -1, to: 'previousPeriod' } as const;
    const shape = { ...single, hasComparison: true };
    const answer = { rows: [{ Sales: 130 }], comparisonValue: '9007199254740993' };
    const seen = await observed(condition, shape, answer);
    expect(judge(alertOf(condition), seen, { ...basis, last: null }).isBreached).toBe(true);
  });

  test('tells each row that appears once, and none at its first check', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uniqueArray(fc.constantFrom('CA', 'NV', 'NY', null))), async (answers) => {
        const all = answers.map((states) => ({ rows: states.map((State) => ({ State, Sales: 1 })) }));
        const verdicts = await judgeAll({ is: 'newKey' }, byState, all);
        const known = new Set(answers[0]);
        for (const [index, { appeared }] of verdicts.entries()) {
          const fresh = (answers[index] ?? []).filter((state) => !known.has(state));
          expect(appeared).toEqual(fresh.map((state) => [state]));
          for (const state of fresh) known.add(state);
        }
      }),
    );
  });

  test('keeps the keys of so many rows and refuses more', async () => {
    const rowsOf = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ State: `s${from + index}`, Sales: 1 }));
    const condition = { is: 'newKey' } as const;
    const [, second] = await judgeAll(condition, byState, [{ rows: rowsOf(0, 10) }, { rows: rowsOf(5, 5_000) }]);
    expect(second?.state.keys).toHaveLength(5_000);
    await expect(observed(condition, byState, { rows: rowsOf(0, 5_000 + 1) })).rejects.toThrow('too-many-rows');
  });

  test('uses nothing of another right or rule, and says that it began anew until a message has said it', async () => {
    const condition = { is: 'above', value: 5 } as const;
    const seen = await observed(condition, single, valued(9));
    const low = await observed(condition, single, valued(1));
    const told = judge(alertOf(condition), seen, { ...basis, last: null });
    expect(told).toMatchObject({ isTold: true, isAnew: false });
    const other = judge(alertOf(condition), low, { ...basis, right: 'other', last: told.state });
    expect(other).toMatchObject({ isTold: true, hasChanged: false, isAnew: true, state: { isAnew: false, value: 1 } });
    const quiet = judge(alertOf(condition), low, { ...basis, last: null });
    const anew = judge(alertOf(condition), low, { ...basis, right: 'other', last: quiet.state });
    expect(anew).toMatchObject({ isTold: false, state: { isAnew: true } });
    const later = judge(alertOf(condition), seen, { ...basis, right: 'other', last: anew.state });
    expect(later).toMatchObject({ isTold: true, hasChanged: true, isAnew: true, state: { isAnew: false } });
    const changed = judge(alertOf(condition), seen, { ...basis, rule: 'another', last: told.state });
    expect(changed).toMatchObject({ isTold: true, hasChanged: true, isAnew: false });
  });

  test.each([
    [{ is: 'above', value: 1 }, { measures: ['Other'] }, 'measure: expected one of "Other".'],
    [{ is: 'newKey' }, {}, 'newKey needs a metric with groups'],
    [{ is: 'changeAbove', percent: 1, to: 'lastCheck' }, { shape: byState }, 'one value'],
    [{ is: 'changeAbove', percent: 1, to: 'previousPeriod' }, {}, 'choose lastCheck'],
  ] as const)(
    '%j on %j is refused: %s',
    (condition, {
      measures = ['Sales'],
      shape = single,
    }: object & { readonly measures?: readonly string[]; readonly shape?: AlertShape }, fault) => {
      expect(alertFault(alertOf(condition), measures, shape)).toContain(fault);
    },
  );

  test('is quiet from its first minute to before its last, in its time zone, over midnight too', () => {
    const at = (time: string) => new Date(`2026-01-15T${time}:00Z`);
    const night = { from: '22:00', to: '07:00' };
    const quiet = (time: string, hours = night, zone = 'UTC') => isQuiet(hours, zone, at(time));
    expect(['21:59', '22:00', '00:00', '06:59', '07:00'].map((time) => quiet(time))).toEqual([
      ...[false, true, true, true, false],
    ]);
    expect(['08:59', '09:00', '16:59', '17:00'].map((time) => quiet(time, { from: '09:00', to: '17:00' }))).toEqual([
      ...[false, true, true, false],
    ]);
    expect([quiet('21:30'), quiet('21:30', night, 'Europe/Berlin')]).toEqual([false, true]);
  });
});
