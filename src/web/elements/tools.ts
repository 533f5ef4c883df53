/** What a guest may do besides reading the cards: reports and alerts, and questions in words. Each opens a dialog. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { GuestDashboard } from '../../model/guest/view.js';
import type { FilterValues, GuestClient } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { askIcon, bellIcon, summaryIcon } from '../base/icons.js';
import { loadPart } from '../base/load-part.js';
import { exported } from '../base/parts.js';
import { baseStyles } from '../base/theme.js';
import type { FilterLabels } from '../filters/filter-values.js';
import type { ChatPanel } from './chat-panel.js';
import type { SchedulesPanel } from './schedules-panel.js';
import type { SummaryPanel } from './summary-panel.js';

export class Tools extends LitElement {
  static override properties = {
    view: { attribute: false },
    dashboard: { attribute: false },
    dashboardId: { attribute: false },
    filters: { attribute: false },
    labels: { attribute: false },
    client: { attribute: false },
    problem: { state: true },
  };
  /** How cards look; this element itself needs the format only. */
  declare view: { readonly format: Format };
  declare dashboard: GuestDashboard;
  declare dashboardId: string;
  /** The filters that are set on the dashboard now. */
  declare filters: FilterValues;
  declare labels: FilterLabels;
  declare client: GuestClient;
  /** Why a dialog did not come. */
  declare problem: string | undefined;

  static override styles = [
    baseStyles,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px;
      }
      p {
        margin: 0;
        font-size: 12px;
        color: var(--gl-danger);
      }
    `,
  ];

  override render(): TemplateResult {
    const { text } = this.view.format;
    const { chat, scheduleFormats, hasSummary } = this.dashboard;
    return html`
      ${chat === undefined ? nothing : this.#button(text('Ask a question'), askIcon, this.#openChat)}
      ${hasSummary === undefined ? nothing : this.#button(text('Summary'), summaryIcon, this.#openSummary)}
      ${scheduleFormats === undefined ? nothing : this.#button(text('Reports and alerts'), bellIcon, this.#openSchedules)}
      ${this.problem === undefined ? nothing : html`<p role="alert">${this.problem}</p>`}
      ${chat === undefined ? nothing : this.#chat(chat)}
      ${hasSummary === undefined ? nothing : this.#summary()}
      ${scheduleFormats === undefined ? nothing : this.#schedules()}
    `;
  }

  #button(label: string, icon: TemplateResult, open: () => void): TemplateResult {
    return html`<button class="icon" part="icon-button" type="button" aria-haspopup="dialog" aria-label=${label} title=${label}
      @click=${open}>${icon}</button>`;
  }

  #summary(): TemplateResult {
    return html`<guestlist-summary exportparts=${exported} .format=${this.view.format} .dashboard=${this.dashboard}
      .dashboardId=${this.dashboardId} .filters=${this.filters} .labels=${this.labels} .client=${this.client}></guestlist-summary>`;
  }

  #chat({ llmNames, hasSuggestions }: NonNullable<GuestDashboard['chat']>): TemplateResult {
    return html`<guestlist-chat exportparts=${exported} .view=${this.view} .dashboard=${this.dashboard}
      .dashboardId=${this.dashboardId} .llmNames=${llmNames} .hasSuggestions=${hasSuggestions} .filters=${this.filters} .labels=${this.labels}
      .client=${this.client}></guestlist-chat>`;
  }

  #schedules(): TemplateResult {
    return html`<guestlist-schedules exportparts=${exported} .format=${this.view.format} .dashboard=${this.dashboard}
      .dashboardId=${this.dashboardId} .filters=${this.filters} .labels=${this.labels} .client=${this.client}></guestlist-schedules>`;
  }

  #open(load: () => Promise<unknown>, open: () => void): void {
    this.problem = undefined;
    loadPart(load).then(open, (error) => {
      this.problem = failureText(error, this.view.format.text);
    });
  }

  readonly #openChat = (): void =>
    this.#open(
      () => import('./chat.js'),
      () => this.renderRoot.querySelector<ChatPanel>('guestlist-chat')?.open(),
    );

  readonly #openSummary = (): void =>
    this.#open(
      () => import('./summary.js'),
      () => this.renderRoot.querySelector<SummaryPanel>('guestlist-summary')?.open(),
    );

  readonly #openSchedules = (): void =>
    this.#open(
      () => import('./schedules.js'),
      () => this.renderRoot.querySelector<SchedulesPanel>('guestlist-schedules')?.open(),
    );
}
