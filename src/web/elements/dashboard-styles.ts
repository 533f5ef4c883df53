/** How a dashboard looks: its grid on wide and narrow screens and on paper. */
import { css } from 'lit';

export const dashboardStyles = css`
  ::slotted([slot='logo']) {
    display: block;
    max-width: 100%;
    max-height: 40px;
    margin: 0 0 12px;
  }
  .frame[data-side] {
    display: grid;
    gap: 14px 24px;
  }
  .frame[data-side] .content {
    container-type: inline-size;
    min-width: 0;
  }
  guestlist-side-bar {
    min-height: 34px;
  }
  @container (width > 900px) {
    .frame[data-side] {
      grid-template-columns: 208px minmax(0, 1fr);
    }
  }
  .head {
    position: relative;
    display: flex;
    flex-wrap: wrap;
    align-items: end;
    justify-content: space-between;
    gap: 12px 24px;
    margin-bottom: 18px;
  }
  .head:empty {
    display: none;
  }
  /* Chips stand between the head and the cards: nothing moves when one comes or goes. */
  .head[data-marks] {
    margin-bottom: 36px;
  }
  /* The place of a filter bar whose script has not come. */
  guestlist-filter-bar {
    min-height: 58px;
  }
  .chips {
    position: absolute;
    inset: calc(100% + 5px) 0 auto;
    display: flex;
    gap: 6px;
  }
  .chip {
    min-width: 0;
    min-height: 26px;
    padding: 0 10px;
    border-radius: 999px;
  }
  .chip span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  h2 {
    margin: 0;
    font-size: 20px;
    font-weight: 650;
    letter-spacing: -0.015em;
    overflow-wrap: anywhere;
  }
  .titled {
    flex: 0 1 auto;
    max-width: 68ch;
  }
  .description {
    margin: 2px 0 0;
    white-space: pre-line;
    overflow-wrap: anywhere;
  }
  .grid {
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    grid-auto-rows: var(--gl-row-height);
    gap: var(--gl-gap);
  }
  .grid[hidden] {
    display: none;
  }
  .grid + .grid {
    margin-top: var(--gl-gap);
  }
  guestlist-card {
    --card-height: calc(var(--h) * var(--gl-row-height) + (var(--h) - 1) * var(--gl-gap));
    grid-column: var(--x) / span var(--w);
    grid-row: var(--y) / span var(--h);
  }
  /* A single value is as high as what it says, unless something taller stands beside it. */
  guestlist-card[compact] {
    --own-height: calc(2 * var(--gl-row-height) - var(--gl-gap));
  }
  guestlist-card[tall] {
    --own-height: calc(2 * var(--gl-row-height) + var(--gl-gap));
  }
  @container (max-width: 900px) {
    .grid {
      grid-template-columns: repeat(2, minmax(0, 1fr));
      grid-auto-rows: auto;
      grid-auto-flow: row dense;
    }
    guestlist-card {
      grid-column: span 2;
      grid-row: auto;
      min-height: var(--card-height);
    }
    guestlist-card[narrow]:not([alone]) {
      grid-column: span 1;
    }
    guestlist-card[compact] {
      min-height: var(--own-height);
    }
  }
  @media (max-width: 600px) {
    guestlist-filter-bar {
      min-height: 34px;
    }
  }
  @container (max-width: 600px) {
    guestlist-card,
    guestlist-card[narrow]:not([alone]) {
      grid-column: span 2;
    }
  }
  /* On paper: two cards side by side. A card that is not a table fits on a page, and is not divided. */
  :host([printing]) .grid {
    /* Three rows of cards fit below the head of a page. */
    --gl-row-height: 60px;
    display: block;
    margin-inline: calc(var(--gl-gap) / -2);
  }
  :host([printing]) .head[data-marks] {
    margin-bottom: 18px;
  }
  :host([printing]) .chips:has(button) {
    position: static;
    flex-basis: 100%;
    flex-wrap: wrap;
  }
  :host([printing]) .chip svg {
    display: none;
  }
  :host([printing]) guestlist-card {
    display: inline-block;
    width: calc(100% - var(--gl-gap));
    min-height: calc(var(--card-height) + var(--beyond, 0px));
    margin: 0 calc(var(--gl-gap) / 2) var(--gl-gap);
    vertical-align: top;
    break-inside: avoid;
  }
  :host([printing]) guestlist-card[narrow]:not([alone]) {
    width: calc(50% - var(--gl-gap));
  }
  :host([printing]) guestlist-card[compact] {
    min-height: calc(2.4 * var(--gl-row-height));
  }
  :host([printing]) guestlist-card[tall] {
    min-height: calc(3.4 * var(--gl-row-height));
  }
  :host([printing]) guestlist-card[long] {
    display: block;
    width: auto;
    min-height: 0;
    break-inside: auto;
  }
`;
