import { css } from 'lit';

export const panelStyles = css`
  :host {
    display: block;
    container-type: inline-size;
  }
  .editor {
    display: grid;
    grid-template-columns: minmax(220px, 280px) minmax(0, 1fr);
    gap: 16px;
    align-items: start;
  }
  h2,
  h3 {
    margin: 0;
    font-size: 12.5px;
    font-weight: 600;
  }
  h3 {
    margin: 12px 0 2px;
    color: var(--gl-muted);
  }
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .fields,
  .shelf,
  .hint,
  .problem {
    padding: 12px 14px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
  }
  .fields {
    display: grid;
    gap: 8px;
  }
  .list {
    max-height: 560px;
    overflow: auto;
  }
  .list .row {
    display: flex;
    align-items: center;
    min-height: 32px;
    border-radius: 7px;
  }
  .list .row:hover,
  .list .row:focus-within {
    background: var(--gl-subtle);
  }
  .list :focus-visible {
    outline-offset: -2px;
  }
  .field {
    display: flex;
    flex: 1;
    min-width: 0;
  }
  .field .name {
    flex: 1;
    min-width: 0;
    padding: 5px 6px;
    overflow: hidden;
    border: 0;
    border-radius: 7px;
    background: none;
    text-align: start;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .field [aria-disabled='true'] {
    color: var(--gl-muted);
    cursor: default;
  }
  .field small {
    display: none;
    white-space: normal;
  }
  .field :focus-visible small {
    display: block;
  }
  .use {
    flex: none;
    width: 30px;
  }
  input:not([type='checkbox']),
  select {
    min-width: 0;
    min-height: 32px;
    padding: 0 8px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    color: inherit;
    font-size: 13px;
  }
  ::placeholder {
    color: var(--gl-muted);
    opacity: 1;
  }
  .work {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 12px;
    min-width: 0;
  }
  .head {
    display: flex;
    gap: 6px;
    align-items: center;
  }
  .head input {
    flex: 1;
    min-height: 36px;
    font-size: 15px;
    font-weight: 600;
  }
  .main:not(:disabled) {
    border-color: var(--gl-accent);
  }
  .shelves {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 220px), 1fr));
    gap: 12px;
  }
  .shelf {
    min-height: 92px;
  }
  .chip {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px;
    margin-top: 6px;
    padding: 2px 2px 2px 10px;
    border-radius: 8px;
    background: var(--gl-subtle);
    font-size: 13px;
  }
  .chip .name {
    flex: 1;
    min-width: 60px;
    overflow-wrap: anywhere;
  }
  .chip input:not([type='checkbox']) {
    flex: 1;
    width: 104px;
  }
  .chip input.name {
    border-color: transparent;
    background: none;
    padding-inline: 0;
  }
  .said:empty {
    display: none;
  }
  .note,
  .more,
  .tabs {
    margin: 0;
    padding: 10px 14px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
    font-size: 13px;
  }
  .tabs {
    padding-block: 2px 0;
  }
  guestlist-tabs {
    margin: 0;
  }
  .more > .shelves {
    margin-top: 10px;
  }
  summary {
    font-weight: 600;
    cursor: pointer;
  }
  .shelf > select,
  .shelf > .sql {
    width: 100%;
    margin-top: 6px;
  }
  .settings > div {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin-top: 6px;
  }
  .settings input,
  .settings select {
    flex: 1 1 120px;
  }
  .settings small {
    flex: 1 0 100%;
  }
  .sql {
    font-family: ui-monospace, monospace;
  }
  .charts {
    display: flex;
    gap: 6px;
    padding: 2px;
    overflow-x: auto;
  }
  .chart {
    flex: none;
    display: grid;
    align-content: center;
    max-width: 150px;
    min-height: 44px;
    padding: 4px 12px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    font-size: 13px;
    text-align: start;
  }
  .chart small {
    color: var(--gl-muted);
    font-size: 11.5px;
    line-height: 1.25;
  }
  .chart[aria-disabled='true'] {
    border-style: dashed;
    color: var(--gl-muted);
    cursor: default;
  }
  .chart[aria-pressed='true'] {
    border-color: var(--gl-accent);
    box-shadow: inset 0 0 0 1px var(--gl-accent);
  }
  guestlist-card {
    display: block;
    height: 380px;
  }
  .hint,
  .problem {
    margin: 0;
    padding: 48px 16px;
    text-align: center;
    white-space: pre-line;
  }
  .problem {
    color: var(--gl-danger);
  }
  @container (max-width: 760px) {
    .editor {
      grid-template-columns: minmax(0, 1fr);
    }
    .list {
      max-height: 260px;
    }
    .shelf {
      min-height: 0;
    }
  }
`;
