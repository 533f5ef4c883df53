/** Roll-outs: what a changed template would do to each tenant's copy, doing it in steps, and taking it back. */
import { html, nothing, type TemplateResult } from 'lit';
import { options } from '../../base/options.js';
import { type Answer, hasRole } from '../base/api.js';
import { personIn, readHistory, type TemplateHistory } from '../base/editions.js';
import { badge, type Column, confirmed, type Filter, link, list, timeColumn, valueText } from '../base/kit.js';
import { addressOf, navigate } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import { tenantLabel, tenantLink, tenantName, tenantText } from '../base/tenant-names.js';
import '../parts/cards.js';
import '../parts/check.js';
import type { PolicyFacts } from '../base/viewer.js';

type Plan = Answer<'rollout-plan'>;
type Planned = Plan['tenants'][number];
type Conflict = Planned['conflicts'][number];
type Choice = { readonly clientId: string; readonly path: string; readonly take: 'template' | 'tenant' };
type Earlier = Answer<'rollout-list'>['rollouts'][number];
type Status = Answer<'rollout-status'>;
type Data = {
  readonly templates: PolicyFacts['templates'];
  readonly plan: Plan | null;
  readonly history: TemplateHistory | null;
  readonly rollouts: readonly Earlier[];
  readonly status: Status | null;
};

const pollMs = 1000;

class PublishScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, choices: { state: true }, first: { state: true } };
  /** The tenants that get it first, as they were typed. Null: as they are proposed. */
  declare first: string | null;
  /** What was chosen for conflicts. A choice that the plan no longer has is not sent. */
  declare choices: readonly Choice[];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.choices = [];
    this.first = null;
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const [id] = this.place.rest;
    const wanted = this.place.query.get('template');
    const [{ templates }, { rollouts }] = await Promise.all([
      this.api.command('policy-read', {}, signal),
      this.api.command('rollout-list', {}, signal),
    ]);
    const isGranted = templates.some(({ template }) => template === wanted);
    const planned = isGranted && id === undefined ? wanted : null;
    // A person in support may plan, and not read what dashboards hold.
    const readsContent = hasRole(this.api.session, 'author', 'publisher', 'auditor');
    // A tenant's side of a conflict may hold values of its rows.
    const values = readsContent && this.api.session.person.seesData ? { showsValues: true } : {};
    if (id !== undefined && !isRolloutId(id)) return { templates, plan: null, history: null, rollouts, status: null };
    const [plan, history, status] = await Promise.all([
      planned === null ? null : this.api.command('rollout-plan', { template: planned, ...values }, signal),
      planned === null || !readsContent ? null : readHistory(this.api, planned, signal),
      id === undefined ? null : this.api.command('rollout-status', { id }, signal),
    ]);
    clearTimeout(this.#timer);
    if (status?.isAtWork === true) this.#readAgainSoon();
    return { templates, plan, history, rollouts, status };
  }

  /** Goes on while answers fail: the service may be away for a moment. */
  #readAgainSoon(): void {
    this.#timer = setTimeout(async () => {
      await this.reload();
      if (this.failure !== null && this.isConnected) this.#readAgainSoon();
    }, pollMs);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override needsLoad(before: PublishScreen['place'] | undefined): boolean {
    return super.needsLoad(before) || before?.query.get('template') !== this.place.query.get('template');
  }

  protected override content(data: Data): TemplateResult {
    if (data.status !== null) return this.#status(data.status);
    if (data.plan !== null) return this.#plan(data.plan, data.history);
    const [id] = this.place.rest;
    if (id !== undefined) return unknown(id);
    const wanted = this.place.query.get('template');
    const isUnknown = wanted !== null && !data.templates.some(({ template }) => template === wanted);
    return html`<div class="head"><h1>Roll-outs</h1><p>A roll-out brings a changed template to the tenants, and keeps what each tenant changed.</p></div>
      ${isUnknown ? html`<p class="notice warn">The policy does not name “${wanted}”, so no tenant has a copy of it. Name it under templates in the policy first.</p>` : nothing}
      <section class="card"><h2>Templates</h2>
        ${data.templates.length === 0 ? html`<p class="soft">The policy names none.</p>` : nothing}
        <ul>${data.templates.map(({ template, name }) => html`<li>${link(addressOf('rollouts', [], { template }), name)} <code>${template}</code></li>`)}</ul>
      </section>
      <section class="card"><h2>Earlier roll-outs</h2>
        ${list({
          ...{ name: 'roll-outs', rows: data.rollouts, columns: earlierColumns, filters: earlierFilters },
          ...{ query: this.place.query, empty: html`<p class="soft">None yet.</p>` },
        })}</section>`;
  }

  #plan(
    { template, version, tenants, next, unreadable, settingsFault }: Plan,
    history: TemplateHistory | null,
  ): TemplateResult {
    const waiting = tenants.filter(({ status }) => status !== 'up-to-date').length;
    const conflicts = tenants.filter((tenant) => tenant.conflicts.length > 0).length;
    const mayPublish = hasRole(this.api.session, 'publisher');
    return html`<div class="head"><h1>Roll out ${template}</h1><p>Version <code>${version.slice(0, 8)}</code>.
        ${waiting === 0 ? 'Every copy has it.' : `${waiting}${next === null ? '' : ' or more'} of the copies differ from it; ${conflicts} of them changed the same things.`}</p></div>
      ${unreadable.length === 0 ? nothing : blocked(unreadable)}
      ${settingsFault === null ? nothing : html`<p class="soft">${settingsFault}</p>`}
      ${history === null || history.unpublished.length === 0 ? nothing : changesIn(history)}
      <studio-cards .api=${this.api} template=${template} isOpen></studio-cards>
      ${hasRole(this.api.session, 'author', 'publisher') ? html`<studio-check .api=${this.api} template=${template}></studio-check>` : nothing}
      ${mayPublish && unreadable.length === 0 ? (waiting === 0 ? this.#nothingToDo(template, version, tenants) : this.#form(template, version, tenants)) : nothing}
      ${mayPublish ? this.#conflicts(tenants) : nothing}
      <section class="card"><h2>What would happen</h2>
        ${list({
          ...{ name: 'plan', rows: tenants, columns: planColumns, filters: planFilters, query: this.place.query },
          empty: html`<p class="soft">No tenant has a copy yet.</p>`,
        })}
      </section>
      <p>${link(addressOf('rollouts'), 'All roll-outs')}</p>`;
  }

  /** A roll-out would change no copy. It may be wanted all the same: new tenants get what was rolled out to all. */
  #nothingToDo(template: string, version: string, tenants: readonly Planned[]): TemplateResult {
    const none = tenants.length === 0 ? 'No tenant has a copy yet.' : 'Every copy has this version.';
    return html`<section class="card"><h2>Nothing to roll out</h2>
      <p>${none} ${link(addressOf('dashboards', [template]), 'Go to the dashboard')} to change it.</p>
      <details><summary>Publish this version for new tenants</summary>${this.#form(template, version, tenants)}</details>
    </section>`;
  }

  #conflicts(tenants: readonly Planned[]): TemplateResult | typeof nothing {
    const torn = tenants.filter(({ conflicts }) => conflicts.length > 0);
    if (torn.length === 0) return nothing;
    return html`<section class="card"><h2>Conflicts</h2>
      <p class="soft">Template and tenant changed the same thing. Choose whose value the copy gets. A copy whose conflicts are all decided is rolled out like the others.</p>
      <div class="table" tabindex="0" role="group" aria-label="Conflicts"><table>
        <thead><tr><th scope="col">Tenant</th><th scope="col">What</th><th scope="col">Before</th><th scope="col">Template</th><th scope="col">Tenant’s own</th><th scope="col">Choice</th></tr></thead>
        <tbody>${torn.flatMap(({ clientId, conflicts }) => conflicts.map((conflict) => this.#conflict(clientId, conflict)))}</tbody>
      </table></div>
    </section>`;
  }

  #conflict(clientId: string, { path, what, base, template, tenant }: Conflict): TemplateResult {
    const isThis = (one: Choice): boolean => one.clientId === clientId && one.path === path;
    const now = this.choices.find(isThis)?.take ?? '';
    const choose = (event: Event): void => {
      const { value } = event.target as HTMLSelectElement;
      const others = this.choices.filter((one) => !isThis(one));
      this.choices = value === 'template' || value === 'tenant' ? [...others, { clientId, path, take: value }] : others;
    };
    const takes = [
      ['', 'not decided'],
      ['template', 'the template’s'],
      ['tenant', 'the tenant’s own'],
    ] as const;
    return html`<tr>
      <td>${tenantLabel(clientId)}</td><td>${what === path ? html`<code>${path}</code>` : what}</td><td>${valueText(base)}</td><td>${valueText(template)}</td><td>${valueText(tenant)}</td>
      <td><select aria-label="Choice for ${what} of ${tenantText(clientId)}" @change=${choose}>
        ${options(takes, now)}
      </select></td>
    </tr>`;
  }

  #form(template: string, version: string, tenants: readonly Planned[]): TemplateResult {
    const canary = canaryOf(tenants);
    const isToAll = (this.first ?? canary.join()).trim() === '';
    const typed = ({ target }: Event): void => {
      this.first = (target as HTMLInputElement).value;
    };
    return html`<form class="form card" @submit=${(event: SubmitEvent) => void this.#apply(event, template, version)}>
      <label>First, only these tenants <span class="hint">${canary.length === 0 ? 'client ids, separated by commas; empty: all at once' : 'proposed: copies that nobody else changed; empty: all at once'}</span>
        <input name="canary" list="canary-tenants" autocomplete="off" .defaultValue=${canary.join(', ')} @input=${typed} />
        <datalist id="canary-tenants">${tenants.map(({ clientId }) => html`<option value=${clientId}>${tenantName(clientId) ?? nothing}</option>`)}</datalist>
      </label>
      <label>Then in steps <span class="hint">percent of the tenants, rising; 100 publishes the version, so that new tenants get it too</span><input name="steps" value="100" autocomplete="off" /></label>
      <label>Where a tenant changed the same thing <span class="hint" id="decided">and nothing is decided below</span>
        <select name="onConflict" aria-describedby="decided">
          <option value="leave">leave that copy as it is</option>
          <option value="keep-tenant">keep the tenant’s change, and bring the rest</option>
        </select>
      </label>
      <label class="inline"><input type="checkbox" name="isAdopting" /> Where it is not known what a copy was made from, take it as unchanged</label>
      <label class="inline"><input type="checkbox" name="isPausing" ?checked=${canary.length > 0} /> Wait after each step until I continue</label>
      <div class="buttons"><button ?disabled=${this.isBusy}>${isToAll ? 'Roll out' : 'Roll out to the first'}</button></div>
    </form>`;
  }

  async #apply(event: SubmitEvent, template: string, version: string): Promise<void> {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const form = new FormData(event.target);
    const parts = (name: string): readonly string[] =>
      String(form.get(name) ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean);
    const input = {
      ...{ template, version },
      canary: parts('canary'),
      steps: parts('steps').map(Number),
      onConflict: form.get('onConflict') === 'keep-tenant' ? ('keep-tenant' as const) : ('leave' as const),
      isAdopting: form.has('isAdopting'),
      isPausing: form.has('isPausing'),
      choices: this.choices.filter(({ clientId, path }) =>
        this.data?.plan?.tenants.some(
          (tenant) => tenant.clientId === clientId && tenant.conflicts.some((one) => one.path === path),
        ),
      ),
    };
    let id = '';
    const isBegun = await this.act(async () => {
      ({ id } = await this.api.command('rollout-apply', input));
      return null;
    });
    if (isBegun) this.#open(id);
  }

  #open(id: string): void {
    navigate(addressOf('rollouts', [id]));
  }

  #status(status: Status): TemplateResult {
    const { id, template, version, state, isAtWork, cohorts, tenants } = status;
    const mayPublish = hasRole(this.api.session, 'publisher');
    const resume = (): void =>
      void this.act(async () => {
        await this.api.command('rollout-resume', { id });
        return 'The roll-out goes on.';
      });
    return html`<div class="head"><h1>Roll-out of ${template}</h1>${badge(state, state === 'finished' ? 'good' : state === 'failed' ? 'bad' : 'warn')}
        <p>Version <code>${version.slice(0, 8)}</code>${isAtWork ? ', at work now' : ''}.</p></div>
      ${
        mayPublish
          ? html`<div class="toolbar">
              <button type="button" ?disabled=${this.isBusy || isAtWork || state === 'finished' || state === 'rolled-back'} @click=${resume}>Continue</button>
              <button type="button" class="danger" ?disabled=${this.isBusy || isAtWork || state === 'rolled-back'} @click=${() => void this.#takeBack(id)}>Take it back</button>
            </div>`
          : nothing
      }
      ${state === 'paused' && !isAtWork ? html`<p class="notice">This step is done. Look at a dashboard that has it, then continue with the rest, or take it back.</p>` : nothing}
      <section class="card"><h2>Steps</h2>
        <div class="table" tabindex="0" role="group" aria-label="List"><table>
          <thead><tr><th scope="col">Step</th><th scope="col">Tenants</th></tr></thead>
          <tbody>${cohorts.map(({ name, states }) => html`<tr><td>${name}</td><td>${Object.entries(states).map(([what, count]) => html`${badge(`${count} ${what}`, /fail|conflict/.test(what) ? 'bad' : 'plain')} `)}</td></tr>`)}</tbody>
        </table></div>
      </section>
      ${
        tenants.length === 0
          ? nothing
          : html`<section class="card"><h2>Tenants to look at</h2>
            ${list({
              ...{ name: 'tenants', rows: tenants, columns: stateColumns, filters: stateFilters },
              ...{ query: this.place.query, empty: '' },
            })}</section>`
      }
      <p>${link(addressOf('rollouts'), 'All roll-outs')}</p>`;
  }

  async #takeBack(id: string): Promise<void> {
    const text = 'Each copy gets back what it had before this roll-out, except what its tenant changed since.';
    if (!(await confirmed('Take this roll-out back?', text, 'Take it back'))) return;
    await this.act(async () => {
      await this.api.command('rollout-rollback', { id });
      return 'The roll-out is being taken back.';
    });
  }
}

const isRolloutId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const unknown = (id: string): TemplateResult => html`<div class="empty">
  <h1>There is no roll-out “${id}”</h1><p>The address may be cut off. ${link(addressOf('rollouts'), 'All roll-outs')}</p>
</div>`;

const mostCanaries = 3;

/** Who gets a change first: a few of the copies that it would change and that nobody else changed. Empty: too few wait. */
const canaryOf = (tenants: readonly Planned[]): readonly string[] => {
  const waiting = tenants.filter(({ status, fault }) => status !== 'up-to-date' && fault === null);
  const plain = waiting.filter(({ isEdited, conflicts }) => !isEdited && conflicts.length === 0);
  const few = Math.min(mostCanaries, Math.ceil(waiting.length / 3));
  return waiting.length < 2 ? [] : plain.slice(0, few).map(({ clientId }) => clientId);
};

const kindWords: Readonly<Record<Conflict['kind'], string>> = {
  'changed-by-both': 'both changed',
  'added-by-both': 'both added',
  'removed-by-template': 'the template removed, and the tenant changed',
  'removed-by-tenant': 'the tenant removed, and the template changed',
};

const changesIn = ({ unpublished }: TemplateHistory): TemplateResult =>
  html`<section class="card"><h2>What changed</h2>
    <p class="soft">Since the edition that most tenants have:</p>
    <ul>${unpublished.map((text) => html`<li>${text}</li>`)}</ul></section>`;

const inWords = ({ what, kind }: Conflict): string => `${kindWords[kind]} ${what}`;

type Touched = Status['tenants'][number];

const tenantColumn = {
  title: 'Tenant',
  of: ({ clientId }: { readonly clientId: string }) => tenantLink(clientId),
  text: ({ clientId }: { readonly clientId: string }) => tenantText(clientId),
};

const planColumns: readonly Column<Planned>[] = [
  tenantColumn,
  {
    title: 'Copy',
    of: ({ status, fault }) =>
      html`${badge(status, status === 'up-to-date' ? 'good' : fault === null ? 'plain' : 'bad')} ${fault ?? ''}`,
    text: ({ status, fault }) => [status, fault].filter(Boolean).join(': '),
  },
  { title: 'Changed by the tenant', of: ({ isEdited }) => (isEdited ? 'yes' : 'no') },
  { title: 'Settings', of: ({ settings }) => settings.join(' ') },
  { title: 'Conflicts', of: ({ conflicts }) => conflicts.map(inWords).join('; ') },
];
const planFilters: readonly Filter<Planned>[] = [
  { name: 'copy', label: 'Copy', of: ({ status }) => status },
  { name: 'changed', label: 'Changed by the tenant', of: ({ isEdited }) => (isEdited ? 'yes' : 'no') },
];

const stateColumns: readonly Column<Touched>[] = [
  tenantColumn,
  { title: 'State', of: ({ state }) => state },
  { title: 'Why', of: ({ fault }) => fault ?? '' },
];
const stateFilters: readonly Filter<Touched>[] = [{ name: 'state', label: 'State', of: ({ state }) => state }];

const earlierColumns: readonly Column<Earlier>[] = [
  { title: 'Roll-out', of: ({ id }) => link(addressOf('rollouts', [id]), id.slice(0, 8)), text: ({ id }) => id },
  { title: 'Template', of: ({ template }) => template },
  {
    title: 'Version',
    of: ({ version }) => html`<code title=${version}>${version.slice(0, 8)}</code>`,
    text: ({ version }) => version,
  },
  timeColumn('Begun', ({ startedAt }) => startedAt),
  { title: 'By', of: ({ startedBy }) => personIn(startedBy) },
  {
    title: 'State',
    of: ({ state }) => badge(state, state === 'finished' ? 'good' : 'warn'),
    text: ({ state }) => state,
  },
];
const earlierFilters: readonly Filter<Earlier>[] = [
  { name: 'of', label: 'Template', of: ({ template }) => template },
  { name: 'state', label: 'State', of: ({ state }) => state },
];

const blocked = (unreadable: Plan['unreadable']): TemplateResult => html`<div class="failure" role="alert">
  <p><strong>It cannot be rolled out: it reads tables whose rows belong to nobody.</strong> ${link(addressOf('models'), 'Say whose they are')} first.</p>
  <ul>${unreadable.map(({ name, message }) => html`<li>${name}: ${message}</li>`)}</ul>
</div>`;

customElements.define('studio-publish', PublishScreen);
