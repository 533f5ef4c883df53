/** The installation: whether its parts work and how to mend them, its processes, numbers, and the configuration in force. */
import { html, type TemplateResult } from 'lit';
import type { Answer } from '../base/api.js';
import { badge, type Column, type Filter, link, list, moment, timeColumn, timeZone } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { duration, pollMs, processName, type RunningProcess } from '../base/running.js';
import { Screen } from '../base/screen.js';

type State = Answer<'read-system'>;
type System = State & { readonly processes: readonly RunningProcess[] };
type SystemNumber = State['numbers'][number];
type Source = RunningProcess['sources'][number] & { readonly process: string };
type Queue = Source['queries'];

const stateOf = ({ databases, lastError }: Source): 'failing' | 'open' | 'closed' =>
  lastError?.isOver === false ? 'failing' : databases > 0 ? 'open' : 'closed';
const stateKinds = { failing: 'bad', open: 'good', closed: 'plain' } as const;

const megabytes = (bytes: number): string =>
  `${(bytes / 1_048_576).toLocaleString(undefined, { maximumFractionDigits: 1 })} MB`;

class SystemScreen extends Screen<System> {
  #timer: ReturnType<typeof setTimeout> | undefined;

  protected override async load(signal: AbortSignal): Promise<System> {
    clearTimeout(this.#timer);
    try {
      const [state, { data }] = await Promise.all([
        this.api.command('read-system', {}, signal),
        this.api.call('readRunning', {}, signal),
      ]);
      return { ...state, processes: data.processes };
    } finally {
      // Also after a failure: the service may be away for a moment.
      if (!signal.aborted) this.#timer = setTimeout(() => void this.reload(), pollMs);
    }
  }

  protected override needsLoad(before: SystemScreen['place'] | undefined): boolean {
    return before === undefined;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override content({ version, checks, settings, numbers, processes }: System): TemplateResult {
    const failed = checks.filter(({ isGood }) => !isGood).length;
    return html`<div class="head"><h1>System</h1>${failed === 0 ? badge('all parts work', 'good') : badge(`${failed} of ${checks.length} parts fail`, 'bad')}
        <p>Version ${version}. Parts and numbers are of the process that answers this page, connections are of all. Read anew every few seconds. Times: ${timeZone}.</p></div>
      <section class="card"><h2>Parts</h2>
        <ul class="plain">${checks.map((check) => partLine(check, databaseOf(settings)))}</ul>
      </section>
      <section class="card"><h2>Processes</h2>
        ${list({ name: 'processes', searchName: 'process', rows: processes, columns: processColumns(processes), query: this.place.query, empty: '' })}
      </section>
      <section class="card"><h2>Connections to sources</h2>
        <p class="soft">Known without asking a database. A source appears with its first question since the start of a process.</p>
        ${list({
          ...{
            name: 'connections',
            searchName: 'source',
            rows: sourcesOf(processes),
            columns:
              processes.length > 1 ? [sourceColumns[0], processColumn, ...sourceColumns.slice(1)] : sourceColumns,
            filters: sourceFilters,
          },
          ...{ query: this.place.query, empty: html`<p>No source was asked yet.</p>` },
        })}
      </section>
      <section class="card"><h2>Numbers since the start</h2>
        ${list({ name: 'numbers', rows: numbers, columns, query: this.place.query, empty: html`<p>None yet.</p>` })}
      </section>
      <details class="card"><summary>Configuration in force</summary>
        <p class="soft">Without secrets, which come from the environment.</p>
        <pre tabindex="0"><code>${JSON.stringify(settings, null, 2)}</code></pre>
      </details>`;
  }
}

type Check = System['checks'][number];

/** The database of the metadata and the ledger. */
const databaseOf = (settings: unknown): string =>
  (settings as { readonly databaseUrl?: string | null }).databaseUrl == null ? 'The built-in database' : 'PostgreSQL';

/** What a part is to people: its subject with what it does while it works, and while it fails. */
const partWords = (name: string, database: string): readonly [works: string, fails: string] => {
  const known: Readonly<Record<string, readonly [string, string]>> = {
    metadata: [`${database} answers`, `${database} does not answer: dashboards and models cannot be read`],
    ledger: ['The ledger answers', 'The ledger does not answer: nobody can log in'],
    'ledger-writes': ['The audit can be written', 'The audit cannot be written: nobody can log in'],
    'api-key': ['The service accepts the gateway’s key', 'The service does not accept the gateway’s key'],
    'data-folder': ['The data folder can be read', 'The data folder cannot be read'],
  };
  return known[name] ?? [`${name} works`, `${name} fails`];
};

const partLine = ({ name, isGood, fix, tookMs }: Check, database: string): TemplateResult => {
  const [works, fails] = partWords(name, database);
  const took = tookMs === null ? '' : ` in ${tookMs < 1 ? 'less than 1' : tookMs.toLocaleString()} ms`;
  return isGood
    ? html`<li>${badge('works', 'good')} <span title=${name}>${works}${took}.</span></li>`
    : html`<li>${badge('fails', 'bad')} <span title=${name}>${fails}.</span> ${fix ?? `The log says why, at the check ${name}.`}</li>`;
};

const keptText = ({ cache }: RunningProcess): string =>
  cache === null || cache.bytes === null ? '' : `${megabytes(cache.bytes)} of ${megabytes(cache.maxBytes)}`;

const processColumns = (all: readonly RunningProcess[]): readonly Column<RunningProcess>[] => [
  {
    title: 'Process',
    of: (one) => `${processName(one, all)}${one.isAnswering && all.length > 1 ? ', which answers this page' : ''}`,
  },
  { title: 'Version', of: ({ version }) => version },
  timeColumn('Since', ({ startedAt }) => startedAt),
  { title: 'Kept answers', of: keptText },
];

const sourcesOf = (processes: readonly RunningProcess[]): readonly Source[] =>
  processes.flatMap((one) => one.sources.map((source) => ({ ...source, process: processName(one, processes) })));

const sourceFilters: readonly Filter<Source>[] = [
  { name: 'state', label: 'State', of: stateOf, values: ['open', 'closed', 'failing'] },
];

const whole = (value: number): string => value.toLocaleString();
/** What runs, and how much waits behind it. */
const queueText = ({ running, waiting }: Queue): string =>
  waiting === 0 ? whole(running) : `${whole(running)}, ${whole(waiting)} waiting`;

const processColumn: Column<Source> = { title: 'Process', of: ({ process }) => process };

const sourceColumns: readonly [Column<Source>, ...(readonly Column<Source>[])] = [
  { title: 'Source', of: ({ name }) => link(addressOf('sources', [name]), name), text: ({ name }) => name },
  { title: 'Kind', of: ({ type }) => type },
  { title: 'State', of: (source) => badge(stateOf(source), stateKinds[stateOf(source)]), text: stateOf },
  { title: 'Open', of: ({ connections }) => whole(connections.open), isNumber: true },
  { title: 'Busy', of: ({ connections }) => whole(connections.busy), isNumber: true },
  { title: 'Waiting', of: ({ connections }) => whole(connections.waiting), isNumber: true },
  { title: 'Queries', of: ({ queries }) => queueText(queries) },
  { title: 'Downloads', of: ({ downloads }) => queueText(downloads) },
  timeColumn('Open since', ({ openSince }) => openSince, 'not open'),
  {
    title: 'Last error',
    of: ({ lastError }) =>
      lastError === null
        ? 'none'
        : html`${badge(lastError.reason, lastError.isOver ? 'plain' : 'bad')} ${moment(lastError.at)}${lastError.isOver ? ', over since' : ''}`,
    text: ({ lastError }) => (lastError === null ? 'none' : `${lastError.reason} ${lastError.at}`),
  },
];

/** A number in the unit that its name has, as a person reads it. */
const numberText = ({ name, value }: SystemNumber): TemplateResult | string => {
  if (name.endsWith('_timestamp_seconds'))
    return value === 0 ? 'not yet' : moment(new Date(value * 1000).toISOString());
  if (name.endsWith('_seconds')) return duration(value);
  if (name.endsWith('_bytes')) return megabytes(value);
  return value.toLocaleString(undefined, { maximumFractionDigits: 2 });
};

const columns: readonly Column<SystemNumber>[] = [
  { title: 'Value', of: numberText, text: ({ value }) => String(value), isNumber: true },
  {
    title: 'What is counted',
    of: ({ help, name }) => html`${help}<div class="soft measure"><code>${name}</code></div>`,
    text: ({ help, name }) => `${help} ${name}`,
  },
];

customElements.define('studio-system', SystemScreen);
