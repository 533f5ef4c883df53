/** Changes a model: labels, what is shown, whose rows a table holds, calculated columns and relationships. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import './model-diagram.js';
import type { Api } from '../base/api.js';
import { type Checked, cardinalityText, type Ends, endsOf, evidenceOf, isCardinality } from '../base/cardinality.js';
import { badge } from '../base/kit.js';
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
import { wholeNames } from '../base/model-graph.js';
import { type Keys, stateOf, type TableTenancy, tenancyOf, toneOf } from '../base/model-tenancy.js';
import { countRepeats } from '../base/read-source.js';
import { textOf } from '../base/screen.js';
import { askRelationship, evidenceBadge } from './relationship-dialog.js';
import { redNotice, tenancyList } from './tenancy-list.js';

const valueIn = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;
const isChecked = (event: Event): boolean => (event.target as HTMLInputElement).checked;

export class ModelEditor extends LitElement {
  static override properties = {
    api: { attribute: false },
    model: { attribute: false },
    tenancies: { attribute: false },
    keys: { attribute: false },
    draft: { state: true },
    problem: { state: true },
    checked: { state: true },
  };
  declare api: Api;
  declare model: StoredModel;
  /** Whose rows the tables of the saved model hold, as the service says it. */
  declare tenancies: readonly TableTenancy[];
  /** The keys of the source. Null: they could not be read. */
  declare keys: Keys | null;
  declare draft: StoredModel;
  declare problem: string | null;
  /** What was counted, by the name of the relationship. */
  declare checked: ReadonlyMap<string, Checked>;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (!changes.has('model')) return;
    this.draft = this.model;
    this.problem = null;
    this.checked = new Map();
  }

  protected override render(): TemplateResult {
    const isSame = this.draft === this.model;
    const save = (): void =>
      void this.dispatchEvent(new CustomEvent<StoredModel>('model-change', { detail: this.draft }));
    const now = this.#tenancies();
    return html`<div class="toolbar above">
        <button type="button" ?disabled=${isSame} @click=${save}>Save the model</button>
        <button type="button" class="quiet" ?disabled=${isSame} @click=${() => this.#become(this.model)}>Discard changes</button>
        ${isSame ? nothing : html`<span class="soft">Not saved yet. Colours show whose rows these are with your changes.</span>`}
      </div>
      ${this.problem === null ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      ${this.keys === null ? html`<p class="notice warn">The keys of the source could not be read, so no relationship is shown as proved by one.</p>` : nothing}
      ${redNotice(now)}
      <studio-model-diagram .model=${this.draft} .tenancies=${now} .keys=${this.keys ?? none} .canConnect=${true}
        @connect=${({ detail }: CustomEvent<Ends>) => void this.#connect(detail)}></studio-model-diagram>
      ${tenancyList(now, this.api)}
      <h2>Labels, columns and whose rows these are</h2>
      ${this.draft.datamartTables.map((table, at) => this.#table(table, now[at]))} ${this.#relationships()}`;
  }

  /** With unsaved changes it is decided here, as the service will. */
  #tenancies(): readonly TableTenancy[] {
    return this.draft === this.model ? this.tenancies : tenancyOf(this.draft, this.keys ?? none);
  }

  /** Null: this person may not see data of tenants, not even counts. */
  get #counting(): ((ends: Ends) => Promise<Checked>) | null {
    if (!this.api.session.person.seesData) return null;
    return (ends) => countRepeats(this.api, this.model.companyIntegration.name, this.draft, ends);
  }

  async #check(name: string, ends: Ends): Promise<void> {
    this.problem = null;
    try {
      const found = await this.#counting?.(ends);
      if (found !== undefined) this.checked = new Map([...this.checked, [name, found]]);
    } catch (error) {
      this.problem = textOf(error);
    }
  }

  async #connect(ends: Ends): Promise<void> {
    const taken = this.draft.datamartRelationships.map(({ relationshipName }) => relationshipName);
    const made = await askRelationship({ ends, keys: this.keys ?? none, taken, count: this.#counting });
    if (made !== null) this.#try(() => withRelationship(this.draft, made));
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

  #table(table: StoredTable, tenancy: TableTenancy | undefined): TemplateResult {
    const key = keyOf(table);
    const now = ownershipOf(this.draft, table);
    const option = (value: string, text: string): TemplateResult =>
      html`<option value=${value} ?selected=${value === now}>${text}</option>`;
    const own = table.datamartTableColumns.filter(({ isCustomColumn }) => !isCustomColumn);
    return html`<details class="card">
      <summary><strong>${table.label || table.tableName}</strong> <code>${key}</code> ${tenancy === undefined ? nothing : badge(stateOf(tenancy), toneOf[stateOf(tenancy)])} ${table.isHide ? html`<span class="soft">hidden</span>` : nothing}</summary>
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
    const whole = wholeNames(this.draft);
    return html`<section class="card"><h2>Relationships</h2>
      <div class="table" tabindex="0" role="group" aria-label="Relationships"><table>
        <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Cardinality</th><th scope="col">Who says so</th><th scope="col">Action</th></tr></thead>
        <tbody>${this.draft.datamartRelationships.map((relationship) => {
          const { relationshipName: name, parentTableName, parentColumnName, cardinality } = relationship;
          const ends = endsOf(relationship, whole);
          const evidence = evidenceOf(cardinality, ends, this.keys ?? none, this.checked.get(name) ?? null);
          return html`<tr>
            <td><code>${parentTableName}.${parentColumnName}</code></td><td><code>${relationship.childTableName}.${relationship.childColumnName}</code></td>
            <td>${isCardinality(cardinality) ? cardinalityText[cardinality] : 'not declared'}</td>
            <td>${evidenceBadge(evidence)} ${evidence.kind === 'proved' ? nothing : html`<span class="hint">${evidence.text}</span>`}
              ${this.#counting === null || evidence.kind === 'proved' ? nothing : html`<button type="button" class="text" @click=${() => void this.#check(name, ends)}>Check the rows of ${name}</button>`}</td>
            <td><button type="button" class="text" @click=${() => this.#become(withoutRelationship(this.draft, name))}>Remove ${name}</button></td>
          </tr>`;
        })}</tbody>
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
      const endOf = (name: string): Ends['from'] => {
        const [table, column]: readonly [string, string] = JSON.parse(String(form.get(name)));
        return { table, column };
      };
      void this.#connect({ from: endOf('from'), to: endOf('to') });
    };
    return html`<form class="toolbar" @submit=${add}>
      <label>From <select name="from">${options}</select></label>
      <label>To <select name="to">${options}</select></label>
      <button class="quiet">Connect these columns</button>
    </form>`;
  }
}

const none: Keys = new Map();

customElements.define('studio-model-editor', ModelEditor);
