/** One metric on its card: asks its question, shows what comes, and fails alone. */
import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { GuestMetric } from '../domain/guest-view.js';
import type { Sort } from '../domain/metric.js';
import type { Cell, MetricAnswer } from '../domain/ports.js';
import { cardStyles } from './card-styles.js';
import { type FilterValues, type GuestClient, GuestError, type Question } from './client.js';
import { drillTrail, type TakenStep } from './drill-trail.js';
import type { Format } from './format.js';
import { chartIcon, downloadIcon, rowsIcon, tableIcon } from './icons.js';
import { createLatest } from './latest.js';
import type { Place } from './layout.js';
import { columnsOf, plotOf } from './plot.js';
import { RowsDialog } from './rows-dialog.js';
import { save } from './save.js';
import { singleValue, singleValueStyles } from './single-value.js';
import { emptyState, errorState, loadingState, stateStyles } from './states.js';
import { tableStyles, tableView } from './table-view.js';
import { baseStyles } from './theme.js';

/** Where a card reads: a client of one token, and what the dashboard adds to each question. */
export type CardSource = {
  readonly client: GuestClient;
  readonly dashboardId: string | undefined;
  readonly dashboardFilter: FilterValues;
};

/** How a card looks; changing it asks nothing anew. */
export type CardView = {
  readonly format: Format;
  readonly colours: readonly string[];
  readonly themeKey: string;
  readonly canSeeRows: boolean;
  readonly canDownload: boolean;
};

export class MetricCard extends LitElement {
  static override properties = {
    metric: { attribute: false },
    source: { attribute: false },
    view: { attribute: false },
    onFailure: { attribute: false },
    place: { attribute: false },
    answer: { state: true },
    error: { state: true },
    isLoading: { state: true },
    isTable: { state: true },
    drill: { state: true },
    sort: { state: true },
  };
  declare metric: GuestMetric;
  declare source: CardSource;
  declare view: CardView;
  /** Told every failure; answers whether the owner shows it, so that the card needn't. */
  declare onFailure: (error: GuestError, client: GuestClient, metricId: string) => boolean;
  /** Where it stands on a dashboard's grid; the grid reads it back as `--x`, `--y`, `--w` and `--h`. */
  declare place: Place | undefined;
  declare answer: MetricAnswer | undefined;
  declare error: GuestError | undefined;
  declare isLoading: boolean;
  declare isTable: boolean;
  declare drill: readonly TakenStep[];
  declare sort: Sort | null;

  readonly #latest = createLatest();
  #asked: { readonly client: GuestClient; readonly key: string } | undefined;

  constructor() {
    super();
    this.isLoading = true;
    this.isTable = false;
    this.drill = [];
    this.sort = null;
  }

  static override styles = [baseStyles, stateStyles, tableStyles, singleValueStyles, cardStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && this.isLoading) this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  /** Asks again only when the question or the one who asks has changed. */
  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('place')) this.#settle();
    const before = changed.get('metric');
    if (before !== undefined && before.metricId !== this.metric.metricId) this.#reset();
    const key = JSON.stringify([this.metric.metricId, this.#question()]);
    if (this.#asked?.client === this.source.client && this.#asked.key === key) return;
    this.#asked = { client: this.source.client, key };
    this.#load();
  }

  override render() {
    const { name } = this.metric;
    return html`<section aria-labelledby="title" aria-busy=${this.isLoading ? 'true' : 'false'}>
      <header>
        <h3 id="title" title=${name}>${name}</h3>
        <div class="actions">${this.#actions()}</div>
      </header>
      ${this.drill.length > 0 ? drillTrail(name, this.drill, this.#back) : null}
      <div class=${this.isLoading && this.answer !== undefined ? 'body stale' : 'body'}>${this.#body()}</div>
      <guestlist-rows .label=${name} .format=${this.view.format}></guestlist-rows>
    </section>`;
  }

  /** Through the CSSOM: a style attribute in markup is what a strict content security policy refuses. */
  #settle(): void {
    const { x, y, w, h } = this.place ?? { x: 0, y: 0, w: 12, h: 4 };
    for (const [name, value] of Object.entries({ x: x + 1, y: y + 1, w, h })) {
      this.style.setProperty(`--${name}`, String(value));
    }
  }

  #question(): Question {
    const { dashboardId, dashboardFilter } = this.source;
    return {
      ...(dashboardId === undefined ? {} : { dashboardId }),
      ...(Object.keys(dashboardFilter).length === 0 ? {} : { dashboardFilter }),
      ...(this.drill.length === 0 ? {} : { drill: this.drill.map(({ columnName, value }) => ({ columnName, value })) }),
      ...(this.sort === null ? {} : { sort: [this.sort] }),
    };
  }

  #reset(): void {
    this.answer = undefined;
    this.drill = [];
    this.sort = null;
  }

  #load(): void {
    const { client } = this.source;
    const { metricId } = this.metric;
    this.isLoading = true;
    this.error = undefined;
    this.#latest.run(
      (signal) => client.query(metricId, this.#question(), signal),
      (answer) => {
        this.answer = answer;
        this.isLoading = false;
      },
      (error) => this.#fail(error, client),
    );
  }

  #fail(error: unknown, client: GuestClient): void {
    const failure =
      error instanceof GuestError ? error : new GuestError('UNEXPECTED', 'This chart can’t be shown.', 0, error);
    if (this.onFailure(failure, client, this.metric.metricId)) return;
    this.isLoading = false;
    this.answer = undefined;
    this.error = failure;
  }

  #body(): TemplateResult {
    if (this.error !== undefined) {
      return errorState('This chart can’t be shown', this.error.message, () => this.#load());
    }
    if (this.answer === undefined) return loadingState(`Loading ${this.metric.name}`);
    if (this.answer.rows.length === 0) return emptyState('No data for these filters');
    if (this.metric.chart.type === 'singleValue') return singleValue(this.metric, this.answer, this.view.format);
    return this.#isShownAsTable ? this.#table(this.answer) : this.#chart(this.answer);
  }

  get #isShownAsTable(): boolean {
    return this.isTable || this.metric.chart.type === 'table';
  }

  #chart(answer: MetricAnswer): TemplateResult {
    const plot = plotOf(answer, this.metric.chart, this.view.format);
    return html`<guestlist-chart
      .metric=${this.metric}
      .plot=${plot}
      .format=${this.view.format}
      .colours=${this.view.colours}
      .themeKey=${this.view.themeKey}
      .isClickable=${this.metric.chart.isDrillable}
      @point=${(event: CustomEvent<Cell>) => this.#drillInto(event.detail)}
    ></guestlist-chart>`;
  }

  #table(answer: MetricAnswer): TemplateResult {
    const { dimensions, measures } = columnsOf(answer, this.metric.chart);
    const isDrillable = this.metric.chart.isDrillable && dimensions.length > 0;
    const hidden = answer.totalRecords - answer.rows.length;
    return html`${tableView({
      answer,
      columns: [...dimensions, ...measures],
      measures: measures.map((column) => column.name),
      chart: this.metric.chart,
      format: this.view.format,
      label: `${this.metric.name}, table`,
      sort: this.sort,
      onSort: (name) => this.#sortBy(name),
      onDrill: isDrillable ? (value) => this.#drillInto(value) : undefined,
    })}
    ${hidden > 0 ? html`<p class="more quiet">${this.view.format.count(answer.rows.length)} of ${this.view.format.count(answer.totalRecords)}</p>` : null}`;
  }

  #sortBy(name: string): void {
    const isAgain = this.sort?.name === name && this.sort.direction === 'DESC';
    this.sort = { name, direction: isAgain ? 'ASC' : 'DESC' };
  }

  #drillInto(value: Cell): void {
    const column = this.answer === undefined ? undefined : columnsOf(this.answer, this.metric.chart).dimensions[0];
    if (column === undefined) return;
    const label = this.view.format.dimension(value, column.dataType);
    this.drill = [...this.drill, { columnName: column.name, value, label }];
    this.sort = null;
  }

  readonly #back = (length: number): void => {
    this.drill = this.drill.slice(0, length);
    this.sort = null;
  };

  #actions(): TemplateResult {
    const { type } = this.metric.chart;
    const isChart = type === 'line' || type === 'bar';
    return html`
      ${
        isChart
          ? this.#action(this.isTable ? 'Show as chart' : 'Show as table', this.isTable ? chartIcon : tableIcon, () => {
              this.isTable = !this.isTable;
            })
          : null
      }
      ${this.view.canSeeRows ? this.#action('Rows', rowsIcon, () => this.#openRows()) : null}
      ${this.view.canDownload ? this.#action('Download CSV', downloadIcon, () => this.#download()) : null}
    `;
  }

  #action(label: string, picture: TemplateResult, run: () => void): TemplateResult {
    const name = `${label}: ${this.metric.name}`;
    return html`<button class="icon" type="button" aria-label=${name} title=${label} @click=${run}>${picture}</button>`;
  }

  #openRows(): void {
    const { client } = this.source;
    const { metricId } = this.metric;
    const question = this.#question();
    const dialog = this.renderRoot.querySelector('guestlist-rows');
    if (!(dialog instanceof RowsDialog)) return;
    dialog.open((offset, limit, signal) =>
      client.underlying(metricId, { ...question, sort: undefined, offset, limit }, signal),
    );
  }

  #download(): void {
    const { client } = this.source;
    const { metricId, name } = this.metric;
    client.csv(metricId, this.#question(), new AbortController().signal).then(
      (csv) => save(csv, `${name}.csv`),
      (error: unknown) => this.#fail(error, client),
    );
  }
}
