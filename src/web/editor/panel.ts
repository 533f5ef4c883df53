/**
 * The editor: fields with search, shelves, charts that fit, and the card of the metric. Holds a history of drafts; every
 * change is an action of the core, and asks for a preview that ends the one before.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { GuestClient } from '../base/client.js';
import { keyAlong } from '../base/direction.js';
import type { Format } from '../base/format.js';
import { createGuestMetric } from '../base/guest-operations.js';
import { redoIcon, undoIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import { searchField } from '../base/search-field.js';
import { baseStyles } from '../base/theme.js';
import { answerShelves, type Editing, formatShelves } from './answer-controls.js';
import { calculationsOf } from './calculations.js';
import { type Catalogue, type Found, findField, titleOf } from './catalogue.js';
import { type Caution, cautionsOf } from './cautions.js';
import { chartPicker, chartPickerStyles } from './chart-picker.js';
import { chartFits, chartNeed, suggestedChart } from './charts.js';
import {
  expressionInput,
  fieldControls,
  hider,
  joiner,
  measureConditions,
  nestedNote,
  offer,
  removal,
  sqlInput,
} from './chip-controls.js';
import { firstCondition } from './condition-controls.js';
import { cleanName, type Draft, definitionOf, emptyDraft } from './draft.js';
import { type Action, edit, refusalOf, type Shelf } from './edit.js';
import { fieldRow, fieldRows, iconLegend, refOf } from './field-list.js';
import { changed, type History, historyOf, redone, undone } from './history.js';
import { columnIn, type ListPlace, placeAfter, placeIn } from './list-keys.js';
import { panelStyles } from './panel-styles.js';
import { type AskPreview, asTable, previewClient, viewOf } from './preview.js';
import { readableFields } from './readable-fields.js';

type State = { readonly draft: Draft; readonly name: string; readonly isChartChosen: boolean };
/** Stores a metric, and answers at least its id. */
export type SaveMetric = (
  metric: { readonly name: string; readonly definition: unknown },
  signal: AbortSignal,
) => Promise<{ readonly metricId: string }>;
/** What Studio adds to the editor. */
export type Authoring = {
  readonly save: SaveMetric;
  readonly preview: AskPreview;
  /** Tabs beside the chart and the rows. Their content has the slot of their name. */
  readonly tabs: readonly { readonly name: string; readonly title: string }[];
  /** Called with what is edited now, and with the way to another draft, which can be undone. */
  readonly drafted: (draft: Draft, propose: (draft: Draft) => void) => void;
  /** Called with the name of the tab that is shown. */
  readonly opened: (tab: string) => void;
};
/** A metric that the editor begins with. */
export type InitialMetric = { readonly name: string; readonly draft: Draft };
/** What the card takes as its source. */
type Source = { readonly client: GuestClient; readonly dashboardId: string; readonly dashboardFilter: object };
/** `overlapping`: measures whose groups share rows. */
type Shown = { readonly metric: GuestMetric; readonly source: Source; readonly overlapping: ReadonlySet<string> };

/** The shelves of fields. */
type ShownShelf = Exclude<Shelf, 'calculations' | 'having'>;

const start: State = { draft: emptyDraft, name: '', isChartChosen: false };
const dragType = 'application/x-guestlist-field';

export class EditorPanel extends LitElement {
  static override properties = {
    catalogue: { attribute: false },
    client: { attribute: false },
    dashboardId: { attribute: false },
    view: { attribute: false },
    textOf: { attribute: false },
    save: { attribute: false },
    authoring: { attribute: false },
    initial: { attribute: false },
    history: { state: true },
    search: { state: true },
    place: { state: true },
    tab: { state: true },
    shown: { state: true },
    problem: { state: true },
    said: { state: true },
    isBusy: { state: true },
  };
  declare catalogue: Catalogue;
  declare client: GuestClient;
  declare dashboardId: string;
  /** How cards look; the editor itself needs the format only. */
  declare view: { readonly format: Format };
  /** What the reader is told of a failure. The chunk cannot tell the classes of errors. */
  declare textOf: (error: unknown) => string;
  /** Stores the metric instead of the guests' interface. */
  declare save: SaveMetric | undefined;
  declare authoring: Authoring | undefined;
  /** The metric that is changed. Undefined: a new one is made. */
  declare initial: InitialMetric | undefined;
  declare history: History<State>;
  declare search: string;
  /** What the key Tab reaches in the list of fields. Undefined: its first control. */
  declare place: ListPlace | undefined;
  /** Which tab is shown. */
  declare tab: string;
  declare shown: Shown | undefined;
  declare problem: string | undefined;
  declare said: string;
  declare isBusy: boolean;

  readonly #preview = createLatest();
  readonly #saving = createLatest();
  #isInList = false;

  constructor() {
    super();
    this.history = historyOf(start);
    this.search = '';
    this.tab = 'chart';
    this.said = '';
    this.isBusy = false;
  }

  static override styles = [baseStyles, panelStyles, chartPickerStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#preview.cancel();
    this.#saving.cancel();
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    this.#isInList = this.shadowRoot?.activeElement?.closest('.list') != null;
    if (changes.has('initial') && this.initial !== undefined) {
      this.history = historyOf({ ...this.initial, isChartChosen: true });
      this.#ask();
    } else if (changes.has('client') && changes.get('client') !== undefined) this.#ask();
    if (changes.has('history') || changes.has('authoring'))
      this.authoring?.drafted(this.#draft, (draft) => this.#propose(draft));
  }

  /** In the list, the focus follows the place; also if the control that had it is gone. */
  protected override updated(): void {
    const stop = this.renderRoot.querySelector<HTMLElement>('.list [tabindex="0"]');
    if (!this.#isInList || stop === this.shadowRoot?.activeElement) return;
    stop?.focus();
    // With the focus, a field that can't be used shows its reason.
    stop?.scrollIntoView({ block: 'nearest' });
  }

  /** What is slotted into the editor goes on into the panel. */
  protected override firstUpdated(): void {
    for (const { name } of this.authoring?.tabs ?? []) {
      const slot = Object.assign(document.createElement('slot'), { name, slot: name });
      this.append(slot);
    }
  }

  #propose(draft: Draft): void {
    this.#show(changed(this.history, { ...this.#state, draft, isChartChosen: true }));
  }

  get #state(): State {
    return this.history.present;
  }

  get #draft(): Draft {
    return this.#state.draft;
  }

  get #editing(): Editing {
    return { draft: this.#draft, catalogue: this.catalogue, format: this.view.format, act: this.#act };
  }

  readonly #act = (action: Action): boolean => {
    const isPossible = refusalOf(this.#draft, this.catalogue, action) === null;
    this.#do(action);
    return isPossible;
  };

  override render(): TemplateResult {
    const { text } = this.view.format;
    const part = (title: string, content: unknown): TemplateResult =>
      html`<details class="part" open><summary><h2>${title}</h2></summary>${content}</details>`;
    return html`<div class="editor" part="editor" @keydown=${this.#keys}>
      ${this.#head()}
      <div class="body">
        <div class=${this.#isOwnTab ? 'stage' : 'stage kept'}>${this.#tabs()} ${this.#tab()}</div>
        <div class="controls">
          ${this.#fields()}
          <div class="parts">
            ${part(text('Data'), html`${this.#shelf('measures')} ${this.#shelf('dimensions')} ${this.#notes()} ${this.#more()}`)}
            ${this.#hasTable ? part(text('Chart'), this.#charts()) : nothing}
            ${this.#hasTable ? part(text('Format'), formatShelves(this.#editing)) : nothing}
            ${part(text('Filters'), html`${this.#shelf('filters')} ${this.#hasTable ? measureConditions(this.#editing) : nothing}`)}
          </div>
        </div>
      </div>
    </div>`;
  }

  get #hasTable(): boolean {
    return definitionOf(this.#draft) !== undefined;
  }

  /** Whether what Studio adds is shown: it is long, and must scroll away. */
  get #isOwnTab(): boolean {
    return this.tab !== 'chart' && this.tab !== 'rows';
  }

  #head(): TemplateResult {
    const { text } = this.view.format;
    const isReady = this.shown !== undefined && this.problem === undefined && !this.isBusy;
    const tool = (label: string, icon: TemplateResult, next: History<State>) =>
      html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
        ?disabled=${next === this.history} @click=${() => this.#show(next)}>${icon}</button>`;
    return html`<form class="head" @submit=${this.#save}>
      <input id="name" part="input" aria-label=${text('Name')} placeholder=${text('New chart')} maxlength="120" autocomplete="off"
        .value=${this.#state.name} @change=${this.#rename} />
      ${tool(text('Undo'), undoIcon, undone(this.history))} ${tool(text('Redo'), redoIcon, redone(this.history))}
      <button class="button main" part="button" ?disabled=${!isReady}>${text('Save')}</button>
      <span class="said quiet" role="status">${this.said}</span>
    </form>`;
  }

  #fields(): TemplateResult {
    const { text } = this.view.format;
    const editing = this.#editing;
    const tables = fieldRows(editing, this.search);
    const place = placeIn(tables.flat(), this.place);
    return html`<section class="fields" aria-labelledby="fields">
      <h2 id="fields">${text('Fields')}</h2>
      ${searchField({ label: text('Search fields'), value: this.search, search: this.#search })}
      ${
        tables.length === 0
          ? html`<p class="quiet" role="status">${text('Nothing found')}</p>`
          : html`${iconLegend(editing)}<div class="list" role="grid" aria-labelledby="fields" @keydown=${this.#led} @focusin=${this.#reached}>
              ${tables.map((rows) => html`<div role="rowgroup">${rows.map((row) => fieldRow(editing, row, place, this.#drag))}</div>`)}
            </div>`
      }
    </section>`;
  }

  readonly #led = (event: KeyboardEvent): void => {
    const rows = fieldRows(this.#editing, this.search).flat();
    const place = placeIn(rows, this.place);
    const key = keyAlong(event.key, this.matches(':dir(rtl)'));
    const next = place && placeAfter(rows, place, key, event);
    if (next === undefined) return;
    event.preventDefault();
    this.place = next;
  };

  /** A pointer or the key Tab may reach a control, too: from there, keys lead on. */
  readonly #reached = ({ target }: FocusEvent): void => {
    const { row: key, column } = target instanceof HTMLElement ? target.dataset : {};
    const row = fieldRows(this.#editing, this.search)
      .flat()
      .find((one) => one.key === key);
    if (row === undefined) return;
    const known = this.place?.row === key ? columnIn(row, this.place?.column ?? 0) : undefined;
    if (known !== Number(column)) this.place = { row: row.key, column: Number(column) };
  };

  #shelf(shelf: ShownShelf): TemplateResult {
    const { text } = this.view.format;
    const titles = {
      measures: text('Measures'),
      dimensions: text('Split by'),
      filters: text('Filters'),
      drillPath: text('Drill down'),
    };
    const items = this.#draft[shelf];
    return html`<section class="shelf" part="shelf" aria-label=${titles[shelf]} @dragover=${this.#over}
      @drop=${(event: DragEvent) => this.#drop(event, shelf)}>
      ${shelf === 'filters' ? nothing : html`<h3>${titles[shelf]}</h3>`}
      <ul>${items.map((_, at) => this.#chip(shelf, at))}</ul>
      ${shelf === 'drillPath' || shelf === 'filters' ? this.#addFrom(shelf) : nothing}
      ${shelf === 'measures' ? html`${this.#calculations()} ${this.#addExpression()}` : nothing}
      ${shelf === 'filters' && this.#draft.kept.where !== undefined ? nestedNote(this.#editing) : nothing}
    </section>`;
  }

  /** The fields to drill into have no button beside the field; a filter is looked for where filters are. */
  #addFrom(shelf: 'drillPath' | 'filters'): TemplateResult {
    const offered = readableFields(this.#draft, this.catalogue).map(({ label, column }) => ({
      label,
      action:
        shelf === 'drillPath'
          ? ({ kind: 'addGroup', shelf, column } as const)
          : ({
              kind: 'addFilter',
              column,
              predicate: firstCondition(findField(this.catalogue, column)?.type ?? 'other'),
            } as const),
    }));
    return offer(this.#editing, this.view.format.text('Add a field'), offered);
  }

  #calculations(): TemplateResult | typeof nothing {
    const { text } = this.view.format;
    const { measures, calculations } = this.#draft;
    if (measures.length === 0) return nothing;
    return html`<ul>${calculations.map(
      (one, at) =>
        html`<li class="chip" part="chip">${this.#title(one, one.name)} ${removal(this.#editing, 'calculations', at, one.name)}</li>`,
    )}</ul>
    ${offer(this.#editing, text('Add a calculation'), calculationsOf(this.#draft, text, this.shown?.overlapping))}`;
  }

  /** Settings that most metrics leave as they are: open if one of them is used. */
  #more(): TemplateResult | typeof nothing {
    if (!this.#hasTable) return nothing;
    const { drillPath, comparison, sort, limit } = this.#draft;
    const isUsed = drillPath.length + sort.length > 0 || comparison !== null || limit !== null;
    return html`<details class="more" ?open=${isUsed}>
      <summary>${this.view.format.text('More settings')}</summary>
      ${answerShelves(this.#editing)} ${this.#shelf('drillPath')}
    </details>`;
  }

  #title(item: object | undefined, name: string): TemplateResult {
    if (item === undefined || !('name' in item)) return html`<span class="name">${name}</span>`;
    const label = this.view.format.text('Rename {name}', { name });
    return html`<input class="name" part="input" aria-label=${label} title=${label} maxlength="255" autocomplete="off"
      .value=${name} @change=${(event: Event) => this.#renamePart(name, event.target as HTMLInputElement)} />`;
  }

  /** A name that is refused goes back, and the reader is told why. */
  #renamePart(from: string, input: HTMLInputElement): void {
    const { text } = this.view.format;
    const action: Action = { kind: 'rename', from, to: input.value };
    const refusal = refusalOf(this.#draft, this.catalogue, action);
    this.#do(action);
    if (refusal === null) return;
    input.value = from;
    this.said = refusal === 'name-taken' ? text('This name is taken') : text('A name is needed');
  }

  #chip(shelf: ShownShelf, at: number): TemplateResult {
    const item = this.#draft[shelf][at];
    const field = item?.column === undefined ? undefined : findField(this.catalogue, item.column);
    const name = item !== undefined && 'name' in item ? item.name : field === undefined ? '' : titleOf(field);
    const editing = this.#editing;
    return html`<li class="chip" part="chip">
      ${shelf === 'filters' ? joiner(editing, shelf, at, name) : nothing} ${this.#title(item, name)}
      ${item !== undefined && 'expression' in item ? expressionInput(editing, name, at) : nothing}
      ${field === undefined ? nothing : fieldControls[shelf](editing, field, name, at)}
      ${shelf === 'measures' ? hider(editing, at) : nothing} ${removal(editing, shelf, at, name)}
    </li>`;
  }

  #addExpression(): TemplateResult | typeof nothing {
    if (this.authoring === undefined || this.#draft.from === null) return nothing;
    const label = this.view.format.text('Add an expression');
    return sqlInput(label, '', (expression, input) => {
      this.#do({ kind: 'addExpression', expression });
      input.value = '';
    });
  }

  #charts(): TemplateResult {
    const fits = chartFits(this.#draft, this.catalogue);
    return chartPicker(fits, this.#draft.chart.type, this.view.format, (type) => this.#choose(type));
  }

  #tabs(): TemplateResult | typeof nothing {
    if (!this.#hasTable && this.authoring === undefined) return nothing;
    const { text } = this.view.format;
    const own = (this.authoring?.tabs ?? []).map(({ name, title }) => ({ tileId: name, text: title }));
    const tabs = [{ tileId: 'chart', text: text('Chart') }, { tileId: 'rows', text: text('Rows') }, ...own];
    const choose = ({ detail }: CustomEvent<string>) => {
      this.tab = detail;
      this.authoring?.opened(detail);
    };
    return html`<div class="tabs"><guestlist-tabs .tabs=${tabs} .chosen=${tabs.find(({ tileId }) => tileId === this.tab)}
      @choose=${choose}></guestlist-tabs></div>`;
  }

  #tab(): TemplateResult {
    return this.#isOwnTab ? html`<slot name=${this.tab}></slot>` : this.#card();
  }

  /** Why there is no chart. */
  #missing(): string {
    const { text } = this.view.format;
    const isGone = this.#cautions().some(({ code, isFault }) => isFault && code !== 'empty');
    return isGone
      ? text('A field of this chart is no longer there')
      : text('Choose a field: a number is added up, a text or date splits the chart');
  }

  /** Studio's author may read fields that are hidden from guests: then only the service knows them. */
  #cautions(): readonly Caution[] {
    const all = cautionsOf(this.#draft, this.catalogue);
    return this.authoring === undefined
      ? all
      : all.map((one) =>
          one.code === 'unknown-field' || one.code === 'not-joined' ? { ...one, isFault: false } : one,
        );
  }

  /** What the service may refuse is said beforehand. */
  #notes(): TemplateResult | typeof nothing {
    const isOpen = this.#cautions().some(({ code }) => code === 'database-decides');
    if (!isOpen) return nothing;
    return html`<p class="note quiet">${this.view.format.text('Only the database can tell whether this works')}</p>`;
  }

  #card(): TemplateResult {
    if (this.problem !== undefined) return html`<p class="problem" role="alert">${this.problem}</p>`;
    if (this.shown === undefined) return html`<p class="hint quiet">${this.#missing()}</p>`;
    const { metric } = this.shown;
    return html`<guestlist-card .metric=${this.tab === 'rows' ? asTable(metric) : metric} .source=${this.shown.source} .view=${this.view}
      .onFailure=${() => false}></guestlist-card>`;
  }

  readonly #search = (text: string): void => {
    this.search = text;
  };

  readonly #rename = (event: Event): void => {
    const name = cleanName((event.target as HTMLInputElement).value);
    this.#show(changed(this.history, { ...this.#state, name }));
  };

  readonly #keys = (event: KeyboardEvent): void => {
    const isTyping = event.composedPath()[0] instanceof HTMLInputElement;
    if (isTyping || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
    event.preventDefault();
    this.#show(event.shiftKey ? redone(this.history) : undone(this.history));
  };

  readonly #drag = (event: DragEvent, found: Found): void => {
    event.dataTransfer?.setData(dragType, JSON.stringify(refOf(found)));
  };

  readonly #over = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes(dragType) === true) event.preventDefault();
  };

  #drop(event: DragEvent, shelf: ShownShelf): void {
    const dragged = event.dataTransfer?.getData(dragType) ?? '';
    if (dragged === '') return;
    event.preventDefault();
    const column = JSON.parse(dragged) as ColumnRef;
    const field = findField(this.catalogue, column);
    if (field === undefined) return;
    if (shelf === 'measures') this.#do({ kind: 'addMeasure', column });
    else if (shelf !== 'filters') this.#do({ kind: 'addGroup', shelf, column });
    else this.#do({ kind: 'addFilter', column, predicate: firstCondition(field.type) });
  }

  #choose(type: Draft['chart']['type']): void {
    const draft = edit(this.#draft, this.catalogue, { kind: 'chooseChart', type });
    this.#show(changed(this.history, { ...this.#state, draft, isChartChosen: true }));
  }

  /** A chart that was not chosen, or no longer fits, is the one that fits best. */
  #do(action: Action): void {
    const next = edit(this.#draft, this.catalogue, action);
    if (next === this.#draft) return;
    const isKept = this.#state.isChartChosen && chartNeed(next.chart.type, next, this.catalogue) === null;
    const type = isKept ? next.chart.type : suggestedChart(next, this.catalogue);
    const draft = edit(next, this.catalogue, { kind: 'chooseChart', type });
    this.#show(changed(this.history, { ...this.#state, draft, isChartChosen: isKept }));
  }

  #show(history: History<State>): void {
    const isSame = history.present.draft === this.#draft;
    this.history = history;
    this.said = '';
    if (!isSame) this.#ask();
    else if (this.shown !== undefined) this.shown = { ...this.shown, metric: this.#metric() };
  }

  #metric(): GuestMetric {
    return viewOf(this.#draft, this.#state.name || this.view.format.text('New chart'));
  }

  #ask(): void {
    const { client, dashboardId } = this;
    const draft = this.#draft;
    const ask = this.authoring?.preview ?? client.preview;
    this.problem = undefined;
    if (!this.#hasTable || this.#cautions().some(({ isFault }) => isFault)) {
      this.#preview.cancel();
      this.shown = undefined;
      return;
    }
    void this.#preview.run(
      (signal) => ask({ dashboardId, definition: definitionOf(draft) }, signal),
      (answer) => {
        const source = {
          client: previewClient(client, ask, dashboardId, draft, answer),
          dashboardId,
          dashboardFilter: {},
        };
        const shared = answer.columns.filter(({ isOverlapping }) => isOverlapping === true);
        this.shown = { metric: this.#metric(), source, overlapping: new Set(shared.map((column) => column.name)) };
      },
      (error) => {
        this.problem = this.textOf(error);
      },
    );
  }

  readonly #save = (event: Event): void => {
    event.preventDefault();
    const { text } = this.view.format;
    const name = this.#state.name || text('New chart');
    const body = { name, definition: definitionOf(this.#draft) };
    const { dashboardId } = this;
    const store: SaveMetric =
      this.save ??
      this.authoring?.save ??
      ((metric, signal) => this.client.call(createGuestMetric, { dashboardId, ...metric }, signal));
    this.isBusy = true;
    void this.#saving.run(
      (signal) => store(body, signal),
      ({ metricId }) => {
        this.isBusy = false;
        if (this.initial === undefined) {
          this.history = historyOf(start);
          this.shown = undefined;
        }
        this.said = text('Saved');
        const detail = { dashboardId, metricId, name };
        this.dispatchEvent(new CustomEvent('guestlist-saved', { detail, bubbles: true, composed: true }));
      },
      (error) => {
        this.isBusy = false;
        const isChanged = error instanceof Error && 'code' in error && error.code === 'METRIC_CHANGED';
        this.problem = isChanged
          ? text('Somebody else changed this chart meanwhile. Open it again to see the change.')
          : this.textOf(error);
      },
    );
  };
}
