/** The lines for a host's page, with what they may be for. The choices are part of the address. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { type EmbedFacts, linesOf, pageKinds } from '../base/embed-lines.js';
import { addressChoice } from '../base/kit.js';
import type { PolicyFacts } from '../base/viewer.js';

type Data = {
  readonly templates: PolicyFacts['templates'];
  readonly facts: EmbedFacts;
};

/** What the lines may be for. Each choice is part of the address. */
const choicesIn = ({ templates, facts }: Data, query: URLSearchParams) => {
  const { allowedOrigins, publicOrigin, issuers, cookieName } = facts;
  const origin = publicOrigin ?? location.origin;
  const pages = [...new Set([...allowedOrigins, origin])];
  const signers = issuers ?? [];
  const ways = cookieName === null ? [] : ['cookie', 'token'];
  const wanted = (name: string, all: readonly (string | null)[]) =>
    all.find((one) => (one ?? 'any') === query.get(name)) ?? all[0];
  return {
    origin,
    pages,
    signers,
    ways,
    dashboard: wanted(
      'dashboard',
      templates.map(({ template }) => template),
    ),
    kind: pageKinds.find((kind) => kind === query.get('kind')) ?? 'HTML',
    page: wanted('page', pages) ?? origin,
    issuer: wanted('issuer', signers) ?? null,
    way: wanted('session', ways) ?? 'token',
  };
};

const originsText = ({ allowedOrigins, publicOrigin }: EmbedFacts): TemplateResult => html`${
  allowedOrigins.length === 0
    ? html`Only pages of ${publicOrigin ?? location.origin} may ask for a token now.`
    : html`Pages of ${allowedOrigins.map((origin) => html`<code>${origin}</code> `)}and of ${publicOrigin ?? location.origin} may ask for a token.`
}
  Name others in <code>gateway.allowedOrigins</code> (<code>GUESTLIST_ALLOWED_ORIGINS</code>).`;

const sessionsText = ({ issuers, cookieName }: EmbedFacts): TemplateResult => {
  if (issuers === null) return html`Your application says who the user is (<code>identify</code>).`;
  if (issuers.length === 0) return html`No session is accepted yet: configure <code>gateway.session</code>.`;
  const names = issuers.map((issuer) => (issuer === null ? html`any issuer ` : html`<code>${issuer}</code> `));
  return html`Signed by ${names}and sent as Bearer${cookieName === null ? '' : html` or in the cookie <code>${cookieName}</code>`}:
    <code>gateway.session</code>.`;
};

export class EmbedCode extends LitElement {
  static override properties = {
    templates: { attribute: false },
    facts: { attribute: false },
    query: { attribute: false },
    copied: { state: true },
  };
  /** At least one. */
  declare templates: PolicyFacts['templates'];
  declare facts: EmbedFacts;
  /** The query of the address. */
  declare query: URLSearchParams;
  /** What became of the last copy. */
  declare copied: string;

  constructor() {
    super();
    this.copied = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { facts } = this;
    const chosen = choicesIn(this, this.query);
    const { dashboard, kind, page, issuer, way, origin } = chosen;
    if (dashboard == null) return nothing;
    const cookieName = way === 'cookie' ? facts.cookieName : null;
    const text = linesOf({
      ...{ kind, dashboard, origin, page, issuer, cookieName },
      serviceUrl: facts.serviceUrl ?? origin,
    });
    return html`<section class="card">
        ${this.#choices(this, chosen, text)}
        <p class="soft" role="status">${this.copied}</p>
        <pre tabindex="0"><code>${text}</code></pre>
        ${
          cookieName !== null && page !== origin
            ? html`<p class="soft">Browsers send the cookie only where ${page} and ${origin} are of one site, such as <code>app.example.com</code> and <code>data.example.com</code>.</p>`
            : nothing
        }
      </section>
      <section class="card">
        <h2>Before the first page</h2>
        <dl>
          <dt>Origins of your pages</dt><dd>${originsText(facts)}</dd>
          <dt>Sessions</dt><dd>${sessionsText(facts)}</dd>
        </dl>
      </section>`;
  }

  #choices({ templates, facts }: Data, chosen: ReturnType<typeof choicesIn>, text: string): TemplateResult {
    const { dashboard, kind, page, issuer, way, ...offered } = chosen;
    const itself = (one: string) => [one, one] as const;
    return html`<div class="toolbar narrowing">
          ${addressChoice(
            'dashboard',
            'Dashboard',
            templates.map(({ template, name }) => [template, name] as const),
            dashboard ?? '',
          )}
          ${addressChoice('kind', 'Page', pageKinds.map(itself), kind)}
          ${offered.pages.length < 2 ? nothing : addressChoice('page', 'Origin of the page', offered.pages.map(itself), page)}
          ${
            offered.signers.length < 2
              ? nothing
              : addressChoice(
                  'issuer',
                  'Issuer of the session',
                  offered.signers.map((one) => itself(one ?? 'any')),
                  issuer ?? 'any',
                )
          }
          ${
            offered.ways.length < 2
              ? nothing
              : addressChoice(
                  'session',
                  'Session',
                  [
                    ['cookie', `in the cookie ${facts.cookieName}`],
                    ['token', 'sent by the page'],
                  ],
                  way,
                )
          }
          <span class="gap"></span>
          <button type="button" class="quiet" @click=${() => void this.#copy(text)}>Copy</button>
        </div>`;
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.copied = 'The lines are copied.';
    } catch {
      this.copied = 'The browser does not let this page copy. Select the lines and copy them.';
    }
  }
}

customElements.define('studio-embed-code', EmbedCode);
