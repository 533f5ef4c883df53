/** Reads the beginning of lists in slices before their answer begins, so that its failure can still be answered. */
import type { Slices } from '../../../model/slices.js';
import { isSlices } from './json-text.js';

/** The slices that were read, and then the others. */
async function* resumed<T>(
  read: readonly (readonly T[])[],
  others: AsyncIterator<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  yield* read;
  yield* { [Symbol.asyncIterator]: () => others };
}

/** Returns a list of at most one slice as an array. */
const begun = async <T>(slices: Slices<T>): Promise<readonly T[] | Slices<T>> => {
  const reading = slices[Symbol.asyncIterator]();
  const first = await reading.next();
  if (first.done === true) return [];
  const second = await reading.next();
  return second.done === true ? first.value : resumed([first.value, second.value], reading);
};

/** Returns the body with whole arrays in place of its lists of at most one slice. Rejects as the first reads do. */
export const readAhead = async (body: object): Promise<object> => {
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(body))
    members.push([name, isSlices(member) ? await begun(member) : member]);
  return Object.fromEntries(members);
};
