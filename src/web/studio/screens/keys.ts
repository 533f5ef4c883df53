/**
 * API keys and service tokens: which there are, how owners make, rotate and revoke them. A new key is shown once, and kept
 * nowhere in the page. Below them: who is logged in to Studio, and the keys of the configuration that sign and check.
 */
import { html, type TemplateResult } from 'lit';
import { options } from '../../base/options.js';
import { type Answer, hasRole } from '../base/api.js';
import { type Column, confirmed, type Filter, filled, list, timeColumn } from '../base/kit.js';
import { Screen } from '../base/screen.js';
import { type PersonSession, people } from '../parts/people.js';
import { signingKeys } from '../parts/signing-keys.js';

type Key = {
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly keyHint: string | null;
  readonly expiresAt?: string | null;
};
type Row = Key & { readonly dataApp: string | null };

type Data = {
  readonly rows: readonly Row[];
  readonly apps: readonly string[];
  readonly sessions: readonly PersonSession[];
  readonly signing: Answer<'signing-keys'>;
};

/** Seconds. */
const graces = [
  ['0', 'no longer'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', 'thirty days'],
] as const;

class KeysScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [apps, tokens, { sessions }, signing] = await Promise.all([
      this.api.call('listDataApps', {}, signal),
      this.api.call('listServiceTokens', {}, signal),
      this.api.command('studio-sessions-list', {}, signal),
      this.api.command('signing-keys', {}, signal),
    ]);
    const keys = await Promise.all(
      apps.data.map(async ({ name: dataApp }) => {
        const { data } = await this.api.call('listApiKeys', { dataAppName: dataApp }, signal);
        return data.map((key): Row => ({ ...key, dataApp }));
      }),
    );
    const rows = [...keys.flat(), ...tokens.data.map((token): Row => ({ ...token, dataApp: null }))];
    return { rows, apps: apps.data.map(({ name }) => name), sessions, signing };
  }

  protected override content({ rows, apps, sessions, signing }: Data): TemplateResult {
    const isOwner = hasRole(this.api.session, 'owner');
    const mayMake = isOwner && this.api.session.person.seesData;
    return html`<div class="head"><h1>Keys</h1><p>Programs use them. A key is shown once, when it is made; only its hash is stored.</p></div>
      ${list({
        ...{ name: 'keys', rows, filters, query: this.place.query },
        columns: [...columns, ...(isOwner ? [this.#actions(mayMake)] : [])],
        empty: html`<h2>No keys</h2>`,
        actions: mayMake
          ? html`<button type="button" ?disabled=${this.isBusy} @click=${() => void this.#create(apps)}>New key</button>`
          : undefined,
      })}
      ${people(sessions, this.place.query, isOwner ? { isBusy: this.isBusy, end: (session) => void this.#end(session) } : null)}
      ${signingKeys(signing, this.place.query)}`;
  }

  async #end({ name, issuer, subject }: PersonSession): Promise<void> {
    const text =
      'This person is logged out of Studio everywhere, and can log in again as long as the issuer of logins allows it.';
    if (!(await confirmed(`End all sessions of ${name}?`, text, 'End the sessions'))) return;
    await this.act(async () => {
      await this.api.command('studio-sessions-end', { issuer, subject });
      return `The sessions of ${name} have ended.`;
    });
  }

  readonly #actions = (mayMake: boolean): Column<Row> => ({
    title: 'Action',
    of: (row) =>
      html`${mayMake ? html`<button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#rotate(row)}>Rotate<span class="sr"> ${row.name}</span></button>` : ''}
        <button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#revoke(row)}>Revoke<span class="sr"> ${row.name}</span></button>`,
    text: () => '',
  });

  async #create(apps: readonly string[]): Promise<void> {
    const form = await filled(
      'New key',
      html`<label>For <select name="dataApp">${apps.map((app) => html`<option value=${app}>${app}: an API key of this data app</option>`)}
          <option value="">the organization: a service token</option></select></label>
        <label>Name <input name="name" required maxlength="255" autocomplete="off" /></label>`,
      'Make the key',
    );
    const [dataApp, name] = [form?.get('dataApp'), form?.get('name')];
    if (form === null || typeof name !== 'string') return;
    await this.#show(name, () =>
      this.api.command('key-create', { dataApp: dataApp === '' ? null : String(dataApp), name }),
    );
  }

  async #rotate({ name, dataApp }: Row): Promise<void> {
    const form = await filled(
      `Rotate ${name}`,
      html`<p>A new key gets this name. Give it to the programs that use the old one before that ends. An old one that the configuration names stays ended after a restart.</p>
        <label>The old key works for <select name="grace">${options(graces, '86400')}</select></label>`,
      'Rotate',
    );
    if (form === null) return;
    const graceSeconds = Number(form.get('grace'));
    await this.#show(name, () => this.api.command('key-rotate', { dataApp, name, graceSeconds }));
  }

  /** Shows the new key in a dialog, which is gone when it is closed. */
  async #show(name: string, make: () => Promise<Answer<'key-create'>>): Promise<void> {
    await this.act(async () => {
      const { key } = await make();
      const copy = (): void => void navigator.clipboard.writeText(key);
      await filled(
        `The key ${name}`,
        html`<p>Copy it now: it cannot be shown again.</p>
          <pre tabindex="0" class="wrapped"><code>${key}</code></pre>
          <div class="buttons"><button type="button" class="quiet" @click=${copy}>Copy</button></div>`,
        'Close',
      );
      return `${name} has a new key.`;
    });
  }

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
      if (dataApp === null) await this.api.call('deleteServiceToken', { name });
      else await this.api.call('deleteApiKey', { dataAppName: dataApp, name });
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
  timeColumn('Made', ({ createdAt }) => createdAt),
  timeColumn('Last used', ({ lastUsedAt }) => lastUsedAt, 'not yet'),
];

customElements.define('studio-keys', KeysScreen);
