/** Who is logged in to Studio. Owners end all sessions of a person. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Answer } from '../base/api.js';
import { badge, type Column, type Filter, list, timeColumn } from '../base/kit.js';

export type PersonSession = Answer<'studio-sessions-list'>['sessions'][number];

const byLink = 'a login link';
const issuerOf = ({ issuer }: PersonSession): string => (issuer === 'link' ? byLink : issuer);
const mayOf = ({ roles, seesData }: PersonSession): string =>
  `${roles.join(', ')}${seesData ? ', sees data' : ', sees no data'}`;

const columns: readonly Column<PersonSession>[] = [
  {
    title: 'Person',
    of: ({ name, isOwn }) => html`${name}${isOwn ? html` ${badge('this session')}` : nothing}`,
    text: ({ name, subject }) => `${name} ${subject}`,
  },
  { title: 'Logged in by', of: issuerOf },
  { title: 'May', of: mayOf },
  timeColumn('Last used', ({ usedAt }) => usedAt),
  timeColumn('Confirmed by the issuer', ({ vouchedAt }) => vouchedAt, 'not asked again'),
  timeColumn('Ends at the latest', ({ expiresAt }) => expiresAt),
];

const filters: readonly Filter<PersonSession>[] = [{ name: 'login', label: 'Logged in by', of: issuerOf }];

/** `ending` null: this person may only look. */
export const people = (
  sessions: readonly PersonSession[],
  query: URLSearchParams,
  ending: { readonly isBusy: boolean; readonly end: (session: PersonSession) => void } | null,
): TemplateResult => {
  const own = sessions.find(({ isOwn }) => isOwn);
  const isOwn = ({ issuer, subject }: PersonSession): boolean => issuer === own?.issuer && subject === own.subject;
  const action: Column<PersonSession> = {
    title: 'Action',
    of: (session) =>
      isOwn(session)
        ? ''
        : html`<button type="button" class="text" ?disabled=${ending?.isBusy} @click=${() => ending?.end(session)}>End<span class="sr"> all sessions of ${session.name}</span></button>`,
    text: () => '',
  };
  return html`<section class="card"><h2>People who are logged in</h2>
    <p class="soft">Their issuer is asked again every few minutes, and a session ends when it refuses. Sessions of a login link, and of an issuer that gives nothing to ask with, end by their time or here.</p>
    ${list({
      ...{ name: 'sessions', searchName: 'person', rows: sessions, filters, query, empty: html`<p>Nobody.</p>` },
      columns: ending === null ? columns : [...columns, action],
    })}
  </section>`;
};
