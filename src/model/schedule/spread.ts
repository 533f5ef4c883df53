/** Spreads messages of one moment over a window, so that they do not all begin at once. */

/** FNV-1a, with the last steps of MurmurHash3, so that ids that differ little get numbers that differ much. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Returns the milliseconds after a moment, less than `windowMs`: the same for this key at each moment, in each process. */
const spreadMs = (key: string, windowMs: number): number => Math.floor((hashOf(key) / 2 ** 32) * windowMs);

/** When a message of this moment may leave: not before now, and at its own place in the window. */
export const leavesAt = (key: string, moment: Date, windowMs: number, now: Date): Date =>
  new Date(Math.max(now.getTime(), moment.getTime() + spreadMs(key, windowMs)));
