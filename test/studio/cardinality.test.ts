/** What is said about a relationship: proved only by keys, contradicted only by rows, and otherwise a person's word. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cardinality } from '../../src/model/datamart/datamart.js';
import {
  type Checked,
  cardinalities,
  type Ends,
  evidenceOf,
  freeName,
  proposedByKeys,
  proposedByRows,
} from '../../src/web/studio/base/cardinality.js';
import type { Keys } from '../../src/web/studio/base/model-tenancy.js';

const ends: Ends = { from: { table: 'main.lines', column: 'order' }, to: { table: 'main.orders', column: 'id' } };
const key = (table: string, ...columns: readonly string[]): Keys => new Map([[table, [columns]]]);
const none: Keys = new Map();
const whole = (repeated: number, rows = 100) => ({ rows, repeated, isWhole: true });
const checked = (from: number, to: number): Checked => ({ from: whole(from), to: whole(to) });

test('keys propose a cardinality, and none is proposed where they say nothing', () => {
  expect(proposedByKeys(key('main.orders', 'id'), ends)).toBe('ManyToOne');
  expect(proposedByKeys(key('main.lines', 'order'), ends)).toBe('OneToMany');
  expect(proposedByKeys(new Map([...key('main.orders', 'id'), ...key('main.lines', 'order')]), ends)).toBe('OneToOne');
  expect(proposedByKeys(none, ends)).toBeNull();
  expect(proposedByKeys(key('main.orders', 'client', 'id'), ends)).toBeNull();
});

test('rows propose one only where enough of them were read', () => {
  expect(proposedByRows(checked(3, 0))).toBe('ManyToOne');
  expect(proposedByRows(checked(3, 1))).toBe('ManyToMany');
  expect(proposedByRows({ from: whole(3), to: { ...whole(0), isWhole: false } })).toBeNull();
  expect(proposedByRows({ from: whole(3), to: whole(0, 0) })).toBeNull();
});

test('rows outweigh what a person declares', () => {
  const { kind, text } = evidenceOf('ManyToOne', ends, none, checked(0, 7));
  expect(kind).toBe('contradicted');
  expect(text).toContain('7 values of main.orders.id');
  expect(evidenceOf('ManyToOne', ends, none, checked(5, 0)).text).toContain('None repeats in the 100 rows');
  const partly = { from: whole(0), to: { rows: 1_000_000, repeated: 0, isWhole: false } };
  expect(evidenceOf('ManyToOne', ends, none, partly).text).toContain('the others were not read');
});

/** The ends at which no value may repeat. */
const claims: Readonly<Record<Cardinality, readonly (keyof Ends)[]>> = {
  OneToOne: ['from', 'to'],
  ManyToOne: ['to'],
  OneToMany: ['from'],
  ManyToMany: [],
};

test('is proved by a key of each end that may not repeat, and by nothing else', () => {
  const side = fc.record({ rows: fc.nat(), repeated: fc.nat({ max: 3 }), isWhole: fc.boolean() });
  const anyKeys = fc
    .subarray([ends.from, ends.to])
    .map((of): Keys => new Map(of.map(({ table, column }) => [table, [[column]]])));
  const checks = fc.option(fc.record({ from: side, to: side }));
  fc.assert(
    fc.property(fc.option(fc.constantFrom(...cardinalities)), anyKeys, checks, (cardinality, keys, counted) => {
      const { kind } = evidenceOf(cardinality, ends, keys, counted);
      const claimed = claims[cardinality ?? 'ManyToMany'];
      const isProved = claimed.length > 0 && claimed.every((end) => keys.has(ends[end].table));
      const isBroken = claimed.some((end) => (counted?.[end].repeated ?? 0) > 0);
      expect(kind === 'contradicted').toBe(isBroken);
      expect(kind === 'proved').toBe(isProved && !isBroken);
    }),
  );
});

test('a new relationship gets a name that no other has', () => {
  expect(freeName(ends, [])).toBe('lines.order');
  expect(freeName(ends, ['lines.order', 'lines.order 2'])).toBe('lines.order 3');
});
