/** Rows as a table. */
import { html, type TemplateResult } from 'lit';

type Column = { readonly name: string; readonly label: string; readonly isNumber: boolean };
type Row = Readonly<Record<string, unknown>>;

export const rowsTable = (columns: readonly Column[], rows: readonly Row[]): TemplateResult =>
  html`<div class="table" tabindex="0" role="group" aria-label="Rows"><table>
    <thead><tr>${columns.map(({ label, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : ''}>${label}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr>${columns.map(({ name, isNumber }) => html`<td class=${isNumber ? 'number' : ''}>${textIn(row[name])}</td>`)}</tr>`,
    )}</tbody>
  </table></div>`;

const textIn = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
