/**
 * A choice of values with search. `load` returns only the options that this guest may see. Of a long list, only the rows
 * near the visible ones are in the page.
 */
import { css, html, type PropertyValues } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { GuestOption } from '../../model/guest/view.js';
import type { OptionList } from '../base/client.js';
import type { Format } from '../base/format.js';
import { checkIcon } from '../base/icons.js';
import { createLatest, pause } from '../base/latest.js';
import { baseStyles } from '../base/theme.js';
import { PanelControl, panelControlStyles } from './panel-control.js';

const multiSelectStyles = css`
  .panel {
    inset-inline-start: 0;
    width: max(100%, 240px);
    max-width: min(340px, 90vw);
    padding: 6px;
  }
  input {
    width: 100%;
    min-height: 34px;
    margin-bottom: 6px;
    padding: 0 10px;
    border: 1px solid var(--gl-border);
    border-radius: 7px;
    background: var(--gl-surface);
  }
  input:focus-visible {
    outline-offset: -1px;
  }
  [role='listbox'] {
    max-height: 272px;
    overflow-y: auto;
    overflow-anchor: none;
    scrollbar-width: thin;
  }
  .option {
    display: flex;
    align-items: center;
    gap: 9px;
    height: 34px;
    padding: 0 8px;
    border-radius: 6px;
    cursor: pointer;
  }
  .option .quiet {
    flex: none;
    margin-inline-start: auto;
    font-size: 12px;
  }
  .option span:nth-child(2) {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .option.active,
  .option:hover {
    background: var(--gl-subtle);
  }
  .box {
    display: grid;
    flex: none;
    place-items: center;
    width: 16px;
    height: 16px;
    border: 1.5px solid var(--gl-muted);
    border-radius: 4px;
  }
  [aria-selected='true'] .box {
    border-color: var(--gl-accent);
    background: var(--gl-accent);
    color: var(--gl-on-accent);
  }
  .single .box {
    border-radius: 50%;
  }
  .box svg {
    width: 12px;
    height: 12px;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    padding: 6px 2px 0;
    font-size: 13px;
  }
  .note:not(:empty) {
    padding: 6px 8px;
    color: var(--gl-muted);
    font-size: 13px;
  }
`;

/** Height of a row of the list in pixels, as in the style. */
const rowHeight = 34;

/** How many rows are in the page, and how many of them are above the visible ones. */
const [rowsInPage, rowsAbove] = [40, 14];

/** A filter takes at most this many values. */
const mostValues = 10_000;

/** How long the guest must stop typing before a search is sent. */
const typingPauseInMs = 150;

export type LoadOptions = (search: string, signal: AbortSignal) => Promise<OptionList>;

export class MultiSelect extends PanelControl {
  static override properties = {
    format: { attribute: false },
    values: { attribute: false },
    isSingle: { attribute: false },
    load: { attribute: false },
    labels: { attribute: false },
    first: { state: true },
    options: { state: true },
    problem: { state: true },
    search: { state: true },
    active: { state: true },
  };
  declare format: Format;
  declare values: readonly string[];
  /** Whether at most one value can be chosen. */
  declare isSingle: boolean;
  declare load: LoadOptions;
  /** Labels that another read has found. */
  declare labels: ReadonlyMap<string, string> | undefined;
  /** Index of the first row in the page. */
  declare first: number;
  declare options: readonly GuestOption[] | undefined;
  declare problem: string | undefined;
  declare search: string;
  declare active: number;

  readonly #latest = createLatest();
  /** Labels loaded so far, so that chosen values keep their label when the list shows other options. */
  readonly #labels = new Map<string, string>();

  /** The values that were chosen when the list opened. */
  #before: readonly string[] = [];

  /** Chosen values that do not occur under the other filters. */
  #stale: ReadonlySet<string> = new Set();

  /** Options that the search found, and whether it found more than these. */
  #found: OptionList = { options: [], hasMore: false };

  constructor() {
    super();
    this.values = [];
    this.isSingle = false;
    this.first = 0;
    this.search = '';
    this.active = 0;
  }

  static override styles = [baseStyles, panelControlStyles, multiSelectStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('isOpen') && this.isOpen) this.renderRoot.querySelector('input')?.focus();
    if (changed.has('options') && this.isOpen) this.panelInSight();
    this.#makeRoom(changed.has('active') || changed.has('options'));
  }

  /** Gives the list the height of all its rows, and shows the active one if it has moved. */
  #makeRoom(hasMoved: boolean): void {
    const list = this.renderRoot.querySelector<HTMLElement>('#list');
    if (list === null) return;
    const below = (this.options?.length ?? 0) - this.first - rowsInPage;
    const [above, under] = [...list.querySelectorAll<HTMLElement>('.space')];
    if (above !== undefined) above.style.height = `${this.first * rowHeight}px`;
    if (under !== undefined) under.style.height = `${Math.max(0, below) * rowHeight}px`;
    if (!hasMoved) return;
    const top = this.active * rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  }

  readonly #scrolled = (event: Event): void => {
    if (!(event.target instanceof HTMLElement)) return;
    this.first = Math.max(0, Math.floor(event.target.scrollTop / rowHeight) - rowsAbove);
  };

  override render() {
    const quiet = this.values.length === 0 ? 'quiet' : '';
    const chosen = this.#chosenText();
    return this.control(html`<span id="chosen" class="text ${quiet}" title=${chosen}>${chosen}</span>`, 'listbox');
  }

  protected override panel() {
    const rows = (this.options ?? []).slice(this.first, this.first + rowsInPage);
    const isActiveInPage = this.active >= this.first && this.active < this.first + rows.length;
    return html`<div class="panel">
      <input
        type="search"
        role="combobox"
        placeholder=${this.format.text('Search')}
        autocomplete="off"
        aria-label=${this.format.text('Search {name}', { name: this.label })}
        aria-expanded="true"
        aria-controls="list"
        aria-autocomplete="list"
        aria-activedescendant=${isActiveInPage ? `option-${this.active}` : ''}
        .value=${this.search}
        @input=${this.#typed}
      />
      <div
        id="list"
        role="listbox"
        class=${this.isSingle ? 'single' : ''}
        aria-multiselectable=${this.isSingle ? 'false' : 'true'}
        aria-label=${this.label}
        @scroll=${this.#scrolled}
      >
        <div class="space" role="presentation"></div>
        ${repeat(
          rows,
          ({ value }) => String(value),
          (option, index) => this.#option(option, this.first + index),
        )}
        <div class="space" role="presentation"></div>
      </div>
      <div class="note" role="status">${this.#note()}</div>
      ${this.#actions()}
    </div>`;
  }

  #actions() {
    const { text } = this.format;
    const retry = html`<button class="button" part="button" type="button" @click=${() => this.#again()}>${text('Try again')}</button>`;
    const all = html`<button class="button" part="button" type="button" @click=${() => this.#chooseAll()}>
      ${text('Select all {n}', { n: this.#found.options.length })}
    </button>`;
    const clear = html`<span class="quiet">${text('{n} chosen', { n: this.values.length })}</span>
      <button class="button" part="button" type="button" @click=${() => this.#clear()}>${text('Clear')}</button>`;
    const isAll = this.#canChooseAll();
    if (this.problem === undefined && this.values.length === 0 && !isAll) return null;
    return html`<div class="actions">
      ${this.problem === undefined ? null : retry} ${isAll ? all : null} ${this.values.length === 0 ? null : clear}
    </div>`;
  }

  /** The chosen values, and all that the search found. */
  #withAll(): readonly string[] {
    return [...new Set([...this.values, ...this.#found.options.map(({ value }) => String(value))])];
  }

  /** Not if the search found more than is listed: nobody can choose what is not there. */
  #canChooseAll(): boolean {
    const { options, hasMore } = this.#found;
    if (this.isSingle || this.options === undefined || hasMore || options.length < 2) return false;
    const all = this.#withAll();
    return all.length > this.values.length && all.length <= mostValues;
  }

  #chooseAll(): void {
    this.renderRoot.querySelector('input')?.focus();
    this.dispatchEvent(new CustomEvent<readonly string[]>('choose', { detail: this.#withAll() }));
  }

  #option({ label, value }: GuestOption, index: number) {
    const isChosen = this.values.includes(String(value));
    return html`<div
      id=${`option-${index}`}
      role="option"
      part="option"
      class=${index === this.active ? 'option active' : 'option'}
      aria-selected=${isChosen ? 'true' : 'false'}
      aria-setsize=${this.#found.hasMore ? -1 : (this.options?.length ?? 0)}
      aria-posinset=${index + 1}
      title=${label}
      @pointerdown=${(event: Event) => event.preventDefault()}
      @click=${() => this.#toggle(String(value))}
    >
      <span class="box">${isChosen ? checkIcon : null}</span><span>${label}</span>
      ${this.#stale.has(String(value)) ? html`<span class="quiet">${this.format.text('no rows')}</span>` : null}
    </div>`;
  }

  #note(): string {
    if (this.problem !== undefined) return this.problem;
    const { text } = this.format;
    if (this.options === undefined) return text('Loading…');
    const { options, hasMore } = this.#found;
    if (hasMore) return text('More than {n} found. Search to find others.', { n: options.length });
    return this.options.length === 0 ? text('Nothing found') : '';
  }

  #labelOf(value: string): string {
    return this.#labels.get(value) ?? this.labels?.get(value) ?? this.format.dimension(value, 'string');
  }

  #chosenText(): string {
    const [first, second, ...rest] = this.values.map((value) => this.#labelOf(value));
    if (first === undefined) return this.format.text('All');
    if (second === undefined) return first;
    return rest.length === 0 ? `${first}, ${second}` : `${first} +${this.format.count(rest.length + 1)}`;
  }

  protected override opening(): void {
    this.#before = this.values;
    // What was found by a search is no list of all. The order is that of the answer to come: nothing moves under the pointer.
    this.options = this.search === '' && this.options !== undefined ? this.#chosenFirst(this.options) : undefined;
    this.search = '';
    this.#fetch();
  }

  protected override close(isFocusBack: boolean): void {
    this.#latest.cancel();
    super.close(isFocusBack);
  }

  readonly #typed = (event: Event): void => {
    if (event.target instanceof HTMLInputElement) this.search = event.target.value;
    this.#fetch(typingPauseInMs);
  };

  /** Reads the list for the text of the search after a pause. A later call supersedes the read and its pause. */
  #fetch(pauseInMs = 0): void {
    this.active = 0;
    this.first = 0;
    this.problem = undefined;
    const { search } = this;
    this.#latest.run(
      async (signal) => {
        if (pauseInMs > 0) await pause(pauseInMs, signal);
        return this.load(search, signal);
      },
      (found) => {
        const { format } = this;
        // An empty text, and a text that reads like one, have names as in the charts.
        const options = found.options.map(({ label, value }) => ({
          value,
          label: label === String(value) ? format.dimension(value, 'string') : label,
        }));
        for (const { label, value } of options) this.#labels.set(String(value), label);
        this.#found = { ...found, options };
        this.options = this.#chosenFirst(options);
      },
      () => {
        this.#found = { options: [], hasMore: false };
        this.options = [];
        this.problem = this.format.text('The list can’t be loaded');
      },
    );
  }

  /**
   * Puts the values first that were chosen when the list opened. Without a search, also lists those that the answer lacks,
   * so that each can be taken back.
   */
  #chosenFirst(options: readonly GuestOption[]): readonly GuestOption[] {
    const answered = new Set(options.map(({ value }) => String(value)));
    const missing = this.search === '' ? this.#before.filter((value) => !answered.has(value)) : [];
    this.#stale = new Set(this.#found.hasMore ? [] : missing);
    const isChosen = ({ value }: GuestOption) => this.#before.includes(String(value));
    return [
      ...missing.map((value) => ({ label: this.#labelOf(value), value })),
      ...options.filter(isChosen),
      ...options.filter((option) => !isChosen(option)),
    ];
  }

  #again(): void {
    this.options = undefined;
    this.renderRoot.querySelector('input')?.focus();
    this.#fetch();
  }

  #clear(): void {
    this.renderRoot.querySelector('input')?.focus();
    this.dispatchEvent(new CustomEvent<readonly string[]>('choose', { detail: [] }));
  }

  #toggle(value: string): void {
    const isChosen = this.values.includes(value);
    const others = this.isSingle ? [] : this.values.filter((each) => each !== value);
    const values = isChosen ? others : [...others, value];
    this.dispatchEvent(new CustomEvent<readonly string[]>('choose', { detail: values }));
    if (this.isSingle) this.close(true);
  }

  protected override pressedKey(event: KeyboardEvent): boolean {
    const last = (this.options?.length ?? 0) - 1;
    const moves: Record<string, number> = {
      ArrowDown: Math.min(last, this.active + 1),
      ArrowUp: Math.max(0, this.active - 1),
      PageDown: Math.min(last, this.active + 8),
      PageUp: Math.max(0, this.active - 8),
    };
    const move = moves[event.key];
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) this.#toggleActive();
    else if (move !== undefined && last >= 0) this.active = move;
    else return false;
    return true;
  }

  #toggleActive(): void {
    const option = this.options?.[this.active];
    if (option !== undefined) this.#toggle(String(option.value));
  }
}
