/** What a model reads of its tools, and how its own words are read. Pure. */
import { isRecord } from '../is-record.js';
import type { MetricAnswer } from '../query/engine.js';
import { measureNumbers, type NumberFormats, writtenRows } from '../query/numbers.js';
import { chatLimits } from './chat.js';

type Row = MetricAnswer['rows'][number];

/** Characters of the arguments of one use of a tool. */
const mostArguments = 65_536;
const mostRows = 50;
const mostRowCharacters = 8_000;
const mostName = 255;

/** Returns undefined for arguments that are no JSON object. */
export const readArguments = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (text.length > mostArguments) return undefined;
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isRecord(value) ? value : undefined;
  } catch {
    // What is no JSON is answered to the model.
    return undefined;
  }
};

const clean = (text: string, most: number): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, most)
    .replace(/\p{Cs}/gu, '');

/** Returns the name of a metric as the service takes it. */
export const readName = (given: unknown, otherwise: string): string =>
  (typeof given === 'string' ? clean(given, mostName) : '') || otherwise;

/** Returns the text of a model as plain text. Null: none. */
export const readText = (text: string | null): string | null =>
  text === null ? null : clean(text, chatLimits.textLength) || null;

/** The first rows, as far as they are few characters. */
const firstRows = (rows: readonly Row[]): readonly Row[] => {
  let size = 0;
  return rows.slice(0, mostRows).filter((row) => {
    size += JSON.stringify(row).length;
    return size <= mostRowCharacters;
  });
};

type Measured = {
  readonly chart: NumberFormats;
  readonly measures?: readonly { readonly name: string; readonly isHidden?: true | undefined }[] | undefined;
  readonly calculations?: readonly { readonly name: string }[] | undefined;
};

const columnsOf = ({ chart, measures = [], calculations = [] }: Measured) => {
  const names = [...measures.filter(({ isHidden }) => isHidden !== true), ...calculations].map(({ name }) => name);
  return names.map((name) => ({ name, numbers: measureNumbers({ ...chart, measures: names }, name) }));
};

/**
 * What a model reads of a metric that ran. Without the operator's leave it reads no row, and nothing about rows. `language`:
 * of the user, for `written`.
 */
export const ranResult = (
  { rows, totalRecords }: { readonly rows: readonly Row[]; readonly totalRecords: number },
  definition: Measured,
  { allowsRows, language = 'en' }: { readonly allowsRows: boolean; readonly language?: string | undefined },
): { readonly text: string; readonly read: readonly unknown[] } => {
  if (!allowsRows) return { text: JSON.stringify({ result: 'The user sees the chart.' }), read: [] };
  const shown = firstRows(rows);
  const written = writtenRows(shown, columnsOf(definition), language);
  const result = { result: 'The user sees the chart.', totalRows: totalRecords, rows: shown, written };
  return { text: JSON.stringify(result), read: [result] };
};

export const refusedResult = (reason: string): string =>
  JSON.stringify({ refused: reason, next: 'Correct it, or say that the question cannot be answered.' });

/** Every number in values that a model read. */
export const knownNumbers = (values: readonly unknown[]): readonly number[] =>
  [...JSON.stringify(values).matchAll(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)].flatMap(([text]) => {
    const digits = text.replace(/^-/, '');
    return [Number(text), Number(digits)];
  });
