/** Where keys lead in the editor's list of fields. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnIn, type ListPlace, type ListRow, placeAfter, placeIn } from '../../src/web/editor/list-keys.js';

const plain = { ctrlKey: false, altKey: false, metaKey: false };
const held = { ...plain, ctrlKey: true };
const keys = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown', 's', 'É', ' '];

const aRow = fc.record({
  title: fc.constantFrom('Sold', 'sum', 'État', 'Weight', ''),
  isHead: fc.boolean(),
  controls: fc.tuple(...[0, 1, 2, 3].map(() => fc.constantFrom(undefined, null, {}))),
});
const aList = fc.array(aRow, { minLength: 1, maxLength: 20 }).map((rows): readonly ListRow[] =>
  rows.map((row, at) => ({
    ...row,
    key: String(at),
    controls: row.controls.every((control) => control === undefined) ? [null] : row.controls,
  })),
);

/** Every control that can have the focus, as text. */
const controlsOf = (rows: readonly ListRow[]): readonly string[] =>
  rows.flatMap(({ key, controls }) => controls.flatMap((one, at) => (one === undefined ? [] : [`${key}:${at}`])));

test('keys lead to a control each time, and to every control', () => {
  fc.assert(
    fc.property(aList, (rows) => {
      const shown = ({ row, column }: ListPlace): string => {
        const found = rows.find(({ key }) => key === row);
        return `${row}:${found === undefined ? '' : columnIn(found, column)}`;
      };
      const start = placeIn(rows, { row: 'gone', column: 3 });
      expect(start).toEqual({ row: '0', column: 0 });
      const seen = new Map(start === undefined ? [] : [[shown(start), start]]);
      for (const place of seen.values()) {
        for (const key of keys) {
          for (const modifiers of [plain, held]) {
            const next = placeAfter(rows, place, key, modifiers);
            if (next !== undefined && !seen.has(shown(next))) seen.set(shown(next), next);
          }
          expect(placeAfter(rows, place, key, { ...plain, metaKey: true })).toBeUndefined();
        }
      }
      expect([...seen.keys()].toSorted()).toEqual(controlsOf(rows).toSorted());
    }),
    { seed: 20_261_127 },
  );
});

test('a letter leads on to the next field that begins with it, whatever its case and marks, and around', () => {
  const titles = ['Sales', 'Sold', 'État', 'sum', 'Shops', 'Street'];
  const rows = titles.map((title, at) => ({ key: title, title, isHead: at === 0 || at === 4, controls: [null] }));
  const after = (row: string, letter: string) => placeAfter(rows, { row, column: 2 }, letter, plain)?.row;
  expect(after('Sold', 's')).toBe('sum');
  expect(after('sum', 'S')).toBe('Street');
  expect(after('Street', 's')).toBe('Sold');
  expect(after('Sold', 'e')).toBe('État');
  expect(after('État', 'é')).toBeUndefined();
  expect(after('Sold', 'x')).toBeUndefined();
});
