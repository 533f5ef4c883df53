/**
 * The guest's own dashboards beside the one that they are made of: a list to choose from, and what the token lets the
 * guest do with the chosen one. It reads arrangements only; the dashboard reads the cards.
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { ListedBoard, OwnBoard } from '../../model/guest/own-board.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import { type GuestError, isRecord } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { createGuestBoard, deleteGuestBoard, getGuestBoard, updateGuestBoard } from '../base/guest-operations.js';
import { closeIcon, editIcon, peopleIcon, plusIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import type { CallOnDashboard } from '../base/operations.js';
import { exported } from '../base/parts.js';
import { baseStyles } from '../base/theme.js';
import type { DrawBox } from '../editor/arrange-board.js';
import type { BoardDraft, ChosenCard } from './board-editor.js';

/** What the dashboard shows in place of its own arrangement. */
export type ShownBoard = Pick<OwnBoard, 'layout' | 'tiles'> & { readonly isEditing: boolean };

const isBoard = (value: unknown): value is OwnBoard => isRecord(value) && 'layout' in value && 'version' in value;
const usualSize = { w: 6, h: 4 };

export class BoardsPanel extends LitElement {
  static override properties = {
    dashboard: { attribute: false },
    format: { attribute: false },
    call: { attribute: false },
    draw: { attribute: false },
    boards: { state: true },
    board: { state: true },
    editing: { state: true },
    isAsked: { state: true },
    isBusy: { state: true },
    problem: { state: true },
  };
  declare dashboard: GuestDashboard;
  declare format: Format;
  declare call: CallOnDashboard;
  declare draw: DrawBox;
  declare boards: readonly ListedBoard[];
  /** The board that is shown; undefined: the dashboard itself. */
  declare board: OwnBoard | undefined;
  declare editing: 'new' | 'board' | undefined;
  /** Whether the deletion is to be confirmed. */
  declare isAsked: boolean;
  declare isBusy: boolean;
  declare problem: string | undefined;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.boards = [];
    this.isAsked = false;
    this.isBusy = false;
  }

  static override styles = [
    baseStyles,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        align-items: center;
        min-width: 0;
        max-width: 100%;
        margin-inline-end: auto;
      }
      :host([editing]) {
        display: block;
        flex: 1 1 100%;
        order: 1;
      }
      select {
        min-width: 0;
        max-width: min(280px, 100%);
        min-height: 34px;
        padding: 0 8px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        color: inherit;
        font-size: 13px;
        text-overflow: ellipsis;
      }
      p {
        flex-basis: 100%;
        margin: 4px 0 0;
        color: var(--gl-danger);
        font-size: 13px;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('dashboard')) this.#read(changed.get('dashboard'));
    this.toggleAttribute('editing', this.editing !== undefined);
  }

  /** A new token may list other boards. What is edited stays until it is saved or given up. */
  #read(before: GuestDashboard | undefined): void {
    const isOther = before !== undefined && before.dashboardId !== this.dashboard.dashboardId;
    this.boards = this.dashboard.boards ?? [];
    const { board } = this;
    if (isOther || (board !== undefined && !this.boards.some(({ id }) => id === board.id))) this.#show(undefined);
    if (isOther || !this.#mayMake) this.editing = undefined;
  }

  get #mayMake(): boolean {
    return this.dashboard.permissions.isEnableCreateDashboard === true;
  }

  get #mayShare(): boolean {
    return this.#mayMake && this.dashboard.permissions.isEnableManageMetrics === true;
  }

  override render(): TemplateResult {
    return this.editing === undefined ? this.#bar() : this.#editor();
  }

  #bar(): TemplateResult {
    const { text } = this.format;
    return html`${this.#select()} ${this.#mayMake ? this.#tool(text('New dashboard'), plusIcon, () => this.#edit('new', undefined)) : nothing}
      ${this.board === undefined ? nothing : this.#tools(this.board)}
      ${this.problem === undefined ? nothing : html`<p role="alert">${this.problem}</p>`}`;
  }

  #select(): TemplateResult | typeof nothing {
    const { text } = this.format;
    if (this.boards.length === 0) return nothing;
    const { permissions, name } = this.dashboard;
    const option = (board: ListedBoard) =>
      html`<option value=${board.id} .selected=${board.id === this.board?.id}>${board.name}</option>`;
    const group = (label: string, boards: readonly ListedBoard[]) =>
      boards.length === 0 ? nothing : html`<optgroup label=${label}>${boards.map(option)}</optgroup>`;
    return html`<select part="input" aria-label=${text('Dashboard')} ?disabled=${this.isBusy} @change=${this.#chosen}>
      <option value="" .selected=${this.board === undefined}>${permissions.isShowDashboardName ? name : text('Dashboard')}</option>
      ${group(
        text('My dashboards'),
        this.boards.filter(({ isOwn }) => isOwn),
      )}
      ${group(
        text('Shared'),
        this.boards.filter(({ isOwn }) => !isOwn),
      )}
    </select>`;
  }

  #tool(label: string, of: TemplateResult, run: () => void, isOn?: boolean): TemplateResult {
    return html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
      aria-pressed=${isOn ?? nothing} ?disabled=${this.isBusy} @click=${run}>${of}</button>`;
  }

  /** A board of another user can only be shared no longer. */
  #tools(board: OwnBoard): TemplateResult | typeof nothing {
    const { text } = this.format;
    const { name, isShared, isOwn } = board;
    if (!this.#mayMake || (isShared && !this.#mayShare)) return nothing;
    const share = this.#tool(
      text('Share {name} with everyone', { name }),
      peopleIcon,
      () => this.#share(board),
      isShared,
    );
    if (!isOwn) return share;
    if (this.isAsked) return this.#confirmation(board);
    return html`${this.#tool(text('Edit {name}', { name }), editIcon, () => this.#open(board.id, () => this.#edit('board', this.board)))}
      ${this.#mayShare ? share : nothing}
      ${this.#tool(text('Delete {name}', { name }), closeIcon, () => this.#ask(true))}`;
  }

  #confirmation(board: OwnBoard): TemplateResult {
    const { text } = this.format;
    return html`<button class="button" part="button" type="button" ?disabled=${this.isBusy}
        @click=${() => this.#delete(board)}>${text('Delete for good')}</button>
      <button class="button" part="button" type="button" @click=${() => this.#ask(false)}>${text('Cancel')}</button>`;
  }

  #editor(): TemplateResult {
    const { text } = this.format;
    const { layout, tiles, name } = (this.editing === 'board' ? this.board : undefined) ?? {
      layout: [],
      tiles: [],
      name: '',
    };
    return html`<guestlist-board-editor exportparts=${exported} role="group"
      aria-label=${name === '' ? text('New dashboard') : text('Edit {name}', { name })}
      .name=${name}
      .cards=${layout}
      .tiles=${tiles}
      .choices=${this.#choices}
      .format=${this.format}
      .draw=${this.draw}
      .keep=${this.#keep}
      .textOf=${this.#textOf}
      @end=${() => this.#edit(undefined, this.board)}
    ></guestlist-board-editor>`;
  }

  get #choices(): readonly ChosenCard[] {
    const { metrics, layout } = this.dashboard;
    return metrics.map(({ metricId, name }) => ({
      metricId,
      name,
      size: layout.find((card) => card.metricId === metricId) ?? usualSize,
    }));
  }

  #edit(editing: 'new' | 'board' | undefined, board: OwnBoard | undefined): void {
    this.editing = editing;
    this.problem = undefined;
    this.#show(board);
    if (editing === undefined) this.#focus('select, button');
  }

  #ask(isAsked: boolean): void {
    this.isAsked = isAsked;
    this.#focus(isAsked ? '.button' : '.icon:last-of-type');
  }

  #focus(selector: string): void {
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(selector)?.focus());
  }

  /** Tells the dashboard what to show. */
  #show(board: OwnBoard | undefined): void {
    this.board = board;
    this.isAsked = false;
    const isEditing = this.editing !== undefined;
    const { layout = [], tiles = [] } = board ?? {};
    const detail = board === undefined && !isEditing ? null : { layout, tiles, isEditing };
    this.dispatchEvent(new CustomEvent<ShownBoard | null>('board', { detail }));
  }

  readonly #chosen = (event: Event): void => {
    const id = event.target instanceof HTMLSelectElement ? event.target.value : '';
    this.problem = undefined;
    if (id === '') this.#show(undefined);
    else this.#open(id);
  };

  #open(id: string, done?: () => void): void {
    this.#run(
      (signal) => this.call(getGuestBoard, { boardId: id }, signal),
      (data) => {
        if (isBoard(data)) this.#show(data);
        done?.();
      },
    );
  }

  readonly #keep = async (draft: BoardDraft, signal: AbortSignal): Promise<void> => {
    const { board } = this;
    const isNew = this.editing === 'new' || board === undefined;
    const data = isNew
      ? await this.call(createGuestBoard, draft, signal)
      : await this.call(updateGuestBoard, { ...draft, boardId: board.id, version: board.version }, signal);
    if (isBoard(data)) this.#take(data);
  };

  /** Puts the changed board into the list. */
  #take(board: OwnBoard): void {
    const isKnown = this.boards.some(({ id }) => id === board.id);
    this.boards = isKnown ? this.boards.map((one) => (one.id === board.id ? board : one)) : [...this.boards, board];
    this.board = board;
  }

  #share({ id, version, isShared, isOwn }: OwnBoard): void {
    this.#run(
      (signal) => this.call(updateGuestBoard, { boardId: id, version, isShared: !isShared }, signal),
      (data) => {
        if (isOwn && isBoard(data)) this.#take(data);
        else this.#forget(id);
      },
    );
  }

  #delete({ id }: OwnBoard): void {
    this.#run(
      (signal) => this.call(deleteGuestBoard, { boardId: id }, signal),
      () => this.#forget(id),
    );
  }

  /** It is deleted, or another user's that is no longer shared. */
  #forget(id: string): void {
    this.boards = this.boards.filter((board) => board.id !== id);
    this.#show(undefined);
    this.#focus('select, button');
  }

  #run(work: (signal: AbortSignal) => Promise<unknown>, done: (data: unknown) => void): void {
    this.isBusy = true;
    this.problem = undefined;
    void this.#latest.run(
      work,
      (data) => {
        this.isBusy = false;
        done(data);
      },
      (error) => {
        this.isBusy = false;
        this.isAsked = false;
        this.problem = this.#textOf(error);
        this.requestUpdate();
      },
    );
  }

  readonly #textOf = (error: unknown): string => {
    const { text } = this.format;
    const code = error instanceof Error ? (error as GuestError).code : undefined;
    if (code === 'BOARD_ALREADY_EXISTS') return text('There is a dashboard of this name already');
    if (code === 'BOARD_CHANGED')
      return text('This dashboard was changed elsewhere meanwhile. Open it again to see the change.');
    return failureText(error, text);
  };
}
