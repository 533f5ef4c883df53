import { css } from 'lit';

export const multiSelectStyles = css`
  .anchor {
    position: relative;
    display: grid;
    gap: 4px;
  }
  .label {
    font-size: 12px;
    color: var(--gl-muted);
  }
  .anchor > .button {
    justify-content: space-between;
    width: 100%;
    min-width: 168px;
    font-weight: 400;
  }
  .text {
    overflow: hidden;
    max-width: 220px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .panel {
    position: absolute;
    z-index: 20;
    top: calc(100% + 6px);
    left: 0;
    width: max(100%, 240px);
    max-width: min(340px, 90vw);
    padding: 6px;
    border: 1px solid var(--gl-border);
    border-radius: 10px;
    background: var(--gl-raised);
    box-shadow: 0 12px 32px rgb(0 0 0 / 18%);
  }
  input {
    width: 100%;
    min-height: 34px;
    margin-bottom: 6px;
    padding: 0 10px;
    border: 1px solid var(--gl-border);
    border-radius: 7px;
    background: var(--gl-surface);
  }
  input:focus-visible {
    outline-offset: -1px;
  }
  [role='listbox'] {
    max-height: 264px;
    overflow-y: auto;
    scrollbar-width: thin;
  }
  .option {
    display: flex;
    align-items: center;
    gap: 9px;
    min-height: 32px;
    padding: 4px 8px;
    border-radius: 6px;
    cursor: pointer;
    overflow-wrap: anywhere;
  }
  .option.active,
  .option:hover {
    background: var(--gl-subtle);
  }
  .box {
    display: grid;
    flex: none;
    place-items: center;
    width: 16px;
    height: 16px;
    border: 1.5px solid var(--gl-muted);
    border-radius: 4px;
  }
  [aria-selected='true'] .box {
    border-color: var(--gl-accent);
    background: var(--gl-accent);
    color: var(--gl-on-accent);
  }
  .box svg {
    width: 12px;
    height: 12px;
  }
  .note:not(:empty) {
    padding: 6px 8px;
    color: var(--gl-muted);
    font-size: 13px;
  }
`;
