/** The tenants: what each has, and what an operator can do about it. */
import { html, nothing, type TemplateResult } from 'lit';
import { hasRole } from '../base/api.js';
import { badge, type Column, confirmed, type Filter, link, list, moment, timeColumn } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantLabel, tenantLink, tenantText } from '../base/tenant-names.js';
import { type Copy, type Erasure, type ErasureReport, listTenants, type Tenant } from '../base/tenants.js';
import { latestMonths, monthOf, type UsageRow } from '../base/usage.js';
import type { TenantTime } from './queries.js';

type Data = {
  readonly tenants: readonly Tenant[];
  readonly use: readonly TenantTime[];
  /** What one tenant used this month. Null: nothing, or this person may see no data. */
  readonly month: UsageRow | null;
  /** Of the tenant that the address names, if it is listed no more. */
  readonly erasure: Erasure | null;
};

const stateBadge = ({ state }: Tenant): TemplateResult =>
  badge(state, state === 'active' ? 'good' : state === 'suspended' ? 'warn' : 'bad');

const erasedName = ({ tenantRef }: Tenant): string => `erased ${tenantRef.slice(0, 12)}`;
const textOfTenant = (tenant: Tenant): string =>
  tenant.clientId === null ? erasedName(tenant) : tenantText(tenant.clientId);

const filters: readonly Filter<Tenant>[] = [
  { name: 'state', label: 'State', of: ({ state }) => state, values: ['active', 'suspended', 'deleted'] },
  {
    name: 'provisioning',
    label: 'Provisioning',
    of: ({ outcome }) => outcome,
    values: ['complete', 'unfinished', 'failed', 'none'],
  },
];

class TenantsScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [id] = this.place.rest;
    const { seesData } = this.api.session.person;
    const [tenants, { times }, month] = await Promise.all([
      listTenants(this.api, signal),
      this.api.command('list-slow-queries', { withTimes: id !== undefined && !seesData }, signal),
      id === undefined || !seesData ? null : this.#readUse(id, signal),
    ]);
    const isListed = id === undefined || tenants.some(({ clientId }) => clientId === id);
    const mayRead = hasRole(this.api.session, 'support', 'auditor');
    const erasure = isListed || !mayRead ? null : await this.api.command('erasure-report', { clientId: id }, signal);
    return { tenants, use: times ?? [], month, erasure };
  }

  /** What the tenant used this month. */
  async #readUse(clientId: string, signal: AbortSignal): Promise<UsageRow | null> {
    const [month = ''] = latestMonths(new Date(), 1);
    const { data } = await this.api.call('readUsage', { ...monthOf(month), clientId }, signal);
    return data.rows[0] ?? null;
  }

  protected override needsLoad(before: TenantsScreen['place'] | undefined): boolean {
    return before === undefined || before.rest[0] !== this.place.rest[0];
  }

  protected override content({ tenants, use, month, erasure }: Data): TemplateResult {
    const [id] = this.place.rest;
    const one = id === undefined ? undefined : tenants.find(({ clientId }) => clientId === id);
    if (id !== undefined) return one === undefined ? unknown(id, erasure) : this.#one(one, use, month);
    return html`<div class="head">
        <h1>Tenants</h1>
        <p>Each customer whose users logged in, or that a hook announced.</p>
      </div>
      ${list({
        ...{ name: 'tenants', rows: tenants, columns: this.#columns, filters },
        query: this.place.query,
        empty: html`<h2>No tenants yet</h2><p>A tenant appears here when its first user opens a page with a dashboard.</p>`,
      })}`;
  }

  readonly #columns: readonly Column<Tenant>[] = [
    {
      title: 'Tenant',
      of: (tenant) => (tenant.clientId === null ? erasedName(tenant) : tenantLink(tenant.clientId)),
      text: textOfTenant,
    },
    { title: 'State', of: stateBadge, text: ({ state }) => state },
    { title: 'Dashboards', of: ({ dashboards }) => dashboards.map(({ template }) => template).join(', ') },
    {
      title: 'Provisioning',
      of: ({ outcome }) => badge(outcome, outcome === 'complete' ? 'good' : 'warn'),
      text: ({ outcome }) => outcome,
    },
    {
      title: 'Tokens',
      of: ({ usage }) => usage.mints.toLocaleString(),
      text: ({ usage }) => String(usage.mints),
      isNumber: true,
    },
    timeColumn('Last login', ({ usage }) => usage.lastMintAt, 'none'),
    timeColumn('Since', ({ createdAt }) => createdAt),
  ];

  #one(tenant: Tenant, use: readonly TenantTime[], month: UsageRow | null): TemplateResult {
    return html`<div class="head">
        <h1>${tenant.clientId === null ? erasedName(tenant) : tenantLabel(tenant.clientId)}</h1>
        ${stateBadge(tenant)}
        <span class="gap"></span>
        ${tenant.clientId !== null && hasRole(this.api.session, 'support') ? this.#actions(tenant.clientId, tenant.state) : nothing}
      </div>
      <section class="card">
        <h2>Dashboards</h2>
        ${list({
          ...{ name: 'dashboards', rows: tenant.dashboards, columns: copyColumns, query: this.place.query },
          empty: html`<p class="soft">None yet.</p>`,
        })}
      </section>
      ${this.api.session.person.seesData ? monthlyUse(month) : usageOf(tenant, use)}
      ${
        tenant.clientId !== null && this.api.session.person.seesData
          ? html`<p>${link(addressOf('queries', [], { tenant: tenant.clientId }), 'How its users were answered over time')}</p>`
          : nothing
      }
      <p>${link(addressOf('queries', ['tenants'], { search: tenant.clientId ?? erasedName(tenant) }), this.api.session.person.seesData ? 'What it used, by month' : 'What its queries took')}</p>
      ${
        tenant.clientId !== null && hasRole(this.api.session, 'support', 'auditor')
          ? html`<p>${link(addressOf('deliveries', [], { tenant: tenant.clientId }), 'Reports and alerts of its users')}</p>`
          : nothing
      }
      <p>${link(addressOf('tenants'), 'All tenants')}</p>`;
  }

  #actions(clientId: string, state: Tenant['state']): TemplateResult {
    const isActive = state === 'active';
    const canErase = hasRole(this.api.session, 'owner') && state !== 'deleted';
    return html`<button type="button" class="quiet" ?disabled=${this.isBusy || state === 'deleted'}
        @click=${() => void this.#change(clientId, isActive)}>${isActive ? 'Suspend' : 'Resume'}</button>
      ${canErase ? html`<button type="button" class="danger" ?disabled=${this.isBusy} @click=${() => void this.#erase(clientId)}>Erase</button>` : nothing}`;
  }

  async #change(clientId: string, suspends: boolean): Promise<void> {
    const text = 'Its users see nothing until you resume it. Tokens that are in use end now.';
    if (suspends && !(await confirmed(`Suspend ${tenantText(clientId)}?`, text, 'Suspend'))) return;
    await this.act(async () => {
      await this.api.command(suspends ? 'tenant-suspend' : 'tenant-resume', { clientId });
      return `${tenantText(clientId)} is ${suspends ? 'suspended' : 'active again'}.`;
    });
  }

  async #erase(clientId: string): Promise<void> {
    const text =
      'Its dashboards, its users’ own charts and views, and its names in the audit are removed. This cannot be undone.';
    if (!(await confirmed(`Erase ${tenantText(clientId)}?`, text, 'Erase'))) return;
    await this.act(async () => {
      await this.api.command('tenant-delete', { clientId });
      return `${clientId} is erased.`;
    });
  }
}

const copyColumns: readonly Column<Copy>[] = [
  {
    title: 'Template',
    of: ({ template }) => link(addressOf('dashboards', [template]), template),
    text: ({ template }) => template,
  },
  {
    title: 'Dashboard',
    of: ({ dashboardId }) => html`<code>${dashboardId}</code>`,
    text: ({ dashboardId }) => dashboardId,
  },
  {
    title: 'Version',
    of: ({ templateVersion }) =>
      html`<code title=${templateVersion ?? ''}>${templateVersion?.slice(0, 8) ?? ''}</code>`,
    text: ({ templateVersion }) => templateVersion ?? '',
  },
  { title: 'Step', of: ({ step }) => badge(step, step === 'ready' ? 'good' : 'warn'), text: ({ step }) => step },
  timeColumn('Verified', ({ verifiedAt }) => verifiedAt),
];

/** What its users asked for this month, as all processes counted it. */
const monthlyUse = (month: UsageRow | null): TemplateResult => {
  const whole = (count = 0): string => count.toLocaleString();
  const facts = [
    ['Users', whole(month?.users)],
    ['Logins', whole(month?.logins)],
    ['Queries of databases', whole(month?.sourceQueries)],
    ['Answers without a query', whole(month?.keptAnswers)],
    ['Rows of answers', whole(month?.rows)],
    ['Files', whole(month?.exports)],
    ['Mails', whole(month?.mails)],
  ] as const;
  return html`<section class="card"><h2>Used this month</h2>
    <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  </section>`;
};

/** For those who may see no data: tokens of all time from the audit, and the time of databases in this month. */
const usageOf = ({ clientId, usage }: Tenant, use: readonly TenantTime[]): TemplateResult => {
  const ms = use.filter((one) => clientId !== null && one.clientId === clientId).reduce((sum, one) => sum + one.ms, 0);
  const facts: readonly (readonly [string, TemplateResult | string])[] = [
    ['Tokens', usage.mints.toLocaleString()],
    ['Last login', moment(usage.lastMintAt, 'none')],
    ['Time of databases', `${(ms / 1000).toLocaleString(undefined, { maximumFractionDigits: 2 })} s`],
  ];
  return html`<section class="card"><h2>Usage</h2>
    <p class="soft">Users with equal rights share a token, so a login that finds one is not counted. The time is that of this month.</p>
    <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  </section>`;
};

const reportOf = ({ deletedAt, finishedAt, steps }: ErasureReport): TemplateResult => html`<section class="card">
  <h2>Erased ${moment(deletedAt)} ${finishedAt === null ? badge('under way', 'warn') : badge('finished', 'good')}</h2>
  <dl>${steps.map(
    ({ where, erased, left }) => html`<dt>${where}</dt><dd>
        ${
          Object.entries(erased)
            .map(([what, count]) => `${what}: ${count.toLocaleString()}`)
            .join(', ') || 'nothing was there'
        }
        ${left.length === 0 ? nothing : html`<br /><span class="soft">Left: ${left.join('; ')}</span>`}
      </dd>`,
  )}</dl>
</section>`;

const unknown = (id: string, erasure: Erasure | null): TemplateResult => {
  if (erasure === null || erasure.reports.length === 0) {
    return html`<div class="empty"><h2>No tenant “${id}”</h2>${link(addressOf('tenants'), 'All tenants')}</div>`;
  }
  return html`<div class="head"><h1>${id}</h1>${badge(erasure.isErasureOwed ? 'is being erased' : 'erased', 'bad')}</div>
    ${erasure.reports.map(reportOf)}
    <p>${link(addressOf('tenants'), 'All tenants')}</p>`;
};

customElements.define('studio-tenants', TenantsScreen);
