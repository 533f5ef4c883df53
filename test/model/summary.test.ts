/** Computed facts: what stands out in an answer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factsOf, valuesOf } from '../../src/model/chat/facts.js';
import { suggestionsOf } from '../../src/model/chat/suggestions.js';
import { guestFields } from '../../src/model/guest/fields.js';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { Cell, MetricAnswer } from '../../src/model/query/engine.js';
import { datamart, relationship, table } from '../engine/world.js';

const answer = (rows: MetricAnswer['rows'], more: Partial<MetricAnswer> = {}): MetricAnswer => ({
  ...{ rows, columns: [], groupbyColumnList: [], totalRecords: rows.length, ...more },
});
const chart = (dimensions: readonly string[], more: Partial<GuestChart> = {}): GuestChart => ({
  ...{ type: 'bar', dimensions, measures: ['N'], isDrillable: false, combine: { N: 'sum' }, ...more },
});
const groups = (...values: readonly Cell[]) => answer(values.map((N, at) => ({ Group: `g${at}`, N })));
const days = (...values: readonly Cell[]) => answer(values.map((N, at) => ({ Day: `2024-01-${10 + at}T00:00:00`, N })));
const byDay = chart(['Day'], { grains: { Day: 'day' } });
const kinds = (chartOf: GuestChart, of: MetricAnswer) => factsOf(chartOf, of).map(({ kind }) => kind);
const group = (value: string) => [{ column: 'Group', value }];

test('a single value is told with the earlier one', () => {
  expect(factsOf(chart([]), answer([{ N: '12.5' }], { comparisonValue: 10 }))).toEqual([
    { kind: 'value', measure: 'N', value: 12.5, before: 10 },
  ]);
});

test('groups: the highest with its share, and the lowest', () => {
  expect(factsOf(chart(['Group']), groups(1, 6, 3))).toEqual([
    { kind: 'highest', measure: 'N', now: { at: group('g1'), value: 6 } },
    { kind: 'share', measure: 'N', now: { at: group('g1'), value: 6 }, share: 0.6 },
    { kind: 'lowest', measure: 'N', now: { at: group('g0'), value: 1 } },
  ]);
});

test('the combined others are no group, and a part of the total', () => {
  const whole = { ...groups(6, 3, 11), others: { name: 'Group', rows: 1 } };
  expect(factsOf(chart(['Group']), whole)).toEqual([
    { kind: 'highest', measure: 'N', now: { at: group('g0'), value: 6 } },
    { kind: 'share', measure: 'N', now: { at: group('g0'), value: 6 }, share: 0.3 },
    { kind: 'lowest', measure: 'N', now: { at: group('g1'), value: 3 } },
  ]);
});

test('there is no share of an average, of a part, or of sums that cancel out', () => {
  const whole = groups(1, 6, 3);
  expect(kinds(chart(['Group'], { combine: {} }), whole)).not.toContain('share');
  expect(kinds(chart(['Group']), { ...whole, totalRecords: 4 })).not.toContain('share');
  expect(kinds(chart(['Group']), { ...whole, isTruncated: true })).not.toContain('share');
  expect(kinds(chart(['Group']), groups(1, 6, -3))).not.toContain('share');
});

test('a summary over time tells the latest value, and the largest change, in the order of time', () => {
  const { rows } = days(10, 30, 31, 29);
  const facts = factsOf(byDay, answer(rows.toReversed()));
  expect(facts).toEqual([
    expect.objectContaining({ kind: 'latest', now: expect.objectContaining({ value: 29 }) }),
    expect.objectContaining({ kind: 'change', now: expect.objectContaining({ value: 30 }) }),
  ]);
});

test('a value far from the usual is told, and not twice', () => {
  const usual = [10, 11, 9, 10, 12, 8, 10, 11, 9];
  expect(factsOf(byDay, days(...usual.slice(0, 4), 90, ...usual.slice(4)))).toContainEqual(
    expect.objectContaining({ kind: 'outlier', usual: 10, now: expect.objectContaining({ value: 90 }) }),
  );
  expect(kinds(byDay, days(...usual))).not.toContain('outlier');
  expect(kinds(chart(['Group']), groups(...usual, 90))).not.toContain('outlier');
  expect(kinds(chart(['Group']), groups(...usual, -90))).toContain('outlier');
});

test('an hour of the day is a group, not a time; without numbers there are no facts', () => {
  expect(kinds(chart(['Day'], { grains: { Day: 'hourOfDay' } }), days(1, 2))).toContain('highest');
  expect(factsOf(chart(['Group']), groups(null, 'x', true))).toEqual([]);
  expect(factsOf(chart(['Group'], { measures: [] }), groups(1))).toEqual([]);
});

test('every number of a fact is a value of the answer, or computed of them', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 30 }), (values) => {
      for (const facts of [factsOf(byDay, days(...values)), factsOf(chart(['Group']), groups(...values))]) {
        expect(facts.length).toBeLessThanOrEqual(3);
        for (const fact of facts) if ('now' in fact) expect(values).toContain(fact.now.value);
        expect(JSON.stringify(valuesOf(facts))).not.toContain('null');
      }
    }),
  );
});

test('suggestions: over time and by what names things, of the tables with dates first', () => {
  const sales = table('sales', { id: 'BIGINT', sold: 'TIMESTAMP', amount: 'DOUBLE', shop: 'BIGINT' });
  const shops = table('shops', { id: 'BIGINT', code: 'VARCHAR', state: 'VARCHAR', name: 'VARCHAR' });
  const relationships = [{ ...relationship('sales.shop', 'shops.id'), cardinality: 'ManyToOne' as const }];
  const mart = datamart({ tables: [shops, sales], relationships, tenancy: null });
  const fields = guestFields({ datamart: mart, isReadable: () => true, joinModel: 'multi', conditions: [] }, undefined);
  const suggested = suggestionsOf(fields).map(({ definition }) => definition);
  expect(suggested[0]).toMatchObject({
    from: { tableName: 'sales' },
    dimensions: [{ column: { columnName: 'sold' }, grain: 'month' }],
    measures: [{ aggregate: 'COUNT' }],
  });
  expect(suggested[1]).toMatchObject({
    dimensions: [{ column: { tableName: 'shops', columnName: 'state' } }],
    limit: 10,
  });
  expect(suggested.length).toBeLessThanOrEqual(6);
  expect(suggestionsOf({ tables: [], relationships: [] })).toEqual([]);
});
