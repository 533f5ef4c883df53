/** Charts of how questions were answered, drawn by the cards of the elements. */
import { html, LitElement, type TemplateResult } from 'lit';
import type { Drawn } from '../base/drawn-metrics.js';
import { loadElements } from '../base/elements.js';

class AnswerCharts extends LitElement {
  static override properties = { charts: { attribute: false }, isReady: { state: true }, failure: { state: true } };
  declare charts: readonly Drawn[];
  /** Whether the script of the elements is there. */
  declare isReady: boolean;
  declare failure: string | null;
  /** A chart whose rows are the same is not drawn anew. */
  #shown: readonly Drawn[] = [];

  constructor() {
    super();
    this.charts = [];
    this.isReady = false;
    this.failure = null;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    Promise.all([loadElements(), import('./card-preview.js')]).then(
      () => {
        this.isReady = true;
      },
      (error: unknown) => {
        this.failure = error instanceof Error ? error.message : String(error);
      },
    );
  }

  protected override willUpdate(): void {
    this.#shown = this.charts.map((chart) => this.#shown.find(({ key }) => key === chart.key) ?? chart);
  }

  protected override render(): TemplateResult {
    if (this.failure !== null) return html`<p class="notice bad" role="alert">${this.failure}</p>`;
    if (!this.isReady)
      return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><i></i><i></i></div>`;
    return html`<h2 class="sr">Charts</h2><div class="charts">${this.#shown.map(
      ({ metric, ask }) => html`<studio-card-preview .metric=${metric} .ask=${ask}></studio-card-preview>`,
    )}</div>`;
  }
}

customElements.define('studio-answer-charts', AnswerCharts);
