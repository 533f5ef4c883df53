import { expect, test } from 'vitest';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { AnswerColumn, MetricAnswer } from '../../src/model/query/engine.js';
import { createFormat } from '../../src/web/base/format.js';
import { combineOf, grainOf, inCurrencies, labelOf, measureText } from '../../src/web/charts/model/columns.js';

test('a column with the name of a member of every object has no grain and no rule of its own', () => {
  const chart = { grains: { Day: 'day' as const }, combine: { Flights: 'sum' as const } };
  for (const name of ['constructor', 'toString', '__proto__']) {
    expect([grainOf(chart, name), combineOf(chart, { name, dataType: 'number' })]).toEqual([undefined, undefined]);
  }
  const flights = { name: 'Flights', dataType: 'number' as const };
  expect([grainOf(chart, 'Day'), combineOf(chart, flights)]).toEqual(['day', 'sum']);
});

// lightdash#861: a join repeats rows, and a total counts them more than once.
test('sums of groups that share rows do not combine, and extremes do', () => {
  const chart = { combine: { sum: 'sum' as const, most: 'max' as const } };
  const combined = ['sum', 'most'].map((name) => combineOf(chart, { name, dataType: 'number', isOverlapping: true }));
  expect(combined).toEqual([undefined, 'max']);
});

test('dates of a dimension and of a measure are written as the chart says of them, and others as usual', () => {
  const chart: GuestChart = {
    ...{ type: 'table', dimensions: ['Sold', 'Paid'], measures: ['Last', 'Orders'], isDrillable: false },
    dates: [
      { name: 'Sold', style: 'short', precision: 'day' },
      { name: 'Last', style: 'long', precision: 'day' },
      { name: 'Orders', style: 'short' },
    ],
  };
  const [format, at] = [createFormat('en-GB'), '2001-03-05T07:08:09'];
  const written = (name: string) => labelOf(at, { name, dataType: 'date' }, chart, format);
  expect([written('Sold'), written('Paid')]).toEqual(['05/03/2001', '5 Mar 2001, 07:08']);
  const measured = (name: string, value: string | number | null, dataType: 'date' | 'number' = 'date') =>
    measureText({ [name]: value }, { name, dataType }, chart, format);
  expect([measured('Last', at), measured('First', at)]).toEqual(['5 March 2001', '5 Mar 2001, 07:08']);
  expect([measured('Last', null), measured('Orders', 1234, 'number')]).toEqual(['—', '1,234']);
});

test('amounts are in the currency of the answer, and in that of each row where the rows name one', () => {
  const chart: GuestChart = {
    type: 'table',
    dimensions: ['Money'],
    measures: ['Sum'],
    isDrillable: false,
    currency: 'EUR',
  };
  const rows = [
    { Money: 'GBP', Sum: 1234.5 },
    { Money: 'jpy', Sum: 1234.5 },
    { Money: 'KWD', Sum: 1.5 },
    { Money: null, Sum: 2 },
  ];
  const answerOf = (sum: Partial<AnswerColumn>): MetricAnswer => ({
    columns: [
      { name: 'Money', dataType: 'string' },
      { name: 'Sum', dataType: 'number', ...sum },
    ],
    ...{ rows, groupbyColumnList: ['Money'], totalRecords: rows.length },
  });
  const texts = (language: string, sum: Partial<AnswerColumn>) => {
    const answer = answerOf(sum);
    const shown = inCurrencies(chart, answer);
    const [, column] = answer.columns;
    if (column === undefined) throw new Error('no column');
    return rows.map((row) => measureText(row, column, shown, createFormat(language)).replaceAll('\u00a0', ' '));
  };
  expect(texts('en-GB', { currencyColumn: 'Money' })).toEqual(['£1,234.50', '¥1,235', 'KWD 1.500', '2']);
  expect(texts('de', { currencyColumn: 'Money' })).toEqual(['1.234,50 £', '1.235 ¥', '1,500 KWD', '2']);
  expect(texts('de', { numbers: { currency: 'GBP' } })[0]).toBe('1.234,50 £');
  expect(texts('de', {})[0]).toBe('1.234,50 €');
  expect(combineOf({ combine: { Sum: 'sum' } }, { name: 'Sum', dataType: 'number', currencyColumn: 'Money' })).toBe(
    undefined,
  );
});
