/** `<guestlist-tile>`: a heading, a text or a picture between the cards of a dashboard. */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { Tile } from '../../model/dashboard/tile.js';
import { baseStyles } from '../base/theme.js';
import type { Place } from './layout.js';
import { type Block, type Inline, parseTileText } from './tile-text.js';

const tileStyles = css`
  :host {
    display: block;
    min-width: 0;
    overflow: auto;
    grid-column: var(--x) / span var(--w);
    grid-row: var(--y) / span var(--h);
    overflow-wrap: anywhere;
  }
  :host([printing]) {
    overflow: visible;
    margin: 0 calc(var(--gl-gap) / 2) var(--gl-gap);
    break-inside: avoid;
  }
  @container (max-width: 900px) {
    :host {
      grid-column: span 2;
      grid-row: auto;
      overflow: visible;
    }
  }
  h3 {
    margin: 0;
    font-size: 17px;
    font-weight: 650;
  }
  p,
  ul {
    margin: 0 0 8px;
    line-height: 1.5;
  }
  ul {
    padding-inline-start: 20px;
  }
  a {
    color: inherit;
  }
  canvas {
    display: block;
    max-width: 100%;
    max-height: 100%;
    object-fit: contain;
  }
`;

const inline = (part: Inline): TemplateResult | string => {
  if (part.kind === 'bold') return html`<strong>${part.text}</strong>`;
  if (part.kind === 'italic') return html`<em>${part.text}</em>`;
  if (part.kind === 'plain') return part.text;
  return html`<a href=${part.address} target="_blank" rel="noopener noreferrer">${part.text}</a>`;
};

const block = ({ kind, lines }: Block): TemplateResult =>
  kind === 'list'
    ? html`<ul>${lines.map((line) => html`<li>${line.map(inline)}</li>`)}</ul>`
    : html`<p>${lines.map((line, index) => [index === 0 ? null : html`<br>`, line.map(inline)])}</p>`;

/** Draws a picture from its bytes: many pages forbid `data:` in addresses of pictures, and need not allow it. */
const draw = async (canvas: HTMLCanvasElement, source: string): Promise<void> => {
  const bytes = Uint8Array.from(atob(source.slice(source.indexOf(',') + 1)), (letter) => letter.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes]));
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext('2d')?.drawImage(picture, 0, 0);
  picture.close();
};

const shown = (tile: Tile): TemplateResult | readonly TemplateResult[] => {
  if (tile.kind === 'heading') return html`<h3 part="heading">${tile.text}</h3>`;
  if (tile.kind === 'image') return html`<canvas role="img" aria-label=${tile.alt} width="0" height="0"></canvas>`;
  return parseTileText(tile.text).map(block);
};

export class TileElement extends LitElement {
  static override properties = { tile: { attribute: false }, place: { attribute: false } };
  declare tile: Tile | undefined;
  declare place: Place | undefined;

  static override styles = [baseStyles, tileStyles];

  /** The content policy forbids style attributes, so the place is set here. */
  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('place') || this.place === undefined) return;
    const { x, y, w, h } = this.place;
    for (const [name, value] of Object.entries({ x: x + 1, y: y + 1, w, h })) {
      this.style.setProperty(`--${name}`, String(value));
    }
  }

  protected override updated(changed: PropertyValues<this>): void {
    const canvas = this.renderRoot.querySelector('canvas');
    if (!changed.has('tile') || canvas === null || this.tile?.kind !== 'image') return;
    const { source, alt, tileId } = this.tile;
    draw(canvas, source).catch((error: unknown) => {
      console.warn(`guestlist: the picture of tile ${tileId} cannot be drawn:`, error);
      canvas.replaceWith(alt);
    });
  }

  protected override render(): TemplateResult | readonly TemplateResult[] {
    return this.tile === undefined ? html`` : shown(this.tile);
  }
}
