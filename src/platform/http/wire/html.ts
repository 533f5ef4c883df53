import { type Html, html } from '../../../model/html.js';

/** Escapes text and turns backticks into `<code>`. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** Returns a name as a URL fragment. */
export const slug = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
