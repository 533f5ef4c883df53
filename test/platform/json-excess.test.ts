/** Compares what is refused before parsing with the parsed result of JSON.parse. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonExcess, valuesIn } from '../../src/platform/work/json-excess.js';

const membersOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Levels below the outermost value. An empty container counts as one. */
const levelsOf = (value: unknown): number =>
  isContainer(value) ? 1 + Math.max(-1, ...membersOf(value).map(levelsOf)) : -1;

/** Names and texts that contain structural characters. */
const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'a', '\n', 'é', '😀') });
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    tricky,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 5 }),
  ),
}));

const values = Number.POSITIVE_INFINITY;
const runs = { numRuns: 2000 };

describe('levels', () => {
  test('are counted as they are, whatever stands in names and texts', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const levels = levelsOf(JSON.parse(text));
        expect(findJsonExcess(text, { levels, values })).toBeUndefined();
        if (levels >= 0)
          expect(findJsonExcess(text, { levels: levels - 1, values })).toMatch(/^nested deeper than -?\d+ levels$/);
      }),
      runs,
    );
  });

  test.each([
    ['a bracket in a text', '["[[[["]', 0],
    ['a quote in a text', String.raw`["\"[[[["]`, 0],
    ['a backslash at the end of a text', String.raw`["\\",[]]`, 1],
    ['a backslash and a quote in a text', String.raw`["\\\"[[",[]]`, 1],
    ['a bracket in a name', '{"[[":[]}', 1],
    ['an escaped bracket', String.raw`["\u005b\u005b"]`, 0],
    ['neighbours', '[[],[],[]]', 1],
    ['no container', '"["', -1],
  ])('levels of JSON are counted as they nest: %s', (_, text, levels) => {
    JSON.parse(text);
    expect(findJsonExcess(text, { levels, values })).toBeUndefined();
    expect(findJsonExcess(text, { levels: levels - 1, values }) === undefined).toBe(levels < 0);
  });

  test('levels of a text that never ends its string are those before it', () => {
    expect(findJsonExcess(String.raw`["[[[\"`, { levels: 0, values })).toBeUndefined();
    expect(findJsonExcess('"', { levels: 0, values })).toBeUndefined();
  });
});

/** Number of values, including the outermost. */
const valuesOf = (value: unknown): number => membersOf(value).reduce((sum: number, one) => sum + valuesOf(one), 1);
const emptyOf = (value: unknown): number =>
  membersOf(value).reduce(
    (sum: number, one) => sum + emptyOf(one),
    isContainer(value) && membersOf(value).length === 0 ? 1 : 0,
  );

describe('values', () => {
  const levels = 100;

  test('are counted as they are, whatever stands in names and texts; empty containers twice', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const parsed: unknown = JSON.parse(text);
        const values = valuesOf(parsed) + emptyOf(parsed);
        expect(findJsonExcess(text, { levels, values })).toBeUndefined();
        if (values > 1)
          expect(findJsonExcess(text, { levels, values: values - 1 })).toBe(`more than ${values - 1} values`);
      }),
      runs,
    );
  });

  test('are as many as the body may have, by its bytes', () => {
    const listOf = (many: number) => JSON.stringify(Array.from({ length: many - 1 }, () => 1));
    const most = valuesIn(2 * 1024 * 1024);
    expect(most).toBe(262_144);
    expect(findJsonExcess(listOf(most), { levels, values: most })).toBeUndefined();
    expect(findJsonExcess(listOf(most + 1), { levels, values: most })).toBe('more than 262144 values');
  });
});
