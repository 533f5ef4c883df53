/** A pivot table as HTML. */
import { css, html, type TemplateResult } from 'lit';
import type { Pivot, PivotRow } from './pivot.js';

export const pivotStyles = css`
  .pivot th[scope='row'] {
    position: static;
    z-index: auto;
    color: var(--gl-text);
    font-weight: 400;
    white-space: normal;
    overflow-wrap: break-word;
    min-width: 9ch;
  }
  .pivot thead th {
    text-align: end;
  }
  .pivot thead th.down {
    text-align: start;
    vertical-align: bottom;
  }
  .pivot thead tr:not(:first-child) th {
    top: 33px;
  }
  .pivot tr.group th,
  .pivot tr.group td {
    background: var(--gl-subtle);
    font-weight: 500;
  }
  .pivot tr.total th,
  .pivot tr.total td {
    position: sticky;
    bottom: 0;
    border-top: 1px solid var(--gl-border);
    background: var(--gl-surface);
    font-weight: 600;
  }
`;

/** `label` is the table's accessible name. */
export const pivotView = (pivot: Pivot, label: string): TemplateResult => html`
  <div class="scroll pivot" tabindex="0" role="region" aria-label=${label}>
    <table part="table">
      <thead>
        ${pivot.heads.map(
          (cells, at) => html`<tr>
            ${at > 0 ? null : pivot.downNames.map((name) => html`<th part="header-cell" class="down" scope="col" rowspan=${pivot.heads.length}>${name}</th>`)}
            ${cells.map(({ text, span }) => html`<th part="header-cell" scope=${span > 1 ? 'colgroup' : 'col'} colspan=${span}>${text}</th>`)}
          </tr>`,
        )}
      </thead>
      <tbody>
        ${pivot.rows.map((row, at) => bodyRow(row, pivot.rows[at - 1]))}
      </tbody>
    </table>
  </div>
`;

/** A label that repeats the one above is shown to screen readers only. */
const bodyRow = ({ kind, labels, cells }: PivotRow, above: PivotRow | undefined): TemplateResult => {
  const isRepeated = (at: number) =>
    kind === 'row' && above?.kind === 'row' && at < labels.length - 1 && above.labels[at] === labels[at];
  return html`<tr class=${kind}>
    ${labels.map((text, at) => html`<th part="header-cell" scope="row">${isRepeated(at) ? html`<span class="sr">${text}</span>` : text}</th>`)}
    ${cells.map((text) => html`<td part="cell" class="number">${text}</td>`)}
  </tr>`;
};
