/** A dialog that says what stands out on the dashboard: computed facts, and a text of a model where there is one. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Summary } from '../../model/chat/summary.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import { type FilterValues, type GuestClient, isRecord } from '../base/client.js';
import { dialogStyles, dialogView, showDialog } from '../base/dialog.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { summariseGuestDashboard } from '../base/guest-operations.js';
import { createLatest } from '../base/latest.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles } from '../base/theme.js';
import { type FilterLabels, filterNotes } from '../filters/filter-values.js';
import { factText } from './fact-words.js';

/** As the service takes them. */
const mostMetrics = 50;

const summaryIn = (data: unknown): Summary | undefined =>
  isRecord(data) && Array.isArray(data.metrics) ? (data as Summary) : undefined;

export class SummaryPanel extends LitElement {
  static override properties = {
    format: { attribute: false },
    dashboard: { attribute: false },
    dashboardId: { attribute: false },
    filters: { attribute: false },
    labels: { attribute: false },
    client: { attribute: false },
    isOpen: { state: true },
    summary: { state: true },
    problem: { state: true },
  };
  declare format: Format;
  declare dashboard: Pick<GuestDashboard, 'metrics' | 'filters'>;
  declare dashboardId: string;
  /** The filters that are set on the dashboard now. */
  declare filters: FilterValues;
  declare labels: FilterLabels;
  declare client: GuestClient;
  declare isOpen: boolean;
  declare summary: Summary | undefined;
  declare problem: string | undefined;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.isOpen = false;
  }

  static override styles = [
    baseStyles,
    dialogStyles,
    stateStyles,
    css`
      :host {
        position: absolute;
      }
      header {
        margin-bottom: 8px;
      }
      h3 {
        margin: 14px 0 4px;
        font-size: 14px;
        font-weight: 600;
      }
      p,
      li {
        margin: 0;
        font-size: 13.5px;
        line-height: 1.5;
        overflow-wrap: anywhere;
      }
      ul {
        margin: 0;
        padding-inline-start: 18px;
      }
      .body {
        min-height: 120px;
      }
      .skeleton {
        height: 120px;
      }
      .small {
        font-size: 12px;
      }
      .text {
        margin-top: 10px;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  /** Opens the dialog, and summarises what the dashboard shows now. */
  open(): void {
    this.isOpen = true;
    void showDialog(this);
    this.#read();
  }

  override render(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    const { text } = this.format;
    const notes = filterNotes(this.dashboard.filters, this.filters, this.format, this.labels);
    const content = html`<p class="quiet small">${notes.join(' · ') || this.format.text('No filters set')}</p>
      <div class="body">${this.#body()}</div>`;
    return dialogView({ text, title: text('Summary'), content, closed: this.#closed });
  }

  #body(): TemplateResult {
    const { text } = this.format;
    const { problem, summary } = this;
    if (problem !== undefined) return errorState(text, text('The summary can’t be shown'), problem, () => this.#read());
    if (summary === undefined) return loadingState(text('Loading'));
    const told = summary.metrics.filter(({ facts }) => facts.length > 0);
    if (told.length === 0) return emptyState(text('There is nothing to summarise'));
    return html`
      ${
        summary.text === null
          ? nothing
          : html`<p class="text" dir="auto">${summary.text}</p>
            <p class="quiet small">${text('Written by the assistant. Its numbers were checked.')}</p>`
      }
      ${told.map((one) => this.#metric(one))}`;
  }

  #metric({ metricId, facts }: Summary['metrics'][number]): TemplateResult | typeof nothing {
    const metric = this.dashboard.metrics.find((one) => one.metricId === metricId);
    if (metric === undefined) return nothing;
    return html`<h3>${metric.name}</h3>
      <ul>${facts.map((fact) => html`<li>${factText(fact, metric, this.format)}</li>`)}</ul>`;
  }

  readonly #closed = (): void => {
    this.#latest.cancel();
    this.isOpen = false;
  };

  #read(): void {
    const { filters, dashboard, dashboardId } = this;
    this.summary = undefined;
    this.problem = undefined;
    const metricIds = dashboard.metrics.map(({ metricId }) => metricId).slice(0, mostMetrics);
    void this.#latest.run(
      (signal) =>
        this.client.call(summariseGuestDashboard, { dashboardId, metricIds, dashboardFilter: filters }, signal),
      (data) => {
        this.summary = summaryIn(data);
        if (this.summary === undefined) this.problem = this.format.text('The service’s answer can’t be read.');
      },
      (error) => {
        this.problem = failureText(error, this.format.text);
      },
    );
  }
}
