/** The tenants: what each has, and what an operator can do about it. */
import { html, nothing, type TemplateResult } from 'lit';
import { hasRole } from '../base/api.js';
import { badge, type Column, confirmed, link, list, moment, when } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';

type Copy = {
  readonly template: string;
  readonly dashboardId: string;
  readonly templateVersion: string | null;
  readonly step: string;
  readonly verifiedAt: string | null;
  readonly failure: unknown;
};
type Tenant = {
  readonly clientId: string | null;
  readonly tenantRef: string;
  readonly state: 'active' | 'suspended' | 'deleted';
  readonly occurredAt: string | null;
  readonly createdAt: string;
  readonly outcome: string;
  readonly dashboards: readonly Copy[];
};
type Page = { readonly tenants: readonly Tenant[]; readonly next: string | null };

const stateBadge = ({ state }: Tenant): TemplateResult =>
  badge(state, state === 'active' ? 'good' : state === 'suspended' ? 'warn' : 'bad');

const nameOf = ({ clientId, tenantRef }: Tenant): string => clientId ?? `erased ${tenantRef.slice(0, 12)}`;

class TenantsScreen extends Screen<readonly Tenant[]> {
  protected override async load(signal: AbortSignal): Promise<readonly Tenant[]> {
    const all: Tenant[] = [];
    let after: string | null = null;
    do {
      const input: object = after === null ? {} : { after };
      const page: Page = await this.api.command<Page>('tenants-list', input, signal);
      all.push(...page.tenants);
      after = page.next;
    } while (after !== null && all.length < 5_000);
    return all;
  }

  protected override needsLoad(before: TenantsScreen['place'] | undefined): boolean {
    return before === undefined;
  }

  protected override content(tenants: readonly Tenant[]): TemplateResult {
    const [id] = this.place.rest;
    const one = id === undefined ? undefined : tenants.find(({ clientId }) => clientId === id);
    if (id !== undefined) return one === undefined ? unknown(id) : this.#one(one);
    return html`<div class="head">
        <h1>Tenants</h1>
        <p>Each customer whose users logged in, or that a hook announced.</p>
      </div>
      ${list({
        name: 'tenants',
        rows: tenants,
        columns: this.#columns,
        search: this.place.query.get('search') ?? '',
        empty: html`<h2>No tenants yet</h2><p>A tenant appears here when its first user opens a page with a dashboard.</p>`,
      })}`;
  }

  readonly #columns: readonly Column<Tenant>[] = [
    {
      title: 'Tenant',
      of: (tenant) =>
        tenant.clientId === null ? nameOf(tenant) : link(addressOf('tenants', [tenant.clientId]), tenant.clientId),
      text: nameOf,
    },
    { title: 'State', of: stateBadge, text: ({ state }) => state },
    { title: 'Dashboards', of: ({ dashboards }) => dashboards.map(({ template }) => template).join(', ') },
    {
      title: 'Provisioning',
      of: ({ outcome }) => badge(outcome, outcome === 'complete' ? 'good' : 'warn'),
      text: ({ outcome }) => outcome,
    },
    { title: 'Since', of: ({ createdAt }) => moment(createdAt), text: ({ createdAt }) => createdAt },
  ];

  #one(tenant: Tenant): TemplateResult {
    return html`<div class="head">
        <h1>${nameOf(tenant)}</h1>
        ${stateBadge(tenant)}
        <span class="gap"></span>
        ${hasRole(this.api.session, 'support') ? this.#actions(tenant) : nothing}
      </div>
      <section class="card">
        <h2>Dashboards</h2>
        ${tenant.dashboards.length === 0 ? html`<p class="soft">None yet.</p>` : copies(tenant)}
      </section>
      <p>${link(addressOf('queries', ['tenants'], { search: nameOf(tenant) }), 'What its queries took')}</p>
      ${
        tenant.clientId !== null && hasRole(this.api.session, 'support', 'auditor')
          ? html`<p>${link(addressOf('deliveries', [], { tenant: tenant.clientId }), 'Reports and alerts of its users')}</p>`
          : nothing
      }
      <p>${link(addressOf('tenants'), 'All tenants')}</p>`;
  }

  #actions(tenant: Tenant): TemplateResult {
    const isActive = tenant.state === 'active';
    const canErase = hasRole(this.api.session, 'owner') && tenant.state !== 'deleted';
    return html`<button type="button" class="quiet" ?disabled=${this.isBusy || tenant.state === 'deleted'}
        @click=${() => void this.#change(tenant, isActive)}>${isActive ? 'Suspend' : 'Resume'}</button>
      ${canErase ? html`<button type="button" class="danger" ?disabled=${this.isBusy} @click=${() => void this.#erase(tenant)}>Erase</button>` : nothing}`;
  }

  async #change(tenant: Tenant, suspends: boolean): Promise<void> {
    const name = nameOf(tenant);
    const text = 'Its users see nothing until you resume it. Tokens that are in use end now.';
    if (suspends && !(await confirmed(`Suspend ${name}?`, text, 'Suspend'))) return;
    await this.act(async () => {
      await this.api.command(suspends ? 'tenant-suspend' : 'tenant-resume', { clientId: tenant.clientId });
      return `${name} is ${suspends ? 'suspended' : 'active again'}.`;
    });
  }

  async #erase(tenant: Tenant): Promise<void> {
    const name = nameOf(tenant);
    const text =
      'Its dashboards, its users’ own metrics and views, and its names in the audit are removed. This cannot be undone.';
    if (!(await confirmed(`Erase ${name}?`, text, 'Erase'))) return;
    await this.act(async () => {
      await this.api.command('tenant-delete', { clientId: tenant.clientId });
      return `${name} is erased.`;
    });
  }
}

const copies = ({
  dashboards,
}: Tenant): TemplateResult => html`<div class="table" tabindex="0" role="group" aria-label="List">
  <table>
    <thead><tr><th scope="col">Template</th><th scope="col">Dashboard</th><th scope="col">Version</th><th scope="col">Step</th><th scope="col">Verified</th></tr></thead>
    <tbody>
      ${dashboards.map(
        ({ template, dashboardId, templateVersion, step, verifiedAt }) => html`<tr>
          <td>${link(addressOf('dashboards', [template]), template)}</td>
          <td><code>${dashboardId}</code></td>
          <td><code>${templateVersion?.slice(0, 8) ?? ''}</code></td>
          <td>${badge(step, step === 'ready' ? 'good' : 'warn')}</td>
          <td>${when(verifiedAt)}</td>
        </tr>`,
      )}
    </tbody>
  </table>
</div>`;

const unknown = (id: string): TemplateResult => html`<div class="empty">
  <h2>No tenant “${id}”</h2>
  ${link(addressOf('tenants'), 'All tenants')}
</div>`;

customElements.define('studio-tenants', TenantsScreen);
