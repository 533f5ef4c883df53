import { placeOf, type TextPlace } from '../../model/text-place.js';

export const writtenPlace = ({ line, column }: TextPlace): string => `line ${line}, column ${column}`;

/**
 * The place at which a parser failed. `at`: the number of characters before it, as the parser tells it. `lead` stood
 * before the author's text. Undefined if the place is not in that text.
 */
export const placeAt = (text: string, at: unknown, lead = ''): TextPlace | undefined => {
  const offset = at === undefined ? Number.NaN : Number(at) - lead.length;
  const isIn = Number.isInteger(offset) && offset >= 0 && offset <= text.length;
  return isIn ? placeOf(text, [...text].slice(0, offset).join('').length) : undefined;
};

/** What a parser expected, with the place at which it failed. */
export const expectedAt = (expected: string, place: TextPlace | undefined): string =>
  place === undefined ? expected : `${expected} (it fails at ${writtenPlace(place)})`;
