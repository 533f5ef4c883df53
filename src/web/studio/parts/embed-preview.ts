/** The embedded dashboard as users of some tenants see it. The views are read-only. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { options } from '../../base/options.js';
import type { Api, View } from '../base/api.js';
import { loadElements } from '../base/elements.js';
import { textOf } from '../base/screen.js';
import { openView, type Viewer } from '../base/viewer.js';

export class EmbedPreview extends LitElement {
  static override properties = {
    api: { attribute: false },
    template: {},
    viewers: { attribute: false },
    at: { state: true },
    view: { state: true },
    problem: { state: true },
  };
  declare api: Api;
  declare template: string;
  declare viewers: readonly { readonly label: string; readonly viewer: Viewer }[];
  /** The place of the chosen user among the viewers. */
  declare at: number;
  declare view: View | undefined;
  declare problem: string;
  #asked: Viewer | undefined;

  constructor() {
    super();
    this.at = 0;
    this.viewers = [];
    this.problem = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override updated(): void {
    const viewer = this.viewers[this.at]?.viewer;
    if (viewer !== undefined && viewer !== this.#asked) void this.#open(viewer);
  }

  async #open(viewer: Viewer): Promise<void> {
    this.#asked = viewer;
    this.view = undefined;
    this.problem = '';
    try {
      const [view] = await Promise.all([openView(this.api, viewer), loadElements()]);
      if (this.#asked === viewer) this.view = view;
    } catch (error) {
      if (this.#asked === viewer) this.problem = textOf(error);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.viewers.length === 0)
      return html`<p class="soft">Press “View as” and open the dashboard to see it as a user: no tenant is known here yet.</p>`;
    const choose = (event: Event): void => {
      this.at = Number((event.target as HTMLSelectElement).value);
    };
    const choices = this.viewers.map(({ label }, at) => [String(at), label] as const);
    return html`<div class="toolbar"><label>Seen by <select @change=${choose}>${options(choices, String(this.at))}</select></label></div>
      ${this.problem === '' ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      ${this.#shown()}`;
  }

  #shown(): TemplateResult | typeof nothing {
    const { view, template } = this;
    if (view === undefined)
      return this.problem === '' ? html`<div class="skeleton" aria-busy="true"><i></i><i></i></div>` : nothing;
    const copy = view.embeds.find(({ id }) => id === template || id.startsWith(`${template}--`));
    if (copy === undefined)
      return html`<p class="soft">This user has no copy of the dashboard yet. It is made at the first login, or when a person with the role publisher or support looks.</p>`;
    const again = (): void => {
      if (this.#asked !== undefined) void this.#open(this.#asked);
    };
    return html`${keyed(
      view.token,
      html`<guestlist-dashboard class="embedded" token=${view.token} service-url=${location.origin + view.serviceUrl}
        dashboard-id=${copy.id} theme="auto" @token-expired=${again}></guestlist-dashboard>`,
    )}`;
  }
}

customElements.define('studio-embed-preview', EmbedPreview);
