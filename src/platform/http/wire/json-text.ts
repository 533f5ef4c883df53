/**
 * Writes answers as JSON. A long list is written in slices, so that the process can serve other requests in between. A
 * list that is read in slices is sent in pieces, so that it is never in memory as a whole.
 */
import type { Slices } from '../../../model/slices.js';
import { type Breathe, breathe as ofThisProcess } from '../../work/breathe.js';

/** Lists up to this length are written at once, which takes less time than one slice may. */
const shortList = 100;

const isLong = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > shortList;

/** Whether the value is a list in slices. */
export const isSlices = (value: unknown): value is Slices<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Whether the body is text or bytes in pieces. */
export const isPieces = (body: unknown): body is AsyncIterable<string | Uint8Array> => isSlices(body);

/** Maximum depth at which long lists are searched. */
const deepest = 3;

/** Returns the fields of a plain object; null if `JSON.stringify` would write something else. */
const membersOf = (value: unknown): readonly (readonly [string, unknown])[] | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value)
    ? Object.entries(value)
    : null;

/** Whether the value contains a long list. */
const holdsLong = (value: unknown, depth = deepest): boolean =>
  isLong(value) || (depth > 0 && membersOf(value)?.some(([, member]) => holdsLong(member, depth - 1)) === true);

/** Writes items without the brackets of their list. An item that has a long list itself is written in pieces. */
async function* itemsPieces(items: readonly unknown[], breathe: Breathe): AsyncGenerator<string> {
  if (!items.some((item) => holdsLong(item, 1))) {
    yield JSON.stringify(items).slice(1, -1);
    return;
  }
  for (const [at, item] of items.entries()) {
    if (at > 0) yield ',';
    if (holdsLong(item, 1)) yield* jsonPieces(item, breathe);
    else yield JSON.stringify([item]).slice(1, -1);
  }
}

/** Writes the slices as one list. The process serves other requests before each slice. */
async function* listPieces(slices: Slices<unknown>, breathe: Breathe): AsyncGenerator<string> {
  let before = '[';
  for await (const slice of slices) {
    await breathe();
    if (slice.length === 0) continue;
    yield before;
    yield* itemsPieces(slice, breathe);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Cuts a list that is in memory. */
async function* slicesOf(items: readonly unknown[]): AsyncGenerator<readonly unknown[]> {
  for (let at = 0; at < items.length; at += shortList) yield items.slice(at, at + shortList);
}

/** Writes the fields of an object. As with `JSON.stringify`, a field without a text is left out. */
async function* membersPieces(body: unknown, breathe: Breathe): AsyncGenerator<string> {
  let before = '{';
  for (const [name, member] of membersOf(body) ?? []) {
    const isWhole = !isSlices(member) && !holdsLong(member);
    const text = isWhole ? JSON.stringify(member) : '';
    if (text === undefined) continue;
    yield `${before}${JSON.stringify(name)}:${text}`;
    if (!isWhole) yield* jsonPieces(member, breathe);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Whether the body is an object with a field that is a list in slices. */
export const holdsSlices = (body: unknown): body is object =>
  membersOf(body)?.some(([, member]) => isSlices(member)) === true;

/** The body with another value in the place of each list in slices. */
export const mapSlices = (body: object, change: (slices: Slices<unknown>) => unknown): object =>
  Object.fromEntries(Object.entries(body).map(([name, member]) => [name, isSlices(member) ? change(member) : member]));

/**
 * Writes the body in pieces that together are the text of `JSON.stringify`. Fields in slices are read as fast as the
 * pieces are consumed.
 */
export async function* jsonPieces(body: unknown, breathe: Breathe = ofThisProcess): AsyncGenerator<string> {
  if (isSlices(body)) yield* listPieces(body, breathe);
  else if (isLong(body)) yield* listPieces(slicesOf(body), breathe);
  else if (holdsSlices(body) || holdsLong(body)) yield* membersPieces(body, breathe);
  else yield JSON.stringify(body);
}

const joined = async (pieces: AsyncIterable<string>): Promise<string> => {
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(piece);
  return texts.join('');
};

/** Returns the same text as `JSON.stringify`. Returns a promise if the body contains a long list, or one in slices. */
export const jsonText = (body: unknown, breathe: Breathe = ofThisProcess): string | Promise<string> =>
  holdsLong(body) || holdsSlices(body) ? joined(jsonPieces(body, breathe)) : JSON.stringify(body);
