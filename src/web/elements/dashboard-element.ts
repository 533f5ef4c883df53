/** `<guestlist-dashboard token dashboard-id>`: the cards of one dashboard below its filter bar. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { ListedView } from '../../model/guest/saved-view.js';
import type { GuestDashboard, GuestMetric } from '../../model/guest/view.js';
import { type FilterValues, type GuestClient, GuestError, isRecord } from '../base/client.js';
import { failureText } from '../base/failure.js';
import { restoreGuestLayout, saveGuestLayout } from '../base/guest-operations.js';
import { arrangeIcon } from '../base/icons.js';
import { loadPart } from '../base/load-part.js';
import type { CallOnDashboard } from '../base/operations.js';
import { exported } from '../base/parts.js';
import { emptyState, stateStyles } from '../base/states.js';
import { baseStyles, themeStyles } from '../base/theme.js';
import { loadFamilies } from '../charts/registry.js';
import type { DrawBox } from '../editor/arrange-board.js';
import type { FilterChange, LoadFilterOptions } from '../filters/filter-bar.js';
import {
  type FilterLabels,
  filterNotes,
  type IgnoredFilter,
  ignoredFilters,
  settingOf,
  stringsIn,
  withoutLocked,
} from '../filters/filter-values.js';
import { createUrlMirror } from '../filters/url-mirror.js';
import { grantedId } from '../token/request.js';
import type { SaveArrangement } from './arrange-panel.js';
import type { ShownBoard } from './boards-panel.js';
import { dashboardStyles } from './dashboard-styles.js';
import { EmbedElement, embedStyles } from './embed-element.js';
import {
  cardsOf,
  inTwoColumns,
  isNarrow,
  onGrid,
  ownRows,
  type PlacedCard,
  type PlacedTile,
  type Section,
  sectionsOf,
} from './layout.js';
import { filtersOthers, type Mark, markChips, marksOn, openMarks, toggled } from './marks.js';
import type { CardSource } from './reading.js';
import type { OpenedDashboard } from './side-bar-panel.js';

/** What a card needs to know of its dashboard. `isAlone`: in two columns, no card stands beside it. */
type CardSurroundings = {
  readonly source: CardSource | undefined;
  readonly notes: readonly string[];
  readonly metrics: readonly GuestMetric[];
  readonly isAlone: boolean;
};

/** The name, where the token shows it, and what the host says of the dashboard. */
const titleOf = ({ name, description, permissions }: GuestDashboard): TemplateResult | null => {
  const heading = permissions.isShowDashboardName ? html`<h2 part="heading">${name}</h2>` : null;
  return description === undefined
    ? heading
    : html`<div class="titled">${heading}<p class="description quiet">${description}</p></div>`;
};

export class GuestlistDashboard extends EmbedElement {
  static override properties = {
    ...EmbedElement.properties,
    dashboardId: { type: String, attribute: 'dashboard-id', reflect: true },
    urlFilters: {
      attribute: 'url-filters',
      reflect: true,
      converter: {
        fromAttribute: (text: string | null) => text !== 'off',
        toAttribute: (isOn: boolean) => (isOn ? null : 'off'),
      },
    },
    urlPrefix: { type: String, attribute: 'url-prefix', reflect: true },
    dashboard: { state: true },
    filters: { state: true },
    unfit: { state: true },
    marks: { state: true },
    arranging: { state: true },
    tab: { state: true },
    labels: { state: true },
    board: { state: true },
    opened: { state: true },
    hasSideBar: { state: true },
  };
  declare dashboardId: string | null;
  /** Whether filters are written to the page's URL. The attribute `url-filters="off"` turns this off. */
  declare urlFilters: boolean;
  /** Prefix of each URL parameter, for pages with two dashboards or with parameters of the same name. */
  declare urlPrefix: string | null;
  declare dashboard: GuestDashboard | undefined;
  /** The guest's filter values by filter name. Kept when the token changes, reset when the dashboard changes. */
  declare filters: FilterValues;
  /** Filters whose value in the URL was left out, until the guest changes a filter. */
  declare unfit: readonly string[];
  /** Marks that the guest chose as filters of the other cards. */
  declare marks: readonly Mark[];
  /** Whether the guest arranges the cards. */
  declare arranging: boolean;
  /** The id of the tab that the guest chose. */
  declare tab: string | undefined;
  /** Labels of values of filters, as far as options were read. */
  declare labels: FilterLabels;
  /** What is shown in place of the dashboard's own arrangement. */
  declare board: ShownBoard | undefined;
  /** The id of the dashboard that the guest opened in the side bar, in place of the one that the page names. */
  declare opened: string | undefined;
  /** Whether the token shows a side bar, as the dashboard that was read last says. */
  declare hasSideBar: boolean;

  #source: CardSource | undefined;
  readonly #url = createUrlMirror();
  #isUrlRead = false;
  /** Filters whose labels were asked for, and how many reads of labels are under way. */
  readonly #labelled = new Set<string>();
  #labelReads = 0;
  /** What the page has set before the dashboard came. */
  #given: FilterValues | undefined;

  constructor() {
    super();
    this.urlFilters = true;
    this.filters = {};
    this.unfit = [];
    this.marks = [];
    this.arranging = false;
    this.labels = new Map();
    this.hasSideBar = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('popstate', this.#travelled);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('popstate', this.#travelled);
    this.#url.clear();
  }

  static override styles = [themeStyles, baseStyles, stateStyles, embedStyles, dashboardStyles];

  protected override get embedId(): string | null {
    return this.opened ?? grantedId(this.granted, 'dashboard', this.dashboardId || null);
  }

  protected override get readKey(): string | null {
    return this.embedId;
  }

  protected override get isShown(): boolean {
    return this.dashboard !== undefined;
  }

  protected override get permissions() {
    const permissions = this.dashboard?.permissions;
    return {
      canSeeRows: permissions?.isEnableUnderlyingData === true,
      canDownload: permissions?.isEnableDownloadMetrics === true,
    };
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('dashboardId')) this.opened = undefined;
    super.willUpdate(changed);
    if (changed.has('filters') || changed.has('marks')) this.#refilter();
    if (changed.has('filters') || changed.has('dashboard')) void this.#readLabels();
  }

  protected override updated(): void {
    this.#mirror();
  }

  protected override async read(client: GuestClient, signal: AbortSignal): Promise<() => void> {
    const id = this.embedId ?? '';
    const dashboard = await client.dashboard(id, signal);
    loadFamilies(dashboard.metrics.map(({ chart }) => chart.type));
    if (dashboard.permissions.isShowSideBar) this.#withPart(() => import('./side-bar.js'));
    const given = await this.#givenMarks(dashboard);
    // Earlier services have no tiles.
    if (dashboard.tiles !== undefined) await loadPart(() => import('./tile.js'));
    if (dashboard.boards !== undefined) await loadPart(() => import('./boards.js'));
    return () => {
      const isFirst = !this.#isUrlRead;
      this.dashboard = dashboard;
      this.hasSideBar = dashboard.permissions.isShowSideBar && this.options.metricId === undefined;
      this.labels = new Map();
      this.#labelled.clear();
      this.applyTheme(dashboard.theme);
      // Later, an unknown name is kept for a token that shows the filter, and was reported before.
      const ignored = ignoredFilters(this.filters, dashboard.filters).filter(
        ({ reason }) => isFirst || reason === 'locked',
      );
      this.#readUrl(dashboard);
      if (isFirst) this.#openView(dashboard);
      this.#given = undefined;
      this.filters = withoutLocked(this.filters, dashboard.filters);
      this.marks = openMarks(given ?? this.marks, dashboard);
      this.#source = this.#sourceOf(client, id, dashboard);
      const { name, permissions } = dashboard;
      const detail = { dashboardId: id, name, permissions, filters: dashboard.filters.map((filter) => filter.name) };
      this.tell('guestlist-loaded', detail);
      if (ignored.length > 0) this.#tellIgnored(ignored);
    };
  }

  #tellIgnored(ignored: readonly IgnoredFilter[]): void {
    const dashboardId = this.embedId;
    const names = ignored.map(({ name, reason }) => `${name} (${reason})`).join(', ');
    console.warn(
      `guestlist: filter values of the page without effect on dashboard ${dashboardId}: ${names} (locked: the token sets the value; unknown: the dashboard shows no such filter)`,
    );
    this.tell('guestlist-filters-ignored', { dashboardId, ignored });
  }

  /** The marks of `options.crossFilter`, when the dashboard is first read. */
  async #givenMarks(dashboard: GuestDashboard): Promise<readonly Mark[] | undefined> {
    const { crossFilter } = this.options;
    if (this.dashboard !== undefined || crossFilter === undefined) return undefined;
    const { givenMarks } = await loadPart(() => import('./given-marks.js'));
    return givenMarks(crossFilter, dashboard, this.view.format);
  }

  protected override forget(): void {
    this.dashboard = undefined;
    this.arranging = false;
    this.#source = undefined;
  }

  protected override reset(): void {
    this.forget();
    this.#url.clear();
    this.#isUrlRead = false;
    this.filters = this.#given ?? this.#initialFilters();
    this.tab = this.board = undefined;
    this.marks = [];
    // Access has ended, or another tenant was chosen.
    if (this.client === undefined) {
      this.opened = undefined;
      this.hasSideBar = false;
    }
  }

  protected override get side(): TemplateResult | null {
    const { client, dashboard } = this;
    if (!this.hasSideBar || this.printing || client === undefined) return null;
    return html`<guestlist-side-bar exportparts=${exported} ?inert=${this.isExpired} .client=${client} .format=${this.view.format}
      .current=${this.embedId} .name=${dashboard?.name} @open=${this.#open}></guestlist-side-bar>`;
  }

  readonly #open = ({ detail }: CustomEvent<OpenedDashboard>): void => {
    this.opened = detail.dashboardId;
    this.tell('guestlist-dashboard-change', detail);
  };

  protected override content(): TemplateResult {
    const { dashboard } = this;
    if (dashboard === undefined) return html``;
    const { metricId } = this.options;
    const board = this.#board;
    const { layout, tiles = [] } = board ?? dashboard;
    const isShown = (id: string): boolean =>
      metricId === undefined ? board === undefined || layout.some((card) => card.metricId === id) : metricId === id;
    const metrics = dashboard.metrics.filter((metric) => isShown(metric.metricId));
    const cards = cardsOf({ metrics, layout, tiles });
    const source = this.#source;
    const notes = filterNotes(dashboard.filters, this.filters, this.view.format, this.labels);
    return html`
      <slot name="logo"></slot>
      <div class="head" part="head" ?data-marks=${dashboard.metrics.some(filtersOthers)}>
        ${titleOf(dashboard)}
        ${
          dashboard.boards === undefined || this.printing || metricId !== undefined
            ? null
            : html`<guestlist-boards exportparts=${exported} .dashboard=${dashboard} .format=${this.view.format}
              .call=${this.#call} .draw=${this.#drawing(dashboard, source, notes)} @board=${this.#boardShown}></guestlist-boards>`
        }
        ${
          this.printing
            ? html`<guestlist-cover .notes=${notes} .format=${this.view.format}></guestlist-cover>`
            : dashboard.filters.length > 0
              ? html`<guestlist-filter-bar exportparts=${exported}
                .filters=${dashboard.filters}
                .values=${this.filters}
                .unfit=${this.unfit}
                .format=${this.view.format}
                .load=${this.#loadOptions}
                .labels=${this.labels}
                .callViews=${dashboard.permissions.isEnableCreateDashboardView ? this.#call : undefined}
                .canShareViews=${dashboard.permissions.isEnableManageMetrics}
                .openedView=${dashboard.defaultView ?? null}
                @filter=${this.#changed}
                @view=${this.#viewChosen}
              ></guestlist-filter-bar>`
              : null
        }
        ${markChips(this.marks, this.#removeMark, this.view.format.text)}
        ${(dashboard.scheduleFormats ?? dashboard.chat ?? dashboard.hasSummary) === undefined || this.printing || metricId !== undefined ? null : this.#tools(dashboard)}
        ${this.#canArrange && cards.length > 0 && !this.arranging ? this.#arrangeButton() : null}
      </div>
      ${cards.length + tiles.length === 0 && !board?.isEditing ? emptyState(this.view.format.text('There is nothing on this dashboard yet')) : null}
      ${
        this.#canArrange && this.arranging
          ? this.#arrangePanel(cards, this.#drawing(dashboard, source, notes))
          : board?.isEditing
            ? null
            : this.#sections(sectionsOf(cards, metricId === undefined ? tiles : []), (item, isAlone) =>
                'tile' in item
                  ? this.#tile(item)
                  : this.#card(item, { source, notes, metrics: dashboard.metrics, isAlone }),
              )
      }
    `;
  }

  /** Cards of a tab that is not shown ask for nothing until it is chosen. On paper all tabs are one below the other. */
  #sections(
    sections: readonly Section[],
    draw: (item: PlacedCard | PlacedTile, isAlone: boolean) => TemplateResult,
  ): readonly unknown[] | unknown {
    const tabs = sections.flatMap(({ tab }) => tab ?? []);
    const chosen = tabs.find(({ tileId }) => tileId === this.tab) ?? tabs[0];
    return repeat(
      sections,
      ({ tab }) => tab?.tileId,
      ({ tab, items: placed }) => {
        const inGrid = onGrid(placed);
        const paired = inTwoColumns(inGrid);
        // The order of the page stays that of the grid, where each card has its place.
        const items = this.printing ? paired.items : inGrid;
        return html`
        ${tab === undefined || (tab !== tabs[0] && !this.printing) ? null : html`<guestlist-tabs exportparts=${exported} .tabs=${this.printing ? [tab] : tabs} .chosen=${chosen} ?printing=${this.printing} @choose=${this.#tabChosen}></guestlist-tabs>`}
        <div class="grid" role=${tab === undefined || this.printing ? nothing : 'tabpanel'} aria-label=${tab?.text ?? nothing}
          ?hidden=${tab !== undefined && tab !== chosen && !this.printing}>
          ${repeat(
            items,
            (item) => ('tile' in item ? `tile-${item.tile.tileId}` : item.metric.metricId),
            (item) => draw(item, paired.alone.has(item)),
          )}
        </div>`;
      },
    );
  }

  readonly #tabChosen = ({ detail }: CustomEvent<string>): void => {
    this.tab = detail;
  };

  #tools(dashboard: GuestDashboard): TemplateResult {
    return html`<guestlist-tools exportparts=${exported} .view=${this.view} .dashboard=${dashboard} .dashboardId=${this.embedId}
      .filters=${this.#filtersOf(dashboard)} .labels=${this.labels} .client=${this.client} @guestlist-saved=${this.#saved}></guestlist-tools>`;
  }

  readonly #call: CallOnDashboard = (route, input, signal) => {
    const { client, embedId } = this;
    if (client === undefined || embedId === null) return Promise.resolve([] as never);
    return client.call(route, { ...input, dashboardId: embedId } as never, signal);
  };

  /** A token that allows no boards shows none. */
  get #board(): ShownBoard | undefined {
    return this.dashboard?.boards && this.board;
  }

  readonly #boardShown = ({ detail }: CustomEvent<ShownBoard | null>): void => {
    this.board = detail ?? undefined;
  };

  get #canArrange(): boolean {
    const isAllowed = this.dashboard?.permissions.isEnableCustomizeLayout === true && this.#board === undefined;
    return isAllowed && !this.printing && this.options.metricId === undefined;
  }

  #arrangeButton(): TemplateResult {
    const label = this.view.format.text('Arrange cards');
    return html`<button class="icon arrange" part="icon-button" type="button" aria-label=${label} title=${label}
      @click=${this.#arrange}>${arrangeIcon}</button>`;
  }

  /** What stands at the place of a box while the guest arranges. A tab is a name. */
  #drawing({ metrics }: GuestDashboard, source: CardSource | undefined, notes: readonly string[]): DrawBox {
    return ({ content, x, y, w, h }) => {
      const place = { x, y, w, h };
      if (content.kind === 'tab') return undefined;
      if (content.kind !== 'card') return this.#tile({ tile: { ...content, ...place }, place });
      const metric = metrics.find(({ metricId }) => metricId === content.metricId);
      return metric && this.#card({ metric, place }, { source, notes, metrics, isAlone: false });
    };
  }

  #arrangePanel(cards: readonly PlacedCard[], draw: DrawBox): TemplateResult {
    const { text } = this.view.format;
    return html`<guestlist-arrange exportparts=${exported}
      .cards=${cards.map(({ metric, place }) => ({ ...place, metricId: metric.metricId, name: metric.name }))}
      .tiles=${this.dashboard?.tiles ?? []}
      .format=${this.view.format}
      .draw=${draw}
      .canRestore=${this.dashboard?.hasOwnLayout === true}
      .save=${this.#saveLayout}
      .textOf=${(error: unknown) => failureText(error, text)}
      @end=${this.#arranged}
    ></guestlist-arrange>`;
  }

  #withPart(load: () => Promise<unknown>, run = () => {}): void {
    const { client } = this;
    loadPart(load).then(run, (error) => {
      if (client !== undefined && error instanceof GuestError) this.onFailure(error, client);
    });
  }

  readonly #arrange = (): void =>
    this.#withPart(
      () => import('./arrange.js'),
      () => {
        this.arranging = true;
      },
    );

  readonly #saveLayout: SaveArrangement = async (arrangement, signal) => {
    const { client, embedId } = this;
    if (client === undefined || embedId === null) return;
    // Earlier services have no tiles, and refuse their places.
    const { layout, tiles } = arrangement ?? { layout: [], tiles: [] };
    if (arrangement === null) await this.#call(restoreGuestLayout, {}, signal);
    else await this.#call(saveGuestLayout, tiles.length === 0 ? { layout } : { layout, tiles }, signal);
    await this.#reread(signal);
  };

  async #reread(signal: AbortSignal): Promise<void> {
    const { client, embedId } = this;
    if (client === undefined || embedId === null) return;
    const dashboard = await client.dashboard(embedId, signal);
    if (client === this.client) this.dashboard = dashboard;
  }

  /** Shows the metric that was saved. */
  readonly #saved = (): void => this.#withPart(() => this.#reread(new AbortController().signal));

  /** The focus goes back to where the guest began. */
  readonly #arranged = (): void => {
    this.arranging = false;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('.arrange')?.focus());
  };

  #tile({ tile, place }: PlacedTile): TemplateResult {
    return html`<guestlist-tile exportparts=${exported} ?printing=${this.printing} .place=${place} .tile=${tile}></guestlist-tile>`;
  }

  #card(card: PlacedCard, { source, notes, metrics, isAlone }: CardSurroundings): TemplateResult {
    const { metric, place } = card;
    const { held, ignored } = marksOn(metric.metricId, this.marks, metrics);
    return html`<guestlist-card exportparts=${exported}
      ?narrow=${isNarrow(card) && this.options.metricId === undefined}
      ?alone=${isAlone}
      ?compact=${ownRows(card) !== undefined}
      ?tall=${ownRows(card) === 3}
      .place=${place}
      .metric=${metric}
      .source=${source}
      .notes=${[...notes, ...held]}
      .held=${held}
      .ignored=${ignored}
      .onMark=${this.#marked}
      .view=${this.view}
      .onFailure=${this.onFailure}
      @again=${this.refresh}
    ></guestlist-card>`;
  }

  /** Options under the other filters, if one of them has a value. */
  readonly #loadOptions: LoadFilterOptions = (filter, search, signal) => {
    const { filters = [] } = this.dashboard ?? {};
    const { [filter]: _, ...beside } = this.dashboard === undefined ? {} : this.#filtersOf(this.dashboard);
    const isNarrowed = filters.some((each) => each.name !== filter && settingOf(each, beside) !== undefined);
    return this.#readOptions(filter, search, signal, isNarrowed ? beside : undefined);
  };

  readonly #readOptions = (filter: string, search: string, signal: AbortSignal, beside?: FilterValues) => {
    const { client, embedId } = this;
    if (client === undefined || embedId === null) return Promise.resolve({ options: [], hasMore: false });
    return client.options(embedId, filter, search, signal, beside);
  };

  /** Until the labels of the chosen values have come, the stored values are shown, and so if they do not come. */
  async #readLabels(): Promise<void> {
    const { dashboard, client } = this;
    const asked = (dashboard?.filters ?? []).filter((filter) => {
      const isSet = stringsIn(settingOf(filter, this.filters)).length > 0;
      return filter.hasValueLabels === true && isSet && !this.#labelled.has(filter.name);
    });
    if (asked.length === 0 || client === undefined) return;
    for (const { name } of asked) this.#labelled.add(name);
    this.#labelReads += 1;
    const { readLabels } = await loadPart(() => import('./filter-labels.js'));
    const found = await readLabels(asked, this.#readOptions);
    this.#labelReads -= 1;
    if (dashboard === this.dashboard) this.labels = new Map([...this.labels, ...found]);
  }

  override get isBusy(): boolean {
    return this.#labelReads > 0 || super.isBusy;
  }

  readonly #viewChosen = ({ detail }: CustomEvent<ListedView>): void => {
    this.filters = withoutLocked(detail.dashboardFilter, this.dashboard?.filters ?? []);
    this.unfit = [];
    this.#tellFilters();
  };

  readonly #marked = (mark: Mark): void => {
    this.marks = toggled(this.marks, mark);
  };

  /** Keeps the focus near: on the next chip, or where the chips were. */
  readonly #removeMark = (mark: Mark): void => {
    this.#marked(mark);
    void this.updateComplete.then(() => {
      const chips = this.renderRoot.querySelector<HTMLElement>('.chips');
      (chips?.querySelector('button') ?? chips)?.focus();
    });
  };

  readonly #changed = ({ detail: { name, value } }: CustomEvent<FilterChange>): void => {
    const { [name]: _, ...others } = this.filters;
    this.filters = value === undefined ? others : { ...others, [name]: value };
    this.unfit = [];
    this.#tellFilters();
  };

  /** The guest's filter values by filter name. */
  getFilters(): FilterValues {
    return structuredClone(this.filters);
  }

  /**
   * Replaces the values of all filters, by filter name. The service adds them to what the token enforces.
   * Throws TypeError for a value that is none, for a name that the shown dashboard does not have, and for a locked filter.
   */
  setFilters(values: FilterValues): void {
    if (!isFilterValues(values)) {
      throw new TypeError(
        'setFilters takes an object of filter values by filter name; leave a filter out to clear it.',
      );
    }
    const known = this.dashboard?.filters.map(({ name }) => name);
    const unknown = known === undefined ? [] : Object.keys(values).filter((name) => !known.includes(name));
    if (known !== undefined && unknown.length > 0) {
      throw new TypeError(
        `The dashboard has no filter ${unknown.join(', ')}. Its filters: ${known.join(', ') || 'none'}.`,
      );
    }
    const locked = this.dashboard?.filters.find(
      (each) => each.appliedValue !== undefined && Object.hasOwn(values, each.name),
    );
    if (locked !== undefined) throw new TypeError(`The filter ${locked.name} is locked: the token sets its value.`);
    this.filters = structuredClone(values);
    if (known === undefined) this.#given = this.filters;
  }

  #tellFilters(): void {
    this.tell('guestlist-filter-change', { dashboardId: this.embedId, filters: this.getFilters() });
  }

  /** Reads the URL once for each dashboard. Later values come from the guest and are kept when the token changes. */
  #readUrl({ filters }: GuestDashboard): void {
    if (this.urlFilters && !this.#isUrlRead) {
      this.filters = { ...this.filters, ...this.#url.read(filters, this.urlPrefix ?? '') };
      this.unfit = this.#url.unfit(filters, this.urlPrefix ?? '');
    }
    this.#isUrlRead = true;
  }

  /** The default view applies only where neither the page nor its address sets a filter. */
  #openView({ defaultView }: GuestDashboard): void {
    const isSet = Object.keys(this.filters).length > 0 || this.unfit.length > 0 || this.#given !== undefined;
    // Earlier services have no default views.
    if (!isSet) this.filters = defaultView?.dashboardFilter ?? {};
  }

  #mirror(): void {
    if (!this.isConnected) return;
    if (!this.urlFilters) this.#url.clear();
    else if (this.dashboard === undefined) this.#url.dropApplied();
    else this.#url.write(this.dashboard.filters, this.filters, this.urlPrefix ?? '');
  }

  readonly #travelled = (): void => {
    if (!this.urlFilters) return;
    const before = this.filters;
    this.unfit = this.#url.unfit(this.dashboard?.filters ?? [], this.urlPrefix ?? '');
    this.filters = this.#url.follow(before);
    this.#mirror();
    if (this.filters !== before) this.#tellFilters();
  };

  #refilter(): void {
    if (this.#source === undefined || this.dashboard === undefined) return;
    this.#source = this.#sourceOf(this.#source.client, this.#source.dashboardId, this.dashboard);
  }

  #sourceOf(client: GuestClient, dashboardId: string | undefined, dashboard: GuestDashboard): CardSource {
    return { client, dashboardId, dashboardFilter: this.#filtersOf(dashboard), marks: this.marks };
  }

  /** The values of those filters that the current token shows. */
  #filtersOf(dashboard: GuestDashboard): FilterValues {
    const known = new Set(dashboard.filters.map((filter) => filter.name));
    return Object.fromEntries(Object.entries(this.filters).filter(([name]) => known.has(name)));
  }

  /** Initial filter values by filter name, from `options.filters`. */
  #initialFilters(): FilterValues {
    const { filters } = this.options;
    return isFilterValues(filters) ? filters : {};
  }
}

const isFilterValues = (value: unknown): value is FilterValues =>
  isRecord(value) && Object.values(value).every((each) => each !== null && each !== undefined);
