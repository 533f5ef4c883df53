/** The cards of a drafted dashboard, drawn for the largest tenant, each to keep or to drop. */
import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { answerIn } from '../../base/client.js';
import type { TemplateData, TemplateMetric } from '../base/content.js';
import { type AskAuthored, DrawnMetrics } from '../base/drawn-metrics.js';
import { loadElements } from '../base/elements.js';
import { type Drafted, withoutMetrics } from '../base/start.js';

export type Kept = { readonly name: string; readonly data: TemplateData };

/** The answers that came with the draft. Null: there are none, and the rows are made up. */
const askIn = ({ data, answers }: Drafted): AskAuthored | null => {
  if (answers.length === 0) return null;
  return async (definition) => {
    const metric = data.metrics.find((one) => one.definition === definition);
    const answer = answerIn({ ...answers.find(({ metricid }) => metricid === metric?.metricId) });
    if (answer === undefined) throw new Error('The answer can’t be read.');
    return answer;
  };
};

/** Tells the event `keep`, with the content that a person wants. */
export class DraftedCards extends LitElement {
  static override properties = {
    drafted: { attribute: false },
    seesData: { attribute: false },
    isBusy: { attribute: false },
    left: { state: true },
    isReady: { state: true },
  };
  declare drafted: Drafted;
  declare seesData: boolean;
  declare isBusy: boolean;
  /** Ids of metrics that are not wanted. */
  declare left: ReadonlySet<string>;
  /** Whether the script of the elements is there. */
  declare isReady: boolean;
  /** The same cards at each render, so that each is drawn once. */
  #drawings = new DrawnMetrics(null);

  constructor() {
    super();
    this.left = new Set();
    this.isReady = false;
    this.isBusy = false;
    this.seesData = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void Promise.all([loadElements(), import('./card-preview.js')]).then(() => {
      this.isReady = true;
    });
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    if (changes.has('drafted')) this.#drawings = new DrawnMetrics(askIn(this.drafted));
  }

  protected override render(): TemplateResult {
    const { data, refused } = this.drafted;
    const kept = data.metrics.filter(({ metricId }) => !this.left.has(metricId)).length;
    if (data.metrics.length === 0)
      return html`<div class="empty"><h2>Nothing to propose</h2><p>No table of the model has rows of tenants to count, dates, groups or amounts. Use more tables, or build a dashboard by hand.</p></div>`;
    return html`<h2>The first dashboard</h2><p class="soft">${this.#forWhom()}</p>
      <ul class="proposals" aria-label="Drafted cards">${data.metrics.map((metric) => this.#card(metric))}</ul>
      ${refused.map(({ name, reason }) => html`<p class="notice warn">Left out: ${name}. ${reason}</p>`)}
      <form class="toolbar" @submit=${this.#keep}>
        <label>Name <input name="name" required maxlength="120" value="Overview" autocomplete="off" /></label>
        <button ?disabled=${kept === 0 || this.isBusy}>Make the dashboard of ${kept === 1 ? 'one card' : `${kept} cards`}</button>
      </form>`;
  }

  #forWhom(): string {
    const [largest] = this.drafted.tenants;
    if (largest !== undefined)
      return `Drawn for ${largest.name ?? largest.clientId}, the tenant with the most rows. Cards that would be empty are left out. Deselect what you do not want.`;
    return this.seesData
      ? 'No tenant has rows that could be counted, so the cards come from names, types and keys, and their numbers are made up.'
      : 'You may not see data of tenants, so the cards come from names, types and keys, and their numbers are made up.';
  }

  #card(metric: TemplateMetric): TemplateResult {
    const toggle = (event: Event): void => {
      const left = new Set(this.left);
      if ((event.target as HTMLInputElement).checked) left.delete(metric.metricId);
      else left.add(metric.metricId);
      this.left = left;
    };
    const isKept = !this.left.has(metric.metricId);
    return html`<li class="proposal ${isKept ? '' : 'dropped'}">
      <label class="inline"><input type="checkbox" aria-label="Keep ${metric.name}" .checked=${isKept} @change=${toggle} /> Keep</label>
      ${this.#drawn(metric)}
    </li>`;
  }

  #drawn(metric: TemplateMetric): TemplateResult {
    if (!this.isReady) return html`<div class="skeleton" aria-busy="true"><i></i></div>`;
    const drawn = this.#drawings.of(metric);
    return html`<studio-card-preview .metric=${drawn.metric} .ask=${drawn.ask}></studio-card-preview>`;
  }

  readonly #keep = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const name = String(new FormData(event.target).get('name') ?? '').trim();
    const detail: Kept = { name, data: withoutMetrics(this.drafted.data, this.left) };
    this.dispatchEvent(new CustomEvent<Kept>('keep', { detail }));
  };
}

customElements.define('studio-drafted-cards', DraftedCards);
