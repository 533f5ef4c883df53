/**
 * A metric in SQL: its text with the names of tables and columns to complete, which columns split and which are values.
 * “Run” reads it as the chosen user would, with its scope, and marks where it fails.
 */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { SqlDefinition } from '../../../model/dashboard/metric.js';
import type { MetricAnswer } from '../../../model/query/engine.js';
import { createLatest } from '../../base/latest.js';
import { chartNames } from '../../editor/charts.js';
import type { ModelColumn } from '../base/model-columns.js';
import { textOf } from '../base/screen.js';
import { sqlFaults } from '../base/sql-faults.js';
import './code.js';
import type { Code } from './code.js';
import { rowsTable } from './sample-rows.js';
import { scopedStatement } from './scoped-statement.js';

export type SqlMetric = { readonly name: string; readonly definition: SqlDefinition };
/** `answer` null: the person may see no rows of tenants. */
export type Ran = { readonly sql: string; readonly answer: MetricAnswer | null };
export type RunSql = (metric: SqlMetric, signal: AbortSignal) => Promise<Ran>;

type Told = { readonly ran: Ran } | { readonly fault: string };

const shownRows = 100;

const namesIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

const namesOf = (outputs: readonly { readonly name: string }[] = []): string =>
  outputs.map(({ name }) => name).join(', ');

const empty: SqlDefinition = {
  ...{ kind: 'sql', chart: { type: 'table' }, sql: '', dimensions: [], measures: [] },
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
};

class SqlMetricPart extends LitElement {
  static override properties = {
    columns: { attribute: false },
    tenant: { attribute: false },
    initial: { attribute: false },
    runIt: { attribute: false },
    saveIt: { attribute: false },
    told: { state: true },
    isBusy: { state: true },
  };
  /** The tables and columns of the model. */
  declare columns: readonly ModelColumn[];
  declare tenant: string;
  /** The metric that is changed. Undefined: a new one is made. */
  declare initial: SqlMetric | undefined;
  declare runIt: RunSql;
  /** Saves it in the template, or throws why not. */
  declare saveIt: (metric: SqlMetric) => Promise<void>;
  declare told: Told | undefined;
  declare isBusy: boolean;

  readonly #running = createLatest();

  constructor() {
    super();
    this.columns = [];
    this.isBusy = false;
  }

  /** All parts share the page's style sheet. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#running.cancel();
  }

  override render(): TemplateResult {
    const { name = '', definition = empty } = this.initial ?? {};
    const field = (id: string, label: string, hint: string, value: string): TemplateResult =>
      html`<label>${label}<input id=${id} maxlength="500" .value=${value} /><span class="hint">${hint}</span></label>`;
    return html`<form class="card form wide" @submit=${this.#submitted} @keydown=${this.#keys}>
      <label>Name<input id="sql-name" required maxlength="120" .value=${name} /></label>
      <label>Chart<select id="sql-chart">${chartNames.map((type) => html`<option ?selected=${type === definition.chart.type}>${type}</option>`)}</select></label>
      <studio-code label="SQL" language="sql" .words=${this.#words()} .text=${definition.sql}></studio-code>
      <p class="soft">One SELECT over the tables of the model. Each query reads the rows of one tenant only: Guestlist puts the
        tenant's scope around each table. Columns need names, by <code>AS</code>.</p>
      ${field('sql-dimensions', 'Columns to split by', 'Names between commas, as the query has them', namesOf(definition.dimensions))}
      ${field('sql-measures', 'Columns with values', 'Names between commas: each other column of the query', namesOf(definition.measures))}
      <div class="buttons">
        <button name="run" class="quiet" ?disabled=${this.isBusy} title="Control and Enter">Run</button>
        <button name="save" ?disabled=${this.isBusy}>Save</button>
      </div>
      ${this.#result()}
    </form>`;
  }

  #result(): TemplateResult | typeof nothing {
    const { told } = this;
    if (told === undefined) return nothing;
    if ('fault' in told) return html`<p class="failure" role="alert">${told.fault}</p>`;
    const { sql, answer } = told.ran;
    return html`${answer === null ? html`<p class="notice" role="status">It can be answered. You may see no rows of tenants.</p>` : rowsOf(answer)}
      <details><summary>SQL that runs</summary>${scopedStatement(sql, this.tenant)}</details>`;
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
    const before = this.initial?.definition ?? empty;
    const chart = { ...before.chart, type: text('sql-chart') as SqlDefinition['chart']['type'] };
    const [dimensions, measures] = [named('sql-dimensions'), named('sql-measures')];
    return { name: text('sql-name'), definition: { ...before, chart, sql, dimensions, measures } };
  }

  readonly #submitted = (event: SubmitEvent): void => {
    event.preventDefault();
    const isSave = event.submitter instanceof HTMLButtonElement && event.submitter.name === 'save';
    void this.#run(isSave);
  };

  /** Before the editor of code, to which the key adds a line. */
  readonly #keys = {
    capture: true,
    handleEvent: (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      void this.#run(false);
    },
  };

  /** Says the fault below, and marks it in the text where it tells a place. */
  #tell(told: Told): void {
    this.told = told;
    const code = this.querySelector<Code>('studio-code');
    if (code !== null) code.faults = 'fault' in told ? sqlFaults(told.fault, code.text) : [];
  }

  async #run(isSave: boolean): Promise<void> {
    const metric = this.#read();
    this.isBusy = true;
    const failed = (error: unknown): void => {
      this.isBusy = false;
      this.#tell({ fault: textOf(error).replaceAll(/^definition\.(?:sql: )?/gm, '') });
    };
    const save = async (ran: Ran): Promise<Ran> => {
      if (isSave) await this.saveIt(metric);
      return ran;
    };
    await this.#running.run(
      (signal) => this.runIt(metric, signal).then(save),
      (ran) => {
        this.isBusy = false;
        this.#tell({ ran });
      },
      failed,
    );
  }
}

const rowsOf = ({ columns, rows, totalRecords }: MetricAnswer): TemplateResult => {
  if (rows.length === 0) return html`<p class="notice" role="status">It can be answered: no rows.</p>`;
  const shown = columns.map(({ name, dataType }) => ({ name, label: name, isNumber: dataType === 'number' }));
  const many = rows.length > shownRows ? `the first ${shownRows} of ${totalRecords}` : String(totalRecords);
  return html`<p class="notice" role="status">It can be answered. Rows: ${many}.</p>
    <div class="rows">${rowsTable(shown, rows.slice(0, shownRows))}</div>`;
};

customElements.define('studio-sql-metric', SqlMetricPart);
