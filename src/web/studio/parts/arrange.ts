/** The cards of a dashboard on 12 columns: moved and sized by pointer and by keyboard. */
import { html, LitElement, type TemplateResult } from 'lit';
import { Arranger, isArrow } from '../../editor/arranger.js';
import { columns, type Tile } from '../../editor/board.js';
import type { Card } from '../base/content.js';

const rowHeight = 56;

export class Arrange extends LitElement {
  static override properties = {
    cards: { attribute: false },
    names: { attribute: false },
    said: { state: true },
  };
  declare cards: readonly Card[];
  declare names: ReadonlyMap<string, string>;
  /** What a reader of the screen hears after a move. */
  declare said: string;
  #arranger = new Arranger([]);

  constructor() {
    super();
    this.said = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changes: Map<string, unknown>): void {
    if (changes.has('cards')) this.#arranger = new Arranger(this.cards);
  }

  protected override render(): TemplateResult {
    const arranger = this.#arranger;
    const tool = (text: string, canRun: boolean, run: () => void): TemplateResult =>
      html`<button type="button" class="quiet" ?disabled=${!canRun} @click=${() => this.#change(run)}>${text}</button>`;
    return html`<div class="toolbar">
        ${tool('Undo', arranger.canUndo, () => arranger.undo())} ${tool('Redo', arranger.canRedo, () => arranger.redo())}
        <span class="soft">Drag a card, or focus it and press the arrow keys; with Shift they change its size.</span>
        <span class="gap"></span>
        <button type="button" ?disabled=${!arranger.isChanged} @click=${this.#save}>Save arrangement</button>
      </div>
      <div class="grid" @pointermove=${this.#move} @pointerup=${this.#drop} @pointercancel=${this.#drop}>
        ${arranger.tiles.map((tile) => this.#tile(tile))}
      </div>
      <p class="sr" role="status">${this.said}</p>`;
  }

  #tile(tile: Tile): TemplateResult {
    const { id, x, y, w, h } = tile;
    const place = `grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    const name = this.names.get(id) ?? id;
    return html`<div class="tile" tabindex="0" role="button"
      .style=${place} @keydown=${(event: KeyboardEvent) => this.#key(event, tile)}
      @pointerdown=${(event: PointerEvent) => this.#take(event, tile, false)}>
      <span>${name}</span> <small class="soft">${w} wide, ${h} high</small><span class="sr">, column ${x + 1}, row ${y + 1}</span>
      <i class="size" aria-hidden="true" @pointerdown=${(event: PointerEvent) => this.#take(event, tile, true)}></i>
    </div>`;
  }

  #change(run: () => void): void {
    run();
    this.requestUpdate();
  }

  #key(event: KeyboardEvent, { id }: Tile): void {
    if (!isArrow(event.key)) return;
    event.preventDefault();
    const now = this.#arranger.press(id, event.key, event.shiftKey, false);
    if (now !== undefined)
      this.said = `${this.names.get(id) ?? ''}: column ${now.x + 1}, row ${now.y + 1}, ${now.w} wide, ${now.h} high`;
    this.requestUpdate();
  }

  #take(event: PointerEvent, from: Tile, isSize: boolean): void {
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
    const detail = this.#arranger.cards;
    this.dispatchEvent(new CustomEvent<readonly Card[]>('arranged', { detail }));
  };
}

customElements.define('studio-arrange', Arrange);
