/** What needs somebody now, what was done lately, and what this installation has. */
import { html, nothing, type TemplateResult } from 'lit';
import { type Api, hasRole } from '../base/api.js';
import { type Concern, concernsOf, type Watched } from '../base/attention.js';
import { badge, link, moment, timeZone } from '../base/kit.js';
import { recentWork, type Work } from '../base/recent-work.js';
import { addressOf, entries, type ScreenName } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantText } from '../base/tenant-names.js';

type Overview = {
  readonly sources: number;
  readonly models: number;
  readonly dashboards: number;
  readonly tenants: number;
  readonly hasMoreTenants: boolean;
  /** The data app that the policy names, if it does not exist. */
  readonly missingDataApp: string | null;
  readonly watched: Watched;
  readonly work: readonly Work[];
  /** What could not be read now. */
  readonly unread: readonly string[];
};

type Reading = { readonly watched: Watched; readonly work: readonly Work[]; readonly unread: readonly string[] };

/** Templates that are looked at: each asks for its editions. */
const mostTemplates = 12;
const shownEditions = 3;

/** What each template has that tenants do not see yet, and who changed it lately. */
const readTemplates = async (api: Api, signal: AbortSignal) => {
  const { templates } = await api.command('policy-read', {}, signal);
  return Promise.all(
    templates.slice(0, mostTemplates).map(async ({ template, name }) => {
      const [history, { unreadable }] = await Promise.all([
        api.command('template-history', { template, limit: shownEditions }, signal),
        api.command('rollout-plan', { template, limit: 1 }, signal),
      ]);
      return { template, name, unreadable, changes: history.unpublished.length, editions: history.editions };
    }),
  );
};

/** Reads what the person may see on the pages of it. What cannot be read is named, and keeps nothing else away. */
const readWatched = async (api: Api, missing: Promise<string | null>, signal: AbortSignal): Promise<Reading> => {
  const unread: string[] = [];
  const read = async <T>(title: string, screen: ScreenName | null, ask: () => Promise<T>): Promise<T | undefined> => {
    const entry = entries.find((one) => one.screen === screen);
    if (entry !== undefined && !hasRole(api.session, ...entry.roles)) return undefined;
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw error;
      unread.push(title);
      return undefined;
    }
  };
  const [system, running, rollouts, schedules, queries, templates, keys, names] = await Promise.all([
    read('the system', 'system', () => api.command('read-system', {}, signal)),
    read('connections', 'system', () => api.call('readRunning', {}, signal)),
    read('roll-outs', null, () => api.command('rollout-list', {}, signal)),
    read('deliveries', 'deliveries', () => api.command('schedules-list', {}, signal)),
    read('queries', null, () => api.command('list-slow-queries', {}, signal)),
    mayReadEditions(api) ? read('editions', null, () => readTemplates(api, signal)) : undefined,
    read('keys', 'keys', () => api.command('signing-keys', {}, signal)),
    mayReadNames(api)
      ? read('names of the policy', null, async () => readNames(api, await missing, signal))
      : undefined,
  ]);
  const watched = {
    ...(system === undefined ? {} : { system }),
    ...(running === undefined ? {} : { processes: running.data.processes }),
    ...(rollouts === undefined ? {} : { rollouts: rollouts.rollouts }),
    ...(schedules === undefined ? {} : { schedules: schedules.schedules }),
    ...(queries === undefined ? {} : { failedQueries: queries.failed ?? [] }),
    ...(templates === undefined ? {} : { templates }),
    ...(keys === undefined ? {} : { keySets: keys.sets }),
    ...(names !== undefined && 'unknown' in names ? { unknownNames: names.unknown.length } : {}),
  };
  return { watched, work: recentWork(templates ?? [], rollouts?.rollouts ?? []), unread };
};

/** Without the data app, no name of the policy can be looked for. */
const readNames = async (api: Api, missingDataApp: string | null, signal: AbortSignal) =>
  missingDataApp === null ? api.command('policy-names', {}, signal) : undefined;

/** The data app that the policy names, if it is not there. */
const findMissingDataApp = async (api: Api, signal: AbortSignal): Promise<string | null> => {
  const [dataApps, { dataApp }] = await Promise.all([
    api.call('listDataApps', {}, signal),
    api.command('policy-read', {}, signal),
  ]);
  return dataApps.data.some(({ name }) => name === dataApp) ? null : dataApp;
};

const mayReadEditions = ({ session }: Api): boolean => hasRole(session, 'author', 'publisher', 'auditor');
const mayReadNames = ({ session }: Api): boolean => hasRole(session, 'author', 'publisher', 'policyAdmin', 'auditor');

class OverviewScreen extends Screen<Overview> {
  protected override async load(signal: AbortSignal): Promise<Overview> {
    const missing = findMissingDataApp(this.api, signal);
    const [sources, models, workspaces, missingDataApp, { tenants, next }, { watched, work, unread }] =
      await Promise.all([
        this.api.call('listDatasources', {}, signal),
        this.api.call('listDatamarts', {}, signal),
        this.api.call('listWorkspaces', {}, signal),
        missing,
        this.api.command('tenants-list', {}, signal),
        readWatched(this.api, missing, signal),
      ]);
    const lists = await Promise.all(
      workspaces.data.map(({ name: workspaceName }) => this.api.call('listDashboards', { workspaceName }, signal)),
    );
    return {
      sources: sources.data.length,
      models: models.data.length,
      dashboards: lists.reduce((sum, { data }) => sum + data.length, 0),
      tenants: tenants.length,
      hasMoreTenants: next !== null,
      missingDataApp,
      ...{ watched, work },
      // Without the data app there is nothing to read in it.
      unread: missingDataApp === null ? unread : [],
    };
  }

  protected override content(overview: Overview): TemplateResult {
    const { missingDataApp, watched, work, unread } = overview;
    const concerns = concernsOf(watched, tenantText);
    return html`<div class="head">
        <h1>Overview</h1>
        <p>${unread.length === 0 ? calmLine(concerns) : nothing}</p>
      </div>
      ${missingDataApp === null ? nothing : this.#createDataApp(missingDataApp)}
      ${concerns.length === 0 ? nothing : attention(concerns)}
      ${unread.length === 0 ? nothing : html`<p class="soft" role="status">Could not be read now: ${unread.join(', ')}.</p>`}
      ${hasRole(this.api.session, 'author') ? nextStep(overview) : nothing}
      ${work.length === 0 ? nothing : recent(work)}
      ${figures(overview)}`;
  }

  /** Without its data app, the gateway can give no user a token. */
  #createDataApp(name: string): TemplateResult {
    const create = (): void =>
      void this.act(async () => {
        await this.api.call('createDataApp', { name });
        return `The data app ${name} is there.`;
      });
    return html`<section class="card">
      <h2>The data app “${name}” does not exist</h2>
      <p>The policy names it: the embeds and tokens of its users belong to it.</p>
      ${
        hasRole(this.api.session, 'owner')
          ? html`<button type="button" ?disabled=${this.isBusy} @click=${create}>Create it</button>`
          : html`<p class="soft">Ask an owner to create it.</p>`
      }
    </section>`;
  }
}

const figures = ({
  sources,
  models,
  dashboards,
  tenants,
  hasMoreTenants,
}: Overview): TemplateResult => html`<div class="cards">
  ${figure('Sources', 'sources', `${sources}`, 'databases that hold your customers’ rows')}
  ${figure('Models', 'models', `${models}`, 'which tables and columns may be shown, and whose rows they are')}
  ${figure('Dashboards', 'dashboards', `${dashboards}`, 'templates, from which each tenant gets a copy')}
  ${figure('Tenants', 'tenants', `${tenants}${hasMoreTenants ? '+' : ''}`, 'customers whose users have logged in')}
</div>`;

const figure = (
  title: string,
  path: string,
  value: string,
  meaning: string,
): TemplateResult => html`<section class="card">
  <h2>${link(addressOf(path), title)}</h2>
  <span class="figure">${value}</span>
  <span class="soft">${meaning}</span>
</section>`;

const words = { bad: 'fails', warn: 'look at it', plain: 'waits' } as const;

/** What is under way, or waits to be rolled out, needs nobody today. */
const calmLine = (concerns: readonly Concern[]): string => {
  const pressing = concerns.filter(({ kind }) => kind !== 'plain').length;
  if (pressing === 0) return 'Nothing needs you now.';
  return pressing === 1 ? 'One thing needs you today.' : `${pressing.toLocaleString()} things need you today.`;
};

const attention = (concerns: readonly Concern[]): TemplateResult => html`<section class="card">
  <h2>To do</h2>
  <ul class="concerns">${concerns.map(
    ({ text, kind, mend, path, rest, query }) => html`<li>${badge(words[kind], kind)} <span>${text}</span>
      ${link(addressOf(path, rest, query), html`${mend}<span class="sr">: ${text}</span>`)}</li>`,
  )}</ul>
</section>`;

const recent = (work: readonly Work[]): TemplateResult => html`<section class="card">
  <h2>Recent work <span class="hint">times: ${timeZone}</span></h2>
  <ul class="concerns work">${work.map(
    ({ at, text, path, rest }) =>
      html`<li><span class="soft">${moment(at)}</span> ${link(addressOf(path, rest), text)}</li>`,
  )}</ul>
</section>`;

type Counts = Pick<Overview, 'sources' | 'models' | 'dashboards' | 'tenants'>;

const nextStep = ({ sources, models, dashboards, tenants }: Counts): TemplateResult | typeof nothing => {
  if (sources === 0)
    return step(
      'Add your data',
      'Paste the URL of a database: from there to a dashboard in your product in five steps.',
      'start',
    );
  if (models === 0) return step('Describe the tables', 'Say which column tells whose rows these are.', 'models');
  if (dashboards === 0) return step('Build a dashboard', 'Choose fields, and see the chart at once.', 'dashboards');
  if (tenants === 0) return step('Embed it', 'Copy ten lines into a page of your product.', 'embed');
  return nothing;
};

const step = (title: string, text: string, path: string): TemplateResult => html`<section class="card">
  <h2>Next: ${title.toLowerCase()}</h2>
  <p>${text}</p>
  ${link(addressOf(path), title, 'button')}
</section>`;

customElements.define('studio-overview', OverviewScreen);
