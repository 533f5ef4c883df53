/**
 * Writes a workbook (XLSX, ECMA-376) while its rows are read, with constant memory. The first sheet states what the
 * others show: title, moment, time zone, filters, and which rows are missing.
 */
import type { DownloadRows, DownloadSheet, StatedFilter, Workbook } from '../../../../model/guest/download.js';
import type { Cell } from '../../../../model/query/engine.js';
import { excerpt } from '../../../../model/query/excerpt.js';
import { numbersInRow } from '../../../../model/query/numbers.js';
import { readLanguage, type Speech, speechOf } from '../../../../model/texts/messages.js';
import { columnName, formats, numberCell, serialOf, type TypedColumn, textCell, typedCell } from './cells.js';
import { missingRows } from './missing-rows.js';
import { createNumberFormatCodes, type NumberFormatCodes } from './number-formats.js';
import { fixedParts, sheetNames, styles, xml } from './parts.js';
import { type Part, zipped } from './zip.js';

type Say = Speech['text'];

const range = (from: unknown, to: unknown, text: Say): string => {
  const [first, last] = [String(from), String(to)];
  if (to === undefined) return text('from {from}', { from: first });
  return from === undefined ? text('up to {to}', { to: last }) : text('{from} to {to}', { from: first, to: last });
};

const valueWords = (value: StatedFilter['value'], text: Say): string | null => {
  if (typeof value !== 'object') return String(value);
  if ('sql' in value) return null;
  if ('startDate' in value) return range(value.startDate, value.endDate, text);
  if ('start' in value) return range(value.start, value.end, text);
  if (Array.isArray(value)) return value.join(', ');
  const { min, max } = value as { readonly min?: unknown; readonly max?: unknown };
  return range(min, max, text);
};

/** Returns the value in words; null for a value of the host that guests may not see. */
const filterWords = ({ value, isFixed }: StatedFilter, text: Say): string | null => {
  const words = valueWords(value, text);
  return words !== null && isFixed ? text('{value} (fixed)', { value: words }) : words;
};

/** The greatest number of rows that a spreadsheet reads, without those of the title and of the note at the end. */
const mostRows = 1_048_576 - 2;
const mostColumns = 16_384;
/** Characters of all sheets. The format cannot hold much more; a larger workbook is cut, and says so. */
const mostCharacters = 2 ** 30;

const head = (widths: readonly number[]): string =>
  `${xml}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths
    .map((width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`)
    .join('')}</cols><sheetData>`;

const foot = '</sheetData></worksheet>';

const line = (row: number, cells: readonly string[]): string => `<row r="${row}">${cells.join('')}</row>`;

const note = (row: number, text: string): string => line(row, [textCell(`A${row}`, text)]);

const widthOf = (label: string): number => Math.min(60, Math.max(14, label.length + 2));

/** What the first sheet says about another one. */
type Told = { readonly count: number | null; readonly remark: string };
type Room = { left: number };
type Tell = (told: Told) => void;
type Write = {
  readonly failure: WriteFailure;
  readonly tell: Tell;
  readonly speech: Speech;
  readonly numberFormats: NumberFormatCodes;
};

async function* writeRows(
  rows: DownloadRows,
  room: Room,
  { tell, speech, numberFormats }: Write,
): AsyncGenerator<string> {
  const columns = rows.columns.slice(0, mostColumns).map((column, index) => {
    const { numbers = {}, currencyColumn } = column;
    const currencyAt = rows.columns.findIndex(({ name }) => name === currencyColumn);
    const typedIn = (row: readonly Cell[]): TypedColumn => ({
      ...column,
      numberFormat: (value) =>
        numberFormats.placeOf(
          value,
          numbersInRow(numbers, column, () => row[currencyAt]),
        ),
    });
    return { label: column.label, at: columnName(index), typedIn };
  });
  yield head(columns.map(({ label }) => widthOf(label)));
  yield line(
    1,
    columns.map(({ at, label }) => textCell(`${at}1`, label, formats.bold)),
  );
  const part = excerpt(rows.batches, Math.min(rows.limit ?? mostRows, mostRows));
  let [at, isFull] = [1, false];
  for await (const batch of part.batches) {
    const text = batch.map((row) => {
      at += 1;
      return line(
        at,
        columns.map((column, index) => typedCell(`${column.at}${at}`, row[index], column.typedIn(row))),
      );
    });
    const piece = text.join('');
    room.left -= piece.length;
    yield piece;
    isFull = room.left < 0;
    if (isFull) break;
  }
  const count = at - 1;
  const missing = missingRows({ count, isCut: isFull || part.shown().isCut }, rows.offset, speech);
  if (missing !== null) yield note(at + 1, missing);
  yield foot;
  tell({ count, remark: missing ?? speech.text('Complete') });
}

/** Writes a sheet. A metric that is refused before its first row has a sheet that says so. */
async function* writeSheet(sheet: DownloadSheet, room: Room, write: Write): AsyncGenerator<string> {
  let rows: DownloadRows;
  try {
    rows = await sheet.load();
  } catch (error) {
    const { message } = write.failure(error);
    yield head([60]);
    yield note(1, message);
    yield foot;
    write.tell({ count: null, remark: message });
    return;
  }
  yield* writeRows(rows, room, write);
}

/** Returns what a guest may read about an error. */
type WriteFailure = (error: unknown) => { readonly message: string };

/** The moment in the time zone, in the form of answers. */
const momentIn = (moment: Date, timezone: string): string => {
  const options = { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(moment).replace(',', '');
};

type Row = readonly (string | number | null)[];

const filterRows = (filters: readonly StatedFilter[], where: string, text: Speech['text']): readonly Row[] =>
  filters.flatMap((filter) => {
    const words = filterWords(filter, text);
    return words === null ? [] : [[where, filter.name, words]];
  });

const aboutRows = (
  workbook: Workbook,
  names: readonly string[],
  told: readonly Told[],
  { text }: Speech,
): readonly Row[] => {
  const { filters, sheets, timezone } = workbook;
  const stated = [
    ...filterRows(filters, text('All sheets'), text),
    ...sheets.flatMap((sheet, index) => filterRows(sheet.filters, names[index] ?? '', text)),
  ];
  return [
    [text('Time zone'), timezone ?? text('Times as stored; the moment above is in UTC')],
    [],
    ...(stated.length === 0
      ? [[text('Filters'), text('None')]]
      : [[text('Filters of'), text('Filter'), text('Value')], ...stated]),
    [],
    [text('Sheet'), text('Title'), text('Rows'), text('Remark')],
    ...sheets.map(({ name }, index) => [
      names[index] ?? '',
      name,
      told[index]?.count ?? null,
      told[index]?.remark ?? '',
    ]),
  ];
};

async function* writeAbout(workbook: Workbook, names: readonly string[], told: readonly Told[], speech: Speech) {
  yield head([34, 34, 34, 60]);
  const made = serialOf(momentIn(workbook.madeAt, workbook.timezone ?? 'UTC')) ?? 0;
  yield line(1, [textCell('A1', workbook.title, formats.bold)]);
  yield line(2, [textCell('A2', speech.text('Made at')), numberCell('B2', made, formats.time)]);
  for (const [index, row] of aboutRows(workbook, names, told, speech).entries()) {
    const number = index + 3;
    const cells = row.map((cell, at) => typedCell(`${columnName(at)}${number}`, cell, { dataType: 'string' }));
    yield line(number, cells);
  }
  yield foot;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

async function* partsOf(workbook: Workbook, failure: WriteFailure): AsyncGenerator<Part> {
  const speech = speechOf(workbook.language);
  const about = speech.text('About');
  const names = sheetNames(
    workbook.sheets.map(({ name }) => name),
    [about],
    speech.text('Sheet'),
  );
  const language = readLanguage(workbook.language) ?? 'en-GB';
  const numberFormats = createNumberFormatCodes(language);
  for (const [path, text] of fixedParts([about, ...names])) yield { path, pieces: once(text) };
  const told: Told[] = [];
  const room: Room = { left: mostCharacters };
  for (const [index, sheet] of workbook.sheets.entries()) {
    const write: Write = { failure, tell: (of) => void told.push(of), speech, numberFormats };
    yield { path: `xl/worksheets/sheet${index + 2}.xml`, pieces: writeSheet(sheet, room, write) };
  }
  // The first sheet is written last: only now it is known how many rows there are.
  yield { path: 'xl/worksheets/sheet1.xml', pieces: writeAbout(workbook, names, told, speech) };
  yield { path: 'xl/styles.xml', pieces: once(styles(language, numberFormats.codes)) };
}

/** Writes the workbook in pieces. A failure after the first row of a sheet is thrown. */
export const toXlsx = (workbook: Workbook, failure: WriteFailure): AsyncIterable<Uint8Array> =>
  zipped(partsOf(workbook, failure), workbook.madeAt);
