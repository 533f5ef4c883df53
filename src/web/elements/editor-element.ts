/**
 * `<guestlist-editor token dashboard-id>`: a guest makes a metric of the dashboard. Without the permission to create
 * metrics, the element shows nothing. The editor itself is a chunk.
 */
import { css, html, type TemplateResult } from 'lit';
import type { GuestFields } from '../../domain/guest/fields.js';
import { type GuestClient, GuestError } from '../base/client.js';
import { failureText } from '../base/failure.js';
import { loadPart } from '../base/load-part.js';
import { exported } from '../base/parts.js';
import { stateStyles } from '../base/states.js';
import { baseStyles, themeStyles } from '../base/theme.js';
import { EmbedElement, embedStyles } from './embed-element.js';
import { grantedId } from './granted.js';

export class GuestlistEditor extends EmbedElement {
  static override properties = {
    ...EmbedElement.properties,
    dashboardId: { type: String, attribute: 'dashboard-id', reflect: true },
    fields: { state: true },
  };
  declare dashboardId: string | null;
  /** Null: the token does not let its guest create metrics. */
  declare fields: GuestFields | null | undefined;

  static override styles = [
    themeStyles,
    baseStyles,
    stateStyles,
    embedStyles,
    css`
      :host([absent]) {
        display: none;
      }
    `,
  ];

  protected override get embedId(): string | null {
    return grantedId(this.granted, 'dashboard', this.dashboardId || null);
  }

  protected override get readKey(): string | null {
    return this.embedId;
  }

  protected override get isShown(): boolean {
    return this.fields !== undefined;
  }

  protected override get permissions() {
    return { canSeeRows: false, canDownload: false };
  }

  protected override async read(client: GuestClient, signal: AbortSignal): Promise<() => void> {
    const id = this.embedId ?? '';
    const { theme, name, permissions } = await client.dashboard(id, signal);
    const path = `dashboards/${encodeURIComponent(id)}/fields`;
    const isClosed = permissions.isDisableMetricCreation;
    const data = isClosed ? null : await client.call(path, { method: 'GET' }, signal).catch(absent);
    if (data !== null) await loadPart(() => import('./editor.js'));
    return () => {
      this.applyTheme(theme);
      this.fields = data as GuestFields | null;
      this.toggleAttribute('absent', data === null);
      this.requestUpdate();
      this.tell('guestlist-loaded', { dashboardId: id, metricId: null, name });
    };
  }

  protected override forget(): void {
    this.fields = undefined;
    this.toggleAttribute('absent', false);
  }

  protected override reset(): void {
    this.forget();
  }

  protected override content(): TemplateResult {
    const { text } = this.view.format;
    if (!this.fields) return html``;
    return html`<guestlist-editor-panel exportparts=${exported}
      .catalogue=${this.fields}
      .client=${this.client}
      .dashboardId=${this.embedId}
      .view=${this.view}
      .textOf=${(error: unknown) => failureText(error, text)}
    ></guestlist-editor-panel>`;
  }
}

const absent = (error: unknown): null => {
  if (error instanceof GuestError && error.code === 'UNAUTHORIZED') return null;
  throw error;
};
