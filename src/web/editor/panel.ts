/**
 * The editor: fields with search, shelves, charts that fit, and the card of the metric. Holds a history of drafts; every
 * change is an action of the core, and asks for a preview that ends the one before.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Aggregate } from '../../domain/dashboard/metric.js';
import type { ColumnRef } from '../../domain/datamart/datamart.js';
import type { Predicate } from '../../domain/filter/filter.js';
import type { Field, FieldTable } from '../../domain/guest/fields.js';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { GuestClient } from '../base/client.js';
import type { Format } from '../base/format.js';
import { closeIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import { baseStyles } from '../base/theme.js';
import { kindName } from '../charts/model/summary.js';
import { answerControls, type Editing } from './answer-controls.js';
import { type Catalogue, type Found, findField, searchFields, titleOf } from './catalogue.js';
import { cautionsOf } from './cautions.js';
import { chartFits, chartNeed, suggestedChart } from './charts.js';
import { cleanName, type Draft, definitionOf, emptyDraft } from './draft.js';
import { type Action, edit, type Grouping, type GroupShelf, refusalOf, type Shelf } from './edit.js';
import { changed, type History, historyOf, redone, undone } from './history.js';
import { filterIcon, measureIcon, redoIcon, splitIcon, undoIcon } from './icons.js';
import { panelStyles } from './panel-styles.js';
import { askPreview, previewClient, viewOf } from './preview.js';
import { readableFields } from './readable-fields.js';
import { aggregateName, grainName, needText, offeredAggregates, offeredGrains } from './words.js';

type State = { readonly draft: Draft; readonly name: string; readonly isChartChosen: boolean };
/** Stores a metric, and answers at least its id. */
export type SaveMetric = (
  metric: { readonly name: string; readonly definition: unknown },
  signal: AbortSignal,
) => Promise<unknown>;
/** A metric that the editor begins with. */
export type InitialMetric = { readonly name: string; readonly draft: Draft };
/** What the card takes as its source. */
type Source = { readonly client: GuestClient; readonly dashboardId: string; readonly dashboardFilter: object };
type Shown = { readonly metric: GuestMetric; readonly source: Source };

/** The shelves that the panel shows. */
type ShownShelf = Exclude<Shelf, 'calculations'>;

const start: State = { draft: emptyDraft, name: '', isChartChosen: false };
const dragType = 'application/x-guestlist-field';
const ranges = 10;

const refOf = ({ table, field }: Found): ColumnRef => ({
  schemaName: table.schemaName,
  tableName: table.tableName,
  columnName: field.columnName,
});

/** What a click on a field does. */
const usual = (found: Found): Action =>
  found.field.suggestedAggregates.length > 0 && (found.field.type === 'integer' || found.field.type === 'number')
    ? { kind: 'addMeasure', column: refOf(found) }
    : { kind: 'addGroup', shelf: 'dimensions', column: refOf(found) };

const firstFilter = ({ type }: Field): Predicate =>
  type === 'boolean' ? { kind: 'oneOf', values: [true] } : { kind: 'isNotNull' };

export class EditorPanel extends LitElement {
  static override properties = {
    catalogue: { attribute: false },
    client: { attribute: false },
    dashboardId: { attribute: false },
    view: { attribute: false },
    textOf: { attribute: false },
    save: { attribute: false },
    initial: { attribute: false },
    history: { state: true },
    search: { state: true },
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
  /** The metric that is changed. Undefined: a new one is made. */
  declare initial: InitialMetric | undefined;
  declare history: History<State>;
  declare search: string;
  declare shown: Shown | undefined;
  declare problem: string | undefined;
  declare said: string;
  declare isBusy: boolean;

  readonly #preview = createLatest();
  readonly #saving = createLatest();

  constructor() {
    super();
    this.history = historyOf(start);
    this.search = '';
    this.said = '';
    this.isBusy = false;
  }

  static override styles = [baseStyles, panelStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#preview.cancel();
    this.#saving.cancel();
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    if (changes.has('initial') && this.initial !== undefined) {
      this.history = historyOf({ ...this.initial, isChartChosen: true });
      this.#ask();
    } else if (changes.has('client') && changes.get('client') !== undefined) this.#ask();
  }

  get #state(): State {
    return this.history.present;
  }

  get #draft(): Draft {
    return this.#state.draft;
  }

  override render(): TemplateResult {
    return html`<div class="editor" part="editor" @keydown=${this.#keys}>
      ${this.#fields()}
      <div class="work">
        ${this.#head()}
        <div class="shelves">
          ${this.#shelf('measures')} ${this.#shelf('dimensions')} ${this.#shelf('filters')}
        </div>
        ${this.#charts()} ${this.#card()} ${this.#answer()}
      </div>
    </div>`;
  }

  #head(): TemplateResult {
    const { text } = this.view.format;
    const isReady = this.shown !== undefined && this.problem === undefined && !this.isBusy;
    const tool = (label: string, icon: TemplateResult, next: History<State>) =>
      html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
        ?disabled=${next === this.history} @click=${() => this.#show(next)}>${icon}</button>`;
    return html`<form class="head" @submit=${this.#save}>
      <input id="name" part="input" aria-label=${text('Name')} placeholder=${text('New metric')} maxlength="120" autocomplete="off"
        .value=${this.#state.name} @change=${this.#rename} />
      ${tool(text('Undo'), undoIcon, undone(this.history))} ${tool(text('Redo'), redoIcon, redone(this.history))}
      <button class="button main" part="button" ?disabled=${!isReady}>${text('Save')}</button>
      <span class="said quiet" role="status">${this.said}</span>
    </form>`;
  }

  #fields(): TemplateResult {
    const { text } = this.view.format;
    const found = searchFields(this.catalogue, this.search);
    const tables = this.catalogue.tables.filter((table) => found.some((one) => one.table === table));
    return html`<section class="fields" aria-labelledby="fields">
      <h2 id="fields">${text('Fields')}</h2>
      <input type="search" part="input" aria-label=${text('Search fields')} placeholder=${text('Search fields')}
        .value=${this.search} @input=${this.#searched} />
      <div class="list">
        ${tables.map((table) => this.#table(table, found))}
        ${found.length === 0 ? html`<p class="quiet" role="status">${text('Nothing found')}</p>` : nothing}
      </div>
    </section>`;
  }

  #table(table: FieldTable, found: readonly Found[]): TemplateResult {
    const { text } = this.view.format;
    const isOpen = this.#draft.from?.schemaName === table.schemaName && this.#draft.from.tableName === table.tableName;
    const rows = text('Rows');
    const count: Action = { kind: 'addMeasure', column: null, name: rows };
    const label = text('Measure {name}', { name: rows });
    return html`<h3 title=${table.description ?? nothing}>${titleOf(table)}</h3>
      <ul>
        ${
          isOpen
            ? html`<li><span class="field quiet">${rows}</span>
          <span class="uses">${this.#use(label, measureIcon, count)}</span></li>`
            : nothing
        }
        ${found.filter((one) => one.table === table).map((one) => this.#field(one))}
      </ul>`;
  }

  #field(found: Found): TemplateResult {
    const { text } = this.view.format;
    const { field } = found;
    const name = titleOf(field);
    const column = refOf(found);
    const isApart = refusalOf(this.#draft, this.catalogue, usual(found)) === 'not-joined';
    const why = isApart ? text('This field can’t be combined with the others') : (field.description ?? name);
    const filter: Action = { kind: 'addFilter', column, predicate: firstFilter(field) };
    return html`<li draggable=${isApart ? 'false' : 'true'} @dragstart=${(event: DragEvent) => this.#drag(event, found)}>
      <button class="field" type="button" title=${why} ?disabled=${isApart} @click=${() => this.#do(usual(found))}>${name}</button>
      <span class="uses">
        ${this.#use(text('Measure {name}', { name }), measureIcon, { kind: 'addMeasure', column })}
        ${this.#use(text('Split by {name}', { name }), splitIcon, { kind: 'addGroup', shelf: 'dimensions', column })}
        ${this.#use(text('Filter by {name}', { name }), filterIcon, filter)}
      </span>
    </li>`;
  }

  #use(label: string, icon: TemplateResult, action: Action): TemplateResult {
    const isRefused = refusalOf(this.#draft, this.catalogue, action) !== null;
    return html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label} ?disabled=${isRefused}
      @click=${() => this.#do(action)}>${icon}</button>`;
  }

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
      <h2>${titles[shelf]}</h2>
      <ul>${items.map((_, at) => this.#chip(shelf, at))}</ul>
      ${shelf === 'drillPath' ? this.#addDrill() : nothing}
    </section>`;
  }

  /** The fields on the left have no room for a fourth button: those to drill into are chosen from a list. */
  #addDrill(): TemplateResult {
    const fields = readableFields(this.#draft, this.catalogue);
    const label = this.view.format.text('Add a field');
    const add = (event: Event) => {
      const list = event.target as HTMLSelectElement;
      const column = fields[list.selectedIndex - 1]?.column;
      list.selectedIndex = 0;
      if (column !== undefined) this.#do({ kind: 'addGroup', shelf: 'drillPath', column });
    };
    return html`<select part="input" aria-label=${label} @change=${add}>
      <option>${label}</option>
      ${fields.map((field) => html`<option>${field.label}</option>`)}
    </select>`;
  }

  #answer(): TemplateResult | typeof nothing {
    if (definitionOf(this.#draft) === undefined) return nothing;
    const { text } = this.view.format;
    const act = (action: Action): boolean => {
      const isPossible = refusalOf(this.#draft, this.catalogue, action) === null;
      this.#do(action);
      return isPossible;
    };
    const editing: Editing = { draft: this.#draft, catalogue: this.catalogue, text, act };
    return html`${answerControls(editing)}${this.#shelf('drillPath')}`;
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
    const { text } = this.view.format;
    const item = this.#draft[shelf][at];
    const field = item?.column === undefined ? undefined : findField(this.catalogue, item.column);
    const name = item !== undefined && 'name' in item ? item.name : field === undefined ? '' : titleOf(field);
    const remove = text('Remove {name}', { name });
    const controls = {
      measures: this.#aggregate,
      dimensions: this.#grouping,
      filters: this.#filter,
      drillPath: this.#drillGrouping,
    };
    const control = controls[shelf];
    return html`<li class="chip" part="chip">
      ${this.#title(item, name)}
      ${field === undefined ? nothing : control.call(this, field, name, at)}
      <button class="icon" part="icon-button" type="button" aria-label=${remove} title=${remove}
        @click=${() => this.#do({ kind: 'remove', shelf, at })}>${closeIcon}</button>
    </li>`;
  }

  #aggregate(field: Field, name: string, at: number): TemplateResult {
    const { text } = this.view.format;
    const now = this.#draft.measures[at]?.aggregate;
    const choose = (event: Event) => {
      const aggregate = (event.target as HTMLSelectElement).value as Aggregate;
      this.#do({ kind: 'changeMeasure', at, aggregate });
    };
    return html`<select part="input" aria-label=${text('Measure {name}', { name })} @change=${choose}>
      ${offeredAggregates(field.aggregates).map((one) => html`<option value=${one} ?selected=${one === now}>${aggregateName(one, text)}</option>`)}
    </select>`;
  }

  #drillGrouping(field: Field, name: string, at: number): TemplateResult | typeof nothing {
    return this.#grouping(field, name, at, 'drillPath');
  }

  #grouping(field: Field, name: string, at: number, shelf: GroupShelf = 'dimensions'): TemplateResult | typeof nothing {
    const { text } = this.view.format;
    const { grain, bucketCount } = this.#draft[shelf][at] ?? {};
    const change = (grouping: Grouping) => this.#do({ kind: 'changeGroup', shelf, at, grouping });
    if (field.type === 'date') {
      const choose = (event: Event) => {
        const value = (event.target as HTMLSelectElement).value;
        const chosen = offeredGrains.find((one) => one === value);
        if (chosen !== undefined) change({ grain: chosen });
      };
      return html`<select part="input" aria-label=${text('Split by {name}', { name })} @change=${choose}>
        ${offeredGrains.map((one) => html`<option value=${one} ?selected=${one === grain}>${grainName(one, text)}</option>`)}
      </select>`;
    }
    if (field.type !== 'integer' && field.type !== 'number') return nothing;
    const toggle = (event: Event) => change((event.target as HTMLInputElement).checked ? { bucketCount: ranges } : {});
    return html`<label><input type="checkbox" .checked=${bucketCount !== undefined} @change=${toggle} /> ${text('In ranges')}</label>`;
  }

  #filter(field: Field, name: string, at: number): TemplateResult | typeof nothing {
    const { text } = this.view.format;
    const predicate = this.#draft.filters[at]?.predicate;
    const change = (next: Predicate) => this.#do({ kind: 'changeFilter', at, predicate: next });
    if (field.type === 'boolean') {
      const isYes = predicate?.kind === 'oneOf' && predicate.values[0] === true;
      const choose = (event: Event) =>
        change({ kind: 'oneOf', values: [(event.target as HTMLSelectElement).value === 'yes'] });
      return html`<select part="input" aria-label=${text('Filter by {name}', { name })} @change=${choose}>
        <option value="yes" ?selected=${isYes}>${text('Yes')}</option>
        <option value="no" ?selected=${!isYes}>${text('No')}</option>
      </select>`;
    }
    if (field.type === 'integer' || field.type === 'number' || field.type === 'date')
      return this.#range(field, name, predicate, change);
    if (field.type === 'json' || field.type === 'other') return nothing;
    const values = predicate?.kind === 'oneOf' ? predicate.values.join(', ') : '';
    const given = (event: Event) => {
      const list = (event.target as HTMLInputElement).value.split(',').map((value) => value.trim());
      const known = list.filter((value) => value !== '');
      change(known.length === 0 ? { kind: 'isNotNull' } : { kind: 'oneOf', values: known });
    };
    const hint = text('Values, separated by commas');
    return html`<input part="input" aria-label=${text('Filter by {name}', { name })} title=${hint} placeholder=${hint}
      .value=${values} @change=${given} />`;
  }

  #range(
    { type }: Field,
    name: string,
    predicate: Predicate | undefined,
    change: (next: Predicate) => void,
  ): TemplateResult {
    const { text } = this.view.format;
    const isDate = type === 'date';
    const { from, to } = predicate?.kind === 'range' ? predicate : { from: null, to: null };
    const set = (end: 'from' | 'to') => (event: Event) => {
      const { value } = event.target as HTMLInputElement;
      const next = { from, to, [end]: value === '' ? null : isDate ? value : Number(value) };
      const isOpen = next.from === null && next.to === null;
      change(isOpen ? { kind: 'isNotNull' } : { kind: 'range', ...next, toIsExclusive: false });
    };
    const input = (label: string, end: 'from' | 'to', value: unknown) =>
      html`<input part="input" type=${isDate ? 'date' : 'number'} step="any" aria-label=${label} title=${label}
        .value=${value === null ? '' : String(value)} @change=${set(end)} />`;
    const least = isDate ? text('{name} from', { name }) : text('{name} at least', { name });
    const most = isDate ? text('{name} to', { name }) : text('{name} at most', { name });
    return html`${input(least, 'from', from)}${input(most, 'to', to)}`;
  }

  #charts(): TemplateResult | typeof nothing {
    const { format } = this.view;
    if (definitionOf(this.#draft) === undefined) return nothing;
    const now = this.#draft.chart.type;
    const fits = chartFits(this.#draft, this.catalogue).toSorted(
      (a, b) => Number(a.need !== null) - Number(b.need !== null),
    );
    return html`<section class="charts" aria-label=${format.text('Chart')}>
      ${fits.map(({ type, need }) => {
        const why = need === null ? '' : needText(need, format.text);
        // Not the attribute `disabled`: a reader of the screen must reach the reason.
        return html`<button class="chart" part="button" type="button" aria-pressed=${type === now ? 'true' : 'false'}
          aria-disabled=${need === null ? 'false' : 'true'} title=${why} @click=${() => need === null && this.#choose(type)}>
          ${kindName(type, format)}${need === null ? nothing : html`<small>${why}</small>`}
        </button>`;
      })}
    </section>`;
  }

  #card(): TemplateResult {
    const { text } = this.view.format;
    if (this.problem !== undefined) return html`<p class="problem" role="alert">${this.problem}</p>`;
    if (this.shown === undefined) return html`<p class="hint quiet">${text('Choose a field to begin')}</p>`;
    return html`<guestlist-card .metric=${this.shown.metric} .source=${this.shown.source} .view=${this.view}
      .onFailure=${() => false}></guestlist-card>`;
  }

  readonly #searched = (event: Event): void => {
    this.search = (event.target as HTMLInputElement).value;
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

  #drag(event: DragEvent, found: Found): void {
    event.dataTransfer?.setData(dragType, JSON.stringify(refOf(found)));
  }

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
    else this.#do({ kind: 'addFilter', column, predicate: firstFilter(field) });
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
    return viewOf(this.#draft, this.#state.name || this.view.format.text('New metric'));
  }

  #ask(): void {
    const { client, dashboardId } = this;
    const draft = this.#draft;
    this.problem = undefined;
    if (definitionOf(draft) === undefined || cautionsOf(draft, this.catalogue).some(({ isFault }) => isFault)) {
      this.#preview.cancel();
      this.shown = undefined;
      return;
    }
    void this.#preview.run(
      (signal) => askPreview(client, dashboardId, draft, signal),
      (answer) => {
        const source = { client: previewClient(client, dashboardId, draft, answer), dashboardId, dashboardFilter: {} };
        this.shown = { metric: this.#metric(), source };
      },
      (error) => {
        this.problem = this.textOf(error);
      },
    );
  }

  readonly #save = (event: Event): void => {
    event.preventDefault();
    const { text } = this.view.format;
    const name = this.#state.name || text('New metric');
    const body = { name, definition: definitionOf(this.#draft) };
    const path = `dashboards/${encodeURIComponent(this.dashboardId)}/metrics`;
    const store: SaveMetric =
      this.save ?? ((metric, signal) => this.client.call(path, { method: 'POST', body: metric }, signal));
    this.isBusy = true;
    void this.#saving.run(
      (signal) => store(body, signal),
      (made) => {
        this.isBusy = false;
        if (this.initial === undefined) {
          this.history = historyOf(start);
          this.shown = undefined;
        }
        this.said = text('Saved');
        const { metricId } = made as { readonly metricId: string };
        const detail = { dashboardId: this.dashboardId, metricId, name };
        this.dispatchEvent(new CustomEvent('guestlist-saved', { detail, bubbles: true, composed: true }));
      },
      (error) => {
        this.isBusy = false;
        const isChanged = error instanceof Error && 'code' in error && error.code === 'METRIC_CHANGED';
        this.problem = isChanged
          ? text('Somebody else changed this metric meanwhile. Open it again to see the change.')
          : this.textOf(error);
      },
    );
  };
}
