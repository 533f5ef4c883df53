/** Entry point of Studio: logs in, then shows the screen that the address names. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { html as ofTag, unsafeStatic } from 'lit/static-html.js';
import { type Api, createApi, hasRole, offersOpenId, readSession, redeemCode, type Session } from './base/api.js';
import { followed } from './base/kit.js';
import { addressOf, entries, navigate, type Place, placeOf, type ScreenName, watchAddress } from './base/routes.js';
import { textOf } from './base/screen.js';
import { startTenantNames } from './base/tenant-names.js';
import { forgetOthersViewers } from './base/viewer.js';
import './parts/search.js';
import './parts/view-as.js';

/** Each screen is a chunk, loaded when it is first opened. */
const screens: Readonly<Record<ScreenName, () => Promise<unknown>>> = {
  overview: () => import('./screens/overview.js'),
  start: () => import('./screens/start.js'),
  sources: () => import('./screens/sources.js'),
  model: () => import('./screens/model.js'),
  dashboards: () => import('./screens/dashboards.js'),
  dashboard: () => import('./screens/dashboard.js'),
  publish: () => import('./screens/publish.js'),
  policies: () => import('./screens/policies.js'),
  embed: () => import('./screens/embed.js'),
  tenants: () => import('./screens/tenants.js'),
  tokens: () => import('./screens/tokens.js'),
  keys: () => import('./screens/keys.js'),
  audit: () => import('./screens/audit.js'),
  queries: () => import('./screens/queries.js'),
  'tenant-reports': () => import('./screens/tenant-reports.js'),
  deliveries: () => import('./screens/deliveries.js'),
  system: () => import('./screens/system.js'),
};

const codeInAddress = (): string | null => /^#code=(.+)$/.exec(location.hash)?.[1] ?? null;

const loginTroubles: Readonly<Record<string, string>> = {
  '#login=no-role': 'You have no role in Studio. Ask the operator of this installation for one.',
  '#login=away': 'The login service cannot be reached now. Try again shortly.',
  '#login=failed': 'The login did not succeed. Begin it again.',
};

/** Why a login by OpenID Connect led back without a session. Null: none was tried. */
const loginTrouble = (): string | null =>
  Object.hasOwn(loginTroubles, location.hash) ? (loginTroubles[location.hash] ?? null) : null;

class Studio extends LitElement {
  static override properties = {
    api: { state: true },
    trouble: { state: true },
    isLoading: { state: true },
    isOpenId: { state: true },
    loaded: { state: true },
  };
  declare api: Api | null;
  declare trouble: string | null;
  declare isLoading: boolean;
  /** Whether people log in by OpenID Connect. */
  declare isOpenId: boolean;
  /** The screens whose code is there. */
  declare loaded: ReadonlySet<ScreenName>;
  readonly #gone = new AbortController();

  constructor() {
    super();
    this.api = null;
    this.trouble = null;
    this.isLoading = true;
    this.isOpenId = false;
    this.loaded = new Set();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    watchAddress(() => this.#opened(), this.#gone.signal);
    void this.#enter();
  }

  async #enter(): Promise<void> {
    const code = codeInAddress();
    this.trouble = loginTrouble();
    // Out of the address and the history before anything else happens.
    if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
    try {
      this.#loggedIn(code === null ? await readSession() : await redeemCode(code));
    } catch (error) {
      const session = code === null ? null : await readSession().catch(() => null);
      if (session === null) this.trouble = textOf(error);
      this.#loggedIn(session);
    }
    if (this.api === null) this.isOpenId = await offersOpenId().catch(() => false);
    this.isLoading = false;
  }

  #loggedIn(session: Session | null): void {
    this.api = session === null ? null : createApi(session, () => this.#ended());
    startTenantNames(this.api);
    if (session === null) return;
    forgetOthersViewers(session.person);
    this.#opened();
  }

  #ended(): void {
    this.api = null;
    startTenantNames(null);
    this.trouble = 'Your session has ended. Log in again; nothing that was saved is lost.';
  }

  #opened(): void {
    const screen = placeOf(new URL(location.href))?.screen;
    this.requestUpdate();
    if (screen === undefined || this.loaded.has(screen)) return;
    screens[screen]().then(
      () => {
        this.loaded = new Set([...this.loaded, screen]);
      },
      () => {
        this.trouble = 'This screen could not be loaded. Reload the page.';
      },
    );
  }

  async #logOut(everywhere: boolean): Promise<void> {
    try {
      await this.api?.logOut(everywhere);
      this.api = null;
      startTenantNames(null);
      forgetOthersViewers(null);
      this.trouble = null;
    } catch (error) {
      this.trouble = textOf(error);
    }
  }

  /** On a narrow page the navigation is one line: it shows where the reader is. */
  protected override updated(): void {
    const here = this.querySelector('.side a[aria-current="page"]');
    const side = here?.closest('.side');
    if (here == null || side == null || side.scrollWidth <= side.clientWidth) return;
    const [own, around] = [here.getBoundingClientRect(), side.getBoundingClientRect()];
    side.scrollLeft += own.left + own.width / 2 - (around.left + around.width / 2);
  }

  protected override render(): TemplateResult {
    if (this.isLoading) return html`<p class="boot">Loading…</p>`;
    return this.api === null ? this.#stranger() : this.#inside(this.api);
  }

  #stranger(): TemplateResult {
    return html`<main class="stranger">
      <h1>Guestlist Studio</h1>
      ${this.trouble === null ? nothing : html`<p class="notice bad" role="alert">${this.trouble}</p>`}
      ${
        this.isOpenId
          ? html`<p><a class="button" href="/studio/login">Log in</a></p>
            <p>Or open a login link, which an operator makes:</p>`
          : html`<p>Open the login link that the server printed when it started, or make a new one:</p>`
      }
      <pre tabindex="0"><code>guestlist studio-link</code></pre>
      <p class="soft">A link works once. Who runs this command needs the gateway token of the installation.</p>
    </main>`;
  }

  #inside(api: Api): TemplateResult {
    const place = placeOf(new URL(location.href));
    const current = entries.find(
      ({ screen }) => screen === (place?.screen === 'dashboard' ? 'dashboards' : place?.screen),
    );
    document.title = current === undefined ? 'Guestlist Studio' : `${current.title} · Guestlist Studio`;
    return html`<a class="skip" href="#main" @click=${skipped}>Skip to content</a>
      <header class="top">
        <a class="brand" href="/studio" @click=${followed}><span aria-hidden="true" class="mark"></span>Studio</a>
        <span class="gap"></span>
        <studio-search .api=${api}></studio-search>
        ${place?.screen === 'dashboard' ? nothing : html`<studio-view-as .api=${api}></studio-view-as>`}
        ${this.#account(api)}
      </header>
      <nav class="side" aria-label="Studio">${groups.map((group) => this.#group(api, group, current?.screen))}</nav>
      <main id="main" tabindex="-1">
        ${this.trouble === null ? nothing : html`<p class="notice bad" role="alert">${this.trouble}</p>`}
        ${place === undefined ? nowhere : this.loaded.has(place.screen) ? screenOf(place.screen, api, place) : nothing}
      </main>`;
  }

  #group(api: Api, group: (typeof groups)[number], current: ScreenName | undefined): TemplateResult | typeof nothing {
    const own = entries.filter((entry) => entry.group === group && hasRole(api.session, ...entry.roles));
    if (own.length === 0) return nothing;
    return html`${group === null ? nothing : html`<h2>${group}</h2>`}
      <ul>
        ${own.map(
          ({ path, title, screen }) => html`<li>
            <a href=${addressOf(path)} aria-current=${screen === current ? 'page' : 'false'} @click=${followed}>${title}</a>
          </li>`,
        )}
      </ul>`;
  }

  #account({ session }: Api): TemplateResult {
    const { name, roles, seesData } = session.person;
    return html`<button type="button" class="account" popovertarget="account">${name}</button>
      <div id="account" popover class="menu">
        <p><strong>${name}</strong><br />${roles.join(', ')}${seesData ? '' : ', without data of tenants'}</p>
        <button type="button" @click=${() => void this.#logOut(false)}>Log out</button>
        <button type="button" @click=${() => void this.#logOut(true)}>Log out everywhere</button>
      </div>`;
  }
}

const groups = [null, 'Build', 'Publish', 'Operate'] as const;

const skipped = (event: Event): void => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};

const nowhere = html`<div class="empty">
  <p>There is no such page in Studio.</p>
  <button type="button" @click=${() => navigate(addressOf(''))}>Go to the overview</button>
</div>`;

/** Each screen defines the element of its name. */
const screenOf = (screen: ScreenName, api: Api, place: Place): TemplateResult => {
  const tag = unsafeStatic(`studio-${screen}`);
  return ofTag`<${tag} .api=${api} .place=${place}></${tag}>`;
};

customElements.define('guestlist-studio', Studio);
