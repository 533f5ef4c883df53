/** The keys that sign and check, and how each kind is rotated. They are of the configuration, so nothing is changed here. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Answer } from '../base/api.js';
import { badge, type Column, type Filter, list, moment, timeColumn } from '../base/kit.js';

type SigningKeys = Answer<'signing-keys'>;
type Key = SigningKeys['keys'][number];
type Set = SigningKeys['sets'][number];

const purposeText: Readonly<Record<Key['purpose'], (of: string | null) => string>> = {
  sessions: (of) => (of === null ? 'Sessions of any issuer' : `Sessions of ${of}`),
  hooks: () => 'Hooks of the host',
  webhooks: (of) => `Webhooks to ${of}`,
  mail: (of) => `Mail of ${of}`,
  archive: () => 'Archive of the audit',
};
const purposeOf = ({ purpose, of }: Key): string => purposeText[purpose](of);

const useOf = ({ use }: Key): string => (use === 'signs' ? 'signs' : 'only checks');

const keptIn = ({ source: { kind, name } }: Key): string => {
  if (kind === 'demo') return 'the demo';
  if (kind === 'setting') return 'the configuration';
  return name ?? '';
};

const shortThumbprint = 12;

const nameCell = ({ kid, thumbprint }: Key): TemplateResult => {
  if (kid === null && thumbprint === null) return html`<span class="soft">a secret</span>`;
  const print =
    thumbprint === null
      ? nothing
      : html`<span class="soft" title=${thumbprint}>${kid === null ? 'thumbprint ' : ''}<code>${thumbprint.slice(0, shortThumbprint)}…</code></span>`;
  return html`${kid === null ? nothing : html`<code>${kid}</code> `}${print}`;
};

const columns: readonly Column<Key>[] = [
  { title: 'For', of: purposeOf },
  {
    title: 'Key',
    of: nameCell,
    text: ({ kid, thumbprint }) => [kid, thumbprint].filter((part) => part !== null).join(' ') || 'a secret',
  },
  { title: 'Algorithm', of: ({ algorithms }) => algorithms.join(', ') },
  { title: 'Use', of: useOf },
  {
    title: 'Kept in',
    of: (key) => (key.source.name === null ? keptIn(key) : html`<code>${keptIn(key)}</code>`),
    text: keptIn,
  },
  timeColumn('In use since', ({ since }) => since),
];

const filters: readonly Filter<Key>[] = [
  { name: 'key-use', label: 'Use', of: useOf, values: ['signs', 'only checks'] },
];

const setText = ({ readAt, isFailing }: Set): TemplateResult => {
  if (isFailing)
    return html`${badge('cannot be read', 'bad')} ${readAt === null ? 'It was never read: its sessions are refused.' : html`Last read ${moment(readAt)}. Its keys are used for a day after that.`}`;
  return readAt === null
    ? html`Not read yet: the first session does.`
    : html`${badge('read', 'good')} ${moment(readAt)}`;
};

const mail =
  'Publish the new public key in DNS under another selector. Then give mail.dkim that selector and the new key, and restart. Take the old record away after a week: messages on their way are still checked with it.';

const archive =
  'It follows the encryption key: rotate that one. Then print the new public key (guestlist audit key), and keep the earlier one for segments that it signed.';

/** How keys are rotated, by what they are for and where they are kept. */
const rotations: Readonly<Record<string, { readonly title: string; readonly text: string }>> = {
  'sessions jwks': {
    title: 'Keys that an issuer publishes',
    text: 'Publish the new key beside the old one. It is read with the first session that names it. When the last session of the old key has ended, take it out of the set: it is refused within 20 minutes, and at once after a restart.',
  },
  'sessions file': {
    title: 'Public keys in a file or in the configuration',
    text: 'Add the new public key to the old one and restart. Let the issuer sign with the new key. When the last session of the old key has ended, take it out and restart.',
  },
  'sessions variable': {
    title: 'Secrets of sessions',
    text: 'An issuer has one secret, so the old one ends when the new one begins. Change it here and at the host together, and restart both. Sessions of the old secret are refused, and the host gives new ones. Public keys have no such gap.',
  },
  'hooks variable': {
    title: 'Secrets of hooks',
    text: 'Give the old and the new secret with a comma between, and restart. Let the host sign with the new one. Then take the old one out and restart.',
  },
  'webhooks variable': {
    title: 'Secrets of webhooks',
    text: 'Let the receiver accept the old and the new secret. Then change the variable and restart.',
  },
  'mail variable': { title: 'The key of mail', text: mail },
  'mail file': { title: 'The key of mail', text: mail },
  'archive variable': { title: 'The key of the archive', text: archive },
  'archive file': { title: 'The key of the archive', text: archive },
  'sessions demo': { title: 'The secret of the demo', text: 'The demo made it for itself. It ends with the demo.' },
};

const rotationsOf = ({ keys, sets }: SigningKeys) => {
  const found = keys.map(({ purpose, source }) => `${purpose} ${source.kind === 'setting' ? 'file' : source.kind}`);
  const wanted = new globalThis.Set([...found, ...(sets.length === 0 ? [] : ['sessions jwks'])]);
  return Object.entries(rotations).flatMap(([name, rotation]) => (wanted.has(name) ? [rotation] : []));
};

/** The card of the page “Keys”. */
export const signingKeys = (sent: SigningKeys, query: URLSearchParams): TemplateResult => {
  const { keys, sets } = sent;
  return html`<section class="card signing"><h2>Keys that sign and check</h2>
    <p class="soft">They come from the configuration and from what issuers publish, as this process has them. Guest tokens are signed by no key: they are random, and only their hash is stored.</p>
    ${list({ name: 'signing keys', searchName: 'key-search', rows: keys, columns, filters, query, empty: html`<p>No session was checked with a key yet.</p>` })}
    ${sets.length === 0 ? nothing : html`<h3>Published sets</h3><dl>${sets.map((set) => html`<dt><code>${set.url}</code></dt><dd>${setText(set)}</dd>`)}</dl>`}
    <h3>How to rotate</h3>
    <dl>${rotationsOf(sent).map(({ title, text }) => html`<dt>${title}</dt><dd>${text}</dd>`)}</dl>
  </section>`;
};
