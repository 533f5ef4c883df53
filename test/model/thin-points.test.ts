/** Fewer points of a long line keep its ends and its extremes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnswerColumn, Cell } from '../../src/model/query/engine.js';
import { createThinning } from '../../src/model/query/thin-points.js';

const columns: readonly AnswerColumn[] = [
  { name: 'x', dataType: 'number' },
  { name: 'series', dataType: 'string' },
  { name: 'a', dataType: 'number' },
  { name: 'b', dataType: 'number' },
];
type Row = readonly [x: number, series: string, a: Cell, b: Cell];

const value = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
  fc.bigInt({ min: 10n ** 16n, max: 10n ** 17n }).map(String),
);
const rowsOf = (series: readonly string[], maxLength: number): fc.Arbitrary<readonly Row[]> =>
  fc
    .array(fc.tuple(fc.constantFrom(...series), value, value), { minLength: 1, maxLength })
    .map((all) => all.map(([name, a, b], x): Row => [x, name, a, b]));

const thin = (rows: readonly Row[], maxPoints: number): readonly (readonly Cell[])[] => {
  const thinning = createThinning(columns, ['x', 'series'], maxPoints);
  for (const row of rows) thinning.add(row);
  expect(thinning.total()).toBe(rows.length);
  return thinning.rows();
};

const extremesOf = (rows: readonly (readonly Cell[])[], name: string) => {
  const own = rows.filter((row) => row[1] === name);
  const of = (index: number) => {
    const numbers = own.flatMap((row) => (row[index] === null ? [] : [Number(row[index])]));
    return numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)];
  };
  return {
    ends: [own[0], own.at(-1)],
    a: of(2),
    b: of(3),
    gaps: [2, 3].map((at) => own.some((row) => row[at] === null)),
  };
};

test('no more rows than points: every row, in order', () => {
  fc.assert(
    fc.property(rowsOf(['p', 'q'], 60), fc.integer({ min: 0, max: 40 }), (rows, more) => {
      expect(thin(rows, rows.length + more)).toEqual(rows);
    }),
  );
});

test('each series keeps its ends, its extremes and that it has gaps; rows are rows of the question, in order', () => {
  fc.assert(
    fc.property(rowsOf(['p', 'q', 'r'], 400), fc.integer({ min: 1, max: 120 }), (rows, maxPoints) => {
      const kept = thin(rows, maxPoints);
      const positions = kept.map(([x]) => Number(x));
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      for (const row of kept) expect(row).toBe(rows[Number(row[0])]);
      for (const name of new Set(rows.map((row) => row[1])))
        expect(extremesOf(kept, name)).toEqual(extremesOf(rows, name));
      // One run of each series is the least: its ends, and three rows for each measure.
      expect(kept.length).toBeLessThanOrEqual(Math.max(maxPoints, 3 * 8));
    }),
  );
});

test('every part of a long line keeps its extremes, so a spike is at its place', () => {
  const spikes = new Set([7, 12_345, 30_001, 49_990]);
  const rows = Array.from({ length: 50_000 }, (_, x): Row => [x, 'p', spikes.has(x) ? 1000 : Math.sin(x / 50), x]);
  const kept = thin(rows, 4000);
  expect(kept.length).toBeLessThanOrEqual(4000);
  expect(kept.length).toBeGreaterThan(500);
  expect(kept.filter((row) => row[2] === 1000).map((row) => row[0])).toEqual([...spikes]);
});
