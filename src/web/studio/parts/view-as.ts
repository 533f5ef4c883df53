/** The bar that says as whom Studio looks, and the dialog that changes it. */
import { html, nothing, type TemplateResult } from 'lit';
import { matcher } from '../../base/search.js';
import type { Api } from '../base/api.js';
import { moment, openDialog } from '../base/kit.js';
import { Part } from '../base/part.js';
import { textOf } from '../base/screen.js';
import { tenantName, watchTenantNames } from '../base/tenant-names.js';
import { claimOf, isTypedAsJson, textOfClaim } from '../base/typed-claim.js';
import {
  chooseBeside,
  chooseViewer,
  isSameUser,
  type KnownViewer,
  listViewers,
  type PolicyFacts,
  readViewer,
  type Viewer,
  viewerOf,
  watchViewer,
  whoSees,
} from '../base/viewer.js';

const howTyped = (type: string): string => {
  if (isTypedAsJson(type)) return ', as JSON';
  return type.includes('list') ? ', separated by commas' : '';
};

/** Marks the field while its text is no value of the type: the form is then not sent. */
const checkTyped = ({ target }: Event, type: string): void => {
  const input = target as HTMLInputElement;
  input.setCustomValidity('');
  try {
    claimOf(input.value, type);
  } catch {
    input.setCustomValidity(`Write JSON, as the type says: ${type}`);
  }
};

const asOne = 'View as a tenant’s user';

export class ViewAs extends Part {
  static override properties = {
    api: { attribute: false },
    template: {},
    viewer: { state: true },
  };
  declare api: Api;
  /** The dashboard beside whose title this stands: then only its users are offered. */
  declare template: string | undefined;
  declare viewer: Viewer | null;

  constructor() {
    super();
    this.viewer = readViewer();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    watchViewer(() => {
      this.viewer = readViewer();
    }, this.gone);
    watchTenantNames(() => this.requestUpdate(), this.gone);
  }

  /** Whom the dialog puts another user beside. Undefined: it chooses the one user. */
  #first: Viewer | undefined;

  /**
   * Opens the dialog. Facts are read each time, since the policy may have changed. `first`: the user who stays, beside whom
   * another one is chosen.
   */
  async open(first?: Viewer): Promise<void> {
    this.#first = first;
    const title = first === undefined ? asOne : `Put another user beside ${whoSees(first)}`;
    const content = (inside: TemplateResult): TemplateResult => html`<h2>${title}</h2>
      <p class="soft">You see what this user would see, decided by the policy. Nothing can be changed as this user.</p>
      ${inside}`;
    const { dialog, draw } = openDialog(title, content(html`<p aria-busy="true">Loading…</p>`));
    try {
      const [policy, { tenants }, viewers] = await Promise.all([
        this.api.command('policy-read', {}),
        this.api.command('tenants-list', {}),
        listViewers(this.api, this.template),
      ]);
      const ids = tenants.flatMap(({ clientId }) => (clientId === null ? [] : [clientId]));
      let words = '';
      const search = (event: Event): void => {
        words = (event.target as HTMLInputElement).value;
        show();
      };
      const show = (): void =>
        draw(
          content(html`${this.#known(viewers, words, search, dialog)}
            <details class="advanced"><summary>Advanced: name a user by claims</summary>${this.#form(policy, ids, dialog)}</details>`),
        );
      show();
      dialog.querySelector<HTMLElement>('[autofocus]')?.focus();
      const closed = new AbortController();
      dialog.addEventListener('close', () => closed.abort());
      // Lit writes only the names anew: what was typed stays.
      watchTenantNames(show, closed.signal);
    } catch (error) {
      draw(content(html`<p class="notice bad" role="alert">${textOf(error)}</p>`));
    }
  }

  /** Users to choose from, by name, role or tenant. */
  #known(
    viewers: readonly KnownViewer[],
    words: string,
    search: (event: Event) => void,
    dialog: HTMLDialogElement,
  ): TemplateResult {
    if (!this.api.session.person.seesData)
      return html`<p class="soft">You may see no data of tenants, so no user is listed. Charts are drawn with made-up numbers.</p>`;
    if (viewers.length === 0)
      return html`<p class="soft">Nobody who may open it has logged in lately. Open the page of your product that shows this dashboard, as one of its users; of the demo, that is <a href="/demo" target="_blank">its own page</a>. Or choose a role below.</p>`;
    const isFound = matcher(words);
    const others = viewers.filter((one) => this.#first === undefined || !isSameUser(viewerOf(one), this.#first));
    if (others.length === 0) return html`<p class="soft">Nobody else who may open it has logged in lately.</p>`;
    const found = others.filter((one) => isFound(`${whoSees(viewerOf(one))} ${one.user}`));
    const choose = (one: KnownViewer): void => {
      this.#take(viewerOf(one));
      dialog.close();
    };
    return html`<label class="search">Search users, roles and tenants<input type="search" autofocus autocomplete="off" @input=${search} /></label>
      <ul class="viewers" aria-label="Users who logged in lately">${found.map(
        (one) => html`<li><button type="button" class="quiet" @click=${() => choose(one)}>
          <strong>${one.name ?? one.user}</strong> <span>${one.roles.join(', ')} at ${tenantName(one.clientId) ?? one.clientId}</span>
          <span class="soft">${moment(one.lastAt)}</span></button></li>`,
      )}</ul>
      <p class="soft" role="status">${found.length === 0 ? 'Nobody is like this.' : ''}</p>`;
  }

  /** The dashboard is told when two users are to be shown. */
  #take(viewer: Viewer): void {
    if (this.#first === undefined) {
      chooseViewer(viewer);
      return;
    }
    chooseBeside(this.#first, viewer);
    this.dispatchEvent(new CustomEvent('beside'));
  }

  protected override render(): TemplateResult {
    const { viewer } = this;
    const date = viewer?.at === undefined ? '' : `, on ${viewer.at.slice(0, 10)}`;
    return html`<button type="button" class="quiet viewing" @click=${() => void this.open()}>
        <span class="soft">View as</span> ${viewer === null ? 'nobody yet' : `${whoSees(viewer)}${date}`}
      </button>`;
  }

  #form(policy: PolicyFacts, tenants: readonly string[], dialog: HTMLDialogElement): TemplateResult {
    const claims: Readonly<Record<string, unknown>> = this.viewer?.claims ?? {};
    const own = Object.entries(policy.claims).filter(
      ([name]) => name !== policy.tenantClaim && name !== 'sub' && name !== 'iss',
    );
    const choose = (event: SubmitEvent): void => {
      event.preventDefault();
      this.#choose(new FormData(event.target as HTMLFormElement), policy);
      dialog.close();
    };
    return html`<form class="form" @submit=${choose}>
      <label>Tenant
        <input name="clientId" list="view-as-tenants" required maxlength="255" autocomplete="off" .value=${this.viewer?.clientId ?? tenants[0] ?? ''} />
        <datalist id="view-as-tenants">${tenants.map((id) => html`<option value=${id}>${tenantName(id) ?? nothing}</option>`)}</datalist>
      </label>
      <label>User <span class="hint">the claim sub</span>
        <input name="sub" required maxlength="255" autocomplete="off" .value=${textOfClaim(claims.sub) || 'someone'} />
      </label>
      ${own.map(
        ([name, type]) => html`<label>${name} <span class="hint">${type}${howTyped(type)}</span>
          <input name="claim:${name}" autocomplete="off" .value=${textOfClaim(claims[name], type)} @input=${(event: Event) => checkTyped(event, type)} />
        </label>`,
      )}
      <label>Date <span class="hint">the day on which the policy decides; empty: now</span>
        <input name="at" type="date" .value=${this.viewer?.at?.slice(0, 10) ?? ''} />
      </label>
      <div class="buttons">
        <button type="button" class="quiet" @click=${() => dialog.close()}>Cancel</button>
        <button>View as this user</button>
      </div>
    </form>`;
  }

  #choose(form: FormData, policy: PolicyFacts): void {
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    const clientId = text('clientId');
    const given = Object.entries(policy.claims).flatMap(([name, type]) => {
      const value = name === policy.tenantClaim ? clientId : claimOf(text(`claim:${name}`), type);
      return value === undefined ? [] : [[name, value] as const];
    });
    const at = text('at');
    this.#take({
      clientId,
      claims: { ...Object.fromEntries(given), sub: text('sub') },
      ...(at === '' ? {} : { at: `${at}T12:00:00Z` }),
    });
  }
}

customElements.define('studio-view-as', ViewAs);
