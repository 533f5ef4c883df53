/** Runs every metric of a template for some tenants and as one restricted user, and lists what users would meet. */

import { html, nothing, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import type { Answer, Api } from '../base/api.js';
import { badge } from '../base/kit.js';
import { Part } from '../base/part.js';
import { checkAsRestricted, type RestrictedCheck } from '../base/restricted-check.js';
import { textOf } from '../base/screen.js';
import { tenantLink, watchTenantNames } from '../base/tenant-names.js';

type Checked = Answer<'template-check'>;

export class Check extends Part {
  static override properties = {
    api: { attribute: false },
    template: {},
    result: { state: true },
    restricted: { state: true },
    failure: { state: true },
    isBusy: { state: true },
  };
  declare api: Api;
  declare template: string;
  declare result: Checked | undefined;
  /** Undefined: not run yet. Null: no restricted user is known. */
  declare restricted: RestrictedCheck | null | undefined;
  declare failure: string | null;
  declare isBusy: boolean;

  override connectedCallback(): void {
    super.connectedCallback();
    watchTenantNames(() => this.requestUpdate(), this.gone);
  }

  protected override render(): TemplateResult {
    return html`<section class="card"><h2>Check</h2>
      <p class="soft">Runs every chart as it would be after the roll-out, with the rows of each tenant, then as one restricted user who logged in lately. No dashboard is changed.</p>
      <form class="toolbar" @submit=${this.#run}>
        <label>Tenants <span class="hint">empty: three of them</span><input name="clientIds" autocomplete="off" placeholder="acme, globex" /></label>
        <button class="quiet" ?disabled=${this.isBusy === true}>${this.isBusy === true ? 'Running…' : 'Run the check'}</button>
      </form>
      <div role="status">${this.failure == null ? nothing : html`<p class="notice bad">${this.failure}</p>`}${this.result === undefined ? nothing : this.#found(this.result)}${this.restricted === undefined ? nothing : asRestricted(this.restricted)}</div>
    </section>`;
  }

  #found({ tenants, faults }: Checked): TemplateResult {
    const metrics = tenants.reduce((sum, one) => sum + one.metrics, 0);
    const errors = faults.filter(({ level }) => level === 'error').length;
    const done = `Ran ${counted(metrics, 'chart')} of ${counted(tenants.length, 'tenant')}.`;
    if (tenants.length === 0 && errors === 0) return html`<p>No tenant has a copy yet, so there is nothing to run.</p>`;
    return html`<p>${done} ${errors === 0 ? 'None fails.' : html`<strong>${errors} ${errors === 1 ? 'fault stops' : 'faults stop'} a roll-out before it writes.</strong>`}</p>
      ${
        faults.length === 0
          ? nothing
          : html`<div class="table" tabindex="0" role="group" aria-label="Faults"><table>
              <thead><tr><th scope="col">Level</th><th scope="col">Tenant</th><th scope="col">Chart</th><th scope="col">What</th></tr></thead>
              <tbody>${faults.map(
                ({ level, clientId, metric, text }) => html`<tr>
                  <td>${badge(level, level === 'error' ? 'bad' : 'warn')}</td>
                  <td>${clientId === null ? 'every tenant' : tenantLink(clientId)}</td><td>${metric ?? ''}</td><td>${text}</td>
                </tr>`,
              )}</tbody>
            </table></div>`
      }`;
  }

  readonly #run = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const named = String(new FormData(event.target).get('clientIds') ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
    this.isBusy = true;
    this.failure = null;
    this.restricted = undefined;
    try {
      const clientIds = named.length === 0 ? {} : { clientIds: named };
      this.result = await this.api.command('template-check', { template: this.template, ...clientIds });
      this.restricted = await checkAsRestricted(this.api, this.template, this.gone);
    } catch (error) {
      this.failure = textOf(error);
    } finally {
      this.isBusy = false;
    }
  };
}

const asRestricted = (check: RestrictedCheck | null): TemplateResult => {
  if (check === null)
    return html`<p class="soft">It was not run as a restricted user: none who logged in lately is known to you.</p>`;
  const { who, metrics, faults } = check;
  if (faults.length === 0)
    return html`<p>As ${who}, who is restricted: ${metrics === 1 ? 'its chart answers' : `all ${metrics} charts answer`}.</p>`;
  return html`<p><strong>As ${who}, who is restricted: ${faults.length} of ${counted(metrics, 'chart')} failed.</strong></p>
    <ul>${faults.map(({ metric, text }) => html`<li>${metric}: ${text}</li>`)}</ul>`;
};

customElements.define('studio-check', Check);
