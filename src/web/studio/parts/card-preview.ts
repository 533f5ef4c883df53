/** A card of the elements with the rows of a metric that is not saved. The elements' script must have been loaded. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../../model/guest/view.js';
import type { MetricAnswer } from '../../../model/query/engine.js';
import type { GuestClient } from '../../base/client.js';
import { createFormat } from '../../base/format.js';
import { themeStyles } from '../../base/theme.js';

/** Asks for the rows, as a query of a saved metric does. */
export type AskRows = (asked: object, signal: AbortSignal) => Promise<MetricAnswer>;

const dark = matchMedia('(prefers-color-scheme: dark)');

class CardPreview extends LitElement {
  static override properties = { metric: { attribute: false }, ask: { attribute: false } };
  static override styles = [
    themeStyles,
    css`
      :host {
        display: block;
      }
      guestlist-card {
        display: block;
        height: 100%;
      }
    `,
  ];
  declare metric: GuestMetric;
  declare ask: AskRows;
  readonly #internals = this.attachInternals();
  readonly #gone = new AbortController();
  /** The same object while the metric is the same, so that the card asks once. */
  readonly #source = {
    client: { query: (_, asked, signal) => this.ask(asked, signal) } as Pick<GuestClient, 'query'>,
    dashboardId: undefined,
    dashboardFilter: {},
  };

  override connectedCallback(): void {
    super.connectedCallback();
    dark.addEventListener('change', () => this.requestUpdate(), { signal: this.#gone.signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
  }

  protected override render(): TemplateResult {
    if (dark.matches) this.#internals.states.add('dark');
    else this.#internals.states.delete('dark');
    const look = { canSeeRows: false, canDownload: false, isPrinted: false, themeKey: String(dark.matches) };
    const view = { format: createFormat('en'), colours: [], ...look };
    return html`<guestlist-card .metric=${this.metric} .source=${this.#source} .view=${view} .notes=${[]} .ignored=${[]}
      .onFailure=${() => false}></guestlist-card>`;
  }
}

customElements.define('studio-card-preview', CardPreview);
