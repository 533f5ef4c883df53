/** The lines that a host's page needs, with this installation's own origin. */
import { html, type TemplateResult } from 'lit';
import '../parts/session-test.js';
import { link } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { readPolicy } from '../base/viewer.js';

type Facts = {
  readonly allowedOrigins: readonly string[];
  /** Null: the host application says who the user is. An issuer is null where its name is not checked. */
  readonly issuers: readonly (string | null)[] | null;
  readonly cookieName: string | null;
};
type Data = {
  readonly templates: readonly { readonly template: string; readonly name: string }[];
  readonly facts: Facts;
};

const kinds = ['HTML', 'React', 'Next', 'Vue'] as const;
type Kind = (typeof kinds)[number];

const linesOf = (kind: Kind, origin: string, dashboard: string): string => {
  const attributes = `dashboard-id="${dashboard}" token-url="${origin}/embed-token"`;
  switch (kind) {
    case 'HTML':
      return `<script type="module" src="${origin}/elements.js"></script>\n\n<guestlist-dashboard\n  dashboard-id="${dashboard}"\n  token-url="${origin}/embed-token"\n></guestlist-dashboard>`;
    case 'React':
      return `import { GuestlistDashboard } from '@guestlist/elements/react';\n\nexport const Numbers = () => (\n  <GuestlistDashboard dashboardId="${dashboard}" tokenUrl="${origin}/embed-token" serviceUrl="${origin}" />\n);`;
    case 'Next':
      return `'use client';\n\nimport { GuestlistDashboard } from '@guestlist/elements/react';\n\nexport default function Numbers() {\n  return <GuestlistDashboard dashboardId="${dashboard}" tokenUrl="${origin}/embed-token" serviceUrl="${origin}" />;\n}`;
    case 'Vue':
      return `<script setup>\nimport '@guestlist/elements';\n</script>\n\n<template>\n  <guestlist-dashboard ${attributes} service-url="${origin}" />\n</template>`;
  }
};

const originsText = ({ allowedOrigins }: Facts): TemplateResult => html`${
  allowedOrigins.length === 0
    ? html`Only pages of ${location.origin} may ask for a token now.`
    : html`Pages of ${allowedOrigins.map((origin) => html`<code>${origin}</code> `)}and of ${location.origin} may ask for a token.`
}
  Name others in <code>gateway.allowedOrigins</code> (<code>GUESTLIST_ALLOWED_ORIGINS</code>).`;

const sessionsText = ({ issuers, cookieName }: Facts): TemplateResult => {
  if (issuers === null) return html`Your application says who the user is (<code>identify</code>).`;
  if (issuers.length === 0) return html`No session is accepted yet: configure <code>gateway.session</code>.`;
  const names = issuers.map((issuer) => (issuer === null ? html`any issuer ` : html`<code>${issuer}</code> `));
  return html`Signed by ${names}and sent as Bearer${cookieName === null ? '' : html` or in the cookie <code>${cookieName}</code>`}:
    <code>gateway.session</code>.`;
};

class EmbedScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, kind: { state: true } };
  declare kind: Kind;

  constructor() {
    super();
    this.kind = 'HTML';
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const [{ templates }, facts] = await Promise.all([
      readPolicy(this.api, signal),
      this.api.command<Facts>('embed-facts', {}, signal),
    ]);
    return { templates, facts };
  }

  protected override content({ templates, facts }: Data): TemplateResult {
    const wanted = this.place.query.get('dashboard');
    const dashboard = templates.find(({ template }) => template === wanted)?.template ?? templates[0]?.template;
    if (dashboard === undefined)
      return html`<div class="empty"><h2>Nothing to embed yet</h2><p>Name a dashboard under templates in the policy.</p>${link(addressOf('policy'), 'Open the policy')}</div>`;
    const text = linesOf(this.kind, location.origin, dashboard);
    return html`<div class="head"><h1>Embed</h1><p>Put these lines into a page of your product. The page’s user must be logged in to your product.</p></div>
      <section class="card">
        <div class="toolbar">
          <label>Dashboard <select @change=${this.#choose}>${templates.map(({ template, name }) => html`<option value=${template} ?selected=${template === dashboard}>${name}</option>`)}</select></label>
          <label>Page <select @change=${this.#change}>${kinds.map((kind) => html`<option ?selected=${kind === this.kind}>${kind}</option>`)}</select></label>
          <span class="gap"></span>
          <button type="button" class="quiet" @click=${() => void this.#copy(text)}>Copy</button>
        </div>
        <pre tabindex="0"><code>${text}</code></pre>
      </section>
      <studio-session-test></studio-session-test>
      <section class="card">
        <h2>Before the first page</h2>
        <dl>
          <dt>Origins of your pages</dt><dd>${originsText(facts)}</dd>
          <dt>Sessions</dt><dd>${sessionsText(facts)}</dd>
        </dl>
      </section>`;
  }

  readonly #choose = (event: Event): void => {
    const url = new URL(location.href);
    url.searchParams.set('dashboard', (event.target as HTMLSelectElement).value);
    history.replaceState(null, '', url);
    this.place = { ...this.place, query: url.searchParams };
  };

  readonly #change = (event: Event): void => {
    const { value } = event.target as HTMLSelectElement;
    this.kind = kinds.find((kind) => kind === value) ?? 'HTML';
  };

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.notice = { text: 'The lines are copied.', isBad: false };
    } catch {
      this.notice = { text: 'The browser does not let this page copy. Select the lines and copy them.', isBad: true };
    }
  }
}

customElements.define('studio-embed', EmbedScreen);
