/** The check of an expression while it is typed: after a pause, the latest text only, and faults at their place. */
import { expect, test } from 'vitest';
import {
  type CheckSql,
  createExpressionCheck,
  type ExpressionState,
  placedFaults,
} from '../../src/web/studio/base/checked-expression.js';

const fine = { isMeasure: false, isChecked: true, faults: [] };

/** A check whose answers and whose clock the test holds. */
const typing = () => {
  const asked: { readonly sql: string; readonly signal: AbortSignal; readonly answer: () => void }[] = [];
  const waiting = new Set<() => void>();
  const told: ExpressionState[] = [];
  const check: CheckSql = (sql, signal) =>
    new Promise((resolve) => asked.push({ sql, signal, answer: () => resolve(fine) }));
  const checking = createExpressionCheck(
    check,
    (state) => told.push(state),
    (job) => {
      waiting.add(job);
      return () => waiting.delete(job);
    },
  );
  const pause = (): void => {
    for (const job of waiting) job();
    waiting.clear();
  };
  return { ...checking, asked, told, pause };
};

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('asks once for what was typed before a pause', () => {
  const { typed, asked, told, pause } = typing();
  for (const sql of ['a', 'a +', 'a + 1']) typed(sql);
  expect(asked).toEqual([]);
  pause();
  expect(asked.map(({ sql }) => sql)).toEqual(['a + 1']);
  expect(told.every(({ kind }) => kind === 'checking')).toBe(true);
});

test('cancels a check that a newer text outdates, and drops its answer', async () => {
  const { typed, asked, told, pause, cancel } = typing();
  typed('a');
  pause();
  typed('a + 1');
  expect(asked[0]?.signal.aborted).toBe(true);
  asked[0]?.answer();
  await settled();
  expect(told.at(-1)).toEqual({ kind: 'checking' });
  pause();
  asked[1]?.answer();
  await settled();
  expect(told.at(-1)).toEqual({ kind: 'checked', sql: 'a + 1', result: fine });
  typed('a + 2');
  cancel();
  pause();
  expect(asked).toHaveLength(2);
});

test('an emptied text is not asked about', () => {
  const { typed, asked, told, pause } = typing();
  typed('a');
  typed('  ');
  pause();
  expect([asked, told.at(-1)]).toEqual([[], { kind: 'empty' }]);
});

test('marks a fault at its place, or at the beginning', () => {
  const [told, untold] = [
    { message: 'nowhere is no column', place: { line: 2, column: 4 } },
    { message: 'it does not parse', place: null },
  ];
  expect(placedFaults([told, untold])).toEqual([
    { line: 2, column: 4, message: 'nowhere is no column' },
    { line: 1, column: 1, message: 'it does not parse' },
  ]);
});
