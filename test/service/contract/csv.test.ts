import { expect, test } from 'vitest';
import type { DownloadColumn } from '../../../src/model/guest/download.js';
import type { Cell } from '../../../src/model/query/engine.js';
import { toCsv } from '../../../src/service/guest/contract/csv.js';

const columns: readonly DownloadColumn[] = [
  { name: 'city', label: 'City', dataType: 'string' },
  { name: 'Flights', label: 'Flights', dataType: 'number' },
];

type Row = readonly Cell[];

const piecesOf = async (...batches: (readonly Row[])[]): Promise<readonly string[]> => {
  const given = (async function* () {
    yield* batches;
  })();
  const pieces: string[] = [];
  for await (const piece of toCsv({ columns, batches: given, limit: null, offset: 0 })) pieces.push(piece);
  return pieces;
};
const csvOf = async (...rows: readonly Row[]): Promise<string> => (await piecesOf(rows)).join('');

test('commas, quotes and line breaks are quoted, lines end with CRLF', async () => {
  expect(await csvOf(['a,"b"\nc', 1.5])).toBe('City,Flights\r\n"a,""b""\nc",1.5\r\n');
});

test('NULL is empty, and so is what a row lacks', async () => {
  expect(await csvOf([null])).toBe('City,Flights\r\n,\r\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('text %j does not run in a spreadsheet', async (city) => {
  expect(await csvOf([city, 0])).toContain(`'${city}`);
});

test('numbers keep their sign, also those that are too long for JSON', async () => {
  expect(await csvOf(['x', -3])).toContain('x,-3');
  expect(await csvOf(['x', '-90071992547409931'])).toContain('x,-90071992547409931');
});

test('a date is cut to the precision of its column, and a period stays its first moment', async () => {
  const dated: readonly DownloadColumn[] = [
    { name: 'Sold', label: 'Sold', dataType: 'date', dates: { style: 'long', precision: 'day' } },
    { name: 'Month', label: 'Month', dataType: 'date', grain: 'month', dates: { precision: 'year' } },
    { name: 'Paid', label: 'Paid', dataType: 'date', dates: { style: 'short' } },
    { name: 'Far', label: 'Far', dataType: 'date', dates: { precision: 'month' } },
  ];
  const row = ['2024-02-29T13:45:10', '2024-02-01T00:00:00', '2024-02-29T13:45:10', '+12024-02-29T00:00:00'];
  const batches = (async function* () {
    yield [row];
  })();
  let text = '';
  for await (const piece of toCsv({ columns: dated, batches, limit: null, offset: 0 })) text += piece;
  expect(text).toContain('2024-02-29,2024-02-01T00:00:00,2024-02-29T13:45:10,+12024-02-29T00:00:00\r\n');
});

test('no rows: the header alone', async () => {
  expect(await csvOf()).toBe('City,Flights\r\n');
});

test('each batch is a piece of whole lines, and what fails after one throws', async () => {
  expect(await piecesOf([['a', 1]], [['b', 2]])).toEqual(['City,Flights\r\n', 'a,1\r\n', 'b,2\r\n']);
  const failing = (async function* () {
    yield [['a', 1]];
    throw new Error('broke off');
  })();
  const pieces = toCsv({ columns, batches: failing, limit: null, offset: 0 });
  expect([(await pieces.next()).value, (await pieces.next()).value]).toEqual(['City,Flights\r\n', 'a,1\r\n']);
  await expect(pieces.next()).rejects.toThrow('broke off');
});

const cutCsv = async (count: number, { limit = null as number | null, offset = 0 }): Promise<string> => {
  const batches = (async function* () {
    for (let at = 0; at < count; at += 1) yield [[`c${at}`, at]];
  })();
  let text = '';
  for await (const piece of toCsv({ columns, batches, limit, offset })) text += piece;
  return text;
};

test.each([
  ['the first rows', 3, { limit: 2 }, 'Incomplete: the first 2 rows. More rows follow.,'],
  ['rows in the middle', 3, { limit: 2, offset: 5 }, 'Incomplete: rows 6 to 7. Rows are missing before and after.,'],
  ['the last rows', 2, { limit: 2, offset: 5 }, 'Incomplete: rows 6 to 7. The rows before are left out.,'],
  ['no row', 0, { limit: 2, offset: 5 }, 'Incomplete: no row after row 5. The rows before are left out.,'],
])('%s: the last line says which rows are missing', async (_, count, window, last) => {
  const lines = (await cutCsv(count, window)).split('\r\n');
  expect([lines.length, lines.at(-2), lines.at(-1)]).toEqual([Math.min(count, 2) + 3, last, '']);
});

test('a limit that no row exceeds leaves nothing to say', async () => {
  expect(await cutCsv(2, { limit: 2 })).toBe('City,Flights\r\nc0,0\r\nc1,1\r\n');
});
