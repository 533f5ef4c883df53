/**
 * One or two months, in which a guest chooses the first and the last day of a range, by pointer or by keyboard. Fires
 * `range` when both are chosen. The keys are those of the ARIA pattern for a grid of dates.
 */
import { css, html, LitElement, type PropertyValues } from 'lit';
import type { Format } from '../base/format.js';
import { nextIcon, previousIcon } from '../base/icons.js';
import { baseStyles } from '../base/theme.js';
import { addDays, addMonths, firstWeekday, monthOf, placeInWeek, weeksOf } from './days.js';
import type { RangeTexts } from './range-input.js';

const calendarStyles = css`
  .months {
    display: flex;
    gap: 20px;
  }
  .head {
    display: flex;
    align-items: center;
    justify-content: space-between;
    min-height: 30px;
  }
  h4 {
    margin: 0;
    font-size: 13px;
    font-weight: 600;
  }
  :host(:dir(rtl)) .icon svg {
    transform: scaleX(-1);
  }
  table {
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }
  th {
    width: 34px;
    height: 28px;
    font-weight: 500;
    font-size: 11px;
    color: var(--gl-muted);
  }
  td {
    padding: 1px 0;
  }
  .day {
    display: block;
    width: 34px;
    height: 32px;
    padding: 0;
    border: 0;
    border-radius: 7px;
    background: none;
    font: inherit;
    font-size: 13px;
    color: inherit;
  }
  .day:hover {
    background: var(--gl-subtle);
  }
  .day.today {
    box-shadow: inset 0 0 0 1px var(--gl-border);
  }
  .day.inside {
    border-radius: 0;
    background: var(--gl-subtle);
  }
  .day.end {
    background: var(--gl-accent);
    color: var(--gl-on-accent);
    font-weight: 600;
  }
  .hint {
    min-height: 18px;
    margin: 4px 0 0;
    font-size: 12px;
  }
`;

type Move = (day: string, first: number) => string;

const moves: Readonly<Record<string, Move>> = {
  ArrowUp: (day) => addDays(day, -7),
  ArrowDown: (day) => addDays(day, 7),
  Home: (day, first) => addDays(day, -placeInWeek(day, first)),
  End: (day, first) => addDays(day, 6 - placeInWeek(day, first)),
  PageUp: (day) => addMonths(day, -1),
  PageDown: (day) => addMonths(day, 1),
};

export class Calendar extends LitElement {
  static override properties = {
    format: { attribute: false },
    low: { attribute: false },
    high: { attribute: false },
    today: { attribute: false },
    label: { attribute: false },
    month: { state: true },
    active: { state: true },
    start: { state: true },
  };
  declare format: Format;
  declare label: string;
  /** The chosen days; empty for an open end. */
  declare low: string;
  declare high: string;
  declare today: string;
  /** First day of the first month that is shown. */
  declare month: string;
  /** The day that the keyboard moves. */
  declare active: string;
  /** The first day of a range whose last one is still to be chosen. */
  declare start: string | undefined;
  #isFocusMoved = false;

  static override styles = [baseStyles, calendarStyles];

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('low') && !changed.has('high')) return;
    this.start = undefined;
    this.active = this.high || this.low || this.today;
    // The months before the last chosen day tell more than those after it.
    const month = monthOf(this.low || addMonths(this.active, -1));
    this.month = month === monthOf(this.active) ? addMonths(month, -1) : month;
    if (!this.#isShown(this.active)) this.month = addMonths(monthOf(this.active), -1);
  }

  protected override updated(): void {
    if (!this.#isFocusMoved) return;
    this.#isFocusMoved = false;
    this.renderRoot.querySelector<HTMLElement>(`[data-day="${this.active}"]`)?.focus();
  }

  get #shown(): readonly string[] {
    return matchMedia('(max-width: 760px)').matches
      ? [addMonths(this.month, 1)]
      : [this.month, addMonths(this.month, 1)];
  }

  #isShown(day: string): boolean {
    return this.#shown.includes(monthOf(day));
  }

  override render() {
    const { text } = this.format;
    const hint = this.start === undefined ? '' : text('Choose the last day');
    return html`<div class="months">${this.#shown.map((month, at) => this.#month(month, at))}</div>
      <p class="hint quiet" role="status">${hint}</p>`;
  }

  #month(month: string, at: number) {
    const { text } = this.format;
    const first = firstWeekday(this.format.language);
    const title = this.format.dimension(month, 'date', 'month');
    const isLast = at === this.#shown.length - 1;
    const turn = (count: number) => () => {
      this.month = addMonths(this.month, count);
      if (!this.#isShown(this.active)) this.active = this.#shown[0] ?? this.active;
    };
    const names = Array.from({ length: 7 }, (_, place) => ((first + place - 1) % 7) + 1);
    return html`<div>
      <div class="head">
        ${at === 0 ? html`<button class="icon" part="icon-button" type="button" aria-label=${text('Previous month')} @click=${turn(-1)}>${previousIcon}</button>` : html`<span></span>`}
        <h4 aria-live="polite">${title}</h4>
        ${isLast ? html`<button class="icon" part="icon-button" type="button" aria-label=${text('Next month')} @click=${turn(1)}>${nextIcon}</button>` : html`<span></span>`}
      </div>
      <table role="grid" aria-label=${`${this.label}, ${title}`} @keydown=${this.#keydown}>
        <thead>
          <tr>${names.map((day) => this.#weekday(day))}</tr>
        </thead>
        <tbody>
          ${weeksOf(month, first).map((week) => html`<tr>${week.map((day) => html`<td role="gridcell" aria-selected=${day !== undefined && (this.#isEnd(day) || this.#isInside(day)) ? 'true' : 'false'}>${day === undefined ? null : this.#day(day)}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`;
  }

  #weekday(day: number) {
    const whole = this.format.dimension(day, 'number', 'dayOfWeek');
    // Any Monday.
    const short = new Intl.DateTimeFormat(this.format.language, { weekday: 'short', timeZone: 'UTC' });
    return html`<th scope="col" abbr=${whole}>${short.format(Date.UTC(2001, 0, day))}</th>`;
  }

  #isEnd(day: string): boolean {
    return this.start === undefined ? day === this.low || day === this.high : day === this.start;
  }

  #isInside(day: string): boolean {
    if (this.start !== undefined || this.low === '' || this.high === '') return false;
    return day > this.low && day < this.high;
  }

  #day(day: string) {
    const look = [
      'day',
      ...(this.#isInside(day) ? ['inside'] : []),
      ...(this.#isEnd(day) ? ['end'] : []),
      ...(day === this.today ? ['today'] : []),
    ].join(' ');
    return html`<button
      class=${look} part="day"
      type="button"
      data-day=${day}
      tabindex=${day === this.active ? 0 : -1}
      aria-label=${this.format.dimension(day, 'date', undefined, { style: 'full' })}
      aria-current=${day === this.today ? 'date' : 'false'}
      @click=${() => this.#choose(day)}
    >${this.format.count(Number(day.slice(8)))}</button>`;
  }

  #choose(day: string): void {
    this.active = day;
    if (this.start === undefined) {
      this.start = day;
      return;
    }
    const [low, high] = [this.start, day].toSorted();
    this.start = undefined;
    this.dispatchEvent(new CustomEvent<RangeTexts>('range', { detail: { low: low ?? day, high: high ?? day } }));
  }

  readonly #keydown = (event: KeyboardEvent): void => {
    const isMirrored = this.matches(':dir(rtl)');
    const sideways: Readonly<Record<string, number>> = {
      ArrowLeft: isMirrored ? 1 : -1,
      ArrowRight: isMirrored ? -1 : 1,
    };
    const aside = sideways[event.key];
    const move = event.shiftKey && event.key.startsWith('Page') ? undefined : moves[event.key];
    const years = event.shiftKey
      ? ({ PageUp: -12, PageDown: 12 } as Readonly<Record<string, number>>)[event.key]
      : undefined;
    const first = firstWeekday(this.format.language);
    const next =
      aside !== undefined
        ? addDays(this.active, aside)
        : years !== undefined
          ? addMonths(this.active, years)
          : move?.(this.active, first);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.active = next;
    this.#isFocusMoved = true;
    if (this.#isShown(next)) return;
    const isBefore = monthOf(next) < (this.#shown[0] ?? '');
    // On a narrow page only the second of the two months is shown.
    const isNarrow = this.#shown.length === 1;
    this.month = isBefore && !isNarrow ? monthOf(next) : addMonths(monthOf(next), -1);
  };
}
