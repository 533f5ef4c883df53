/** An own dashboard while its guest edits it: its name, which cards it has, its headings, texts and tabs, and their places. */
import { css, html, type PropertyValues, type TemplateResult } from 'lit';
import type { BoardTile } from '../../model/guest/own-board.js';
import { closeIcon, editIcon } from '../base/icons.js';
import type { Box, Card, Place } from '../editor/board.js';
import { ArrangePanel } from './arrange-panel.js';

export type BoardDraft = {
  readonly name: string;
  readonly layout: readonly Card[];
  readonly tiles: readonly BoardTile[];
};
export type KeepBoard = (draft: BoardDraft, signal: AbortSignal) => Promise<unknown>;
/** A metric of the dashboard, which may be a card. `size`: that of its card on the dashboard. */
export type ChosenCard = { readonly metricId: string; readonly name: string; readonly size: Pick<Place, 'w' | 'h'> };

type Kind = BoardTile['kind'];
type Written = { readonly kind: Kind; readonly text: string };
/** A tile that is written: `id` is its box, undefined for a new one. */
type Writing = Written & { readonly id: string | undefined };

const sizes: Readonly<Record<Kind, Pick<Place, 'w' | 'h'>>> = {
  heading: { w: 12, h: 1 },
  text: { w: 6, h: 2 },
  tab: { w: 12, h: 1 },
};
/** As many as the service takes. */
const mostTiles = 50;
const greatestLength: Readonly<Record<Kind, number>> = { heading: 200, text: 4000, tab: 200 };

const editorStyles = css`
  .columns {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(280px, 100%), 1fr));
    gap: 12px;
    margin-bottom: 14px;
    font-size: 13px;
  }
  fieldset {
    min-width: 0;
    margin: 0;
    padding: 8px 14px 12px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-surface);
  }
  legend {
    padding: 0 4px;
    font-weight: 600;
  }
  ul {
    max-height: 220px;
    margin: 0;
    padding: 0;
    overflow: auto;
    list-style: none;
  }
  li,
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    align-items: center;
  }
  li {
    min-height: 32px;
  }
  li label,
  li span {
    flex: 1;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  input[type='checkbox'] {
    margin-inline-end: 8px;
  }
  .name,
  form {
    display: grid;
    gap: 6px;
    margin-bottom: 12px;
    font-size: 13px;
  }
  form {
    margin: 8px 0 0;
  }
  .name input,
  form input,
  textarea {
    width: 100%;
    min-height: 34px;
    padding: 6px 9px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    color: inherit;
    font: inherit;
  }
  .name input {
    max-width: 440px;
  }
`;

export class BoardEditor extends ArrangePanel {
  static override properties = {
    ...ArrangePanel.properties,
    name: { attribute: false },
    choices: { attribute: false },
    keep: { attribute: false },
    writing: { state: true },
  };
  /** The name at first. */
  declare name: string;
  /** The metrics that may be cards. */
  declare choices: readonly ChosenCard[];
  declare keep: KeepBoard;
  declare writing: Writing | undefined;

  #name = '';

  static override styles = [ArrangePanel.styles, editorStyles];

  protected override willUpdate(changed: PropertyValues): void {
    if (!this.hasUpdated) this.#name = this.name;
    super.willUpdate(changed);
    this.names = new Map(this.choices.map(({ metricId, name }) => [metricId, name]));
  }

  /** A new one has a name before it can be saved; without changes there is nothing to save. */
  protected override get canSave(): boolean {
    const name = this.#name.trim();
    return name !== '' && (name !== this.name || this.arranger.isChanged);
  }

  protected override saved(signal: AbortSignal): Promise<unknown> {
    const tiles = this.arranger.tiles.filter((tile): tile is BoardTile => tile.kind !== 'image');
    return this.keep({ name: this.#name.trim(), layout: this.arranger.cards, tiles }, signal);
  }

  protected override fields(): TemplateResult {
    const { text } = this.format;
    return html`<label class="name">${text('Name')}
        <input required maxlength="120" autocomplete="off" .value=${this.#name} @input=${this.#named} />
      </label>
      <div class="columns">
        <fieldset><legend>${text('Cards')}</legend>
          <ul>${this.choices.map((choice) => this.#choice(choice))}</ul>
        </fieldset>
        <fieldset><legend>${text('Headings, texts and tabs')}</legend>${this.#tiles()}</fieldset>
      </div>`;
  }

  protected override takeAway(box: Box): void {
    this.said = this.format.text('{name} is removed. Undo brings it back.', { name: this.nameOf(box) });
    this.change(() => this.arranger.removeAll([box]));
  }

  protected override opened({ id, content }: Box): void {
    if (content.kind !== 'card' && content.kind !== 'image')
      this.#write({ id, kind: content.kind, text: content.text });
  }

  #choice({ metricId, name, size }: ChosenCard): TemplateResult {
    const isOn = this.arranger.cards.some((card) => card.metricId === metricId);
    const toggle = (): void =>
      this.change(() => {
        if (isOn) this.arranger.removeAll([{ id: metricId }]);
        else this.arranger.addCard(metricId, size);
      });
    return html`<li><label><input type="checkbox" .checked=${isOn} @change=${toggle} />${name}</label></li>`;
  }

  #tiles(): TemplateResult {
    const { text } = this.format;
    const { boxes } = this.arranger;
    const written = boxes.filter(({ content }) => content.kind !== 'card');
    const add = (kind: Kind, label: string) =>
      html`<button class="button add" part="button" type="button" ?disabled=${written.length >= mostTiles}
        @click=${() => this.#write({ id: undefined, kind, text: '' })}>${label}</button>`;
    return html`<ul>${written.map((box) => this.#tile(box))}</ul>
      ${
        this.writing === undefined
          ? html`<div class="actions">${add('heading', text('Add a heading'))} ${add('text', text('Add a text'))}
              ${add('tab', text('Add a tab'))}</div>`
          : this.#form(this.writing)
      }`;
  }

  #tile(box: Box): TemplateResult {
    const { text } = this.format;
    const name = this.nameOf(box);
    return html`<li><span>${name}</span>
      <button class="icon" part="icon-button" type="button" aria-label=${text('Edit {name}', { name })} title=${text('Edit {name}', { name })}
        @click=${() => this.opened(box)}>${editIcon}</button>
      <button class="icon" part="icon-button" type="button" aria-label=${text('Remove {name}', { name })} title=${text('Remove {name}', { name })}
        @click=${() => this.takeAway(box)}>${closeIcon}</button>
    </li>`;
  }

  #labelOf(kind: Kind): string {
    const { text } = this.format;
    if (kind === 'text') return text('Text: lists (- ), **bold**, *italics* and [links](https://…)');
    return kind === 'tab' ? text('Title of the tab: it holds what stands below it') : text('Heading');
  }

  #form({ kind, text: value }: Writing): TemplateResult {
    const { text } = this.format;
    const most = greatestLength[kind];
    const field =
      kind === 'text'
        ? html`<textarea name="text" rows="4" required maxlength=${most} .value=${value}></textarea>`
        : html`<input name="text" required maxlength=${most} autocomplete="off" .value=${value} />`;
    return html`<form @submit=${this.#written}>
      <label>${this.#labelOf(kind)}${field}</label>
      <div class="actions">
        <button class="button" part="button">${text('Apply')}</button>
        <button class="button" part="button" type="button" @click=${() => this.#write(undefined)}>${text('Cancel')}</button>
      </div>
    </form>`;
  }

  #write(writing: Writing | undefined): void {
    this.writing = writing;
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(writing === undefined ? '.add' : '[name="text"]')?.focus(),
    );
  }

  readonly #written = (event: SubmitEvent): void => {
    event.preventDefault();
    const { writing } = this;
    const form = event.target;
    if (writing === undefined || !(form instanceof HTMLFormElement)) return;
    const written: Written = { kind: writing.kind, text: String(new FormData(form).get('text') ?? '').trim() };
    if (written.text === '') return;
    this.change(() => {
      if (writing.id === undefined) this.arranger.add(this.#freeId(), written, sizes[written.kind]);
      else this.arranger.edit(writing.id, written);
    });
    this.#write(undefined);
  };

  #freeId(): string {
    const taken = new Set([...this.tiles, ...this.arranger.tiles].map(({ tileId }) => tileId));
    let number = taken.size + 1;
    while (taken.has(`tile-${number}`)) number += 1;
    return `tile-${number}`;
  }

  readonly #named = (event: InputEvent): void => {
    this.#name = event.target instanceof HTMLInputElement ? event.target.value : '';
    this.requestUpdate();
  };
}
