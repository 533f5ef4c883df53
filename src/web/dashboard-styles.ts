import { css } from 'lit';

export const dashboardStyles = css`
  .head {
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
  h2 {
    margin: 0;
    font-size: 20px;
    font-weight: 650;
    letter-spacing: -0.015em;
    overflow-wrap: anywhere;
  }
  .grid {
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    grid-auto-rows: var(--gl-row-height);
    gap: var(--gl-gap);
  }
  guestlist-card {
    --card-height: calc(var(--h) * var(--gl-row-height) + (var(--h) - 1) * var(--gl-gap));
    grid-column: var(--x) / span var(--w);
    grid-row: var(--y) / span var(--h);
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
    guestlist-card[narrow] {
      grid-column: span 1;
    }
  }
  @container (max-width: 600px) {
    guestlist-card,
    guestlist-card[narrow] {
      grid-column: span 2;
    }
    guestlist-card[compact] {
      min-height: calc(2 * var(--gl-row-height));
    }
  }
`;
