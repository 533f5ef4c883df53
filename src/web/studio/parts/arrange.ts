/** The cards and tiles of a dashboard on 12 columns: moved and sized by pointer and by keyboard; tiles are made here. */
import { html, LitElement, type TemplateResult } from 'lit';
import type { Tile, TileContent } from '../../../model/dashboard/tile.js';
import { Arranger, isArrow, tileName } from '../../editor/arranger.js';
import { type Box, columns, findBox } from '../../editor/board.js';
import { type Card, mostPictureLength, newId } from '../base/content.js';
import { askTile, kindNames, type TileKind } from './tile-dialog.js';

/** What the screen saves. */
export type Arranged = {
  readonly layout: readonly Card[];
  readonly tiles: readonly Tile[];
};

/** What the screen removes, in the arrangement that it is in. */
export type Cut = Arranged & { readonly isChosen: IsChosen };
/** A text of the clipboard, and the arrangement that it is put below. */
export type PastedText = Arranged & { readonly text: string };

/** Which of a dashboard's parts were chosen. */
export type IsChosen = (part: { readonly metricId: string } | { readonly tileId: string }) => boolean;

/** Where the clipboard belongs to what is typed. */
const typed = 'input, textarea, select, [contenteditable]';
const rowHeight = 56;
const kinds: readonly TileKind[] = ['heading', 'text', 'image', 'tab'];
const sizes: Readonly<Record<TileKind, { readonly w: number; readonly h: number }>> = {
  heading: { w: 12, h: 1 },
  text: { w: 6, h: 3 },
  image: { w: 4, h: 3 },
  tab: { w: 12, h: 1 },
};

export class Arrange extends LitElement {
  static override properties = {
    cards: { attribute: false },
    tiles: { attribute: false },
    names: { attribute: false },
    saved: { attribute: false },
    said: { state: true },
    problem: { state: true },
    chosen: { state: true },
    selected: { state: true },
    textOf: { attribute: false },
  };
  declare cards: readonly Card[];
  declare tiles: readonly Tile[];
  declare names: ReadonlyMap<string, string>;
  /** What can be taken back and made again after the steps that are not saved. */
  declare saved: { readonly undoable: string | undefined; readonly redoable: string | undefined };
  /** What a reader of the screen hears after a change. */
  declare said: string;
  declare problem: string;
  /** The box that was focused last. */
  declare chosen: string | undefined;
  /** The boxes that are copied and cut. */
  declare selected: ReadonlySet<string>;
  /** The chosen parts as text for the clipboard. */
  declare textOf: (arranged: Arranged, isChosen: IsChosen) => string;
  #arranger = new Arranger([], []);
  #gone = new AbortController();

  constructor() {
    super();
    this.selected = new Set();
    this.said = '';
    this.problem = '';
    this.tiles = [];
    this.saved = { undoable: undefined, redoable: undefined };
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#gone = new AbortController();
    const { signal } = this.#gone;
    document.addEventListener('copy', (event) => this.#clip(event, false), { signal });
    document.addEventListener('cut', (event) => this.#clip(event, true), { signal });
    document.addEventListener('paste', (event) => this.#pasted(event), { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (!changes.has('cards') && !changes.has('tiles')) return;
    this.#arranger = new Arranger(this.cards, this.tiles);
    this.selected = new Set();
  }

  protected override render(): TemplateResult {
    const arranger = this.#arranger;
    const { undoable, redoable } = this.saved;
    const tool = (text: string, canRun: boolean, run: () => void): TemplateResult =>
      html`<button type="button" class="quiet" ?disabled=${!canRun} @click=${() => this.#change(run)}>${text}</button>`;
    const tile = this.#chosenTile;
    const isNothing = this.#taken.size === 0;
    return html`<div class="toolbar">
        ${kinds.map((kind) => html`<button type="button" class="quiet" @click=${() => void this.#add(kind)}>Add ${kindNames[kind]}</button>`)}
        <button type="button" class="quiet" ?disabled=${tile === undefined} @click=${() => void this.#edit()}>Change</button>
        ${tool('Remove', tile !== undefined, () => this.#remove())}
        <button type="button" class="quiet" ?disabled=${isNothing} @click=${() => void this.#copyByButton(false)}>Copy</button>
        <button type="button" class="quiet" ?disabled=${isNothing} @click=${() => void this.#copyByButton(true)}>Cut</button>
        <button type="button" class="quiet" @click=${() => void this.#pasteByButton()}>Paste</button>
        <button type="button" class="quiet" ?disabled=${!arranger.canUndo && undoable === undefined} @click=${this.undo}>Undo</button>
        <button type="button" class="quiet" ?disabled=${!arranger.canRedo && redoable === undefined} @click=${this.redo}>Redo</button>
        <span class="gap"></span>
        <button type="button" ?disabled=${!arranger.isChanged} @click=${this.#save}>Save arrangement</button>
      </div>
      <p class="soft">Drag a box, or focus it and press the arrow keys; with Shift they change its size. Enter changes a
        heading, text, picture or tab, and Delete removes it. Space chooses boxes, and so does a click with Control; Control
        and C, X and V copy, cut and paste them, also into another dashboard.</p>
      <p class="failure" role="alert" ?hidden=${this.problem === ''}>${this.problem}</p>
      <div class="grid" @pointermove=${this.#move} @pointerup=${this.#drop} @pointercancel=${this.#drop}>
        ${arranger.boxes.map((box) => this.#box(box))}
      </div>
      <p class="sr" role="status">${this.said}</p>`;
  }

  #nameOf({ id, content }: Box): string {
    if (content.kind === 'card') return this.names.get(id) ?? id;
    const kind = kindNames[content.kind];
    return `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${tileName(content)}`;
  }

  #box(box: Box): TemplateResult {
    const { id, content, x, y, w, h } = box;
    const place = `grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    return html`<div class="tile" data-kind=${content.kind} tabindex="0" role="button" aria-pressed=${this.selected.has(id) ? 'true' : 'false'}
      .style=${place} @keydown=${(event: KeyboardEvent) => this.#key(event, box)}
      @focus=${() => this.#choose(id)} @dblclick=${() => void this.#edit()}
      @pointerdown=${(event: PointerEvent) => this.#take(event, box, false)}>
      <span>${this.#nameOf(box)}</span> <small class="soft">${content.kind === 'tab' ? '' : `${w} wide, ${h} high`}</small><span class="sr">, column ${x + 1}, row ${y + 1}</span>
      <i class="size" aria-hidden="true" @pointerdown=${(event: PointerEvent) => this.#take(event, box, true)}></i>
    </div>`;
  }

  #choose(id: string): void {
    this.chosen = id;
  }

  #toggle(id: string): void {
    const others = new Set(this.selected);
    if (!others.delete(id)) others.add(id);
    this.selected = others;
    this.said = others.size === 1 ? 'One is chosen.' : `${others.size} are chosen.`;
  }

  /** What is copied: the selected boxes, or the one that was focused last. */
  get #taken(): ReadonlySet<string> {
    if (this.selected.size > 0 || this.chosen === undefined) return this.selected;
    return new Set(findBox(this.#arranger.boxes, this.chosen) === undefined ? [] : [this.chosen]);
  }

  get #arranged(): Arranged {
    const { cards: layout, tiles } = this.#arranger;
    return { layout, tiles };
  }

  get #isTaken(): IsChosen {
    const parts = this.#arranger.boxes.filter(({ id }) => this.#taken.has(id)).map(({ content }) => content);
    const ids = (name: 'metricId' | 'tileId') => new Set(parts.map((part): unknown => Reflect.get(part, name)));
    const [metrics, tiles] = [ids('metricId'), ids('tileId')];
    return (part) => ('metricId' in part ? metrics.has(part.metricId) : tiles.has(part.tileId));
  }

  /** Whether an event of the clipboard means the boxes: nothing is being typed, no text is selected, no dialog is open. */
  #isMine(event: ClipboardEvent): boolean {
    const isTyping = event.composedPath().some((at) => at instanceof Element && at.matches(typed));
    return !isTyping && document.querySelector('dialog[open]') === null && !event.defaultPrevented;
  }

  #clip(event: ClipboardEvent, isCut: boolean): void {
    const isText = document.getSelection()?.isCollapsed === false;
    if (!this.#isMine(event) || isText || this.#taken.size === 0) return;
    event.preventDefault();
    event.clipboardData?.setData('text/plain', this.textOf(this.#arranged, this.#isTaken));
    this.#copied(isCut);
  }

  #pasted(event: ClipboardEvent): void {
    if (!this.#isMine(event)) return;
    event.preventDefault();
    this.#paste(event.clipboardData?.getData('text/plain') ?? '');
  }

  async #copyByButton(isCut: boolean): Promise<void> {
    this.problem = '';
    try {
      await navigator.clipboard.writeText(this.textOf(this.#arranged, this.#isTaken));
      this.#copied(isCut);
    } catch {
      this.problem = `The browser does not let a button write to the clipboard. Choose a box and press Control and ${isCut ? 'X' : 'C'}.`;
    }
  }

  async #pasteByButton(): Promise<void> {
    this.problem = '';
    try {
      this.#paste(await navigator.clipboard.readText());
    } catch {
      this.problem = 'The browser does not let a button read the clipboard. Press Control and V.';
    }
  }

  #copied(isCut: boolean): void {
    this.problem = '';
    const { size } = this.#taken;
    this.said = `${size === 1 ? 'One is' : `${size} are`} copied.`;
    const detail = { ...this.#arranged, isChosen: this.#isTaken };
    if (isCut) this.dispatchEvent(new CustomEvent<Cut>('cut-parts', { detail }));
  }

  #paste(text: string): void {
    this.problem = '';
    this.dispatchEvent(new CustomEvent<PastedText>('paste-parts', { detail: { ...this.#arranged, text } }));
  }

  get #chosenTile(): (TileContent & { readonly id: string }) | undefined {
    const box = this.chosen === undefined ? undefined : findBox(this.#arranger.boxes, this.chosen);
    return box === undefined || box.content.kind === 'card' ? undefined : { ...box.content, id: box.id };
  }

  #change(run: () => void): void {
    this.problem = '';
    run();
    this.requestUpdate();
  }

  /** Takes the last step back: one that is not saved, else the last change that was saved. */
  readonly undo = (): void => {
    if (this.#arranger.canUndo) this.#change(() => this.#arranger.undo());
    else this.dispatchEvent(new CustomEvent('undo-saved'));
  };

  readonly redo = (): void => {
    if (this.#arranger.canRedo) this.#change(() => this.#arranger.redo());
    else this.dispatchEvent(new CustomEvent('redo-saved'));
  };

  /** Whether the pictures with this one are not too many for one dashboard. */
  #fits(content: TileContent, replaced?: string): boolean {
    const others = this.#arranger.boxes.filter(({ id }) => id !== replaced).map((box) => box.content);
    const length = [...others, content].reduce((sum, one) => sum + (one.kind === 'image' ? one.source.length : 0), 0);
    if (length <= mostPictureLength) return true;
    this.problem = `The pictures of the dashboard are too large together: ${length} characters, of ${mostPictureLength}. Remove one, or choose a smaller one.`;
    return false;
  }

  async #add(kind: TileKind): Promise<void> {
    const content = await askTile(kind);
    if (content === null || !this.#fits(content)) return;
    const id = this.#arranger.add(newId(), content, sizes[kind]);
    this.problem = id === undefined ? 'The dashboard has as many cards and tiles as it may have.' : '';
    this.requestUpdate();
    if (id === undefined) return;
    this.said = `${tileName(content)} is added below all others.`;
    await this.updateComplete;
    this.querySelector<HTMLElement>('.tile:last-of-type')?.focus();
  }

  async #edit(): Promise<void> {
    const tile = this.#chosenTile;
    if (tile === undefined) return;
    const content = await askTile(tile.kind, tile);
    if (content !== null && this.#fits(content, tile.id)) this.#change(() => this.#arranger.edit(tile.id, content));
  }

  #remove(): void {
    const tile = this.#chosenTile;
    if (tile === undefined) return;
    this.#arranger.remove(tile.id);
    this.said = `${tileName(tile)} is removed. Undo brings it back.`;
    this.chosen = undefined;
    this.querySelector<HTMLElement>('.toolbar button')?.focus();
  }

  #key(event: KeyboardEvent, { id }: Box): void {
    if (!['Enter', 'Delete', ' '].includes(event.key) && !isArrow(event.key)) return;
    // Otherwise the dialog that Enter opens would take the same key for its answer.
    event.preventDefault();
    if (event.key === 'Enter') void this.#edit();
    if (event.key === ' ') this.#toggle(id);
    if (event.key === 'Delete') this.#change(() => this.#remove());
    if (!isArrow(event.key)) return;
    const now = this.#arranger.press(id, event.key, event.shiftKey, false);
    if (now !== undefined)
      this.said = `${this.#nameOf(now)}: column ${now.x + 1}, row ${now.y + 1}, ${now.w} wide, ${now.h} high`;
    this.requestUpdate();
  }

  #take(event: PointerEvent, from: Box, isSize: boolean): void {
    event.stopPropagation();
    if (event.button === 0 && (event.ctrlKey || event.metaKey)) {
      this.#toggle(from.id);
      return;
    }
    if (event.button === 0 && !this.selected.has(from.id)) this.selected = new Set();
    if (event.button !== 0 || !this.#arranger.take(from, isSize, { x: event.clientX, y: event.clientY })) return;
    this.querySelector('.grid')?.setPointerCapture(event.pointerId);
  }

  readonly #move = (event: PointerEvent): void => {
    const grid = this.querySelector('.grid');
    if (grid === null) return;
    const scale = { column: grid.clientWidth / columns, row: rowHeight, isMirrored: false };
    if (this.#arranger.moveTo({ x: event.clientX, y: event.clientY }, scale)) this.requestUpdate();
  };

  readonly #drop = (): void => {
    this.#change(() => this.#arranger.drop());
  };

  readonly #save = (): void => {
    this.dispatchEvent(new CustomEvent<Arranged>('arranged', { detail: this.#arranged }));
  };
}

customElements.define('studio-arrange', Arrange);
