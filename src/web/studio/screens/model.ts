/** Models: which tables and columns may be shown, how they belong together, and whose rows they hold. */
import { html, nothing, type TemplateResult } from 'lit';
import '../parts/model-editor.js';
import '../parts/model-diagram.js';
import '../parts/model-proposal.js';
import '../parts/model-rollups.js';
import '../parts/model-sync.js';
import { hasRole, type OperationAnswer, StudioError } from '../base/api.js';
import { faultOf, type ModelDraft } from '../base/drafted-model.js';
import { newModelKey, renamePlaces } from '../base/kept-places.js';
import { type Column, link, list, timeColumn } from '../base/kit.js';
import { proposedModel } from '../base/model-draft.js';
import { findModel, type StoredModel } from '../base/model-edit.js';
import type { Described, Notes } from '../base/model-notes.js';
import { type ModelPlace, placeIn } from '../base/model-score.js';
import { type Keys, keysOf, type TableTenancy } from '../base/model-tenancy.js';
import { addressOf, navigate } from '../base/routes.js';
import { asRead, createModel, PartlySaved, readNotes, type Saved, saveModel } from '../base/save-model.js';
import { Screen } from '../base/screen.js';
import { readCatalogue } from '../base/source-tables.js';
import { redNotice, tenancyList } from '../parts/tenancy-list.js';

type Listed = OperationAnswer<'listDatamarts'>['data'][number];
type Tenancy = OperationAnswer<'getDatamartTenancy'>['data'];
type Data = {
  readonly models: readonly Listed[];
  readonly tenancy: Tenancy | null;
  readonly stored: StoredModel | null;
  /** Null: this person may not change the model. */
  readonly notes: Notes | null;
  /** What a save left that failed half-way. Null: the model and its words are as they were read. */
  readonly saved: Saved | null;
  /** Null: there are none to know, or the source cannot be reached. */
  readonly keys: Keys | null;
  readonly sources: readonly string[];
};

class ModelScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, draft: { state: true } };
  declare draft: ModelDraft | null;
  #at: { readonly query: URLSearchParams; readonly place: ModelPlace | null } | undefined;

  constructor() {
    super();
    this.draft = null;
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const [name] = this.place.rest;
    const [models, sources, tenancy] = await Promise.all([
      this.api.call('listDatamarts', {}, signal),
      this.api.call('listDatasources', {}, signal),
      name === undefined || name === 'new' ? null : this.api.call('getDatamartTenancy', { datamartName: name }, signal),
    ]);
    const source = this.place.query.get('source');
    this.draft =
      name === 'new' && source !== null ? proposedModel(await readCatalogue(this.api, source, signal)) : null;
    const stored = findModel(models.data, name) ?? null;
    return {
      models: models.data,
      sources: sources.data.map((one) => one.name),
      tenancy: tenancy?.data ?? null,
      stored,
      saved: null,
      ...(stored === null || !hasRole(this.api.session, 'author')
        ? { notes: null, keys: null }
        : { notes: await readNotes(this.api, stored.name, signal), keys: await this.#keysOf(stored, signal) }),
    };
  }

  /** A model can be changed while its source is away. */
  async #keysOf({ companyIntegration: { name } }: StoredModel, signal: AbortSignal): Promise<Keys | null> {
    try {
      return keysOf(await readCatalogue(this.api, name, signal));
    } catch (error) {
      if (error instanceof StudioError && error.code === 'DATASOURCE_CONNECTION_ERROR') return null;
      throw error;
    }
  }

  protected override needsLoad(before: ModelScreen['place'] | undefined): boolean {
    return super.needsLoad(before) || before?.query.get('source') !== this.place.query.get('source');
  }

  protected override content({ models, tenancy, sources, stored, notes, keys, saved }: Data): TemplateResult {
    const [name] = this.place.rest;
    if (name === 'new') return this.draft === null ? chooseSource(sources) : this.#new(this.draft);
    if (tenancy !== null) return this.#one(tenancy, stored, notes, keys, saved);
    const mayBuild = hasRole(this.api.session, 'author') && sources.length > 0;
    return html`<div class="head"><h1>Models</h1><p>A model says which tables and columns may be shown, and whose rows they hold.</p></div>
      ${list({
        name: 'models',
        rows: models,
        columns,
        query: this.place.query,
        empty: html`<h2>No model yet</h2><p>${sources.length === 0 ? 'Connect a source first.' : 'Describe the tables of a source.'}</p>`,
        actions: mayBuild ? html`${link(addressOf('models', ['new']), 'New model', 'button')}` : undefined,
      })}`;
  }

  #one(
    { datamartName, tables }: Tenancy,
    stored: StoredModel | null,
    notes: Notes | null,
    keys: Keys | null,
    saved: Saved | null,
  ): TemplateResult {
    const shown = html`${redNotice(tables)} ${stored === null ? nothing : html`<studio-model-diagram .model=${stored} .tenancies=${tables}></studio-model-diagram>`}
      ${tenancyList(tables, this.api)}`;
    return html`<div class="head"><h1>${datamartName}</h1></div>
      ${stored !== null && notes !== null ? this.#edit({ model: stored, notes }, tables, keys, saved) : shown}
      <p>${link(addressOf('models'), 'All models')}</p>`;
  }

  #edit(stored: Described, tenancies: readonly TableTenancy[], keys: Keys | null, saved: Saved | null): TemplateResult {
    const save = ({ detail }: CustomEvent<Described>): void =>
      void this.act(async () => {
        const warnings = await this.#save(stored.model, saved ?? asRead(stored), detail);
        return ['The model is saved.', ...warnings].join(' ');
      });
    return html`<studio-model-sync .api=${this.api} .model=${stored.model} @model-synced=${() => void this.reload()}></studio-model-sync>
      <studio-model-editor .api=${this.api} .model=${stored.model} .notes=${stored.notes} .saved=${saved} .tenancies=${tenancies} .keys=${keys}
      .at=${this.#placeAt()} .isBusy=${this.isBusy} @model-change=${save}></studio-model-editor>
      ${this.api.session.person.seesData ? html`<studio-model-rollups .api=${this.api} .model=${stored.model} @model-synced=${() => void this.reload()}></studio-model-rollups>` : nothing}`;
  }

  /** Remembers what was saved if the rest was not. `stored` stays, and with it the editor's draft and its steps. */
  async #save(stored: StoredModel, before: Saved, after: Described): Promise<readonly string[]> {
    try {
      return await saveModel(this.api, before, after);
    } catch (error) {
      if (error instanceof PartlySaved && this.data?.stored === stored)
        this.data = { ...this.data, saved: error.saved };
      throw error;
    }
  }

  /** The same object until the address changes, so that it is shown once. */
  #placeAt(): ModelPlace | null {
    const { query } = this.place;
    if (this.#at?.query !== query) this.#at = { query, place: placeIn(query) };
    return this.#at.place;
  }

  #new(draft: ModelDraft): TemplateResult {
    const fault = faultOf(draft);
    const rename = (event: Event): void => {
      this.draft = { ...draft, name: (event.target as HTMLInputElement).value };
    };
    const drafted = ({ detail }: CustomEvent<ModelDraft>): void => {
      this.draft = detail;
    };
    return html`<div class="head"><h1>New model of ${draft.source}</h1><p>Proposed from keys and names. Check whose rows each table holds.</p></div>
      <section class="card">
        <div class="form">
          <label>Name<input maxlength="120" autocomplete="off" .value=${draft.name} @input=${rename} /></label>
        </div>
      </section>
      <studio-model-proposal .draft=${draft} @draft-change=${drafted}></studio-model-proposal>
      <section class="card">
        ${fault === null ? nothing : html`<p class="soft">${fault}</p>`}
        <div class="buttons">
          ${link(addressOf('models'), 'Cancel', 'button quiet')}
          <button type="button" ?disabled=${fault !== null || this.isBusy} @click=${() => void this.#create(draft)}>Create the model</button>
        </div>
      </section>`;
  }

  async #create(draft: ModelDraft): Promise<void> {
    const name = draft.name.trim();
    const isMade = await this.act(async () => {
      await createModel(this.api, draft);
      return null;
    });
    if (!isMade) return;
    renamePlaces(newModelKey(draft.source), name);
    navigate(addressOf('models', [name]));
  }
}

const columns: readonly Column<Listed>[] = [
  { title: 'Model', of: ({ name }) => link(addressOf('models', [name]), name), text: ({ name }) => name },
  {
    title: 'Source',
    of: ({ companyIntegration: { name } }) => link(addressOf('sources', [name]), name),
    text: ({ companyIntegration }) => companyIntegration.name,
  },
  timeColumn('Changed', ({ updatedAt }) => updatedAt),
];

const chooseSource = (
  sources: readonly string[],
): TemplateResult => html`<div class="head"><h1>New model</h1><p>Of which source?</p></div>
  <div class="cards">${sources.map((name) => html`<section class="card"><h2>${link(addressOf('models', ['new'], { source: name }), name)}</h2></section>`)}</div>`;

customElements.define('studio-model', ModelScreen);
