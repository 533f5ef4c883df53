/** From the URL of a database to an embedded dashboard, in five steps. What each step makes is stored, and part of the address. */
import { html, nothing, type TemplateResult } from 'lit';
import { credentialsOf } from '../../../model/datamart/source-url.js';
import { hasRole, type OperationInput } from '../base/api.js';
import { listTemplates, readContent, type TemplateData, withFilter, writeContent } from '../base/content.js';
import { faultOf, type ModelDraft } from '../base/drafted-model.js';
import type { EmbedFacts } from '../base/embed-lines.js';
import { link } from '../base/kit.js';
import { proposedModel } from '../base/model-draft.js';
import { addressOf, navigate } from '../base/routes.js';
import { createModel } from '../base/save-model.js';
import { Screen } from '../base/screen.js';
import { readCatalogue } from '../base/source-tables.js';
import { type Drafted, freeName, placeInStart, steps, viewersOf } from '../base/start.js';
import type { PolicyFacts } from '../base/viewer.js';
import type { Granted } from '../parts/access-table.js';
import type { ConnectDetail } from '../parts/connect.js';
import type { Kept } from '../parts/drafted-cards.js';
import '../parts/access-table.js';
import '../parts/connect.js';
import '../parts/drafted-cards.js';
import '../parts/embed-code.js';
import '../parts/embed-preview.js';
import '../parts/model-proposal.js';
import '../parts/session-test.js';

type Data =
  | { readonly step: 'connect'; readonly sources: readonly string[]; readonly models: readonly string[] }
  | { readonly step: 'tables' }
  | { readonly step: 'dashboard'; readonly drafted: Drafted }
  | { readonly step: 'access'; readonly drafted: Drafted; readonly name: string }
  | {
      readonly step: 'embed';
      readonly drafted: Drafted;
      readonly policy: PolicyFacts;
      readonly facts: EmbedFacts;
    };

const pollMs = 500;

class StartScreen extends Screen<Data> {
  static override properties = {
    ...Screen.properties,
    draft: { state: true },
    published: { state: true },
  };
  declare draft: ModelDraft | null;
  /** What became of the roll-out of this page. Null: none was begun. */
  declare published: string | null;
  /** Drafts by their models: the next steps read them too. */
  readonly #drafts = new Map<string, Drafted>();
  #granted: Pick<Granted, 'access' | 'claims'> | null = null;

  constructor() {
    super();
    this.draft = null;
    this.published = null;
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const { step, source, model, dashboard } = placeInStart(this.place.rest);
    switch (step) {
      case 'connect': {
        const [sources, models] = await Promise.all([
          this.api.call('listDatasources', {}, signal),
          this.api.call('listDatamarts', {}, signal),
        ]);
        return { step, sources: sources.data.map(({ name }) => name), models: models.data.map(({ name }) => name) };
      }
      case 'tables': {
        const [catalogue, models] = await Promise.all([
          readCatalogue(this.api, source, signal),
          this.api.call('listDatamarts', {}, signal),
        ]);
        const taken = models.data.map(({ name }) => name);
        const draft = proposedModel(catalogue);
        this.draft = { ...draft, name: freeName(draft.name, taken) };
        return { step };
      }
      case 'dashboard':
        return { step, drafted: await this.#drafted(model, signal) };
      case 'access': {
        const [drafted, templates] = await Promise.all([this.#drafted(model, signal), listTemplates(this.api, signal)]);
        const name = templates.find(({ dashboardId }) => dashboardId === dashboard)?.name ?? dashboard;
        return { step, drafted, name };
      }
      case 'embed': {
        const [drafted, policy, facts] = await Promise.all([
          this.#drafted(model, signal),
          this.api.command('policy-read', {}, signal),
          this.api.command('embed-facts', {}, signal),
        ]);
        return { step, drafted, policy, facts };
      }
    }
  }

  /** Rows are read for people who may see them. Others get what names, types and keys propose. */
  async #drafted(datamartName: string, signal: AbortSignal): Promise<Drafted> {
    const known = this.#drafts.get(datamartName);
    if (known !== undefined) return known;
    const drafted: Drafted = this.api.session.person.seesData
      ? await this.api.call('draftDashboardContent', { datamartName }, signal)
      : {
          ...(await this.api.call('proposeDashboardContent', { datamartName }, signal)),
          ...{ tenants: [], answers: [], refused: [], restrictions: [] },
        };
    this.#drafts.set(datamartName, drafted);
    return drafted;
  }

  protected override content(data: Data): TemplateResult {
    const now = placeInStart(this.place.rest);
    const at = steps.findIndex(({ name }) => name === now.step);
    return html`<div class="head"><h1>Add your data</h1><p>From the URL of a database to a dashboard in your product.</p></div>
      <ol class="steps" aria-label="Steps">${steps.map(
        ({ title }, place) =>
          html`<li class=${place < at ? 'step done' : 'step'} aria-current=${place === at ? 'step' : 'false'}>${title}</li>`,
      )}</ol>
      ${data.step === now.step ? this.#step(data) : nothing}`;
  }

  #step(data: Data): TemplateResult {
    const { model } = placeInStart(this.place.rest);
    switch (data.step) {
      case 'connect':
        return this.#connect(data);
      case 'tables':
        return this.draft === null ? html`` : this.#tables(this.draft);
      case 'dashboard':
        return html`<studio-drafted-cards .drafted=${data.drafted} .seesData=${this.api.session.person.seesData} .isBusy=${this.isBusy}
            @keep=${({ detail }: CustomEvent<Kept>) => void this.#make(detail)}></studio-drafted-cards>
          <p>${link(addressOf('models', [model]), 'Change the model')}</p>`;
      case 'access':
        return this.#access(data);
      case 'embed':
        return this.#embed(data);
    }
  }

  #connect({ sources }: Extract<Data, { step: 'connect' }>): TemplateResult {
    const typed = (): void => {
      this.notice = null;
    };
    return html`<studio-connect .taken=${sources} .isBusy=${this.isBusy} @input=${typed}
        @connect=${({ detail }: CustomEvent<ConnectDetail>) => void this.#open(detail)}></studio-connect>
      ${
        sources.length === 0
          ? nothing
          : html`<p class="soft">Or go on with a source that is connected: ${sources.map((name) => html`${link(addressOf('start', [name]), name)} `)}</p>`
      }`;
  }

  /** The connection is tried before anything is stored. */
  async #open({ name, connection }: ConnectDetail): Promise<void> {
    const isMade = await this.act(async () => {
      const made = { datasourceType: connection.datasourceType, credentials: credentialsOf(name, connection) };
      await this.api.call('createDatasource', made as OperationInput<'createDatasource'>);
      return null;
    });
    if (isMade) this.#go(name);
  }

  #go(...rest: readonly string[]): void {
    navigate(addressOf('start', rest));
    scrollTo(0, 0);
  }

  #tables(draft: ModelDraft): TemplateResult {
    const fault = faultOf(draft);
    const used = draft.tables.filter(({ leftOut, isUsed }) => leftOut === null && isUsed).length;
    const out = draft.tables.filter(({ leftOut }) => leftOut !== null).length;
    const drafted = ({ detail }: CustomEvent<ModelDraft>): void => {
      this.draft = detail;
    };
    return html`<section class="card">
        <p>${used} of ${draft.tables.length} tables will be used${out === 0 ? '' : `. ${out === 1 ? 'One is' : `${out} are`} left out, since nobody would own the rows: say whose they are, if you want them`}.</p>
        ${fault === null ? nothing : html`<p class="notice warn" role="status">${fault}</p>`}
        <div class="buttons"><button type="button" ?disabled=${fault !== null || this.isBusy} @click=${() => void this.#create(draft)}>Use these tables</button></div>
      </section>
      <studio-model-proposal .draft=${draft} @draft-change=${drafted}></studio-model-proposal>`;
  }

  async #create(draft: ModelDraft): Promise<void> {
    const isMade = await this.act(async () => {
      await createModel(this.api, draft);
      return null;
    });
    if (isMade) this.#go(draft.source, draft.name.trim());
  }

  async #make({ name, data }: Kept): Promise<void> {
    const { source, model } = placeInStart(this.place.rest);
    let dashboardId = '';
    const isMade = await this.act(async () => {
      const taken = (await listTemplates(this.api)).map((one) => one.dashboardId);
      const plain = name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-+|-+$/g, '');
      dashboardId = freeName(plain === '' ? 'dashboard' : plain.slice(0, 50), taken);
      const made = { workspaceName: model, dashboardId, dashboardName: name, importDashboardData: data };
      await this.api.call('importDashboard', made as OperationInput<'importDashboard'>);
      return null;
    });
    if (isMade) this.#go(source, model, dashboardId);
  }

  #access({ drafted, name }: Extract<Data, { step: 'access' }>): TemplateResult {
    const { model, dashboard } = placeInStart(this.place.rest);
    const board = { template: dashboard, name, workspace: model, datamart: model };
    return html`<studio-access-table .api=${this.api} .board=${board} .restrictions=${drafted.restrictions} .isBusy=${this.isBusy}
      @grant=${({ detail }: CustomEvent<Granted>) => void this.#grant(detail, drafted)}></studio-access-table>`;
  }

  /** The dashboard gets the filters that the policy restricts, before the policy names them. */
  async #grant({ text, digest, access, claims }: Granted, { restrictions }: Drafted): Promise<void> {
    const { source, model, dashboard } = placeInStart(this.place.rest);
    const isDone = await this.act(async () => {
      const place = { workspaceName: model, dashboardId: dashboard, name: dashboard };
      const content = await readContent(this.api, place);
      const missing = restrictions.filter(
        ({ filter }) =>
          access.some((one) => one.filter === filter.name) &&
          !content.data.filters.some(({ name }) => name === filter.name),
      );
      const whole = missing.reduce<TemplateData>((data, { filter }) => withFilter(data, filter), content.data);
      if (missing.length > 0) await writeContent(this.api, place, whole, content.digest);
      await this.#ensureDataApp();
      await this.api.command('policy-save', { text, digest });
      return null;
    });
    if (!isDone) return;
    this.#granted = { access, claims };
    this.published = null;
    this.#go(source, model, dashboard, 'embed');
  }

  /** Without the data app of the policy, no user gets a token. */
  async #ensureDataApp(): Promise<void> {
    const [{ dataApp }, { data }] = await Promise.all([
      this.api.command('policy-read', {}),
      this.api.call('listDataApps', {}),
    ]);
    if (!data.some(({ name }) => name === dataApp)) await this.api.call('createDataApp', { name: dataApp });
  }

  #embed({ drafted, policy, facts }: Extract<Data, { step: 'embed' }>): TemplateResult {
    const { dashboard } = placeInStart(this.place.rest);
    const { access, claims } = this.#granted ?? { access: [{ role: null, filter: null }], claims: [] };
    const own = policy.templates.filter(({ template }) => template === dashboard);
    if (own.length === 0)
      return html`<p class="notice warn">The policy in force does not name this dashboard yet: put it in force first.</p>`;
    return html`<section class="card"><h2>Publish</h2>
        <p>Tenants who log in get their copy. Publishing makes this edition the one that all of them have.</p>
        ${this.#publishing(dashboard)}
      </section>
      <section class="card"><h2>As your users see it</h2>
        <studio-embed-preview .api=${this.api} template=${dashboard} .viewers=${this.#viewers(policy, () => viewersOf(policy, drafted, access, claims))}></studio-embed-preview>
      </section>
      <h2>Lines for your page</h2>
      <studio-embed-code .templates=${own} .facts=${facts} .query=${this.place.query}></studio-embed-code>
      <studio-session-test></studio-session-test>`;
  }

  #seen: { readonly digest: string; readonly viewers: ReturnType<typeof viewersOf> } | undefined;

  /** The same objects while the policy is the same, so that the preview opens each once. */
  #viewers(policy: PolicyFacts, make: () => ReturnType<typeof viewersOf>): ReturnType<typeof viewersOf> {
    if (this.#seen?.digest !== policy.digest) this.#seen = { digest: policy.digest, viewers: make() };
    return this.#seen.viewers;
  }

  #publishing(template: string): TemplateResult {
    if (!hasRole(this.api.session, 'publisher'))
      return html`<p class="soft">A person with the role publisher publishes it.</p>`;
    return html`<div class="buttons"><button type="button" ?disabled=${this.isBusy || this.published !== null} @click=${() => void this.#publish(template)}>Publish to all tenants</button></div>
      <p role="status">${this.published ?? ''}</p>`;
  }

  async #publish(template: string): Promise<void> {
    await this.act(async () => {
      const { id } = await this.api.command('rollout-apply', { template, steps: [100] });
      this.published = 'Publishing…';
      this.published = await this.#ended(id);
      return null;
    });
  }

  async #ended(id: string): Promise<string> {
    for (;;) {
      const { state, isAtWork } = await this.api.command('rollout-status', { id });
      if (!isAtWork)
        return state === 'finished' ? 'Published.' : `The roll-out is ${state}: look at it under Roll-outs.`;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
}

customElements.define('studio-start', StartScreen);
