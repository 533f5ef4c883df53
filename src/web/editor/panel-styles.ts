import { css } from 'lit';

export const panelStyles = css`
  :host {
    display: block;
    container-type: inline-size;
  }
  .editor,
  .parts {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 12px;
    align-content: start;
  }
  .controls {
    display: grid;
    grid-template-columns: minmax(200px, 260px) minmax(0, 1fr);
    gap: 12px;
    align-items: start;
  }
  .stage {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    align-content: start;
    min-width: 0;
    margin-bottom: 12px;
    padding: 2px 10px 10px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
  }
  /* Whatever is set, the chart is in view. */
  .stage.kept {
    position: sticky;
    z-index: 3;
    inset-block-start: 0;
  }
  .controls :is(button, input, select, summary, [tabindex]) {
    scroll-margin-block: 400px 40px;
  }
  .part {
    min-width: 0;
    padding: 10px 14px 14px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
  }
  .part:not([open]) {
    padding-bottom: 10px;
  }
  .part > summary > h2 {
    display: inline;
    font-size: 14px;
  }
  .part > :not(summary) {
    margin-top: 10px;
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
  h4 {
    margin: 8px 0 0;
    color: var(--gl-muted);
    font-size: 11.5px;
    font-weight: 500;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 12px;
    margin: 0;
    font-size: 12px;
  }
  .legend > span {
    display: inline-flex;
    align-items: center;
    gap: 4px;
  }
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .fields {
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
  .shelf {
    min-height: 44px;
  }
  .shelf > h3 {
    margin: 0;
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
    text-overflow: ellipsis;
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
  .more {
    margin: 0;
    font-size: 13px;
  }
  .tabs {
    margin-bottom: 8px;
  }
  guestlist-tabs {
    margin: 0;
  }
  .more > .shelf {
    margin-top: 12px;
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
  .captioned {
    flex: 1 1 120px;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 2px;
    min-width: 0;
    font-size: 12px;
  }
  .settings :is(small, output) {
    flex: 1 0 100%;
  }
  .example {
    padding: 6px 8px;
    border-radius: 8px;
    background: var(--gl-subtle);
    font-weight: 600;
  }
  .sql {
    font-family: ui-monospace, monospace;
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
  @container (min-width: 1060px) {
    .body {
      display: grid;
      grid-template-columns: minmax(0, 590px) minmax(0, 1fr);
      gap: 16px;
      align-items: start;
    }
    .stage {
      grid-area: 1 / 2;
    }
    .stage.kept {
      inset-block-start: 8px;
    }
    guestlist-card {
      height: 460px;
    }
    .fields {
      position: sticky;
      inset-block-start: 8px;
    }
    .list {
      max-height: max(240px, calc(100vh - 140px));
    }
    .controls :is(button, input, select, summary, [tabindex]) {
      scroll-margin-block: 40px;
    }
  }
  @container (max-width: 1059.98px) {
    guestlist-card {
      height: 300px;
    }
  }
  /* The fields stay beside what is made of them, below the chart. */
  @container (min-width: 560.02px) and (max-width: 1059.98px) {
    .stage.kept + .controls > .fields {
      position: sticky;
      inset-block-start: 368px;
    }
    .list {
      max-height: max(240px, calc(100vh - 480px));
    }
  }
  @container (max-width: 560px) {
    .controls {
      grid-template-columns: minmax(0, 1fr);
    }
    .list {
      max-height: 260px;
    }
    guestlist-card {
      height: 240px;
    }
  }
  /* A low window keeps its room for what is set. */
  @media (max-height: 620px) {
    .stage.kept {
      position: static;
    }
  }
`;
