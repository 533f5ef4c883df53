/** The part of a metric's rows that a file shows, and what is missing from it. */
import type { Cell } from './engine.js';

type Rows = readonly (readonly Cell[])[];

export type Shown = {
  /** How many rows were passed on until now. */
  readonly count: number;
  /** Whether more rows follow the last one. */
  readonly isCut: boolean;
};

export type Excerpt = { readonly batches: AsyncIterable<Rows>; readonly shown: () => Shown };

/** Rows that are passed on at once. Writing a database's batch of some thousand rows would block the process. */
const mostAtOnce = 200;

/** Passes on the first `limit` rows of `batches`, some at a time. To notice a cut, `batches` must have at least one row more. */
export const excerpt = (batches: AsyncIterable<Rows>, limit: number | null): Excerpt => {
  let shown: Shown = { count: 0, isCut: false };
  const most = limit ?? Number.POSITIVE_INFINITY;
  async function* first(): AsyncGenerator<Rows> {
    for await (const rows of batches) {
      const taken = rows.slice(0, most - shown.count);
      shown = { count: shown.count + taken.length, isCut: taken.length < rows.length };
      for (let at = 0; at < taken.length; at += mostAtOnce) yield taken.slice(at, at + mostAtOnce);
      if (shown.isCut) return;
    }
  }
  return { batches: { [Symbol.asyncIterator]: first }, shown: () => shown };
};
