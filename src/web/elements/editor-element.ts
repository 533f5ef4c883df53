/**
 * `<guestlist-editor token dashboard-id>`: a guest makes a metric of the dashboard, and changes those that it may change.
 * Without a permission for either, the element shows nothing. The editor itself is a chunk.
 */
import { css, html, type TemplateResult } from 'lit';
import type { GuestFields } from '../../model/guest/fields.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import { type GuestClient, GuestError } from '../base/client.js';
import { listGuestFields } from '../base/guest-operations.js';
import { loadPart } from '../base/load-part.js';
import { stateStyles } from '../base/states.js';
import { baseStyles, themeStyles } from '../base/theme.js';
import type { OwnActions } from '../editor/own-metrics.js';
import type { Authoring, InitialMetric } from '../editor/panel.js';
import { grantedId } from '../token/request.js';
import { EmbedElement, embedStyles } from './embed-element.js';

export class GuestlistEditor extends EmbedElement {
  static override properties = {
    ...EmbedElement.properties,
    dashboardId: { type: String, attribute: 'dashboard-id', reflect: true },
    authoring: { attribute: false },
    initial: { attribute: false },
    fields: { state: true },
  };
  declare dashboardId: string | null;
  /** For Studio: where its metrics are stored and previewed, and tabs of its own. */
  declare authoring: Authoring | undefined;
  /** The metric that is changed, for Studio. */
  declare initial: InitialMetric | undefined;
  /** Null: the token does not let its guest create metrics. */
  declare fields: GuestFields | null | undefined;

  #actions: OwnActions = noActions;

  static override styles = [
    themeStyles,
    baseStyles,
    stateStyles,
    embedStyles,
    css`
      :host([absent]) {
        display: none;
      }
      guestlist-workbench {
        display: contents;
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
    const isClosed = permissions.isDisableMetricCreation && this.authoring === undefined;
    const data = isClosed ? null : await client.call(listGuestFields, { dashboardId: id }, signal).catch(absent);
    const actions = this.authoring === undefined ? actionsOf(permissions, data !== null) : noActions;
    const hasActions = Object.values(actions).includes(true);
    if (data !== null || hasActions) await loadPart(() => import('./editor.js'));
    return () => {
      this.applyTheme(theme);
      this.fields = data;
      this.#actions = actions;
      this.toggleAttribute('absent', data === null && !hasActions);
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
    return html`<guestlist-workbench
      .fields=${this.fields}
      .actions=${this.#actions}
      .client=${this.client}
      .dashboardId=${this.embedId}
      .view=${this.view}
      .authoring=${this.authoring}
      .initial=${this.initial}
    ></guestlist-workbench>`;
  }
}

type Permissions = GuestDashboard['permissions'];

const noActions: OwnActions = { canEdit: false, canArchive: false, canRestore: false, canPublish: false };

/** A definition is edited with the fields, which only a guest who may create metrics is told. */
const actionsOf = (permissions: Permissions, hasFields: boolean): OwnActions => ({
  canEdit: permissions.isEnableMetricUpdation && hasFields,
  canArchive: permissions.isEnableArchiveMetrics,
  canRestore: permissions.isEnableManageMetrics,
  canPublish: permissions.isEnableManageMetrics,
});

const absent = (error: unknown): null => {
  if (error instanceof GuestError && error.code === 'UNAUTHORIZED') return null;
  throw error;
};
