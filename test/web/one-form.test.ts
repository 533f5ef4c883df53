/** One number has one form: the decimal places of a measure are found once for an answer, and hold wherever it is written. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { greatestDecimals, withPlaces, writeNumber, writtenRows } from '../../src/model/query/numbers.js';
import { createFormat } from '../../src/web/base/format.js';
import { inOneForm, measureText } from '../../src/web/charts/model/columns.js';

const format = createFormat('en');
const column = { name: 'Delay', dataType: 'number' } as const;
const chartOf = (hint: object) =>
  ({ type: 'bar', dimensions: [], measures: ['Delay'], isDrillable: false, grains: {}, ...hint }) as const;
const answerOf = (values: readonly (number | string | null)[]) => ({
  rows: values.map((Delay) => ({ Delay })),
  columns: [column],
  groupbyColumnList: [],
  totalRecords: values.length,
});
const textsOf = (values: readonly (number | string | null)[], hint: object = {}): readonly string[] => {
  const chart = inOneForm(chartOf(hint), answerOf(values));
  return answerOf(values).rows.map((row) => measureText(row, column, chart, format));
};
const placesIn = (text: string): number => (/\.(\d+)/.exec(text)?.[1] ?? '').length;

const values = fc.array(
  fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.double({ min: -5000, max: 5000, noNaN: true }), fc.constant(null)),
  { minLength: 1, maxLength: 12 },
);
const hint = fc.record(
  {
    unit: fc.constantFrom('min', '€'),
    format: fc.constantFrom('number' as const, 'percent' as const),
    decimals: fc.integer({ min: 0, max: greatestDecimals }),
  },
  { requiredKeys: [] },
);

describe('the form of a number', () => {
  it('has the same places for an average that happens to be whole as for those beside it', () => {
    expect(textsOf([26, 25.04, 18.9], { unit: 'min' })).toEqual(['26.0\u00a0min', '25.0\u00a0min', '18.9\u00a0min']);
    expect(textsOf([0.222, 0.23], { format: 'percent' })).toEqual(['22.2%', '23.0%']);
    expect(textsOf(['26', '25.5'], {})).toEqual(['26.0', '25.5']);
    expect(textsOf([12.25, 1500.5], {})).toEqual(['12', '1,501']);
    expect(textsOf([0.05, 0.034], {})).toEqual(['0.050', '0.034']);
  });

  it('has no places for whole numbers, and keeps those of an average beside them', () => {
    expect(textsOf([3, 2400, null], {})).toEqual(['3', '2,400', '—']);
    const chart = inOneForm(chartOf({}), answerOf([3, 4]));
    expect(measureText({ Delay: 3.5 }, column, chart, format)).toBe('3.5');
  });

  it('keeps a small value apart from nothing, and a part apart from all', () => {
    expect(textsOf([0.001, 25.5], {})).toEqual(['0.001', '25.5']);
    expect(textsOf([0.9999, 0.5, 0.0001], { format: 'percent' })).toEqual(['99.99%', '50.0%', '0.01%']);
  });

  it('leaves the places of a currency and those that the author chose', () => {
    expect(textsOf([26, 25.04], { currency: 'EUR' })).toEqual(['€26.00', '€25.04']);
    expect(textsOf([26, 25.04], { decimals: 2 })).toEqual(['26.00', '25.04']);
  });

  it('is one for all values of a measure, unless a value would read as nothing or as all', () => {
    fc.assert(
      fc.property(values, hint, (found, numbers) => {
        const shown = textsOf(found, numbers).filter((_, at) => {
          const size = Math.abs(found[at] ?? 0);
          const isPart = numbers.format === 'percent' && (size < 0.0005 || Math.abs(1 - size) <= 0.0005);
          return found[at] !== null && size >= 0.05 && !isPart;
        });
        expect(new Set(shown.map(placesIn)).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is the same in a card, in what a model reads and in a message', () => {
    fc.assert(
      fc.property(values, hint, (found, numbers) => {
        const inCard = textsOf(found, numbers);
        const inMessage = found.map((value) => writeNumber('en', value, withPlaces(numbers, found)));
        expect(inMessage).toEqual(inCard);
        const read = writtenRows(answerOf(found).rows, [{ ...column, numbers }], 'en');
        if (read !== undefined) expect(read.map(({ Delay }) => Delay)).toEqual(inCard);
      }),
    );
  });
});
