/** The audit: who did what, when, and whether the chain of entries is whole. */
import { html, type TemplateResult } from 'lit';
import { badge, type Column, type Filter, link, list, moment } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';

type Entry = {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly code: string;
  readonly requestId?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};
type Data = { readonly entries: readonly Entry[]; readonly isWhole: boolean; readonly count: number };

const shownEntries = 1_000;

class AuditScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const verified = await this.api.command('audit-verify', {}, signal);
    const after = Math.max(0, verified.entries - shownEntries);
    const latest = await this.#read(after, shownEntries, signal);
    const wanted = this.#wanted;
    const isOld = wanted !== null && wanted <= after;
    const old = isOld ? await this.#read(wanted - 1, 1, signal) : [];
    return { entries: [...latest, ...old], isWhole: verified.fault === null, count: verified.entries };
  }

  /** Returns the entries after that number, the newest first. */
  async #read(after: number, limit: number, signal: AbortSignal): Promise<readonly Entry[]> {
    // The lines have pseudonyms of tenants and users; `names` has their names, as long as they are not erased.
    const { lines, names } = await this.api.command('audit-export', { after, limit, names: true }, signal);
    return lines.map((line, index): Entry => ({ ...JSON.parse(line), ...names?.[index] })).toReversed();
  }

  /** The number of the only entry that the address names. Null: it names none. */
  get #wanted(): number | null {
    const text = this.place.query.get('entry') ?? '';
    return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
  }

  /** An older entry is read when an address first names it. */
  protected override needsLoad(before: AuditScreen['place'] | undefined): boolean {
    const wanted = this.#wanted;
    const isShown = wanted === null || this.data?.entries.some(({ seq }) => seq === wanted) === true;
    return super.needsLoad(before) || !isShown;
  }

  protected override content({ entries, isWhole, count }: Data): TemplateResult {
    const wanted = this.place.query.get('entry');
    const rows = wanted === null ? entries.slice(0, shownEntries) : entries.filter(({ seq }) => String(seq) === wanted);
    return html`<div class="head"><h1>Audit</h1>
        ${isWhole ? badge('the chain is whole', 'good') : badge('an entry was changed or removed', 'bad')}
        <p>${count} entries${count > shownEntries ? `; the latest ${shownEntries} are shown` : ''}.</p></div>
      ${wanted === null ? '' : html`<p>Entry ${wanted} alone. ${link(addressOf('audit'), 'All entries')}</p>`}
      ${list({
        ...{ name: 'audit', rows, columns, filters },
        query: this.place.query,
        empty:
          entries.length === 0
            ? html`<h2>No entries yet</h2>`
            : html`<h2>There is no such entry</h2><p>The audit has ${count} entries.</p>`,
      })}`;
  }
}

const filters: readonly Filter<Entry>[] = [
  { name: 'kind', label: 'What', of: ({ kind }) => kind },
  { name: 'result', label: 'Result', of: ({ code }) => code },
];

const inWords = ({ detail = {} }: Entry): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value.split('/').at(-1) : JSON.stringify(value)}`)
    .join(', ');

const columns: readonly Column<Entry>[] = [
  { title: 'Number', of: ({ seq }) => seq, isNumber: true },
  { title: 'When', of: ({ at }) => moment(at), text: ({ at }) => at },
  { title: 'What', of: ({ kind }) => kind },
  { title: 'Result', of: ({ code }) => (code === 'OK' ? 'OK' : badge(code, 'warn')), text: ({ code }) => code },
  { title: 'Tenant', of: ({ tenant }) => tenant },
  // A user of a view has no issuer.
  { title: 'User', of: ({ user }) => user?.replace(/^\|/, '') },
  // Paths and ids are long words.
  { title: 'Details', of: (entry) => html`<span class="any">${inWords(entry)}</span>`, text: inWords },
  {
    title: 'Request',
    of: ({ requestId }) => html`<code title=${requestId ?? ''}>${requestId?.slice(0, 8) ?? ''}</code>`,
    text: ({ requestId }) => requestId ?? '',
  },
];

customElements.define('studio-audit', AuditScreen);
