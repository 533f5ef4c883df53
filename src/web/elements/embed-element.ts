/**
 * Base class of both public elements: their common attributes, what they show while they have no data of now, and how they
 * report failures to the page. `connection.ts` has the token.
 */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { GuestTheme } from '../../model/guest/view.js';
import { type GuestClient, GuestError, isRecord, OutageError } from '../base/client.js';
import { failureText } from '../base/failure.js';
import { createFormat } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { loadPart } from '../base/load-part.js';
import { exported } from '../base/parts.js';
import { emptyState, errorState, loadingState } from '../base/states.js';
import { parseColours } from '../base/theme.js';
import type { SlotMemory } from '../charts/model/slots.js';
import type { ImageType } from '../charts/pictures/content.js';
import { loadEngine } from '../charts/registry.js';
import { chooseTenant, chosenTenant, watchChoice } from '../token/page.js';
import type { GetToken, GrantedEmbed } from '../token/request.js';
import { AppliedTheme } from './applied-theme.js';
import { type CardView, MetricCard } from './card.js';
import { Connection, type ConnectionSettings } from './connection.js';
import { PageTheme } from './page-theme.js';
import { Speech } from './speech.js';

export const embedStyles = css`
  .root {
    container-type: inline-size;
    position: relative;
    min-height: 120px;
  }
  .waiting {
    height: 360px;
  }
  /* The place of a choice whose script has not come. */
  guestlist-tenants {
    min-height: 34px;
    margin-block-end: 12px;
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
  :host([printing]) {
    /* A4 without its margins. */
    width: 186mm;
    max-width: 100%;
    print-color-adjust: exact;
  }
  .expired strong {
    font-weight: 600;
  }
  /* Takes no place, so that nothing moves when an outage begins or ends. */
  .outdated {
    position: sticky;
    z-index: 4;
    bottom: 12px;
    height: 0;
    text-align: center;
    pointer-events: none;
  }
  .outdated p {
    display: inline-block;
    transform: translateY(-100%);
    max-width: calc(100% - 32px);
    margin: 0;
    padding: 4px 14px;
    border: 1px solid var(--gl-border);
    border-radius: 999px;
    background: var(--gl-raised);
    box-shadow: 0 4px 16px rgb(0 0 0 / 14%);
    font-size: 13px;
  }
`;

export type ImageRequest = { readonly metricId?: string | undefined; readonly type?: ImageType | undefined };

export abstract class EmbedElement extends LitElement {
  static override properties = {
    // Not reflected: a token that the page gave as a property stays out of the page's markup.
    token: { type: String },
    tokenUrl: { type: String, attribute: 'token-url', reflect: true },
    getToken: { attribute: false },
    tenant: { type: String, reflect: true },
    serviceUrl: { type: String, attribute: 'service-url', reflect: true },
    theme: { type: String, reflect: true },
    chartColors: { type: String, attribute: 'chart-colors', reflect: true },
    language: { type: String, reflect: true },
    options: { attribute: 'options', converter: { fromAttribute: parseOptions } },
    isLoading: { state: true },
    isExpired: { state: true },
    isAway: { state: true },
    error: { state: true },
    isChoosing: { state: true },
    printing: { state: true },
  };
  declare token: string | null;
  /** Where the element asks for its tokens, as the gateway's `POST /embed-token` answers, with the page's cookies. */
  declare tokenUrl: string | null;
  /** Instead of `tokenUrl`: returns a token, or the answer of `POST /embed-token`; null if nobody is logged in. */
  declare getToken: GetToken | null;
  /** The one tenant that this element shows, of a session that has several. Left out: the user chooses. */
  declare tenant: string | null;
  /** Base URL of the service. Default: `window.dbn.baseUrl`, otherwise the origin of this script. */
  declare serviceUrl: string | null;
  /** `light`, `dark`, `auto`, or the text of a theme in the Design Tokens format. */
  declare theme: string | null;
  declare chartColors: string | null;
  /** BCP 47 language tag for texts, numbers and dates. Default: the page's language. */
  declare language: string | null;
  declare options: Readonly<Record<string, unknown>>;
  declare isLoading: boolean;
  declare isExpired: boolean;
  /** Whether the service does not answer. What is shown then is of an earlier time. */
  declare isAway: boolean;
  declare error: GuestError | undefined;
  /** Whether the user must choose a tenant first. */
  declare isChoosing: boolean;
  /** True while the browser prints the page: light colours, the width of the paper, all of each table. */
  declare printing: boolean;

  readonly #latest = createLatest();
  readonly #connection = new Connection({
    connected: () => this.#connected(),
    cleared: (refused) => this.#cleared(refused),
    expired: () => this.#expire(),
    away: () => {
      this.isAway = true;
      this.isLoading = false;
    },
    troubled: (error) => this.#tellFailure(error),
    probe: (client) => this.read(client, new AbortController().signal),
  });
  /** What `read` reads; another one starts anew. */
  #key: string | null | undefined;
  /** The tenant that the user chose, where `getToken` is the source. */
  #chosen: string | null = null;
  #stopWatching = (): void => {};
  readonly #speech = new Speech(this);
  readonly #page = new PageTheme(this);
  readonly #theming = new AppliedTheme(this);
  /** Has the state `dark`, for the styles. */
  readonly #internals = this.attachInternals();
  #isDark = false;
  /** Kept while the element shows the same: over tokens, filters and themes. */
  #slots: SlotMemory = {};
  #view: { readonly key: string; readonly value: CardView } | undefined;

  constructor() {
    super();
    this.theme = 'auto';
    this.options = {};
    this.isLoading = true;
    this.isExpired = false;
    this.isAway = false;
    this.isChoosing = false;
    this.printing = false;
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

  /** The client that uses the current token. A new token creates a new client. */
  protected get client(): GuestClient | undefined {
    return this.#connection.client;
  }

  /** What the token opens, if the token came with that. */
  protected get granted(): readonly GrantedEmbed[] {
    return this.#connection.embeds;
  }

  /** The dashboard id or metric id that this element's events carry. */
  protected abstract get embedId(): string | null;
  /** Names all that `read` depends on, besides the client. */
  protected abstract get readKey(): string | null;
  /**
   * Reads the element's data. Returns a function that stores the result; the caller runs it only if `client` is still the
   * current client.
   */
  protected abstract read(client: GuestClient, signal: AbortSignal): Promise<() => void>;
  /** Drops the data that is shown. */
  protected abstract forget(): void;
  /** Drops also what the guest has set: another dashboard, or nobody is logged in. */
  protected abstract reset(): void;
  protected abstract get isShown(): boolean;
  protected abstract content(): TemplateResult;
  /** What stands beside the content, also while that is loading or has failed. */
  protected get side(): TemplateResult | null {
    return null;
  }
  protected abstract get permissions(): { readonly canSeeRows: boolean; readonly canDownload: boolean };

  /** Loads what charts are drawn with. A page that will show the element soon may call this while it asks for a token. */
  static prepare(): void {
    loadEngine();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    EmbedElement.prepare();
    window.addEventListener('beforeprint', this.#beforePrint);
    window.addEventListener('afterprint', this.#afterPrint);
    this.#stopWatching = watchChoice(() => this.requestUpdate());
    if (this.hasUpdated) this.#connection.resume(this.#settings);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('beforeprint', this.#beforePrint);
    window.removeEventListener('afterprint', this.#afterPrint);
    this.#stopWatching();
    this.#latest.cancel();
    this.#connection.leave();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('printing')) this.toggleAttribute('printing', this.printing);
    this.#follow();
    const isOther = this.#isOtherKey();
    const before = this.client;
    if (this.isConnected) this.#connection.follow(this.#settings);
    if (isOther && this.client === before) this.load();
  }

  #follow(): void {
    const scheme = this.#theming.schemeFor(this.theme);
    const isDark = scheme === undefined ? this.#page.isDark : scheme === 'dark';
    this.#isDark = isDark && !this.printing;
    if (this.#isDark) this.#internals.states.add('dark');
    else this.#internals.states.delete('dark');
  }

  override render() {
    const { now, direction, isReady } = this.#speech;
    const { text } = this.view.format;
    const side = isReady ? this.side : null;
    return html`<div class="root" lang=${now.language} dir=${direction} aria-busy=${this.isLoading ? 'true' : 'false'}>
      <div class="sr" role="status">${isReady && this.isLoading && !this.isShown ? text('Loading') : ''}</div>
      ${this.#switcher()}
      ${this.isExpired ? this.#expired() : null}
      <div class="frame" ?data-side=${side !== null}>
        ${side}
        <div class="content" ?inert=${this.isExpired}>${this.#main()}</div>
      </div>
      ${this.isAway && this.isShown && !this.isExpired ? this.#outdated() : null}
    </div>`;
  }

  /** Reads all data again, as the page shows it: filters, drill and scroll position stay. */
  refresh(): void {
    this.#connection.refresh();
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
        this.isAway = false;
        show();
        this.isLoading = false;
      },
      (error) => this.#failed(error, client),
    );
  }

  /**
   * Reports a failure to the page by an event. Returns true if the failure is not the caller's to show: the connection goes on
   * by itself, or waits for the page.
   */
  protected readonly onFailure = (error: GuestError, client: GuestClient, metricId?: string): boolean => {
    const wasAway = this.isAway;
    const isHandled = this.#connection.failed(error, client);
    const isNews = error instanceof OutageError ? this.isAway && !wasAway : !isHandled;
    if (isNews) this.#tellFailure(error, metricId);
    return isHandled;
  };

  // The browser takes its picture of the page after the microtasks that these start.
  readonly #beforePrint = (): void => {
    this.printing = true;
  };
  readonly #afterPrint = (): void => {
    this.printing = false;
  };

  /** Prints this element alone, on A4. Resolves when the browser's dialog is closed. */
  async print(): Promise<void> {
    const { isolateForPrint, untilIdle } = await loadPart(() => import('./print.js'));
    const undo = isolateForPrint(this);
    this.printing = true;
    try {
      await untilIdle(() => this.isLoading || this.isBusy);
      window.print();
    } finally {
      undo();
      this.printing = false;
    }
  }

  /** Draws a card as a picture file; without `metricId`, the first. Throws if it is not there, or may not be downloaded. */
  async exportImage({ metricId, type = 'png' }: ImageRequest = {}): Promise<Blob> {
    const cards = [...this.renderRoot.querySelectorAll<MetricCard>('guestlist-card')];
    const card = cards.find((each) => metricId === undefined || each.metric.metricId === metricId);
    if (card === undefined) throw new Error('There is no such card.');
    return card.exportImage(type);
  }

  /** Shows the theme that the service chose. */
  protected applyTheme(theme: GuestTheme | null | undefined): void {
    this.#theming.setServed(theme);
  }

  /** Whether a card waits for its data or its chart. */
  get isBusy(): boolean {
    return [...this.renderRoot.querySelectorAll<MetricCard>('guestlist-card')].some((card) => card.isBusy);
  }

  /** How cards look now. Returns the same object until one of its inputs changes, so that cards do not render again. */
  protected get view(): CardView {
    const { tag, texts } = this.#speech.now;
    const themeKey = `${this.#isDark ? 'dark' : 'light'} ${this.printing} ${this.#theming.key}`;
    const key = JSON.stringify([tag, texts === undefined, this.chartColors, themeKey, this.permissions]);
    if (this.#view?.key !== key) {
      const colours = parseColours(this.chartColors);
      this.#view = {
        key,
        value: {
          ...{ format: createFormat(tag, texts), colours, themeKey, slots: this.#slots, isPrinted: this.printing },
          ...this.permissions,
        },
      };
    }
    return this.#view.value;
  }

  get #settings(): ConnectionSettings {
    const { token, tokenUrl, getToken } = this;
    const tenant = this.tenant || this.#choice;
    const serviceUrl = this.serviceUrl || undefined;
    return {
      token,
      tokenUrl,
      getToken,
      tenant,
      serviceUrl,
      language: this.#speech.wanted || undefined,
      defaultUrl: () => pageBaseUrl() ?? new URL(import.meta.url).origin,
    };
  }

  #isOtherKey(): boolean {
    const isOther = this.#key !== this.readKey;
    this.#key = this.readKey;
    if (isOther) this.#restart();
    return isOther;
  }

  #restart(): void {
    this.#slots = {};
    this.#view = undefined;
    this.reset();
  }

  /** The token URL, as elements of the page share it. */
  get #sharedUrl(): string | null {
    const { tokenUrl } = this;
    return tokenUrl && URL.canParse(tokenUrl, document.baseURI) ? new URL(tokenUrl, document.baseURI).href : null;
  }

  get #choice(): string | null {
    const url = this.#sharedUrl;
    return url === null ? this.#chosen : chosenTenant(url);
  }

  #setChoice(tenant: string | null): void {
    const url = this.#sharedUrl;
    if (url === null) this.#chosen = tenant;
    else chooseTenant(url, tenant);
    this.requestUpdate();
  }

  /** The session has no tenant to choose any more, or it is another session: its only tenant needs no choice. */
  #isChoiceOver(refused: GuestError | undefined): boolean {
    const isRefused = refused?.code === 'NO_TENANT' && this.#connection.tenants.length === 0;
    return isRefused && !this.tenant && this.#choice !== null;
  }

  readonly #choose = ({ detail: tenant }: CustomEvent<string>): void => {
    const { name } = this.#connection.tenants.find(({ id }) => id === tenant) ?? {};
    this.#setChoice(tenant);
    this.tell('guestlist-tenant-change', { tenant, name: name ?? null });
  };

  #switcher(): TemplateResult | null {
    const { tenants } = this.#connection;
    if (this.tenant || tenants.length < 2 || this.printing || !this.#speech.isReady) return null;
    const current = this.isChoosing ? '' : (this.#choice ?? this.#connection.tenant ?? '');
    return html`<guestlist-tenants exportparts=${exported} .tenants=${tenants} .current=${current} .format=${this.view.format} @choose=${this.#choose}></guestlist-tenants>`;
  }

  #connected(): void {
    this.isChoosing = false;
    this.isExpired = false;
    this.#isOtherKey();
    this.load();
  }

  /** Without a session, the page must show nothing that an earlier token could read. */
  #cleared(refusal: GuestError | undefined): void {
    const isChoiceOver = this.#isChoiceOver(refusal);
    // Asks again without it.
    if (isChoiceOver) this.#setChoice(null);
    const refused = isChoiceOver ? undefined : refusal;
    this.#latest.cancel();
    this.#restart();
    this.isExpired = false;
    this.isAway = false;
    this.isChoosing = refused?.code === 'NO_TENANT' && this.#connection.tenants.length > 1 && !this.tenant;
    this.error = refused === undefined || this.isChoosing ? undefined : neutral(refused);
    this.isLoading = refused === undefined;
    if (refused?.status === 401) this.tell('token-expired', { dashboardId: this.embedId });
    else if (refused !== undefined && !this.isChoosing) this.#tellFailure(refused);
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
    this.tell('token-expired', { dashboardId: this.embedId });
  }

  protected tell(name: string, detail: Readonly<Record<string, unknown>>): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #tellFailure({ code, message, status }: GuestError, metricId?: string): void {
    this.tell('guestlist-error', { code, message, status, dashboardId: this.embedId, metricId: metricId ?? null });
  }

  #main(): TemplateResult {
    const { error } = this;
    const { text } = this.view.format;
    const again = () => this.refresh();
    if (!this.#speech.isReady) return html`<div class="waiting">${loadingState('')}</div>`;
    if (this.isChoosing) return html`<div class="waiting">${emptyState(text('Choose an organization'))}</div>`;
    if (error?.status === 401) {
      return errorState(text, text('Your session has ended'), text('Sign in again to see this view.'), again);
    }
    if (error !== undefined) return errorState(text, text('This can’t be shown'), failureText(error, text), again);
    if (this.isShown) return this.content();
    if (this.isAway && !this.isLoading) {
      const title = text('This view can’t be reached right now');
      const more = text('It comes back as soon as the connection does.');
      return html`<div class="waiting">${errorState(text, title, more, again)}</div>`;
    }
    if (this.embedId === null && this.client !== undefined) {
      return errorState(text, text('Nothing to show'), text('This element needs an id: see its attributes.'));
    }
    return html`<div class="waiting">${loadingState(text('Loading'))}</div>`;
  }

  /** Says of when the oldest data is that the element shows. */
  #outdated(): TemplateResult {
    const times = [...this.renderRoot.querySelectorAll('guestlist-card')]
      .map((card) => (card instanceof MetricCard ? card.answeredAt?.getTime() : undefined))
      .filter((time) => time !== undefined);
    const { moment, text } = this.view.format;
    const said =
      times.length === 0
        ? text('The connection is interrupted')
        : text('Showing data of {moment}', { moment: moment(new Date(Math.min(...times)), new Date()) });
    return html`<div class="outdated" role="status"><p>${said}</p></div>`;
  }

  #expired(): TemplateResult {
    const { text } = this.view.format;
    const more = text('This view goes on as soon as your session is renewed. If it does not, reload the page.');
    return html`<div class="expired" role="status">
      <p><strong>${text('Session expired')}</strong></p>
      <p class="quiet">${more}</p>
    </div>`;
  }
}

/** The gateway's message of a 403 is for end users. Other messages are for developers, who find them in the event. */
const neutral = (refused: GuestError): GuestError =>
  refused.status === 403
    ? refused
    : new GuestError(refused.code, 'This view is not available.', refused.status, refused);

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

/** The base URL that a page may set once for all its elements: `window.dbn = { baseUrl }`. */
const pageBaseUrl = (): string | undefined => {
  const settings: unknown = Reflect.get(window, 'dbn');
  return isRecord(settings) && typeof settings.baseUrl === 'string' ? settings.baseUrl : undefined;
};
