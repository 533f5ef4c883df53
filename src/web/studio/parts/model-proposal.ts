/** What is proposed for a new model: whose rows each table holds, which rows and amounts are read, and how tables belong together. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { baseFilterWords } from '../../../model/datamart/base-filter-words.js';
import { amountWords } from '../../../model/datamart/money.js';
import { options } from '../../base/options.js';
import './model-diagram.js';
import type { Ends } from '../base/cardinality.js';
import {
  keysOfDraft,
  type ModelDraft,
  type Ownership,
  qualified,
  storedOf,
  type TableDraft,
} from '../base/drafted-model.js';
import { newModelKey } from '../base/kept-places.js';
import {
  type Change,
  readableColumns,
  withAmountUsed,
  withColumnRead,
  withDrawn,
  withFilterUsed,
  withRelationshipUsed,
  withTable,
  withTenants,
  withWay,
} from '../base/model-draft.js';
import { anyOwners, columnOwner } from '../base/model-edit.js';
import { tenancyOf } from '../base/model-tenancy.js';
import { askRelationship } from './relationship-dialog.js';

/** Each change is told by the event `draft-change`, with the next draft. */
export class ModelProposal extends LitElement {
  static override properties = { draft: { attribute: false } };
  declare draft: ModelDraft;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #become(draft: ModelDraft): void {
    this.dispatchEvent(new CustomEvent<ModelDraft>('draft-change', { detail: draft }));
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    return html`<section class="card"><div class="form">${this.#tenants(draft)}</div></section>
      <section class="card"><h2>Tables</h2>${this.#tables(draft)}</section>
      ${this.#diagram(draft)}
      <section class="card"><h2>Relationships</h2>${this.#relationships(draft)}</section>`;
  }

  /** The draft as it would be saved: colours and lines follow each choice. */
  #diagram(draft: ModelDraft): TemplateResult | typeof nothing {
    const model = storedOf(draft);
    if (model.datamartTables.length === 0) return nothing;
    const keys = keysOfDraft(draft);
    const connect = async ({ detail: ends }: CustomEvent<Ends>): Promise<void> => {
      const taken = draft.relationships.map(({ relationship }) => relationship.relationshipName);
      const made = await askRelationship({ ends, keys, taken, count: null });
      if (made !== null) this.#become(withDrawn(this.draft, made));
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
      this.#become(withTenants(draft, (event.target as HTMLSelectElement).value));
    };
    const change =
      (field: 'key' | 'name') =>
      (event: Event): void => {
        if (tenants === null) return;
        const column = (event.target as HTMLSelectElement).value;
        const next = { ...draft, tenants: { ...tenants, [field]: column } };
        this.#become(
          field === 'key' ? withTable(next, tenants.table, { ownership: { kind: 'column', column } }) : next,
        );
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
    const { table, isUsed, leftOut, hidden, label, ownership, bridge } = each;
    const name = qualified(table);
    const change = (part: Change): void => {
      this.#become(withTable(draft, name, part));
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
      <td><code>${name}</code>${hidden.length === 0 || !isUsed ? nothing : html`<p class="hint">Without ${hidden.map(({ columnName, reason }) => `${columnName}, ${reason}`).join('; ')}</p>`}</td>
      <td><input aria-label="Label of ${name}" maxlength="120" .value=${label} ?disabled=${!isUsed} @change=${relabel} /></td>
      <td>
        <select aria-label="Whose rows ${name} holds" ?disabled=${!isUsed && leftOut === null} @change=${owned}>${options(owners, now)}</select>
        ${leftOut === null ? nothing : html`<p class="hint">${isUsed ? 'Nobody will read its rows' : 'Left out'}: ${leftOut}</p>`}
        ${this.#way(each)} ${this.#bridge(draft, each)}
      </td>
      <td>${this.#filters(draft, each)}</td>
      <td>${this.#amounts(draft, each)}</td>
    </tr>`;
  }

  /** By which relationship the table has its tenant, with the choice of another, where several lead to one. */
  #way({ table, ways, tenancyPath, leftOut }: TableDraft): TemplateResult | typeof nothing {
    if (ways.length < 2) return nothing;
    const name = qualified(table);
    const choose = (event: Event): void => {
      const way = (event.target as HTMLSelectElement).value;
      if (way !== '') this.#become(withWay(this.draft, name, way));
    };
    const offered = ways.map(
      ({ relationshipName, text, reason }) => [relationshipName, `${text} (${reason})`] as const,
    );
    const none = leftOut === null ? [] : [['', 'Choose a way'] as const];
    return html`<label class="hint">By which way?
      <select aria-label="By which way ${name} has its tenant" @change=${choose}>${options([...none, ...offered], tenancyPath ?? '')}</select></label>`;
  }

  /** Why several tenants could read the rows, and which columns of them they read if a person says so. */
  #bridge(draft: ModelDraft, { table, bridge, ownership }: TableDraft): TemplateResult | typeof nothing {
    if (bridge === null) return nothing;
    const name = qualified(table);
    const read = ownership.kind === 'through' ? ownership.through.columns : [];
    const take = (): void =>
      this.#become(withTable(draft, name, { ownership: { kind: 'through', through: bridge.through } }));
    const toggle = (column: string) => (event: Event) => {
      this.#become(withColumnRead(draft, name, column, (event.target as HTMLInputElement).checked));
    };
    return html`<p class="hint">Proposed: ${bridge.reason}. Each tenant then reads what others wrote in the columns that you choose.</p>
      ${
        ownership.kind !== 'through'
          ? html`<button type="button" class="text" @click=${take}>Read ${bridge.through.columns.slice(1).join(', ') || 'keys'} of ${name}</button>`
          : readableColumns(bridge).map(
              (column) =>
                html`<label class="inline"><input type="checkbox" aria-label="Tenants read ${name}.${column}" .checked=${read.includes(column)} @change=${toggle(column)} /> ${column}</label>`,
            )
      }`;
  }

  #filters(draft: ModelDraft, { table, isUsed, baseFilters }: TableDraft): readonly TemplateResult[] {
    const name = qualified(table);
    const toggle = (at: number) => (event: Event) => {
      this.#become(withFilterUsed(draft, name, at, (event.target as HTMLInputElement).checked));
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
      this.#become(withAmountUsed(draft, name, at, (event.target as HTMLInputElement).checked));
    };
    return amounts.map(
      (
        one,
        at,
      ) => html`<label class="inline"><input type="checkbox" aria-label="${name}.${one.columnName} holds amounts of money" ?disabled=${!isUsed} .checked=${one.isUsed} @change=${toggle(at)} />
        <code>${one.columnName}</code> <span class="hint">${amountWords(one.numbers)}: ${one.reason}</span></label>`,
    );
  }

  #relationships(draft: ModelDraft): TemplateResult {
    if (draft.relationships.length === 0) return html`<p class="soft">None proposed.</p>`;
    const toggle = (at: number) => (event: Event) => {
      this.#become(withRelationshipUsed(draft, at, (event.target as HTMLInputElement).checked));
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
}

const ownershipOf = (value: string, bridge: TableDraft['bridge']): Ownership => {
  if (value === 'through' && bridge !== null) return { kind: 'through', through: bridge.through };
  if (value.startsWith('column:')) return { kind: 'column', column: value.slice('column:'.length) };
  return { kind: value === 'shared' ? 'shared' : 'related' };
};

customElements.define('studio-model-proposal', ModelProposal);
