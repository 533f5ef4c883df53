/** A card: shows one metric. A failure of its query stays on this card. */
import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { ChartType } from '../../model/dashboard/chart.js';
import type { CrossFilter, GuestMetric } from '../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import { type GuestClient, GuestError } from '../base/client.js';
import { failureText } from '../base/failure.js';
import { type Format, withClaimedUnit } from '../base/format.js';
import { chartIcon, closeIcon, growIcon, rowsIcon, shrinkIcon, tableIcon } from '../base/icons.js';
import { loadPart } from '../base/load-part.js';
import { isOthers } from '../base/others.js';
import { exported } from '../base/parts.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles } from '../base/theme.js';
import {
  columnsOf,
  grainOf,
  inCurrencies,
  inOneForm,
  overlapNote,
  rowsOf,
  truncationNote,
} from '../charts/model/columns.js';
import type { SlotMemory } from '../charts/model/slots.js';
import type { ImageType } from '../charts/pictures/content.js';
import { rendererOf } from '../charts/registry.js';
import type { Pages, TableContent } from '../charts/table-element.js';
import { cardStyles } from './card-styles.js';
import type { DownloadKind } from './download-menu.js';
import { drilledTitle, drilledType } from './drilled.js';
import type { Place } from './layout.js';
import { filteredBy, isSameMark, type Mark, type MarkedPeriod, markOf, periodOf } from './marks.js';
import type { Menu, MenuItem, MenuPlace } from './menu.js';
import { isOnScreen, unwatchNear, watchNear } from './near.js';
import { type CardSource, Reading } from './reading.js';
import type { LoadRows, RowsDialog } from './rows-dialog.js';

/** How a card looks. A change of it renders the card again but sends no query. */
export type CardView = {
  readonly format: Format;
  readonly colours: readonly string[];
  readonly themeKey: string;
  /** The colours of values, which all cards share. */
  readonly slots?: SlotMemory | undefined;
  readonly canSeeRows: boolean;
  readonly canDownload: boolean;
  /** True while the page is printed. */
  readonly isPrinted: boolean;
};

const noAnswer: MetricAnswer = { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };

export class MetricCard extends LitElement {
  static override properties = {
    metric: { attribute: false },
    source: { attribute: false },
    view: { attribute: false },
    onFailure: { attribute: false },
    place: { attribute: false },
    notes: { attribute: false },
    held: { attribute: false },
    ignored: { attribute: false },
    onMark: { attribute: false },
    isTable: { state: true },
    isSettled: { state: true },
    isNear: { state: true },
    isFullScreen: { state: true },
    downloadFailure: { state: true },
  };
  declare metric: GuestMetric;
  declare source: CardSource;
  declare view: CardView;
  /** Called with every failure. Returns true if the owning element shows the failure, so that the card does not. */
  declare onFailure: (error: GuestError, client: GuestClient, metricId: string) => boolean;
  /** Position on the dashboard's grid, passed to the grid as `--x`, `--y`, `--w` and `--h`. */
  declare place: Place | undefined;
  /** The filters' values in words, one line for each filter. */
  declare notes: readonly string[];
  /** Marks of other cards that filter this one, in words. */
  declare held: readonly string[];
  /** Marks of other cards that do not filter this one, in words. */
  declare ignored: readonly string[];
  /** Called with a mark that the guest chose as a filter of the other cards. Undefined if there are no others. */
  declare onMark: ((mark: Mark) => void) | undefined;
  declare isTable: boolean;
  /** False until the script of the chart has come. */
  declare isSettled: boolean;
  /** Why the script of the controls, which has the charts and tables, did not come. */
  declare controlsFailure: unknown;
  #isLoadingControls = false;
  /** False until the card may ask: cards that the reader sees come first. */
  declare isNear: boolean;
  declare isFullScreen: boolean;
  /** Why the last download came to nothing. */
  declare downloadFailure: GuestError | undefined;

  /** Where the pointer last was, for the menu of a mark. */
  #pointed: MenuPlace | undefined;
  #shownOf:
    | { readonly metric: GuestMetric; readonly answer: MetricAnswer | undefined; readonly shown: GuestMetric }
    | undefined;
  readonly #reading = new Reading({
    changed: () => this.requestUpdate(),
    drilled: () => {
      const drill = this.#reading.state.drill.map(({ columnName, value }) => ({ columnName, value }));
      this.#tell('guestlist-drill', { drill });
    },
    isShownElsewhere: (error, client, metricId) => this.onFailure(error, client, metricId),
  });

  /** Whether the current question is still to be asked. */
  #isUnasked = false;
  /** The notes of the answer that is shown. `notes` may already be those of the next question. */
  #answeredNotes: readonly string[] = [];

  constructor() {
    super();
    this.isTable = false;
    this.isSettled = false;
    this.isNear = false;
    this.isFullScreen = false;
    this.notes = [];
    this.held = [];
    this.ignored = [];
  }

  /** When the data that the card shows came, or when it was read if that was earlier; undefined if it shows none. */
  get answeredAt(): Date | undefined {
    return this.#readAt ?? this.#reading.state.answeredAt;
  }

  /** Set if the answer was kept: when the oldest of its rows were read. */
  get #readAt(): Date | undefined {
    const asOf = this.#reading.state.answer?.asOf;
    return asOf === undefined ? undefined : new Date(asOf);
  }

  /** Whether the card waits for its data or its chart. */
  get isBusy(): boolean {
    return !this.hasUpdated || this.#isWaiting || this.#isAwaitingChart;
  }

  /** On paper all cards are seen. */
  get #isWanted(): boolean {
    return this.isNear || this.view.isPrinted;
  }

  get #isWaiting(): boolean {
    const { isLoading, outage } = this.#reading.state;
    return this.#isUnasked || (isLoading && outage === undefined);
  }

  static override styles = [baseStyles, stateStyles, cardStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    watchNear(this);
    this.addEventListener('fullscreenchange', this.#fullScreenChanged);
    if (this.hasUpdated && this.#reading.state.isLoading) this.#reading.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    unwatchNear(this);
    this.removeEventListener('fullscreenchange', this.#fullScreenChanged);
    this.#reading.cancel();
  }

  readonly #fullScreenChanged = (): void => {
    this.isFullScreen = this.matches(':fullscreen');
  };

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('place')) this.#settle();
    if (changed.has('metric') || changed.has('source')) this.#isUnasked = true;
    if (this.#isUnasked && this.#isWanted) this.#read();
    if (!this.#isUnasked && !this.#reading.state.isLoading) this.#answeredNotes = this.notes;
  }

  protected override updated(): void {
    const isAsked = this.#isLoadingControls || this.controlsFailure !== undefined;
    if (!this.#hasControls && !isAsked) this.#loadControls();
  }

  /** The cards on the screen ask first: the service answers in the order of the request. */
  #read(): void {
    const read = (): void => {
      this.#isUnasked = false;
      this.#reading.read(this.metric, this.source);
    };
    if (isOnScreen(this)) read();
    else queueMicrotask(read);
  }

  override render() {
    const { name } = this.metric;
    const title = this.#title;
    const { answer, drill, isLoading } = this.#reading.state;
    this.toggleAttribute('printing', this.view.isPrinted);
    this.toggleAttribute('long', this.#isTabular);
    return html`<section part="card" aria-labelledby="title" aria-busy=${this.#isWaiting || this.#isAwaitingChart ? 'true' : 'false'}>
      <header part="card-header">
        <h3 id="title" part="title" title=${title}>${title}</h3>
        <div class="actions">${this.#actions()}</div>
      </header>
      ${
        drill.length > 0
          ? html`<guestlist-trail .name=${name} .steps=${drill} .text=${this.view.format.text} @go=${({ detail }: CustomEvent<number>) => this.#reading.goBack(detail)}></guestlist-trail>`
          : null
      }
      <div class=${isLoading && answer !== undefined ? 'body stale' : 'body'} part="body" @pointerup=${this.#pointAt} @keydown=${this.#keyed}>
        ${this.#body()}
      </div>
      ${this.#marked()}
      ${this.downloadFailure === undefined ? null : this.#failedDownload(this.downloadFailure)}
      <guestlist-menu exportparts=${exported}></guestlist-menu>
      <guestlist-rows exportparts=${exported} .label=${name} .format=${this.view.format}></guestlist-rows>
    </section>`;
  }

  /** After a drill, what the card shows is no longer what its name says. */
  get #title(): string {
    const dimension = this.#drilledTo;
    const { measures } = columnsOf(this.#reading.state.answer ?? noAnswer, this.metric.chart);
    return dimension === undefined || measures.length === 0
      ? this.metric.name
      : drilledTitle(dimension, measures, this.view.format);
  }

  /**
   * What marks do: those of other cards to this one, and its own to the others. And of when kept data is. In the card's
   * margin, so that nothing moves.
   */
  #marked(): TemplateResult | null {
    const { text, moment } = this.view.format;
    const own = this.#ownMark;
    const readAt = this.#readAt;
    const said = [
      own === undefined ? null : text('Filters the other charts: {filters}', { filters: own.label }),
      this.held.length === 0 ? null : text('Filtered by {filters}', { filters: this.held.join(', ') }),
      this.ignored.length === 0 ? null : text('Not filtered by {filters}', { filters: this.ignored.join(', ') }),
      readAt === undefined ? null : text('Showing data of {moment}', { moment: moment(readAt, new Date()) }),
    ].filter((words) => words !== null);
    if (said.length === 0) return null;
    return html`<p class="marked quiet" part="note" title=${said.join(' · ')}>${said.map((words, at) => html`${at === 0 ? '' : ' · '}<span>${words}</span>`)}</p>`;
  }

  #failedDownload(failure: GuestError): TemplateResult {
    const { text } = this.view.format;
    const reason = failureText(failure, text);
    const close = () => {
      this.downloadFailure = undefined;
    };
    return html`<p class="more failed" part="note" role="alert">
      <span>${text('The download failed: {reason}', { reason })}</span>
      <button class="icon" part="icon-button" type="button" aria-label=${text('Close')} @click=${close}>${closeIcon}</button>
    </p>`;
  }

  /** Sets the position through the CSSOM, because a strict content security policy refuses `style` attributes in markup. */
  #settle(): void {
    const { x, y, w, h } = this.place ?? { x: 0, y: 0, w: 12, h: 4 };
    for (const [name, value] of Object.entries({ x: x + 1, y: y + 1, w, h })) {
      this.style.setProperty(`--${name}`, String(value));
    }
  }

  #body(): TemplateResult {
    const { answer, error: refused, outage } = this.#reading.state;
    const { name } = this.metric;
    const { text } = this.view.format;
    // While the service is away, a card keeps the data that it has.
    const error = refused ?? (answer === undefined ? outage : undefined);
    if (error !== undefined) {
      // An outage is of the service, so that all cards ask again.
      const again = () => (refused === undefined ? this.dispatchEvent(new Event('again')) : this.#reading.load());
      return errorState(
        text,
        text('This chart can’t be shown'),
        failureText(error, text),
        again,
        error.code === 'PART_MISSING',
      );
    }
    if (answer === undefined) return loadingState(text('Loading {name}', { name }), this.#type);
    if (answer.rows.length === 0) return emptyState(text('No data for these filters'));
    if (!this.#hasControls) {
      const { controlsFailure: failure } = this;
      const again = () => this.#loadControls();
      return failure === undefined
        ? loadingState(text('Loading {name}', { name }), this.#type)
        : errorState(text, text('This chart can’t be shown'), failureText(failure, text), again, true);
    }
    const { kind } = rendererOf(this.#type);
    if (kind === 'singleValue') return this.#value(answer);
    if (this.isTable || kind === 'table') return this.#table(answer);
    return kind === 'pivotTable' ? this.#pivot(answer) : this.#chart(answer);
  }

  get #isAwaitingChart(): boolean {
    const { answer, error } = this.#reading.state;
    if (error !== undefined || answer === undefined || answer.rows.length === 0) return false;
    if (!this.#hasControls) return this.controlsFailure === undefined;
    return !this.isTable && rendererOf(this.#type).kind === 'chart' && !this.isSettled;
  }

  get #isTabular(): boolean {
    return this.isTable || rendererOf(this.#type).kind.endsWith('able');
  }

  get #hasControls(): boolean {
    return customElements.get('guestlist-table') !== undefined;
  }

  /** They may be loading already: then this waits for the same script. */
  #loadControls(): void {
    this.#isLoadingControls = true;
    this.controlsFailure = undefined;
    loadPart(() => import('./controls.js'))
      .catch((error: unknown) => {
        this.controlsFailure = error;
      })
      .finally(() => {
        this.#isLoadingControls = false;
        this.requestUpdate();
      });
  }

  /** The metric, without its unit where the unit cannot apply to all measures. The same as long as nothing of it changes: a chart
   * with another metric is drawn anew. */
  get #shown(): GuestMetric {
    const { metric } = this;
    const { answer } = this.#reading.state;
    if (this.#shownOf?.metric !== metric || this.#shownOf.answer !== answer) {
      const chart = { ...inOneForm(inCurrencies(withClaimedUnit(metric.chart), answer), answer), type: this.#type };
      this.#shownOf = { metric, answer, shown: { ...metric, chart } };
    }
    return this.#shownOf.shown;
  }

  /** The dimension that a drill has led to, of the answer that is shown. */
  get #drilledTo(): AnswerColumn | undefined {
    const { chart } = this.metric;
    const [column] = columnsOf(this.#reading.state.answer ?? noAnswer, chart).dimensions;
    return column === undefined || chart.dimensions.includes(column.name) ? undefined : column;
  }

  /** How the answer is drawn: after a drill, as fits the dimension that it leads to. */
  get #type(): ChartType {
    const { chart } = this.metric;
    const column = this.#drilledTo;
    return column === undefined ? chart.type : drilledType(chart.type, column, grainOf(chart, column.name));
  }

  #value(answer: MetricAnswer): TemplateResult {
    return html`<guestlist-value exportparts=${exported} .metric=${this.#shown} .answer=${answer} .format=${this.view.format} .notes=${this.#answeredNotes}></guestlist-value>`;
  }

  #chart(answer: MetricAnswer): TemplateResult {
    const metric = this.#shown;
    return html`<guestlist-chart exportparts=${exported}
      .metric=${metric}
      .answer=${answer}
      .format=${this.view.format}
      .colours=${this.view.colours}
      .themeKey=${this.view.themeKey}
      .slots=${this.view.slots}
      .isClickable=${this.#hasMarks}
      .chosen=${this.#chosen}
      .isPrinted=${this.view.isPrinted}
      @settled=${() => {
        this.isSettled = true;
      }}
      @beyond=${({ detail }: CustomEvent<number>) => this.style.setProperty('--beyond', `${detail}px`)}
      @clicked=${({ detail: value }: CustomEvent<Cell>) => {
        const columnName = columnsOf(answer, metric.chart).dimensions[0]?.name;
        if (columnName !== undefined) this.#tell('guestlist-point-click', { columnName, value });
      }}
      @point=${(event: CustomEvent<Cell>) => this.#chooseMark(event.detail)}
      @period=${(event: CustomEvent<MarkedPeriod>) => this.#choosePeriod(event.detail)}
    ></guestlist-chart>`;
  }

  #table(answer: MetricAnswer): TemplateResult {
    const { name, chart } = this.#shown;
    const { format } = this.view;
    const { dimensions, measures } = columnsOf(answer, chart);
    const hasMarks = this.#hasMarks && dimensions.length > 0;
    const missing = this.#missing(answer);
    const overlap = overlapNote(answer, format);
    const pages = this.#pages(answer);
    const table = {
      answer,
      columns: [...dimensions, ...measures],
      measures: measures.map((column) => column.name),
      chart,
      format,
      grainOf: (column: string) => grainOf(chart, column),
      label: [format.text('{name}, table', { name }), missing].filter(Boolean).join(', '),
      sort: this.#reading.state.sort,
      onSort: (column: string) => this.#reading.sortBy(column),
      onMark: hasMarks ? this.#chooseMark : undefined,
      chosen: this.#chosen,
    };
    return html`${this.#tableElement({ kind: 'table', table, pages })}
    ${missing === null || pages !== undefined ? null : html`<p class="more quiet" part="note">${missing}</p>`}
    ${overlap === null ? null : html`<p class="more quiet" part="note">${overlap}</p>`}`;
  }

  /** Set if the answer is one of several pages. */
  #pages(answer: MetricAnswer): Pages | undefined {
    if (answer.isTruncated !== true || answer.totalRecords <= answer.rows.length) return undefined;
    const { offset, limit } = this.#reading.state.shownPage ?? { offset: 0, limit: answer.rows.length };
    return { offset, size: limit, turnTo: (next) => this.#reading.turnTo(next) };
  }

  #pivot(answer: MetricAnswer): TemplateResult {
    const { name, chart } = this.#shown;
    const { format } = this.view;
    return this.#tableElement({
      kind: 'pivot',
      pivot: {
        ...{ answer, chart, format, name, missing: this.#missing(answer) },
        ...{ onMark: this.#hasMarks ? this.#chooseMark : undefined, chosen: this.#chosen },
      },
    });
  }

  #tableElement(content: TableContent): TemplateResult {
    return html`<guestlist-table exportparts=${exported} .content=${content} .isPrinted=${this.view.isPrinted}></guestlist-table>`;
  }

  /** Says how many of the rows are shown, if not all. */
  #missing(answer: MetricAnswer): string | null {
    const { format } = this.view;
    const hidden = answer.totalRecords - answer.rows.length;
    return hidden > 0 ? rowsOf(answer, format) : truncationNote(answer, format);
  }

  /** What a guest can do with a mark. An earlier service knows no marks. */
  get #can(): { readonly filter: boolean; readonly drill: boolean; readonly seeRows: boolean } {
    const { chart } = this.metric;
    const column = this.#reading.markedColumn;
    const levels = chart.drillLevels ?? Number.POSITIVE_INFINITY;
    return {
      filter: this.onMark !== undefined && column !== undefined && filteredBy(this.metric, column.name).length > 0,
      drill: chart.isDrillable && this.#reading.state.drill.length < levels,
      seeRows: this.#hasRows && chart.crossFilters !== undefined,
    };
  }

  /** What the guest chose on this card as a filter of the others. */
  get #ownMark(): Mark | undefined {
    const column = this.#reading.markedColumn?.name;
    const { metricId } = this.metric;
    return this.source.marks?.find(({ filter }) => filter.metricId === metricId && filter.columnName === column);
  }

  get #chosen(): CrossFilter | undefined {
    return this.#ownMark?.filter;
  }

  get #hasRows(): boolean {
    return this.view.canSeeRows && this.metric.chart.isWithoutRows !== true;
  }

  /** Whether a click on a mark does anything. */
  get #hasMarks(): boolean {
    return Object.values(this.#can).includes(true);
  }

  /** Runs the mark's only action, or offers its actions in a menu. */
  readonly #chooseMark = (value: Cell): void => {
    const column = this.#reading.markedColumn;
    if (column === undefined || isOthers(value)) return;
    const mark = markOf(this.metric, column, value, this.view.format);
    const items = this.#markItems(mark, value);
    const [place, focused] = [this.#menuPlace(), this.#focused()];
    if (items.length === 1) items[0]?.run();
    else if (items.length > 1)
      this.#control<Menu>('guestlist-menu', (menu) => menu.open(mark.label, items, place, focused));
  };

  #markItems(mark: Mark, value: Cell): readonly MenuItem[] {
    const { filter, drill, seeRows } = this.#can;
    const { text } = this.view.format;
    const isSet = (this.source.marks ?? []).some((each) => isSameMark(each, mark));
    const filterLabel = isSet ? text('Remove filter') : text('Filter the other charts');
    return [
      ...(filter ? [{ label: filterLabel, run: () => this.onMark?.(mark) }] : []),
      ...(drill ? [{ label: text('Drill down'), run: () => this.#reading.drillInto(value, this.view.format) }] : []),
      ...(seeRows ? [{ label: text('Show rows'), run: () => this.#openRows(mark) }] : []),
    ];
  }

  #choosePeriod(period: MarkedPeriod): void {
    const { answer } = this.#reading.state;
    const column = answer?.columns.find(({ name }) => name === period.column);
    if (column === undefined || filteredBy(this.metric, column.name).length === 0) return;
    this.onMark?.(periodOf(this.metric, column, period, this.view.format));
  }

  readonly #pointAt = ({ clientX: x, clientY: y }: PointerEvent): void => {
    this.#pointed = { x, y };
  };

  /** Escape takes back what the card filters, when nothing in it has used the key. */
  readonly #keyed = (event: KeyboardEvent): void => {
    this.#pointed = undefined;
    const mark = this.#ownMark;
    if (event.key !== 'Escape' || event.defaultPrevented || mark === undefined) return;
    event.preventDefault();
    this.onMark?.(mark);
  };

  /** What has the focus in this card, also inside of its chart or table. */
  #focused(): HTMLElement | null {
    let found: Element | null = null;
    for (let root = this.shadowRoot; root?.activeElement; root = found.shadowRoot) found = root.activeElement;
    return found instanceof HTMLElement ? found : null;
  }

  /** At the pointer, or below what has the focus. */
  #menuPlace(): MenuPlace {
    if (this.#pointed !== undefined) return this.#pointed;
    const { left, top, width, height } = (this.#focused() ?? this).getBoundingClientRect();
    return { x: left + Math.min(24, width / 2), y: top + Math.min(28, height) };
  }

  /** Tells the page what the guest did on this card. The page sees the public element as the target. */
  #tell(name: string, what: Readonly<Record<string, unknown>>): void {
    const { metricId } = this.metric;
    const detail = { dashboardId: this.source.dashboardId ?? null, metricId, ...what };
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #actions(): TemplateResult {
    const { kind } = rendererOf(this.#type);
    const isChart = kind === 'chart' || kind === 'pivotTable';
    const { text } = this.view.format;
    return html`
      ${
        isChart
          ? this.#action(
              this.isTable ? text('Show as chart') : text('Show as table'),
              this.isTable ? chartIcon : tableIcon,
              () => {
                this.isTable = !this.isTable;
                // A chart is of the whole answer.
                if (!this.isTable) this.#reading.turnTo(null);
              },
            )
          : null
      }
      ${this.#hasRows ? this.#action(text('Rows'), rowsIcon, () => this.#openRows()) : null}
      ${
        kind !== 'singleValue' && document.fullscreenEnabled
          ? this.#action(
              this.isFullScreen ? text('Exit full screen') : text('Full screen'),
              this.isFullScreen ? shrinkIcon : growIcon,
              () => void (this.isFullScreen ? document.exitFullscreen() : this.requestFullscreen()),
            )
          : null
      }
      ${
        this.view.canDownload
          ? html`<guestlist-download-menu exportparts=${exported}
              .label=${this.metric.name}
              .text=${text}
              @choose=${({ detail }: CustomEvent<DownloadKind>) => this.#download(detail)}
            ></guestlist-download-menu>`
          : null
      }
    `;
  }

  #action(label: string, picture: TemplateResult, run: () => void): TemplateResult {
    const name = this.view.format.text('{name}: {value}', { name: label, value: this.metric.name });
    return html`<button class="icon" part="icon-button" type="button" aria-label=${name} title=${label} @click=${run}>${picture}</button>`;
  }

  #openRows(mark?: Mark): void {
    const { metricId } = this.metric;
    const question = this.#reading.rowsQuestion(this.source, metricId, mark);
    // The source of that moment: a token may be renewed while the dialog is open.
    const read: LoadRows = (offset, limit, signal) =>
      this.source.client.underlying(metricId, { ...question, offset, limit }, signal);
    const textOf = (error: unknown) => failureText(error, this.view.format.text);
    this.#control<RowsDialog>('guestlist-rows', (dialog) => dialog.open(read, textOf));
  }

  /** Uses a control of this card, as soon as its script has come. */
  #control<Control extends HTMLElement>(name: string, use: (control: Control) => void): void {
    void customElements.whenDefined(name).then(() => {
      const control = this.renderRoot.querySelector<Control>(name);
      if (control !== null) use(control);
    });
  }

  /** Draws the card as a picture. Throws if it shows no data, or if the token permits no download. */
  async exportImage(type: ImageType): Promise<Blob> {
    this.isNear = true;
    await this.updateComplete;
    while (this.#isUnasked) await new Promise(requestAnimationFrame);
    await this.#reading.settled;
    const { answer, drill } = this.#reading.state;
    const body = this.renderRoot.querySelector<HTMLElement>('.body');
    if (!this.view.canDownload) throw new Error('This token permits no downloads.');
    if (answer === undefined || answer.rows.length === 0 || body === null) throw new Error('The card shows no data.');
    const notes = [...this.#answeredNotes, ...drill.map(({ title, label }) => `${title}: ${label}`)];
    const language = this.view.format.language;
    const shown = { metric: this.#shown, answer, view: this.view, notes, isTable: this.isTable };
    const { pictureOf } = await loadPart(() => import('./card-picture.js'));
    return pictureOf({ ...shown, madeAt: this.answeredAt ?? new Date(), language, card: this, body }, type);
  }

  /** A failure is said below the card: what the card shows stays. */
  #download(kind: DownloadKind): void {
    this.downloadFailure = undefined;
    const { client } = this.source;
    const { metricId, name } = this.metric;
    const question = this.#reading.question(this.source);
    const { signal } = new AbortController();
    const file = kind === 'csv' || kind === 'xlsx' ? client[kind](metricId, question, signal) : this.exportImage(kind);
    Promise.all([file, loadPart(() => import('./save.js'))]).then(
      ([blob, { save }]) => save(blob, `${name}.${kind}`),
      (error: unknown) => {
        const failure = error instanceof GuestError ? error : new GuestError('UNEXPECTED', String(error), 0, error);
        if (!this.onFailure(failure, client, metricId)) this.downloadFailure = failure;
      },
    );
  }
}
