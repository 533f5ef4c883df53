/**
 * Writes answers as JSON. A long list is written in slices, so that the process can serve other requests in between.
 */
import { type Breathe, breathe as ofThisProcess } from '../platform/breathe.js';

/** Lists up to this length are written at once, which takes less time than one slice may. */
const shortList = 100;

const isLong = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > shortList;

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

const writeList = async (items: readonly unknown[], breathe: Breathe): Promise<string> => {
  const slices: string[] = [];
  for (let at = 0; at < items.length; at += shortList) {
    await breathe();
    // Each slice is written without its brackets, so that the slices can be joined to one list.
    slices.push(JSON.stringify(items.slice(at, at + shortList)).slice(1, -1));
  }
  return `[${slices.join(',')}]`;
};

const write = async (value: unknown, breathe: Breathe): Promise<string | undefined> => {
  if (isLong(value)) return writeList(value, breathe);
  if (!holdsLong(value)) return JSON.stringify(value);
  const written: string[] = [];
  for (const [name, member] of membersOf(value) ?? []) {
    const text = await write(member, breathe);
    if (text !== undefined) written.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${written.join(',')}}`;
};

/** Returns the same text as `JSON.stringify`. Returns a promise if the body contains a long list. */
export const jsonText = (body: unknown, breathe: Breathe = ofThisProcess): string | Promise<string> =>
  holdsLong(body) ? write(body, breathe).then((text) => text ?? 'null') : JSON.stringify(body);
