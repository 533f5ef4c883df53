/** The process: whether its parts work and how to mend them, its numbers, and the configuration in force. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Answer } from '../base/api.js';
import { badge, type Column, type Filter, link, list, moment } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';

type System = Answer<'read-system'>;
type SystemNumber = System['numbers'][number];
type Source = System['live']['sources'][number];
type Queue = Source['queries'];

const pollMs = 5_000;

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
      return await this.api.command('read-system', {}, signal);
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

  protected override content({ version, checks, settings, numbers, live }: System): TemplateResult {
    const failed = checks.filter(({ isGood }) => !isGood).length;
    return html`<div class="head"><h1>System</h1>${failed === 0 ? badge('all parts work', 'good') : badge(`${failed} of ${checks.length} parts fail`, 'bad')}
        <p>Version ${version}. What is shown is of this process, and read anew every few seconds.</p></div>
      <section class="card"><h2>Parts</h2>
        <dl>${checks.map(({ name, isGood, fix }) => html`<dt>${name}</dt><dd>${isGood ? badge('works', 'good') : badge('fails', 'bad')} ${fix ?? (isGood ? '' : 'The log says why.')}</dd>`)}</dl>
      </section>
      <section class="card"><h2>Connections to sources</h2>
        <p class="soft">Known without asking a database. A source appears with its first question since the start.</p>
        ${list({
          ...{
            name: 'connections',
            searchName: 'source',
            rows: live.sources,
            columns: sourceColumns,
            filters: sourceFilters,
          },
          ...{ query: this.place.query, empty: html`<p>No source was asked yet.</p>` },
        })}
        ${live.cache === null || live.cache.bytes === null ? nothing : html`<p class="soft">Kept answers: ${megabytes(live.cache.bytes)} of ${megabytes(live.cache.maxBytes)}.</p>`}
      </section>
      <section class="card"><h2>Numbers since the start</h2>
        ${list({ name: 'numbers', rows: numbers, columns, query: this.place.query, empty: html`<p>None yet.</p>` })}
      </section>
      <section class="card"><h2>Configuration in force</h2>
        <p class="soft">Without secrets, which come from the environment.</p>
        <pre tabindex="0"><code>${JSON.stringify(settings, null, 2)}</code></pre>
      </section>`;
  }
}

const sourceFilters: readonly Filter<Source>[] = [
  { name: 'state', label: 'State', of: stateOf, values: ['open', 'closed', 'failing'] },
];

const whole = (value: number): string => value.toLocaleString();
/** What runs, and how much waits behind it. */
const queueText = ({ running, waiting }: Queue): string =>
  waiting === 0 ? whole(running) : `${whole(running)}, ${whole(waiting)} waiting`;

const sourceColumns: readonly Column<Source>[] = [
  { title: 'Source', of: ({ name }) => link(addressOf('sources', [name]), name), text: ({ name }) => name },
  { title: 'Kind', of: ({ type }) => type },
  { title: 'State', of: (source) => badge(stateOf(source), stateKinds[stateOf(source)]), text: stateOf },
  { title: 'Open', of: ({ connections }) => whole(connections.open), isNumber: true },
  { title: 'Busy', of: ({ connections }) => whole(connections.busy), isNumber: true },
  { title: 'Waiting', of: ({ connections }) => whole(connections.waiting), isNumber: true },
  { title: 'Queries', of: ({ queries }) => queueText(queries) },
  { title: 'Downloads', of: ({ downloads }) => queueText(downloads) },
  {
    title: 'Open since',
    of: ({ openSince }) => moment(openSince, 'not open'),
    text: ({ openSince }) => openSince ?? '',
  },
  {
    title: 'Last error',
    of: ({ lastError }) =>
      lastError === null
        ? 'none'
        : html`${badge(lastError.reason, lastError.isOver ? 'plain' : 'bad')} ${moment(lastError.at)}${lastError.isOver ? ', over since' : ''}`,
    text: ({ lastError }) => (lastError === null ? 'none' : `${lastError.reason} ${lastError.at}`),
  },
];

const columns: readonly Column<SystemNumber>[] = [
  { title: 'Number', of: ({ name }) => html`<code>${name}</code>`, text: ({ name }) => name },
  { title: 'Value', of: ({ value }) => value.toLocaleString(undefined, { maximumFractionDigits: 2 }), isNumber: true },
  { title: 'Meaning', of: ({ help }) => help },
];

customElements.define('studio-system', SystemScreen);
