/** How a card looks: its frame, and its forms on paper and on the full screen. */
import { css } from 'lit';

export const cardStyles = css`
  :host {
    container-type: inline-size;
    position: relative;
    min-width: 0;
  }
  /* Positioned out of the flow, so that the content never makes the card taller. */
  section {
    position: absolute;
    inset: 0;
    display: flex;
    flex-direction: column;
    padding: 14px 16px 14px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
    box-shadow: var(--gl-shadow);
  }
  header {
    display: flex;
    align-items: start;
    gap: 8px;
    min-height: 30px;
    margin-bottom: 8px;
  }
  h3 {
    flex: 1;
    display: -webkit-box;
    min-width: 0;
    margin: 0;
    padding-top: 5px;
    overflow: hidden;
    font-size: 14px;
    font-weight: 600;
    line-height: 1.35;
    letter-spacing: -0.005em;
    overflow-wrap: anywhere;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    line-clamp: 2;
  }
  .actions {
    display: flex;
    gap: 2px;
    margin-inline-end: -6px;
  }
  .body {
    position: relative;
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
    transition: opacity 0.15s;
  }
  .body > * {
    flex: 1;
    min-height: 0;
  }
  .body > .sr,
  .body > .more {
    flex: none;
  }
  .stale {
    opacity: 0.45;
  }
  :host([printing]) section {
    box-shadow: none;
  }
  :host([printing]) .actions {
    display: none;
  }
  :host([printing]) header {
    break-after: avoid;
  }
  /* On paper a table has all of its rows. */
  :host([printing][long]) section {
    position: static;
  }
  :host([printing][long]) .body {
    display: block;
    height: auto;
    overflow: visible;
  }
  :host(:fullscreen) {
    background: var(--gl-surface);
  }
  :host(:fullscreen) section {
    border: 0;
    border-radius: 0;
  }
  .failed {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    color: var(--gl-danger);
  }
  /* In the margin below the content, which it does not move. */
  .marked {
    position: absolute;
    inset: auto 16px 0;
    margin: 0;
    overflow: hidden;
    font-size: 11px;
    line-height: 14px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .more {
    margin: 8px 0 0;
    font-size: 12px;
  }
`;
