/** Answers as text. A long list is written in slices, so that others are answered meanwhile. */
import { type Breathe, breathe as ofThisProcess } from '../platform/breathe.js';

/** A list up to this length is written at once: that takes less time than a slice has. */
const shortList = 100;

const isLong = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > shortList;

/** How deep a list may stand in an answer. */
const deepest = 3;

/** The members of a plain object; null where `JSON.stringify` would write something else than these. */
const membersOf = (value: unknown): readonly (readonly [string, unknown])[] | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value)
    ? Object.entries(value)
    : null;

/** Whether there is a long list in it. */
const holdsLong = (value: unknown, depth = deepest): boolean =>
  isLong(value) || (depth > 0 && membersOf(value)?.some(([, member]) => holdsLong(member, depth - 1)) === true);

const writeList = async (items: readonly unknown[], breathe: Breathe): Promise<string> => {
  const slices: string[] = [];
  for (let at = 0; at < items.length; at += shortList) {
    await breathe();
    // Without its brackets: `[1,2]` and `[3]` are one list.
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

/** What `JSON.stringify` writes; later, where a member of the body is, or holds, a long list. */
export const jsonText = (body: unknown, breathe: Breathe = ofThisProcess): string | Promise<string> =>
  holdsLong(body) ? write(body, breathe).then((text) => text ?? 'null') : JSON.stringify(body);
