/** The demo page's panel that says plainly who one is and what one may see. */
import { html, type TemplateResult } from 'lit';
import type { PageState } from './demo-page.js';
import { type CurrentUser, embedTitle } from './demo-session.js';

export const aboutUser = (state: PageState, user: CurrentUser): TemplateResult => html`<aside class="about">
  <section>
    <h2>You are</h2>
    <div class="who">
      <span class="avatar" aria-hidden="true">${initials(user.name)}</span>
      <div>
        <strong>${user.name}</strong>
        <div class="quiet">${user.title}</div>
      </div>
    </div>
    <dl>
      <dt>Airport</dt>
      <dd>${user.airport}</dd>
      <dt>Roles</dt>
      <dd>${user.roles.length === 0 ? 'none' : user.roles.map((role) => html`<span class="chip">${role}</span> `)}</dd>
      <dt>Region</dt>
      <dd>${user.region ?? 'none'}</dd>
    </dl>
  </section>
  <section>
    <h2>You may see</h2>
    ${state.refusal === null ? allowed(state, user) : html`<p>Nothing: the gateway refused with <code>${state.refusal.code}</code>.</p>`}
  </section>
  <details>
    <summary>Claims of this session</summary>
    <pre>${JSON.stringify(user.claims, null, 2)}</pre>
  </details>
</aside>`;

const allowed = ({ minted, loaded, selected }: PageState, user: CurrentUser): TemplateResult => {
  if (minted === null) return html`<p class="quiet">…</p>`;
  const permissions = selected === null ? undefined : loaded[selected]?.permissions;
  return html`<ul class="rights">
      ${minted.embeds.map(({ id, name }) => right(true, `${loaded[id]?.name ?? embedTitle(id, name)}`, id))}
    </ul>
    <ul class="rights">
      ${right(true, `Flights from ${user.airport}, and no other airport’s`)} ${regionRight(user)}
    </ul>
    <ul class="rights">
      ${right(permissions?.isEnableUnderlyingData, 'The rows behind a chart')}
      ${right(permissions?.isEnableDownloadMetrics, 'Downloads as CSV')}
    </ul>`;
};

const regionRight = ({ roles, region }: CurrentUser): TemplateResult | null => {
  if (!roles.includes('regional')) return right(true, 'All destinations');
  return right(
    true,
    `Of those, only flights to ${region ?? 'no region'}`,
    'by the role “regional” and the session’s region',
  );
};

const right = (isGranted: boolean | undefined, text: string, note?: string): TemplateResult => {
  const word = isGranted === undefined ? 'Not known yet' : isGranted ? 'Yes' : 'No';
  return html`<li class=${isGranted === true ? 'yes' : 'no'}>
    <span class="mark" aria-hidden="true">${isGranted === undefined ? '·' : isGranted ? '✓' : '✕'}</span>
    <span><span class="sr">${word}: </span>${text}${note === undefined ? null : html`<small class="quiet">${note}</small>`}</span>
  </li>`;
};

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
