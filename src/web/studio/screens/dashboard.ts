/** One template: as a tenant's user sees it, its metrics, a new metric, the arrangement, and the definition. */
import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { VisualDefinition } from '../../../domain/dashboard/metric.js';
import type { Tile } from '../../../domain/dashboard/tile.js';
import { draftOf, wholeOf } from '../../editor/draft.js';
import type { InitialMetric } from '../../editor/panel.js';
import '../parts/arrange.js';
import '../parts/history.js';
import '../parts/template-filters.js';
import { hasRole, StudioError, type View } from '../base/api.js';
import { askAuthored } from '../base/author-preview.js';
import {
  type Content,
  changedMetric,
  listTemplates,
  readContent,
  renamedMetric,
  type Template,
  type TemplateData,
  type TemplateMetric,
  withFilter,
  withMetric,
  withoutFilter,
  withoutMetric,
  writeContent,
} from '../base/content.js';
import { readVersion, recordEdition } from '../base/editions.js';
import { loadElements } from '../base/elements.js';
import { confirmed, link } from '../base/kit.js';
import { listColumns, type ModelColumn } from '../base/model-columns.js';
import { addressOf, type Place } from '../base/routes.js';
import { Screen, textOf } from '../base/screen.js';
import { withTiles } from '../base/tiles.js';
import {
  keepViewer,
  nameOf,
  openView,
  readKeptViewer,
  readPolicy,
  readViewer,
  type Viewer,
  watchViewer,
} from '../base/viewer.js';
import type { Arranged } from '../parts/arrange.js';
import type { RunSql, SqlMetric } from '../parts/sql-metric.js';
import type { FilterChange } from '../parts/template-filters.js';

type Data = { readonly template: Template; readonly content: Content; readonly columns: readonly ModelColumn[] };
type Seen = { readonly viewer: Viewer; readonly view: View } | { readonly viewer: Viewer; readonly refusal: string };

const tabs = [
  { name: 'view', title: 'View as' },
  { name: 'metrics', title: 'Metrics' },
  { name: 'new', title: 'New metric' },
  { name: 'sql', title: 'New SQL metric' },
  { name: 'filters', title: 'Filters' },
  { name: 'arrange', title: 'Arrange' },
  { name: 'history', title: 'History' },
  { name: 'definition', title: 'Definition' },
] as const;
type Tab = (typeof tabs)[number]['name'];

class DashboardScreen extends Screen<Data> {
  static override properties = { ...Screen.properties, seen: { state: true }, beside: { state: true } };
  /** What the chosen user sees; undefined until it is known. */
  declare seen: Seen | undefined;
  /** What the kept user sees, if another user is shown beside. */
  declare beside: Seen | undefined;
  #gone = new AbortController();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#gone = new AbortController();
    watchViewer(() => void this.#look(), this.#gone.signal);
    void this.#look();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
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
      readPolicy(this.api, signal),
    ]);
    return { template, content, columns: await listColumns(this.api, datamart, signal) };
  }

  async #look(): Promise<void> {
    const [viewer, kept] = [readViewer(), readKeptViewer()];
    this.seen = undefined;
    this.beside = undefined;
    const gone = this.#gone.signal;
    const [seen, beside] = await Promise.all([this.#see(viewer), this.#see(kept)]);
    if (gone.aborted) return;
    this.seen = seen;
    this.beside = beside;
  }

  /** Opens the view anew, while what is being edited stays. */
  async #renew(): Promise<void> {
    const seen = await this.#see(readViewer());
    if (!this.#gone.signal.aborted) this.seen = seen;
  }

  async #see(viewer: Viewer | null): Promise<Seen | undefined> {
    if (viewer === null) return undefined;
    try {
      await loadElements();
      return { viewer, view: await openView(this.api, viewer, this.#gone.signal) };
    } catch (error) {
      return { viewer, refusal: textOf(error) };
    }
  }

  get #tab(): Tab {
    const wanted = this.place.query.get('tab');
    return tabs.find(({ name }) => name === wanted)?.name ?? 'view';
  }

  protected override content(data: Data): TemplateResult {
    const { template, content } = data;
    const { name } = content._meta;
    const mayBuild = hasRole(this.api.session, 'author');
    const shown = mayBuild ? tabs : tabs.filter(({ name: tab }) => !['new', 'sql', 'arrange'].includes(tab));
    const to = (tab: Tab): string =>
      addressOf('dashboards', [template.dashboardId], { workspace: template.workspaceName, tab });
    return html`<div class="head">
        <h1>${name}</h1>
        <code>${template.dashboardId}</code>
        <span class="gap"></span>
        ${link(addressOf('embed', [], { dashboard: template.dashboardId }), 'Embed', 'button quiet')}
        ${link(addressOf('rollouts', [], { template: template.dashboardId }), 'Roll out', 'button')}
      </div>
      <nav class="tabs" aria-label="Parts of ${name}">
        ${shown.map((tab) => html`<span>${tabLink(to(tab.name), tab.title, tab.name === this.#tab)}</span>`)}
      </nav>
      ${this.#part(data)}`;
  }

  #part(data: Data): TemplateResult {
    switch (this.#tab) {
      case 'view':
        return this.#asUser(data);
      case 'metrics':
        return this.#metrics(data);
      case 'new':
        return this.#editor(data);
      case 'sql':
        return this.#sql(data);
      case 'arrange':
        return this.#arrange(data);
      case 'filters':
        return this.#filters(data);
      case 'history':
        return this.#history(data);
      case 'definition':
        return html`<p class="soft">The content as JSON, as exports and files have it.</p>
          <pre tabindex="0"><code>${JSON.stringify(data.content.data, null, 2)}</code></pre>`;
    }
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
      return html`<div class="skeleton" aria-busy="true" aria-label="Loading"><i></i><i></i></div>`;
    if ('refusal' in seen)
      return html`<div class="failure" role="alert"><p>${nameOf(seen.viewer)} sees nothing: ${seen.refusal}</p></div>`;
    const id = this.#copyOf(data, seen.view);
    if (id !== undefined) return show(seen.view, id, seen.viewer);
    return html`<div class="empty"><h2>${nameOf(seen.viewer)} does not see this dashboard</h2>
      <p>No rule of the policy grants it to this user. What is granted: ${seen.view.embeds.map(({ name }) => name).join(', ') || 'nothing'}.</p>
      ${because(seen.view)} ${link(addressOf('policy'), 'Open the policy')}</div>`;
  }

  #asUser(data: Data): TemplateResult {
    const { seen, beside } = this;
    if (seen === undefined || readKeptViewer() === null)
      return html`${seen === undefined ? nothing : besideButton(seen.viewer)}${this.#dashboardOf(data, seen)}`;
    return html`<p class="toolbar"><button type="button" class="quiet" @click=${() => keepViewer(null)}>Show one user</button>
        <span class="soft">Choose the user on the right by “View as”.</span></p>
      <div class="beside"><section>${this.#dashboardOf(data, beside)}</section><section>${this.#dashboardOf(data, seen)}</section></div>`;
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
        ${keyed(
          view.token,
          html`<guestlist-dashboard class="embedded" token=${view.token} service-url=${location.origin + view.serviceUrl}
            dashboard-id=${id} theme="auto" @token-expired=${() => void this.#look()}></guestlist-dashboard>`,
        )}`,
      seen,
    );
  }

  #editor(data: Data): TemplateResult {
    const id = this.place.query.get('metric');
    const metric = data.content.data.metrics.find(({ metricId }) => metricId === id);
    const initial = metric === undefined ? undefined : this.#initialOf(metric);
    void import('../parts/metric-editor.js');
    return this.#seen(
      data,
      (
        view,
        id,
        viewer,
      ) => html`<p class="soft">The chart has the rows of ${nameOf(viewer)}. ${metric === undefined ? 'Saving adds the metric to the template' : `Saving changes “${metric.name}” in the template`}; tenants get it by a roll-out.</p>
        ${keyed(
          `${id} ${metric?.metricId ?? ''}`,
          html`<studio-metric-editor .api=${this.api} .view=${view} .dashboardId=${id} .tenant=${viewer.clientId} .initial=${initial}
            .save=${this.#saveMetric} @view-ended=${() => void this.#renew()}></studio-metric-editor>`,
        )}`,
    );
  }

  /** The editor is a chunk of its own, for the few who write SQL. */
  #sql(data: Data): TemplateResult {
    const id = this.place.query.get('metric');
    const metric = data.content.data.metrics.find(({ metricId }) => metricId === id);
    const initial =
      metric?.definition.kind === 'sql' ? { name: metric.name, definition: metric.definition } : undefined;
    const saveIt = async ({ name, definition }: SqlMetric): Promise<void> => {
      await this.#write((now) =>
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
            .runIt=${this.#runIn(view, copy)} .saveIt=${saveIt}></studio-sql-metric>`,
        )}`,
    );
  }

  #runIn(view: View, dashboardId: string): RunSql {
    return async ({ definition }, signal) => {
      const asked = { view: view.token, dashboardId, definition };
      const sql = await this.api.describeMetric(asked, signal);
      const isShown = this.api.session.person.seesData;
      const answer = isShown ? await askAuthored(this.api, view, asked, signal, () => void this.#renew()) : null;
      return { sql, answer };
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
    await this.#write((data) => {
      const metric = data.metrics.find(({ metricId }) => metricId === id);
      if (metric?.definition.kind !== 'visual') throw new Error('Somebody removed this metric meanwhile.');
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
    const made = await this.#write((data) => withMetric(data, name, whole));
    return { metricId: made.metrics.find(({ metricId }) => !before.includes(metricId))?.metricId ?? '' };
  };

  /** Changes the content. If somebody else changed it meanwhile, the change is made to what is there now. */
  async #write(change: (data: TemplateData) => TemplateData): Promise<TemplateData> {
    const { data } = this;
    if (data === undefined) throw new Error('The dashboard is not loaded yet.');
    const { template } = data;
    const attempt = async ({ data: now, digest }: Content): Promise<TemplateData> => {
      const next = change(now);
      await writeContent(this.api, template, next, digest);
      await recordEdition(this.api, template.dashboardId);
      return next;
    };
    try {
      return await attempt(data.content);
    } catch (error) {
      if (!(error instanceof StudioError) || error.code !== 'DASHBOARD_CHANGED') throw error;
      return await attempt(await readContent(this.api, template));
    } finally {
      await this.reload();
    }
  }

  #metrics({ content }: Data): TemplateResult {
    const { metrics } = content.data;
    if (metrics.length === 0)
      return html`<div class="empty"><h2>No metrics yet</h2><p>Choose fields under “New metric”.</p></div>`;
    const mayBuild = hasRole(this.api.session, 'author');
    return html`<div class="table" tabindex="0" role="group" aria-label="List">
      <table>
        <thead><tr><th scope="col">Metric</th><th scope="col">Id</th><th scope="col">Chart</th><th scope="col">Shows</th>${mayBuild ? html`<th scope="col"><span class="sr">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${metrics.map((metric) => this.#metricRow(metric, mayBuild))}</tbody>
      </table>
    </div>`;
  }

  #metricRow(metric: TemplateMetric, mayBuild: boolean): TemplateResult {
    const { metricId, name, definition } = metric;
    const rename = (event: Event): void => {
      const next = (event.target as HTMLInputElement).value.trim();
      if (next !== '' && next !== name)
        void this.act(async () => {
          await this.#write((data) => renamedMetric(data, metricId, next));
          return `“${name}” is now “${next}”.`;
        });
    };
    return html`<tr>
      <td>${mayBuild ? html`<input aria-label="Name of ${name}" maxlength="120" .value=${name} @change=${rename} />` : name}</td>
      <td><code>${metricId}</code></td>
      <td>${definition.chart.type}</td>
      <td>${definition.kind === 'sql' ? 'SQL' : inWords(definition)}</td>
      ${
        mayBuild
          ? html`<td>
              ${link(this.#editing(metric), 'Edit')} ·
              <button type="button" class="text" @click=${() => void this.#remove(metric)}>Remove</button>
            </td>`
          : nothing
      }
    </tr>`;
  }

  #editing({ metricId: metric, definition: { kind } }: TemplateMetric): string {
    const { dashboardId, workspaceName: workspace } = this.data?.template ?? { dashboardId: '', workspaceName: '' };
    return addressOf('dashboards', [dashboardId], { workspace, tab: kind === 'sql' ? 'sql' : 'new', metric });
  }

  async #remove({ metricId, name }: TemplateMetric): Promise<void> {
    const text = 'It leaves the template now, and the tenants’ dashboards at the next roll-out.';
    if (!(await confirmed(`Remove “${name}”?`, text, 'Remove'))) return;
    await this.act(async () => {
      await this.#write((data) => withoutMetric(data, metricId));
      return `“${name}” is removed.`;
    });
  }

  #filters({ content, columns }: Data): TemplateResult {
    const change = ({ detail }: CustomEvent<FilterChange>): void =>
      void this.act(async () => {
        await this.#write((data) =>
          'add' in detail ? withFilter(data, detail.add) : withoutFilter(data, detail.remove),
        );
        return 'add' in detail
          ? `The filter “${detail.add.name}” is added.`
          : `The filter “${detail.remove}” is removed.`;
      });
    return html`<studio-template-filters .filters=${content.data.filters} .columns=${columns}
      ?mayChange=${hasRole(this.api.session, 'author')} @filter-change=${change}></studio-template-filters>`;
  }

  #arrange({ content }: Data): TemplateResult {
    const { layout, metrics, tiles = noTiles } = content.data;
    const save = ({ detail }: CustomEvent<Arranged>): void =>
      void this.act(async () => {
        const byId = new Map(detail.layout.map((card) => [card.metricId, card]));
        await this.#write((data) => {
          const moved = { ...data, layout: data.layout.map((card) => byId.get(card.metricId) ?? card) };
          return withTiles(moved, detail.before, detail.tiles);
        });
        return 'The arrangement is saved.';
      });
    return html`<studio-arrange .cards=${layout} .tiles=${tiles} .names=${new Map(metrics.map(({ metricId, name }) => [metricId, name]))} @arranged=${save}></studio-arrange>`;
  }

  #history({ template: { dashboardId }, content }: Data): TemplateResult {
    const restore = ({ detail }: CustomEvent<{ number: number; version: string }>): void =>
      void this.#restore(dashboardId, detail);
    return html`<studio-history .api=${this.api} template=${dashboardId} digest=${content.digest}
      ?mayRestore=${hasRole(this.api.session, 'author')} @restore=${restore}></studio-history>`;
  }

  async #restore(template: string, { number, version }: { number: number; version: string }): Promise<void> {
    const text = 'The template gets the content of that edition, as a new edition. Tenants get it by a roll-out.';
    if (!(await confirmed(`Bring edition ${number} back?`, text, 'Bring it back'))) return;
    await this.act(async () => {
      const { content } = await readVersion(this.api, template, version);
      await this.#write((data) => ({ ...data, ...content }));
      return `The template has the content of edition ${number} again.`;
    });
  }

  protected override needsLoad(before: Place | undefined): boolean {
    return super.needsLoad(before) || before?.query.get('workspace') !== this.place.query.get('workspace');
  }
}

/** One list, so that the part does not begin anew. */
const noTiles: readonly Tile[] = [];

const besideButton = (viewer: Viewer): TemplateResult =>
  html`<p class="toolbar"><button type="button" class="quiet" @click=${() => keepViewer(viewer)}>Put another user beside</button></p>`;

const tabLink = (address: string, title: string, isCurrent: boolean): TemplateResult =>
  isCurrent ? html`<a href=${address} aria-current="page">${title}</a>` : link(address, title);

const because = ({ because: all }: View): TemplateResult =>
  html`${all.map(({ name, at }, index) => html`${index === 0 ? '' : ', '}“${name}” <code>${at}</code>`)}`;

const inWords = (definition: Extract<TemplateMetric['definition'], { kind: 'visual' }>): string => {
  const measures = definition.measures.map(({ name }) => name).join(', ');
  const groups = definition.dimensions.map(({ name }) => name).join(', ');
  return [measures, groups === '' ? '' : `by ${groups}`].filter(Boolean).join(' ') || definition.from.tableName;
};

const nobody = html`<div class="empty">
  <h2>Choose through whose eyes to look</h2>
  <p>Press “View as” at the top, and name a tenant and one of its users.</p>
</div>`;

customElements.define('studio-dashboard', DashboardScreen);
