/** Which roles see a dashboard, and of which rows: a table beside the policy that it becomes. */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { options } from '../../base/options.js';
import { type Answer, type Api, hasRole } from '../base/api.js';
import { badge, download } from '../base/kit.js';
import { textOf } from '../base/screen.js';
import { type Drafted, firstAccess, type RoleAccess } from '../base/start.js';

export type Granted = {
  readonly text: string;
  readonly digest: string;
  readonly access: readonly RoleAccess[];
  readonly claims: Answer<'policy-access'>['claims'];
};

type Board = {
  readonly template: string;
  readonly name: string;
  readonly workspace: string;
  readonly datamart: string;
};

const waitMs = 300;

/** Tells the event `grant`, with the text of the policy that was checked. */
export class AccessTable extends LitElement {
  static override properties = {
    api: { attribute: false },
    board: { attribute: false },
    restrictions: { attribute: false },
    isBusy: { attribute: false },
    access: { state: true },
    drafted: { state: true },
    checked: { state: true },
    problem: { state: true },
  };
  declare api: Api;
  declare board: Board;
  declare restrictions: Drafted['restrictions'];
  declare isBusy: boolean;
  declare access: readonly RoleAccess[];
  /** The policy with the access. Undefined: it is being written. */
  declare drafted: Answer<'policy-access'> | undefined;
  declare checked: Answer<'policy-check'> | undefined;
  declare problem: string;
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.restrictions = [];
    this.access = [];
    this.problem = '';
    this.isBusy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking.abort();
    clearTimeout(this.#timer);
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    if (changes.has('restrictions')) this.#become(firstAccess(this.restrictions), 0);
  }

  #become(access: readonly RoleAccess[], afterMs = waitMs): void {
    this.access = access;
    this.drafted = undefined;
    this.checked = undefined;
    this.problem = '';
    this.#asking.abort();
    clearTimeout(this.#timer);
    const asking = new AbortController();
    this.#asking = asking;
    this.#timer = setTimeout(() => void this.#write(access, asking.signal), afterMs);
  }

  /** Lines without the name of a role are not written yet. */
  async #write(access: readonly RoleAccess[], signal: AbortSignal): Promise<void> {
    const hiddenBy = (filter: string) =>
      (this.restrictions.find((one) => one.filter.name === filter)?.hidden ?? []).map(({ name }) => name);
    const viewers = access
      .filter(({ role }) => role === null || role.trim() !== '')
      .map(({ role, filter }) => ({
        role: role?.trim() ?? null,
        restriction: filter === null ? null : { filter, hidden: hiddenBy(filter) },
      }));
    if (viewers.length === 0) return;
    try {
      const drafted = await this.api.command('policy-access', { ...this.board, viewers }, signal);
      if (signal.aborted) return;
      this.drafted = drafted;
      const checked = await this.api.command('policy-check', { text: drafted.text }, signal);
      if (!signal.aborted) this.checked = checked;
    } catch (error) {
      if (!signal.aborted) this.problem = textOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`<section class="card"><h2>Who sees “${this.board.name}”</h2>
        <div class="table" tabindex="0" role="group" aria-label="Roles and rows"><table>
          <thead><tr><th scope="col">Who</th><th scope="col">Sees it</th><th scope="col">Rows</th><th scope="col">Known by</th><th scope="col">Action</th></tr></thead>
          <tbody>${this.#everybody()} ${this.access.map((one, at) => (one.role === null ? nothing : this.#role(one.role, one, at)))}</tbody>
        </table></div>
        <p><button type="button" class="quiet" @click=${() => this.#become([...this.access, { role: '', filter: null }])}>Add a role</button></p>
        ${this.#hidden()}
      </section>
      ${this.problem === '' ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      ${this.#policy()}`;
  }

  #everybody(): TemplateResult {
    const own = this.access.find(({ role }) => role === null);
    const toggle = (event: Event): void => {
      const others = this.access.filter(({ role }) => role !== null);
      this.#become((event.target as HTMLInputElement).checked ? [{ role: null, filter: null }, ...others] : others);
    };
    return html`<tr>
      <td>Every user of a tenant</td>
      <td><input type="checkbox" aria-label="Every user sees it" .checked=${own !== undefined} @change=${toggle} /></td>
      <td>${own === undefined ? '' : 'all rows of the own tenant'}</td><td></td><td></td>
    </tr>`;
  }

  #role(role: string, now: RoleAccess, at: number): TemplateResult {
    const put = (next: RoleAccess | null): void =>
      this.#become(this.access.flatMap((one, place) => (place === at ? (next ?? []) : one)));
    const rename = (event: Event): void => put({ ...now, role: (event.target as HTMLInputElement).value });
    const choose = (event: Event): void => put({ ...now, filter: (event.target as HTMLSelectElement).value || null });
    const filters = this.restrictions.map(({ filter: { name, applyOnTables } }) => {
      const tables = applyOnTables.map(({ tableName }) => tableName).join(', ');
      return [name, `of one ${name.toLowerCase()} (${tables})`] as const;
    });
    const claim = this.drafted?.claims.find(({ filter }) => filter === now.filter)?.claim;
    return html`<tr>
      <td><input aria-label="Role" maxlength="255" pattern="[^&quot;\\\\]+" .value=${role} @input=${rename} /></td>
      <td>yes</td>
      <td><select aria-label="Rows of ${role}" @change=${choose}>${options([['', 'all rows of the own tenant'], ...filters], now.filter ?? '')}</select></td>
      <td>${claim === undefined ? 'the role' : html`the role, and the claim <code>${claim}</code>`}</td>
      <td><button type="button" class="text" @click=${() => put(null)}>Remove ${role}</button></td>
    </tr>`;
  }

  /** Cards that restricted users do not see, since the category says nothing of their rows. */
  #hidden(): TemplateResult | typeof nothing {
    const chosen = this.restrictions.filter(({ filter }) => this.access.some((one) => one.filter === filter.name));
    const lost = chosen.flatMap(({ filter, hidden }) => hidden.map((one) => ({ ...one, by: filter.name })));
    if (lost.length === 0) return nothing;
    const count = new Set(lost.map(({ name }) => name)).size;
    return html`<details><summary>${count === 1 ? 'One card is' : `${count} cards are`} not shown to restricted users</summary>
      <ul>${lost.map(({ name, reason, by }) => html`<li>${name}: ${reason}, so ${by.toLowerCase()} does not narrow it</li>`)}</ul></details>`;
  }

  #policy(): TemplateResult {
    const { drafted, checked } = this;
    if (drafted === undefined)
      return html`<section class="card" aria-busy=${this.problem === '' ? 'true' : 'false'}><h2>The policy</h2><p class="soft">${this.problem === '' ? 'Writing…' : 'Not written.'}</p></section>`;
    return html`<section class="card"><h2>The policy</h2>
      <p class="soft">This is what the table becomes. Nothing is to be edited by hand.</p>
      ${checked === undefined ? html`<p class="soft" aria-busy="true">Checking…</p>` : effects(checked)}
      ${this.#buttons(drafted, checked)}
      <pre tabindex="0"><code>${drafted.text}</code></pre>
    </section>`;
  }

  #buttons(drafted: Answer<'policy-access'>, checked: Answer<'policy-check'> | undefined): TemplateResult {
    const maySave = hasRole(this.api.session, 'policyAdmin') && this.api.session.person.seesData;
    const isGood = checked !== undefined && checked.faults.length === 0;
    const { text, digest, claims } = drafted;
    const grant = (): void => {
      const detail: Granted = { text, digest, claims, access: this.access };
      this.dispatchEvent(new CustomEvent<Granted>('grant', { detail }));
    };
    return html`<div class="buttons">
        ${maySave ? html`<button type="button" ?disabled=${!isGood || this.isBusy} @click=${grant}>Put the policy in force</button>` : nothing}
        <button type="button" class="quiet" @click=${() => download('policy.yaml', text, 'text/yaml')}>Download</button>
      </div>
      ${maySave ? nothing : html`<p class="soft">A person with the role policyAdmin and access to data puts it in force: send the file to one.</p>`}`;
  }
}

const effects = ({ faults, tests, plan }: Answer<'policy-check'>): TemplateResult => {
  if (faults.length > 0)
    return html`<ul class="faults">${faults.map(({ at, message }) => html`<li><code>${at}</code> ${message}</li>`)}</ul>`;
  const failed = tests?.failed.length ?? 0;
  const changed = plan?.changed.length ?? 0;
  return html`<p>${badge('no faults', 'good')}
    ${failed === 0 ? nothing : badge(`${failed} of its tests fail`, 'bad')}
    ${changed === 0 ? nothing : html`${badge(`${changed} users see something else`, 'warn')}`}</p>`;
};

customElements.define('studio-access-table', AccessTable);
