/** Search over all of Studio: pages, and what the server finds for this person's roles. Every result is a link. */

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import { matcher } from '../../base/search.js';
import { type Answer, type Api, hasRole } from '../base/api.js';
import { addressOf, entries, navigate } from '../base/routes.js';
import { textOf } from '../base/screen.js';

export type Group = Answer<'search'>['groups'][number];
export type Hit = Group['hits'][number];

const titles: Readonly<Record<string, string>> = {
  page: 'Pages',
  tenant: 'Tenants',
  dashboard: 'Dashboards',
  metric: 'Charts',
  source: 'Sources',
  model: 'Models',
  token: 'Guest tokens',
  schedule: 'Reports and alerts',
  'tenant-report': 'Reports and alerts to all tenants',
  template: 'Templates',
  rollout: 'Roll-outs',
  audit: 'Audit',
};

/** Where a result leads. Undefined for a kind of a newer server. */
const addressOfHit = (kind: string, { id, name, within = '', workspace = '' }: Hit): string | undefined => {
  switch (kind) {
    case 'page':
      return addressOf(id);
    case 'tenant':
      return addressOf('tenants', [id]);
    case 'dashboard':
      return addressOf('dashboards', [id], { workspace });
    case 'metric':
      return addressOf('dashboards', [within], { workspace, tab: 'metrics' });
    case 'source':
      return addressOf('sources', [id]);
    case 'model':
      return addressOf('models', [id]);
    case 'token':
      return addressOf('tokens', [], { tenant: within });
    case 'schedule':
      return addressOf('deliveries', [], { tenant: within, search: name });
    case 'tenant-report':
      return addressOf('tenant-reports', [id]);
    case 'template':
      return addressOf('rollouts', [], { template: id });
    case 'rollout':
      return addressOf('rollouts', [id]);
    case 'audit':
      return addressOf('audit', [], { entry: id });
    default:
      return undefined;
  }
};

const waitMs = 150;

class SearchPart extends LitElement {
  static override properties = {
    api: { attribute: false },
    groups: { state: true },
    text: { state: true },
    state: { state: true },
  };
  declare api: Api;
  declare groups: readonly Group[];
  declare text: string;
  /** What is to be said instead of results. */
  declare state: string;
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #gone = new AbortController();

  constructor() {
    super();
    this.#clear();
  }

  #clear(): void {
    this.text = '';
    this.groups = [];
    this.state = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#key, { signal: this.#gone.signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
    this.#asking.abort();
    clearTimeout(this.#timer);
  }

  readonly #key = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    this.#open();
  };

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog');
  }

  #open(): void {
    // Over another dialog, a second one would take what the first one asks.
    if (document.querySelector('dialog[open]') !== null) return;
    this.#dialog?.showModal();
    this.querySelector('input')?.select();
  }

  readonly #typed = (event: Event): void => {
    this.text = (event.target as HTMLInputElement).value;
    clearTimeout(this.#timer);
    this.#asking.abort();
    if (this.text.trim() === '') this.#clear();
    else this.#timer = setTimeout(() => void this.#ask(), waitMs);
  };

  async #ask(): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    this.state = 'Searching…';
    try {
      const { groups } = await this.api.command('search', { q: this.text.trim() }, asking.signal);
      if (asking.signal.aborted) return;
      this.groups = [...this.#pages(), ...groups];
      const count = this.groups.reduce((sum, { hits }) => sum + hits.length, 0);
      const isCut = this.groups.some(({ next }) => next !== null);
      const none = isCut ? 'Nothing was found yet.' : `Nothing contains “${this.text.trim()}”.`;
      this.state = count === 0 ? none : counted(count, 'result');
    } catch (error) {
      if (asking.signal.aborted) return;
      this.groups = this.#pages();
      this.state = textOf(error);
    }
  }

  /** The pages that the menu shows to this person. */
  #pages(): readonly Group[] {
    const isWanted = matcher(this.text);
    const hits = entries
      .filter(({ roles }) => hasRole(this.api.session, ...roles))
      .filter(({ title, group }) => isWanted(`${title} ${group ?? ''}`))
      .map(({ path, title, group }) => ({ id: path, name: title, detail: group ?? '' }));
    return hits.length === 0 ? [] : [{ kind: 'page', hits, next: null, isAway: false }];
  }

  async #more({ kind, next }: Group): Promise<void> {
    const asking = this.#asking;
    try {
      const query = { q: this.text.trim(), kind, after: next ?? '' };
      const { groups } = await this.api.command('search', query, asking.signal);
      const [page] = groups;
      if (asking.signal.aborted || page === undefined) return;
      this.groups = this.groups.map((group) =>
        group.kind === kind ? { ...page, hits: [...group.hits, ...page.hits] } : group,
      );
    } catch (error) {
      if (!asking.signal.aborted) this.state = textOf(error);
    }
  }

  /** Arrows move between the field and the results; Tab does too. */
  readonly #move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const stops = [...this.querySelectorAll<HTMLElement>('dialog input, dialog .hits a, dialog .hits button')];
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      stops.find((stop) => stop instanceof HTMLAnchorElement)?.click();
    }
    if (step === 0) return;
    event.preventDefault();
    const at = stops.indexOf(document.activeElement as HTMLElement);
    stops[Math.min(stops.length - 1, Math.max(0, at + step))]?.focus();
  };

  readonly #follow = (event: MouseEvent): void => {
    const anchor = event.currentTarget;
    if (!(anchor instanceof HTMLAnchorElement)) return;
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.#dialog?.close();
    navigate(anchor.pathname + anchor.search);
  };

  protected override render(): TemplateResult {
    return html`<button type="button" class="search" aria-keyshortcuts="Control+K Meta+K" @click=${() => this.#open()}>
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" /></svg>
        <span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <dialog class="search" aria-label="Search" @keydown=${this.#move}>
        <form method="dialog">
          <input type="search" aria-label="Search all of Studio" placeholder="Search tenants, tokens, dashboards, metrics…"
            autocomplete="off" maxlength="200" .value=${this.text} @input=${this.#typed} />
          <button class="quiet">Close</button>
        </form>
        <p role="status" class="soft">${this.state}</p>
        <div class="hits">${this.groups.map((group) => this.#group(group))}</div>
      </dialog>`;
  }

  #group(group: Group): TemplateResult {
    const { kind, hits, next, isAway } = group;
    const title = titles[kind] ?? kind;
    return html`<section aria-label=${title}>
      <h2 class="kind">${title}</h2>
      ${isAway ? html`<p class="soft">These cannot be searched now.</p>` : nothing}
      <ul>${hits.map((hit) => {
        const address = addressOfHit(kind, hit);
        if (address === undefined) return nothing;
        return html`<li><a href=${address} @click=${this.#follow}>${hit.name}
          <span class="soft">${hit.detail}</span></a></li>`;
      })}</ul>
      ${hits.length === 0 && next !== null ? html`<p class="soft">Nothing was found in the entries that were searched so far.</p>` : nothing}
      ${next === null ? nothing : html`<button type="button" class="text" @click=${() => void this.#more(group)}>${hits.length === 0 ? 'Search older ones in' : 'More'} ${title.toLowerCase()}</button>`}
    </section>`;
  }
}

customElements.define('studio-search', SearchPart);
