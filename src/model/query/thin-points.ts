/**
 * Fewer points of a long line, area or scatter: of each run of rows the first and the last, and for each measure the least,
 * the greatest and one without a value. Exact where there are no more rows than points.
 */
import type { AnswerColumn, Cell } from './engine.js';

type Row = readonly Cell[];
type Numbered = { readonly at: number; readonly row: Row };

/** A run of rows of one series. For each measure: its least, its greatest, and one without a value. */
type Run = {
  readonly count: number;
  readonly first: Numbered;
  readonly last: Numbered;
  readonly least: readonly (Numbered | undefined)[];
  readonly greatest: readonly (Numbered | undefined)[];
  readonly empty: readonly (Numbered | undefined)[];
};

export type Thinning = {
  readonly add: (row: Row) => void;
  /** The rows that are left, in the order in which they were added. */
  readonly rows: () => readonly Row[];
  readonly total: () => number;
};

const numberIn = (cell: Cell | undefined): number => (cell === null || cell === undefined ? Number.NaN : Number(cell));

const better = (
  a: Numbered | undefined,
  b: Numbered | undefined,
  index: number,
  isBetter: (a: number, b: number) => boolean,
): Numbered | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  return isBetter(numberIn(b.row[index]), numberIn(a.row[index])) ? b : a;
};

/** The later run follows the earlier one. */
const joined = (measures: readonly number[], a: Run, b: Run): Run => ({
  count: a.count + b.count,
  first: a.first,
  last: b.last,
  least: measures.map((index, at) => better(a.least[at], b.least[at], index, (x, y) => x < y)),
  greatest: measures.map((index, at) => better(a.greatest[at], b.greatest[at], index, (x, y) => x > y)),
  empty: measures.map((_, at) => a.empty[at] ?? b.empty[at]),
});

const runOf = (measures: readonly number[], one: Numbered): Run => {
  const filled = measures.map((index) => (Number.isNaN(numberIn(one.row[index])) ? undefined : one));
  const empty = measures.map((_, at) => (filled[at] === undefined ? one : undefined));
  return { count: 1, first: one, last: one, least: filled, greatest: filled, empty };
};

const keptOf = ({ first, last, least, greatest, empty }: Run): readonly Numbered[] =>
  [first, last, ...least, ...greatest, ...empty].filter((one) => one !== undefined);

/** Joins neighbours. An odd last run stays, and takes the rows that follow. */
const halved = (measures: readonly number[], runs: readonly Run[]): Run[] => {
  const fewer: Run[] = [];
  for (let at = 0; at < runs.length; at += 2) {
    const [a, b] = [runs[at], runs[at + 1]];
    if (a !== undefined) fewer.push(b === undefined ? a : joined(measures, a, b));
  }
  return fewer;
};

/**
 * `groups`: the names of the columns that are not measures. The first is the axis; the others tell the series apart, and
 * each series keeps its own extremes. Memory grows with `maxPoints` and not with the rows, unless there are more series.
 */
export const createThinning = (
  columns: readonly AnswerColumn[],
  groups: readonly string[],
  maxPoints: number,
): Thinning => {
  const [axis, ...others] = groups.map((name) => columns.findIndex((column) => column.name === name));
  const measures = columns.flatMap(({ dataType }, index) =>
    index === axis || others.includes(index) || dataType !== 'number' ? [] : [index],
  );
  const series = new Map<string, Run[]>();
  let total = 0;
  let runRows = 1;
  let runCount = 0;
  const most = (): number => Math.max(1, Math.floor(maxPoints / (runRows === 1 ? 1 : 2 + 3 * measures.length)));
  const shrink = (): void => {
    const before = runCount;
    runRows *= 2;
    runCount = 0;
    for (const [key, runs] of series) {
      const fewer = halved(measures, runs);
      series.set(key, fewer);
      runCount += fewer.length;
    }
    // Each series is one run: there is nothing left to join.
    if (runCount > most() && runCount < before) shrink();
  };
  return {
    add: (row) => {
      const key = JSON.stringify(others.map((index) => row[index] ?? null));
      const runs = series.get(key) ?? [];
      series.set(key, runs);
      const one = runOf(measures, { at: total, row });
      const last = runs.at(-1);
      if (last !== undefined && last.count < runRows) runs[runs.length - 1] = joined(measures, last, one);
      else {
        runs.push(one);
        runCount += 1;
      }
      total += 1;
      if (runCount > most() && runCount > series.size) shrink();
    },
    rows: () => {
      const kept = new Map<number, Row>();
      for (const runs of series.values())
        for (const run of runs) for (const { at, row } of keptOf(run)) kept.set(at, row);
      return [...kept].toSorted(([a], [b]) => a - b).map(([, row]) => row);
    },
    total: () => total,
  };
};
