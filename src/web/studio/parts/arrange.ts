/**
 * The cards and tiles of a template, drawn, while an author arranges them. Tiles are made here, and parts are copied, cut
 * and removed. Each change is saved a moment later, by the screen.
 */
import { css, html, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { Tile, TileContent } from '../../../model/dashboard/tile.js';
import { createFormat } from '../../base/format.js';
import { themeStyles } from '../../base/theme.js';
import { ArrangeBoard, typed } from '../../editor/arrange-board.js';
import { Arranger, tileName } from '../../editor/arranger.js';
import { type Box, findBox } from '../../editor/board.js';
import { type Card, mostPictureLength, newId } from '../base/content.js';
import { hasCopied, noteCopied, watchCopied } from '../base/copied.js';
import { DarkState } from '../base/dark-state.js';
import type { Drawn } from '../base/drawn-metrics.js';
import { drawnBox } from './drawn-board.js';
import { askTile, kindNames, type TileKind } from './tile-dialog.js';

/** What the screen saves. `removed`: metrics whose cards were taken away. */
export type Arranged = {
  readonly layout: readonly Card[];
  readonly tiles: readonly Tile[];
  readonly removed: readonly string[];
};

/** What the screen removes, in the arrangement that it is in. */
export type Cut = Arranged & { readonly isChosen: IsChosen };
/** A text of the clipboard, and the arrangement that it is put below. */
export type PastedText = Arranged & { readonly text: string };

/** Which of a dashboard's parts were chosen. */
export type IsChosen = (part: { readonly metricId: string } | { readonly tileId: string }) => boolean;

/** Something that can be done with the chosen boxes. */
export type Tool = {
  readonly text: string;
  readonly canRun: boolean;
  readonly run: () => void;
  readonly title?: string;
};

/** Several keys and drags that follow each other are saved together. */
const pauseMs = 700;
const sizes: Readonly<Record<TileKind, { readonly w: number; readonly h: number }>> = {
  heading: { w: 12, h: 1 },
  text: { w: 6, h: 3 },
  image: { w: 4, h: 3 },
  tab: { w: 12, h: 1 },
};

export class Arrange extends ArrangeBoard {
  static override properties: PropertyDeclarations = {
    ...ArrangeBoard.properties,
    cards: { attribute: false },
    tiles: { attribute: false },
    titles: { attribute: false },
    drawnOf: { attribute: false },
    saved: { attribute: false },
    problem: { state: true },
    selected: { state: true },
    textOf: { attribute: false },
  };
  static override styles = [
    themeStyles,
    ArrangeBoard.styles,
    css`
      .failure {
        margin: 0 0 12px;
        color: var(--gl-danger);
      }
    `,
  ];
  declare cards: readonly Card[];
  declare tiles: readonly Tile[];
  /** The names of metrics by their ids. */
  declare titles: ReadonlyMap<string, string>;
  /** How a metric is drawn. */
  declare drawnOf: (metricId: string) => Drawn | undefined;
  /** What can be taken back and made again after the steps that are not saved. */
  declare saved: { readonly undoable: string | undefined; readonly redoable: string | undefined };
  declare problem: string;
  /** The boxes that are copied, cut and removed together. */
  declare selected: ReadonlySet<string>;
  /** The chosen parts as text for the clipboard. */
  declare textOf: (arranged: Arranged, isChosen: IsChosen) => string;
  #gone = new AbortController();
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** The arrangement that the screen has, or is about to have. */
  #sent = '';
  /** What the screen was told of the steps. */
  #told = '';

  constructor() {
    super();
    new DarkState(this);
    this.format = createFormat('en');
    this.draw = (box) => drawnBox(box, this.drawnOf);
    this.selected = new Set();
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
    watchCopied(() => this.requestUpdate(), signal);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
    if (this.#pause !== undefined) this.#save();
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    this.names = this.titles;
    if (!changed.has('cards') && !changed.has('tiles')) return;
    const given = new Arranger(this.cards, this.tiles);
    const isOwn = asText(given) === this.#sent;
    // What was changed since it was sent stays, and is saved next.
    if (isOwn && asText(this.arranger) !== this.#sent) return;
    this.arranger = given;
    this.#sent = asText(given);
    this.selected = new Set([...this.selected].filter((id) => findBox(given.boxes, id) !== undefined));
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (!this.isHeld && this.isPending) this.#saveSoon();
    const { canUndo, canRedo, isPending, chosen, selected } = this;
    const state = [canUndo, canRedo, isPending, chosen, ...selected, hasCopied()].join();
    if (state !== this.#told) this.dispatchEvent(new CustomEvent('steps'));
    this.#told = state;
  }

  /** Whether something is to be saved in a moment. */
  get isPending(): boolean {
    return asText(this.arranger) !== this.#sent;
  }

  #saveSoon(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#save(), pauseMs);
  }

  #save(): void {
    const detail = this.#arranged();
    if (this.isPending) this.dispatchEvent(new CustomEvent<Arranged>('arranged', { detail: this.#handOver(detail) }));
  }

  /** From here on the arrangement is the screen's. */
  #handOver<Detail>(detail: Detail): Detail {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#sent = asText(this.arranger);
    return detail;
  }

  #arranged(): Arranged {
    const { cards: layout, tiles } = this.arranger;
    const kept = new Set(layout.map(({ metricId }) => metricId));
    const removed = this.cards.map(({ metricId }) => metricId).filter((id) => !kept.has(id));
    return { layout, tiles, removed };
  }

  /** What can be done with the chosen boxes. The screen has the tools in its bar, and is told by `steps` when they change. */
  get tools(): { readonly often: readonly Tool[]; readonly rest: readonly Tool[] } {
    const box = this.chosenBox;
    const isSome = this.#taken.size > 0;
    const tool = (text: string, canRun: boolean, run: () => void): Tool => ({ text, canRun, run });
    const never = 'Nothing was copied in this browser yet. Control and V pastes what is on the clipboard.';
    return {
      often: [
        tool('Change', box !== undefined, () => box && this.opened(box)),
        tool('Remove', isSome, () => box && this.takeAway(box)),
      ],
      rest: [
        tool('Duplicate', isSome, () => this.#duplicate()),
        tool('Copy', isSome, () => void this.#copyByButton(false)),
        tool('Cut', isSome, () => void this.#copyByButton(true)),
        { ...tool('Paste', hasCopied(), () => void this.#pasteByButton()), ...(hasCopied() ? {} : { title: never }) },
      ],
    };
  }

  /** Buttons that move and size the chosen box. */
  get moves(): TemplateResult {
    return this.moveTools();
  }

  protected override render(): TemplateResult {
    return html`<p class="failure" role="alert" ?hidden=${this.problem === ''}>${this.problem}</p>
      ${this.board()}`;
  }

  protected override tileName(content: TileContent): string {
    const kind = kindNames[content.kind];
    return `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${tileName(content)}`;
  }

  protected override isPressed({ id }: Box): 'true' | 'false' {
    return this.selected.has(id) ? 'true' : 'false';
  }

  #toggle(id: string): void {
    const others = new Set(this.selected);
    if (!others.delete(id)) others.add(id);
    this.selected = others;
    this.said = others.size === 1 ? 'One is chosen.' : `${others.size} are chosen.`;
  }

  /** What is copied and removed: the selected boxes, or the one that was focused last. */
  get #taken(): ReadonlySet<string> {
    if (this.selected.size > 0) return this.selected;
    const box = this.chosenBox;
    return new Set(box === undefined ? [] : [box.id]);
  }

  get #isTaken(): IsChosen {
    const parts = this.arranger.boxes.filter(({ id }) => this.#taken.has(id)).map(({ content }) => content);
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
    event.clipboardData?.setData('text/plain', this.textOf(this.#arranged(), this.#isTaken));
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
      await navigator.clipboard.writeText(this.textOf(this.#arranged(), this.#isTaken));
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
    noteCopied();
    this.requestUpdate();
    const { size } = this.#taken;
    this.said = `${size === 1 ? 'One is' : `${size} are`} copied.`;
    if (!isCut) return;
    const detail = { ...this.#arranged(), isChosen: this.#isTaken };
    this.dispatchEvent(new CustomEvent<Cut>('cut-parts', { detail: this.#handOver(detail) }));
  }

  #paste(text: string): void {
    this.problem = '';
    const detail = this.#handOver({ ...this.#arranged(), text });
    this.dispatchEvent(new CustomEvent<PastedText>('paste-parts', { detail }));
  }

  #duplicate(): void {
    if (this.#taken.size > 0) this.#paste(this.textOf(this.#arranged(), this.#isTaken));
  }

  protected override change(run: () => void): void {
    this.problem = '';
    super.change(run);
  }

  override get canUndo(): boolean {
    return super.canUndo || this.saved.undoable !== undefined;
  }

  override get canRedo(): boolean {
    return super.canRedo || this.saved.redoable !== undefined;
  }

  /** Takes the last step back: one that is not saved, else the last change that was saved. */
  override undo(): void {
    if (super.canUndo) super.undo();
    else this.dispatchEvent(new CustomEvent('undo-saved'));
  }

  override redo(): void {
    if (super.canRedo) super.redo();
    else this.dispatchEvent(new CustomEvent('redo-saved'));
  }

  /** Whether the pictures with this one are not too many for one dashboard. */
  #fits(content: TileContent, replaced?: string): boolean {
    const others = this.arranger.boxes.filter(({ id }) => id !== replaced).map((box) => box.content);
    const length = [...others, content].reduce((sum, one) => sum + (one.kind === 'image' ? one.source.length : 0), 0);
    if (length <= mostPictureLength) return true;
    this.problem = `The pictures of the dashboard are too large together: ${length} characters, of ${mostPictureLength}. Remove one, or choose a smaller one.`;
    return false;
  }

  /** Asks for a tile, and puts it below all others. */
  async add(kind: TileKind): Promise<void> {
    const content = await askTile(kind);
    if (content === null || !this.#fits(content)) return;
    const id = this.arranger.add(newId(), content, sizes[kind]);
    this.problem = id === undefined ? 'The dashboard has as many cards and tiles as it may have.' : '';
    this.requestUpdate();
    if (id === undefined) return;
    this.said = `${tileName(content)} is added below all others.`;
    await this.updateComplete;
    this.focusBox(id);
  }

  protected override opened({ id, content }: Box): void {
    if (content.kind === 'card') this.dispatchEvent(new CustomEvent<string>('open-card', { detail: id }));
    else void this.#edit(id, content);
  }

  protected override clicked(box: Box): void {
    if (box.content.kind === 'card' && this.selected.size === 0) this.opened(box);
  }

  async #edit(id: string, tile: TileContent): Promise<void> {
    const content = await askTile(tile.kind, tile);
    if (content !== null && this.#fits(content, id)) this.change(() => this.arranger.edit(id, content));
    await this.updateComplete;
    this.focusBox(id);
  }

  protected override takeAway(box: Box): void {
    const { boxes } = this.arranger;
    const gone = this.selected.size > 0 ? boxes.filter(({ id }) => this.selected.has(id)) : [box];
    const what = gone.length === 1 ? this.nameOf(box) : `${gone.length} parts`;
    this.said = `${what} ${gone.length === 1 ? 'is' : 'are'} removed. Undo brings ${gone.length === 1 ? 'it' : 'them'} back.`;
    this.change(() => this.arranger.removeAll(gone));
    this.selected = new Set();
  }

  protected override pressed(event: KeyboardEvent, box: Box): void {
    const key = event.key.toLowerCase();
    const isCommand = event.ctrlKey || event.metaKey;
    if (key === 'enter') this.opened(box);
    else if (key === ' ') this.#toggle(box.id);
    else if (key === 'd' && isCommand) this.#duplicate();
    else {
      super.pressed(event, box);
      return;
    }
    // Otherwise the dialog that Enter opens would take the same key for its answer.
    event.preventDefault();
  }

  protected override taken(event: PointerEvent, from: Box, isSize: boolean): void {
    if (event.button === 0 && (event.ctrlKey || event.metaKey)) {
      event.stopPropagation();
      this.#toggle(from.id);
      return;
    }
    if (event.button === 0 && !this.selected.has(from.id)) this.selected = new Set();
    super.taken(event, from, isSize);
  }
}

/** Equal for equal arrangements, whatever the order of their parts. */
const asText = ({ cards, tiles }: Pick<Arranger, 'cards' | 'tiles'>): string =>
  JSON.stringify([
    cards.map(({ metricId, x, y, w, h }) => [metricId, x, y, w, h]).toSorted(byFirst),
    tiles.map(({ tileId, ...tile }) => [tileId, ...Object.entries(tile).toSorted(byFirst)]).toSorted(byFirst),
  ]);

const byFirst = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

customElements.define('studio-arrange', Arrange);
