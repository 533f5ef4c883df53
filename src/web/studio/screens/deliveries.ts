/** The reports and alerts of all users: what comes next, what became of the last one, and how to pause them. */
import { html, nothing, type TemplateResult } from 'lit';
import { type Answer, hasRole } from '../base/api.js';
import { outcomeWords, reasonText } from '../base/delivery-reasons.js';
import { badge, type Column, confirmed, type Filter, list, timeColumn } from '../base/kit.js';
import { Screen } from '../base/screen.js';
import { tenantLink, tenantText } from '../base/tenant-names.js';

export type Schedules = Answer<'schedules-list'>;
export type Schedule = Schedules['schedules'][number];

const states = ['active', 'paused', 'muted', 'failed'] as const;
type State = (typeof states)[number];

const stateOf = ({ isPaused, mutedUntil, last }: Schedule): State => {
  if (isPaused) return 'paused';
  if (mutedUntil !== null && new Date(mutedUntil) > new Date()) return 'muted';
  return last?.state === 'failed' ? 'failed' : 'active';
};

const kinds = { active: 'good', paused: 'warn', muted: 'warn', failed: 'bad' } as const;

const lastText = ({ last }: Schedule): string =>
  last === null
    ? 'none yet'
    : [outcomeWords(last.state)[0], reasonText(last.reason)].filter((part) => part !== '').join(': ');

const lastCell = ({ last }: Schedule): TemplateResult | string => {
  if (last === null) return 'none yet';
  const [words, kind] = outcomeWords(last.state);
  return html`${badge(words, kind)} ${reasonText(last.reason)}`;
};

class DeliveriesScreen extends Screen<Schedules> {
  /** Where the list of all is cut, that of the tenant in the address is asked for too, so that a link finds its row. */
  protected override async load(signal: AbortSignal): Promise<Schedules> {
    const all = await this.api.command('schedules-list', {}, signal);
    const tenant = this.place.query.get('tenant');
    if (!all.hasMore || tenant === null) return all;
    const { schedules } = await this.api.command('schedules-list', { tenant }, signal);
    const known = new Set(all.schedules.map(({ id }) => id));
    return { ...all, schedules: [...all.schedules, ...schedules.filter(({ id }) => !known.has(id))] };
  }

  protected override needsLoad(before: DeliveriesScreen['place'] | undefined): boolean {
    const isOther = before?.query.get('tenant') !== this.place.query.get('tenant');
    return before === undefined || (isOther && this.data?.hasMore === true);
  }

  protected override content({ schedules, hasMore }: Schedules): TemplateResult {
    const mayPause = hasRole(this.api.session, 'support');
    return html`<div class="head"><h1>Deliveries</h1>
        <p>Reports and alerts that users made for themselves. What a message says is not shown here.</p>
        <span class="gap"></span>
        <button type="button" class="quiet" @click=${() => void this.reload()}>Read again</button></div>
      ${hasMore ? html`<p class="notice">There are more than these ${schedules.length}; the newest are shown, and all of a tenant that you filter by its whole id.</p>` : nothing}
      ${list({
        ...{ name: 'deliveries', rows: schedules, filters, query: this.place.query },
        columns: [...columns, ...(mayPause ? [this.#pausing] : [])],
        empty: html`<h2>Nobody has made a report or an alert</h2><p>Users make them behind the bell of a dashboard, where reports are on and the embed allows them.</p>`,
      })}`;
  }

  readonly #pausing: Column<Schedule> = {
    title: 'Action',
    of: (schedule) =>
      html`<button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#change(schedule)}>
        ${schedule.isPaused ? 'Resume' : 'Pause'}<span class="sr"> ${schedule.name} of ${tenantText(schedule.clientId)}</span>
      </button>`,
  };

  async #change({ id, name, clientId, isPaused }: Schedule): Promise<void> {
    const text = isPaused
      ? 'Its user may have paused it, for example by the link that ends a message. Moments that passed are not sent.'
      : 'Its user gets nothing until somebody resumes it. The user sees that it is paused, and may resume it.';
    const verb = isPaused ? 'Resume' : 'Pause';
    if (!(await confirmed(`${verb} “${name}” of ${tenantText(clientId)}?`, text, verb))) return;
    await this.act(async () => {
      await this.api.command(isPaused ? 'schedule-resume' : 'schedule-pause', { id });
      return `“${name}” of ${tenantText(clientId)} is ${isPaused ? 'active again' : 'paused'}.`;
    });
  }
}

const filters: readonly Filter<Schedule>[] = [
  { name: 'tenant', label: 'Tenant', of: ({ clientId }) => clientId, words: tenantText },
  { name: 'state', label: 'State', of: stateOf, values: states },
  { name: 'kind', label: 'Kind', of: ({ format }) => format },
];

const columns: readonly Column<Schedule>[] = [
  {
    title: 'Tenant',
    of: ({ clientId }) => tenantLink(clientId),
    text: ({ clientId }) => tenantText(clientId),
  },
  { title: 'User', of: ({ user }) => user },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Kind', of: ({ format }) => format },
  {
    title: 'Dashboard',
    of: ({ dashboardId }) => html`<code>${dashboardId}</code>`,
    text: ({ dashboardId }) => dashboardId,
  },
  { title: 'To', of: ({ channel }) => channel ?? 'e-mail' },
  { title: 'State', of: (schedule) => badge(stateOf(schedule), kinds[stateOf(schedule)]), text: stateOf },
  timeColumn('Next', ({ nextAt }) => nextAt, 'none'),
  timeColumn('Last', ({ last }) => last?.moment, 'none yet'),
  { title: 'Outcome', of: lastCell, text: lastText },
];

customElements.define('studio-deliveries', DeliveriesScreen);
