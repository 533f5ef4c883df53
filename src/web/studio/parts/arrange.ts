/** The cards and tiles of a dashboard on 12 columns: moved and sized by pointer and by keyboard; tiles are made here. */
import { html, LitElement, type TemplateResult } from 'lit';
import type { Tile, TileContent } from '../../../domain/dashboard/tile.js';
import { Arranger, isArrow } from '../../editor/arranger.js';
import { type Box, columns, findBox } from '../../editor/board.js';
import { tileName } from '../../editor/tile-name.js';
import type { Card } from '../base/content.js';
import { freeId, mostPictureLength } from '../base/tiles.js';
import { askTile, kindNames, type TileKind } from './tile-dialog.js';

/** What the screen saves. */
export type Arranged = {
  readonly layout: readonly Card[];
  readonly tiles: readonly Tile[];
  /** The tiles that the author began with. */
  readonly before: readonly Tile[];
};

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
    said: { state: true },
    problem: { state: true },
    chosen: { state: true },
  };
  declare cards: readonly Card[];
  declare tiles: readonly Tile[];
  declare names: ReadonlyMap<string, string>;
  /** What a reader of the screen hears after a change. */
  declare said: string;
  declare problem: string;
  /** The box that was focused last. */
  declare chosen: string | undefined;
  #arranger = new Arranger([], []);

  constructor() {
    super();
    this.said = '';
    this.problem = '';
    this.tiles = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (changes.has('cards') || changes.has('tiles')) this.#arranger = new Arranger(this.cards, this.tiles);
  }

  protected override render(): TemplateResult {
    const arranger = this.#arranger;
    const tool = (text: string, canRun: boolean, run: () => void): TemplateResult =>
      html`<button type="button" class="quiet" ?disabled=${!canRun} @click=${() => this.#change(run)}>${text}</button>`;
    const tile = this.#chosenTile;
    return html`<div class="toolbar">
        ${kinds.map((kind) => html`<button type="button" class="quiet" @click=${() => void this.#add(kind)}>Add ${kindNames[kind]}</button>`)}
        <button type="button" class="quiet" ?disabled=${tile === undefined} @click=${() => void this.#edit()}>Change</button>
        ${tool('Remove', tile !== undefined, () => this.#remove())}
        ${tool('Undo', arranger.canUndo, () => arranger.undo())} ${tool('Redo', arranger.canRedo, () => arranger.redo())}
        <span class="gap"></span>
        <button type="button" ?disabled=${!arranger.isChanged} @click=${this.#save}>Save arrangement</button>
      </div>
      <p class="soft">Drag a box, or focus it and press the arrow keys; with Shift they change its size. Enter changes a
        heading, text, picture or tab, and Delete removes it.</p>
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
    return html`<div class="tile" data-kind=${content.kind} tabindex="0" role="button"
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

  get #chosenTile(): (TileContent & { readonly id: string }) | undefined {
    const box = this.chosen === undefined ? undefined : findBox(this.#arranger.boxes, this.chosen);
    return box === undefined || box.content.kind === 'card' ? undefined : { ...box.content, id: box.id };
  }

  #change(run: () => void): void {
    this.problem = '';
    run();
    this.requestUpdate();
  }

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
    const taken = [...this.tiles, ...this.#arranger.tiles].map(({ tileId }) => tileId);
    const id = this.#arranger.add(freeId(kindNames[kind], taken), content, sizes[kind]);
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
    if (event.key !== 'Enter' && event.key !== 'Delete' && !isArrow(event.key)) return;
    // Otherwise the dialog that Enter opens would take the same key for its answer.
    event.preventDefault();
    if (event.key === 'Enter') void this.#edit();
    if (event.key === 'Delete') this.#change(() => this.#remove());
    if (!isArrow(event.key)) return;
    const now = this.#arranger.press(id, event.key, event.shiftKey, false);
    if (now !== undefined)
      this.said = `${this.#nameOf(now)}: column ${now.x + 1}, row ${now.y + 1}, ${now.w} wide, ${now.h} high`;
    this.requestUpdate();
  }

  #take(event: PointerEvent, from: Box, isSize: boolean): void {
    event.stopPropagation();
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
    const { cards: layout, tiles } = this.#arranger;
    this.dispatchEvent(new CustomEvent<Arranged>('arranged', { detail: { layout, tiles, before: this.tiles } }));
  };
}

customElements.define('studio-arrange', Arrange);
