/** The field for the URL of a database: says what it reads in it while it is typed. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { placeOf, readSourceUrl, sourceNameOf, UnreadableUrl } from '../../../model/datamart/source-url.js';
import { isUntested, variantNames, variants } from '../../../model/organization.js';
import { recordOf } from '../../../model/record-of.js';
import { freeName } from '../base/start.js';

export type Connection = ReturnType<typeof readSourceUrl>;
export type ConnectDetail = { readonly name: string; readonly connection: Connection };

const kinds = {
  POSTGRES: 'PostgreSQL',
  MYSQL: 'MySQL or MariaDB',
  CLICKHOUSE: 'ClickHouse',
  DUCKDB: 'A DuckDB file',
  SQLITE: 'A SQLite file',
  ...recordOf(variantNames, (type) =>
    isUntested(type) ? `${variants[type].title} (not run here)` : variants[type].title,
  ),
} as const satisfies Readonly<Record<Connection['datasourceType'], string>>;

const read = (url: string): Connection | UnreadableUrl | null => {
  if (url === '') return null;
  try {
    return readSourceUrl(url);
  } catch (error) {
    if (error instanceof UnreadableUrl) return error;
    throw error;
  }
};

const secured = (connection: Connection): string => {
  if ('path' in connection) return '';
  const by = connection.username === '' ? 'without a user' : `as ${connection.username}`;
  return `, ${by}, ${connection.isSsl ? 'encrypted (TLS)' : 'not encrypted: add ?sslmode=require for TLS'}`;
};

const told = (found: Connection | UnreadableUrl | null): string => {
  if (found === null)
    return 'PostgreSQL, MySQL, MariaDB, ClickHouse, or the path of a DuckDB or SQLite file on the server.';
  if (found instanceof UnreadableUrl) return found.message;
  return `${kinds[found.datasourceType]} at ${placeOf(found)}${secured(found)}`;
};

/** Tells the event `connect`. */
export class Connect extends LitElement {
  static override properties = {
    taken: { attribute: false },
    isBusy: { attribute: false },
    url: { state: true },
    named: { state: true },
  };
  /** Names of sources that there are. */
  declare taken: readonly string[];
  declare isBusy: boolean;
  declare url: string;
  /** The name that a person wrote. Null: the proposed one. */
  declare named: string | null;

  constructor() {
    super();
    this.taken = [];
    this.isBusy = false;
    this.url = '';
    this.named = null;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #nameOf(connection: Connection): string {
    return this.named ?? freeName(sourceNameOf(connection), this.taken);
  }

  protected override render(): TemplateResult {
    const found = read(this.url);
    const connection = found === null || found instanceof UnreadableUrl ? null : found;
    const typed = (event: Event): void => {
      this.url = (event.target as HTMLInputElement).value.trim();
    };
    const named = (event: Event): void => {
      this.named = (event.target as HTMLInputElement).value;
    };
    return html`<form class="form wide card" @submit=${(event: SubmitEvent) => this.#send(event, connection)}>
      <label>URL of the database <span class="hint">with a user that may only read</span>
        <input name="url" required autofocus autocomplete="off" spellcheck="false" placeholder="postgres://user:password@host:5432/database" @input=${typed} aria-describedby="url-read" />
      </label>
      <p id="url-read" class=${found instanceof UnreadableUrl ? 'notice bad' : 'soft'} role="status">${told(found)}</p>
      ${
        connection === null
          ? nothing
          : html`<label>Name <span class="hint">of the source, its model and its workspace</span>
              <input name="name" required maxlength="120" autocomplete="off" .value=${this.#nameOf(connection)} @input=${named} /></label>`
      }
      <div class="buttons"><button ?disabled=${this.isBusy}>${this.isBusy ? 'Connecting…' : 'Connect'}</button></div>
    </form>`;
  }

  #send(event: SubmitEvent, connection: Connection | null): void {
    event.preventDefault();
    if (connection === null) return;
    const detail: ConnectDetail = { name: this.#nameOf(connection).trim(), connection };
    this.dispatchEvent(new CustomEvent<ConnectDetail>('connect', { detail }));
  }
}

customElements.define('studio-connect', Connect);
