/**
 * Base class of both public elements: their common attributes, their client, and how they report failures to the page.
 * Each element keeps its own token, so two elements on a page may use two tokens. The token is stored nowhere else.
 */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { createGuestClient, type GuestClient, GuestError, isRecord } from '../base/client.js';
import { createFormat } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { errorState, loadingState } from '../base/states.js';
import { parseColours, type ThemeName } from '../base/theme.js';
import type { CardView } from './card.js';

export const embedStyles = css`
  :host {
    container-type: inline-size;
  }
  .root {
    position: relative;
    min-height: 120px;
  }
  .waiting {
    height: 360px;
  }
  .content {
    transition: opacity 0.2s;
  }
  .content[inert] {
    opacity: 0.25;
    filter: grayscale(0.6);
  }
  .expired {
    position: absolute;
    z-index: 5;
    inset: 24px 0 auto;
    width: fit-content;
    max-width: calc(100% - 32px);
    margin: 0 auto;
    padding: 16px 24px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-raised);
    box-shadow: 0 12px 32px rgb(0 0 0 / 14%);
    text-align: center;
  }
  .expired p {
    margin: 0;
  }
  .expired strong {
    font-weight: 600;
  }
`;

export abstract class EmbedElement extends LitElement {
  static override properties = {
    token: { type: String },
    serviceUrl: { type: String, attribute: 'service-url' },
    theme: { type: String, reflect: true },
    chartColors: { type: String, attribute: 'chart-colors' },
    language: { type: String },
    options: { attribute: 'options', converter: { fromAttribute: parseOptions } },
    isLoading: { state: true },
    isExpired: { state: true },
    error: { state: true },
  };
  declare token: string | null;
  /** Base URL of the service. Default: `window.dbn.baseUrl`, otherwise the origin of this script. */
  declare serviceUrl: string | null;
  declare theme: ThemeName | null;
  declare chartColors: string | null;
  /** BCP 47 language tag for numbers and dates. Default: the page's language. */
  declare language: string | null;
  declare options: Readonly<Record<string, unknown>>;
  declare isLoading: boolean;
  declare isExpired: boolean;
  declare error: GuestError | undefined;

  /** The client that uses the current token. A new token creates a new client. */
  protected client: GuestClient | undefined;
  readonly #latest = createLatest();
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #schemeChanged = () => this.requestUpdate();
  #view: { readonly key: string; readonly value: CardView } | undefined;

  constructor() {
    super();
    this.theme = 'auto';
    this.options = {};
    this.isLoading = true;
    this.isExpired = false;
  }

  /** Frameworks write the property `dashboardId` as the attribute `dashboardid`. Both spellings of each attribute work. */
  static override get observedAttributes(): string[] {
    // biome-ignore lint/complexity/noThisInStatic: each subclass observes the attributes of its own properties
    const known = super.observedAttributes;
    // biome-ignore lint/complexity/noThisInStatic: as above
    return [...known, ...unhyphenated(this.elementProperties).keys()];
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    const { elementProperties } = this.constructor as typeof EmbedElement;
    super.attributeChangedCallback(unhyphenated(elementProperties).get(name) ?? name, old, value);
  }

  /** The dashboard id or metric id that this element's events carry. */
  protected abstract get embedId(): string | null;
  /**
   * Reads the element's data. Returns a function that stores the result; the caller runs it only if `client` is still the
   * current client.
   */
  protected abstract read(client: GuestClient, signal: AbortSignal): Promise<() => void>;
  /** Drops the data that is shown. */
  protected abstract forget(): void;
  protected abstract get isShown(): boolean;
  protected abstract content(): TemplateResult;
  protected abstract get permissions(): { readonly canSeeRows: boolean; readonly canDownload: boolean };

  override connectedCallback(): void {
    super.connectedCallback();
    this.#scheme.addEventListener('change', this.#schemeChanged);
    if (this.hasUpdated && this.client !== undefined) this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#scheme.removeEventListener('change', this.#schemeChanged);
    this.#latest.cancel();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('token') || changed.has('serviceUrl')) this.#renew();
  }

  override render() {
    return html`<div class="root" aria-busy=${this.isLoading ? 'true' : 'false'}>
      <div class="sr" role="status">${this.isLoading && !this.isShown ? 'Loading' : ''}</div>
      ${this.isExpired ? this.#expired() : null}
      <div class="content" ?inert=${this.isExpired}>${this.#main()}</div>
    </div>`;
  }

  /** Reads again with the current token. The element keeps showing the old data until the answer arrives. */
  protected load(): void {
    const { client } = this;
    if (client === undefined || this.embedId === null) return;
    this.isLoading = true;
    this.error = undefined;
    this.#latest.run(
      (signal) => this.read(client, signal),
      (show) => {
        show();
        this.isLoading = false;
      },
      (error) => this.#failed(error, client),
    );
  }

  /** Reports a failure to the page by an event. Returns true if the element shows the failure itself (the token has expired). */
  protected readonly onFailure = (error: GuestError, client: GuestClient, metricId?: string): boolean => {
    if (client !== this.client) return true;
    if (error.code === 'TOKEN_EXPIRED') {
      this.#expire();
      return true;
    }
    const { code, message, status } = error;
    this.#tell('guestlist-error', { code, message, status, dashboardId: this.embedId, metricId: metricId ?? null });
    return false;
  };

  /** How cards look now. Returns the same object until one of its inputs changes, so that cards do not render again. */
  protected get view(): CardView {
    const language = this.language ?? (document.documentElement.lang || navigator.language);
    const themeKey = `${this.theme} ${this.#scheme.matches}`;
    const key = JSON.stringify([language, this.chartColors, themeKey, this.permissions]);
    if (this.#view?.key !== key) {
      const colours = parseColours(this.chartColors);
      this.#view = { key, value: { format: createFormat(language), colours, themeKey, ...this.permissions } };
    }
    return this.#view.value;
  }

  #renew(): void {
    const { token } = this;
    this.isExpired = false;
    this.client =
      token === null || token === undefined || token === ''
        ? undefined
        : createGuestClient({ token, baseUrl: this.#baseUrl(), fetch: fetchFresh });
    if (this.client !== undefined) this.load();
    else this.#withoutToken();
  }

  /** Without a token, the page must show nothing that an earlier token could read. */
  #withoutToken(): void {
    this.#latest.cancel();
    this.forget();
    this.error = undefined;
    this.isLoading = true;
  }

  #baseUrl(): string {
    return this.serviceUrl || pageBaseUrl() || new URL(import.meta.url).origin;
  }

  #failed(error: unknown, client: GuestClient): void {
    const failure =
      error instanceof GuestError
        ? error
        : new GuestError('UNEXPECTED', 'Something went wrong on this page.', 0, error);
    this.isLoading = false;
    if (this.onFailure(failure, client)) return;
    this.forget();
    this.error = failure;
  }

  #expire(): void {
    if (this.isExpired) return;
    this.isExpired = true;
    this.isLoading = false;
    this.#tell('token-expired', { dashboardId: this.embedId });
  }

  #tell(name: string, detail: Readonly<Record<string, unknown>>): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #main(): TemplateResult {
    if (this.embedId === null) return errorState('Nothing to show', 'This element needs an id: see its attributes.');
    if (this.error?.code === 'AUTHENTICATION_ERROR') {
      // The service's message is for developers; the event `guestlist-error` has it.
      return errorState('Access to this view has ended', 'Reload the page to get access again.', () => this.load());
    }
    if (this.error !== undefined) {
      return errorState('This can’t be shown', this.error.message, () => this.load());
    }
    if (this.isShown) return this.content();
    return html`<div class="waiting">${loadingState('Loading')}</div>`;
  }

  #expired(): TemplateResult {
    return html`<div class="expired" role="status">
      <p><strong>Session expired</strong></p>
      <p class="quiet">This view goes on as soon as your session is renewed. If it does not, reload the page.</p>
    </div>`;
  }
}

/** Attribute names by their spelling without hyphens. */
const unhyphenated = (properties: typeof EmbedElement.elementProperties): ReadonlyMap<string, string> =>
  new Map(
    [...properties.values()]
      .map(({ attribute }) => attribute)
      .filter((attribute) => typeof attribute === 'string' && attribute.includes('-'))
      .map((attribute) => [String(attribute).replaceAll('-', ''), String(attribute)]),
  );

/** Reads the attribute `options` as a JSON object. Anything else counts as no options and is reported on the console. */
function parseOptions(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isRecord(value) ? value : {};
  } catch (error) {
    console.error('guestlist: the attribute "options" is no JSON object', error);
    return {};
  }
}

/** The guest's data must not stay in the browser's HTTP cache. */
const fetchFresh: typeof globalThis.fetch = (url, init) => globalThis.fetch(url, { ...init, cache: 'no-store' });

/** The base URL that a page may set once for all its elements: `window.dbn = { baseUrl }`. */
const pageBaseUrl = (): string | undefined => {
  const settings: unknown = Reflect.get(window, 'dbn');
  return isRecord(settings) && typeof settings.baseUrl === 'string' ? settings.baseUrl : undefined;
};
