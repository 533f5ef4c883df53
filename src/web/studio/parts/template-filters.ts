/**
 * The filters of a template: what the reader of the dashboard, and the policy, may restrict it by. Columns are mapped to
 * them by drag, or by choosing from a list.
 */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { TemplateFilter } from '../base/content.js';
import type { ModelColumn } from '../base/model-columns.js';

type Mapped = TemplateFilter['applyOnTables'];

/** What the part asks its screen to do. */
export type FilterChange =
  | { readonly add: TemplateFilter }
  | { readonly remove: string }
  | { readonly map: string; readonly column: Mapped[number]; readonly isAdded: boolean };

type Place = Pick<ModelColumn, 'schemaName' | 'tableName' | 'columnName'>;

const keyOf = ({ schemaName, tableName, columnName }: Place): string =>
  JSON.stringify([schemaName, tableName, columnName]);
const textOf = ({ schemaName, tableName, columnName }: Place): string => `${schemaName}.${tableName}.${columnName}`;

const mappedColumn = ({ schemaName, tableName, columnName, dataType }: ModelColumn): Mapped[number] => ({
  ...{ schemaName, tableName, columnName },
  dataType,
});

export class TemplateFilters extends LitElement {
  static override properties = {
    filters: { attribute: false },
    columns: { attribute: false },
    mayChange: { type: Boolean },
    dragged: { state: true },
    said: { state: true },
  };
  declare filters: readonly TemplateFilter[];
  declare columns: readonly ModelColumn[];
  declare mayChange: boolean;
  /** The column that is being dragged. */
  declare dragged: ModelColumn | null;
  declare said: string;

  constructor() {
    super();
    this.dragged = null;
    this.said = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`${this.filters.length === 0 ? html`<div class="empty"><h2>No filters yet</h2><p>A filter lets readers choose, and lets the policy restrict users to a value.</p></div>` : this.#list()}
      <p class="soft" role="status">${this.said}</p>
      ${this.mayChange && this.columns.length > 0 ? html`${this.#columns()}${this.#form()}` : nothing}
      ${this.mayChange && this.columns.length === 0 ? html`<p class="soft">The model of the policy has no columns that a filter could name.</p>` : nothing}`;
  }

  #list(): TemplateResult {
    return html`<div class="table" tabindex="0" role="group" aria-label="Filters"><table>
      <thead><tr><th scope="col">Filter</th><th scope="col">Kind</th><th scope="col">Columns</th>${this.mayChange ? html`<th scope="col">Action</th>` : nothing}</tr></thead>
      <tbody>${this.filters.map((filter) => this.#row(filter))}</tbody>
    </table></div>`;
  }

  #row(filter: TemplateFilter): TemplateResult {
    const { name, dataType, applyOnTables } = filter;
    const { dragged } = this;
    const over = (event: DragEvent): void => {
      if (dragged !== null && this.mayChange) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      if (dragged !== null) this.#map(filter, dragged);
    };
    return html`<tr data-filter=${name} class=${dragged?.dataType === dataType ? 'target' : ''} @dragover=${over} @drop=${drop}>
      <td>${name}</td><td>${dataType}</td>
      <td>${applyOnTables.map((column) => this.#mapped(filter, column))}${this.mayChange ? this.#choice(filter) : nothing}</td>
      ${this.mayChange ? html`<td><button type="button" class="text" @click=${() => this.#tell({ remove: name })}>Remove ${name}</button></td>` : nothing}
    </tr>`;
  }

  #mapped({ name, applyOnTables }: TemplateFilter, column: Mapped[number]): TemplateResult {
    const unmap = (): void => this.#tell({ map: name, column, isAdded: false });
    return html`<span class="chip"><code>${textOf(column)}</code>${
      this.mayChange && applyOnTables.length > 1
        ? html` <button type="button" class="text" aria-label="Take ${textOf(column)} off ${name}" @click=${unmap}>×</button>`
        : nothing
    }</span> `;
  }

  /** What drags do, for those who do not drag. */
  #choice(filter: TemplateFilter): TemplateResult | typeof nothing {
    const mapped = new Set(filter.applyOnTables.map(keyOf));
    const free = this.columns.filter((one) => one.dataType === filter.dataType && !mapped.has(keyOf(one)));
    if (free.length === 0) return nothing;
    const choose = (event: Event): void => {
      const select = event.target as HTMLSelectElement;
      const column = free.find((one) => keyOf(one) === select.value);
      select.value = '';
      if (column !== undefined) this.#map(filter, column);
    };
    return html`<select aria-label="Map another column to ${filter.name}" @change=${choose}>
      <option value="">Map another column…</option>
      ${free.map((one) => html`<option value=${keyOf(one)}>${one.label}</option>`)}
    </select>`;
  }

  #map({ name, dataType, applyOnTables }: TemplateFilter, column: ModelColumn): void {
    this.dragged = null;
    if (column.dataType !== dataType) {
      this.said = `“${name}” takes columns of the kind ${dataType}; ${textOf(column)} is ${column.dataType}.`;
      return;
    }
    if (applyOnTables.some((one) => keyOf(one) === keyOf(column))) {
      this.said = `${textOf(column)} is mapped to “${name}” already.`;
      return;
    }
    this.said = '';
    this.#tell({ map: name, column: mappedColumn(column), isAdded: true });
  }

  #columns(): TemplateResult {
    const take = (column: ModelColumn): void => {
      this.dragged = column;
    };
    const release = (): void => {
      this.dragged = null;
    };
    return html`<details class="card columns"><summary>Columns to drag onto a filter</summary>
      <p class="soft">Of the columns of a filter, those of tables that a card reads restrict the card; if it reads none of these tables, all do.</p>
      <p>${this.columns.map(
        (column) =>
          html`<span class="chip" draggable="true" @dragstart=${(event: DragEvent) => {
            event.dataTransfer?.setData('text/plain', textOf(column));
            take(column);
          }} @dragend=${release}>${column.label} <small class="soft">${column.dataType}</small></span> `,
      )}</p>
    </details>`;
  }

  #form(): TemplateResult {
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
    const { label, dataType } = column;
    const name = String(form.get('name') ?? '').trim() || (label.split(': ')[1] ?? column.columnName);
    const isSingle = form.has('isSingleChoice') && dataType === 'string';
    event.target.reset();
    this.#tell({
      add: { name, dataType, applyOnTables: [mappedColumn(column)], ...(isSingle ? { isSingleChoice: true } : {}) },
    });
  };

  #tell(detail: FilterChange): void {
    this.dispatchEvent(new CustomEvent<FilterChange>('filter-change', { detail }));
  }
}

customElements.define('studio-template-filters', TemplateFilters);
