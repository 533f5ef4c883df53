/**
 * The cards and tiles of a dashboard while they are arranged, for guests and for Studio: drawn as readers see them, moved,
 * sized and removed by pointer, by buttons and by keyboard. It saves nothing.
 */
import {
  type CSSResultGroup,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { TileContent } from '../../model/dashboard/tile.js';
import type { Format } from '../base/format.js';
import {
  downIcon,
  narrowerIcon,
  nextIcon,
  previousIcon,
  redoIcon,
  shorterIcon,
  tallerIcon,
  undoIcon,
  upIcon,
  widerIcon,
} from '../base/icons.js';
import { baseStyles } from '../base/theme.js';
import { arrangeStyles } from './arrange-styles.js';
import { Arranger, columnOf, isArrow, type Scale, tileName } from './arranger.js';
import { type Box, findBox, inReadingOrder, type Key } from './board.js';

/** Draws what a reader sees at the place of a box. Undefined: only its name is shown. */
export type DrawBox = (box: Box) => TemplateResult | undefined;

/** Where keys belong to what is typed. */
export const typed = 'input:not([type="checkbox"]), textarea, select, [contenteditable]';

const removing: readonly string[] = ['delete', 'backspace'];

type Step = { readonly label: string; readonly icon: TemplateResult; readonly key: Key; readonly isSize: boolean };

export class ArrangeBoard extends LitElement {
  static override properties: PropertyDeclarations = {
    format: { attribute: false },
    draw: { attribute: false },
    said: { state: true },
    chosen: { state: true },
  };
  declare format: Format;
  declare draw: DrawBox | undefined;
  /** What a reader of the screen hears after a change. */
  declare said: string;
  /** The box that was focused last. */
  declare chosen: string | undefined;

  protected arranger = new Arranger([], []);
  protected names: ReadonlyMap<string, string> = new Map();
  #held: string | null = null;
  /** Whether the held box has not been moved. */
  #isStill = true;
  /** The boxes as they were read from top to bottom, and what had the focus, before a change. */
  #before: { readonly order: readonly string[]; readonly focused: Element | null } = { order: [], focused: null };

  constructor() {
    super();
    this.said = '';
    this.addEventListener('keydown', this.#undoByKey);
  }

  static override styles: CSSResultGroup = [baseStyles, arrangeStyles];

  protected override willUpdate(_: PropertyValues): void {
    const { renderRoot } = this;
    const focused = renderRoot instanceof ShadowRoot ? renderRoot.activeElement : null;
    this.#before = { order: this.#before.order, focused };
  }

  protected override updated(_: PropertyValues): void {
    const { order, focused } = this.#before;
    this.#before = { order: inReadingOrder(this.arranger.boxes).map(({ id }) => id), focused: null };
    if (focused !== null && !focused.isConnected) this.#focusNear(order);
  }

  /** What had the focus is gone: the focus goes to the box that has its place now. */
  #focusNear(before: readonly string[]): void {
    const after = this.#before.order;
    const gone = before.findIndex((id) => !after.includes(id));
    this.focusBox(after[Math.min(Math.max(0, gone), after.length - 1)]);
  }

  focusBox(id: string | undefined): void {
    const tiles = [...this.renderRoot.querySelectorAll<HTMLElement>('.hold')];
    const grid = this.renderRoot.querySelector<HTMLElement>('.grid');
    (tiles.find((tile) => tile.dataset.id === id) ?? tiles[0] ?? grid)?.focus();
  }

  protected board(): TemplateResult {
    return html`<div class="grid" role="group" tabindex="-1" aria-label=${this.format.text('Arrange cards')}
        @pointermove=${this.#moved} @pointerup=${this.#dropped} @pointercancel=${this.#dropped}>
        ${repeat(
          this.arranger.boxes,
          ({ id }) => id,
          (box) => this.#box(box),
        )}
      </div>
      <p class="sr" role="status">${this.said}</p>`;
  }

  /** A button without effect keeps the focus. */
  #tool(label: string, icon: TemplateResult, canRun: boolean, run: () => void): TemplateResult {
    return html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label} aria-disabled=${canRun ? 'false' : 'true'}
      @click=${() => canRun && run()}>${icon}</button>`;
  }

  protected historyTools(): TemplateResult {
    const { text } = this.format;
    return html`${this.#tool(text('Undo'), undoIcon, this.canUndo, () => this.undo())}
      ${this.#tool(text('Redo'), redoIcon, this.canRedo, () => this.redo())}`;
  }

  /** What an arrow key does, as buttons: nothing needs a drag. */
  protected moveTools(): TemplateResult {
    const box = this.chosenBox;
    const step = ({ label, icon, key, isSize }: Step) =>
      this.#tool(label, icon, box !== undefined && !(box.content.kind === 'tab' && isTabStill(key, isSize)), () =>
        this.#tell(this.arranger.press(box?.id ?? '', key, isSize, this.#isMirrored)),
      );
    return html`<div class="steps" role="group" aria-label=${box === undefined ? nothing : this.nameOf(box)}>
      ${this.#moves().map(step)}
    </div>`;
  }

  #moves(): readonly Step[] {
    const { text } = this.format;
    return [
      { label: text('Move left'), icon: previousIcon, key: 'ArrowLeft', isSize: false },
      { label: text('Move right'), icon: nextIcon, key: 'ArrowRight', isSize: false },
      { label: text('Move up'), icon: upIcon, key: 'ArrowUp', isSize: false },
      { label: text('Move down'), icon: downIcon, key: 'ArrowDown', isSize: false },
      { label: text('Narrower'), icon: narrowerIcon, key: this.#isMirrored ? 'ArrowRight' : 'ArrowLeft', isSize: true },
      { label: text('Wider'), icon: widerIcon, key: this.#isMirrored ? 'ArrowLeft' : 'ArrowRight', isSize: true },
      { label: text('Shorter'), icon: shorterIcon, key: 'ArrowUp', isSize: true },
      { label: text('Taller'), icon: tallerIcon, key: 'ArrowDown', isSize: true },
    ];
  }

  protected get chosenBox(): Box | undefined {
    return this.chosen === undefined ? undefined : findBox(this.arranger.boxes, this.chosen);
  }

  /** Whether a box follows the pointer. */
  protected get isHeld(): boolean {
    return this.#held !== null;
  }

  get canUndo(): boolean {
    return this.arranger.canUndo;
  }

  get canRedo(): boolean {
    return this.arranger.canRedo;
  }

  undo(): void {
    this.change(() => this.arranger.undo());
  }

  redo(): void {
    this.change(() => this.arranger.redo());
  }

  #box(box: Box): TemplateResult {
    const { id, content, x, y, w, h } = box;
    const place = `--x: ${x + 1}; --y: ${y + 1}; --w: ${w}; --h: ${h}`;
    const drawn = this.draw?.(box);
    return html`<div class="tile" data-kind=${content.kind} .style=${place} ?data-held=${this.#held === id} ?data-chosen=${this.chosen === id}>
      ${drawn === undefined ? html`<span class="label" aria-hidden="true">${this.nameOf(box)}</span>` : html`<div class="drawn" inert>${drawn}</div>`}
      <button class="hold" type="button" data-id=${id} aria-label=${this.#sentence(box)} aria-pressed=${this.isPressed(box) ?? nothing}
        @focus=${() => this.choose(id)} @keydown=${(event: KeyboardEvent) => this.pressed(event, box)}
        @dblclick=${() => this.opened(box)} @pointerdown=${(event: PointerEvent) => this.taken(event, box, false)}></button>
      <span class="size" aria-hidden="true" @pointerdown=${(event: PointerEvent) => this.taken(event, box, true)}></span>
    </div>`;
  }

  /** Whether the box is one of those that are chosen together; undefined where boxes are not chosen so. */
  protected isPressed(_: Box): 'true' | 'false' | undefined {
    return undefined;
  }

  /** Changes the content of the box, where that is possible. */
  protected opened(_: Box): void {}

  protected choose(id: string): void {
    this.chosen = id;
  }

  protected nameOf({ id, content }: Box): string {
    return content.kind === 'card' ? (this.names.get(id) ?? id) : this.tileName(content);
  }

  protected tileName(content: TileContent): string {
    return content.kind === 'tab' ? this.format.text('Tab: {name}', { name: content.text }) : tileName(content);
  }

  #sentence(box: Box): string {
    const { x, y, w, h } = box;
    const place = { name: this.nameOf(box), x: x + 1, y: y + 1, w, h };
    return this.format.text('{name}: column {x}, row {y}, width {w}, height {h}', place);
  }

  protected change(run: () => void): void {
    run();
    this.requestUpdate();
  }

  #tell(box: Box | undefined): void {
    if (box !== undefined) this.said = this.#sentence(box);
    this.requestUpdate();
  }

  get #isMirrored(): boolean {
    return this.matches(':dir(rtl)');
  }

  /** Control and Z, and Control and Y, where nothing is typed. */
  readonly #undoByKey = (event: KeyboardEvent): void => {
    const key = event.key.toLowerCase();
    const isTyping = event.composedPath().some((at) => at instanceof Element && at.matches(typed));
    if (!(event.ctrlKey || event.metaKey) || !(key === 'z' || key === 'y') || isTyping || event.defaultPrevented)
      return;
    event.preventDefault();
    if (key === 'y' || event.shiftKey) this.redo();
    else this.undo();
  };

  protected pressed(event: KeyboardEvent, box: Box): void {
    if (isArrow(event.key)) this.#tell(this.arranger.press(box.id, event.key, event.shiftKey, this.#isMirrored));
    else if (removing.includes(event.key.toLowerCase())) this.takeAway(box);
    else return;
    event.preventDefault();
  }

  /** Takes the box away, where that is possible. */
  protected takeAway(_: Box): void {}

  protected taken(event: PointerEvent, box: Box, isSize: boolean): void {
    event.stopPropagation();
    if (event.button !== 0 || !this.arranger.take(box, isSize, { x: event.clientX, y: event.clientY })) return;
    this.#held = box.id;
    this.#isStill = true;
    this.renderRoot.querySelector('.grid')?.setPointerCapture(event.pointerId);
    this.requestUpdate();
  }

  get #scale(): Scale {
    const grid = this.renderRoot.querySelector('.grid') ?? this;
    const style = getComputedStyle(grid);
    const gap = Number.parseFloat(style.columnGap) || 0;
    const row = Number.parseFloat(style.gridAutoRows) || 1;
    return { column: columnOf(grid.clientWidth, gap), row: row + gap, isMirrored: this.#isMirrored };
  }

  /** Beside a panel and on a phone the boxes stand below each other, as for readers: there the buttons move them. */
  get #isOneColumn(): boolean {
    const grid = this.renderRoot.querySelector('.grid') ?? this;
    return !getComputedStyle(grid).gridTemplateColumns.includes(' ');
  }

  readonly #moved = (event: PointerEvent): void => {
    if (this.#held === null || this.#isOneColumn) return;
    const before = this.arranger.boxes;
    if (this.arranger.moveTo({ x: event.clientX, y: event.clientY }, this.#scale)) this.requestUpdate();
    if (this.arranger.boxes !== before) this.#isStill = false;
  };

  readonly #dropped = ({ type }: PointerEvent): void => {
    if (this.#held === null) return;
    this.#held = null;
    const box = this.arranger.drop();
    this.#tell(box);
    if (box !== undefined && type === 'pointerup' && this.#isStill) this.clicked(box);
  };

  /** A box was pressed, and not moved. */
  protected clicked(_: Box): void {}
}

/** A tab has a row of its own: it moves up and down alone. */
const isTabStill = (key: Key, isSize: boolean): boolean => isSize || key === 'ArrowLeft' || key === 'ArrowRight';
