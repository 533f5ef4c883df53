/** One template: as a tenant's user sees it, its metrics, a new metric, the arrangement, and the definition. */
import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { SqlDefinition, VisualDefinition } from '../../../model/dashboard/metric.js';
import type { Tile } from '../../../model/dashboard/tile.js';
import { redoIcon, undoIcon } from '../../base/icons.js';
import { draftOf, wholeOf } from '../../editor/draft.js';
import type { InitialMetric } from '../../editor/panel.js';
import '../parts/arrange.js';
import { addMenu, type Made } from '../parts/add-menu.js';
import '../parts/draft-state.js';
import '../parts/drawn-board.js';
import '../parts/history.js';
import { closeMenu, menu, menuItem } from '../parts/menu.js';
import '../parts/template-filters.js';
import { hasRole, StudioError, type View } from '../base/api.js';
import { askAuthored, describeAuthored, turnAuthored } from '../base/author-preview.js';
import {
  type Clip,
  clipOf,
  inNumbers,
  missingFilters,
  type Pasted,
  readClip,
  withClip,
  withNames,
  withoutParts,
} from '../base/clip.js';
import {
  type Content,
  changedMetric,
  listTemplates,
  newId,
  readContent,
  renamedMetric,
  type Template,
  type TemplateData,
  type TemplateFilter,
  type TemplateMetric,
  tryContent,
  withFilter,
  withMapping,
  withMetric,
  withoutFilter,
  withoutMetric,
} from '../base/content.js';
import { type AskAuthored, type Drawn, DrawnMetrics } from '../base/drawn-metrics.js';
import { editsOf } from '../base/edits.js';
import { loadElements } from '../base/elements.js';
import { addressChoice, asked, confirmed, link } from '../base/kit.js';
import { listColumns, type ModelColumn } from '../base/model-columns.js';
import { addressOf, navigate, type Place } from '../base/routes.js';
import { Screen, textOf } from '../base/screen.js';
import { inOrder } from '../base/sql-columns.js';
import {
  chooseViewer,
  listViewers,
  nameOf,
  openView,
  readKeptViewer,
  readViewer,
  showOne,
  type Viewer,
  viewerOf,
  watchViewer,
  whoSees,
} from '../base/viewer.js';
import { WidthState } from '../base/width-state.js';
import type { Arrange, Arranged, Cut, IsChosen, PastedText } from '../parts/arrange.js';
import { askMerge } from '../parts/merge-dialog.js';
import type { TurnIntoSql } from '../parts/metric-editor.js';
import type { TryAll } from '../parts/propose.js';
import type { RunSql, SqlMetric } from '../parts/sql-metric.js';
import type { FilterChange } from '../parts/template-filters.js';
import { templateMetrics } from '../parts/template-metrics.js';
import type { TileKind } from '../parts/tile-dialog.js';
import type { ViewAs } from '../parts/view-as.js';

/** What an author is told before. */
const whatTurns =
  'Its definition becomes one SELECT that answers the same, and you edit it as text. Filters, sort and limit stay beside it. Readers can no longer drill or see the rows behind a value, and labels and number formats of the model no longer apply. “Undo” brings the fields back; tenants get the change by a roll-out.';

const isAgreed = async (title: string, text: string): Promise<boolean> =>
  (await asked(title, text, [{ value: 'yes', text: 'Turn into SQL' }])) === 'yes';

type Data = {
  readonly template: Template;
  readonly content: Content;
  readonly columns: readonly ModelColumn[];
  readonly datamart: string;
};
type Seen = { readonly viewer: Viewer; readonly view: View } | { readonly viewer: Viewer; readonly refusal: string };

/** The places of a dashboard. What is made or changed stands beside the canvas. */
const tabs = [
  { name: 'arrange', title: 'Canvas' },
  { name: 'view', title: 'As the user' },
  { name: 'metrics', title: 'Charts' },
  { name: 'filters', title: 'Filters' },
  { name: 'history', title: 'History' },
  { name: 'definition', title: 'Definition' },
] as const;
const panels: Readonly<Record<Made, string>> = { new: 'Chart', sql: 'SQL chart', propose: 'Proposals' };
type Tab = (typeof tabs)[number]['name'] | Made;

class DashboardScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, seen: { state: true }, beside: { state: true } };
  /** What the chosen user sees; undefined until it is known. */
  declare seen: Seen | undefined;
  /** What the kept user sees, if another user is shown beside. */
  declare beside: Seen | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    watchViewer(() => void this.#look(), this.gone);
    document.addEventListener('keydown', this.#key, { signal: this.gone });
    void this.#look();
  }

  /** Without a user whom somebody chose, the dashboard opens as the last of its own. */
  async #chooseUsual({ dashboardId }: Template, signal: AbortSignal): Promise<void> {
    const viewer = readViewer();
    if (viewer !== null && (viewer.usualOf === undefined || viewer.usualOf === dashboardId)) return;
    const [last] = await listViewers(this.api, dashboardId, signal).catch((error: unknown) => {
      // The dashboard itself can be read: it opens, and a user can be chosen.
      if (!signal.aborted)
        this.notice = { text: `Its last users can’t be read, so nobody is chosen: ${textOf(error)}`, isBad: true };
      return [];
    });
    if (last !== undefined && !signal.aborted) chooseViewer({ ...viewerOf(last), usualOf: dashboardId });
  }

  protected override async load(signal: AbortSignal): Promise<Data> {
    const [id = ''] = this.place.rest;
    const workspace = this.place.query.get('workspace');
    const templates = await listTemplates(this.api, signal);
    const template = templates.find(
      ({ dashboardId, workspaceName }) => dashboardId === id && (workspace === null || workspace === workspaceName),
    );
    if (template === undefined) throw new Error(`There is no dashboard “${id}”.`);
    const [content, { datamart }] = await Promise.all([
      readContent(this.api, template, signal),
      this.api.command('policy-read', {}, signal),
      this.#chooseUsual(template, signal),
    ]);
    return { template, content, datamart, columns: await listColumns(this.api, datamart, signal) };
  }

  async #look(): Promise<void> {
    const [viewer, kept] = [readViewer(), readKeptViewer()];
    this.seen = undefined;
    this.beside = undefined;
    const gone = this.gone;
    const [seen, beside] = await Promise.all([this.#see(viewer), this.#see(kept)]);
    if (gone.aborted) return;
    this.seen = seen;
    this.beside = beside;
  }

  /** Opens the view anew, while what is being edited stays. */
  async #renew(): Promise<void> {
    const seen = await this.#see(readViewer());
    if (!this.gone.aborted) this.seen = seen;
  }

  async #see(viewer: Viewer | null): Promise<Seen | undefined> {
    if (viewer === null) return undefined;
    try {
      await loadElements();
      return { viewer, view: await openView(this.api, viewer, this.gone) };
    } catch (error) {
      return { viewer, refusal: textOf(error) };
    }
  }

  get #mayBuild(): boolean {
    return hasRole(this.api.session, 'author');
  }

  get #tab(): Tab {
    const wanted = this.place.query.get('tab') ?? '';
    const tab = isMade(wanted) ? wanted : (tabs.find(({ name }) => name === wanted)?.name ?? 'arrange');
    return this.#mayBuild || (tab !== 'arrange' && !isMade(tab)) ? tab : 'view';
  }

  #addressOf(tab: Tab, more: Readonly<Record<string, string>> = {}): string {
    const { dashboardId, workspaceName: workspace } = this.data?.template ?? { dashboardId: '', workspaceName: '' };
    return addressOf('dashboards', [dashboardId], { workspace, tab, ...more });
  }

  protected override get saysNotice(): boolean {
    return true;
  }

  protected override content(data: Data): TemplateResult {
    const { template, content } = data;
    const { name } = content._meta;
    const { isNarrow } = this.#width;
    const saved = html`${this.notice?.isBad === false ? this.notice.text : nothing} ${this.#savedText}`;
    return html`<div role="group" aria-label="Dashboard">
        <div class="head title">
          <h1 title=${name}>${name}</h1>
          ${isNarrow ? nothing : html`<code>${template.dashboardId}</code>`}
          <studio-view-as .api=${this.api} template=${template.dashboardId}
            @beside=${() => navigate(this.#addressOf('view'))}></studio-view-as>
          <span class="gap"></span>
          <span class="soft saved" role="status">${saved}</span>
          ${isNarrow ? nothing : this.#standing(data)}
          ${link(addressOf('rollouts', [], { template: template.dashboardId }), 'Roll out', 'button')}
        </div>
        <div class="bar">
          <nav aria-label="Parts of ${name}">${this.#places(isNarrow)}</nav>
          <span class="gap"></span>
          ${this.#mayBuild ? html`${this.#addMenu()} ${this.#steps(template)}` : nothing}
          ${this.#tools(data, saved)}
        </div>
      </div>
      ${this.#part(data)}`;
  }

  readonly #width = new WidthState(this);

  /** Whether tenants have what is saved here, and the way to the lines for a page. */
  #standing({ template: { dashboardId }, content }: Data): TemplateResult {
    return html`<studio-draft-state .api=${this.api} template=${dashboardId} digest=${content.digest}></studio-draft-state>
      ${link(addressOf('embed', [], { dashboard: dashboardId }), 'Embed', 'button quiet')}`;
  }

  /** The places of the dashboard: side by side, or as a menu. */
  #places(isNarrow: boolean): TemplateResult {
    const now = isMade(this.#tab) ? 'arrange' : this.#tab;
    const shown = tabs.filter(({ name }) => this.#mayBuild || name !== 'arrange');
    const links = shown.map(
      ({ name, title }) =>
        html`<li @click=${closeMenu}>${tabLink(this.#addressOf(name), title, name === now, isNarrow ? 'add-item' : '')}</li>`,
    );
    if (!isNarrow) return html`<ul class="tabs">${links}</ul>`;
    return menu(tabs.find(({ name }) => name === now)?.title ?? '', html`<ul class="popped">${links}</ul>`);
  }

  #addMenu(): TemplateResult {
    const make = (tab: Made): void => {
      this.#isOpening = true;
      navigate(this.#addressOf(tab));
    };
    return addMenu(make, (kind) => void this.#addTile(kind));
  }

  /** What can be done with the chosen cards. On a narrow page the menu also has what the bars have no room for. */
  #tools(data: Data, saved: TemplateResult): TemplateResult {
    const { isNarrow } = this.#width;
    const canvas = isNarrow || this.#isOnCanvas ? this.#canvas : null;
    if (!isNarrow && !this.#isOnCanvas) return html``;
    const { often, rest } = canvas?.tools ?? { often: [], rest: [] };
    const items = [...(isNarrow ? often : []), ...rest];
    return html`${isNarrow ? nothing : often.map(({ text, canRun, run }) => html`<button type="button" class="quiet" ?disabled=${!canRun} @click=${run}>${text}</button>`)}
      ${menu(
        'More',
        html`<div class="popped">
          <ul aria-label="More">${items.map(({ text, run, canRun, title }) => menuItem(text, run, canRun, title))}
            ${this.#isOnCanvas ? menuItem(besideTitle(), () => this.#chooseBeside()) : nothing}</ul>
          ${canvas?.moves ?? nothing}
          ${this.#isOnCanvas ? keys : nothing}
          ${isNarrow ? html`<p class="soft" aria-hidden="true">${saved}</p><p><code>${data.template.dashboardId}</code></p>${this.#standing(data)}` : nothing}
        </div>`,
      )}`;
  }

  get #isOnCanvas(): boolean {
    return this.#tab === 'arrange' || isMade(this.#tab);
  }

  get #savedText(): string {
    if (this.isBusy || this.#canvas?.isPending === true) return 'Saving…';
    const at = this.#savedAt;
    if (at === undefined) return '';
    return Date.now() - at < momentMs ? 'Saved a moment ago' : `Saved at ${new Date(at).toLocaleTimeString()}`;
  }
  /** When this screen saved something last. */
  #savedAt: number | undefined;

  get #canvas(): Arrange | null {
    return this.querySelector<Arrange>('studio-arrange');
  }

  /** Tiles are made on the canvas. */
  async #addTile(kind: TileKind): Promise<void> {
    if (this.#canvas === null) navigate(this.#addressOf('arrange'));
    await this.updateComplete;
    await this.#canvas?.add(kind);
  }

  #part(data: Data): TemplateResult {
    switch (this.#tab) {
      case 'view':
        return html`<studio-cards .api=${this.api} template=${data.template.dashboardId}></studio-cards>${this.#asUser(data)}`;
      case 'metrics':
        return this.#metrics(data);
      case 'filters':
        return this.#filters(data);
      case 'history':
        return this.#history(data);
      case 'definition':
        return html`<p class="soft">The content as JSON, as exports and files have it.</p>
          <pre tabindex="0"><code>${JSON.stringify(data.content.data, null, 2)}</code></pre>`;
      case 'arrange':
        return this.#canvasWith(data, null, nothing);
      case 'new':
        return this.#canvasWith(data, 'new', this.#editor(data));
      case 'sql':
        return this.#canvasWith(data, 'sql', this.#sql(data));
      case 'propose':
        return this.#canvasWith(data, 'propose', this.#propose(data));
    }
  }

  /** The canvas, with what is made or changed beside it. */
  #canvasWith(data: Data, panel: Made | null, inside: TemplateResult | typeof nothing): TemplateResult {
    return html`<div class="workplace" ?data-panel=${panel !== null}>
      <section class="canvas" aria-label="Canvas">
        ${this.#hasRows(data) === false ? html`<p class="soft">${this.#whyMadeUp}</p>` : nothing}
        ${this.#arrange(data)}</section>
      ${
        panel === null
          ? nothing
          : html`<aside class="card panel" aria-labelledby="panel-title">
            <div class="head"><h2 id="panel-title" tabindex="-1">${panels[panel]}</h2><span class="gap"></span>
              <button type="button" class="quiet" @click=${() => this.#closePanel()}>Close</button></div>
            ${inside}</aside>`
      }
    </div>`;
  }

  /** The focus goes back to the card. */
  #closePanel(): void {
    const metric = this.place.query.get('metric');
    navigate(this.#addressOf('arrange'));
    void this.updateComplete.then(() => this.#canvas?.focusBox(metric ?? undefined));
  }

  #openCard(id: string): void {
    const metric = this.data?.content.data.metrics.find(({ metricId }) => metricId === id);
    if (metric === undefined || this.place.query.get('metric') === id) return;
    this.#isOpening = true;
    navigate(this.#editing(metric));
  }
  /** Whether the focus goes to the panel when it is there. */
  #isOpening = false;

  protected override updated(): void {
    const title = this.#isOpening ? this.querySelector<HTMLElement>('#panel-title') : null;
    if (title === null) return;
    this.#isOpening = false;
    title.focus();
  }

  /** The id of the user's copy. Undefined: the user has none. */
  #copyOf({ template }: Data, { embeds }: View): string | undefined {
    return embeds.find(({ id }) => id === template.dashboardId || id.startsWith(`${template.dashboardId}--`))?.id;
  }

  #seen(
    data: Data,
    show: (view: View, id: string, viewer: Viewer) => TemplateResult,
    seen = this.seen,
  ): TemplateResult {
    if (readViewer() === null) return nobody;
    if (seen === undefined)
      return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><i></i><i></i></div>`;
    if ('refusal' in seen)
      return html`<div class="failure" role="alert"><p>${nameOf(seen.viewer)} sees nothing: ${seen.refusal}</p></div>`;
    const id = this.#copyOf(data, seen.view);
    if (id !== undefined) return show(seen.view, id, seen.viewer);
    if (seen.view.missing.includes(data.template.dashboardId))
      return html`<div class="empty"><h2>${nameOf(seen.viewer)} has no copy of this dashboard yet</h2>
        <p>The policy grants it. The copy is created at the user's first login, or when someone with the role publisher or support opens this view: your roles create none.</p></div>`;
    return html`<div class="empty"><h2>${nameOf(seen.viewer)} does not see this dashboard</h2>
      <p>No rule of the policy grants it to this user. What is granted: ${seen.view.embeds.map(({ name }) => name).join(', ') || 'nothing'}.</p>
      ${because(seen.view)} ${link(addressOf('policy'), 'Open the policy')}</div>`;
  }

  #asUser(data: Data): TemplateResult {
    void import('../parts/why.js');
    void import('../parts/cards.js');
    const { seen, beside } = this;
    if (readViewer() === null || !this.api.session.person.seesData) return this.#examples(data);
    if (seen === undefined) return this.#dashboardOf(data, seen);
    if (readKeptViewer() === null)
      return html`<div class="toolbar">${this.#besideButton()}${this.#widths()}</div>${this.#dashboardOf(data, seen)}`;
    return html`<div class="toolbar"><button type="button" class="quiet" @click=${showOne}>Show one user</button>
        ${this.#besideButton()}</div>
      <div class="beside"><section>${this.#dashboardOf(data, beside)}</section><section>${this.#dashboardOf(data, seen)}</section></div>`;
  }

  #besideButton(): TemplateResult {
    return html`<button type="button" class="quiet" aria-keyshortcuts="Control+B Meta+B" title="Control and B" @click=${() => this.#chooseBeside()}>${besideTitle()}</button>`;
  }

  /** Asks for the user who is shown beside the one on the left. Without one, for the first. */
  #chooseBeside(): void {
    const first = readKeptViewer() ?? readViewer() ?? undefined;
    void this.querySelector<ViewAs>('studio-view-as')?.open(first);
  }

  /** The template with made-up numbers. */
  #examples(data: Data): TemplateResult {
    const { layout, metrics, tiles = noTiles } = data.content.data;
    void loadElements();
    return html`<h2 class="sr">Cards</h2>
      <p class="soft">${this.#whyMadeUp}</p>
      <studio-drawn-board .cards=${layout} .tiles=${tiles} .drawnOf=${this.#drawnOf(data, metrics)}></studio-drawn-board>`;
  }

  get #whyMadeUp(): string {
    const { seesData } = this.api.session.person;
    if (!seesData) return 'The charts are drawn with made-up numbers. You may see no data of tenants.';
    const viewer = readViewer();
    const why = viewer === null ? 'Nobody is chosen.' : `${whoSees(viewer)} has no copy of this dashboard.`;
    return `The charts are drawn with made-up numbers. ${why} Choose a user under “View as”.`;
  }

  /** Whether cards have the rows of a user. Undefined until it is known. */
  #hasRows(data: Data): boolean | undefined {
    if (readViewer() === null || !this.api.session.person.seesData) return false;
    return this.seen === undefined ? undefined : this.#askRows(data) !== null;
  }

  #drawnOf(data: Data, metrics: readonly TemplateMetric[]): (metricId: string) => Drawn | undefined {
    const isKnown = this.#hasRows(data) !== undefined;
    const drawn = this.#drawings(data);
    return (id) => {
      const metric = metrics.find(({ metricId }) => metricId === id);
      return isKnown && metric !== undefined ? drawn.of(metric) : undefined;
    };
  }

  /** The elements lay out by the width that they are given. It is part of the address. */
  get #shownWidth(): string {
    const wanted = this.place.query.get('width');
    return widths.find(({ name }) => name === wanted)?.css ?? 'none';
  }

  #widths(): TemplateResult {
    const now = this.place.query.get('width') ?? '';
    const choices = widths.map(({ name, title }) => [name, title] as const);
    return addressChoice('width', 'Width', [['', 'as wide as there is room'], ...choices], now);
  }

  #dashboardOf(data: Data, seen: Seen | undefined): TemplateResult {
    return this.#seen(
      data,
      (
        view,
        id,
        viewer,
      ) => html`<p class="soft">${nameOf(viewer)} sees the copy <code>${id}</code>, because of ${because(view)}.
          A change of this template reaches it by a roll-out.</p>
        <studio-why .api=${this.api} .view=${view} .viewer=${viewer} .template=${data.template} .content=${data.content} copy=${id}></studio-why>
        ${keyed(
          view.token,
          html`<guestlist-dashboard class="embedded" .style=${`max-width: ${this.#shownWidth}`} token=${view.token} service-url=${location.origin + view.serviceUrl}
            dashboard-id=${id} theme="auto" @token-expired=${() => void this.#look()}></guestlist-dashboard>`,
        )}`,
      seen,
    );
  }

  #editor(data: Data): TemplateResult {
    const id = this.place.query.get('metric');
    const metric = data.content.data.metrics.find(({ metricId }) => metricId === id);
    if (metric?.definition.kind === 'sql') return this.#sql(data);
    const initial = metric === undefined ? undefined : this.#initialOf(metric);
    void import('../parts/metric-editor.js');
    return this.#seen(
      data,
      (
        view,
        id,
        viewer,
      ) => html`<p class="soft">The chart has the rows of ${nameOf(viewer)}. ${metric === undefined ? 'Saving adds it to the template' : `Saving changes “${metric.name}” in the template`}; tenants get it by a roll-out.</p>
        ${keyed(
          `${id} ${metric?.metricId ?? ''}`,
          html`<studio-metric-editor .api=${this.api} .view=${view} .dashboardId=${id} .tenant=${viewer.clientId} .initial=${initial}
            .save=${this.#saveMetric} .turn=${this.#turnIn(view, id, metric)} @view-ended=${() => void this.#renew()}></studio-metric-editor>`,
        )}`,
    );
  }

  /** The editor is a chunk of its own, for the few who write SQL. */
  #sql(data: Data): TemplateResult {
    const id = this.place.query.get('metric');
    const metric = data.content.data.metrics.find(({ metricId }) => metricId === id);
    // An undone turn into SQL.
    if (metric?.definition.kind === 'visual') return this.#editor(data);
    const initial =
      metric?.definition.kind === 'sql' ? { name: metric.name, definition: metric.definition } : undefined;
    const saveIt = async ({ name, definition }: SqlMetric): Promise<void> => {
      await this.#write(`“${name}” is saved in the template.`, (now) =>
        initial === undefined || id === null
          ? withMetric(now, name, definition)
          : changedMetric(now, id, name, definition),
      );
      this.notice = { text: `“${name}” is saved in the template.`, isBad: false };
    };
    void import('../parts/sql-metric.js');
    return this.#seen(
      data,
      (
        view,
        copy,
        viewer,
      ) => html`<p class="soft">It is read as ${nameOf(viewer)} would read it. Saving ${initial === undefined ? 'adds it to' : 'changes it in'} the template;
          tenants get it by a roll-out.</p>
        ${keyed(
          id,
          html`<studio-sql-metric .columns=${data.columns} .tenant=${viewer.clientId} .initial=${initial}
            .runIt=${this.#runIn(view, copy)} .askRows=${this.#askRows(data)} .saveIt=${saveIt}></studio-sql-metric>`,
        )}`,
    );
  }

  #runIn(view: View, dashboardId: string): RunSql {
    return async (definition, sort, signal) => {
      const asked = { view: view.token, dashboardId, definition };
      const described = await describeAuthored(this.api, asked, signal);
      const isShown = this.api.session.person.seesData;
      const sorted = { ...asked, definition: inOrder(definition, described.columns, sort) };
      const answer = isShown ? await askAuthored(this.api, view, sorted, signal, () => void this.#renew()) : null;
      return { ...described, answer };
    };
  }

  /** Nothing is asked or written before it is known that the metric can be turned. */
  #turnIn(view: View, dashboardId: string, metric: TemplateMetric | undefined): TurnIntoSql {
    return async (definition, signal) => {
      const turned = await turnAuthored(this.api, { view: view.token, dashboardId, definition }, signal);
      const name = metric?.name ?? 'New chart';
      if (!(await isAgreed(`Turn “${name}” into SQL?`, whatTurns))) return;
      const id = metric?.metricId;
      const known = this.data?.content.data.metrics.map(({ metricId }) => metricId) ?? [];
      const written = await this.#write(`“${name}” is in SQL.`, (now) =>
        id === undefined ? withMetric(now, name, turned) : changedMetric(now, id, name, turned as SqlDefinition),
      );
      this.notice = { text: `“${name}” is in SQL.`, isBad: false };
      const made = id ?? written.metrics.find(({ metricId }) => !known.includes(metricId))?.metricId ?? '';
      navigate(this.#addressOf('sql', { metric: made }));
    };
  }

  /** The same object for the same metric, so that the editor does not begin anew. */
  #initialOf({ metricId, name, definition }: TemplateMetric): InitialMetric | undefined {
    if (this.#initial?.metricId !== metricId) {
      this.#initial = definition.kind === 'sql' ? null : { metricId, name, draft: draftOf(definition) };
    }
    return this.#initial ?? undefined;
  }
  #initial: (InitialMetric & { readonly metricId: string }) | null = null;

  async #saveChanged(id: string, name: string, definition: VisualDefinition): Promise<{ metricId: string }> {
    await this.#write(`“${name}” is changed.`, (data) => {
      const metric = data.metrics.find(({ metricId }) => metricId === id);
      if (metric?.definition.kind !== 'visual') throw new Error('Somebody removed this chart meanwhile.');
      return changedMetric(data, id, name, definition);
    });
    return { metricId: id };
  }

  readonly #saveMetric = async ({
    name,
    definition,
  }: {
    name: string;
    definition: unknown;
  }): Promise<{ metricId: string }> => {
    const whole = wholeOf(definition as VisualDefinition);
    const changed = this.place.query.get('metric');
    if (changed !== null) return this.#saveChanged(changed, name, whole);
    const before = this.data?.content.data.metrics.map(({ metricId }) => metricId) ?? [];
    const made = await this.#write(`“${name}” is added.`, (data) => withMetric(data, name, whole));
    return { metricId: made.metrics.find(({ metricId }) => !before.includes(metricId))?.metricId ?? '' };
  };

  /** Changes the content. What somebody else changed meanwhile is merged, as the author chooses. */
  async #write(text: string, change: (data: TemplateData) => TemplateData): Promise<TemplateData> {
    const { data } = this;
    if (data === undefined) throw new Error('The dashboard is not loaded yet.');
    const { content, template } = data;
    try {
      const written = await editsOf(template).make(this.#place(template), text, content, change(content.data));
      this.data = { ...data, content: written };
      this.#savedAt = Date.now();
      setTimeout(() => this.requestUpdate(), momentMs);
      return written.data;
    } catch (error) {
      // What the service refuses changes nothing, and an arrangement that is not saved must stay. A change that its author
      // dropped leaves the dashboard as the other author did.
      if (!(error instanceof StudioError) || error.code === 'DASHBOARD_CHANGED') await this.reload();
      throw error;
    }
  }

  #place(template: Template) {
    return { api: this.api, template, ask: askMerge };
  }

  /** Runs an action after those that are under way, so that none is dropped. */
  #queue(work: () => Promise<string | null>): void {
    this.#turn = this.#turn.then(() => this.act(work));
  }
  #turn: Promise<unknown> = Promise.resolve();

  /** Changes the content and says so. */
  #change(text: string, change: (data: TemplateData) => TemplateData): void {
    this.#queue(async () => {
      await this.#write(text, change);
      return text;
    });
  }

  readonly #undo = (): void =>
    this.#queue(async () => {
      const { template } = this.data ?? {};
      const text = template && (await editsOf(template).undo(this.#place(template)));
      return text === undefined ? null : `Undone: ${text}`;
    });

  readonly #redo = (): void =>
    this.#queue(async () => {
      const { template } = this.data ?? {};
      const text = template && (await editsOf(template).redo(this.#place(template)));
      return text === undefined ? null : `Done again: ${text}`;
    });

  /** Where nothing is typed, and not in the editor of metrics, which has steps of its own. */
  readonly #key = (event: KeyboardEvent): void => {
    const isUndo = event.key.toLowerCase() === 'z' && !event.shiftKey;
    const isRedo = event.key.toLowerCase() === 'y' || (event.key.toLowerCase() === 'z' && event.shiftKey);
    const isTyping = event.composedPath().some((at) => at instanceof Element && at.matches(typing));
    if (isTyping || event.defaultPrevented) return;
    if (isBeside(event)) {
      event.preventDefault();
      this.#chooseBeside();
    }
    if (!(event.ctrlKey || event.metaKey) || !(isUndo || isRedo) || !this.#mayBuild) return;
    event.preventDefault();
    this.#step(isUndo);
  };

  /** The canvas has steps that are not saved yet. */
  #steps(template: Template): TemplateResult {
    const { undoable, redoable } = editsOf(template);
    const canvas = this.#canvas;
    const tool = (name: string, text: string | undefined, canRun: boolean, run: () => void): TemplateResult =>
      html`<button type="button" class="quiet icon" aria-label=${name} title=${text === undefined ? name : `${name}: ${text}`}
        aria-disabled=${canRun ? 'false' : 'true'} @click=${() => canRun && run()}>${name === 'Undo' ? undoIcon : redoIcon}</button>`;
    const canStep = (text: string | undefined): boolean => text !== undefined && !this.isBusy;
    return html`${tool('Undo', undoable, canvas?.canUndo ?? canStep(undoable), () => this.#step(true))}
      ${tool('Redo', redoable, canvas?.canRedo ?? canStep(redoable), () => this.#step(false))}`;
  }

  #step(isUndo: boolean): void {
    const canvas = this.#canvas;
    if (canvas === null) (isUndo ? this.#undo : this.#redo)();
    else if (isUndo) canvas.undo();
    else canvas.redo();
  }

  #metrics({ content }: Data): TemplateResult {
    return templateMetrics(
      content.data.metrics,
      this.#mayBuild
        ? {
            addressOf: (metric) => this.#editing(metric),
            rename: ({ metricId, name }, next) =>
              this.#change(`“${name}” is now “${next}”.`, (data) => renamedMetric(data, metricId, next)),
            remove: (metric) => void this.#remove(metric),
          }
        : null,
    );
  }

  #editing({ metricId: metric, definition: { kind } }: TemplateMetric): string {
    return this.#addressOf(kind === 'sql' ? 'sql' : 'new', { metric });
  }

  async #remove({ metricId, name }: TemplateMetric): Promise<void> {
    const text = 'It leaves the template now, and the tenants’ dashboards at the next roll-out.';
    if (!(await confirmed(`Remove “${name}”?`, text, 'Remove'))) return;
    this.#change(`“${name}” is removed.`, (data) => withoutMetric(data, metricId));
  }

  #filters({ content, columns }: Data): TemplateResult {
    const change = ({ detail }: CustomEvent<FilterChange>): void => {
      if ('add' in detail)
        this.#change(`The filter “${detail.add.name}” is added.`, (data) => withFilter(data, detail.add));
      else if ('map' in detail)
        this.#change(`The filter “${detail.map}” has other columns.`, (data) =>
          withMapping(data, detail.map, detail.column, detail.isAdded),
        );
      else this.#change(`The filter “${detail.remove}” is removed.`, (data) => withoutFilter(data, detail.remove));
    };
    return html`<studio-template-filters .filters=${content.data.filters} .columns=${columns}
      ?mayChange=${this.#mayBuild} @filter-change=${change}></studio-template-filters>`;
  }

  /** Asks for rows as the chosen user reads them. Null: this person may see none, or nobody was chosen who has a copy. */
  #askRows(data: Data): AskAuthored | null {
    const { seen } = this;
    const copy = seen !== undefined && 'view' in seen ? this.#copyOf(data, seen.view) : undefined;
    if (copy === undefined || seen === undefined || !('view' in seen) || !this.api.session.person.seesData) return null;
    const { view } = seen;
    return (definition, asked, signal) =>
      askAuthored(this.api, view, { ...asked, definition, dashboardId: copy }, signal, () => void this.#renew());
  }

  #propose(data: Data): TemplateResult {
    const { template, datamart, columns } = data;
    const { seen } = this;
    const copy = seen !== undefined && 'view' in seen ? this.#copyOf(data, seen.view) : undefined;
    const tryAll: TryAll =
      copy === undefined || !this.api.session.person.seesData
        ? null
        : (wanted) => tryContent(this.api, template, copy, wanted);
    const add = ({ detail }: CustomEvent<Clip>): void =>
      this.#change(
        `${inNumbers(detail)} added.`,
        (now) => withClip(now, detail, missingFilters(now, detail), newId).data,
      );
    void import('../parts/propose.js');
    return html`<studio-propose .askRows=${this.#askRows(data)} .api=${this.api} datamart=${datamart} .columns=${columns} .tryAll=${tryAll}
      .tenant=${copy === undefined ? null : (seen?.viewer.clientId ?? null)} @add-proposed=${add}></studio-propose>`;
  }

  /** The cards as they are drawn for the user who is chosen; another user has other rows. */
  #drawn: { readonly seen: Seen | undefined; readonly cards: DrawnMetrics } | undefined;

  #drawings(data: Data): DrawnMetrics {
    const { seen } = this;
    if (this.#drawn?.seen !== seen) this.#drawn = { seen, cards: new DrawnMetrics(this.#askRows(data)) };
    this.#drawn ??= { seen, cards: new DrawnMetrics(null) };
    return this.#drawn.cards;
  }

  #arrange(data: Data): TemplateResult {
    const { content, template } = data;
    const { layout, metrics, tiles = noTiles } = content.data;
    const save = ({ detail }: CustomEvent<Arranged>): void => {
      const gone = metrics.filter(({ metricId }) => detail.removed.includes(metricId)).map(({ name }) => `“${name}”`);
      const text = gone.length === 0 ? 'Arranged.' : `${gone.join(', ')} removed.`;
      this.#change(text, (now) => arranged(now, detail));
    };
    const { undoable, redoable } = editsOf(template);
    const copyText = (now: Arranged, isChosen: IsChosen): string => clipOf(arranged(content.data, now), isChosen);
    const cut = ({ detail }: CustomEvent<Cut>): void =>
      this.#change('What was cut is on the clipboard.', (data) =>
        withoutParts(arranged(data, detail), detail.isChosen),
      );
    const paste = ({ detail }: CustomEvent<PastedText>): void => this.#queue(() => this.#paste(detail));
    void loadElements();
    return html`<studio-arrange .cards=${layout} .tiles=${tiles} .titles=${new Map(metrics.map(({ metricId, name }) => [metricId, name]))}
      .drawnOf=${this.#drawnOf(data, metrics)} .saved=${{ undoable, redoable }} @arranged=${save} .textOf=${copyText}
      @steps=${() => this.requestUpdate()} @open-card=${({ detail }: CustomEvent<string>) => this.#openCard(detail)}
      @cut-parts=${cut} @paste-parts=${paste} @undo-saved=${this.#undo} @redo-saved=${this.#redo}></studio-arrange>`;
  }

  /** Returns what was pasted. Null: the author thought better of it. */
  async #paste({ text, ...arrangement }: PastedText): Promise<string | null> {
    const { data } = this;
    if (data === undefined) throw new Error('The dashboard is not loaded yet.');
    const clip = readClip(text);
    const filters = await filtersFor(data.content.data, clip);
    if (filters === null) return null;
    let namesById: Pasted['namesById'] = new Map();
    const done = `${inNumbers(clip)} pasted.`;
    try {
      await this.#write(done, (now) => {
        const pasted = withClip(arranged(now, arrangement), clip, filters, newId);
        ({ namesById } = pasted);
        return pasted.data;
      });
      return done;
    } catch (error) {
      if (!(error instanceof StudioError)) throw error;
      throw new Error(`Nothing is pasted. ${withNames(error.message, namesById)}`);
    }
  }

  #history({ template: { dashboardId }, content }: Data): TemplateResult {
    const restore = ({ detail }: CustomEvent<{ number: number; version: string }>): void =>
      void this.#restore(dashboardId, detail);
    return html`<studio-history .api=${this.api} template=${dashboardId} digest=${content.digest}
      ?mayRestore=${this.#mayBuild} @restore=${restore}></studio-history>`;
  }

  async #restore(template: string, { number, version }: { number: number; version: string }): Promise<void> {
    const text = 'The template gets the content of that edition, as a new edition. Tenants get it by a roll-out.';
    if (!(await confirmed(`Bring edition ${number} back?`, text, 'Bring it back'))) return;
    await this.act(async () => {
      const { content } = await this.api.command('template-version', { template, version });
      const done = `The template has the content of edition ${number} again.`;
      // An edition without tiles leaves them out.
      await this.#write(done, (data) => ({ ...data, tiles: [], ...content }));
      return done;
    });
  }

  protected override needsLoad(before: Place | undefined): boolean {
    return super.needsLoad(before) || before?.query.get('workspace') !== this.place.query.get('workspace');
  }
}

/** How long something was saved a moment ago. */
const momentMs = 60_000;

/** No letter alone: who speaks to the computer types letters that are no keys (WCAG 2.1.4). Not where a dialog is open. */
const isBeside = ({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'b' &&
  (ctrlKey || metaKey) &&
  !(altKey || shiftKey || repeat) &&
  document.querySelector('dialog[open]') === null;

/** Where keys belong to what is typed. */
const typing = 'input, textarea, select, [contenteditable], dialog, guestlist-editor, studio-sql-metric';

const arranged = (data: TemplateData, { layout, tiles, removed }: Arranged): TemplateData => {
  const byId = new Map(layout.map((card) => [card.metricId, card]));
  const kept = removed.reduce(withoutMetric, data);
  return { ...kept, layout: kept.layout.map((card) => byId.get(card.metricId) ?? card), tiles };
};

/** The filters that are added with the clip. Null: nothing is to be pasted. */
const filtersFor = async (data: TemplateData, clip: Clip): Promise<readonly TemplateFilter[] | null> => {
  const missing = missingFilters(data, clip);
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => `“${name}”`).join(', ');
  const text = `The cards come from a dashboard with filters that this one lacks: ${names}. Without them, neither readers nor the policy can restrict the cards by these names.`;
  const answer = await asked('Paste the filters too?', text, [
    { value: 'without', text: 'Paste without filters', className: 'quiet' },
    { value: 'with', text: 'Paste with filters' },
  ]);
  return answer === '' ? null : answer === 'with' ? missing : [];
};

/** One list, so that the part does not begin anew. */
const noTiles: readonly Tile[] = [];

const besideTitle = (): string =>
  readKeptViewer() === null ? 'Put another user beside' : 'Put another user on the right';

/** All that keys do on the canvas. */
const keys = html`<details class="keys"><summary>Keys</summary>
  <dl class="keys-list">
    <dt><kbd>Control</kbd> <kbd>B</kbd></dt><dd>Puts another user beside.</dd>
    <dt>Arrows</dt><dd>Move a card; with <kbd>Shift</kbd> they change its size.</dd>
    <dt><kbd>Enter</kbd></dt><dd>Opens a card; changes a heading, text, picture or tab.</dd>
    <dt><kbd>Space</kbd></dt><dd>Chooses several, as does a click with <kbd>Control</kbd>.</dd>
    <dt><kbd>Delete</kbd></dt><dd>Removes the chosen.</dd>
    <dt><kbd>Control</kbd> <kbd>D</kbd></dt><dd>Copies the chosen beside.</dd>
    <dt><kbd>Control</kbd> <kbd>C</kbd>, <kbd>X</kbd>, <kbd>V</kbd></dt><dd>Copy, cut and paste, also into another dashboard.</dd>
    <dt><kbd>Control</kbd> <kbd>Z</kbd>, <kbd>Y</kbd></dt><dd>Undo and redo.</dd>
  </dl></details>`;

/** At these widths the elements lay out differently. */
const widths = [
  { name: 'phone', title: 'phone, 390 pixels', css: '390px' },
  { name: 'tablet', title: 'tablet, 768 pixels', css: '768px' },
] as const;

const isMade = (tab: string): tab is Made => Object.hasOwn(panels, tab);

const tabLink = (address: string, title: string, isCurrent: boolean, className: string): TemplateResult =>
  isCurrent
    ? html`<a href=${address} class=${className} aria-current="page">${title}</a>`
    : link(address, title, className);

const because = ({ because: all }: View): TemplateResult =>
  html`${all.map(({ name, at }, index) => html`${index === 0 ? '' : ', '}“${name}” <code>${at}</code>`)}`;

const nobody = html`<div class="empty">
  <h2>Choose through whose eyes to look</h2>
  <p>Press “View as” beside the title, and choose one of the users.</p>
</div>`;

customElements.define('studio-dashboard', DashboardScreen);
