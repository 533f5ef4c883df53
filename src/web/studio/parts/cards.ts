/** Which cards of a dashboard each kind of user cannot see, and why, before it is published. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Answer, Api } from '../base/api.js';
import { type Cards, howMany, isWhole, whoIs, whyClosed } from '../base/card-words.js';
import { badge, link } from '../base/kit.js';
import { Part } from '../base/part.js';
import { addressOf } from '../base/routes.js';
import { textOf } from '../base/screen.js';
import { watchTenantNames } from '../base/tenant-names.js';
import { askedAs, nameOf, readViewer, type Viewer, watchViewer } from '../base/viewer.js';

type Checked = Answer<'cards-check'>;

export class CardsCheck extends Part {
  static override properties = {
    api: { attribute: false },
    template: {},
    isOpen: { type: Boolean },
    result: { state: true },
    failure: { state: true },
  };
  declare api: Api;
  /** The id of the template. */
  declare template: string;
  /** Nothing is asked before it is opened. */
  declare isOpen: boolean;
  declare result: { readonly checked: Checked; readonly viewer: Viewer | null } | undefined;
  declare failure: string | null;

  override connectedCallback(): void {
    super.connectedCallback();
    watchTenantNames(() => this.requestUpdate(), this.gone);
    watchViewer(() => void this.#check(), this.gone);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('template') || changed.has('isOpen')) void this.#check();
  }

  async #check(): Promise<void> {
    if (this.isOpen !== true) return;
    const signal = this.gone;
    // Of a chosen user, the answer depends on claims.
    const viewer = this.api.session.person.seesData ? readViewer() : null;
    this.failure = null;
    try {
      const asked = { template: this.template, ...(viewer === null ? {} : { viewer: askedAs(viewer) }) };
      this.result = { checked: await this.api.command('cards-check', asked, signal), viewer };
    } catch (error) {
      if (!signal.aborted) this.failure = textOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`<details class="card" ?open=${this.isOpen} @toggle=${this.#toggle}>
      <summary>Who can’t see which cards?</summary>
      <p class="soft">From the policy, the model and this dashboard alone: no row was read.</p>
      <div role="status">${this.#inside()}</div>
    </details>`;
  }

  readonly #toggle = ({ target }: Event): void => {
    if (target instanceof HTMLDetailsElement && target.matches('.card')) this.isOpen = target.open;
  };

  #inside(): TemplateResult {
    const { result, failure } = this;
    const again = html`<button type="button" class="quiet" @click=${() => void this.#check()}>Try again</button>`;
    if (failure != null) return html`<p class="notice bad">${failure}</p>${again}`;
    if (result === undefined)
      return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><i></i><i></i></div>`;
    const { checked, viewer } = result;
    if (checked.profiles === null)
      return html`<p>The analytics service cannot say it, or does not have this dashboard.</p>`;
    return html`${viewer === null ? nothing : this.#viewer(checked, viewer)}${this.#profiles(checked.profiles)}`;
  }

  #viewer({ viewer: seen }: Checked, viewer: Viewer): TemplateResult | typeof nothing {
    if (seen === null) return nothing;
    const who = `As ${nameOf(viewer)}`;
    return 'denied' in seen
      ? html`<p>${who}, nothing can be shown: ${seen.denied}</p>`
      : html`<ul class="closed">${this.#of(who, seen)}</ul>`;
  }

  #profiles(profiles: NonNullable<Checked['profiles']>): TemplateResult {
    if (profiles.length === 0)
      return html`<p>The policy has no restriction for users of this dashboard. ${link(addressOf('policy'), 'Open the policy')}</p>`;
    const sorted = profiles.toSorted((a, b) => Number(isWhole(a.cards)) - Number(isWhole(b.cards)));
    return html`<ul class="closed">${sorted.map((profile) => this.#of(whoIs(profile), profile.cards))}</ul>`;
  }

  #of(who: string, cards: Cards): TemplateResult {
    const { refused, refusal } = cards;
    const text = html`${who}, ${howMany(cards)}`;
    if (isWhole(cards)) return html`<li class="profile">${badge('all', 'good')} ${text}.</li>`;
    return html`<li class="profile"><details><summary class="profile-line">${badge(refusal === null ? `${refused.length}` : 'none', 'warn')} ${text}</summary>
      ${refusal === null ? nothing : html`<p>${refusal}</p>`}
      <ul>${refused.map((card) => html`<li><strong>${card.name}:</strong> <span>${whyClosed(card)}</span></li>`)}</ul>
    </details></li>`;
  }
}

customElements.define('studio-cards', CardsCheck);
