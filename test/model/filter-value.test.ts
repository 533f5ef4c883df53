import { describe, expect, test } from 'vitest';
import type { FilterDataType, FilterValue } from '../../src/model/filter/filter.js';
import { readFilterValue } from '../../src/model/filter/value.js';

const moment = { now: new Date('2024-02-29T12:00:00Z'), timezone: null };
const read = (dataType: FilterDataType, value: FilterValue) => readFilterValue(dataType, value, moment);

describe('what a value asks of a filter', () => {
  test('strings in a filter become IN', () => {
    expect(read('string', 'CA')).toEqual({ predicate: { kind: 'oneOf', values: ['CA'] } });
    expect(read('string', ['CA', 'NY'])).toEqual({ predicate: { kind: 'oneOf', values: ['CA', 'NY'] } });
  });

  test('booleans in a filter become =', () => {
    expect(read('boolean', false)).toEqual({ predicate: { kind: 'compare', operator: '=', value: false } });
  });

  test('numbers become = or BETWEEN', () => {
    expect(read('number', 5)).toEqual({ predicate: { kind: 'compare', operator: '=', value: 5 } });
    expect(read('number', { min: 1, max: 2 })).toEqual({
      predicate: { kind: 'range', from: 1, to: 2, toIsExclusive: false },
    });
    expect(read('number', { max: 2 })).toEqual({
      predicate: { kind: 'range', from: null, to: 2, toIsExclusive: false },
    });
  });

  test('dates become half-open ranges, in each spelling', () => {
    const predicate = { kind: 'range', from: '2024-01-01', to: '2024-01-03', toIsExclusive: true };
    expect(read('date', { startDate: '2024-1-1', endDate: '2024-01-02' })).toEqual({ predicate });
    expect(read('date', { start: '2024-01-01', end: '2024-01-02' })).toEqual({ predicate });
    expect(read('date', '2024-01-01 - 2024-01-02')).toEqual({ predicate });
  });

  test.each<[FilterDataType, FilterValue]>([
    ['string', []],
    ['string', 5],
    ['string', true],
    ['number', '05'],
    ['number', '1e3'],
    ['number', '+5'],
    ['number', { min: 'NaN' }],
    ['number', { min: '9007199254740993', max: '9007199254740992' }],
    ['number', {}],
    ['number', { min: 2, max: 1 }],
    ['date', 5],
    ['date', ['2024-01-01']],
    ['boolean', 'true'],
    ['string', { sql: 'SELECT 1', columnName: 'x' }],
  ])('a %s filter refuses %j and says what it takes', (dataType, value) => {
    expect(read(dataType, value)).toEqual({ expected: expect.stringMatching(/\w/) });
  });
});
