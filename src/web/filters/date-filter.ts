/**
 * The period of a date filter: a button that says it, and a panel with the usual periods, a calendar and two fields for
 * typing. Fires `choose` with the period's name, with the days of a range, or with nothing for any time.
 */
import { css, html, nothing, type PropertyValues } from 'lit';
import type { FilterValue } from '../../model/filter/filter.js';
import type { Format } from '../base/format.js';
import { exported } from '../base/parts.js';
import { baseStyles } from '../base/theme.js';
import { dayIn, readDay, typedDay } from './days.js';
import { datePresets, datesIn, earliest, inWords, latest, presetIn } from './filter-values.js';
import { PanelControl, panelControlStyles } from './panel-control.js';
import type { RangeTexts } from './range-input.js';

const dateFilterStyles = css`
  :host {
    width: 240px;
  }
  .panel {
    inset-inline-end: 0;
    display: flex;
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

export class DateFilter extends PanelControl {
  static override properties = {
    format: { attribute: false },
    value: { attribute: false },
    draft: { state: true },
    problem: { state: true },
  };
  declare format: Format;
  declare value: FilterValue | undefined;
  declare draft: RangeTexts;
  declare problem: string | undefined;
  #isAfter = false;

  static override styles = [baseStyles, panelControlStyles, dateFilterStyles];

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('value') && !changed.has('format')) return;
    const { language } = this.format;
    const [low, high] = datesIn(this.value).map((day) => (day === '' ? '' : typedDay(day, language)));
    this.draft = { low: low ?? '', high: high ?? '' };
    this.problem = undefined;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('isOpen') || !this.isOpen) return;
    this.panelInSight();
    const chosen = this.renderRoot.querySelector<HTMLElement>('.preset[aria-pressed="true"]');
    (chosen ?? this.renderRoot.querySelector<HTMLElement>('.preset'))?.focus();
  }

  override render() {
    const chosen = inWords(this.value, this.format) || this.format.text('Any time');
    return this.control(html`<span id="chosen" class="text" title=${chosen}>${chosen}</span>`, 'dialog');
  }

  protected override panel() {
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
            this.close(true);
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
        this.close(true);
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

  protected override opening(): void {
    const { left, right } = this.getBoundingClientRect();
    const beside = this.matches(':dir(rtl)') ? innerWidth - left : right;
    // The panel opens to the side that has room for it.
    this.#isAfter = beside < 720;
  }
}
