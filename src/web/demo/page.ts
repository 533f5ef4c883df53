/** Renders the demo host page for a given state: header, landing page, dashboard, and a panel about the current user. */
import { html, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { GuestPermissions } from '../../model/guest/grant.js';
import type { Refused } from '../token/keeper.js';
import type { EmbedToken, GrantedEmbed } from '../token/request.js';
import { say } from './say.js';
import { type CurrentUser, type DemoUser, embedTitle } from './session.js';

/** Details of the event `guestlist-loaded`. */
export type LoadedDashboard = {
  readonly dashboardId: string;
  readonly name: string;
  readonly permissions: GuestPermissions;
  readonly filters: readonly string[];
};

export type PageState = {
  readonly users: readonly DemoUser[];
  readonly current: CurrentUser | null;
  readonly isSwitching: boolean;
  readonly minted: EmbedToken | null;
  /** Set if the gateway refused this user. */
  readonly refusal: Refused | null;
  /** A temporary failure; the page retries. */
  readonly trouble: string | null;
  readonly selected: string | null;
  readonly loaded: Readonly<Record<string, LoadedDashboard>>;
  readonly theme: 'auto' | 'light' | 'dark';
};

export type PageActions = {
  readonly switchTo: (userId: string | null) => void;
  readonly select: (embedId: string) => void;
  readonly setTheme: (theme: PageState['theme']) => void;
  readonly expired: () => void;
  readonly loaded: (dashboard: LoadedDashboard) => void;
};

export const page = (state: PageState, actions: PageActions): TemplateResult => html`
  ${header(state, actions)}
  ${state.trouble === null ? null : html`<p class="trouble" role="alert">${state.trouble}</p>`}
  ${state.current === null ? signedOut(state, actions) : signedIn(state, state.current, actions)}
`;

const header = (state: PageState, actions: PageActions): TemplateResult => html`<header class="top">
  <a class="brand" href="/demo">
    <svg width="26" height="26" viewBox="0 0 26 26" aria-hidden="true">
      <rect width="26" height="26" rx="7" fill="currentColor"></rect>
      <path d="M5.5 18.5h15M6.5 12.2l3.4 1.6 4.1-2.3-5-4.4 1.9-.8 7 2.9c1.6-.9 3-.8 3.3-.2.3.7-.6 1.7-2.2 2.5l-9.4 4.3z" fill="none" stroke="#fff" stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round"></path>
    </svg>
    <span>Airfield</span>
  </a>
  <span class="product">${say('Operations')}</span>
  <span class="space"></span>
  ${themeChoice(state, actions)} ${userChoice(state, actions)}
</header>`;

const themeChoice = ({ theme }: PageState, actions: PageActions): TemplateResult => html`<label class="choice">
  <span>${say('Theme')}</span>
  <select @change=${(event: Event) => actions.setTheme(themeOf(chosenIn(event)))}>
    ${(['auto', 'light', 'dark'] as const).map(
      (name) =>
        html`<option value=${name} ?selected=${name === theme}>${say(name.charAt(0).toUpperCase() + name.slice(1))}</option>`,
    )}
  </select>
</label>`;

const userChoice = (state: PageState, actions: PageActions): TemplateResult => html`<label class="choice">
  <span>${say('Signed in as')}</span>
  <select
    id="user"
    ?disabled=${state.isSwitching}
    .value=${state.current?.id ?? ''}
    @change=${(event: Event) => actions.switchTo(chosenIn(event) || null)}
  >
    <option value="" ?selected=${state.current === null}>${say('Nobody')}</option>
    ${state.users.map(
      ({ id, name, title, airport }) =>
        html`<option value=${id} ?selected=${id === state.current?.id}>${name}, ${say(title)}, ${airport}</option>`,
    )}
  </select>
</label>`;

const signedOut = ({ users, isSwitching }: PageState, actions: PageActions): TemplateResult => {
  if (isSwitching) return html`<main class="landing"><p class="quiet" role="status">${say('One moment…')}</p></main>`;
  return html`<main class="landing">
    <h1>${say('Every airport sees its own flights')}</h1>
    <p class="lead">${say('Three million real flights, one database, five people. Sign in as one of them.')}</p>
    <ul class="people">
      ${users.map(
        (user) => html`<li>
          <button type="button" @click=${() => actions.switchTo(user.id)}>
            <strong>${user.name}</strong>
            <span class="quiet">${say(user.title)}, ${user.airport}</span>
            <span>${say(user.description)}</span>
          </button>
        </li>`,
      )}
    </ul>
  </main>`;
};

const signedIn = (state: PageState, user: CurrentUser, actions: PageActions): TemplateResult => html`<div class="shell">
  ${aboutUser(state, user)}
  <main>${keyed(user.id, content(state, actions))}</main>
</div>`;

const content = (state: PageState, actions: PageActions): TemplateResult => {
  const { refusal, minted, selected } = state;
  if (refusal !== null) return refused(refusal);
  if (minted === null) return html`<p class="quiet" role="status">${say('Asking the gateway for a token…')}</p>`;
  const embed = minted.embeds.find(({ id }) => id === selected);
  if (embed === undefined) return html`<p class="quiet">${say('This token opens nothing.')}</p>`;
  return html`
    <h1 class="sr">${say('Operations')}</h1>
    <nav class="tabs" aria-label=${say('Dashboards')}>
      ${minted.embeds.map(
        ({ id, name }) =>
          html`<button type="button" aria-current=${id === selected ? 'page' : 'false'} @click=${() => actions.select(id)}>
            ${state.loaded[id]?.name ?? say(embedTitle(id, name))}
          </button>`,
      )}
    </nav>
    ${keyed(embed.id, embedded(embed, minted, state, actions))}
  `;
};

const embedded = (
  { id, type }: GrantedEmbed,
  { token, serviceUrl }: EmbedToken,
  { theme }: PageState,
  actions: PageActions,
): TemplateResult => {
  const loaded = (event: CustomEvent<LoadedDashboard>) => actions.loaded(event.detail);
  if (type === 'metric') {
    return html`<guestlist-metric
      .token=${token}
      .theme=${theme}
      metric-id=${id}
      service-url=${reachable(serviceUrl)}
      @token-expired=${actions.expired}
    ></guestlist-metric>`;
  }
  return html`<guestlist-dashboard
    .token=${token}
    .theme=${theme}
    dashboard-id=${id}
    service-url=${reachable(serviceUrl)}
    @token-expired=${actions.expired}
    @guestlist-loaded=${loaded}
  ></guestlist-dashboard>`;
};

const refused = ({ code, message, status }: Refused): TemplateResult => html`<section class="refused" role="alert">
  <p class="code"><span>${status}</span> <code>${code}</code></p>
  <h1>${say('The gateway gave no token')}</h1>
  <p>${message}</p>
  <p class="quiet">
    ${say('This is the unchanged answer of POST /embed-token to this user’s session. The gateway’s log has the cause: look for the reference.')}
  </p>
</section>`;

/** The service's URL as this page can reach it: `localhost` and `127.0.0.1` on the same port count as the page's own origin. */
const reachable = (serviceUrl: string): string => {
  if (serviceUrl === '') return location.origin;
  const url = new URL(serviceUrl, location.origin);
  const isLoopback = (host: string) => ['localhost', '127.0.0.1', '[::1]'].includes(host);
  const isHere = isLoopback(url.hostname) && isLoopback(location.hostname) && url.port === location.port;
  return isHere ? location.origin : url.href;
};

const chosenIn = (event: Event): string => (event.target instanceof HTMLSelectElement ? event.target.value : '');
const themeOf = (text: string): PageState['theme'] => (text === 'light' || text === 'dark' ? text : 'auto');

const aboutUser = (state: PageState, user: CurrentUser): TemplateResult => html`<aside class="about">
  <section>
    <h2>${say('You are')}</h2>
    <div class="who">
      <span class="avatar" aria-hidden="true">${initials(user.name)}</span>
      <div>
        <strong>${user.name}</strong>
        <div class="quiet">${say(user.title)}</div>
      </div>
    </div>
    <dl>
      <dt>${say('Airport')}</dt>
      <dd>${user.airport}</dd>
      <dt>${say('Roles')}</dt>
      <dd>${user.roles.length === 0 ? say('none') : user.roles.map((role) => html`<span class="chip">${role}</span> `)}</dd>
      <dt>${say('Region')}</dt>
      <dd>${user.region ?? say('none')}</dd>
    </dl>
  </section>
  <section>
    <h2>${say('You may see')}</h2>
    ${state.refusal === null ? allowed(state, user) : html`<p>${say('Nothing: the gateway refused with {code}.', { code: state.refusal.code })}</p>`}
  </section>
  <details>
    <summary>${say('Claims of this session')}</summary>
    <pre>${JSON.stringify(user.claims, null, 2)}</pre>
  </details>
</aside>`;

const allowed = ({ minted, loaded, selected }: PageState, user: CurrentUser): TemplateResult => {
  if (minted === null) return html`<p class="quiet">…</p>`;
  const permissions = selected === null ? undefined : loaded[selected]?.permissions;
  return html`<ul class="rights">
      ${minted.embeds.map(({ id, name }) => right(true, loaded[id]?.name ?? say(embedTitle(id, name)), id))}
    </ul>
    <ul class="rights">
      ${right(true, say('Flights from {airport}, and no other airport’s', { airport: user.airport }))} ${regionRight(user)}
    </ul>
    <ul class="rights">
      ${right(permissions?.isEnableUnderlyingData, say('The rows behind a chart'))}
      ${right(permissions?.isEnableDownloadMetrics, say('Downloads as CSV'))}
    </ul>`;
};

const regionRight = ({ roles, region }: CurrentUser): TemplateResult | null => {
  if (!roles.includes('regional')) return right(true, say('All destinations'));
  return right(
    true,
    say('Of those, only flights to {region}', { region: region ?? say('no region') }),
    say('by the role “regional” and the session’s region'),
  );
};

const right = (isGranted: boolean | undefined, text: string, note?: string): TemplateResult => {
  const word = say(isGranted === undefined ? 'Not known yet' : isGranted ? 'Yes' : 'No');
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
