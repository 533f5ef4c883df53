/**
 * The period of a date filter: a button that says it, and a panel with the usual periods, a calendar and two fields for
 * typing. Fires `choose` with the period's name, with the days of a range, or with nothing for any time.
 */
import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { FilterValue } from '../../model/filter/filter.js';
import type { Format } from '../base/format.js';
import { downIcon } from '../base/icons.js';
import { exported } from '../base/parts.js';
import { baseStyles } from '../base/theme.js';
import { dayIn, readDay, typedDay } from './days.js';
import { datePresets, datesIn, earliest, inWords, latest, presetIn } from './filter-values.js';
import type { RangeTexts } from './range-input.js';

const dateFilterStyles = css`
  .anchor {
    position: relative;
    display: grid;
    gap: 4px;
  }
  .label {
    font-size: 12px;
    color: var(--gl-muted);
  }
  .anchor > .button {
    justify-content: space-between;
    min-width: 168px;
    font-weight: 400;
  }
  .panel {
    position: absolute;
    z-index: 20;
    top: calc(100% + 6px);
    inset-inline-end: 0;
    display: flex;
    border: 1px solid var(--gl-border);
    border-radius: 10px;
    background: var(--gl-raised);
    box-shadow: 0 12px 32px rgb(0 0 0 / 18%);
  }
  .panel.after {
    inset-inline: 0 auto;
  }
  .presets {
    display: grid;
    align-content: start;
    max-height: 342px;
    padding: 6px;
    overflow-y: auto;
    scrollbar-width: thin;
    border-inline-end: 1px solid var(--gl-border);
  }
  .preset {
    min-height: 32px;
    padding: 0 12px;
    border: 0;
    border-radius: 6px;
    background: none;
    font-size: 13px;
    text-align: start;
    white-space: nowrap;
  }
  .preset:hover {
    background: var(--gl-subtle);
  }
  .preset[aria-pressed='true'] {
    background: var(--gl-accent);
    color: var(--gl-on-accent);
  }
  .range {
    padding: 12px 14px;
  }
  .typed {
    display: flex;
    align-items: center;
    gap: 8px;
    margin-bottom: 8px;
  }
  input {
    flex: 1 1 0;
    width: 0;
    min-width: 15ch;
    min-height: 34px;
    padding: 0 9px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    font-size: 13px;
  }
  input[aria-invalid='true'] {
    border-color: var(--gl-danger);
    border-width: 2px;
  }
  .problem:not(:empty) {
    padding-bottom: 6px;
    color: var(--gl-danger);
    font-size: 12px;
  }
  @media (max-width: 760px) {
    .panel {
      flex-direction: column;
      inset-inline: 0 auto;
      width: 300px;
    }
    .presets {
      grid-template-columns: 1fr 1fr;
      max-height: 150px;
      border-inline-end: 0;
      border-block-end: 1px solid var(--gl-border);
    }
    .preset {
      white-space: normal;
    }
  }
  /* In the sheet of filters of a phone. */
  @media (max-width: 600px) {
    .panel {
      position: static;
      width: auto;
      margin-top: 4px;
      box-shadow: none;
    }
  }
`;

export class DateFilter extends LitElement {
  static override properties = {
    label: { attribute: false },
    format: { attribute: false },
    value: { attribute: false },
    isOpen: { state: true },
    draft: { state: true },
    problem: { state: true },
  };
  declare label: string;
  declare format: Format;
  declare value: FilterValue | undefined;
  declare isOpen: boolean;
  declare draft: RangeTexts;
  declare problem: string | undefined;
  #isAfter = false;

  static override styles = [baseStyles, dateFilterStyles];

  constructor() {
    super();
    this.label = '';
    this.isOpen = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('pointerdown', this.#closeOutside);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('pointerdown', this.#closeOutside);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('value') && !changed.has('format')) return;
    const { language } = this.format;
    const [low, high] = datesIn(this.value).map((day) => (day === '' ? '' : typedDay(day, language)));
    this.draft = { low: low ?? '', high: high ?? '' };
    this.problem = undefined;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('isOpen') || !this.isOpen) return;
    const panel = this.renderRoot.querySelector('.panel');
    panel?.scrollIntoView({ block: 'nearest' });
    const chosen = this.renderRoot.querySelector<HTMLElement>('.preset[aria-pressed="true"]');
    (chosen ?? this.renderRoot.querySelector<HTMLElement>('.preset'))?.focus();
  }

  override render() {
    const { text } = this.format;
    return html`<div class="anchor" @keydown=${this.#keydown} @focusout=${this.#leave}>
      <span class="label" id="label">${this.label}</span>
      <button
        class="button" part="button"
        type="button"
        aria-haspopup="dialog"
        aria-expanded=${this.isOpen ? 'true' : 'false'}
        aria-labelledby="label chosen"
        @click=${() => (this.isOpen ? this.#close(true) : this.#open())}
      >
        <span id="chosen">${inWords(this.value, this.format) || text('Any time')}</span>
        ${downIcon}
      </button>
      ${this.isOpen ? this.#panel() : null}
    </div>`;
  }

  #panel() {
    const [low, high] = datesIn(this.value);
    const { text } = this.format;
    return html`<div class=${this.#isAfter ? 'panel after' : 'panel'} role="dialog" aria-labelledby="label">
      <div class="presets" role="group" aria-label=${text('{name} period', { name: this.label })}>${this.#presets()}</div>
      <div class="range">
        <div class="typed" @change=${this.#typed}>
          ${this.#input('low', text('{name} from', { name: this.label }))}
          <span class="quiet" aria-hidden="true">–</span>
          ${this.#input('high', text('{name} to', { name: this.label }))}
        </div>
        <div class="problem" id="problem" role=${this.problem === undefined ? nothing : 'alert'}>${this.problem}</div>
        <guestlist-calendar exportparts=${exported}
          .format=${this.format}
          .label=${this.label}
          .low=${low}
          .high=${high}
          .today=${dayIn(new Date())}
          @range=${({ detail }: CustomEvent<RangeTexts>) => {
            this.#tell({ startDate: detail.low, endDate: detail.high });
            this.#close(true);
          }}
        ></guestlist-calendar>
      </div>
    </div>`;
  }

  /** The service computes periods in the token's time zone, so their names are sent and not their days. */
  #presets() {
    const { text } = this.format;
    const named = typeof this.value === 'string' ? this.value : undefined;
    const chosen = named === undefined ? undefined : (presetIn(named) ?? named);
    const isOffered = chosen === undefined || datePresets.some((each) => each === chosen);
    const names = isOffered ? datePresets : [chosen, ...datePresets];
    const choice = (label: string, value: string | undefined, isChosen: boolean) => html`<button
      class="preset" part="option"
      type="button"
      aria-pressed=${isChosen ? 'true' : 'false'}
      @click=${() => {
        this.#tell(value);
        this.#close(true);
      }}
    >${label}</button>`;
    return [
      choice(text('Any time'), undefined, this.value === undefined),
      ...names.map((name) => choice(inWords(name, this.format), name, name === chosen)),
    ];
  }

  #input(end: keyof RangeTexts, label: string) {
    const isBad = this.problem !== undefined;
    return html`<input
      part="control"
      id=${end}
      type="text"
      autocomplete="off"
      spellcheck="false"
      placeholder=${typedDay(dayIn(new Date()), this.format.language)}
      aria-label=${label}
      aria-invalid=${isBad ? 'true' : 'false'}
      aria-describedby=${isBad ? 'problem' : nothing}
      .value=${this.draft[end]}
    />`;
  }

  readonly #typed = (): void => {
    const [low, high] = [...this.renderRoot.querySelectorAll('input')].map(({ value }) => value.trim());
    if (low === undefined || high === undefined) return;
    this.draft = { low, high };
    const { text, language } = this.format;
    const today = dayIn(new Date());
    const [from, to] = [low, high].map((typed) => (typed === '' ? '' : readDay(typed, language, today)));
    if (from === undefined || to === undefined) {
      this.problem = text('Enter a date such as {example}', { example: typedDay(today, language) });
      return;
    }
    this.problem = from !== '' && to !== '' && from > to ? text('The start is after the end') : undefined;
    if (this.problem !== undefined) return;
    const isOpenEnded = from === '' && to === '';
    this.#tell(isOpenEnded ? undefined : { startDate: from || earliest, endDate: to || latest });
  };

  #tell(value: FilterValue | undefined): void {
    this.dispatchEvent(new CustomEvent<FilterValue | null>('choose', { detail: value ?? null }));
  }

  #open(): void {
    const { left, right } = this.getBoundingClientRect();
    const isMirrored = this.matches(':dir(rtl)');
    const beside = isMirrored ? innerWidth - left : right;
    // The panel opens to the side that has room for it.
    this.#isAfter = beside < 720;
    this.isOpen = true;
  }

  #close(isFocusBack: boolean): void {
    this.isOpen = false;
    if (isFocusBack) this.renderRoot.querySelector('button')?.focus();
  }

  readonly #closeOutside = (event: Event): void => {
    if (this.isOpen && !event.composedPath().includes(this)) this.#close(false);
  };

  readonly #leave = (event: FocusEvent): void => {
    const isInside = event.relatedTarget instanceof Node && this.renderRoot.contains(event.relatedTarget);
    if (this.isOpen && event.relatedTarget !== null && !isInside) this.#close(false);
  };

  readonly #keydown = (event: KeyboardEvent): void => {
    if (!this.isOpen && event.key === 'ArrowDown') this.#open();
    else if (this.isOpen && event.key === 'Escape') this.#close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}
