/** A line and a column of a text, both from 1, as editors count them. */
export type TextPlace = { readonly line: number; readonly column: number };

/** The place of an offset. It tells nothing else of the text. */
export const placeOf = (text: string, offset: number): TextPlace => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};
