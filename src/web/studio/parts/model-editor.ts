/** Changes a model: what its tables and columns are called and mean, whose rows they hold, and relationships. */

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import { searchField } from '../../base/search-field.js';
import { changed, type History, historyOf, redone, undone } from '../../editor/history.js';
import './model-diagram.js';
import './model-table.js';
import type { Api } from '../base/api.js';
import { type Checked, cardinalityText, countRepeats, type Ends, endsOf, evidenceOf } from '../base/cardinality.js';
import { keyOf, type StoredModel, withoutRelationship, withRelationship } from '../base/model-edit.js';
import { wholeNames } from '../base/model-graph.js';
import { type Described, findColumns, type Notes, withFeedback, wordsFault } from '../base/model-notes.js';
import { describeScore, type ModelPlace } from '../base/model-score.js';
import { type Keys, type TableTenancy, tenancyOf } from '../base/model-tenancy.js';
import { Part } from '../base/part.js';
import { textOf } from '../base/screen.js';
import { modelScore } from './model-score-card.js';
import { askRelationship, evidenceBadge } from './relationship-dialog.js';
import { redNotice, tenancyList } from './tenancy-list.js';

/** Where Control and Z belong to what is typed. */
const typing = 'input:not([type="checkbox"]), textarea, [contenteditable], dialog, studio-code';

export class ModelEditor extends Part {
  static override properties = {
    api: { attribute: false },
    model: { attribute: false },
    notes: { attribute: false },
    saved: { attribute: false },
    tenancies: { attribute: false },
    keys: { attribute: false },
    at: { attribute: false },
    isBusy: { attribute: false },
    steps: { state: true },
    problem: { state: true },
    checked: { state: true },
    search: { state: true },
  };
  declare api: Api;
  declare model: StoredModel;
  declare notes: Notes;
  /** What a save left that failed half-way. Null: the model and its notes are as they were read. */
  declare saved: Described | null;
  /** Whose rows the tables of the saved model hold, as the service says it. */
  declare tenancies: readonly TableTenancy[];
  /** The keys of the source. Null: they could not be read. */
  declare keys: Keys | null;
  /** The place that the address names. Null: none. */
  declare at: ModelPlace | null;
  declare isBusy: boolean;
  declare steps: History<Described>;
  declare problem: string | null;
  /** What was counted, by the name of the relationship. */
  declare checked: ReadonlyMap<string, Checked>;
  declare search: string;

  constructor() {
    super();
    this.saved = null;
    this.at = null;
    this.isBusy = false;
    this.search = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#key, { signal: this.gone });
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    // A place that is looked for must not be among what a search leaves out.
    if (changes.has('at') && this.at !== null) this.search = '';
    if (!changes.has('model') && !changes.has('notes')) return;
    this.steps = historyOf({ model: this.model, notes: this.notes });
    this.problem = null;
    this.checked = new Map();
  }

  protected override updated(changes: PropertyValues<this>): void {
    if (changes.has('at') && this.at?.field === 'feedback') this.querySelector<HTMLElement>('#model-feedback')?.focus();
  }

  get #draft(): StoredModel {
    return this.steps.present.model;
  }

  get #isSame(): boolean {
    const { model, notes } = this.steps.present;
    return model === this.#stored.model && notes === this.#stored.notes;
  }

  /** What the service has, and what discarding goes back to. */
  get #stored(): Described {
    const { model, notes } = this.saved ?? this;
    return { model, notes };
  }

  /** Where nothing is typed. */
  readonly #key = (event: KeyboardEvent): void => {
    const letter = event.key.toLowerCase();
    const isTyping = event.composedPath().some((at) => at instanceof Element && at.matches(typing));
    if (!(event.ctrlKey || event.metaKey) || !(letter === 'z' || letter === 'y') || isTyping) return;
    event.preventDefault();
    if (letter === 'z' && !event.shiftKey) this.#undo();
    else this.#redo();
  };

  readonly #undo = (): void => {
    this.steps = undone(this.steps);
    this.problem = null;
  };

  readonly #redo = (): void => {
    this.steps = redone(this.steps);
    this.problem = null;
  };

  protected override render(): TemplateResult {
    const now = this.#tenancies();
    const { present } = this.steps;
    return html`${this.#tools()}
      ${this.problem === null ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      ${this.keys === null ? html`<p class="notice warn">The keys of the source could not be read, so no relationship is shown as proved by one.</p>` : nothing}
      ${redNotice(now)}
      <studio-model-diagram .model=${present.model} .tenancies=${now} .keys=${this.keys ?? none} .canConnect=${true} .kept=${present.model.name}
        @connect=${({ detail }: CustomEvent<Ends>) => void this.#connect(detail)}></studio-model-diagram>
      ${tenancyList(now, this.api)}
      ${modelScore(describeScore(present, now, this.keys ?? none), present.model.name)}
      <h2>Tables and columns</h2>
      ${this.#find()} ${this.#tables(now)} ${this.#feedback()} ${this.#relationships()}`;
  }

  #tools(): TemplateResult {
    const { past, future, present } = this.steps;
    const isSame = this.#isSame;
    const fault = present.model.datamartTables.map((table) => wordsFault(present, keyOf(table))).find(Boolean) ?? null;
    const left =
      this.saved?.model === present.model
        ? 'Tables, columns and relationships are saved. The words are not saved yet.'
        : 'Not saved yet. Colours show whose rows these are with your changes.';
    const save = (): void => void this.dispatchEvent(new CustomEvent<Described>('model-change', { detail: present }));
    return html`<div class="toolbar above">
      <button type="button" ?disabled=${isSame || fault !== null || this.isBusy} @click=${save}>Save the model</button>
      <button type="button" class="quiet" title="Control and Z" ?disabled=${past.length === 0} @click=${this.#undo}>Undo</button>
      <button type="button" class="quiet" title="Control, Shift and Z" ?disabled=${future.length === 0} @click=${this.#redo}>Redo</button>
      <button type="button" class="quiet" ?disabled=${isSame} @click=${() => this.#become(this.#stored)}>Discard changes</button>
      ${isSame ? nothing : html`<span class="soft">${fault ?? left}</span>`}
    </div>`;
  }

  #find(): TemplateResult {
    const search = (text: string): void => {
      this.search = text;
    };
    const found = findColumns(this.steps.present, this.search);
    const count = [...(found?.values() ?? [])].reduce((sum, names) => sum + names.size, 0);
    return html`<div class="toolbar">
      ${searchField({ label: 'Search tables and columns', placeholder: 'Search names and words', value: this.search, search })}
      <span class="count" role="status">${found === null ? nothing : counted(count, 'column')}</span>
    </div>`;
  }

  #tables(tenancies: readonly TableTenancy[]): TemplateResult {
    const { present } = this.steps;
    const found = findColumns(present, this.search);
    return html`${present.model.datamartTables.map((table, at) => {
      const key = keyOf(table);
      const columns = found === null ? null : (found.get(key) ?? new Set<string>());
      if (columns?.size === 0) return nothing;
      return html`<studio-model-table .api=${this.api} .described=${present} .table=${table} .tenancy=${tenancies[at]} .columns=${columns}
        .at=${this.at?.table === key ? this.at : null} .change=${this.#change}></studio-model-table>`;
    })}
    ${found?.size === 0 ? html`<p class="empty">Nothing contains “${this.search}”.</p>` : nothing}`;
  }

  #feedback(): TemplateResult {
    const { model, notes } = this.steps.present;
    const say = (event: Event): void =>
      this.#become({ model, notes: withFeedback(notes, (event.target as HTMLTextAreaElement).value) });
    return html`<section class="card"><h2>Notes about the whole model</h2>
      <textarea id="model-feedback" rows="3" maxlength="2000" aria-label="Notes about the whole model" .value=${notes.feedback ?? ''} @change=${say}></textarea>
      <p class="hint">What a person must know who asks for numbers: “Delays are in minutes; a year begins in July.” Chat reads it, without lines that name what is hidden.</p>
    </section>`;
  }

  /** With unsaved changes it is decided here, as the service will. */
  #tenancies(): readonly TableTenancy[] {
    return this.#draft === this.model ? this.tenancies : tenancyOf(this.#draft, this.keys ?? none);
  }

  /** Null: this person may not see data of tenants, not even counts. */
  get #counting(): ((ends: Ends) => Promise<Checked>) | null {
    if (!this.api.session.person.seesData) return null;
    return (ends) => countRepeats(this.api, this.model.companyIntegration.name, this.#draft, ends);
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
    const taken = this.#draft.datamartRelationships.map(({ relationshipName }) => relationshipName);
    const made = await askRelationship({ ends, keys: this.keys ?? none, taken, count: this.#counting });
    if (made !== null) this.#model((model) => withRelationship(model, made));
  }

  #become(next: Described): void {
    this.steps = changed(this.steps, next);
    this.problem = null;
  }

  /** A change that its function may refuse. */
  readonly #change = (change: () => Described): boolean => {
    try {
      this.#become(change());
      return true;
    } catch (error) {
      this.problem = textOf(error);
      return false;
    }
  };

  #model(change: (model: StoredModel) => StoredModel): void {
    this.#change(() => ({ ...this.steps.present, model: change(this.#draft) }));
  }

  #relationships(): TemplateResult {
    const whole = wholeNames(this.#draft);
    return html`<section class="card"><h2>Relationships</h2>
      <div class="table" tabindex="0" role="group" aria-label="Relationships"><table>
        <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Cardinality</th><th scope="col">Who says so</th><th scope="col">Action</th></tr></thead>
        <tbody>${this.#draft.datamartRelationships.map((relationship) => {
          const { relationshipName: name, parentTableName, parentColumnName, cardinality } = relationship;
          const ends = endsOf(relationship, whole);
          const evidence = evidenceOf(cardinality, ends, this.keys ?? none, this.checked.get(name) ?? null);
          return html`<tr>
            <td><code>${parentTableName}.${parentColumnName}</code></td><td><code>${relationship.childTableName}.${relationship.childColumnName}</code></td>
            <td>${cardinality === null ? 'not declared' : cardinalityText[cardinality]}</td>
            <td>${evidenceBadge(evidence)} ${evidence.kind === 'proved' ? nothing : html`<span class="hint">${evidence.text}</span>`}
              ${this.#counting === null || evidence.kind === 'proved' ? nothing : html`<button type="button" class="text" @click=${() => void this.#check(name, ends)}>Check the rows of ${name}</button>`}</td>
            <td><button type="button" class="text" @click=${() => this.#model((model) => withoutRelationship(model, name))}>Remove ${name}</button></td>
          </tr>`;
        })}</tbody>
      </table></div>
      ${this.#newRelationship()}
    </section>`;
  }

  #newRelationship(): TemplateResult {
    const places = this.#draft.datamartTables.flatMap((table) =>
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
