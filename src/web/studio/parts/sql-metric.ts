/**
 * A metric in SQL. “Run” reads it as the chosen user would, with its scope, and marks where it fails. Its columns are taken
 * from the answer: which of them split, which are values, and the chart are proposed, and may be changed. Chart and rows
 * stand below.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { ChartType } from '../../../model/dashboard/chart.js';
import type { SqlDefinition } from '../../../model/dashboard/metric.js';
import type { MetricAnswer } from '../../../model/query/engine.js';
import { createLatest } from '../../base/latest.js';
import type { Described } from '../base/author-preview.js';
import { type AskAuthored, DrawnMetrics } from '../base/drawn-metrics.js';
import { loadElements } from '../base/elements.js';
import type { ModelColumn } from '../base/model-columns.js';
import { textOf } from '../base/screen.js';
import {
  answerWith,
  fitsOf,
  fittingChart,
  plainSql,
  type SqlColumn,
  type Use,
  usedColumns,
  uses,
  usesOf,
  withColumns,
} from '../base/sql-columns.js';
import { sqlFaults } from '../base/sql-faults.js';
import './card-preview.js';
import './chart-choice.js';
import './code.js';
import type { Code } from './code.js';
import { rowsTable } from './sample-rows.js';
import { scopedStatement } from './scoped-statement.js';

export type SqlMetric = { readonly name: string; readonly definition: SqlDefinition };
/** `answer` null: the person may see no rows of tenants. */
export type Ran = Described & { readonly answer: MetricAnswer | null };
/** Runs SQL that need not say which of its columns are what. */
export type RunSql = (definition: SqlDefinition, sort: SqlDefinition['sort'], signal: AbortSignal) => Promise<Ran>;

type Told = { readonly ran: Ran } | { readonly fault: string };
type Shown = 'chart' | 'rows' | 'sql';

const shownRows = 100;
const useNames: Readonly<Record<Use, string>> = { dimension: 'Split by', measure: 'Value', none: 'Leave out' };
const typeNames: Readonly<Record<SqlColumn['dataType'], string>> = {
  ...{ date: 'date', number: 'number', string: 'text', boolean: 'yes or no' },
};
const shownNames: Readonly<Record<Shown, string>> = { chart: 'Chart', rows: 'Rows', sql: 'SQL that runs' };

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
    askRows: { attribute: false },
    saveIt: { attribute: false },
    told: { state: true },
    used: { state: true },
    chart: { state: true },
    shown: { state: true },
    isBusy: { state: true },
  };
  /** The tables and columns of the model. */
  declare columns: readonly ModelColumn[];
  declare tenant: string;
  /** The metric that is changed. Undefined: a new one is made. */
  declare initial: SqlMetric | undefined;
  declare runIt: RunSql;
  /** Asks for the rows of the card in another order. Null: the person may see none. */
  declare askRows: AskAuthored | null;
  /** Saves it in the template, or throws why not. */
  declare saveIt: (metric: SqlMetric) => Promise<void>;
  declare told: Told | undefined;
  /** The columns of the last answer, as the author uses them. */
  declare used: readonly SqlColumn[];
  /** The chart that the author chose; null: the one that fits best. */
  declare chart: ChartType | null;
  declare shown: Shown;
  declare isBusy: boolean;

  readonly #running = createLatest();

  constructor() {
    super();
    this.columns = [];
    this.used = [];
    this.chart = null;
    this.shown = 'chart';
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

  /** A metric that is changed is shown at once. */
  protected override firstUpdated(): void {
    void loadElements();
    const { initial } = this;
    if (initial === undefined) return;
    this.chart = initial.definition.chart.type;
    void this.#run(false);
  }

  protected override updated(changes: PropertyValues<this>): void {
    if (!changes.has('told') || this.told === undefined) return;
    const code = this.querySelector<Code>('studio-code:not([read-only])');
    if (code !== null) code.faults = 'fault' in this.told ? sqlFaults(this.told.fault, code.text) : [];
  }

  override render(): TemplateResult {
    const { name = '', definition = empty } = this.initial ?? {};
    return html`<form class="card form sql-metric" @submit=${this.#submitted} @keydown=${this.#keys}>
      <div class="sql-head">
        <label>Name<input id="sql-name" maxlength="120" placeholder="New chart" .value=${name} /></label>
        <button name="save" class="quiet" ?disabled=${this.isBusy}>Save</button>
      </div>
      <studio-code label="SQL" language="sql" .words=${this.#words()} .text=${definition.sql}></studio-code>
      <div class="sql-bar">
        <button name="run" ?disabled=${this.isBusy} title="Control and Enter">Run</button><kbd>Ctrl Enter</kbd>
        ${this.#said()}
      </div>
      ${this.#result()}
      <p class="soft">One SELECT over the tables of the model. Each query reads the rows of one tenant only: Guestlist puts the
        tenant's scope around each table.</p>
    </form>`;
  }

  /** How the last run went. */
  #said(): TemplateResult {
    const { told } = this;
    if (this.isBusy) return html`<p role="status">Running…</p>`;
    if (told === undefined)
      return html`<p class="soft" role="status">Columns and their types come with the answer.</p>`;
    if ('fault' in told) return html`<p class="failure" role="alert">${told.fault}</p>`;
    const { answer } = told.ran;
    if (answer === null)
      return html`<p role="status">It can be answered. You may see no rows of tenants: the chart has made-up ones.</p>`;
    if (answer.rows.length === 0) return html`<p role="status">It can be answered: no rows.</p>`;
    const { rows, totalRecords } = answer;
    const many = rows.length > shownRows ? `the first ${shownRows} of ${totalRecords}` : String(totalRecords);
    return html`<p role="status">It can be answered. Rows: ${many}.</p>`;
  }

  #result(): TemplateResult | typeof nothing {
    if (this.told === undefined || 'fault' in this.told) return nothing;
    const tab = (name: Shown): TemplateResult =>
      html`<button type="button" aria-pressed=${name === this.shown ? 'true' : 'false'} @click=${() => {
        this.shown = name;
      }}>${shownNames[name]}</button>`;
    const { ran } = this.told;
    return html`<div class="sql-answer">
      <div class="segments" role="group" aria-label="What is shown">${tab('chart')}${tab('rows')}${tab('sql')}</div>
      ${this.shown === 'chart' ? this.#drawn(ran) : this.shown === 'rows' ? rowsOf(ran) : scopedStatement(ran.sql, this.tenant)}
      <div class="sql-parts">
        <section aria-label="Columns"><h3 class="title">Columns</h3>${this.#columnTable()}</section>
        <section aria-label="Chart types"><h3 class="title">Chart</h3>
          <studio-chart-choice .fits=${fitsOf(this.used)} .chosen=${this.#type}
            @choose=${({ detail }: CustomEvent<ChartType>) => {
              this.chart = detail;
              this.shown = 'chart';
            }}></studio-chart-choice>
        </section>
      </div>
    </div>`;
  }

  #columnTable(): TemplateResult {
    const choice = ({ name, use }: SqlColumn, one: Use): TemplateResult =>
      html`<button type="button" aria-pressed=${use === one ? 'true' : 'false'} @click=${() => this.#use(name, one)}>${useNames[one]}</button>`;
    return html`<table class="sql-columns"><tbody>${this.used.map(
      (column) => html`<tr>
        <th scope="row" title=${column.name}><code>${column.name}</code></th><td class="soft">${typeNames[column.dataType]}</td>
        <td><div class="segments" role="group" aria-label=${`Use of ${column.name}`}>${uses.map((one) => choice(column, one))}</div></td>
      </tr>`,
    )}</tbody></table>`;
  }

  #use(name: string, use: Use): void {
    this.used = this.used.map((column) => (column.name === name ? { ...column, use } : column));
  }

  get #type(): ChartType {
    return fittingChart(this.used, this.chart);
  }

  #drawn({ answer }: Ran): TemplateResult {
    if (this.used.every(({ use }) => use === 'none'))
      return html`<p class="notice">Choose a column to split by, or a value.</p>`;
    const definition = withColumns(this.#read().definition, this.used, this.#type);
    const { askRows: again, used } = this;
    const ask: AskAuthored | null =
      answer === null
        ? null
        : async (asked, order, signal) =>
            (order as { readonly sort?: unknown }).sort === undefined || again === null
              ? answerWith(answer, used)
              : again(asked, order, signal);
    const { key, metric, ask: rows } = new DrawnMetrics(ask).of({ metricId: 'sql', name: this.#name, definition });
    // Another answer, another use of a column or another chart is another card.
    const changed = JSON.stringify([this.#runs, used, definition.chart]);
    if (this.#card?.changed !== changed)
      this.#card = {
        changed,
        drawn: html`${keyed(key, html`<studio-card-preview class="sql-chart" .metric=${metric} .ask=${rows}></studio-card-preview>`)}`,
      };
    return this.#card.drawn;
  }
  #card: { readonly changed: string; readonly drawn: TemplateResult } | undefined;
  #runs = 0;

  get #name(): string {
    return this.querySelector<HTMLInputElement>('#sql-name')?.value.trim() || 'New chart';
  }

  #words() {
    const tables = new Set(this.columns.map(({ tableName }) => tableName));
    return [
      ...[...tables].map((label) => ({ label, detail: 'table' })),
      ...this.columns.map(({ columnName, tableName }) => ({ label: columnName, detail: tableName })),
    ];
  }

  #read(): SqlMetric {
    // Not trimmed: the places of faults are counted in the text as it stands.
    const sql = this.querySelector<Code>('studio-code:not([read-only])')?.text ?? '';
    return { name: this.#name, definition: { ...(this.initial?.definition ?? empty), sql } };
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

  /** The uses that the author chose, or that the saved metric has. */
  get #chosen(): readonly Omit<SqlColumn, 'dataType'>[] {
    return this.used.length > 0 ? this.used : usesOf(this.initial?.definition ?? empty);
  }

  async #save(used: readonly SqlColumn[]): Promise<void> {
    const { name, definition } = this.#read();
    if (used.every(({ use }) => use === 'none')) throw new Error('Choose a column to split by, or a value.');
    await this.saveIt({ name, definition: withColumns(definition, used, fittingChart(used, this.chart)) });
  }

  async #run(isSave: boolean): Promise<void> {
    const { definition } = this.#read();
    this.isBusy = true;
    await this.#running.run(
      async (signal) => {
        const ran = await this.runIt(plainSql(definition, definition.sql), definition.sort, signal);
        const used = usedColumns(ran.columns, this.#chosen);
        if (isSave) await this.#save(used);
        return { ran, used };
      },
      ({ ran, used }) => {
        this.isBusy = false;
        this.#runs += 1;
        this.used = used;
        this.told = { ran };
      },
      (error) => {
        this.isBusy = false;
        this.told = { fault: textOf(error).replaceAll(/^definition\.(?:sql: )?/gm, '') };
      },
    );
  }
}

const rowsOf = ({ answer, columns }: Ran): TemplateResult => {
  if (answer === null) return html`<p class="notice">You may see no rows of tenants.</p>`;
  const shown = columns.map(({ name, dataType }) => ({ name, label: name, isNumber: dataType === 'number' }));
  return html`<div class="rows">${rowsTable(shown, answer.rows.slice(0, shownRows))}</div>`;
};

customElements.define('studio-sql-metric', SqlMetricPart);
