/** Where in an expression a fault is: the smallest part that has it, or the operator at which two parts meet. */
import { expect, test } from 'vitest';
import { findFault } from '../../src/model/query/fault-place.js';

/** Marks the place with `|`. A part has the fault if it holds all of the words as `hasFault` wants them. */
const marked = async (sql: string, hasFault: (part: string) => boolean, mostAsked?: number): Promise<string> => {
  const at = await findFault(sql, async (part) => hasFault(part), mostAsked);
  return `${sql.slice(0, at)}|${sql.slice(at)}`;
};

test.each([
  ['bad', '|bad'],
  ['  bad + 1', '  |bad + 1'],
  ['sum(a) / sum(bad)', 'sum(a) / sum(|bad)'],
  ['a + (b * (1 - bad))', 'a + (b * (1 - |bad))'],
  ['-a * -bad', '-a * |-bad'],
  ["concat('bad(', other, bad)", "concat('bad(', other, |bad)"],
  ['case when a and b then bad else 0 end + 1', 'case when a and b then |bad else 0 end + 1'],
  ['a > 1 and b in (1, bad)', 'a > 1 and b in (1, |bad)'],
  ['f(a,\n  bad)', 'f(a,\n  |bad)'],
  ['cast(bad as int)', 'cast(|bad as int)'],
  ['a || `bad`', 'a || |`bad`'],
])('is the smallest part that has it: %s', async (sql, place) => {
  expect(await marked(sql, (part) => /(?<!')bad(?!\()/.test(part))).toBe(place);
});

test.each([
  ['n * t', 'n |* t'],
  ['n + n * t', 'n + n |* t'],
  ['1 + n + t + n', '1 + n |+ t + n'],
  ['sum(n) + sum(n - t)', 'sum(n) + sum(n |- t)'],
  ['(n + 1) = (t)', '(n + 1) |= (t)'],
])('is the operator where operands have it only together: %s', async (sql, place) => {
  expect(await marked(sql, (part) => /\bn\b/.test(part) && /\bt\b/.test(part))).toBe(place);
});

test('is the call where no argument has it', async () => {
  expect(await marked('1 + f(a, b)', (part) => part.includes('f('))).toBe('1 + |f(a, b)');
  expect(await marked('f()', () => true)).toBe('|f()');
});

test('asks about few parts, and then names the smallest that is known', async () => {
  const asked: string[] = [];
  const sql = Array.from({ length: 50 }, (_, at) => `f(c${at})`).join(' + ');
  const has = (part: string) => {
    asked.push(part);
    return part.includes('c49');
  };
  expect(await marked(sql, has, 10)).toBe(`|${sql}`);
  expect(asked).toHaveLength(10);
});

test.each([')(', "'open", '((((', 'a + + b', 'case end end', '', '1 +'])('any text has a place: %s', async (sql) => {
  for (const isAtFault of [true, false]) {
    const at = await findFault(sql, async () => isAtFault);
    expect(at).toBeGreaterThanOrEqual(0);
    expect(at).toBeLessThanOrEqual(sql.length);
  }
});

test('brackets without end have a place, and cost no stack', async () => {
  const deep = `${'('.repeat(9_999)}bad${')'.repeat(9_999)}`;
  expect(await findFault(deep, async () => false)).toBe(9_999);
});
