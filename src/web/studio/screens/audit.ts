/** The audit: who did what, when, and whether the chain of entries is whole. */

import { html, nothing, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import { type Entry, factsOf, kindWords, sentenceOf, type UserNames } from '../base/audit-words.js';
import { badge, type Column, type Filter, link, list, timeColumn } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantLink, tenantText } from '../base/tenant-names.js';

type Data = {
  readonly entries: readonly Entry[];
  readonly isWhole: boolean;
  readonly count: number;
  readonly names: UserNames;
};

const shownEntries = 1_000;

class AuditScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const verified = await this.api.command('audit-verify', {}, signal);
    const after = Math.max(0, verified.entries - shownEntries);
    const latest = await this.#read(after, shownEntries, signal);
    const wanted = this.#wanted;
    const isOld = wanted !== null && wanted <= after;
    const old = isOld ? await this.#read(wanted - 1, 1, signal) : [];
    const names = await this.#readNames(signal);
    return { entries: [...latest, ...old], isWhole: verified.fault === null, count: verified.entries, names };
  }

  /** The names of users as their sessions say them. Without an answer, users are called by their identifiers. */
  async #readNames(signal: AbortSignal): Promise<UserNames> {
    const { viewers } = await this.api.command('viewers-list', {}, signal).catch(() => ({ viewers: [] }));
    return new Map(
      viewers.flatMap(({ name, user, claims: { iss } }) =>
        name === null ? [] : [[iss === undefined ? `|${user}` : `${iss}|${user}`, name]],
      ),
    );
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

  protected override content({ entries, isWhole, count, names }: Data): TemplateResult {
    const wanted = this.place.query.get('entry');
    const rows = wanted === null ? entries.slice(0, shownEntries) : entries.filter(({ seq }) => String(seq) === wanted);
    return html`<div class="head"><h1>Audit</h1>
        ${isWhole ? badge('the chain is whole', 'good') : badge('an entry was changed or removed', 'bad')}
        <p>${counted(count, 'entry', 'entries')}${count > shownEntries ? `; the latest ${shownEntries} are shown` : ''}.</p></div>
      ${wanted === null ? '' : html`<p>Entry ${wanted} alone. ${link(addressOf('audit'), 'All entries')}</p>`}
      ${list({
        ...{ name: 'audit', rows, columns: columnsWith(names), filters },
        query: this.place.query,
        empty:
          entries.length === 0
            ? html`<h2>No entries yet</h2>`
            : html`<h2>There is no such entry</h2><p>The audit has ${counted(count, 'entry', 'entries')}.</p>`,
      })}`;
  }
}

const filters: readonly Filter<Entry>[] = [
  { name: 'kind', label: 'What', of: ({ kind }) => kind, words: (kind) => kindWords[kind] ?? kind },
  { name: 'result', label: 'Result', of: ({ code }) => code },
];

const factsText = (entry: Entry): string =>
  factsOf(entry)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const details = (entry: Entry): TemplateResult => html`<details>
  <summary>Details<span class="sr"> of entry ${entry.seq}</span></summary>
  <dl class="facts">${factsOf(entry).map(([name, value]) => html`<dt>${name}</dt><dd><span class="any">${value}</span></dd>`)}</dl>
</details>`;

const columnsWith = (names: UserNames): readonly Column<Entry>[] => [
  timeColumn('When', ({ at }) => at),
  {
    title: 'What happened',
    of: (entry) => html`${sentenceOf(entry, names)} ${entry.code === 'OK' ? nothing : badge('refused', 'warn')}`,
    text: (entry) => sentenceOf(entry, names),
  },
  {
    title: 'Tenant',
    of: ({ tenant }) => (tenant === undefined ? '' : tenantLink(tenant)),
    text: ({ tenant }) => (tenant === undefined ? '' : tenantText(tenant)),
  },
  { title: 'Details', of: details, text: factsText },
];

customElements.define('studio-audit', AuditScreen);
