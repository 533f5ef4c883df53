import { expect, test } from 'vitest';
import { toCsv } from '../../src/contract/csv.js';
import type { MetricAnswer } from '../../src/domain/ports.js';

const answer = (rows: MetricAnswer['rows']): MetricAnswer => ({
  rows,
  columns: [
    { name: 'City', dataType: 'string' },
    { name: 'Flights', dataType: 'number' },
  ],
  groupbyColumnList: ['City'],
  totalRecords: rows.length,
});

test('commas, quotes and line breaks are quoted, lines end with CRLF', () => {
  expect(toCsv(answer([{ City: 'a,"b"\nc', Flights: 1.5 }]))).toBe('City,Flights\r\n"a,""b""\nc",1.5\r\n');
});

test('NULL is empty, and so is what a row lacks', () => {
  expect(toCsv(answer([{ City: null }]))).toBe('City,Flights\r\n,\r\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('text %j does not run in a spreadsheet', (city) => {
  expect(toCsv(answer([{ City: city, Flights: 0 }]))).toContain(`'${city}`);
});

test('numbers keep their sign, also those that are too long for JSON', () => {
  expect(toCsv(answer([{ City: 'x', Flights: -3 }]))).toContain('x,-3');
  expect(toCsv(answer([{ City: 'x', Flights: '-90071992547409931' }]))).toContain('x,-90071992547409931');
});

test('no rows: the header alone', () => {
  expect(toCsv(answer([]))).toBe('City,Flights\r\n');
});
