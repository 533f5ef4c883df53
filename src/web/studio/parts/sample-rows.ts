/** The first rows of a table as the chosen user may read them: with the same scope, filters and hidden columns. */
import { html, LitElement, type TemplateResult } from 'lit';
import { listGuestFields } from '../../base/guest-operations.js';
import type { GuestData } from '../../base/operations.js';
import type { Api } from '../base/api.js';
import { askAuthored } from '../base/author-preview.js';
import { openDialog } from '../base/kit.js';
import { textOf } from '../base/screen.js';
import { askAs, nameOf, openView, readViewer, type Viewer } from '../base/viewer.js';

type Column = { readonly name: string; readonly label: string; readonly isNumber: boolean };
type Row = Readonly<Record<string, unknown>>;

/** Rows as a table. */
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

type FieldTable = GuestData<typeof listGuestFields>['tables'][number];
type Field = FieldTable['fields'][number];
type Sample = { readonly viewer: Viewer; readonly fields: readonly Field[]; readonly rows: readonly Row[] };

const most = { rows: 20, columns: 12 };
const countName = 'Rows like this';

export class SampleRows extends LitElement {
  static override properties = {
    api: { attribute: false },
    table: {},
    isBusy: { state: true },
  };
  declare api: Api;
  /** `schema.table`. */
  declare table: string;
  declare isBusy: boolean;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  get #title(): string {
    return `Rows of ${this.table}`;
  }

  protected override render(): TemplateResult {
    return html`<button type="button" class="text" ?disabled=${this.isBusy === true} @click=${() => void this.#open()}>${this.#title}</button>`;
  }

  #rows({ viewer, fields, rows }: Sample): TemplateResult {
    const columns = fields.map(({ columnName: name, label }) => ({ name, label: label || name, isNumber: false }));
    return html`<h2>${this.#title}</h2>
      <p class="soft">What ${nameOf(viewer)} may read, equal rows once: ${rows.length === most.rows ? `the first ${most.rows}` : rows.length}.</p>
      ${rowsTable([...columns, { name: countName, label: countName, isNumber: true }], rows)}`;
  }

  async #open(): Promise<void> {
    this.isBusy = true;
    const content = await this.#read().then(
      (sample) => this.#rows(sample),
      (error: unknown) => html`<p class="notice bad" role="alert">${textOf(error)}</p>`,
    );
    this.isBusy = false;
    if (!this.isConnected) return;
    const close = html`<form method="dialog" class="buttons"><button class="quiet">Close</button></form>`;
    openDialog(this.#title, html`${content}${close}`, 'wide');
  }

  async #read(): Promise<Sample> {
    const viewer = readViewer();
    if (viewer === null)
      throw new Error('Press “View as” at the top first: rows are shown as one of your tenants’ users may read them.');
    const view = await openView(this.api, viewer);
    const dashboard = view.embeds.find(({ type }) => type === 'dashboard');
    if (dashboard === undefined) throw new Error(`${nameOf(viewer)} may open no dashboard, and so reads no rows.`);
    const { tables } = await askAs(view, listGuestFields, { dashboardId: dashboard.id });
    const table = tables.find(({ schemaName, tableName }) => `${schemaName}.${tableName}` === this.table);
    if (table === undefined)
      throw new Error(`${nameOf(viewer)} may read no column of ${this.table} on “${dashboard.name}”.`);
    // A measure of the model has no value of a single row.
    const fields = table.fields.filter(({ isMeasure }) => !isMeasure).slice(0, most.columns);
    const asked = { dashboardId: dashboard.id, limit: most.rows, definition: definitionOf(table, fields) };
    const { rows } = await askAuthored(this.api, view, asked, new AbortController().signal, () => {});
    return { viewer, fields, rows };
  }
}

const definitionOf = ({ schemaName, tableName }: FieldTable, fields: readonly Field[]) => ({
  chart: { type: 'table' },
  from: { schemaName, tableName },
  dimensions: fields.map(({ columnName }) => ({ name: columnName, column: { schemaName, tableName, columnName } })),
  measures: [{ name: countName, aggregate: 'COUNT' }],
});

customElements.define('studio-sample-rows', SampleRows);
