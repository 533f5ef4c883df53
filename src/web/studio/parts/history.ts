/** The editions of a template, newest first: who made each, what it changed, and who has it. Any can be brought back. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Api } from '../base/api.js';
import { type Edition, personIn, readHistory, type TemplateHistory } from '../base/editions.js';
import { badge, link, moment } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { textOf } from '../base/screen.js';

export class History extends LitElement {
  static override properties = {
    api: { attribute: false },
    template: {},
    digest: {},
    mayRestore: { type: Boolean },
    history: { state: true },
    failure: { state: true },
  };
  declare api: Api;
  declare template: string;
  /** Changes with the content: then the history is read anew. */
  declare digest: string;
  declare mayRestore: boolean;
  /** Undefined until it is read. Null: there is none. */
  declare history: TemplateHistory | null | undefined;
  declare failure: string | null;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (changes.has('template') || changes.has('digest')) void this.#read();
  }

  async #read(): Promise<void> {
    try {
      this.history = await readHistory(this.api, this.template);
      this.failure = null;
    } catch (error) {
      this.failure = textOf(error);
    }
  }

  protected override render(): TemplateResult {
    const { failure, history } = this;
    if (failure != null) return html`<div class="failure" role="alert"><p>${failure}</p></div>`;
    if (history === undefined)
      return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><i></i><i></i></div>`;
    if (history === null)
      return html`<div class="empty"><h2>No history</h2><p>The policy does not name this dashboard as a template, so no tenant gets it.</p></div>`;
    const published = history.editions.find(({ version }) => version === history.newCopies);
    return html`${unpublishedOf(history)}
      <ol class="editions">${history.editions.map((edition, index) => this.#edition(edition, index === 0, edition === published))}</ol>
      ${history.hasMore ? html`<p class="soft">Older ones: <code>guestlist tenants history ${this.template} --limit 100</code></p>` : nothing}`;
  }

  #edition(edition: Edition, isCurrent: boolean, isPublished: boolean): TemplateResult {
    const { number, label, at, by, changes, copies, rollouts } = edition;
    return html`<li class="card">
      <div class="head">
        <h2>Edition ${number}${label === null ? '' : `: ${label}`}</h2>
        ${isCurrent ? badge('current') : nothing} ${isPublished ? badge('published: new tenants get it', 'good') : nothing} ${copies > 0 ? badge(copies === 1 ? 'in 1 copy' : `in ${copies} copies`, 'good') : nothing}
        <span class="gap"></span>
        ${
          this.mayRestore && !isCurrent
            ? html`<button type="button" class="quiet" @click=${() => this.#restore(edition)}>Bring edition ${number} back</button>`
            : nothing
        }
      </div>
      <p class="soft">${moment(at)}, by ${personIn(by)}</p>
      ${changes.length === 0 ? nothing : html`<ul>${changes.map((text) => html`<li>${text}</li>`)}</ul>`}
      ${rollouts.map(
        ({ id, state, startedBy }) =>
          html`<p class="soft">${link(addressOf('rollouts', [id]), 'Roll-out')} by ${personIn(startedBy)}: ${state}</p>`,
      )}
    </li>`;
  }

  #restore({ number, version }: Edition): void {
    this.dispatchEvent(new CustomEvent('restore', { detail: { number, version } }));
  }
}

/** What no tenant has yet. */
const unpublishedOf = ({ published, unpublished, newCopies }: TemplateHistory): TemplateResult => {
  if (published === null)
    return html`<p class="soft">No tenant has a copy that is known to come from this template yet.</p>`;
  if (unpublished.length === 0)
    return html`<p class="soft">${newCopies === null ? 'Most tenants have the current edition.' : 'The current edition is published.'}</p>`;
  return html`<section class="card"><h2>Not rolled out yet</h2>
    <p class="soft">${newCopies === null ? 'New tenants get the current edition all the same, until one is rolled out to all tenants.' : 'No tenant sees these changes, nor does a new one.'}</p>
    <ul>${unpublished.map((text) => html`<li>${text}</li>`)}</ul></section>`;
};

customElements.define('studio-history', History);
