/** Cards that the server proposes from the tables of the model: shown, tried as a tenant would read them, and chosen before they are saved. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Api } from '../base/api.js';
import type { Clip } from '../base/clip.js';
import type { TemplateData, TemplateMetric, Tried } from '../base/content.js';
import { type AskAuthored, DrawnMetrics } from '../base/drawn-metrics.js';
import { badge } from '../base/kit.js';
import type { ModelColumn } from '../base/model-columns.js';
import { textOf } from '../base/screen.js';
import { tenantLabel } from '../base/tenant-names.js';

/** Runs metrics for a tenant. Null: no tenant was chosen who has a copy. */
export type TryAll = ((data: TemplateData) => Promise<readonly Tried[]>) | null;

type Proposal = { readonly data: TemplateData; readonly tried: readonly Tried[] };

const tableOf = ({ schemaName, tableName }: ModelColumn): string => `${schemaName}.${tableName}`;

export class Propose extends LitElement {
  static override properties = {
    api: { attribute: false },
    datamart: {},
    columns: { attribute: false },
    tryAll: { attribute: false },
    askRows: { attribute: false },
    tenant: {},
    proposal: { state: true },
    left: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  declare api: Api;
  declare datamart: string;
  declare columns: readonly ModelColumn[];
  declare tryAll: TryAll;
  /** For whom cards are tried. */
  declare tenant: string | null;
  declare proposal: Proposal | undefined;
  /** Cards and filters that are not wanted. */
  declare left: ReadonlySet<string>;
  declare problem: string;
  declare isBusy: boolean;
  /** Asks for rows as the chosen user reads them. Null: nobody was chosen who has a copy. */
  declare askRows: AskAuthored | null;
  /** The cards of the proposal as they are drawn. */
  #drawings = new DrawnMetrics(null);

  constructor() {
    super();
    this.left = new Set();
    this.problem = '';
    this.isBusy = false;
    this.tenant = null;
    this.tryAll = null;
    this.askRows = null;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const tables = [...new Set(this.columns.map(tableOf))];
    if (tables.length === 0)
      return html`<p class="soft">The model of the policy has no tables that a card could show.</p>`;
    return html`<form class="form card" @submit=${this.#ask}>
        <h2>Propose cards</h2>
        <p class="soft">Counts over time, the greatest groups, single values and a table, from the names, types and keys of
          these tables. No row is read for it, and nothing is saved until you add the cards.</p>
        <fieldset><legend>Tables</legend>
          ${tables.map((name) => html`<label class="inline"><input type="checkbox" name="table" value=${name} checked /> <code>${name}</code></label>`)}
        </fieldset>
        <div class="buttons"><button ?disabled=${this.isBusy}>${this.isBusy ? 'Working…' : 'Propose cards'}</button></div>
        <p class="failure" role="alert" ?hidden=${this.problem === ''}>${this.problem}</p>
      </form>
      <div role="status">${this.proposal === undefined ? nothing : this.#found(this.proposal)}</div>`;
  }

  readonly #ask = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const tables = new FormData(event.target).getAll('table').map(String);
    this.problem = tables.length === 0 ? 'Choose a table.' : '';
    if (tables.length === 0) return;
    this.isBusy = true;
    try {
      const { data } = await this.api.call('proposeDashboardContent', { datamartName: this.datamart, tables });
      const tried = this.tryAll === null || data.metrics.length === 0 ? [] : await this.tryAll(data);
      const isUseless = ({ outcome, measured }: Tried): boolean => outcome === 'failed' || measured?.isEmpty === true;
      this.left = new Set(tried.filter(isUseless).map(({ metricId }) => cardKey(metricId)));
      this.#drawings = new DrawnMetrics(this.askRows);
      this.proposal = { data, tried };
    } catch (error) {
      this.problem = textOf(error);
    } finally {
      this.isBusy = false;
    }
  };

  #found({ data, tried }: Proposal): TemplateResult {
    const { metrics, filters } = data;
    if (metrics.length === 0)
      return html`<div class="empty"><h2>Nothing to propose</h2><p>These tables have no rows of tenants to count, and no dates, groups or amounts.</p></div>`;
    const cards = metrics.filter(({ metricId }) => !this.left.has(cardKey(metricId)));
    const outcomeOf = ({ metricId }: TemplateMetric) => tried.find((one) => one.metricId === metricId);
    return html`<section class="card"><h2>Proposed</h2>
      ${this.tenant === null ? html`<p class="soft">Choose a user with “View as” who has this dashboard, and propose again: then each card is tried with that tenant’s rows.</p>` : html`<p class="soft">Tried with the rows of ${tenantLabel(this.tenant)}.</p>`}
      <ul class="proposals" aria-label="Proposed cards">${metrics.map(
        (metric) => html`<li class="proposal">
          <label class="inline">${this.#box(cardKey(metric.metricId), `Add ${metric.name}`)} Add ${outcomeText(outcomeOf(metric))}</label>
          ${this.#drawn(metric, outcomeOf(metric))}
        </li>`,
      )}</ul>
      ${filters.length === 0 ? nothing : html`<p>Filters: ${filters.map(({ name }) => html`<label class="inline">${this.#box(filterKey(name), `Add the filter ${name}`)} ${name}</label> `)}</p>`}
      ${pictureOf(data, cards)}
      <div class="buttons"><button type="button" ?disabled=${cards.length === 0} @click=${() => this.#add(data)}>Add ${cards.length === 1 ? 'the card' : `${cards.length} cards`}</button></div>
    </section>`;
  }

  /** The chart with the rows of the chosen tenant. Only the name where nobody was chosen, or there is nothing to draw. */
  #drawn(proposed: TemplateMetric, tried: Tried | undefined): TemplateResult {
    if (this.askRows === null || tried?.outcome !== 'answered')
      return html`<p>${proposed.name}: ${proposed.definition.chart.type}</p>`;
    void import('./card-preview.js');
    const { metric, ask } = this.#drawings.of(proposed);
    return html`<studio-card-preview .metric=${metric} .ask=${ask}></studio-card-preview>`;
  }

  #box(key: string, label: string): TemplateResult {
    const change = (event: Event): void => {
      const left = new Set(this.left);
      if ((event.target as HTMLInputElement).checked) left.delete(key);
      else left.add(key);
      this.left = left;
    };
    return html`<input type="checkbox" aria-label=${label} .checked=${!this.left.has(key)} @change=${change} />`;
  }

  #add({ metrics, layout, filters }: TemplateData): void {
    const clip: Clip = {
      metrics: metrics
        .filter(({ metricId }) => !this.left.has(cardKey(metricId)))
        .map(({ metricId, name, definition }) => ({
          name,
          definition,
          cards: layout.filter((card) => card.metricId === metricId).map(({ x, y, w, h }) => ({ x, y, w, h })),
        })),
      tiles: [],
      filters: filters.filter(({ name }) => !this.left.has(filterKey(name))),
    };
    this.dispatchEvent(new CustomEvent<Clip>('add-proposed', { detail: clip }));
    this.proposal = undefined;
  }
}

const cardKey = (metricId: string): string => `card ${metricId}`;
const filterKey = (name: string): string => `filter ${name}`;

const outcomeText = (tried: Tried | undefined): TemplateResult | string => {
  if (tried === undefined) return '';
  if (tried.outcome !== 'answered') return html`${badge(tried.outcome, 'bad')} ${tried.message ?? ''}`;
  return tried.measured?.isEmpty === true ? badge('no rows', 'warn') : badge('answered', 'good');
};

/** Where the cards would stand. */
const pictureOf = ({ layout }: TemplateData, cards: readonly TemplateMetric[]): TemplateResult =>
  html`<div class="grid small" role="img" aria-label="The cards on the dashboard">${layout.flatMap(
    ({ metricId, x, y, w, h }) => {
      const card = cards.find((metric) => metric.metricId === metricId);
      if (card === undefined) return [];
      return [
        html`<div class="tile" .style=${`grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}`}>${card.name}</div>`,
      ];
    },
  )}</div>`;

customElements.define('studio-propose', Propose);
