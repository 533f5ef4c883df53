/** Choosing a period by dragging over a chart of time. */
import type { Periods } from './model/drawing.js';

/**
 * A period in a dimension of dates. Both ends belong to it. Dates without time where the period has whole days.
 * `last`: the start of its last group, such as a month.
 */
export type Period = { readonly column: string; readonly from: string; readonly to: string; readonly last: string };

export type Range = { readonly from: number; readonly to: number; readonly last: number };

/** Shorter drags are clicks. */
export const shortestDrag = 6;

/** The periods of the points from one index to the other, in either order; null if none of them has a date. */
export const rangeOf = ({ spans }: Periods, one: number, other: number): Range | null => {
  const held = spans.slice(Math.min(one, other), Math.max(one, other) + 1).filter(({ from }) => !Number.isNaN(from));
  const [first, last] = [held[0], held.at(-1)];
  return first === undefined || last === undefined ? null : { from: first.from, to: last.to, last: last.from };
};

export const periodOf = ({ column }: Periods, { from, to, last }: Range): Period => {
  const isWhole = from % 86_400_000 === 0 && (to + 1000) % 86_400_000 === 0;
  const text = (time: number) => new Date(time).toISOString().slice(0, isWhole ? 10 : 19);
  return { column, from: text(from), to: text(to), last: text(last) };
};
