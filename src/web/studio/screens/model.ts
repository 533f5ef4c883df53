/** Models: which tables and columns may be shown, how they belong together, and whose rows they hold. */
import { html, nothing, type TemplateResult } from 'lit';
import '../parts/model-editor.js';
import '../parts/model-diagram.js';
import '../parts/model-sync.js';
import { baseFilterWords } from '../../../model/datamart/base-filter-words.js';
import { amountWords } from '../../../model/datamart/money.js';
import { options } from '../../base/options.js';
import { hasRole, type OperationAnswer, StudioError } from '../base/api.js';
import type { Ends } from '../base/cardinality.js';
import { newModelKey, renamePlaces } from '../base/kept-places.js';
import { type Column, link, list, moment } from '../base/kit.js';
import {
  bodyOf,
  faultOf,
  keysOfDraft,
  type ModelDraft,
  type Ownership,
  proposedModel,
  qualified,
  readableColumns,
  storedOf,
  type TableDraft,
  withAmountUsed,
  withColumnRead,
  withDrawn,
  withFilterUsed,
  withTable,
  withTenants,
} from '../base/model-draft.js';
import { anyOwners, columnOwner, findModel, type StoredModel } from '../base/model-edit.js';
import type { Described, Notes } from '../base/model-notes.js';
import { type ModelPlace, placeIn } from '../base/model-score.js';
import { type Keys, keysOf, type TableTenancy, tenancyOf } from '../base/model-tenancy.js';
import { addressOf, navigate } from '../base/routes.js';
import { asRead, PartlySaved, readNotes, type Saved, saveModel } from '../base/save-model.js';
import { Screen } from '../base/screen.js';
import { readCatalogue } from '../base/source-tables.js';
import { askRelationship } from '../parts/relationship-dialog.js';
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
      .at=${this.#placeAt()} .isBusy=${this.isBusy} @model-change=${save}></studio-model-editor>`;
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
    return html`<div class="head"><h1>New model of ${draft.source}</h1><p>Proposed from keys and names. Check whose rows each table holds.</p></div>
      <section class="card">
        <div class="form">
          <label>Name<input maxlength="120" autocomplete="off" .value=${draft.name} @input=${rename} /></label>
          ${this.#tenants(draft)}
        </div>
      </section>
      ${this.#diagram(draft)}
      <section class="card"><h2>Tables</h2>${this.#tables(draft)}</section>
      <section class="card"><h2>Relationships</h2>${this.#relationships(draft)}</section>
      <section class="card">
        ${fault === null ? nothing : html`<p class="soft">${fault}</p>`}
        <div class="buttons">
          ${link(addressOf('models'), 'Cancel', 'button quiet')}
          <button type="button" ?disabled=${fault !== null || this.isBusy} @click=${() => void this.#create(draft)}>Create the model</button>
        </div>
      </section>`;
  }

  /** The draft as it would be saved: colours and lines follow each choice. */
  #diagram(draft: ModelDraft): TemplateResult | typeof nothing {
    const model = storedOf(draft);
    if (model.datamartTables.length === 0) return nothing;
    const keys = keysOfDraft(draft);
    const connect = async ({ detail: ends }: CustomEvent<Ends>): Promise<void> => {
      const taken = draft.relationships.map(({ relationship }) => relationship.relationshipName);
      const made = await askRelationship({ ends, keys, taken, count: null });
      if (made !== null && this.draft !== null) this.draft = withDrawn(this.draft, made);
    };
    return html`<section class="card on-wide"><h2>Diagram</h2>
      <studio-model-diagram .model=${model} .tenancies=${tenancyOf(model, keys)} .keys=${keys} .canConnect=${true} .kept=${newModelKey(draft.source)}
        @connect=${(event: CustomEvent<Ends>) => void connect(event)}></studio-model-diagram>
    </section>`;
  }

  #tenants(draft: ModelDraft): TemplateResult {
    const { tenants } = draft;
    const table = draft.tables.find((each) => qualified(each.table) === tenants?.table)?.table;
    const choose = (event: Event): void => {
      this.draft = withTenants(draft, (event.target as HTMLSelectElement).value);
    };
    const change =
      (field: 'key' | 'name') =>
      (event: Event): void => {
        if (tenants === null) return;
        const column = (event.target as HTMLSelectElement).value;
        const next = { ...draft, tenants: { ...tenants, [field]: column } };
        this.draft = field === 'key' ? withTable(next, tenants.table, { ownership: { kind: 'column', column } }) : next;
      };
    const columns = (table?.columns ?? []).map(({ columnName }) => [columnName, columnName] as const);
    const names = draft.tables.map((each) => [qualified(each.table), qualified(each.table)] as const);
    return html`<label>Which table has one row for each tenant?
        <select @change=${choose}>${options([['', 'Choose a table'], ...names], tenants?.table ?? '')}</select>
      </label>
      ${
        tenants === null
          ? nothing
          : html`<div class="row">
              <label>Its key, the client id<select @change=${change('key')}>${options(columns, tenants.key)}</select></label>
              <label>The tenant’s name<select @change=${change('name')}>${options(columns, tenants.name)}</select></label>
            </div>`
      }`;
  }

  #tables(draft: ModelDraft): TemplateResult {
    return html`<div class="table" tabindex="0" role="group" aria-label="List"><table>
      <thead><tr><th scope="col">Use</th><th scope="col">Table</th><th scope="col">Label</th><th scope="col">Whose rows are these?</th><th scope="col">Rows that are read</th><th scope="col">Amounts of money</th></tr></thead>
      <tbody>${draft.tables.map((each) => this.#tableRow(draft, each))}</tbody>
    </table></div>`;
  }

  #tableRow(draft: ModelDraft, each: TableDraft): TemplateResult {
    const { table, isUsed, label, ownership, bridge } = each;
    const name = qualified(table);
    const change = (part: Partial<Omit<TableDraft, 'table'>>): void => {
      this.draft = withTable(draft, name, part);
    };
    const use = (event: Event): void => change({ isUsed: (event.target as HTMLInputElement).checked });
    const relabel = (event: Event): void => change({ label: (event.target as HTMLInputElement).value });
    const owned = (event: Event): void =>
      change({ ownership: ownershipOf((event.target as HTMLSelectElement).value, bridge) });
    const now = ownership.kind === 'column' ? `column:${ownership.column}` : ownership.kind;
    const bridged = bridge === null ? [] : [['through', `By rows that refer to them: ${bridge.bridge}`] as const];
    const owners = [...anyOwners, ...bridged, ...table.columns.map(columnOwner)];
    return html`<tr>
      <td><input type="checkbox" aria-label="Use ${name}" .checked=${isUsed} @change=${use} /></td>
      <td><code>${name}</code></td>
      <td><input aria-label="Label of ${name}" maxlength="120" .value=${label} ?disabled=${!isUsed} @change=${relabel} /></td>
      <td>
        <select aria-label="Whose rows ${name} holds" ?disabled=${!isUsed} @change=${owned}>${options(owners, now)}</select>
        ${this.#bridge(draft, each)}
      </td>
      <td>${this.#filters(draft, each)}</td>
      <td>${this.#amounts(draft, each)}</td>
    </tr>`;
  }

  /** Why several tenants could read the rows, and which columns of them they read if a person says so. */
  #bridge(draft: ModelDraft, { table, bridge, ownership }: TableDraft): TemplateResult | typeof nothing {
    if (bridge === null) return nothing;
    const name = qualified(table);
    const read = ownership.kind === 'through' ? ownership.through.columns : [];
    const toggle = (column: string) => (event: Event) => {
      this.draft = withColumnRead(draft, name, column, (event.target as HTMLInputElement).checked);
    };
    return html`<p class="hint">Proposed: ${bridge.reason}. Each tenant then reads what others wrote in the columns that you choose.</p>
      ${
        ownership.kind !== 'through'
          ? nothing
          : readableColumns(bridge).map(
              (column) =>
                html`<label class="inline"><input type="checkbox" aria-label="Tenants read ${name}.${column}" .checked=${read.includes(column)} @change=${toggle(column)} /> ${column}</label>`,
            )
      }`;
  }

  #filters(draft: ModelDraft, { table, isUsed, baseFilters }: TableDraft): readonly TemplateResult[] {
    const name = qualified(table);
    const toggle = (at: number) => (event: Event) => {
      this.draft = withFilterUsed(draft, name, at, (event.target as HTMLInputElement).checked);
    };
    return baseFilters.map(
      (
        one,
        at,
      ) => html`<label class="inline"><input type="checkbox" aria-label="Only rows of ${name} where ${baseFilterWords(one.filter)}" ?disabled=${!isUsed} .checked=${one.isUsed} @change=${toggle(at)} />
        <code>${baseFilterWords(one.filter)}</code> <span class="hint">${one.reason}</span></label>`,
    );
  }

  #amounts(draft: ModelDraft, { table, isUsed, amounts }: TableDraft): readonly TemplateResult[] {
    const name = qualified(table);
    const toggle = (at: number) => (event: Event) => {
      this.draft = withAmountUsed(draft, name, at, (event.target as HTMLInputElement).checked);
    };
    return amounts.map(
      (
        one,
        at,
      ) => html`<label class="inline"><input type="checkbox" aria-label="${name}.${one.columnName} holds amounts of money" ?disabled=${!isUsed} .checked=${one.isUsed} @change=${toggle(at)} />
        <code>${one.columnName}</code> <span class="hint">${amountWords(one.numbers)}</span></label>`,
    );
  }

  #relationships(draft: ModelDraft): TemplateResult {
    if (draft.relationships.length === 0) return html`<p class="soft">None proposed.</p>`;
    const toggle =
      (at: number) =>
      (event: Event): void => {
        const isUsed = (event.target as HTMLInputElement).checked;
        this.draft = {
          ...draft,
          relationships: draft.relationships.map((each, index) => (index === at ? { ...each, isUsed } : each)),
        };
      };
    return html`<div class="table" tabindex="0" role="group" aria-label="List"><table>
      <thead><tr><th scope="col">Use</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Cardinality</th><th scope="col">Why</th></tr></thead>
      <tbody>${draft.relationships.map(
        ({ relationship: r, reason, isUsed }, at) => html`<tr>
          <td><input type="checkbox" aria-label="Use ${r.relationshipName}" .checked=${isUsed} @change=${toggle(at)} /></td>
          <td><code>${r.parentTableName}.${r.parentColumnName}</code></td>
          <td><code>${r.childTableName}.${r.childColumnName}</code></td>
          <td>${r.cardinality ?? ''}</td><td class="soft">${reason}</td>
        </tr>`,
      )}</tbody>
    </table></div>`;
  }

  /** A workspace of the same name makes the model one that dashboards can be built on. */
  async #create(draft: ModelDraft): Promise<void> {
    const name = draft.name.trim();
    const isMade = await this.act(async () => {
      await this.api.call('createDatamart', bodyOf(draft));
      const { data } = await this.api.call('listWorkspaces', {});
      if (!data.some((workspace) => workspace.name === name))
        await this.api.call('createWorkspace', { name, connectionType: 'DATAMART', datamartName: name });
      return null;
    });
    if (!isMade) return;
    renamePlaces(newModelKey(draft.source), name);
    navigate(addressOf('models', [name]));
  }
}

const ownershipOf = (value: string, bridge: TableDraft['bridge']): Ownership => {
  if (value === 'through' && bridge !== null) return { kind: 'through', through: bridge.through };
  if (value.startsWith('column:')) return { kind: 'column', column: value.slice('column:'.length) };
  return { kind: value === 'shared' ? 'shared' : 'related' };
};

const columns: readonly Column<Listed>[] = [
  { title: 'Model', of: ({ name }) => link(addressOf('models', [name]), name), text: ({ name }) => name },
  {
    title: 'Source',
    of: ({ companyIntegration: { name } }) => link(addressOf('sources', [name]), name),
    text: ({ companyIntegration }) => companyIntegration.name,
  },
  { title: 'Changed', of: ({ updatedAt }) => moment(updatedAt) },
];

const chooseSource = (
  sources: readonly string[],
): TemplateResult => html`<div class="head"><h1>New model</h1><p>Of which source?</p></div>
  <div class="cards">${sources.map((name) => html`<section class="card"><h2>${link(addressOf('models', ['new'], { source: name }), name)}</h2></section>`)}</div>`;

customElements.define('studio-model', ModelScreen);
