/** What queries took: the slowest and the failed ones of a day, with the database's plan, and the numbers of each tenant. */
import { html, nothing, type TemplateResult } from 'lit';
import { type Answer, StudioError } from '../base/api.js';
import { badge, type Column, type Filter, list, openDialog, timeColumn, when } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantLink, tenantText } from '../base/tenant-names.js';
import { listTenants, neverMinted, type Tenant } from '../base/tenants.js';

type Queries = Answer<'list-slow-queries'>;
type Note = Queries['slowest'][number];
export type TenantUse = Omit<Queries['clients'][number], 'dataAppId'>;

const noTenant = 'no tenant';
const views = [
  { path: undefined, title: 'Slowest' },
  { path: 'failed', title: 'Failed' },
  { path: 'tenants', title: 'By tenant' },
] as const;

const tenantOf = ({ clientId }: { readonly clientId: string | null }): TemplateResult | string =>
  clientId === null ? noTenant : tenantLink(clientId);
const tenantTextOf = ({ clientId }: { readonly clientId: string | null }): string =>
  clientId === null ? noTenant : tenantText(clientId);
const inSeconds = (ms: number): string =>
  `${(ms / 1000).toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}\u00a0s`;
const whole = (value: number | undefined): string => value?.toLocaleString() ?? '';

type Data = Queries & { readonly tenants: readonly Tenant[] };
type Row = TenantUse & Tenant['usage'];

const useless = { questions: 0, queries: 0, rows: 0, ms: 0, failed: 0 };

/** The numbers of each tenant that has some, of queries and of tokens. */
const rowsOf = ({ clients, tenants }: Data): readonly Row[] => {
  const minted = new Map(tenants.flatMap(({ clientId, usage }) => (clientId === null ? [] : [[clientId, usage]])));
  const asked = new Set(clients.map(({ clientId }) => clientId));
  const silent = [...minted].filter(([clientId, { mints }]) => mints > 0 && !asked.has(clientId));
  return [
    ...clients.map((use) => ({ ...use, ...(minted.get(use.clientId ?? '') ?? neverMinted) })),
    ...silent.map(([clientId, usage]) => ({ clientId, ...useless, ...usage })),
  ].toSorted((a, b) => b.ms - a.ms);
};

class QueriesScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [view] = this.place.rest;
    const [queries, tenants] = await Promise.all([
      this.api.command('list-slow-queries', {}, signal),
      view === 'tenants' ? listTenants(this.api, signal) : [],
    ]);
    return { ...queries, tenants };
  }

  protected override content(queries: Data): TemplateResult {
    const [view] = this.place.rest;
    return html`<div class="head"><h1>Queries</h1>
        <p>What the databases ran since ${when(queries.since)}, as this process saw it. Lists have the last day.</p>
        <span class="gap"></span>
        <button type="button" class="quiet" @click=${() => void this.reload()}>Read again</button></div>
      <nav class="tabs" aria-label="Queries">
        ${views.map(
          ({ path, title }) =>
            html`<a href=${addressOf('queries', path === undefined ? [] : [path])} aria-current=${path === view ? 'page' : nothing}>${title}</a>`,
        )}
      </nav>
      ${this.#view(queries, view)}`;
  }

  #view(data: Data, view: string | undefined): TemplateResult {
    const { query } = this.place;
    if (view === 'tenants') {
      return list({
        name: 'use',
        rows: rowsOf(data),
        columns: useColumns,
        query,
        empty: html`<p>No tenant has asked yet.</p>`,
      });
    }
    const isFailed = view === 'failed';
    const failed =
      data.failed === null
        ? 'You may not see data of tenants, so failures are not shown.'
        : 'No query failed in the last day.';
    const empty = html`<p>${isFailed ? failed : 'No query ran in the last day.'}</p>`;
    const columns = isFailed ? [...this.#columns, failureColumn] : this.#columns;
    return list({
      name: isFailed ? 'failed' : 'slowest',
      rows: isFailed ? (data.failed ?? []) : data.slowest,
      columns,
      filters: isFailed ? [...noteFilters, failureFilter] : noteFilters,
      query,
      empty,
    });
  }

  readonly #columns: readonly Column<Note>[] = [
    { title: 'Time', of: ({ ms }) => inSeconds(ms), isNumber: true },
    { title: 'Tenant', of: tenantOf, text: tenantTextOf },
    { title: 'Source', of: ({ datasource }) => datasource },
    { title: 'Rows', of: ({ rows }) => whole(rows), isNumber: true },
    timeColumn('When', ({ at }) => at),
    {
      title: 'Request',
      of: ({ requestId }) => html`<code title=${requestId ?? ''}>${requestId?.slice(0, 8) ?? ''}</code>`,
      text: (note) => note.requestId ?? '',
    },
    { title: 'Query', of: (note) => this.#button(note), text: ({ sql }) => sql ?? '' },
  ];

  #button(note: Note): TemplateResult | string {
    if (note.sql === undefined) return '';
    return html`<button type="button" class="quiet" @click=${() => void this.#show(note)}>Show<span class="sr"> the query of ${inSeconds(note.ms)}</span></button>`;
  }

  /** The plan is read when somebody asks for it: the database makes it anew. */
  async #show({ id, sql, ms }: Note): Promise<void> {
    const content = (plan: TemplateResult): TemplateResult =>
      html`<form method="dialog"><h2>Query of ${inSeconds(ms)}</h2>
        <p class="soft">Its values are left out.</p>
        <pre tabindex="0" class="wrapped"><code>${sql}</code></pre>
        <h3>Plan of the database</h3>${plan}
        <div class="buttons"><button autofocus>Close</button></div></form>`;
    const { draw } = openDialog('Query', content(html`<p role="status">Asking the database…</p>`), 'wide');
    try {
      const { plan } = await this.api.command('read-plan', { id });
      draw(content(html`<pre tabindex="0"><code>${plan}</code></pre>`));
    } catch (error) {
      draw(content(html`<p role="alert">${error instanceof StudioError ? error.message : String(error)}</p>`));
    }
  }
}

const filterWords = (id: string): string => (id === noTenant ? id : tenantText(id));
const noteFilters: readonly Filter<Note>[] = [
  { name: 'tenant', label: 'Tenant', of: ({ clientId }) => clientId ?? noTenant, words: filterWords },
  { name: 'source', label: 'Source', of: ({ datasource }) => datasource },
];
const failureFilter: Filter<Note> = { name: 'reason', label: 'Reason', of: ({ failure }) => failure ?? '' };

const failureColumn: Column<Note> = {
  title: 'Reason',
  of: ({ failure }) => badge(failure ?? '', 'bad'),
  text: ({ failure }) => failure ?? '',
};

const useColumns: readonly Column<Row>[] = [
  { title: 'Tenant', of: tenantOf, text: tenantTextOf },
  { title: 'Questions', of: ({ questions }) => whole(questions), isNumber: true },
  { title: 'Rows', of: ({ rows }) => whole(rows), isNumber: true },
  { title: 'Queries', of: ({ queries }) => whole(queries), isNumber: true },
  { title: 'Time', of: ({ ms }) => inSeconds(ms), isNumber: true },
  { title: 'Failed', of: ({ failed }) => whole(failed), isNumber: true },
  { title: 'Tokens, ever', of: ({ mints }) => whole(mints), isNumber: true },
  timeColumn('Last login', ({ lastMintAt }) => lastMintAt, 'none'),
];

customElements.define('studio-queries', QueriesScreen);
