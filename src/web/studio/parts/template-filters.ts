/** The filters of a template: what the reader of the dashboard, and the policy, may restrict it by. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { TemplateFilter } from '../base/content.js';
import type { ModelColumn } from '../base/model-columns.js';

/** What the part asks its screen to do. */
export type FilterChange = { readonly add: TemplateFilter } | { readonly remove: string };

const keyOf = ({
  schemaName,
  tableName,
  columnName,
}: Pick<ModelColumn, 'schemaName' | 'tableName' | 'columnName'>): string =>
  JSON.stringify([schemaName, tableName, columnName]);

export class TemplateFilters extends LitElement {
  static override properties = {
    filters: { attribute: false },
    columns: { attribute: false },
    mayChange: { type: Boolean },
  };
  declare filters: readonly TemplateFilter[];
  declare columns: readonly ModelColumn[];
  declare mayChange: boolean;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`${this.filters.length === 0 ? html`<div class="empty"><h2>No filters yet</h2><p>A filter lets readers choose, and lets the policy restrict users to a value.</p></div>` : this.#list()}
      ${this.mayChange ? this.#form() : nothing}`;
  }

  #list(): TemplateResult {
    return html`<div class="table" tabindex="0" role="group" aria-label="Filters"><table>
      <thead><tr><th scope="col">Filter</th><th scope="col">Kind</th><th scope="col">Column</th>${this.mayChange ? html`<th scope="col">Action</th>` : nothing}</tr></thead>
      <tbody>${this.filters.map(
        ({ name, dataType, applyOnTables }) => html`<tr>
          <td>${name}</td><td>${dataType}</td>
          <td>${applyOnTables.map(({ schemaName, tableName, columnName }) => html`<code>${schemaName}.${tableName}.${columnName}</code> `)}</td>
          ${this.mayChange ? html`<td><button type="button" class="text" @click=${() => this.#tell({ remove: name })}>Remove ${name}</button></td>` : nothing}
        </tr>`,
      )}</tbody>
    </table></div>`;
  }

  #form(): TemplateResult {
    if (this.columns.length === 0)
      return html`<p class="soft">The model of the policy has no columns that a filter could name.</p>`;
    return html`<form class="form card" @submit=${this.#add}>
      <h2>New filter</h2>
      <label>Column
        <select name="column" required>${this.columns.map((column) => html`<option value=${keyOf(column)}>${column.label}</option>`)}</select>
      </label>
      <label>Name <span class="hint">empty: the column’s</span><input name="name" maxlength="120" autocomplete="off" /></label>
      <label class="inline"><input type="checkbox" name="isSingleChoice" /> One value at most <span class="hint">for text</span></label>
      <div class="buttons"><button>Add the filter</button></div>
    </form>`;
  }

  readonly #add = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const form = new FormData(event.target);
    const column = this.columns.find((one) => keyOf(one) === form.get('column'));
    if (column === undefined) return;
    const { label, dataType, ...place } = column;
    const name = String(form.get('name') ?? '').trim() || (label.split(': ')[1] ?? column.columnName);
    const isSingle = form.has('isSingleChoice') && dataType === 'string';
    event.target.reset();
    this.#tell({
      add: { name, dataType, applyOnTables: [{ ...place, dataType }], ...(isSingle ? { isSingleChoice: true } : {}) },
    });
  };

  #tell(detail: FilterChange): void {
    this.dispatchEvent(new CustomEvent<FilterChange>('filter-change', { detail }));
  }
}

customElements.define('studio-template-filters', TemplateFilters);
