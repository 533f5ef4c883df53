/**
 * An element's way to the service: its token, where the next token comes from, and the waiting for a service that is away.
 * The token is in this object and nowhere else of the element, so two elements on a page may use two tokens.
 */
import {
  type ClientSettings,
  createGuestClient,
  type GuestClient,
  GuestError,
  isEnded,
  OutageError,
} from '../base/client.js';
import type { Membership, OwnTenant, Refused } from '../token/keeper.js';
import { joinFunction, joinUrl, outages } from '../token/page.js';
import type { EmbedToken, GetToken, GrantedEmbed } from '../token/request.js';

export type ConnectionSettings = {
  readonly token: string | null | undefined;
  readonly tokenUrl: string | null | undefined;
  readonly getToken: GetToken | null | undefined;
  /** The tenant whose token is asked for; null: the session's only one. */
  readonly tenant: string | null;
  /** Base URL of the service; undefined: the one that came with the token, or `defaultUrl`. */
  readonly serviceUrl: string | undefined;
  readonly defaultUrl: () => string;
  /** The reader's language, in which the service names what it shows. */
  readonly language: string | undefined;
};

export type ConnectionEvents = {
  /** `client` has a new token, or the service is back: all data is to be read again. */
  readonly connected: (client: GuestClient) => void;
  /** There is no session any more. Nothing that was read may stay visible. */
  readonly cleared: (refused: GuestError | undefined) => void;
  /** Only the page can continue: by a new `token`. */
  readonly expired: () => void;
  /** The service or the source of tokens does not answer. The connection goes on trying. */
  readonly away: () => void;
  /** The source of tokens failed, for the first time in a row. The current token may still be good. */
  readonly troubled: (error: GuestError) => void;
  /** Sends any request with the client; resolves or throws as the request does. */
  readonly probe: (client: GuestClient) => Promise<unknown>;
};

const noSettings = {
  token: null,
  tokenUrl: null,
  getToken: null,
  tenant: null,
  serviceUrl: undefined,
  defaultUrl: () => '',
  language: undefined,
};

export class Connection {
  readonly #events: ConnectionEvents;
  #settings: ConnectionSettings = noSettings;
  #membership: Membership | undefined;
  #answer: EmbedToken | undefined;
  #token = '';
  #client: GuestClient | undefined;
  /** Whether the service has refused the current token. */
  #isEnded = false;
  /** Whether the source of tokens failed when it was last asked. */
  #isTroubled = false;
  /** Kept over renewals of the token, and never for another token of the host's, or another tenant. */
  #answers: NonNullable<ClientSettings['answers']> = new Map();
  #tenants: readonly OwnTenant[] = [];
  /** Another one after each end of access: what an earlier client asked is not asked again with a later token. */
  #access = {};
  #stopWaiting = (): void => {};
  #asking: ((next: GuestClient | undefined) => void)[] = [];

  constructor(events: ConnectionEvents) {
    this.#events = events;
  }

  get client(): GuestClient | undefined {
    return this.#client;
  }

  /** What the current token opens, if its source said so. */
  get embeds(): readonly GrantedEmbed[] {
    return this.#answer?.embeds ?? [];
  }

  /** What the session may choose from, as its source said last. Empty: it has no choice. */
  get tenants(): readonly OwnTenant[] {
    return this.#tenants;
  }

  /** The tenant that is shown. Null: the source of the token does not say. */
  get tenant(): string | null {
    return this.#answer?.tenant ?? null;
  }

  /** Uses these settings from now on. The page's own `token` comes first; its source is asked when that has ended. */
  follow(settings: ConnectionSettings): void {
    const { serviceUrl } = this.#settings;
    if (this.#adopt(settings)) this.#start();
    else if (serviceUrl !== settings.serviceUrl && this.#client !== undefined) this.#connect(this.#token);
  }

  /** Call when the element leaves the page: nothing goes on in the background. */
  leave(): void {
    this.#drop();
    this.#giveNext(undefined);
  }

  /** Call instead of `follow` when the element is in the page again. */
  resume(settings: ConnectionSettings): void {
    if (this.#adopt(settings)) {
      this.#start();
      return;
    }
    if (this.#client !== undefined) {
      this.#isEnded = false;
      this.#events.connected(this.#client);
    }
    if (this.#hasSource && !settings.token) this.#join();
  }

  /** Reads all again, and asks again for a token that was refused. */
  refresh(): void {
    this.#membership?.retry();
    if (this.#client !== undefined) this.#connect(this.#token);
    else if (this.#membership === undefined) this.#start();
  }

  /** Takes care of a failure of `client`. Returns false if the failure is the caller's to show. */
  failed(error: GuestError, client: GuestClient): boolean {
    if (client !== this.#client) return true;
    if (isEnded(error)) this.#ended();
    else if (error instanceof OutageError) this.#wait(client);
    else return false;
    return true;
  }

  #start(): void {
    this.#drop();
    this.#answers = new Map();
    this.#answer = undefined;
    const { token } = this.#settings;
    if (token) this.#connect(token);
    else if (this.#hasSource) this.#join();
    else this.#clear(undefined);
  }

  #drop(): void {
    this.#membership?.leave();
    this.#membership = undefined;
    this.#stopWaiting();
  }

  /** Returns whether the token, or the source of tokens, is another one. */
  #adopt(settings: ConnectionSettings): boolean {
    const before = this.#settings;
    this.#settings = settings;
    if (sourceOf(before) !== sourceOf(settings)) this.#tenants = [];
    if (before.tenant !== settings.tenant) {
      // Nothing of the former tenant may be seen while the token of the next one is on its way.
      this.#clear(undefined);
      return true;
    }
    return (before.token ?? '') !== (settings.token ?? '') || sourceOf(before) !== sourceOf(settings);
  }

  get #hasSource(): boolean {
    return sourceOf(this.#settings) !== '';
  }

  #join(): void {
    const { tokenUrl } = this.#settings;
    const tenant = this.#settings.tenant ?? undefined;
    if (tokenUrl && !URL.canParse(tokenUrl, document.baseURI)) {
      this.#clear(new GuestError('INVALID_TOKEN_URL', `token-url is no URL: ${tokenUrl}`, 0));
      return;
    }
    const member = {
      onToken: (answer: EmbedToken) => this.#renewed(answer),
      onRefused: ({ code, message, status, tenants }: Refused) => {
        if (tenants !== undefined || status === 401 || code === 'NO_TENANT') this.#tenants = tenants ?? [];
        this.#clear(new GuestError(code, message, status));
      },
      onTrouble: (reason: string) => {
        if (!this.#isTroubled) this.#events.troubled(new GuestError('TOKEN_SOURCE_ERROR', reason, 0));
        this.#isTroubled = true;
        // The current token may still be good; then there is no trouble yet.
        if (this.#client === undefined || this.#asking.length > 0 || this.#isEnded) this.#events.away();
      },
    };
    this.#membership = tokenUrl
      ? joinUrl(new URL(tokenUrl, document.baseURI).href, tenant, member)
      : joinFunction(() => this.#settings.getToken ?? (() => null), tenant, member);
  }

  #renewed(answer: EmbedToken): void {
    this.#isTroubled = false;
    const wanted = this.#settings.tenant;
    if (wanted !== null && answer.tenant !== null && answer.tenant !== wanted) {
      this.#clear(new GuestError('WRONG_TENANT', `The token is not of the tenant ${wanted}.`, 0));
      return;
    }
    // A source that chooses the tenant itself may choose another one.
    if (this.#answer !== undefined && this.#answer.tenant !== answer.tenant) this.#clear(undefined);
    this.#answer = answer;
    this.#tenants = answer.tenants;
    if (answer.token !== this.#token || this.#client === undefined) this.#connect(answer.token);
    // The source gives the very token that the service has refused.
    else if (this.#isEnded) this.#membership?.expired(answer.token);
  }

  #connect(token: string): void {
    this.#stopWaiting();
    this.#isEnded = false;
    this.#token = token;
    const access = this.#access;
    const client = createGuestClient({
      token,
      baseUrl: this.#baseUrl,
      fetch: fetchFresh,
      answers: this.#answers,
      // Read at each request: another language asks nothing anew, and the next read has its names.
      language: () => this.#settings.language,
      next: (error) => (access === this.#access ? this.#next(error, client) : Promise.resolve(undefined)),
    });
    this.#client = client;
    this.#giveNext(client);
    this.#events.connected(client);
  }

  get #baseUrl(): string {
    const { serviceUrl, defaultUrl } = this.#settings;
    return serviceUrl || this.#answer?.serviceUrl || defaultUrl();
  }

  #ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#membership !== undefined) this.#membership.expired(this.#token);
    else if (this.#hasSource) this.#join();
    else this.#events.expired();
  }

  #wait(client: GuestClient): void {
    this.#stopWaiting();
    const end = outages.wait(this.#baseUrl, {
      probe: () => this.#events.probe(client).then(() => true, isAnswer),
      back: () => this.refresh(),
    });
    this.#stopWaiting = () => {
      this.#stopWaiting = () => {};
      end();
    };
    this.#events.away();
  }

  #clear(refused: GuestError | undefined): void {
    this.#stopWaiting();
    this.#client = undefined;
    this.#token = '';
    this.#access = {};
    this.#answers = new Map();
    this.#answer = undefined;
    this.#isEnded = false;
    this.#isTroubled = false;
    this.#giveNext(undefined);
    this.#events.cleared(refused);
  }

  /** Resolves to the client with the next token; undefined if none comes. */
  #next(error: GuestError, client: GuestClient): Promise<GuestClient | undefined> {
    if (client !== this.#client) return Promise.resolve(this.#client);
    const next = new Promise<GuestClient | undefined>((resolve) => {
      this.#asking.push(resolve);
    });
    this.failed(error, client);
    return next;
  }

  #giveNext(next: GuestClient | undefined): void {
    const asking = this.#asking;
    this.#asking = [];
    for (const resolve of asking) resolve(next);
  }
}

/** A function counts as the same source as the function before it: frameworks make a new one at each render. */
const sourceOf = ({ tokenUrl, getToken }: ConnectionSettings): string =>
  tokenUrl ? `url ${tokenUrl}` : typeof getToken === 'function' ? 'function' : '';

const isAnswer = (error: unknown): boolean => error instanceof GuestError && !(error instanceof OutageError);

/** The guest's data must not stay in the browser's HTTP cache. */
const fetchFresh: typeof globalThis.fetch = (url, init) => globalThis.fetch(url, { ...init, cache: 'no-store' });
