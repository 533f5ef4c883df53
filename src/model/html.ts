import { escapeMarkup } from './markup.js';

/** Text that is already valid HTML. Only `html` creates it. */
export class Html {
  constructor(readonly text: string) {}
}

export type Piece = Html | string | number | undefined | readonly Piece[];

const write = (piece: Piece): string => {
  if (piece === undefined) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'string' || typeof piece === 'number') return escapeMarkup(String(piece));
  return piece.map(write).join('');
};

/** A template tag that escapes all values except Html. */
export const html = (strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html =>
  new Html(strings.map((string, index) => string + write(pieces[index])).join(''));
