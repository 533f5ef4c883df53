/**
 * The tables of a model as a diagram. A column is dragged on another, or both are picked one after the other, by pointer
 * or keyboard; `connect` then names both. A table is moved by its head, or by keyboard, and stays there in this browser.
 * The lists beside it say the same in words.
 */
import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import type { End, Ends } from '../base/cardinality.js';
import { readPlaces, writePlaces } from '../base/kept-places.js';
import { badge } from '../base/kit.js';
import type { StoredModel } from '../base/model-edit.js';
import {
  endText,
  type Graph,
  type GraphColumn,
  type GraphLine,
  type GraphTable,
  graphOf,
} from '../base/model-graph.js';
import { type Layout, layOut, linesIn, neighbour, type Point } from '../base/model-layout.js';
import { movedTo, type Places, steppedBy, withPlaces } from '../base/model-places.js';
import { type Keys, type TableTenancy, toneOf } from '../base/model-tenancy.js';

type Drag = {
  readonly from: End;
  readonly at: Point;
  readonly start: Point;
  readonly isMoved: boolean;
  readonly over: End | null;
};

/** A table that follows the pointer. `grip`: where it was taken. */
type Moving = { readonly table: string; readonly grip: Point; readonly isMoved: boolean };

const zooms = { least: 0.1, most: 1.5, step: 1.25 } as const;
/** A pointer that moves less than this many pixels has clicked. */
const clickPixels = 4;
const edgePixels = 40;

const isSame = (a: End | null | undefined, b: End): boolean => a?.table === b.table && a.column === b.column;

export class ModelDiagram extends LitElement {
  static override properties = {
    model: { attribute: false },
    tenancies: { attribute: false },
    keys: { attribute: false },
    canConnect: { attribute: false },
    kept: { attribute: false },
    places: { state: true },
    moving: { state: true },
    opened: { state: true },
    zoom: { state: true },
    picked: { state: true },
    current: { state: true },
    drag: { state: true },
    said: { state: true },
  };
  declare model: StoredModel;
  declare tenancies: readonly TableTenancy[];
  declare keys: Keys;
  declare canConnect: boolean;
  /** The name under which the places of the tables are kept. Empty: they are not. */
  declare kept: string;
  declare places: Places;
  declare moving: Moving | null;
  declare opened: ReadonlySet<string>;
  declare zoom: number;
  /** The column that is to be connected. */
  declare picked: End | null;
  /** The column that Tab reaches. */
  declare current: End | null;
  declare drag: Drag | null;
  declare said: string;
  #graph: Graph = { tables: [], lines: [] };
  /** Where the tables stand that nobody moved. */
  #usual: Layout = { boxes: new Map(), width: 0, height: 0 };
  #layout: Layout = { boxes: new Map(), width: 0, height: 0 };

  constructor() {
    super();
    this.keys = new Map();
    this.canConnect = false;
    this.kept = '';
    this.places = new Map();
    this.moving = null;
    this.opened = new Set();
    this.zoom = 1;
    this.picked = null;
    this.current = null;
    this.drag = null;
    this.said = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (changes.has('kept') && this.kept !== '') this.places = readPlaces(this.kept);
    if (['model', 'tenancies', 'keys', 'opened'].some((name) => changes.has(name))) this.#drawAnew();
    // After the line above, which may have set them.
    this.#layout = withPlaces(this.#usual, this.places);
  }

  #drawAnew(): void {
    this.#graph = graphOf(this.model, this.tenancies, this.keys, this.opened);
    this.#usual = layOut(this.#graph);
    const first = this.#graph.tables[0];
    const [column] = this.#columnsOf(first?.key);
    if (this.current === null || !this.#has(this.current))
      this.current = first === undefined || column === undefined ? null : { table: first.key, column };
    if (this.picked !== null && !this.#has(this.picked)) this.picked = null;
  }

  #has({ table, column }: End): boolean {
    return this.#graph.tables.some(({ key, columns }) => key === table && columns.some(({ name }) => name === column));
  }

  protected override render(): TemplateResult {
    const { width, height } = this.#layout;
    const scaled = `width: ${Math.ceil(width * this.zoom)}px; height: ${Math.ceil(height * this.zoom)}px`;
    return html`${this.#tools()}
      <div class="diagram" role="group" aria-label="Diagram of the tables" @pointermove=${this.#move} @pointerup=${this.#drop}
        @pointercancel=${this.#cancel} @pointerdown=${this.#grab} @wheel=${this.#wheel} @keydown=${this.#key}>
        <div .style=${scaled}><div class="plane" .style=${`width: ${width}px; height: ${height}px; transform: scale(${this.zoom})`}>
          ${this.#lines()} ${this.#graph.tables.map((table) => this.#table(table))}
        </div></div>
      </div>
      <p class="legend soft">${legend} ${this.canConnect ? 'Drag a column on a column to connect them. By keyboard: arrow keys, then Enter on both; Escape takes it back. Drag a table by its head to move it, or move it with Shift and an arrow key.' : nothing}</p>
      <p class="sr" role="status">${this.said}</p>`;
  }

  #tools(): TemplateResult {
    const zoom = (by: number) => (): void => this.#zoomTo(this.zoom * by);
    const find = (event: Event): void => {
      const { value } = event.target as HTMLInputElement;
      const table = this.#graph.tables.find(({ key, title }) => key === value || title === value);
      if (table !== undefined) this.#show(table.key);
    };
    return html`<div class="toolbar">
      <label class="inline">Find a table<input type="search" list="diagram-tables" autocomplete="off" @change=${find} /></label>
      <datalist id="diagram-tables">${this.#graph.tables.map(({ key }) => html`<option value=${key}></option>`)}</datalist>
      <span class="gap"></span>
      <button type="button" class="quiet" aria-label="Smaller" ?disabled=${this.zoom <= zooms.least} @click=${zoom(1 / zooms.step)}>−</button>
      <span class="count">${Math.round(this.zoom * 100)} %</span>
      <button type="button" class="quiet" aria-label="Larger" ?disabled=${this.zoom >= zooms.most} @click=${zoom(zooms.step)}>+</button>
      <button type="button" class="quiet" @click=${() => this.fit()}>Show all</button>
      ${this.canConnect ? html`<button type="button" class="quiet" ?disabled=${this.places.size === 0} @click=${this.#placeAnew}>Place anew</button>` : nothing}
    </div>
    ${
      this.picked === null
        ? nothing
        : html`<p class="notice">Connect <code>${endText(this.picked)}</code> to: choose the other column.
            <button type="button" class="text" @click=${() => this.#pick(null)}>Do not connect it</button></p>`
    }`;
  }

  #lines(): TemplateResult {
    const { width, height } = this.#layout;
    return html`<svg width=${width} height=${height} aria-hidden="true">
      ${linesIn(this.#graph, this.#layout.boxes).map(
        ({ line, path, fromMark, toMark }) => svg`<g class=${line.isTenancy ? 'tenancy' : ''}>
          <path d=${path}><title>${lineText(line)}</title></path>
          <text x=${fromMark.x} y=${fromMark.y}>${markOf(line.isFromMany)}</text><text x=${toMark.x} y=${toMark.y}>${markOf(line.isToMany)}</text>
        </g>`,
      )}
      ${this.#dragged()}
    </svg>`;
  }

  #dragged(): unknown {
    if (this.drag?.isMoved !== true) return nothing;
    const { start, at } = this.drag;
    return svg`<path class="drawn" d=${`M${start.x} ${start.y} L${at.x} ${at.y}`}></path>`;
  }

  #table(table: GraphTable): TemplateResult {
    const box = this.#layout.boxes.get(table.key);
    if (box === undefined) return html``;
    const { key, title, state, folded, isHide } = table;
    const place = `left: ${box.x}px; top: ${box.y}px; width: ${box.width}px; height: ${box.height}px`;
    return html`<section class="box ${toneOf[state]} ${this.moving?.table === key ? 'moving' : ''}" aria-label="${key}: ${state}" .style=${place}>
      <header class=${this.canConnect ? 'movable' : ''} @pointerdown=${(event: PointerEvent) => this.#lift(event, key)} title=${`${key}: ${table.whose}`}><strong>${title}</strong> ${badge(`${stateIcon[state]} ${state}`, toneOf[state])}<code>${key}${isHide ? ', hidden' : ''}</code></header>
      ${table.columns.map((column) => this.#column(key, column))}
      ${folded === 0 ? nothing : html`<button type="button" class="text more" tabindex="-1" @click=${() => this.#open(key)}>${folded} more columns</button>`}
    </section>`;
  }

  #column(table: string, column: GraphColumn): TemplateResult {
    const end = { table, column: column.name };
    const marks = [
      column.isKey ? 'key' : '',
      column.isClient ? 'client id' : '',
      column.isMeasure ? 'measure' : column.isCalculated ? 'calculated' : '',
      column.isHide ? 'hidden' : '',
    ].filter(Boolean);
    const text = html`<span>${column.name}</span>${marks.length === 0 ? nothing : html`<small>${marks.join(', ')}</small>`}`;
    const state = isSame(this.picked, end) ? 'picked' : isSame(this.drag?.over, end) ? 'over' : '';
    if (!this.canConnect || column.isCalculated)
      return html`<div class="column" data-table=${table} data-column=${column.name} title=${column.title || nothing}>${text}</div>`;
    return html`<button type="button" class="column ${state}" data-table=${table} data-column=${column.name} title=${column.title || nothing}
      tabindex=${isSame(this.current, end) ? 0 : -1} aria-pressed=${isSame(this.picked, end)}
      @focus=${() => this.#focused(end)} @click=${() => this.#chosen(end)}
      @pointerdown=${(event: PointerEvent) => this.#take(event, end)}>${text}</button>`;
  }

  #focused(end: End): void {
    if (!isSame(this.current, end)) this.current = end;
  }

  #chosen(end: End): void {
    if (this.picked === null) this.#pick(end);
    else if (isSame(this.picked, end)) this.#pick(null);
    else this.#connect(this.picked, end);
  }

  #pick(end: End | null): void {
    this.picked = end;
    this.said = end === null ? 'No column is chosen.' : `Connect ${endText(end)} to: choose the other column.`;
  }

  #connect(from: End, to: End): void {
    this.picked = null;
    this.said = '';
    this.dispatchEvent(new CustomEvent<Ends>('connect', { detail: { from, to } }));
  }

  #open(table: string): void {
    this.opened = new Set([...this.opened, table]);
  }

  /** Makes the whole diagram as large as its frame allows. */
  fit(): void {
    const frame = this.querySelector('.diagram');
    if (frame === null) return;
    const { width, height } = this.#layout;
    this.#zoomTo(Math.min(1, frame.clientWidth / width, frame.clientHeight / height));
  }

  #zoomTo(zoom: number): void {
    this.zoom = Math.min(zooms.most, Math.max(zooms.least, zoom));
  }

  readonly #wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.#zoomTo(this.zoom * (event.deltaY < 0 ? zooms.step : 1 / zooms.step));
  };

  async #show(table: string): Promise<void> {
    const first = this.#graph.tables.find(({ key }) => key === table)?.columns[0];
    if (first !== undefined) this.current = { table, column: first.name };
    if (this.zoom < 0.6) this.zoom = 1;
    await this.updateComplete;
    const box = [...this.querySelectorAll<HTMLElement>('.column')].find(({ dataset }) => dataset.table === table);
    box?.scrollIntoView({ block: 'center', inline: 'center' });
    box?.focus({ preventScroll: true });
  }

  readonly #key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.picked !== null) this.#pick(null);
    if (!(event.target as Element).matches('.column')) return;
    if (this.#step(event)) {
      event.preventDefault();
      return;
    }
    const next = this.current === null ? undefined : this.#nextOf(this.current, event.key);
    if (next === undefined) return;
    event.preventDefault();
    this.current = next;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('.column[tabindex="0"]')?.focus());
  };

  #nextOf({ table, column }: End, key: string): End | undefined {
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const other = neighbour(this.#layout.boxes, table, key === 'ArrowRight' ? 1 : -1);
      const first = this.#columnsOf(other)[0];
      return other === undefined || first === undefined ? undefined : { table: other, column: first };
    }
    const names = this.#columnsOf(table);
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -names.length, End: names.length }[key];
    if (step === undefined) return undefined;
    const at = Math.min(names.length - 1, Math.max(0, names.indexOf(column) + step));
    return { table, column: names[at] ?? column };
  }

  /** Names of the columns that can be connected. */
  #columnsOf(table: string | undefined): readonly string[] {
    const columns = this.#graph.tables.find(({ key }) => key === table)?.columns ?? [];
    return columns.filter(({ isCalculated }) => !isCalculated).map(({ name }) => name);
  }

  #pointIn(event: PointerEvent): Point {
    const { left, top } = (this.querySelector('.plane') ?? this).getBoundingClientRect();
    return { x: (event.clientX - left) / this.zoom, y: (event.clientY - top) / this.zoom };
  }

  #lift(event: PointerEvent, table: string): void {
    const box = this.#layout.boxes.get(table);
    if (!this.canConnect || box === undefined || event.button !== 0 || event.pointerType === 'touch') return;
    event.preventDefault();
    const { x, y } = this.#pointIn(event);
    this.moving = { table, grip: { x: x - box.x, y: y - box.y }, isMoved: false };
  }

  #carry(event: PointerEvent, { table, grip, isMoved }: Moving): void {
    const frame = event.currentTarget as HTMLElement;
    const { x, y } = this.#pointIn(event);
    const box = this.#layout.boxes.get(table) ?? { x: 0, y: 0 };
    const to = { x: x - grip.x, y: y - grip.y };
    if (!isMoved && Math.hypot(to.x - box.x, to.y - box.y) * this.zoom <= clickPixels) return;
    if (!isMoved) frame.setPointerCapture(event.pointerId);
    this.moving = { table, grip, isMoved: true };
    this.places = movedTo(this.places, table, to);
    scrollNear(frame, event);
  }

  /** Keeps what was moved. */
  #keep(said: string): void {
    if (this.kept !== '') writePlaces(this.kept, this.places);
    this.said = said;
  }

  readonly #placeAnew = (): void => {
    this.places = new Map();
    this.#keep('All tables stand where they stood at first.');
  };

  /** Moves the table of the chosen column by a step. Returns whether the key does that. */
  #step(event: KeyboardEvent): boolean {
    const box = this.current === null ? undefined : this.#layout.boxes.get(this.current.table);
    const to = box === undefined ? undefined : steppedBy(box, event.key);
    if (!event.shiftKey || !this.canConnect || to === undefined || this.current === null) return false;
    const { table } = this.current;
    this.places = movedTo(this.places, table, to);
    this.#keep(`${table} is moved.`);
    void this.updateComplete.then(() =>
      this.querySelector('.column[tabindex="0"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    );
    return true;
  }

  #take(event: PointerEvent, from: End): void {
    // A finger scrolls the diagram; it picks both columns instead.
    if (event.button !== 0 || event.pointerType === 'touch') return;
    const start = this.#pointIn(event);
    this.drag = { from, start, at: start, isMoved: false, over: null };
  }

  /** A pointer beside the tables moves the diagram. */
  readonly #grab = (event: PointerEvent): void => {
    const frame = event.currentTarget as HTMLElement;
    if (event.button !== 0 || event.pointerType === 'touch' || (event.target as Element).closest('.box') !== null)
      return;
    frame.setPointerCapture(event.pointerId);
    frame.classList.add('grabbed');
  };

  readonly #move = (event: PointerEvent): void => {
    const frame = event.currentTarget as HTMLElement;
    if (frame.classList.contains('grabbed')) frame.scrollBy(-event.movementX, -event.movementY);
    if (this.moving !== null) this.#carry(event, this.moving);
    if (this.moving !== null || this.drag === null) return;
    const at = this.#pointIn(event);
    const { start, isMoved } = this.drag;
    const isFar = Math.hypot(at.x - start.x, at.y - start.y) * this.zoom > clickPixels;
    if (!isMoved && !isFar) return;
    // Captured only now: a click must reach the column.
    if (!isMoved) frame.setPointerCapture(event.pointerId);
    this.drag = { ...this.drag, at, isMoved: true, over: this.#endAt(event) };
    scrollNear(frame, event);
  };

  /** The column under the pointer, unless the drag began there. */
  #endAt({ clientX, clientY }: PointerEvent): End | null {
    const found = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('button.column');
    const { table, column } = found?.dataset ?? {};
    if (table === undefined || column === undefined || !this.contains(found ?? null)) return null;
    return isSame(this.drag?.from, { table, column }) ? null : { table, column };
  }

  readonly #drop = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).classList.remove('grabbed');
    const { drag, moving } = this;
    this.drag = null;
    this.moving = null;
    if (moving?.isMoved === true) this.#keep(`${moving.table} is moved.`);
    if (drag?.isMoved === true && drag.over !== null) this.#connect(drag.from, drag.over);
  };

  readonly #cancel = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).classList.remove('grabbed');
    this.drag = null;
    this.moving = null;
  };
}

/** Moves on where a drag comes near an edge, so that it reaches tables that are out of sight. */
const scrollNear = (frame: HTMLElement, { clientX, clientY }: PointerEvent): void => {
  const { left, right, top, bottom } = frame.getBoundingClientRect();
  const toward = (at: number, from: number, to: number): number =>
    at < from + edgePixels ? -12 : at > to - edgePixels ? 12 : 0;
  frame.scrollBy(toward(clientX, left, right), toward(clientY, top, bottom));
};

const stateIcon = { owned: '●', derived: '↳', shared: '◇', 'nobody’s': '✕' } as const;

const markOf = (isMany: boolean | null): string => (isMany === null ? '?' : isMany ? 'n' : '1');

const lineText = ({ from, to, isFromMany, isToMany, isTenancy }: GraphLine): string =>
  `${endText(from)} (${markOf(isFromMany)}) to ${endText(to)} (${markOf(isToMany)})${isTenancy ? ': gives rows their tenant' : ''}`;

const legend = html`${badge('● owned', 'good')} a column has the tenant · ${badge('↳ derived', 'good')} by a thick line ·
  ${badge('◇ shared', 'warn')} everybody reads every row · ${badge('✕ nobody’s', 'bad')} no query reads it. n and 1: many rows, one row; ?: not declared.`;

customElements.define('studio-model-diagram', ModelDiagram);
