/** Reports of the host to all tenants of a template: which there are, how to make them, and what became of each in each tenant. */
import { html, nothing, type TemplateResult } from 'lit';
import { hasRole, type OperationAnswer } from '../base/api.js';
import { listTemplates, readContent } from '../base/content.js';
import { outcomesText, outcomeWords, reasonCause, reasonText } from '../base/delivery-reasons.js';
import { badge, type Column, confirmed, type Filter, link, list, moment, timeColumn, timeZone } from '../base/kit.js';
import { filtersText, type NewReport, type HostReport as Report } from '../base/report-plan.js';
import { addressOf, navigate } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantLink, tenantText } from '../base/tenant-names.js';
import { type KnownViewer, listViewers } from '../base/viewer.js';
import { alertText, askReport, listedRecurrence, type ReportParts, recurrenceText } from '../parts/report-dialog.js';

type Delivery = OperationAnswer<'listTemplateDeliveries'>['data'][number];
type Data = { readonly reports: readonly Report[]; readonly deliveries: readonly Delivery[] | null };

const place = 'tenant-reports';
/** The most deliveries that the server lists. */
const mostListed = 5000;

const outcomeOf = ({ last }: Report): string =>
  last === null ? 'none yet' : outcomesText(last.counts) || 'being sent';

const stateOf = ({ isPaused, last }: Report): 'active' | 'paused' | 'failed' => {
  if (isPaused) return 'paused';
  return (last?.counts.failed ?? 0) > 0 ? 'failed' : 'active';
};
const kinds = { active: 'good', paused: 'warn', failed: 'bad' } as const;

class TenantReportsScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [scheduleId] = this.place.rest;
    const [reports, deliveries] = await Promise.all([
      this.api.call('listTemplateSchedules', { scheduleId }, signal),
      scheduleId === undefined ? null : this.api.call('listTemplateDeliveries', { scheduleId }, signal),
    ]);
    return { reports: reports.data, deliveries: deliveries?.data ?? null };
  }

  protected override content({ reports, deliveries }: Data): TemplateResult {
    const [report] = reports;
    return deliveries === null || report === undefined ? this.#all(reports) : this.#one(report, deliveries);
  }

  get #mayChange(): boolean {
    return hasRole(this.api.session, 'publisher');
  }

  #all(reports: readonly Report[]): TemplateResult {
    const make = this.#mayChange
      ? html`<button type="button" ?disabled=${this.isBusy} @click=${() => void this.#make()}>New report</button>`
      : undefined;
    return html`<div class="head"><h1>Tenant reports</h1>
        <p>Reports to all tenants that have a copy of a template. Each user gets what that user may see then.</p>
        <span class="gap"></span>
        <button type="button" class="quiet" @click=${() => void this.reload()}>Read again</button></div>
      ${list({
        ...{ name: 'tenant-reports', rows: reports, columns, filters, query: this.place.query, actions: make },
        empty: html`<h2>No report goes to all tenants</h2><p>Schedule a template, and every tenant that has it gets it: also those that join later.</p>`,
      })}`;
  }

  #one(report: Report, deliveries: readonly Delivery[]): TemplateResult {
    const { roles, users } = report.recipients;
    return html`<p>${link(addressOf(place), 'All tenant reports')}</p>
      <div class="head"><h1>${report.name}</h1>${badge(stateOf(report), kinds[stateOf(report)])}
        <span class="gap"></span>
        <button type="button" class="quiet" @click=${() => void this.reload()}>Read again</button>
        ${this.#actions(report)}</div>
      <dl>
        <dt>Template</dt><dd>${link(addressOf('dashboards', [report.dashboardId]), report.dashboardId)}</dd>
        <dt>Format</dt><dd>${report.format}</dd>
        ${report.metricIds === null ? nothing : html`<dt>Charts</dt><dd>${report.metricIds.length} chosen</dd>`}
        ${Object.keys(report.dashboardFilter).length === 0 ? nothing : html`<dt>Filters</dt><dd>${filtersText(report.dashboardFilter)}</dd>`}
        <dt>When</dt><dd>${recurrenceText(report.recurrence)}</dd>
        <dt>To</dt><dd>${[...roles.map((role) => `role ${role}`), ...users].join(', ')}</dd>
        ${report.channel === null ? nothing : html`<dt>Channel</dt><dd>${report.channel}</dd>`}
        ${report.alert === null ? nothing : html`<dt>Alert</dt><dd>${alertText(report.alert)}</dd>`}
        <dt>Next</dt><dd>${moment(report.nextAt, 'none')}${report.nextAt === null ? '' : `, ${timeZone}`}</dd>
      </dl>
      <h2>What became of it</h2>
      ${deliveries.length === mostListed ? html`<p class="notice">Only the newest ${mostListed} are shown.</p>` : nothing}
      ${list({
        ...{ name: 'history', rows: deliveries, columns: historyColumns, filters: historyFilters },
        query: this.place.query,
        empty: html`<h3>Nothing was sent yet</h3>`,
      })}`;
  }

  #actions(report: Report): TemplateResult {
    const button = (text: string, work: () => Promise<void>, className = 'quiet') =>
      html`<button type="button" class=${className} ?disabled=${this.isBusy} @click=${() => void work()}>${text}</button>`;
    const mayPause = hasRole(this.api.session, 'publisher', 'support');
    const pausing = mayPause ? button(report.isPaused ? 'Resume' : 'Pause', () => this.#pause(report)) : nothing;
    if (!this.#mayChange) return html`${pausing}`;
    return html`${button('Change', () => this.#change(report))}${pausing}
      ${button('Delete', () => this.#delete(report), 'danger')}
      ${button('Send now', () => this.#send(report), '')}`;
  }

  async #make(): Promise<void> {
    const templates = await listTemplates(this.api).catch(() => []);
    const save = async (report: NewReport) => void (await this.api.call('createTemplateSchedule', report));
    await askReport({ templates, partsOf: this.#partsOf, preview: this.#preview, save });
    await this.reload();
  }

  async #change(report: Report): Promise<void> {
    const save = async ({ dashboardId: _, ...plan }: NewReport) =>
      void (await this.api.call('updateTemplateSchedule', { ...plan, scheduleId: report.id }));
    const { dashboardId, name } = report;
    await askReport({
      templates: [{ dashboardId, name }],
      given: report,
      ...{ partsOf: this.#partsOf, preview: this.#preview, save },
    });
    await this.reload();
  }

  /** Of one of the recipients, for people with access to data. */
  get #preview() {
    if (!this.api.session.person.seesData) return null;
    return {
      listReaders: (dashboardId: string) => listViewers(this.api, dashboardId),
      read: (report: NewReport, { clientId, userIdentifier: user }: KnownViewer) =>
        this.api.command('report-preview', { ...report, clientId, user }),
    };
  }

  readonly #partsOf = async (dashboardId: string): Promise<ReportParts> => {
    const template = (await listTemplates(this.api)).find((one) => one.dashboardId === dashboardId);
    if (template === undefined) throw new Error(`The template ${dashboardId} is gone.`);
    const { data } = await readContent(this.api, template);
    return { metrics: data.metrics.filter(({ placement }) => placement === 'METRIC'), filters: data.filters };
  };

  async #pause({ id, name, isPaused }: Report): Promise<void> {
    await this.act(async () => {
      if (this.#mayChange) await this.api.call('updateTemplateSchedule', { scheduleId: id, isPaused: !isPaused });
      else await this.api.command(isPaused ? 'schedule-resume' : 'schedule-pause', { id });
      return isPaused ? `“${name}” is active again. What passed meanwhile is not sent.` : `“${name}” is paused.`;
    });
  }

  async #send({ id, name, dashboardId }: Report): Promise<void> {
    const text = `Every tenant that has ${dashboardId} gets it now, as its users may see it.`;
    if (!(await confirmed(`Send “${name}” to all tenants?`, text, 'Send now'))) return;
    await this.act(async () => {
      await this.api.call('sendTemplateSchedule', { scheduleId: id });
      return 'It is being sent. Read again to see what becomes of it.';
    });
  }

  async #delete({ id, name }: Report): Promise<void> {
    const text = 'Its history goes with it, and what has not left is not sent. This cannot be undone.';
    if (!(await confirmed(`Delete “${name}”?`, text, 'Delete'))) return;
    await this.act(async () => {
      await this.api.call('deleteTemplateSchedule', { scheduleId: id });
      navigate(addressOf(place), true);
      return `“${name}” is deleted.`;
    });
  }
}

const filters: readonly Filter<Report>[] = [
  { name: 'state', label: 'State', of: stateOf, values: Object.keys(kinds) },
  { name: 'template', label: 'Template', of: ({ dashboardId }) => dashboardId },
];
const historyFilters: readonly Filter<Delivery>[] = [
  { name: 'tenant', label: 'Tenant', of: ({ clientId }) => clientId, words: tenantText },
  { name: 'state', label: 'Outcome', of: ({ state }) => state, words: (state) => outcomeWords(state)[0] },
  { name: 'reason', label: 'Reason', of: ({ reason }) => reasonCause(reason) },
];

const columns: readonly Column<Report>[] = [
  { title: 'Name', of: ({ id, name }) => link(addressOf(place, [id]), name), text: ({ name }) => name },
  {
    title: 'Template',
    of: ({ dashboardId }) => html`<code>${dashboardId}</code>`,
    text: ({ dashboardId }) => dashboardId,
  },
  { title: 'Format', of: ({ format }) => format },
  { title: 'To', of: ({ recipients: { roles, users } }) => [...roles, ...users].join(', ') },
  { title: 'When', of: ({ recurrence }) => listedRecurrence(recurrence) },
  { title: 'State', of: (report) => badge(stateOf(report), kinds[stateOf(report)]), text: stateOf },
  timeColumn('Next', ({ nextAt }) => nextAt, 'none'),
  timeColumn('Last', ({ last }) => last?.moment, 'none yet'),
  { title: 'Outcome', of: outcomeOf },
];

const historyColumns: readonly Column<Delivery>[] = [
  {
    title: 'Tenant',
    of: ({ clientId }) => (clientId === '' ? 'none' : tenantLink(clientId)),
    text: ({ clientId }) => (clientId === '' ? '' : tenantText(clientId)),
  },
  { title: 'User', of: ({ recipient }) => recipient || 'none' },
  timeColumn('Moment', ({ moment: at }) => at),
  { title: 'Asked for', of: ({ isRequested }) => (isRequested ? 'at once' : 'as planned') },
  { title: 'Outcome', of: ({ state }) => badge(...outcomeWords(state)), text: ({ state }) => outcomeWords(state)[0] },
  { title: 'Reason', of: ({ reason }) => reasonText(reason) },
  { title: 'Attempts', of: ({ attempts }) => attempts, isNumber: true },
  timeColumn('Ended', ({ finishedAt }) => finishedAt, 'not yet'),
];

customElements.define('studio-tenant-reports', TenantReportsScreen);
