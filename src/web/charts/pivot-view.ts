/** A pivot table as HTML. */
import { css, html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Pivot } from './pivot.js';
import { isOutside, type Markable, markButton, type RowWindow } from './table-view.js';

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
  .pivot.windowed th[scope='row'] {
    max-width: 48ch;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
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

/** `label` is the table's accessible name. `onScroll` is for long tables, of which a window is drawn. */
type PivotLook = { readonly label: string; readonly onScroll?: () => void } & Markable;

/** The table with all rows, or with those of a window. */
export const pivotView = (
  pivot: Pivot,
  { label, onScroll, ...marks }: PivotLook,
  window?: RowWindow,
): TemplateResult => html`
  <div class=${window === undefined ? 'scroll pivot' : 'scroll pivot windowed'} tabindex="0" role="region" aria-label=${label} @scroll=${onScroll}>
    <table aria-rowcount=${window === undefined ? nothing : pivot.heads.length + pivot.rows.length}>
      <thead>
        ${pivot.heads.map(
          (cells, at) => html`<tr>
            ${at > 0 ? null : pivot.downNames.map((name) => html`<th class="down" scope="col" rowspan=${pivot.heads.length}>${name}</th>`)}
            ${cells.map(({ text, span }) => html`<th scope=${span > 1 ? 'colgroup' : 'col'} colspan=${span}>${text}</th>`)}
          </tr>`,
        )}
      </thead>
      ${window === undefined ? html`<tbody>${pivot.rows.map((_, at) => bodyRow(pivot, marks, at))}</tbody>` : windowed(pivot, marks, window)}
    </table>
  </div>
`;

/** Gaps stand for the rows that are not drawn. The total is always drawn: it stays at the foot. */
const windowed = (pivot: Pivot, marks: Markable, { first, last, rowHeight }: RowWindow): TemplateResult => {
  const hasTotal = pivot.rows.at(-1)?.kind === 'total';
  const count = pivot.rows.length - (hasTotal ? 1 : 0);
  const end = Math.min(last, count);
  const start = Math.min(first, Math.max(0, count - (last - first)));
  const drawn = Array.from({ length: end - start }, (_, at) => start + at);
  const columns = pivot.downNames.length + (pivot.rows[0]?.cells.length ?? 0);
  const gap = (rows: number) =>
    rows === 0
      ? null
      : html`<tbody class="gap" aria-hidden="true"><tr><td colspan=${columns} height=${Math.round(rows * rowHeight)}></td></tr></tbody>`;
  return html`${gap(start)}
    <tbody>${repeat(
      drawn,
      (at) => at,
      (at) => bodyRow(pivot, marks, at, true),
    )}</tbody>
    ${gap(count - end)}
    <tbody class="widest" aria-hidden="true">${widestRow(pivot)}</tbody>
    ${hasTotal ? html`<tbody>${bodyRow(pivot, marks, count, true)}</tbody>` : null}`;
};

const widest = new WeakMap<Pivot, readonly string[]>();

/** A row of the longest texts: with it, columns keep their width while rows change. */
const widestRow = (pivot: Pivot): TemplateResult => {
  const known = widest.get(pivot);
  const longest = known === undefined ? [] : [...known];
  if (known === undefined) {
    for (const { labels, cells } of pivot.rows) {
      for (const [at, text] of [...labels, ...cells].entries()) {
        if (text.length > (longest[at]?.length ?? -1)) longest[at] = text;
      }
    }
    widest.set(pivot, longest);
  }
  return html`<tr>
    ${longest.map((text, at) => html`<td class=${at < pivot.downNames.length ? '' : 'number'}>${text}</td>`)}
  </tr>`;
};

/** A label that repeats the one above is shown to screen readers only. Sums have one label, and no heading without text. */
const bodyRow = ({ rows, heads }: Pivot, marks: Markable, place: number, isWindowed = false): TemplateResult | null => {
  const [row, above] = [rows[place], rows[place - 1]];
  if (row === undefined) return null;
  const { kind, labels, cells } = row;
  const isRepeated = (at: number) =>
    kind === 'row' && above?.kind === 'row' && at < labels.length - 1 && above.labels[at] === labels[at];
  const { value } = row;
  const isFaded = value !== undefined && isOutside(value, marks.chosen);
  return html`<tr class=${isFaded ? `${kind} faded` : kind} aria-rowindex=${isWindowed ? heads.length + place + 1 : nothing}>
    ${labels.map((text, at) =>
      text === '' && kind !== 'row'
        ? html`<td></td>`
        : html`<th scope="row">${isRepeated(at) ? html`<span class="sr">${text}</span>` : at === 0 && value !== undefined ? markButton(text, value, marks) : text}</th>`,
    )}
    ${cells.map((text) => html`<td class="number">${text}</td>`)}
  </tr>`;
};
