/**
 * A metric in SQL: its text with the names of tables and columns to complete, which columns split and which are values,
 * and a try in the scope of the chosen user's tenant before it is saved. The try answers no rows.
 */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { chartNames } from '../../editor/charts.js';
import type { ModelColumn } from '../base/model-columns.js';
import { textOf } from '../base/screen.js';
import { sqlFaults } from '../base/sql-faults.js';
import './code.js';
import type { Code } from './code.js';

export type SqlMetric = { readonly name: string; readonly definition: object };
/** Resolves to why the metric cannot be answered, or to null. */
export type TrySql = (metric: SqlMetric) => Promise<string | null>;

type Tried = { readonly text: string; readonly isBad: boolean };

const namesIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

class SqlMetricPart extends LitElement {
  static override properties = {
    columns: { attribute: false },
    tryIt: { attribute: false },
    saveIt: { attribute: false },
    tried: { state: true },
    isBusy: { state: true },
  };
  /** The tables and columns of the model. */
  declare columns: readonly ModelColumn[];
  declare tryIt: TrySql;
  /** Saves it in the template, or throws why not. */
  declare saveIt: (metric: SqlMetric) => Promise<void>;
  declare tried: Tried | null;
  declare isBusy: boolean;

  constructor() {
    super();
    this.columns = [];
    this.tried = null;
    this.isBusy = false;
  }

  /** All parts share the page's style sheet. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override render(): TemplateResult {
    const field = (id: string, label: string, hint: string): TemplateResult =>
      html`<label>${label}<input id=${id} maxlength="500" /><span class="hint">${hint}</span></label>`;
    return html`<form class="card form wide" @submit=${this.#submitted}>
      <label>Name<input id="sql-name" required maxlength="120" /></label>
      <label>Chart<select id="sql-chart">${chartNames.map((type) => html`<option ?selected=${type === 'table'}>${type}</option>`)}</select></label>
      <studio-code label="SQL" language="sql" .words=${this.#words()}></studio-code>
      <p class="soft">One SELECT over the tables of the model. Each query reads the rows of one tenant only: Guestlist puts the
        tenant's scope around each table. Columns need names, by <code>AS</code>.</p>
      ${field('sql-dimensions', 'Columns to split by', 'Names between commas, as the query has them')}
      ${field('sql-measures', 'Columns with values', 'All others of the query')}
      ${this.tried === null ? nothing : html`<p class=${this.tried.isBad ? 'failure' : 'notice'} role=${this.tried.isBad ? 'alert' : 'status'}>${this.tried.text}</p>`}
      <div class="buttons">
        <button name="try" class="quiet" ?disabled=${this.isBusy}>Try</button>
        <button name="save" ?disabled=${this.isBusy}>Save</button>
      </div>
    </form>`;
  }

  #words() {
    const tables = new Set(this.columns.map(({ tableName }) => tableName));
    return [
      ...[...tables].map((label) => ({ label, detail: 'table' })),
      ...this.columns.map(({ columnName, tableName }) => ({ label: columnName, detail: tableName })),
    ];
  }

  #read(): SqlMetric {
    const text = (id: string): string => this.querySelector<HTMLInputElement>(`#${id}`)?.value.trim() ?? '';
    const named = (id: string) => namesIn(text(id)).map((name) => ({ name }));
    // Not trimmed: the places of faults are counted in the text as it stands.
    const sql = this.querySelector<Code>('studio-code')?.text ?? '';
    const [dimensions, measures] = [named('sql-dimensions'), named('sql-measures')];
    return {
      name: text('sql-name'),
      definition: { kind: 'sql', chart: { type: text('sql-chart') }, sql, dimensions, measures },
    };
  }

  readonly #submitted = (event: SubmitEvent): void => {
    event.preventDefault();
    const isSave = event.submitter instanceof HTMLButtonElement && event.submitter.name === 'save';
    void this.#run(isSave);
  };

  /** Says the fault below, and marks it in the text where it tells a place. Null: there is none. */
  #tell(fault: string | null): void {
    this.tried = fault === null ? { text: 'It can be answered.', isBad: false } : { text: fault, isBad: true };
    const code = this.querySelector<Code>('studio-code');
    if (code !== null) code.faults = fault === null ? [] : sqlFaults(fault, code.text);
  }

  async #run(isSave: boolean): Promise<void> {
    const metric = this.#read();
    this.isBusy = true;
    try {
      const fault = await this.tryIt(metric);
      this.#tell(fault);
      if (isSave && fault === null) await this.saveIt(metric);
    } catch (error) {
      // The metric is the only one of the content that was tried.
      this.#tell(textOf(error).replace('metrics[0].definition.', ''));
    } finally {
      this.isBusy = false;
    }
  }
}

customElements.define('studio-sql-metric', SqlMetricPart);
