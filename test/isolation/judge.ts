/**
 * Decides whether an answer is correct. Numbers computed with floats may differ in their last digits; everything else
 * must be exact.
 */
import type { Cell, MetricAnswer } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Expected } from './evaluator.js';
import { type Refusable, Unanswerable } from './evaluator-joins.js';
import { compareExact, exactOfFloat, parseExact, toNumber } from './exact.js';
import { isExact, type Value } from './values.js';

const relativeTolerance = 1e-9;

const isNear = (a: number, b: number): boolean =>
  Math.abs(a - b) <= relativeTolerance * Math.max(Math.abs(a), Math.abs(b), Number.MIN_VALUE);

const numberOfCell = (cell: string | number) => (typeof cell === 'number' ? exactOfFloat(cell) : parseExact(cell));

const time = (text: string): string => text.replace(/(\.[0-9]*?)0+$/, '$1').replace(/\.$/, '');

/** `isFloat`: the database computed with floats. */
export const isRight = (cell: Cell, value: Value, isFloat: boolean): boolean => {
  if (cell === null || value === null) return cell === value;
  if (isExact(value)) {
    if (typeof cell === 'boolean') return false;
    if (isFloat) return isNear(Number(cell), toNumber(value));
    // A decimal that was computed as a float is answered as the shortest text of that float.
    return compareExact(parseExact(String(cell)), value) === 0 || compareExact(numberOfCell(cell), value) === 0;
  }
  return typeof value === 'string' && typeof cell === 'string' ? time(cell) === time(value) : cell === value;
};

/** Compares cells of two engines, or of one engine on two databases. */
export const areAlike = (a: Cell | undefined, b: Cell | undefined): boolean =>
  a === b || (typeof a === 'number' && typeof b === 'number' && isNear(a, b));

/** The result of a question: an answer, or the reason of its refusal. */
export type Outcome<Answer> = { readonly answer: Answer } | { readonly refused: string };

/** Rethrows every error except a refusal of the query. */
export const outcomeOf = async <Answer>(work: () => Promise<Answer>): Promise<Outcome<Answer>> => {
  try {
    return { answer: await work() };
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === 'METRIC_QUERY_ERROR' && !cause.reason.startsWith('datasource'))
      return { refused: cause.reason };
    throw cause;
  }
};

export const expectedOf = <Answer>(work: () => Answer): Outcome<Answer> & { readonly refused?: Refusable } => {
  try {
    return { answer: work() };
  } catch (cause) {
    if (cause instanceof Unanswerable)
      return { refused: cause.reason } as Outcome<Answer> & { readonly refused: Refusable };
    throw cause;
  }
};

const show = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item));

/** Throws an error with both answers if they differ. */
export const assertSameAnswer = (what: string, a: MetricAnswer, b: MetricAnswer): void => {
  const names = a.columns.map(({ name }) => name);
  const isSame =
    show({ ...a, rows: [] }) === show({ ...b, rows: [] }) &&
    a.rows.length === b.rows.length &&
    a.rows.every((row, index) => names.every((name) => areAlike(row[name], b.rows[index]?.[name])));
  if (!isSame) throw new Error(`${what}\n  ${show(a)}\n  ${show(b)}`);
};

export const assertRight = (
  what: string,
  { rows, columns, totalRecords }: MetricAnswer,
  expected: Expected,
  isFloat: (column: number) => boolean,
): void => {
  const isSame =
    totalRecords === expected.total &&
    rows.length === expected.rows.length &&
    rows.every((row, index) => {
      const values = expected.rows[index] ?? [];
      return (
        values.length === columns.length &&
        columns.every(({ name }, place) => isRight(row[name] ?? null, values[place] ?? null, isFloat(place)))
      );
    });
  if (!isSame) throw new Error(`${what}\n  ${show({ rows, totalRecords })}\n  ${show(expected)}`);
};

export const assertRightOptions = (what: string, options: readonly Cell[], expected: readonly Value[]): void => {
  const isSame =
    options.length === expected.length && options.every((cell, index) => isRight(cell, expected[index] ?? null, false));
  if (!isSame) throw new Error(`${what}\n  ${show(options)}\n  ${show(expected)}`);
};
