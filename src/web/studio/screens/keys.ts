/** API keys and service tokens: which there are, and their revocation. Keys are made by command, never in a browser. */
import { html, type TemplateResult } from 'lit';
import { hasRole } from '../base/api.js';
import { type Column, confirmed, type Filter, list, moment } from '../base/kit.js';
import { Screen } from '../base/screen.js';

type Key = {
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly keyHint: string | null;
  readonly expiresAt?: string | null;
};
type Row = Key & { readonly dataApp: string | null };

class KeysScreen extends Screen<readonly Row[]> {
  protected override async load(signal: AbortSignal): Promise<readonly Row[]> {
    const [apps, tokens] = await Promise.all([
      this.api.call<{ data: readonly { name: string }[] }>('GET', 'data-app', { signal }),
      this.api.call<{ data: readonly Key[] }>('GET', 'service-token', { signal }),
    ]);
    const keys = await Promise.all(
      apps.data.map(async ({ name: dataApp }) => {
        const query = { dataAppName: dataApp };
        const { data } = await this.api.call<{ data: readonly Key[] }>('GET', 'data-app/api-tokens', { query, signal });
        return data.map((key): Row => ({ ...key, dataApp }));
      }),
    );
    return [...keys.flat(), ...tokens.data.map((token): Row => ({ ...token, dataApp: null }))];
  }

  protected override content(rows: readonly Row[]): TemplateResult {
    const mayRevoke = hasRole(this.api.session, 'owner');
    return html`<div class="head"><h1>Keys</h1><p>Make and rotate keys with <code>guestlist keys</code>: a key is never shown in a browser.</p></div>
      ${list({
        name: 'keys',
        rows,
        filters,
        columns: [...columns, ...(mayRevoke ? [this.#revoking] : [])],
        query: this.place.query,
        empty: html`<h2>No keys</h2>`,
      })}`;
  }

  readonly #revoking: Column<Row> = {
    title: 'Action',
    of: (row) =>
      html`<button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#revoke(row)}>Revoke ${row.name}</button>`,
  };

  async #revoke({ name, dataApp }: Row): Promise<void> {
    if (
      !(await confirmed(
        `Revoke ${name}?`,
        'Programs that use it are refused from now on. This cannot be undone.',
        'Revoke',
      ))
    )
      return;
    await this.act(async () => {
      if (dataApp === null) await this.api.call('DELETE', 'service-token', { query: { name } });
      else await this.api.call('DELETE', 'data-app/api-tokens', { query: { dataAppName: dataApp, name } });
      return `${name} is revoked.`;
    });
  }
}

const kindOf = ({ dataApp }: Row): string => (dataApp === null ? 'service token' : `API key of ${dataApp}`);

const filters: readonly Filter<Row>[] = [
  { name: 'kind', label: 'Kind', of: kindOf },
  {
    name: 'use',
    label: 'Use',
    of: ({ lastUsedAt }) => (lastUsedAt === null ? 'not yet used' : 'used'),
    values: ['used', 'not yet used'],
  },
];

const columns: readonly Column<Row>[] = [
  { title: 'Name', of: ({ name }) => name },
  { title: 'Kind', of: kindOf },
  {
    title: 'Ends with',
    of: ({ keyHint }) => (keyHint === null ? '' : html`<code>…${keyHint}</code>`),
    text: ({ keyHint }) => keyHint ?? '',
  },
  { title: 'Made', of: ({ createdAt }) => moment(createdAt), text: ({ createdAt }) => createdAt },
  {
    title: 'Last used',
    of: ({ lastUsedAt }) => moment(lastUsedAt, 'not yet'),
    text: ({ lastUsedAt }) => lastUsedAt ?? 'not yet',
  },
];

customElements.define('studio-keys', KeysScreen);
