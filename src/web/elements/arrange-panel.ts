/** The cards and tiles of a dashboard while a guest arranges them, and saving the arrangement. */
import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { Tile, TilePlace } from '../../model/dashboard/tile.js';
import { createLatest } from '../base/latest.js';
import { ArrangeBoard } from '../editor/arrange-board.js';
import { Arranger } from '../editor/arranger.js';
import type { Card } from '../editor/board.js';

export type ArrangedCard = Card & { readonly name: string };
export type Arrangement = { readonly layout: readonly Card[]; readonly tiles: readonly TilePlace[] };
/** Saves the arrangement; null restores the original. */
export type SaveArrangement = (arrangement: Arrangement | null, signal: AbortSignal) => Promise<unknown>;

export class ArrangePanel extends ArrangeBoard {
  static override properties: PropertyDeclarations = {
    ...ArrangeBoard.properties,
    cards: { attribute: false },
    tiles: { attribute: false },
    canRestore: { attribute: false },
    save: { attribute: false },
    textOf: { attribute: false },
    problem: { state: true },
    isBusy: { state: true },
  };
  /** Where the cards are at first. Later values change nothing, since the guest has moved them. */
  declare cards: readonly ArrangedCard[];
  declare tiles: readonly Tile[];
  /** Whether the guest has a layout of its own, which can be given up. */
  declare canRestore: boolean;
  declare save: SaveArrangement;
  /** What the reader is told of a failure. The chunk cannot tell the classes of errors. */
  declare textOf: (error: unknown) => string;
  declare problem: string | undefined;
  declare isBusy: boolean;

  readonly #saving = createLatest();

  constructor() {
    super();
    this.isBusy = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#saving.cancel();
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.hasUpdated) return;
    this.arranger = new Arranger(this.cards, this.tiles);
    this.names = new Map(this.cards.map(({ metricId, name }) => [metricId, name]));
  }

  protected override firstUpdated(): void {
    this.renderRoot.querySelector<HTMLElement>('input, .hold')?.focus();
  }

  override render(): TemplateResult {
    return html`${this.#tools()}
      ${this.problem === undefined ? null : html`<p class="problem" role="alert">${this.problem}</p>`}
      ${this.fields()}
      ${this.board()}`;
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
    const button = (label: string, isOn: boolean, run: () => void) =>
      html`<button class="button" part="button" type="button" ?disabled=${!isOn || this.isBusy} @click=${run}>${label}</button>`;
    return html`<div class="tools">
      <p class="hint quiet">${text('Drag a card, or choose it and press the arrow keys. With Shift they change its size.')}</p>
      ${this.historyTools()} ${this.moveTools()}
      ${this.canRestore ? button(text('Restore the original'), true, () => this.#send((signal) => this.save(null, signal))) : null}
      ${button(text('Cancel'), true, () => this.#end())}
      ${button(text('Save'), this.canSave, () => this.#send((signal) => this.saved(signal)))}
    </div>`;
  }

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
