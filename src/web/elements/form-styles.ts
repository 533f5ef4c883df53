/** How the fields of forms in dialogs look. */
import { css } from 'lit';

export const formStyles = css`
  .field,
  fieldset {
    display: grid;
    gap: 4px;
    min-width: 0;
  }
  fieldset {
    margin: 0;
    padding: 0;
    border: 0;
  }
  label,
  legend {
    padding: 0;
    font-size: 13px;
    font-weight: 500;
  }
  .check {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-height: 28px;
    font-weight: 400;
  }
  .days {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
  }
  input:not([type='checkbox']),
  select {
    width: 100%;
    min-width: 0;
    min-height: 34px;
    padding: 0 9px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    font-size: 13px;
  }
  [aria-invalid] {
    border-color: var(--gl-danger) !important;
  }
  input[type='checkbox'] {
    accent-color: var(--gl-accent);
  }
  p {
    margin: 0;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .fault {
    color: var(--gl-danger);
    font-weight: 600;
  }
`;
