/**
 * One table of a model: its label, words and owner, and a row for each column. Its rows are drawn only while it is open:
 * a model may have thousands of columns.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { live } from 'lit/directives/live.js';
import { baseFilterWords } from '../../../model/datamart/base-filter-words.js';
import type { ModelNumbers } from '../../../model/datamart/datamart.js';
import { isOfKind } from '../../../model/datamart/datatypes.js';
import { type ColumnDates, dateGrains } from '../../../model/datamart/dates.js';
import { options } from '../../base/options.js';
import type { Api } from '../base/api.js';
import { aggregateChoices, aggregateOf, withAggregate } from '../base/column-aggregates.js';
import { precisionChoices, styleChoices, withDatePrecision, withDateStyle } from '../base/column-dates.js';
import {
  detailOf,
  numberKindOf,
  numberKinds,
  numberKindText,
  withDetail,
  withNumberKind,
  withScale,
  withShortNumbers,
} from '../base/column-numbers.js';
import { badge } from '../base/kit.js';
import {
  anyOwners,
  bridgesOf,
  columnOwner,
  filtersFor,
  keyOf,
  ownershipOf,
  type StoredColumn,
  type StoredTable,
  typeOfColumn,
  waysOf,
  withBaseFilters,
  withCalculated,
  withColumn,
  withOwnership,
  withoutColumn,
  withReadable,
  withStoredTable,
} from '../base/model-edit.js';
import {
  columnNotes,
  type Described,
  tableNotes,
  typesFor,
  withColumnNotes,
  withTableNotes,
  wordsFault,
} from '../base/model-notes.js';
import { isSamePlace, type ModelPlace } from '../base/model-score.js';
import { stateOf, type TableTenancy, toneOf } from '../base/model-tenancy.js';
import './expression-form.js';
import type { WrittenExpression } from './expression-form.js';

const grainChoices = [
  ['', 'Grouped by month'],
  ...dateGrains.map((one) => [one, `Grouped by ${one}`] as const),
] as const;

const valueIn = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;
const isChecked = (event: Event): boolean => (event.target as HTMLInputElement).checked;

/** Makes a change that its function may refuse by throwing. Returns whether it was made. */
export type Change = (change: () => Described) => boolean;

export class ModelTable extends LitElement {
  static override properties = {
    described: { attribute: false },
    table: { attribute: false },
    tenancy: { attribute: false },
    columns: { attribute: false },
    at: { attribute: false },
    change: { attribute: false },
    api: { attribute: false },
    isOpen: { state: true },
    written: { state: true },
  };
  declare api: Api;
  declare described: Described;
  declare table: StoredTable;
  declare tenancy: TableTenancy | undefined;
  /** Names of the columns that a search found. Null: nothing is searched, and all are shown. */
  declare columns: ReadonlySet<string> | null;
  /** The place to show. Null: none in this table. */
  declare at: ModelPlace | null;
  declare change: Change;
  declare isOpen: boolean;
  /** The expression that is being written; without a name, a new one. Null: none is. */
  declare written: { readonly name: string | null; readonly sql: string } | null;

  constructor() {
    super();
    this.columns = null;
    this.at = null;
    this.isOpen = false;
    this.written = null;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    if (changes.has('at') && this.at !== null) this.isOpen = true;
    if (changes.has('columns') && this.columns !== null) this.isOpen = this.columns.size > 0;
  }

  protected override updated(changes: PropertyValues<this>): void {
    if (!changes.has('at') || this.at === null) return;
    const { at } = this;
    const fields = [...this.querySelectorAll<HTMLElement>('[data-at]')];
    const field = fields.find(({ dataset }) => isSamePlace(JSON.parse(dataset.at ?? 'null'), at));
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  }

  #place(field: ModelPlace['field'], column?: string): string {
    return JSON.stringify({ table: keyOf(this.table), ...(column === undefined ? {} : { column }), field });
  }

  #model(next: (model: Described['model']) => Described['model']): void {
    this.change(() => ({ ...this.described, model: next(this.described.model) }));
  }

  #notes(next: (notes: Described['notes']) => Described['notes']): void {
    this.change(() => ({ ...this.described, notes: next(this.described.notes) }));
  }

  protected override render(): TemplateResult {
    const { table, tenancy } = this;
    const key = keyOf(table);
    const toggled = (event: Event): void => {
      this.isOpen = (event.target as HTMLDetailsElement).open;
    };
    return html`<details class="card" .open=${this.isOpen} @toggle=${toggled}>
      <summary><strong>${table.label || table.tableName}</strong> <code>${key}</code> ${tenancy === undefined ? nothing : badge(stateOf(tenancy), toneOf[stateOf(tenancy)])} ${table.isHide ? html`<span class="soft">hidden</span>` : nothing}</summary>
      ${this.isOpen ? this.#opened(key) : nothing}
    </details>`;
  }

  #opened(key: string): TemplateResult {
    const fault = wordsFault(this.described, key);
    const { columns, table } = this;
    const shown = table.datamartTableColumns.filter(({ columnName }) => columns === null || columns.has(columnName));
    return html`${fault === null ? nothing : html`<p class="notice bad" role="alert">${fault}</p>`}
      ${this.#about(key)}
      <div class="table" tabindex="0" role="group" aria-label="Columns of ${key}"><table class="columns">
        <thead><tr><th scope="col">Column</th><th scope="col">Label</th><th scope="col">Description</th><th scope="col">Synonyms</th>
          <th scope="col">Meaning</th><th scope="col">Measures, numbers and dates</th><th scope="col">Shown</th></tr></thead>
        <tbody>${shown.map((column) => this.#column(key, column))}</tbody>
      </table></div>
      ${this.#calculated(key)}`;
  }

  #about(key: string): TemplateResult {
    const { table, described } = this;
    const { description, synonyms } = tableNotes(described.notes, key);
    const now = ownershipOf(described.model, table);
    const own = table.datamartTableColumns.filter(({ isCustomColumn }) => !isCustomColumn);
    const ways = waysOf(described.model, table).map(
      ({ relationshipName }) => [`path:${relationshipName}`, `By the relationship ${relationshipName}`] as const,
    );
    const bridges = bridgesOf(described.model, table).map(
      ({ relationshipName }) =>
        [`through:${relationshipName}`, `By rows that refer to them: ${relationshipName}`] as const,
    );
    const owners = [...anyOwners, ...ways, ...own.map(columnOwner), ...bridges];
    return html`<div class="form wide">
      <div class="row">
        <label>Label<input maxlength="120" .value=${table.label} @change=${(event: Event) => this.#model((model) => withStoredTable(model, key, { label: valueIn(event) }))} /></label>
        <label>Whose rows are these?
          <select data-at=${this.#place('owner')} @change=${(event: Event) => this.#model((model) => withOwnership(model, key, valueIn(event)))}>
            ${options(owners, now)}
          </select>
        </label>
      </div>
      ${this.#readable(key)} ${this.#filters(key)}
      <div class="row">
        <label>Description<input data-at=${this.#place('description')} maxlength="2000" autocomplete="off" .value=${description ?? ''} placeholder="One row for each …"
          @change=${(event: Event) => this.#notes((notes) => withTableNotes(notes, key, { description: valueIn(event) }))} /></label>
        <label>Synonyms<input data-at=${this.#place('synonyms')} maxlength="2000" autocomplete="off" .value=${synonyms.join(', ')} placeholder="Words between commas"
          @change=${(event: Event) => this.#notes((notes) => withTableNotes(notes, key, { synonyms: valueIn(event) }))} /></label>
      </div>
      <label class="inline"><input type="checkbox" .checked=${!table.isHide} @change=${(event: Event) => this.#model((model) => withStoredTable(model, key, { isHide: !isChecked(event) }))} /> Shown to those who build charts</label>
    </div>`;
  }

  /** The columns of a table whose rows several tenants read. */
  #readable(key: string): TemplateResult | typeof nothing {
    const { through, datamartTableColumns: columns } = this.table;
    if (through === undefined) return nothing;
    const toggle = (name: string) => (event: Event) => {
      this.#model((model) => withReadable(model, key, name, isChecked(event)));
      this.requestUpdate();
    };
    return html`<fieldset><legend>Columns that tenants read</legend>
      <p class="hint">Rows may belong to several tenants, so the other columns are hidden. An e-mail address may be what a person gave to another tenant.</p>
      ${columns.map(
        ({ columnName }) =>
          html`<label class="inline"><input type="checkbox" .checked=${live(through.columns.includes(columnName))} @change=${toggle(columnName)} /> ${columnName}</label>`,
      )}
    </fieldset>`;
  }

  #filters(key: string): TemplateResult {
    const { baseFilters = [], datamartTableColumns: columns } = this.table;
    const offered = columns.filter(({ isCustomColumn }) => !isCustomColumn).flatMap(filtersFor);
    const write = (filters: typeof baseFilters): void => this.#model((model) => withBaseFilters(model, key, filters));
    const add = (event: Event): void => {
      const chosen = offered[Number(valueIn(event))];
      if (valueIn(event) !== '' && chosen !== undefined) write([...baseFilters, chosen]);
    };
    const remove = (at: number) => () => write(baseFilters.filter((_, index) => index !== at));
    const choices = offered.map((one, index) => [String(index), baseFilterWords(one)] as const);
    return html`<fieldset><legend>Base filters</legend>
      <p class="hint">Every read of the table has only the rows that pass all of them, such as rows that are not deleted.</p>
      ${baseFilters.map(
        (one, index) =>
          html`<p><code>${baseFilterWords(one)}</code> <button type="button" class="text" @click=${remove(index)}>Remove ${baseFilterWords(one)}</button></p>`,
      )}
      <label>Add a base filter<select .value=${live('')} @change=${add}>${options([['', 'Choose a condition'], ...choices], '')}</select></label>
    </fieldset>`;
  }

  #column(key: string, column: StoredColumn): TemplateResult {
    const { columnName, label, isHide, isCustomColumn, isAggregate, datatype, sql } = column;
    const name = `${key}.${columnName}`;
    const { description, synonyms, columnType } = columnNotes(this.described.notes, key, columnName);
    const change = (part: Partial<StoredColumn>): void =>
      this.#model((model) => withColumn(model, key, columnName, part));
    const say = (words: Parameters<typeof withColumnNotes>[3]): void =>
      this.#notes((notes) => withColumnNotes(notes, key, columnName, words));
    const remove = (): void => this.#model((model) => withoutColumn(model, key, columnName));
    const rewrite = (): void => {
      this.written = { name: columnName, sql };
    };
    return html`<tr>
      <td><code>${columnName}</code> <span class="hint">${
        isCustomColumn
          ? html`${isAggregate ? 'measure' : 'calculated'}: <code>${sql}</code>
              <button type="button" class="text" @click=${rewrite}>Change ${columnName}</button>
              <button type="button" class="text" @click=${remove}>Remove ${columnName}</button>`
          : datatype
      }</span></td>
      <td><input aria-label="Label of ${name}" maxlength="120" .value=${label} @change=${(event: Event) => change({ label: valueIn(event) })} /></td>
      <td><input data-at=${this.#place('description', columnName)} aria-label="Description of ${name}" maxlength="2000" autocomplete="off" .value=${description ?? ''} @change=${(event: Event) => say({ description: valueIn(event) })} /></td>
      <td><input data-at=${this.#place('synonyms', columnName)} aria-label="Synonyms of ${name}" maxlength="2000" autocomplete="off" .value=${synonyms.join(', ')} @change=${(event: Event) => say({ synonyms: valueIn(event) })} /></td>
      <td><select data-at=${this.#place('type', columnName)} aria-label="What ${name} means" @change=${(event: Event) => say({ columnType: valueIn(event) })}>
        ${options([['', 'not said'], ...typesFor(column).map((type) => [type, type] as const)], columnType ?? '')}
      </select></td>
      <td>${this.#boolean(key, column)} ${this.#aggregate(key, column)} ${this.#numbers(key, column)} ${this.#dates(key, column)}</td>
      <td><input type="checkbox" data-at=${this.#place('shown', columnName)} aria-label="Show ${name}" .checked=${!isHide} @change=${(event: Event) => change({ isHide: !isChecked(event) })} /></td>
    </tr>`;
  }

  /** Of a tinyint(1), which holds numbers or booleans. */
  #boolean(key: string, { columnName, isBoolean }: StoredColumn): TemplateResult | typeof nothing {
    if (isBoolean === undefined) return nothing;
    const declare = (event: Event): void =>
      this.#model((model) => withColumn(model, key, columnName, { isBoolean: isChecked(event) }));
    return html`<label class="inline"><input type="checkbox" aria-label=${`${key}.${columnName} is yes or no`} .checked=${isBoolean} @change=${declare} /> yes or no</label>`;
  }

  /** How a new measure of the column is computed. */
  #aggregate(key: string, column: StoredColumn): TemplateResult | typeof nothing {
    const choices = aggregateChoices(column);
    if (choices.length === 0) return nothing;
    const choose = (event: Event): void =>
      this.#model((model) => withColumn(model, key, column.columnName, withAggregate(valueIn(event))));
    return html`<select aria-label=${`How a new measure of ${key}.${column.columnName} is computed`} @change=${choose}>${options(choices, aggregateOf(column))}</select>`;
  }

  #numbers(key: string, column: StoredColumn): TemplateResult | typeof nothing {
    const { columnName, isCustomColumn, numbers } = column;
    if (!isCustomColumn && !isOfKind(typeOfColumn(column), 'integer', 'number')) return nothing;
    const name = `${key}.${columnName}`;
    const write = (next: () => ModelNumbers | null): boolean =>
      this.change(() => ({
        ...this.described,
        model: withColumn(this.described.model, key, columnName, { numbers: next() }),
      }));
    const choose = (event: Event): void => {
      const chosen = numberKinds.find((one) => one === valueIn(event)) ?? 'plain';
      write(() => withNumberKind(numbers, chosen));
    };
    const say = (event: Event): void => {
      if (!write(() => withDetail(numbers, valueIn(event))))
        (event.target as HTMLInputElement).value = detailOf(numbers);
    };
    const scaled = (event: Event): void => {
      if (!write(() => withScale(numbers ?? {}, valueIn(event))))
        (event.target as HTMLInputElement).value = String(numbers?.scale ?? 0);
    };
    const kind = numberKindOf(numbers);
    return html`<div class="numbers">
      <select aria-label="How numbers of ${name} are written" @change=${choose}>${options(Object.entries(numberKindText), kind)}</select>
      ${kind === 'money' || kind === 'unit' ? html`<input aria-label=${`${kind === 'money' ? 'Currency' : 'Unit'} of ${name}`} maxlength="20" autocomplete="off" .value=${detailOf(numbers)} @change=${say} />` : nothing}
      <label class="inline"><input type="checkbox" aria-label="Short numbers of ${name}" .checked=${numbers?.notation === 'compact'} @change=${(event: Event) => write(() => withShortNumbers(numbers ?? {}, isChecked(event)))} /> 1.2M</label>
      ${isCustomColumn ? nothing : html`<label class="inline">stored with <input type="number" min="0" max="9" aria-label=${`Decimal places in stored numbers of ${name}`} .value=${String(numbers?.scale ?? 0)} @change=${scaled} /> decimal places</label>`}
    </div>`;
  }

  #dates(key: string, column: StoredColumn): TemplateResult | typeof nothing {
    const { columnName, isCustomColumn, dates } = column;
    if (!isCustomColumn && !isOfKind(typeOfColumn(column), 'date')) return nothing;
    const name = `${key}.${columnName}`;
    const write = (next: ColumnDates | null): void =>
      this.#model((model) => withColumn(model, key, columnName, { dates: next }));
    const grain = (event: Event): void => {
      const defaultGrain = dateGrains.find((one) => one === valueIn(event));
      this.#model((model) => withColumn(model, key, columnName, { defaultGrain }));
    };
    return html`<div class="numbers dates">
      <select aria-label="How dates of ${name} are grouped" @change=${grain}>${options(grainChoices, column.defaultGrain ?? '')}</select>
      <select aria-label="How dates of ${name} are written" @change=${(event: Event) => write(withDateStyle(dates, valueIn(event)))}>${options(styleChoices(navigator.language, dates?.precision), dates?.style ?? '')}</select>
      <select aria-label="How precise dates of ${name} are" @change=${(event: Event) => write(withDatePrecision(dates, valueIn(event)))}>${options(precisionChoices, dates?.precision ?? '')}</select>
    </div>`;
  }

  #calculated(key: string): TemplateResult {
    const { written } = this;
    if (written === null) {
      const open = (): void => {
        this.written = { name: null, sql: '' };
      };
      return html`<div class="toolbar"><button type="button" class="quiet" @click=${open}>Add a calculated column or measure to ${this.table.label || this.table.tableName}</button></div>`;
    }
    const save = ({ name, sql, isMeasure }: WrittenExpression): boolean =>
      this.change(() => {
        const { model } = this.described;
        const next =
          written.name === null
            ? withCalculated(model, key, { name, sql, isMeasure })
            : withColumn(model, key, written.name, { sql, isAggregate: isMeasure });
        return { ...this.described, model: next };
      });
    const close = (): void => {
      this.written = null;
    };
    return html`${keyed(
      written.name,
      html`<studio-expression-form .api=${this.api} .datamart=${this.described.model.name} .table=${this.table}
      .initial=${written.name === null ? null : { name: written.name, sql: written.sql }} .save=${save} .close=${close}></studio-expression-form>`,
    )}`;
  }
}

customElements.define('studio-model-table', ModelTable);
