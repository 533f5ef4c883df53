/** What runs now in all processes, how questions were answered over the last day, and what queries took: the slowest and the failed ones, with the database's plan. */
import { html, nothing, type TemplateResult } from 'lit';
import { type AnswerHistory, answerCharts, keptShare } from '../base/answer-charts.js';
import { type Answer, hasRole, StudioError } from '../base/api.js';
import {
  addressChoice,
  badge,
  type Column,
  confirmed,
  type Filter,
  link,
  list,
  openDialog,
  timeColumn,
  timeZone,
  when,
} from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { duration, outcomeWords, pollMs, processName, type Running, type Work, workWords } from '../base/running.js';
import { Screen } from '../base/screen.js';
import { tenantLink, tenantText } from '../base/tenant-names.js';
import { listTenants, neverMinted, type Tenant } from '../base/tenants.js';
import { latestMonths, monthOf, type Usage, type UsageRow, usageCharts } from '../base/usage.js';
import '../parts/answer-charts.js';

type Queries = Answer<'list-slow-queries'>;
type Note = Queries['slowest'][number];
export type TenantTime = NonNullable<Queries['times']>[number];

const noTenant = 'no tenant';
const noDashboard = 'no dashboard';
const views = [
  { path: 'running', title: 'Running now' },
  { path: undefined, title: 'Over time' },
  { path: 'slowest', title: 'Slowest' },
  { path: 'failed', title: 'Failed' },
  { path: 'tenants', title: 'Usage' },
] as const;

const tenantOf = ({ clientId }: { readonly clientId: string | null }): TemplateResult | string =>
  clientId === null ? noTenant : tenantLink(clientId);
const tenantTextOf = ({ clientId }: { readonly clientId: string | null }): string =>
  clientId === null ? noTenant : tenantText(clientId);
const seconds = (ms: number): string =>
  (ms / 1000).toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const inSeconds = (ms: number): string => `${seconds(ms)}\u00a0s`;
const whole = (value: number | undefined): string => value?.toLocaleString() ?? '';

/** What was used in the month that is chosen: by tenant, and by day. */
type MonthlyUse = { readonly month: string; readonly tenants: Usage; readonly days: Usage };

/** `history` and `use`: null for those who may not see data, and on the other views. */
type Data = Queries & {
  readonly tenants: readonly Tenant[];
  readonly history: AnswerHistory | null;
  readonly use: MonthlyUse | null;
  /** Null on the other views. */
  readonly running: Running | null;
};
type Row = TenantTime & Tenant['usage'];

/** The time of each tenant that has some, and its tokens. */
const rowsOf = ({ times: counted, tenants }: Data): readonly Row[] => {
  const times = counted ?? [];
  const minted = new Map(tenants.flatMap(({ clientId, usage }) => (clientId === null ? [] : [[clientId, usage]])));
  const asked = new Set(times.map(({ clientId }) => clientId));
  const silent = [...minted].filter(([clientId, { mints }]) => mints > 0 && !asked.has(clientId));
  return [
    ...times.map((use) => ({ ...use, ...(minted.get(use.clientId ?? '') ?? neverMinted) })),
    ...silent.map(([clientId, usage]) => ({ clientId, dataAppName: null, ms: 0, ...usage })),
  ].toSorted((a, b) => b.ms - a.ms);
};

class QueriesScreen extends Screen<Data> {
  #timer: ReturnType<typeof setTimeout> | undefined;

  protected override async load(signal: AbortSignal): Promise<Data> {
    const view = this.#shown;
    const { query } = this.place;
    const asked = { dataAppName: query.get('app'), clientId: query.get('tenant'), dashboardId: query.get('dashboard') };
    const of = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
    const { seesData } = this.api.session.person;
    const [queries, running, tenants, history, use] = await Promise.all([
      this.api.command('list-slow-queries', { withTimes: view === 'tenants' && !seesData }, signal),
      view === 'running' ? this.#readRunning(signal) : null,
      view === 'tenants' && !seesData ? listTenants(this.api, signal) : [],
      view === undefined ? this.api.command('answer-history', of, signal) : null,
      view === 'tenants' && seesData ? this.#readUse(query.get('month') ?? '', signal) : null,
    ]);
    return { ...queries, running, tenants, history, use };
  }

  async #readRunning(signal: AbortSignal): Promise<Running> {
    clearTimeout(this.#timer);
    try {
      return (await this.api.call('readRunning', {}, signal)).data;
    } finally {
      // Also after a failure: the service may be away for a moment.
      if (!signal.aborted) this.#timer = setTimeout(() => this.#readAgain(), pollMs);
    }
  }

  #readAgain(): void {
    if (this.#shown === 'running') void this.reload();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  async #readUse(asked: string, signal: AbortSignal): Promise<MonthlyUse> {
    const months = latestMonths(new Date());
    const month = months.find((one) => one === asked) ?? months[0] ?? '';
    const [tenants, days] = await Promise.all([
      this.api.call('readUsage', { ...monthOf(month), by: 'dataApp,tenant' }, signal),
      this.api.call('readUsage', { ...monthOf(month), step: 'day' }, signal),
    ]);
    return { month, tenants: tenants.data, days: days.data };
  }

  /** How answers ended tells of rows: without access to data, the page begins with what runs now. */
  get #shown(): string | undefined {
    return this.place.rest[0] ?? (this.api.session.person.seesData ? undefined : 'running');
  }

  protected override needsLoad(before: QueriesScreen['place'] | undefined): boolean {
    const isOther = (name: string): boolean => before?.query.get(name) !== this.place.query.get(name);
    if (this.#shown === 'tenants') return super.needsLoad(before) || isOther('month');
    return super.needsLoad(before) || (this.#shown === undefined && ['app', 'tenant', 'dashboard'].some(isOther));
  }

  protected override content(queries: Data): TemplateResult {
    const view = this.#shown;
    const own = views.filter(({ path }) => path !== undefined || this.api.session.person.seesData);
    return html`<div class="head"><h1>Queries</h1>
        <p>${sourceWords(queries, view)}</p>
        <span class="gap"></span>
        <button type="button" class="quiet" @click=${() => void this.reload()}>Read again</button></div>
      <nav class="tabs" aria-label="Queries">
        ${own.map(
          ({ path, title }) =>
            html`<a href=${addressOf('queries', path === undefined ? [] : [path])} aria-current=${path === view ? 'page' : nothing}>${title}</a>`,
        )}
      </nav>
      ${this.#shownOf(queries, view)}`;
  }

  #shownOf(data: Data, view: string | undefined): TemplateResult {
    if (data.running !== null) return this.#runningNow(data.running);
    if (data.history !== null) return this.#overTime(data.history);
    return data.use === null ? this.#view(data, view) : this.#monthly(data.use);
  }

  #runningNow({ works, processes, waitingDeliveries: { count, seconds: waited } }: Running): TemplateResult {
    const others = processes.reduce((sum, one) => sum + one.others, 0);
    const columns = hasRole(this.api.session, 'publisher', 'support')
      ? [...workColumns(processes), this.#ending]
      : workColumns(processes);
    return html`${list({
      ...{ name: 'works', rows: works, columns, filters: workFilters, query: this.place.query },
      empty: html`<h2>Nothing runs</h2><p>What runs in any process appears here, read anew every few seconds.</p>`,
    })}
      ${others === 0 ? nothing : html`<p class="soft">${whole(others)} more run or wait that are not listed.</p>`}
      ${count === 0 ? nothing : html`<p class="soft">${whole(count)} ${count === 1 ? 'message waits' : 'messages wait'} to be sent, the oldest for ${duration(waited)}. ${link(addressOf('deliveries'), 'See the deliveries')}</p>`}`;
  }

  readonly #ending: Column<Work> = {
    title: 'Action',
    of: (work) =>
      work.id === null
        ? ''
        : html`<button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#end(work)}>End<span class="sr"> the ${workWords[work.kind]} of ${work.subject}</span></button>`,
    text: () => '',
  };

  async #end({ id, kind, subject }: Work): Promise<void> {
    if (id === null) return;
    const text = kind === 'rollout' ? 'It pauses, and can be continued.' : 'Who waits for it gets an error.';
    if (!(await confirmed(`End the ${workWords[kind]} of ${subject}?`, text, 'End it'))) return;
    await this.act(async () => {
      const { data } = await this.api.call('endRunning', { id });
      return outcomeWords[data.outcome];
    });
  }

  #monthly({ month, tenants, days }: MonthlyUse): TemplateResult {
    const { query } = this.place;
    const named = latestMonths(new Date()).map((one) => [one, monthName(one)] as const);
    const empty = html`<p>Nothing was used in this month.</p>`;
    return html`<div class="toolbar narrowing">${addressChoice('month', 'Month', named, month)}</div>
      ${tenants.rows.length === 0 ? nothing : html`<studio-answer-charts .charts=${usageCharts(days)}></studio-answer-charts>`}
      <section class="card"><h2>By tenant</h2>
        <p class="soft">Tokens, queries, files and mails are exact; of the rest, a process that is killed loses at most one second.${tenants.isTruncated ? ' Not all tenants are listed.' : ''}</p>
        ${list({ name: 'use', rows: tenants.rows, columns: usedColumns, query, empty })}</section>`;
  }

  #overTime(history: AnswerHistory): TemplateResult {
    const { query } = this.place;
    const tenants = history.tenants.map((of) => ({ ...of, name: tenantTextOf(of) }));
    const dashboards = history.dashboards.map((of) => ({ ...of, name: of.dashboardId ?? noDashboard }));
    const chosen = (name: string): string => query.get(name) ?? '';
    const choices = (all: readonly (readonly [string | null, string])[], name: string) => {
      const known = new Map(all.filter((one): one is readonly [string, string] => one[0] !== null));
      if (chosen(name) !== '' && !known.has(chosen(name))) known.set(chosen(name), chosen(name));
      return [['', 'All'] as const, ...known];
    };
    const dataApps = choices(
      [...history.tenants, ...history.dashboards].map(({ dataAppName }) => [dataAppName, dataAppName ?? '']),
      'app',
    );
    return html`<div class="toolbar narrowing">
        ${dataApps.length > 2 ? addressChoice('app', 'Data app', dataApps, chosen('app')) : nothing}
        ${addressChoice(
          'tenant',
          'Tenant',
          choices(
            tenants.map(({ clientId, name }) => [clientId, name]),
            'tenant',
          ),
          chosen('tenant'),
        )}
        ${addressChoice(
          'dashboard',
          'Dashboard',
          choices(
            dashboards.map(({ dashboardId }) => [dashboardId, dashboardId ?? '']),
            'dashboard',
          ),
          chosen('dashboard'),
        )}
      </div>
      ${
        history.steps.length === 0
          ? html`<div class="empty"><h2>Nothing was asked yet</h2><p>Charts appear when somebody opens a dashboard.</p></div>`
          : html`<studio-answer-charts .charts=${answerCharts(history, tenants, dashboards)}></studio-answer-charts>
            <p class="soft">Each step is ${history.stepMinutes} minutes. Times are those of the reader of a dashboard, without the way over the network.${history.others === 0 ? '' : ` ${whole(history.others)} answers are counted without tenant and dashboard.`}</p>
            <section class="card"><h2>By tenant</h2>${list({ name: 'tenants', rows: tenants, columns: tenantFigures, query, searchName: 'tenant-search', empty: '' })}</section>
            <section class="card"><h2>By dashboard</h2>${list({ name: 'dashboards', rows: dashboards, columns: dashboardFigures, query, searchName: 'dashboard-search', empty: '' })}</section>`
      }`;
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

const sourceWords = ({ running, use, since }: Data, view: string | undefined): TemplateResult | string => {
  if (running !== null) return 'Of all processes, a second old at most.';
  if (use !== null) return 'As all processes counted it, in hours of UTC.';
  if (view === 'tenants') return 'The time of databases in this month, as all processes counted it.';
  return html`As the process counted it that answers this page, since it started at ${when(since)} (${timeZone}), for a day at most.`;
};

/** A build serves all tenants. */
const isOfNobody = ({ dataAppName, clientId }: Work): boolean => dataAppName === null && clientId === null;

const processOf = ({ process: instance }: Work, processes: Running['processes']): string => {
  const known = processes.find((one) => one.instance === instance);
  return known === undefined ? instance.slice(0, 8) : processName(known, processes);
};

/** A generated id is told by its beginning, as that of a request is. */
const shortened = (name: string): TemplateResult | string =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(name) ? html`<code title=${name}>${name.slice(0, 8)}</code>` : name;

const workColumns = (processes: Running['processes']): readonly Column<Work>[] => [
  { title: 'What', of: ({ kind }) => workWords[kind] },
  {
    title: 'State',
    of: ({ state }) => badge(state, state === 'running' ? 'good' : 'plain'),
    text: ({ state }) => state,
  },
  {
    title: 'For',
    of: (work) => html`<span class="nowrap">${duration(work.seconds)}</span>`,
    text: (work) => duration(work.seconds),
    isNumber: true,
  },
  { title: 'At', of: ({ subject }) => shortened(subject), text: ({ subject }) => subject },
  {
    title: 'Tenant',
    of: (work) => (isOfNobody(work) ? '' : tenantOf(work)),
    text: (work) => (isOfNobody(work) ? '' : tenantTextOf(work)),
  },
  { title: 'Data app', of: ({ dataAppName }) => dataAppName ?? '' },
  { title: 'Dashboard', of: ({ dashboardId }) => dashboardId ?? '' },
  { title: 'Metric', of: ({ metricId }) => shortened(metricId ?? ''), text: ({ metricId }) => metricId ?? '' },
  { title: 'Process', of: (work) => processOf(work, processes) },
  {
    title: 'Request',
    of: ({ requestId }) => html`<code title=${requestId ?? ''}>${requestId?.slice(0, 8) ?? ''}</code>`,
    text: ({ requestId }) => requestId ?? '',
  },
];

const workFilters: readonly Filter<Work>[] = [
  { name: 'what', label: 'What', of: ({ kind }) => workWords[kind] },
  { name: 'state', label: 'State', of: ({ state }) => state, values: ['running', 'waiting'] },
  { name: 'tenant', label: 'Tenant', of: ({ clientId }) => clientId ?? noTenant, words: (id) => filterWords(id) },
];

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

const percent = (share: number | null): string =>
  share?.toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 0 }) ?? '';
const milliseconds = (ms: number | null): string => (ms === null ? '' : `${ms.toLocaleString()}\u00a0ms`);

type FigureRow = AnswerHistory['tenants'][number] | AnswerHistory['dashboards'][number];

/** `freshAt`: how old the newest rows can be that were read. */
const figures: readonly Column<FigureRow>[] = [
  { title: 'Answers', of: ({ answers }) => whole(answers), isNumber: true },
  { title: 'From kept answers', of: (row) => percent(keptShare(row)), isNumber: true },
  {
    title: 'Failed',
    of: ({ failed }) => (failed === 0 ? '0' : badge(whole(failed), 'bad')),
    text: ({ failed }) => String(failed),
    isNumber: true,
  },
  { title: 'Half within', of: ({ p50 }) => milliseconds(p50), isNumber: true },
  { title: '95 % within', of: ({ p95 }) => milliseconds(p95), isNumber: true },
  timeColumn('Rows last read', ({ freshAt }) => freshAt, 'not in this time'),
];

const tenantFigures: readonly Column<AnswerHistory['tenants'][number]>[] = [
  { title: 'Tenant', of: tenantOf, text: tenantTextOf },
  { title: 'Data app', of: ({ dataAppName }) => dataAppName ?? '' },
  ...figures,
];

const dashboardFigures: readonly Column<AnswerHistory['dashboards'][number]>[] = [
  {
    title: 'Dashboard',
    of: ({ dashboardId }) => (dashboardId === null ? noDashboard : html`<code>${dashboardId}</code>`),
    text: ({ dashboardId }) => dashboardId ?? noDashboard,
  },
  { title: 'Data app', of: ({ dataAppName }) => dataAppName ?? '' },
  ...figures,
];

const monthName = (month: string): string =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

const counted = (title: string, of: (row: UsageRow) => number): Column<UsageRow> => ({
  ...{ title, isNumber: true },
  of: (row) => whole(of(row)),
  text: (row) => String(of(row)),
});

const isErased = (clientId: string | null): boolean => clientId?.startsWith('erased:') === true;

type OfTenant = { readonly clientId?: string | null | undefined };
type OfDataApp = { readonly dataAppName?: string | null | undefined };

const tenantColumn: Column<OfTenant> = {
  title: 'Tenant',
  of: ({ clientId = null }) => (isErased(clientId) ? 'erased tenant' : tenantOf({ clientId })),
  text: ({ clientId = null }) => (isErased(clientId) ? 'erased tenant' : tenantTextOf({ clientId })),
};

const dataAppColumn: Column<OfDataApp> = { title: 'Data app', of: ({ dataAppName }) => dataAppName ?? '' };

const usedColumns: readonly Column<UsageRow>[] = [
  tenantColumn,
  dataAppColumn,
  counted('Users', ({ users }) => users),
  counted('Logins', ({ logins }) => logins),
  counted('Tokens', ({ mints }) => mints),
  counted('Queries', ({ sourceQueries }) => sourceQueries),
  { title: 'Seconds of databases', of: ({ ms }) => seconds(ms), text: ({ ms }) => seconds(ms), isNumber: true },
  counted('Kept answers', ({ keptAnswers }) => keptAnswers),
  counted('Rows', ({ rows }) => rows),
  counted('Files', ({ exports }) => exports),
  counted('Mails', ({ mails }) => mails),
  counted('Model tokens', ({ modelTokens }) => modelTokens),
  counted('Warm-up queries', ({ warmUpQueries }) => warmUpQueries),
];

const useColumns: readonly Column<Row>[] = [
  tenantColumn,
  dataAppColumn,
  { title: 'Time', of: ({ ms }) => inSeconds(ms), isNumber: true },
  { title: 'Tokens, ever', of: ({ mints }) => whole(mints), isNumber: true },
  timeColumn('Last login', ({ lastMintAt }) => lastMintAt, 'none'),
];

customElements.define('studio-queries', QueriesScreen);
