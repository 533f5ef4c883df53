/** Whether tenants have what is saved in a template, and what they would get. */

import { html, LitElement, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import type { Api } from '../base/api.js';
import { readHistory, type TemplateHistory } from '../base/editions.js';
import { textOf } from '../base/screen.js';

class DraftState extends LitElement {
  static override properties = {
    api: { attribute: false },
    template: {},
    digest: {},
    history: { state: true },
    failure: { state: true },
  };
  declare api: Api;
  declare template: string;
  /** Changes with the content: then it is read anew. */
  declare digest: string;
  /** Undefined until it is read. Null: no tenant gets the dashboard. */
  declare history: TemplateHistory | null | undefined;
  declare failure: string | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (changes.has('template') || changes.has('digest')) void this.#read();
  }

  async #read(): Promise<void> {
    const { digest } = this;
    try {
      const history = await readHistory(this.api, this.template);
      if (digest === this.digest) [this.history, this.failure] = [history, undefined];
    } catch (error) {
      this.failure = textOf(error);
    }
  }

  protected override render(): TemplateResult {
    const { history, failure } = this;
    if (failure !== undefined) return html`<span class="soft" title=${failure}>Draft</span>`;
    if (history === undefined) return html`<span class="soft">Draft…</span>`;
    if (history === null) return html`<span class="soft">The policy does not name this dashboard</span>`;
    if (history.published === null) return html`<span class="soft">No tenant has this dashboard yet</span>`;
    const { length } = history.unpublished;
    if (length === 0) return html`<span class="soft">Tenants have the current edition</span>`;
    return html`<details class="pop"><summary class="quiet">Draft: ${counted(length, 'change')}</summary>
      <div class="popped"><p>Tenants get these by a roll-out:</p><ul>${history.unpublished.map((text) => html`<li>${text}</li>`)}</ul></div>
    </details>`;
  }
}

customElements.define('studio-draft-state', DraftState);
