/** The kind of an uploaded file by its content: its name says nothing for sure. */
import { open } from 'node:fs/promises';
import { Refusal } from '../../model/refusal.js';
import type { FileKind, ReadFileKind } from '../../model/upload.js';

const headBytes = 65_536;

export const refuseFile = (message: string, cause?: unknown): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'upload-refused', cause });
};

const isAt = (bytes: Buffer, offset: number, text: string): boolean =>
  bytes.subarray(offset, offset + text.length).equals(Buffer.from(text, 'latin1'));

const kinds = 'Upload a CSV file, a Parquet file or a DuckDB file.';

/** Files that people take for tables, by their first bytes. */
const others: readonly (readonly [start: string, message: string])[] = [
  ['PK\x03\x04', 'This is an Excel workbook or another packed file. Save the sheet as CSV (UTF-8), and upload that.'],
  ['\xD0\xCF\x11\xE0', 'This is an old Excel workbook. Save the sheet as CSV (UTF-8), and upload that.'],
  ['\x1F\x8B', 'This file is compressed by gzip. Unpack it, and upload what is in it.'],
  ['SQLite format 3', `This is a SQLite file. ${kinds}`],
  ['%PDF', `This is a PDF file. ${kinds}`],
  ['\xFF\xFE', 'This text is UTF-16. Save it as CSV in UTF-8, and upload that.'],
  ['\xFE\xFF', 'This text is UTF-16. Save it as CSV in UTF-8, and upload that.'],
];

/** Null unless the bytes, of which the last character may be cut off, are text. */
const textIn = (bytes: Buffer): string | null => {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
};

const markup = /^\s*(?:[{[]|<(?:!doctype|html|\?xml|[a-z]+[\s>]))/i;

const kindOfText = (head: Buffer): FileKind => {
  const text = textIn(head);
  if (text === null)
    return refuseFile(`The content of this file is none that Studio reads. ${kinds} A CSV file is text in UTF-8.`);
  if (text.trim() === '') return refuseFile('This file is empty.');
  if (markup.test(text)) return refuseFile(`This file is JSON, XML or HTML. ${kinds}`);
  return 'csv';
};

export const readFileKind: ReadFileKind = async (path) => {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const head = Buffer.alloc(Math.min(headBytes, size));
    await file.read(head, 0, head.length, 0);
    if (isAt(head, 8, 'DUCK')) return 'duckdb';
    if (!isAt(head, 0, 'PAR1')) {
      const other = others.find(([start]) => isAt(head, 0, start));
      return other === undefined ? kindOfText(head) : refuseFile(other[1]);
    }
    const tail = Buffer.alloc(4);
    await file.read(tail, 0, 4, Math.max(0, size - 4));
    if (size < 12 || !isAt(tail, 0, 'PAR1')) refuseFile('This Parquet file is not complete: its end is missing.');
    return 'parquet';
  } finally {
    await file.close();
  }
};
