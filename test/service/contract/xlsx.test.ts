/** Workbooks: read back by other programs, with the types of the answer, and with constant memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { strFromU8, unzipSync } from 'fflate';
import readXlsx from 'read-excel-file/node';
import { describe, expect, test } from 'vitest';
import type { DownloadColumn, DownloadRows, DownloadSheet, Workbook } from '../../../src/model/guest/download.js';
import type { Cell } from '../../../src/model/query/engine.js';
import { sheetNames } from '../../../src/service/guest/contract/xlsx/parts.js';
import { toXlsx } from '../../../src/service/guest/contract/xlsx/workbook.js';
import { hasOffice, sheetsByOffice } from '../../suites/office.js';

type Row = readonly Cell[];

/** The rows of one sheet, as another program reads them. */
const readSheet = async (file: Buffer, sheet: string) => {
  const found = (await readXlsx(file, { trim: false })).find(({ sheet: name }) => name === sheet);
  if (found === undefined) throw new Error(`no sheet ${sheet}`);
  return found.data;
};

const columns: readonly DownloadColumn[] = [
  { name: 'city', label: 'City', dataType: 'string' },
  { name: 'Flights', label: 'Flights', dataType: 'number' },
  { name: 'Day', label: 'Day', dataType: 'date', grain: 'day' },
  { name: 'At', label: 'At', dataType: 'date' },
  { name: 'Late', label: 'Late', dataType: 'boolean' },
];

async function* batched(...batches: (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  yield* batches;
}

const rowsOf = (batches: AsyncIterable<readonly Row[]>, window: Partial<DownloadRows> = {}): DownloadRows => ({
  ...{ columns, batches, limit: null, offset: 0 },
  ...window,
});

const sheetOf = (load: () => DownloadRows, name = 'Flights'): DownloadSheet => ({
  ...{ name, filters: [] },
  load: async () => load(),
});

const workbookOf = (sheets: readonly DownloadSheet[], parts: Partial<Workbook> = {}): Workbook => ({
  title: 'Delays',
  madeAt: new Date('2026-01-02T23:04:05Z'),
  timezone: 'Asia/Tokyo',
  filters: [],
  sheets,
  ...parts,
});

const refuse = () => ({ code: 'METRIC_QUERY_ERROR', message: 'This chart can’t be shown.' });

const bytesOf = async (workbook: Workbook): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of toXlsx(workbook, refuse)) pieces.push(piece);
  return Buffer.concat(pieces);
};
const one = (row: Row, window: Partial<DownloadRows> = {}) =>
  bytesOf(workbookOf([sheetOf(() => rowsOf(batched([row]), window))]));
const xmlOf = (file: Buffer, sheet: number): string =>
  strFromU8(unzipSync(new Uint8Array(file))[`xl/worksheets/sheet${sheet}.xml`] ?? new Uint8Array());

describe('cells have the type of the answer', () => {
  test('text, numbers, dates, times and booleans', async () => {
    const file = await one(['Łódź', -3.25, '2024-02-29T00:00:00', '2024-02-29T13:45:10', true]);
    const [titles, row] = await readSheet(file, 'Flights');
    expect(titles).toEqual(['City', 'Flights', 'Day', 'At', 'Late']);
    const times = [Date.UTC(2024, 1, 29), Date.UTC(2024, 1, 29, 13, 45, 10)].map((time) => new Date(time));
    expect(row).toEqual(['Łódź', -3.25, ...times, true]);
  });

  test('NULL is an empty cell', async () => {
    expect((await readSheet(await one([null, 1, null, null, null]), 'Flights'))[1]?.slice(0, 2)).toEqual([null, 1]);
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '=HYPERLINK("http://a")'])(
    'text %j is no formula',
    async (text) => {
      const file = await one([text, 0, null, null, null]);
      expect((await readSheet(file, 'Flights'))[1]?.[0]).toBe(text);
      expect(xmlOf(file, 2)).not.toMatch(/<f[ >]/);
      // Format 5 keeps the text when somebody edits the cell.
      expect(xmlOf(file, 2)).toContain('<c r="A2" t="inlineStr" s="5">');
    },
  );

  test.each(['<b>&"\'', ']]>', '_x0041_', 'a\nb', '😀', ''])('text %j arrives unchanged', async (text) => {
    const read = (await readSheet(await one([text, 0, null, null, null]), 'Flights'))[1]?.[0];
    expect(read ?? '').toBe(text);
  });

  test('what XML cannot hold is written as the format says', async () => {
    const xml = xmlOf(await one(['a\u0001b\ud800c', 0, null, null, null]), 2);
    expect(xml).toContain('a_x0001_b\ufffdc');
  });

  test('a number is a number only if a spreadsheet keeps its digits', async () => {
    const numbers = ['123456789012345', '0.000012', '-12.50', '9007199254740993', '1234567890.1234567', 'NaN'];
    const batch = numbers.map((number): Row => ['x', number, null, null, null]);
    const file = await bytesOf(workbookOf([sheetOf(() => rowsOf(batched(batch)))]));
    const read = (await readSheet(file, 'Flights')).slice(1).map((row) => row[1]);
    expect(read).toEqual([123456789012345, 0.000012, -12.5, '9007199254740993', '1234567890.1234567', 'NaN']);
  });

  test('dates before the calendar of spreadsheets are text', async () => {
    const [, row] = await readSheet(await one(['x', 0, '1899-12-31T00:00:00', '1900-03-01T00:00:00', null]), 'Flights');
    expect(row?.slice(2, 4)).toEqual(['1899-12-31T00:00:00', new Date(Date.UTC(1900, 2, 1))]);
  });

  test('a text longer than a spreadsheet reads is cut with an ellipsis', async () => {
    const text = String((await readSheet(await one(['y'.repeat(40_000), 0, null, null, null]), 'Flights'))[1]?.[0]);
    expect([text.length, text.endsWith('y…')]).toEqual([32_767, true]);
  });
});

describe('dates with a format of the model', () => {
  const dated: readonly DownloadColumn[] = [
    { name: 'Sold', label: 'Sold', dataType: 'date', dates: { style: 'long', precision: 'day' } },
    { name: 'Paid', label: 'Paid', dataType: 'date', dates: { style: 'short', precision: 'second' } },
    { name: 'Month', label: 'Month', dataType: 'date', grain: 'month', dates: { style: 'short', precision: 'day' } },
    { name: 'Quarter', label: 'Quarter', dataType: 'date', grain: 'quarter', dates: { style: 'full' } },
    { name: 'Sent', label: 'Sent', dataType: 'date', dates: { style: 'full', precision: 'day' } },
  ];
  const moment = '2024-02-29T13:45:10';
  const row: Row = [moment, moment, '2024-02-01T00:00:00', '2024-01-01T00:00:00', moment];
  const bookIn = (language: string | undefined) =>
    bytesOf(workbookOf([sheetOf(() => rowsOf(batched([row]), { columns: dated }))], { language }));

  test('stay dates, each with all of its value', async () => {
    const [, read] = await readSheet(await bookIn('de'), 'Flights');
    const times = [13, 13, null, null, 13].map((hour, at) => {
      const days = [Date.UTC(2024, 1, 1), Date.UTC(2024, 0, 1)];
      return new Date(hour === null ? (days[at - 2] ?? 0) : Date.UTC(2024, 1, 29, hour, 45, 10));
    });
    expect(read).toEqual(times);
  });

  /** The codes of the formats of the cells of the second row. */
  const codesIn = async (language: string | undefined): Promise<readonly (string | undefined)[]> => {
    const file = await bookIn(language);
    const styles = strFromU8(unzipSync(new Uint8Array(file))['xl/styles.xml'] ?? new Uint8Array());
    const codes = new Map(
      [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, code]),
    );
    const formats = [...styles.matchAll(/<xf numFmtId="(\d+)" [^>]*xfId="0"\/>/g)].map(([, id]) => codes.get(id));
    return [...xmlOf(file, 2).matchAll(/<c r="[A-E]2" s="(\d+)"/g)].map(([, at]) =>
      formats[Number(at)]?.replaceAll('\\', ''),
    );
  };

  test.each([
    ['de', ['[$-407]d. mmmm yyyy', 'dd.mm.yyyy, hh:mm:ss', 'mm/yyyy', 'yyyy-mm-dd', '[$-407]dddd, d. mmmm yyyy']],
    ['en-US', ['[$-409]mmmm d, yyyy', 'mm/dd/yyyy, hh:mm:ss AM/PM', 'mm/yyyy', 'yyyy-mm-dd']],
    ['ja', ['yyyy年m月d日', 'yyyy/mm/dd hh:mm:ss', 'yyyy/mm', 'yyyy-mm-dd', '[$-411]yyyy年m月d日dddd']],
    // A language that nobody has, and one with another calendar.
    [undefined, ['[$-809]d mmmm yyyy', 'dd/mm/yyyy, hh:mm:ss', 'mm/yyyy', 'yyyy-mm-dd']],
    ['fa', ['d mmmm yyyy', 'yyyy/mm/dd, hh:mm:ss', 'yyyy/mm', 'yyyy-mm-dd']],
  ])('are ordered as %s has it', async (language, codes) => {
    expect((await codesIn(language)).slice(0, codes.length)).toEqual(codes);
  });
});

describe('numbers with a format of the metric', () => {
  const row: Row = [0.215, 0.22, -1234.5, 0.0002, 1500, '9007199254740993', null, 3];
  const [percent, euro, yen] = [{ format: 'percent' }, { currency: 'EUR' }, { currency: 'JPY' }] as const;
  const formatted: readonly DownloadColumn[] = [percent, percent, euro, percent, yen, euro, euro, { unit: 'min' }].map(
    (numbers, at) => ({ name: `c${at}`, label: `c${at}`, dataType: 'number', numbers }),
  );
  const bookIn = (language: string | undefined) =>
    bytesOf(workbookOf([sheetOf(() => rowsOf(batched([row]), { columns: formatted }))], { language }));
  const codesIn = async (language: string | undefined): Promise<readonly (string | undefined)[]> => {
    const file = await bookIn(language);
    const styles = strFromU8(unzipSync(new Uint8Array(file))['xl/styles.xml'] ?? new Uint8Array());
    const codes = new Map(
      [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, code]),
    );
    const formats = [...styles.matchAll(/<xf numFmtId="(\d+)" [^>]*xfId="0"\/>/g)].map(([, id]) => codes.get(id));
    return [...xmlOf(file, 2).matchAll(/<c r="[A-H]2"(?: s="(\d+)")?><v>/g)].map(([, at = '0']) =>
      formats[Number(at)]?.replaceAll('\\', ''),
    );
  };

  test('stay plain numbers, which other programs read with every digit', async () => {
    expect((await readSheet(await bookIn('de'), 'Flights'))[1]).toEqual(row);
  });

  test.each([
    ['en', ['0.0%', '0.0%', '[$€]#,##0.00', '0.00%', '[$¥]#,##0', undefined]],
    ['de', ['0.0 %', '0.0 %', '#,##0.00 [$€]', '0.00 %', '#,##0 [$¥]', undefined]],
    ['tr', ['%0.0', '%0.0', '[$€]#,##0.00', '%0.00', '[$¥]#,##0', undefined]],
  ])('are written as amounts and percents in the order of %s, and a unit has no format', async (language, codes) => {
    expect(await codesIn(language)).toEqual(codes);
  });
});

describe('the first sheet', () => {
  test('states title, moment in the time zone, filters, and the rows of each sheet', async () => {
    const filters = [
      { name: 'State', value: ['CA', 'NV'], isFixed: true },
      { name: 'Date', value: { startDate: '2024-01-01', endDate: '2024-01-31' }, isFixed: false },
      { name: 'Secret', value: { sql: 'select zq', columnName: 'zq' }, isFixed: false },
    ];
    const own = [{ name: 'Delay', value: { min: 5 }, isFixed: false }];
    const sheets = [
      { ...sheetOf(() => rowsOf(batched([['a', 1, null, null, null]]))), filters: own },
      sheetOf(
        () =>
          rowsOf(
            batched([
              ['a', 1, null, null, null],
              ['b', 2, null, null, null],
            ]),
            { limit: 1 },
          ),
        'Cut',
      ),
    ];
    const file = await bytesOf(workbookOf(sheets, { filters }));
    const about = (await readSheet(file, 'About')).map((row) => row.filter((cell) => cell !== null));
    expect(about.filter((row) => row.length > 0)).toEqual([
      ['Delays'],
      ['Made at', new Date(Date.UTC(2026, 0, 3, 8, 4, 5))],
      ['Time zone', 'Asia/Tokyo'],
      ['Filters of', 'Filter', 'Value'],
      ['All sheets', 'State', 'CA, NV (fixed)'],
      ['All sheets', 'Date', '2024-01-01 to 2024-01-31'],
      ['Flights', 'Delay', 'from 5'],
      ['Sheet', 'Title', 'Rows', 'Remark'],
      ['Flights', 'Flights', 1, 'Complete'],
      ['Cut', 'Cut', 1, 'Incomplete: the first 1 rows. More rows follow.'],
    ]);
    expect(file.includes('zq')).toBe(false);
    expect((await readSheet(file, 'Cut')).at(-1)?.[0]).toBe('Incomplete: the first 1 rows. More rows follow.');
  });

  test('a metric that is refused before its first row has a sheet that says so, and the others are whole', async () => {
    const failing: DownloadSheet = { name: 'Bad', filters: [], load: () => Promise.reject(new Error('zq-secret')) };
    const file = await bytesOf(workbookOf([failing, sheetOf(() => rowsOf(batched([['a', 1, null, null, null]])))]));
    expect(await readSheet(file, 'Bad')).toEqual([['This chart can’t be shown.']]);
    expect(await readSheet(file, 'Flights')).toHaveLength(2);
    expect((await readSheet(file, 'About')).flat()).toContain('This chart can’t be shown.');
  });

  test('a failure after the first row is thrown', async () => {
    async function* breaking(): AsyncGenerator<readonly Row[]> {
      yield [['a', 1, null, null, null]];
      throw new Error('broke off');
    }
    await expect(bytesOf(workbookOf([sheetOf(() => rowsOf(breaking()))]))).rejects.toThrow('broke off');
  });
});

test('names of sheets are allowed ones, and none twice', async () => {
  const names = ['A/B:C', 'a b c', 'About', 'History', '', "'q'", 'x'.repeat(40), 'x'.repeat(41)];
  const given = sheetNames(names, ['About'], 'Sheet');
  expect(given).toEqual([
    'A B C',
    'a b c (2)',
    'About (2)',
    'History (2)',
    'Sheet',
    'q',
    'x'.repeat(31),
    `${'x'.repeat(27)} (2)`,
  ]);
  const file = await bytesOf(workbookOf(names.map((name) => sheetOf(() => rowsOf(batched()), name))));
  expect((await readXlsx(file)).map(({ sheet }) => sheet)).toEqual(['About', ...given]);
});

test('the first sheet and the notes are in the reader’s language', async () => {
  const cut = sheetOf(() =>
    rowsOf(
      batched([
        ['a', 1, null, null, null],
        ['b', 2, null, null, null],
      ]),
      { limit: 1, language: 'de' },
    ),
  );
  const filters = [{ name: 'Delay', value: { min: 5 }, isFixed: true }];
  const file = await bytesOf(workbookOf([cut], { language: 'de', filters }));
  const about = (await readSheet(file, 'Über diese Datei')).map((row) => row.filter((cell) => cell !== null));
  expect(about.filter((row) => row.length > 0).slice(2)).toEqual([
    ['Zeitzone', 'Asia/Tokyo'],
    ['Filter von', 'Filter', 'Wert'],
    ['Alle Blätter', 'Delay', 'ab 5 (fest)'],
    ['Blatt', 'Titel', 'Zeilen', 'Bemerkung'],
    ['Flights', 'Flights', 1, 'Unvollständig: die erste Zeile. Weitere Zeilen folgen.'],
  ]);
});

test('a hundred thousand rows are written with constant memory', async () => {
  const batch = Array.from(
    { length: 1000 },
    (_, index): Row => [`city ${index}`, index, '2024-01-01T00:00:00', null, true],
  );
  async function* many(): AsyncGenerator<readonly Row[]> {
    for (let count = 0; count < 100; count += 1) yield batch;
  }
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  let [bytes, seen] = [0, 0];
  const held: number[] = [];
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for await (const piece of toXlsx(workbookOf([sheetOf(() => rowsOf(many()))]), refuse)) {
    bytes += piece.length;
    // A collection of the memory that the files of this process share takes long, so there are a few of them.
    if (bytes < seen + 100_000) continue;
    seen = bytes;
    collect();
    held.push(process.memoryUsage().arrayBuffers - before);
  }
  expect(bytes).toBeGreaterThan(500_000);
  // The sheet is 20 MB of XML, and what is kept of it would be held at the end. The runtime gives memory back somewhat
  // later than it collects it, so the least of the last half counts.
  expect(held.length).toBeGreaterThan(3);
  expect(Math.min(...held.slice(held.length / 2))).toBeLessThan(8_000_000);
});

test.skipIf(!hasOffice())(
  'LibreOffice reads the same text, numbers and types',
  async () => {
    const rows: readonly Row[] = [
      ['=1+1', 1.5, '2024-02-29T00:00:00', '2024-02-29T13:45:10', true],
      ['a,"b"', '9007199254740993', null, null, false],
    ];
    const sheets = await sheetsByOffice(await bytesOf(workbookOf([sheetOf(() => rowsOf(batched(rows)))])));
    expect(sheets.get('Flights')).toEqual([
      '"City","Flights","Day","At","Late"',
      '"=1+1",1.5,2024-02-29,2024-02-29 13:45:10,TRUE',
      '"a,""b""","9007199254740993",,,FALSE',
    ]);
    expect(sheets.get('About')?.join('\n')).toContain('"Time zone","Asia/Tokyo"');
  },
  150_000,
);
