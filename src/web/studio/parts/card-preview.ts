/** A card of the elements with the rows of a metric that is not saved. The elements' script must have been loaded. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../../model/guest/view.js';
import type { GuestClient } from '../../base/client.js';
import { createFormat } from '../../base/format.js';
import { themeStyles } from '../../base/theme.js';
import { DarkState } from '../base/dark-state.js';
import type { AskRows } from '../base/drawn-metrics.js';

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
  readonly #theme = new DarkState(this);
  /** The same object while the metric is the same, so that the card asks once. */
  readonly #source = {
    client: { query: (_, asked, signal) => this.ask(asked, signal) } as Pick<GuestClient, 'query'>,
    dashboardId: undefined,
    dashboardFilter: {},
  };

  protected override render(): TemplateResult {
    const look = { canSeeRows: false, canDownload: false, isPrinted: false, themeKey: String(this.#theme.isDark) };
    const view = { format: createFormat('en'), colours: [], ...look };
    return html`<guestlist-card .metric=${this.metric} .source=${this.#source} .view=${view} .notes=${[]} .ignored=${[]}
      .onFailure=${() => false}></guestlist-card>`;
  }
}

customElements.define('studio-card-preview', CardPreview);
