/**
 * Adds or changes a calculated column or a measure of a table: its name and its expression, which the service and the
 * database check while it is typed. An expression that aggregates is a measure.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Api } from '../base/api.js';
import { checkOver, createExpressionCheck, type ExpressionState, placedFaults } from '../base/checked-expression.js';
import { keyOf, type StoredTable } from '../base/model-edit.js';
import './code.js';
import type { Code } from './code.js';

export type WrittenExpression = { readonly name: string; readonly sql: string; readonly isMeasure: boolean };

export class ExpressionForm extends LitElement {
  static override properties = {
    api: { attribute: false },
    datamart: { attribute: false },
    table: { attribute: false },
    initial: { attribute: false },
    save: { attribute: false },
    close: { attribute: false },
    state: { state: true },
  };
  declare api: Api;
  declare datamart: string;
  declare table: StoredTable;
  /** What is changed. Null: a new one is made. */
  declare initial: Pick<WrittenExpression, 'name' | 'sql'> | null;
  /** Returns whether it was taken. */
  declare save: (written: WrittenExpression) => boolean;
  declare close: () => void;
  declare state: ExpressionState;
  #check: ReturnType<typeof createExpressionCheck> | undefined;

  constructor() {
    super();
    this.initial = null;
    this.state = { kind: 'empty' };
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#check?.cancel();
  }

  protected override firstUpdated(_: PropertyValues<this>): void {
    this.#check = createExpressionCheck(checkOver(this.api, this.datamart, keyOf(this.table)), (state) => {
      this.state = state;
    });
    if (this.initial === null) return void this.querySelector<HTMLElement>('input[name="name"]')?.focus();
    this.#check.typed(this.initial.sql);
    this.querySelector<Code>('studio-code')?.goTo(1, 1);
  }

  protected override updated(changes: PropertyValues<this>): void {
    const code = this.querySelector<Code>('studio-code');
    if (code === null || !changes.has('state' as keyof ExpressionForm)) return;
    code.faults = this.state.kind === 'checked' ? placedFaults(this.state.result.faults) : [];
  }

  protected override render(): TemplateResult {
    const { initial, state } = this;
    const key = keyOf(this.table);
    const isWrong = state.kind === 'checked' && state.result.faults.length > 0;
    const words = this.table.datamartTableColumns
      .filter(({ isCustomColumn }) => !isCustomColumn)
      .map(({ columnName, datatype }) => ({ label: columnName, detail: datatype }));
    return html`<form class="form wide expression" aria-label=${initial === null ? `New calculated column or measure of ${key}` : `${initial.name} of ${key}`} @submit=${this.#submitted}>
      <label>Name<input name="name" required maxlength="120" autocomplete="off" .value=${initial?.name ?? ''} ?disabled=${initial !== null} /></label>
      <studio-code label="Expression over columns of ${key}" language="sql" class="short" short .words=${words} .text=${initial?.sql ?? ''}
        @text-change=${({ detail }: CustomEvent<string>) => this.#check?.typed(detail)}></studio-code>
      <p class="hint">Columns of this table, in the database’s own SQL: <code>price * quantity</code> is a calculated column, one value for each row.
        <code>SUM(price) / COUNT(*)</code> aggregates: it is a measure, which charts choose by its name.</p>
      ${this.#said()}
      <div class="buttons">
        <button type="button" class="quiet" @click=${this.close}>Cancel</button>
        <button ?disabled=${isWrong || state.kind === 'checking' || state.kind === 'empty'}>${initial === null ? 'Add' : 'Change'}</button>
      </div>
    </form>`;
  }

  #said(): TemplateResult | typeof nothing {
    const { state } = this;
    if (state.kind === 'empty') return nothing;
    if (state.kind === 'checking') return html`<p class="soft" role="status">Checking …</p>`;
    if (state.kind === 'failed')
      return html`<p class="notice warn" role="status">It could not be checked: ${state.message}</p>`;
    const { faults, isChecked, isMeasure } = state.result;
    if (faults.length > 0)
      return html`${faults.map(({ message }) => html`<p class="notice bad" role="alert">${message}</p>`)}`;
    const what = isMeasure ? 'A measure' : 'A calculated column';
    return html`<p class="notice" role="status">${what}: ${isChecked ? 'the database computes it.' : 'it parses. The database was not asked, since no query may read this table yet, or it cannot be reached.'}</p>`;
  }

  readonly #submitted = (event: SubmitEvent): void => {
    event.preventDefault();
    const name = this.querySelector<HTMLInputElement>('input[name="name"]')?.value.trim() ?? '';
    const sql = this.querySelector<Code>('studio-code')?.text ?? '';
    const isMeasure = this.state.kind === 'checked' && this.state.sql === sql && this.state.result.isMeasure;
    if (name !== '' && sql.trim() !== '' && this.save({ name, sql, isMeasure })) this.close();
  };
}

customElements.define('studio-expression-form', ExpressionForm);
