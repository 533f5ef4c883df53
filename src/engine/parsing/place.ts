/** The line and column of a character, both from 1. It tells nothing else of the text. */
export const placeIn = (text: string, offset: number): string => {
  const before = [...text].slice(0, offset).join('').split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};

/**
 * What a parser expected, with the place at which it failed. `at`: the number of characters before that place, as the
 * parser gives it; the place is left out if it gives none.
 */
export const expectedAt = (expected: string, text: string, at: unknown): string => {
  const offset = at === undefined || at === null ? Number.NaN : Number(at);
  const isIn = Number.isInteger(offset) && offset >= 0 && offset <= text.length;
  return isIn ? `${expected} (it fails at ${placeIn(text, offset)})` : expected;
};

/** The place in a text that stood after `lead` when the parser read it. */
export const offsetIn = (at: unknown, lead: string): unknown =>
  at === undefined || at === null ? undefined : Number(at) - lead.length;
