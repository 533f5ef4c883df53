/** `<guestlist-metric token metric-id>`: one metric, read from a metric embed or, with `dashboard-id`, through a dashboard. */
import { css, html, type TemplateResult } from 'lit';
import type { GuestDashboard, GuestMetric } from '../../model/guest/view.js';
import { type GuestClient, GuestError } from '../base/client.js';
import { exported } from '../base/parts.js';
import { stateStyles } from '../base/states.js';
import { baseStyles, themeStyles } from '../base/theme.js';
import { loadFamilies } from '../charts/registry.js';
import { grantedId } from '../token/request.js';
import { EmbedElement, embedStyles } from './embed-element.js';
import type { CardSource } from './reading.js';

export class GuestlistMetric extends EmbedElement {
  static override properties = {
    ...EmbedElement.properties,
    metricId: { type: String, attribute: 'metric-id', reflect: true },
    dashboardId: { type: String, attribute: 'dashboard-id', reflect: true },
    metric: { state: true },
  };
  declare metricId: string | null;
  declare dashboardId: string | null;
  declare metric: GuestMetric | undefined;

  #source: CardSource | undefined;
  #permissions: GuestDashboard['permissions'] | undefined;

  static override styles = [
    themeStyles,
    baseStyles,
    stateStyles,
    embedStyles,
    css`
      :host {
        height: 360px;
      }
      .root,
      .content,
      .waiting {
        height: 100%;
      }
      guestlist-card {
        height: 100%;
      }
    `,
  ];

  protected override get embedId(): string | null {
    return grantedId(this.dashboardId ? [] : this.granted, 'metric', this.metricId || null);
  }

  protected override get readKey(): string | null {
    return JSON.stringify([this.embedId, this.#dashboardId]);
  }

  get #dashboardId(): string | undefined {
    return this.dashboardId ? (grantedId(this.granted, 'dashboard', this.dashboardId) ?? undefined) : undefined;
  }

  protected override get isShown(): boolean {
    return this.metric !== undefined;
  }

  protected override get permissions() {
    return {
      canSeeRows: this.#permissions?.isEnableUnderlyingData === true,
      canDownload: this.#permissions?.isEnableDownloadMetrics === true,
    };
  }

  protected override async read(client: GuestClient, signal: AbortSignal): Promise<() => void> {
    const metricId = this.embedId ?? '';
    const dashboardId = this.#dashboardId;
    const dashboard = dashboardId === undefined ? undefined : await client.dashboard(dashboardId, signal);
    const alone = dashboard === undefined ? await client.metric(metricId, signal) : undefined;
    const metric = alone ?? metricOf(dashboard, metricId);
    loadFamilies([metric.chart.type]);
    return () => {
      this.applyTheme((alone ?? dashboard)?.theme);
      this.#permissions = dashboard?.permissions;
      this.#source = { client, dashboardId, dashboardFilter: {} };
      this.metric = metric;
      // Lit sees no change when only the client is new, so the update is requested here.
      this.requestUpdate();
      this.tell('guestlist-loaded', { dashboardId: dashboardId ?? null, metricId, name: metric.name });
    };
  }

  protected override forget(): void {
    this.metric = undefined;
    this.#source = undefined;
    this.#permissions = undefined;
  }

  protected override reset(): void {
    this.forget();
  }

  protected override content(): TemplateResult {
    return html`<guestlist-card exportparts=${exported}
      .metric=${this.metric}
      .source=${this.#source}
      .view=${this.view}
      .onFailure=${this.onFailure}
      @again=${this.refresh}
    ></guestlist-card>`;
  }
}

const metricOf = (dashboard: GuestDashboard | undefined, metricId: string): GuestMetric => {
  const metric = dashboard?.metrics.find((each) => each.metricId === metricId);
  if (metric !== undefined) return metric;
  throw new GuestError('INVALID_METRIC_ID', `The dashboard has no metric ${metricId} for this guest.`, 404);
};
