/** Lists that are read in consecutive parts, so that a long one is never held as a whole. */

/** The parts of a list, in order. Each is read when the consumer asks for it. Can be consumed once. */
export type Slices<T> = AsyncIterable<readonly T[]>;

/** Changes each slice when it is read. */
export async function* mapSlices<From, To>(
  slices: Slices<From>,
  change: (slice: readonly From[]) => readonly To[] | Promise<readonly To[]>,
): AsyncGenerator<readonly To[]> {
  for await (const slice of slices) yield await change(slice);
}

/** Changes each item when its slice is read. */
export const mapItems = <From, To>(slices: Slices<From>, change: (item: From) => To): Slices<To> =>
  mapSlices(slices, (slice) => slice.map(change));

/** A list that is in memory already. */
export async function* sliceOf<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** Reads the list to its end. For lists that are known to be short, and for work that needs all items. */
export const whole = async <T>(slices: Slices<T>): Promise<readonly T[]> => {
  const all: T[] = [];
  for await (const slice of slices) all.push(...slice);
  return all;
};
