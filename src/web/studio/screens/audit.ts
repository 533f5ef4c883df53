/** The audit: who did what, when, and whether the chain of entries is whole. */
import { html, type TemplateResult } from 'lit';
import { badge, type Column, choice, link, list, moment } from '../base/kit.js';
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
/** The lines have pseudonyms of tenants and users; `names` has their names, as long as they are not erased. */
type Page = {
  readonly lines: readonly string[];
  readonly names: readonly ({ readonly tenant?: string; readonly user?: string } | null)[];
  readonly next: number | null;
};
type Verified = { readonly entries: number; readonly fault: unknown };
type Data = { readonly entries: readonly Entry[]; readonly isWhole: boolean; readonly count: number };

const shownEntries = 1_000;

class AuditScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const verified = await this.api.command<Verified>('audit-verify', {}, signal);
    const after = Math.max(0, verified.entries - shownEntries);
    const { lines, names } = await this.api.command<Page>(
      'audit-export',
      { after, limit: shownEntries, names: true },
      signal,
    );
    const entries = lines.map((line, index): Entry => ({ ...JSON.parse(line), ...names[index] })).toReversed();
    return { entries, isWhole: verified.fault === null, count: verified.entries };
  }

  protected override content({ entries, isWhole, count }: Data): TemplateResult {
    const kind = this.place.query.get('kind') ?? '';
    const code = this.place.query.get('result') ?? '';
    const rows = entries.filter(
      (entry) => (kind === '' || entry.kind === kind) && (code === '' || entry.code === code),
    );
    const valuesOf = (value: (entry: Entry) => string): readonly string[] =>
      [...new Set(entries.map(value))].toSorted();
    return html`<div class="head"><h1>Audit</h1>
        ${isWhole ? badge('the chain is whole', 'good') : badge('an entry was changed or removed', 'bad')}
        <p>${count} entries${count > entries.length ? `; the latest ${entries.length} are shown` : ''}.</p></div>
      <div class="toolbar">
        ${choice(
          'kind',
          'What',
          valuesOf((entry) => entry.kind),
          kind,
        )}
        ${choice(
          'result',
          'Result',
          valuesOf((entry) => entry.code),
          code,
        )}
      </div>
      ${list({
        name: 'audit',
        rows,
        columns,
        search: this.place.query.get('search') ?? '',
        empty:
          entries.length === 0
            ? html`<h2>No entries yet</h2>`
            : html`<h2>No entry is like this</h2><p>${link(addressOf('audit'), 'All entries')}</p>`,
      })}`;
  }
}

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
  { title: 'User', of: ({ user }) => user },
  { title: 'Details', of: inWords },
];

customElements.define('studio-audit', AuditScreen);
