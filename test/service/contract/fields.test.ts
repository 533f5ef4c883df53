import { describe, expect, test } from 'vitest';
import {
  filterValue,
  guestFilterValue,
  identifier,
  namingRules,
  scalar,
  text,
} from '../../../src/platform/http/interface/fields.js';

const halves = ['\ud800', '\udfff', 'a\udc00\ud800b', `${'x'.repeat(10)}\ud83d`];
const wellFormed = ['LAX', 'Zoë', '日本', '✈️', '😀', ' ', 'a\'b"c', '%_\\', '..', '__proto__'];

describe('names and ids', () => {
  test.each([...halves, '', '\0', 'a\0b', 'a\nb', '\u007f', '\u0085', 'x'.repeat(256)])(
    '%j is refused as a name or an id',
    (name) => {
      expect(identifier.safeParse(name).success).toBe(false);
    },
  );
  test.each([...wellFormed, 'x'.repeat(255)])('%j is a name, as it is', (name) => {
    expect(identifier.parse(name)).toBe(name);
  });
});

test('the schema enforces the naming rules that the reference shows', () => {
  expect(namingRules.join(' ')).toContain('1 to 255 characters');
  for (const [name, isName] of [
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
    ['', false],
    [' a b! ', true],
    ['a\u0000', false],
    ['a\t', false],
    ['\ud800', false],
    ['Ångström', true],
    ['__proto__', true],
  ] as const) {
    expect(identifier.safeParse(name).success, JSON.stringify(name)).toBe(isName);
  }
  // Names stay unchanged: they are not trimmed, converted to lower case, or normalized.
  for (const name of [' a ', 'A', 'e\u0301']) expect(identifier.parse(name)).toBe(name);
});

describe('text and filter values', () => {
  test.each([...halves, '\0', 'a\0b'])('%j is refused wherever text may stand', (value) => {
    for (const schema of [text, scalar, filterValue, guestFilterValue]) {
      expect(schema.safeParse(value).success).toBe(false);
    }
    for (const schema of [filterValue, guestFilterValue]) {
      expect(schema.safeParse(['CA', value]).success).toBe(false);
      expect(schema.safeParse({ startDate: value, endDate: '2024-01-01' }).success).toBe(false);
    }
  });
  test.each([...wellFormed, '', 'two\nlines\ttabbed'])('%j is text, as it is', (value) => {
    expect(text.parse(value)).toBe(value);
    expect(guestFilterValue.parse([value])).toEqual([value]);
  });
});
