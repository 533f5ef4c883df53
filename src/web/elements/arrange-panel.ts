/** The cards and tiles of a dashboard while a guest arranges them: boxes with their names, at their places. */
import {
  type CSSResultGroup,
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import type { Tile, TileContent, TilePlace } from '../../model/dashboard/tile.js';
import type { Format } from '../base/format.js';
import { redoIcon, undoIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import { baseStyles } from '../base/theme.js';
import { Arranger, columnOf, isArrow, type Scale, tileName } from '../editor/arranger.js';
import type { Box, Card } from '../editor/board.js';

export type ArrangedCard = Card & { readonly name: string };
export type Arrangement = { readonly layout: readonly Card[]; readonly tiles: readonly TilePlace[] };
/** Saves the arrangement; null restores the original. */
export type SaveArrangement = (arrangement: Arrangement | null, signal: AbortSignal) => Promise<unknown>;

const styles = css`
  .tools {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
    margin-bottom: 12px;
  }
  .hint {
    flex: 1 1 220px;
    margin: 0;
    font-size: 13px;
  }
  .problem {
    color: var(--gl-danger);
    font-size: 13px;
  }
  .grid {
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    grid-auto-rows: var(--gl-row-height);
    gap: var(--gl-gap);
    touch-action: none;
  }
  .tile {
    position: relative;
    min-width: 0;
    padding: 10px 14px;
    overflow: hidden;
    border: 1px dashed var(--gl-muted);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
    color: inherit;
    font-size: 13px;
    font-weight: 600;
    text-align: start;
    overflow-wrap: anywhere;
    cursor: grab;
    user-select: none;
  }
  .tile[data-kind='tab'] {
    padding-block: 6px;
    border-style: solid;
    border-inline-start: 4px solid var(--gl-accent);
    background: var(--gl-raised);
  }
  .tile[data-kind='tab'] .size {
    display: none;
  }
  .tile[data-held] {
    border-color: var(--gl-accent);
    background: var(--gl-raised);
    cursor: grabbing;
  }
  .tile small {
    display: block;
    font-weight: 400;
  }
  .size {
    position: absolute;
    inset-block-end: 0;
    inset-inline-end: 0;
    width: 24px;
    height: 24px;
    cursor: nwse-resize;
  }
  .size:dir(rtl) {
    cursor: nesw-resize;
  }
  .size::after {
    content: '';
    position: absolute;
    inset-block-end: 6px;
    inset-inline-end: 6px;
    width: 8px;
    height: 8px;
    border-block-end: 2px solid var(--gl-muted);
    border-inline-end: 2px solid var(--gl-muted);
  }
`;

export class ArrangePanel extends LitElement {
  static override properties: PropertyDeclarations = {
    cards: { attribute: false },
    tiles: { attribute: false },
    format: { attribute: false },
    canRestore: { attribute: false },
    save: { attribute: false },
    textOf: { attribute: false },
    said: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  /** Where the cards are at first. Later values change nothing, since the guest has moved them. */
  declare cards: readonly ArrangedCard[];
  declare tiles: readonly Tile[];
  declare format: Format;
  /** Whether the guest has a layout of its own, which can be given up. */
  declare canRestore: boolean;
  declare save: SaveArrangement;
  /** What the reader is told of a failure. The chunk cannot tell the classes of errors. */
  declare textOf: (error: unknown) => string;
  /** What a reader of the screen hears after a move. */
  declare said: string;
  declare problem: string | undefined;
  declare isBusy: boolean;

  protected arranger = new Arranger([], []);
  protected names: ReadonlyMap<string, string> = new Map();
  #held: string | null = null;
  readonly #saving = createLatest();

  constructor() {
    super();
    this.said = '';
    this.isBusy = false;
  }

  static override styles: CSSResultGroup = [baseStyles, styles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#saving.cancel();
  }

  protected override willUpdate(_: PropertyValues): void {
    if (this.hasUpdated) return;
    this.arranger = new Arranger(this.cards, this.tiles);
    this.names = new Map(this.cards.map(({ metricId, name }) => [metricId, name]));
  }

  protected override firstUpdated(): void {
    this.renderRoot.querySelector<HTMLElement>('input, .tile')?.focus();
  }

  override render(): TemplateResult {
    const { text } = this.format;
    return html`${this.#tools()}
      ${this.problem === undefined ? null : html`<p class="problem" role="alert">${this.problem}</p>`}
      ${this.fields()}
      <div class="grid" role="group" aria-label=${text('Arrange cards')} @pointermove=${this.#moved}
        @pointerup=${this.#dropped} @pointercancel=${this.#dropped}>
        ${this.arranger.boxes.map((box) => this.#box(box))}
      </div>
      <p class="sr" role="status">${this.said}</p>`;
  }

  /** What is asked for besides the arrangement. */
  protected fields(): TemplateResult | typeof nothing {
    return nothing;
  }

  protected get canSave(): boolean {
    return this.arranger.isChanged;
  }

  protected saved(signal: AbortSignal): Promise<unknown> {
    return this.save({ layout: this.arranger.cards, tiles: this.arranger.places }, signal);
  }

  #tools(): TemplateResult {
    const { text } = this.format;
    const arranger = this.arranger;
    const tool = (label: string, icon: TemplateResult, canRun: boolean, run: () => void) =>
      html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
        ?disabled=${!canRun} @click=${() => this.change(run)}>${icon}</button>`;
    const button = (label: string, isOn: boolean, run: () => void) =>
      html`<button class="button" part="button" type="button" ?disabled=${!isOn || this.isBusy} @click=${run}>${label}</button>`;
    return html`<div class="tools">
      <p class="hint quiet">${text('Drag a card, or choose it and press the arrow keys. With Shift they change its size.')}</p>
      ${tool(text('Undo'), undoIcon, arranger.canUndo, () => arranger.undo())}
      ${tool(text('Redo'), redoIcon, arranger.canRedo, () => arranger.redo())}
      ${this.canRestore ? button(text('Restore the original'), true, () => this.#send((signal) => this.save(null, signal))) : null}
      ${button(text('Cancel'), true, () => this.#end())}
      ${button(text('Save'), this.canSave, () => this.#send((signal) => this.saved(signal)))}
    </div>`;
  }

  #box(box: Box): TemplateResult {
    const { id, content, x, y, w, h } = box;
    const place = `grid-row: ${y + 1} / span ${h}; grid-column: ${x + 1} / span ${w}`;
    return html`<div class="tile" data-kind=${content.kind} role="button" tabindex="0" .style=${place} ?data-held=${this.#held === id}
      @keydown=${(event: KeyboardEvent) => this.#pressed(event, id)}
      @pointerdown=${(event: PointerEvent) => this.#taken(event, box, false)}>
      <span aria-hidden="true">${this.#nameOf(box)} ${content.kind === 'tab' ? null : html`<small class="quiet">${w} × ${h}</small>`}</span>
      <span class="sr">${this.#sentence(box)}</span>
      <span class="size" aria-hidden="true" @pointerdown=${(event: PointerEvent) => this.#taken(event, box, true)}></span>
    </div>`;
  }

  #nameOf({ id, content }: Box): string {
    return content.kind === 'card' ? (this.names.get(id) ?? '') : this.tileName(content);
  }

  protected tileName(content: TileContent): string {
    return content.kind === 'tab' ? this.format.text('Tab: {name}', { name: content.text }) : tileName(content);
  }

  #sentence(box: Box): string {
    const { x, y, w, h } = box;
    const place = { name: this.#nameOf(box), x: x + 1, y: y + 1, w, h };
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

  #pressed(event: KeyboardEvent, id: string): void {
    if (!isArrow(event.key)) return;
    event.preventDefault();
    this.#tell(this.arranger.press(id, event.key, event.shiftKey, this.#isMirrored));
  }

  #taken(event: PointerEvent, box: Box, isSize: boolean): void {
    event.stopPropagation();
    if (event.button !== 0 || !this.arranger.take(box, isSize, { x: event.clientX, y: event.clientY })) return;
    this.#held = box.id;
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

  readonly #moved = (event: PointerEvent): void => {
    if (this.arranger.moveTo({ x: event.clientX, y: event.clientY }, this.#scale)) this.requestUpdate();
  };

  readonly #dropped = (): void => {
    this.#held = null;
    this.#tell(this.arranger.drop());
  };

  #send(work: (signal: AbortSignal) => Promise<unknown>): void {
    this.isBusy = true;
    this.problem = undefined;
    void this.#saving.run(
      work,
      () => this.#end(),
      (error) => {
        this.isBusy = false;
        this.problem = this.textOf(error);
      },
    );
  }

  #end(): void {
    this.isBusy = false;
    this.dispatchEvent(new CustomEvent('end'));
  }
}
