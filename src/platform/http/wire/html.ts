import { escapeMarkup } from '../../../model/markup.js';

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

/** Escapes text and turns backticks into `<code>`. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** Returns a name as a URL fragment. */
export const slug = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
