/** The cards and tiles of a template, drawn at their places. Nothing can be changed here. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Tile } from '../../../model/dashboard/tile.js';
import { baseStyles, themeStyles } from '../../base/theme.js';
import { tileName } from '../../editor/arranger.js';
import { type Box, boardOf, inReadingOrder } from '../../editor/board.js';
import '../../elements/tile.js';
import type { Card } from '../base/content.js';
import { DarkState } from '../base/dark-state.js';
import type { Drawn } from '../base/drawn-metrics.js';
import './card-preview.js';

/** How a metric is drawn. */
export type DrawnOf = (metricId: string) => Drawn | undefined;

/** What a reader sees at the place of a box. Undefined for a tab, and for a metric that is unknown. */
export const drawnBox = ({ content, x, y, w, h }: Box, drawnOf: DrawnOf): TemplateResult | undefined => {
  if (content.kind === 'tab') return undefined;
  if (content.kind !== 'card') {
    const place = { x, y, w, h };
    return html`<guestlist-tile .tile=${{ ...content, ...place }} .place=${place}></guestlist-tile>`;
  }
  const drawn = drawnOf(content.metricId);
  if (drawn === undefined) return undefined;
  const { key, metric, ask } = drawn;
  return html`${keyed(key, html`<studio-card-preview .metric=${metric} .ask=${ask}></studio-card-preview>`)}`;
};

class DrawnBoard extends LitElement {
  static override properties = {
    cards: { attribute: false },
    tiles: { attribute: false },
    drawnOf: { attribute: false },
  };
  static override styles = [
    themeStyles,
    baseStyles,
    css`
      .grid {
        display: grid;
        grid-template-columns: repeat(12, minmax(0, 1fr));
        grid-auto-rows: var(--gl-row-height);
        gap: var(--gl-gap);
      }
      .grid > * {
        min-width: 0;
      }
      .grid > * > * {
        height: 100%;
      }
      @media (max-width: 700px) {
        .grid {
          grid-auto-rows: auto;
        }
        .grid > * {
          grid-area: auto / 1 / auto / -1 !important;
        }
        .grid > .card {
          height: 320px;
        }
      }
    `,
  ];
  declare cards: readonly Card[];
  declare tiles: readonly Tile[];
  declare drawnOf: DrawnOf;

  constructor() {
    super();
    new DarkState(this);
  }

  protected override render(): TemplateResult {
    return html`<div class="grid">${repeat(
      inReadingOrder(boardOf(this.cards, this.tiles)),
      ({ id }) => id,
      (box) => {
        const { content, x, y, w, h } = box;
        const place = `grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}`;
        return html`<div class=${content.kind} .style=${place}>${drawnBox(box, this.drawnOf) ?? html`<h3>${content.kind === 'card' ? '' : tileName(content)}</h3>`}</div>`;
      },
    )}</div>`;
  }
}

customElements.define('studio-drawn-board', DrawnBoard);
