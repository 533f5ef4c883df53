/** The databases: connect one or upload it, read its tables anew, and see what it has. */
import { html, nothing, type TemplateResult } from 'lit';
import { grainOf } from '../../../model/datamart/source-schema.js';
import { isUntested, protocolOf, type Variant, variantNames, variants } from '../../../model/organization.js';
import { recordOf } from '../../../model/record-of.js';
import { options } from '../../base/options.js';
import { hasRole, type OperationAnswer, type OperationInput, StudioError } from '../base/api.js';
import { badge, type Column, confirmed, link, list, timeColumn } from '../base/kit.js';
import { addressOf, navigate } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { type Catalogue, readCatalogue } from '../base/source-tables.js';
import type { UploadedSource, UploadFacts } from '../base/uploads.js';
import '../parts/upload.js';

type Source = OperationAnswer<'listDatasources'>['data'][number];
type Kind = Source['datasourceType'];
/** A source that is open. `tables` is null if its database cannot be read, and `fault` says why. */
type Opened = Pick<Source, 'name' | 'datasourceType'> & {
  readonly tables: Catalogue['tables'] | null;
  readonly fault: string | null;
};
type Data = {
  readonly sources: readonly Source[];
  readonly opened: Opened | null;
  /** Null: this person uploads no files. */
  readonly uploads: UploadFacts | null;
};

const kindOfVariant = (type: Variant): { readonly title: string; readonly port: number } => {
  const { title, port } = variants[type];
  return { title: isUntested(type) ? `${title} (not run here)` : title, port };
};

const kinds: Readonly<Record<Kind, { readonly title: string; readonly port: number | null }>> = {
  POSTGRES: { title: 'PostgreSQL', port: 5432 },
  MYSQL: { title: 'MySQL or MariaDB', port: 3306 },
  CLICKHOUSE: { title: 'ClickHouse', port: 8123 },
  DUCKDB: { title: 'DuckDB file', port: null },
  SQLITE: { title: 'SQLite file', port: null },
  ...recordOf(variantNames, kindOfVariant),
};

class SourcesScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, kind: { state: true } };
  declare kind: Kind;

  constructor() {
    super();
    this.kind = 'POSTGRES';
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const [name] = this.place.rest;
    const [{ data: sources }, read, uploads] = await Promise.all([
      this.api.call('listDatasources', {}, signal),
      name === undefined || name === 'new' ? null : this.#read(name, signal),
      hasRole(this.api.session, 'author') ? this.api.command('uploads-list', {}, signal) : null,
    ]);
    const source = sources.find((one) => one.name === name);
    if (read instanceof StudioError && source === undefined) throw read;
    if (read === null) return { sources, opened: null, uploads };
    const opened =
      read instanceof StudioError ? { ...source, tables: null, fault: read.message } : { ...read, fault: null };
    return { sources, opened: opened as Opened, uploads };
  }

  /** A database that cannot be reached is returned as the error: its credentials can be changed here. */
  async #read(name: string, signal: AbortSignal): Promise<Catalogue | StudioError> {
    try {
      return await readCatalogue(this.api, name, signal);
    } catch (error) {
      if (error instanceof StudioError && error.code === 'DATASOURCE_CONNECTION_ERROR') return error;
      throw error;
    }
  }

  protected override content({ sources, opened, uploads }: Data): TemplateResult {
    const [name] = this.place.rest;
    if (name === 'new') return this.#new();
    if (opened !== null) return this.#one(opened, uploads);
    const mayBuild = hasRole(this.api.session, 'author');
    const add = mayBuild
      ? html`${link(addressOf('sources', ['new']), 'Connect a database', 'button quiet')} ${link(addressOf('start'), 'Add your data', 'button')}`
      : nothing;
    return html`<div class="head"><h1>Sources</h1><p>The databases that hold your customers’ rows. Studio only reads them.</p></div>
      ${this.#upload(
        uploads,
        null,
        sources.map(({ name }) => name),
      )}
      ${list({
        name: 'sources',
        rows: sources,
        columns: this.#columns,
        query: this.place.query,
        empty: html`<h2>No source yet</h2><p>Connect the database of your product, with a user that may only read${uploads?.refusal === null ? ', or upload a file' : ''}.</p>`,
        actions: html`${add}`,
      })}`;
  }

  /** Where files may be dropped. Nothing where this installation takes none. */
  #upload(
    uploads: UploadFacts | null,
    target: UploadedSource | null,
    taken: readonly string[],
  ): TemplateResult | typeof nothing {
    if (uploads === null || uploads.refusal !== null) return nothing;
    return html`<studio-upload .api=${this.api} .maxBytes=${uploads.maxBytes} .target=${target} .taken=${taken}
      @uploaded=${() => void this.reload()}></studio-upload>`;
  }

  readonly #columns: readonly Column<Source>[] = [
    { title: 'Source', of: ({ name }) => link(addressOf('sources', [name]), name), text: ({ name }) => name },
    { title: 'Kind', of: ({ datasourceType }) => kinds[datasourceType].title },
    timeColumn('Tables kept since', ({ syncedAt }) => syncedAt, 'not kept: read when needed'),
  ];

  #new(): TemplateResult {
    const { port } = kinds[this.kind];
    const choose = (event: Event): void => {
      this.kind = (event.target as HTMLSelectElement).value as Kind;
    };
    const choices = Object.entries(kinds).map(([kind, { title }]) => [kind, title] as const);
    return html`<div class="head"><h1>Connect a database</h1><p>The connection is tried before anything is stored.</p></div>
      <form class="form card" @submit=${this.#create}>
        <label>Kind
          <select name="kind" @change=${choose}>${options(choices, this.kind)}</select>
        </label>
        ${isUntested(this.kind) ? untestedNotice : nothing}
        <label>Name <span class="hint">how Studio calls it</span><input name="name" required maxlength="120" autocomplete="off" /></label>
        ${port === null ? fileFields : serverFields(port, protocolOf(this.kind) === 'POSTGRES')}
        <div class="buttons">
          ${link(addressOf('sources'), 'Cancel', 'button quiet')}
          <button ?disabled=${this.isBusy}>${this.isBusy ? 'Connecting…' : 'Connect'}</button>
        </div>
      </form>`;
  }

  readonly #create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const form = new FormData(event.target);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    const schema = text('schema');
    const server = {
      host: text('host'),
      port: Number(text('port')),
      username: text('username'),
      password: String(form.get('password') ?? ''),
      database: text('database'),
      isSsl: form.has('isSsl'),
      ...(schema === '' ? {} : { schema }),
    };
    const credentials = { name: text('name'), ...(kinds[this.kind].port === null ? { path: text('path') } : server) };
    const isMade = await this.act(async () => {
      // The service checks which credentials a kind needs.
      const made = { datasourceType: this.kind, credentials } as OperationInput<'createDatasource'>;
      await this.api.call('createDatasource', made);
      return null;
    });
    if (isMade) this.#opened(credentials.name);
  };

  #opened(name: string): void {
    const address = addressOf('sources', [name]);
    navigate(address);
  }

  #one({ name, datasourceType, tables, fault }: Opened, uploads: UploadFacts | null): TemplateResult {
    const mayBuild = hasRole(this.api.session, 'author');
    const uploaded = uploads?.sources.find((source) => source.name === name);
    const isUploaded = uploaded !== undefined;
    return html`<div class="head">
        <h1>${name}</h1>${badge(kinds[datasourceType].title)}
        <span class="gap"></span>
        ${mayBuild ? this.#actions(name, isUploaded) : nothing}
      </div>
      ${fault === null ? nothing : html`<p class="notice bad" role="alert">${fault}</p>`}
      ${mayBuild && kinds[datasourceType].port !== null ? this.#login(name, fault !== null) : nothing}
      ${isUploaded ? this.#upload(uploads, uploaded, []) : nothing}
      ${
        tables === null
          ? nothing
          : list({
              name: 'tables',
              rows: tables,
              columns: tableColumns,
              query: this.place.query,
              empty: html`<h2>No tables</h2><p>The user of this source may read none. Grant it SELECT, then read the tables again.</p>`,
            })
      }
      <p>${link(addressOf('sources'), 'All sources')}</p>`;
  }

  /** Open where the database refused the stored login. No server's answer has a password, so the fields begin empty. */
  #login(name: string, isOpen: boolean): TemplateResult {
    const change = async (event: SubmitEvent): Promise<void> => {
      event.preventDefault();
      if (!(event.target instanceof HTMLFormElement)) return;
      const form = event.target;
      const fields = new FormData(form);
      const username = String(fields.get('username') ?? '').trim();
      const password = String(fields.get('password') ?? '');
      const isChanged = await this.act(async () => {
        await this.api.call('updateDatasourceLogin', { name, ...(username === '' ? {} : { username }), password });
        return 'The database was reached with the new credentials, which are stored.';
      });
      if (isChanged) form.reset();
    };
    return html`<details class="card" ?open=${isOpen}>
      <summary>Change credentials</summary>
      <p class="soft">For a password that was changed in the database. It is tried before it is stored, and nobody can read it here.</p>
      <form class="form" @submit=${change}>
        <div class="row">
          <label>User <span class="hint">empty: the user stays</span><input name="username" maxlength="120" autocomplete="off" /></label>
          <label>New password<input name="password" type="password" autocomplete="new-password" /></label>
        </div>
        <div class="buttons"><button ?disabled=${this.isBusy}>${this.isBusy ? 'Connecting…' : 'Change credentials'}</button></div>
      </form>
    </details>`;
  }

  #actions(name: string, isUploaded: boolean): TemplateResult {
    const sync = (): void =>
      void this.act(async () => {
        await this.api.call('syncDatasource', { name });
        return 'The tables were read again.';
      });
    return html`<button type="button" class="quiet" ?disabled=${this.isBusy} @click=${sync}>Read the tables again</button>
      <button type="button" class="quiet" ?disabled=${this.isBusy} @click=${() => void this.#remove(name, isUploaded)}>Remove</button>
      ${link(addressOf('models', ['new'], { source: name }), 'Describe its tables', 'button')}`;
  }

  async #remove(name: string, isUploaded: boolean): Promise<void> {
    const what = isUploaded ? 'The uploaded file is deleted.' : 'The database itself does not change.';
    const text = `${what} A source that a model uses cannot be removed.`;
    if (!(await confirmed(`Remove ${name}?`, text, 'Remove'))) return;
    const isGone = await this.act(async () => {
      await this.api.call('deleteDatasource', { name });
      history.replaceState(null, '', addressOf('sources'));
      this.place = { ...this.place, rest: [] };
      return `${name} is removed.`;
    });
    if (isGone) this.requestUpdate();
  }
}

const tableColumns: readonly Column<Catalogue['tables'][number]>[] = [
  { title: 'Table', of: ({ schemaName, tableName }) => `${schemaName}.${tableName}` },
  { title: 'Kind', of: ({ kind }) => kind },
  { title: 'Columns', of: ({ columns }) => columns.map(({ columnName }) => columnName).join(', ') },
  { title: 'Key', of: (table) => grainOf(table).join(', ') || 'no key known' },
  { title: 'Rows, about', of: ({ estimatedRows }) => estimatedRows?.toLocaleString() ?? '', isNumber: true },
];

const untestedNotice = html`<p class="notice" role="status">Not run here: Guestlist was never run on this database, so its answers
  and its isolation are not tested. It can be connected only where the configuration has <code>datasources.untested: true</code>.
  Compare the rows of two tenants before you use it.</p>`;

const fileFields = html`<label>Path <span class="hint">a file on the server, in a folder that the configuration allows</span>
  <input name="path" required autocomplete="off" />
</label>`;

const serverFields = (port: number, hasSchema: boolean): TemplateResult => html`<div class="row">
    <label>Host <span class="hint">allowed in the configuration</span><input name="host" required autocomplete="off" /></label>
    <label>Port<input name="port" type="number" min="1" max="65535" required .value=${String(port)} /></label>
  </div>
  <label>Database<input name="database" required autocomplete="off" /></label>
  ${hasSchema ? html`<label>Schema <span class="hint">empty: public</span><input name="schema" autocomplete="off" /></label>` : nothing}
  <div class="row">
    <label>User <span class="hint">one that may only read</span><input name="username" required autocomplete="off" /></label>
    <label>Password<input name="password" type="password" autocomplete="new-password" /></label>
  </div>
  <label class="inline"><input type="checkbox" name="isSsl" /> Encrypted connection (TLS)</label>`;

customElements.define('studio-sources', SourcesScreen);
