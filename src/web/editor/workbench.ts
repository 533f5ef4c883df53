/** What a guest has in `<guestlist-editor>`: the list of own metrics, and the editor with a new metric or one of them. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { GuestFields } from '../../model/guest/fields.js';
import type { GuestClient } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { exported } from '../base/parts.js';
import type { Opened, OwnActions, OwnMetrics } from './own-metrics.js';
import type { Authoring, InitialMetric } from './panel.js';

export class Workbench extends LitElement {
  static override properties = {
    fields: { attribute: false },
    actions: { attribute: false },
    client: { attribute: false },
    dashboardId: { attribute: false },
    view: { attribute: false },
    authoring: { attribute: false },
    initial: { attribute: false },
    opened: { state: true },
  };
  /** Null: the token does not let its guest create metrics. */
  declare fields: GuestFields | null;
  declare actions: OwnActions;
  declare client: GuestClient;
  declare dashboardId: string;
  declare view: { readonly format: Format };
  declare authoring: Authoring | undefined;
  declare initial: InitialMetric | undefined;
  /** The own metric that is changed. */
  declare opened: Opened | undefined;

  /** Counts what was begun: another one has another panel. */
  #begun = 0;

  /** It has the styles of the element that it stands in. */
  protected override createRenderRoot(): this {
    return this;
  }

  protected override render(): TemplateResult {
    return html`${this.#list()}${this.#panel()}`;
  }

  #list(): TemplateResult | typeof nothing {
    if (!Object.values(this.actions).includes(true)) return nothing;
    return html`<guestlist-own-metrics exportparts=${exported}
      .client=${this.client}
      .dashboardId=${this.dashboardId}
      .actions=${this.actions}
      .format=${this.view.format}
      .textOf=${this.#textOf}
      @open=${({ detail }: CustomEvent<Opened>) => this.#begin(detail)}
      @done=${this.#done}
    ></guestlist-own-metrics>`;
  }

  #panel(): TemplateResult | typeof nothing {
    if (this.fields === null) return nothing;
    const { opened } = this;
    const panel = html`<guestlist-editor-panel exportparts=${exported}
      .catalogue=${this.fields}
      .client=${this.client}
      .dashboardId=${this.dashboardId}
      .view=${this.view}
      .authoring=${this.authoring}
      .save=${opened?.save}
      .initial=${(opened ?? this).initial}
      .textOf=${this.#textOf}
      @guestlist-saved=${this.#saved}
    ></guestlist-editor-panel>`;
    return html`${keyed(this.#begun, panel)}`;
  }

  readonly #textOf = (error: unknown): string => failureText(error, this.view.format.text);

  #begin(opened: Opened | undefined): void {
    this.#begun += 1;
    this.opened = opened;
  }

  /** What is edited was archived, deleted or published: it is read again before it is changed. */
  readonly #done = ({ detail }: CustomEvent<string>): void => {
    if (this.opened?.metricId === detail) this.#begin(undefined);
  };

  /** What was changed is read again before it is changed again. */
  readonly #saved = (): void => {
    this.querySelector<OwnMetrics>('guestlist-own-metrics')?.refresh();
    if (this.opened !== undefined) this.#begin(undefined);
  };
}
