/** The line and column of a character, both from 1. It tells nothing else of the text. */
export const placeIn = (text: string, offset: number): string => {
  const before = [...text].slice(0, offset).join('').split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};

/**
 * What a parser expected, with the place at which it failed. `at`: the number of characters before that place, as the
 * parser tells it. `lead` stood before the author's text. The place is left out if it is not in that text.
 */
export const expectedAt = (expected: string, text: string, at: unknown, lead = ''): string => {
  const offset = at === undefined ? Number.NaN : Number(at) - lead.length;
  const isIn = Number.isInteger(offset) && offset >= 0 && offset <= text.length;
  return isIn ? `${expected} (it fails at ${placeIn(text, offset)})` : expected;
};
