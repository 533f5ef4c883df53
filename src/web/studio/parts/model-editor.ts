/** Changes a model: labels, what is shown, whose rows a table holds, calculated columns and relationships. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import {
  keyOf,
  ownershipOf,
  type StoredColumn,
  type StoredModel,
  type StoredTable,
  waysOf,
  withCalculated,
  withColumn,
  withOwnership,
  withoutColumn,
  withoutRelationship,
  withRelationship,
  withStoredTable,
} from '../base/model-edit.js';
import { textOf } from '../base/screen.js';

const valueIn = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;
const isChecked = (event: Event): boolean => (event.target as HTMLInputElement).checked;

export class ModelEditor extends LitElement {
  static override properties = { model: { attribute: false }, draft: { state: true }, problem: { state: true } };
  declare model: StoredModel;
  declare draft: StoredModel;
  declare problem: string | null;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (!changes.has('model')) return;
    this.draft = this.model;
    this.problem = null;
  }

  protected override render(): TemplateResult {
    const isSame = this.draft === this.model;
    const save = (): void =>
      void this.dispatchEvent(new CustomEvent<StoredModel>('model-change', { detail: this.draft }));
    return html`${this.problem === null ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      <div class="toolbar">
        <button type="button" ?disabled=${isSame} @click=${save}>Save the model</button>
        <button type="button" class="quiet" ?disabled=${isSame} @click=${() => this.#become(this.model)}>Discard changes</button>
      </div>
      ${this.draft.datamartTables.map((table) => this.#table(table))} ${this.#relationships()}`;
  }

  #become(next: StoredModel): void {
    this.draft = next;
    this.problem = null;
  }

  /** A change that its function may refuse. */
  #try(change: () => StoredModel): boolean {
    try {
      this.#become(change());
      return true;
    } catch (error) {
      this.problem = textOf(error);
      return false;
    }
  }

  #table(table: StoredTable): TemplateResult {
    const key = keyOf(table);
    const now = ownershipOf(this.draft, table);
    const option = (value: string, text: string): TemplateResult =>
      html`<option value=${value} ?selected=${value === now}>${text}</option>`;
    const own = table.datamartTableColumns.filter(({ isCustomColumn }) => !isCustomColumn);
    return html`<details class="card">
      <summary><strong>${table.label || table.tableName}</strong> <code>${key}</code> ${table.isHide ? html`<span class="soft">hidden</span>` : nothing}</summary>
      <div class="form">
        <div class="row">
          <label>Label<input maxlength="120" .value=${table.label} @change=${(event: Event) => this.#become(withStoredTable(this.draft, key, { label: valueIn(event) }))} /></label>
          <label>Whose rows are these?
            <select @change=${(event: Event) => this.#become(withOwnership(this.draft, key, valueIn(event)))}>
              ${option('related', 'By a relationship to an owned table')} ${option('shared', 'Everybody’s: all tenants read every row')}
              ${waysOf(this.draft, table).map(({ relationshipName }) => option(`path:${relationshipName}`, `By the relationship ${relationshipName}`))}
              ${own.map(({ columnName }) => option(`column:${columnName}`, `Column ${columnName} has the client id`))}
            </select>
          </label>
        </div>
        <label class="inline"><input type="checkbox" .checked=${!table.isHide} @change=${(event: Event) => this.#become(withStoredTable(this.draft, key, { isHide: !isChecked(event) }))} /> Shown to those who build metrics</label>
      </div>
      <div class="table" tabindex="0" role="group" aria-label="Columns of ${key}"><table>
        <thead><tr><th scope="col">Column</th><th scope="col">Kind</th><th scope="col">Label</th><th scope="col">Shown</th></tr></thead>
        <tbody>${table.datamartTableColumns.map((column) => this.#column(key, column))}</tbody>
      </table></div>
      ${this.#calculated(key)}
    </details>`;
  }

  #column(key: string, column: StoredColumn): TemplateResult {
    const { columnName, datatype, label, isHide, isCustomColumn, sql } = column;
    const change = (part: Partial<StoredColumn>): void => this.#become(withColumn(this.draft, key, columnName, part));
    return html`<tr>
      <td><code>${columnName}</code></td>
      <td>${
        isCustomColumn
          ? html`<code>${sql}</code> <button type="button" class="text" @click=${() => this.#become(withoutColumn(this.draft, key, columnName))}>Remove ${columnName}</button>`
          : datatype
      }</td>
      <td><input aria-label="Label of ${key}.${columnName}" maxlength="120" .value=${label} @change=${(event: Event) => change({ label: valueIn(event) })} /></td>
      <td><input type="checkbox" aria-label="Show ${key}.${columnName}" .checked=${!isHide} @change=${(event: Event) => change({ isHide: !isChecked(event) })} /></td>
    </tr>`;
  }

  #calculated(key: string): TemplateResult {
    const add = (event: SubmitEvent): void => {
      event.preventDefault();
      if (!(event.target instanceof HTMLFormElement)) return;
      const form = new FormData(event.target);
      const [name = '', sql = ''] = ['name', 'sql'].map((field) => String(form.get(field) ?? '').trim());
      if (this.#try(() => withCalculated(this.draft, key, name, sql))) event.target.reset();
    };
    return html`<form class="toolbar" @submit=${add}>
      <label>New calculated column<input name="name" required maxlength="120" autocomplete="off" aria-label="Name of a calculated column of ${key}" /></label>
      <label>Expression <input name="sql" required maxlength="4000" autocomplete="off" aria-label="Expression over columns of ${key}" placeholder="price * quantity" /></label>
      <button class="quiet">Add</button>
    </form>`;
  }

  #relationships(): TemplateResult {
    const { datamartRelationships: all } = this.draft;
    return html`<section class="card"><h2>Relationships</h2>
      <div class="table" tabindex="0" role="group" aria-label="Relationships"><table>
        <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Cardinality</th><th scope="col">Action</th></tr></thead>
        <tbody>${all.map(
          ({
            relationshipName,
            parentTableName,
            parentColumnName,
            childTableName,
            childColumnName,
            cardinality,
          }) => html`<tr>
            <td><code>${parentTableName}.${parentColumnName}</code></td><td><code>${childTableName}.${childColumnName}</code></td>
            <td>${cardinality ?? 'not declared'}</td>
            <td><button type="button" class="text" @click=${() => this.#become(withoutRelationship(this.draft, relationshipName))}>Remove ${relationshipName}</button></td>
          </tr>`,
        )}</tbody>
      </table></div>
      ${this.#newRelationship()}
    </section>`;
  }

  #newRelationship(): TemplateResult {
    const places = this.draft.datamartTables.flatMap((table) =>
      table.datamartTableColumns.flatMap(({ columnName, isCustomColumn }) =>
        isCustomColumn ? [] : [[keyOf(table), columnName] as const],
      ),
    );
    const options = places.map((place) => html`<option value=${JSON.stringify(place)}>${place.join('.')}</option>`);
    const add = (event: SubmitEvent): void => {
      event.preventDefault();
      if (!(event.target instanceof HTMLFormElement)) return;
      const form = new FormData(event.target);
      const placeOf = (name: string): readonly [string, string] => JSON.parse(String(form.get(name)));
      const [[parentTableName, parentColumnName], [childTableName, childColumnName]] = [placeOf('from'), placeOf('to')];
      const relationshipName = `${parentTableName}.${parentColumnName}`;
      const ends = { parentTableName, parentColumnName, childTableName, childColumnName };
      this.#try(() =>
        withRelationship(this.draft, { ...ends, relationshipName, cardinality: String(form.get('cardinality')) }),
      );
    };
    return html`<form class="toolbar" @submit=${add}>
      <label>From <select name="from">${options}</select></label>
      <label>To <select name="to">${options}</select></label>
      <label>Cardinality <select name="cardinality">
        <option value="ManyToOne">many to one</option><option value="OneToOne">one to one</option>
        <option value="OneToMany">one to many</option><option value="ManyToMany">many to many</option>
      </select></label>
      <button class="quiet">Add a relationship</button>
    </form>`;
  }
}

customElements.define('studio-model-editor', ModelEditor);
