import { expect, test } from 'vitest';
import { toCsv } from '../../src/contract/csv.js';
import type { AnswerColumn, Cell } from '../../src/domain/query/engine.js';

const columns: readonly AnswerColumn[] = [
  { name: 'City', dataType: 'string' },
  { name: 'Flights', dataType: 'number' },
];

type Row = readonly Cell[];

const piecesOf = async (...batches: (readonly Row[])[]): Promise<readonly string[]> => {
  const given = (async function* () {
    yield* batches;
  })();
  const pieces: string[] = [];
  for await (const piece of toCsv({ columns, batches: given })) pieces.push(piece);
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

test('no rows: the header alone', async () => {
  expect(await csvOf()).toBe('City,Flights\r\n');
});

test('each batch is a piece of whole lines, and what fails after one throws', async () => {
  expect(await piecesOf([['a', 1]], [['b', 2]])).toEqual(['City,Flights\r\n', 'a,1\r\n', 'b,2\r\n']);
  const failing = (async function* () {
    yield [['a', 1]];
    throw new Error('broke off');
  })();
  const pieces = toCsv({ columns, batches: failing });
  expect([(await pieces.next()).value, (await pieces.next()).value]).toEqual(['City,Flights\r\n', 'a,1\r\n']);
  await expect(pieces.next()).rejects.toThrow('broke off');
});
