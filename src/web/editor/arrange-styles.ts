/** How cards and tiles look while they are arranged. */
import { css } from 'lit';

export const arrangeStyles = css`
  :host {
    display: block;
    container-type: inline-size;
  }
  .tools,
  .steps {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
  }
  .tools {
    gap: 8px;
    margin-bottom: 12px;
  }
  .steps {
    gap: 2px;
  }
  .icon[aria-disabled='true'] {
    cursor: default;
    opacity: 0.5;
  }
  .hint {
    flex: 1 1 220px;
    margin: 0;
    font-size: 13px;
  }
  .problem {
    color: var(--gl-danger);
    font-size: 13px;
  }
  .grid {
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    grid-auto-rows: var(--gl-row-height);
    gap: var(--gl-gap);
  }
  .tile {
    position: relative;
    grid-row: var(--y) / span var(--h);
    grid-column: var(--x) / span var(--w);
    min-width: 0;
    border-radius: var(--gl-radius);
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  /* Over all that the box shows. A finger scrolls the page over a box that is not chosen, and moves one that is. */
  .hold {
    position: absolute;
    z-index: 1;
    inset: 0;
    width: 100%;
    padding: 0;
    border: 1px dashed var(--gl-muted);
    border-radius: inherit;
    background: none;
    cursor: grab;
    touch-action: pan-y;
  }
  .tile[data-chosen] .hold {
    touch-action: none;
  }
  .tile[data-chosen] .hold,
  .hold[aria-pressed='true'] {
    border: 2px solid var(--gl-accent);
  }
  .tile[data-held] {
    z-index: 2;
    box-shadow: 0 8px 28px rgb(0 0 0 / 0.25);
  }
  .tile[data-held] .hold {
    cursor: grabbing;
  }
  .drawn {
    position: absolute;
    inset: 0;
    overflow: hidden;
    border-radius: inherit;
  }
  .drawn > * {
    height: 100%;
  }
  .label {
    display: block;
    height: 100%;
    padding: 10px 14px;
    background: var(--gl-raised);
    font-weight: 600;
  }
  .tile[data-kind='tab'] .label {
    border-inline-start: 4px solid var(--gl-accent);
  }
  .tile[data-kind='tab'] .size {
    display: none;
  }
  .size {
    position: absolute;
    z-index: 1;
    inset-block-end: 0;
    inset-inline-end: 0;
    width: 24px;
    height: 24px;
    cursor: nwse-resize;
  }
  .size:dir(rtl) {
    cursor: nesw-resize;
  }
  .size::after {
    content: '';
    position: absolute;
    inset-block-end: 6px;
    inset-inline-end: 6px;
    width: 8px;
    height: 8px;
    border-block-end: 2px solid var(--gl-muted);
    border-inline-end: 2px solid var(--gl-muted);
  }
  /* In the order of reading, as readers have it where there is as little room. */
  @container (max-width: 700px) {
    .grid {
      grid-template-columns: minmax(0, 1fr);
    }
    .tile {
      grid-row: auto / span var(--h);
      grid-column: 1;
      order: calc(var(--y) * 12 + var(--x));
    }
    .hold,
    .tile[data-chosen] .hold {
      cursor: pointer;
      touch-action: pan-y;
    }
    .size {
      display: none;
    }
  }
`;
