/**
 * The filters a guest may set. Holds no state: shows `values` and fires a `filter` event for each change. If the token
 * enforces a value, it is shown beside the control, and the guest chooses within it.
 */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { FilterValue } from '../../domain/filter/filter.js';
import type { GuestFilter, GuestOption } from '../../domain/guest/view.js';
import type { FilterValues } from '../base/client.js';
import type { Format } from '../base/format.js';
import { closeIcon, lockIcon } from '../base/icons.js';
import { baseStyles } from '../base/theme.js';
import { datesIn, earliest, inWords, latest, numberIn, rangeIn, stringsIn, valueFor } from './filter-values.js';

export type FilterChange = { readonly name: string; readonly value: FilterValue | undefined };
export type LoadFilterOptions = (
  filter: string,
  search: string,
  signal: AbortSignal,
) => Promise<readonly GuestOption[]>;

export class FilterBar extends LitElement {
  static override properties = {
    filters: { attribute: false },
    values: { attribute: false },
    format: { attribute: false },
    load: { attribute: false },
  };
  declare filters: readonly GuestFilter[];
  declare values: FilterValues;
  declare format: Format;
  declare load: LoadFilterOptions;

  static override styles = [
    baseStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: end;
        gap: 10px 14px;
      }
      fieldset {
        display: grid;
        gap: 4px;
        margin: 0;
        padding: 0;
        border: 0;
        min-width: 0;
      }
      legend,
      .label {
        padding: 0 0 4px;
        font-size: 12px;
        color: var(--gl-muted);
      }
      .held {
        display: grid;
        gap: 4px;
        min-width: 0;
      }
      .top {
        align-items: start;
      }
      .top > .button {
        margin-top: 21px;
      }
      .label + .fixed {
        min-height: 34px;
      }
      .fixed {
        display: flex;
        align-items: center;
        gap: 5px;
        font-size: 12px;
        overflow-wrap: anywhere;
      }
      .fixed svg {
        flex: none;
        color: var(--gl-muted);
      }
      .pair {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      input,
      select {
        min-height: 34px;
        padding: 0 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        font-size: 13px;
      }
      input[type='number'] {
        width: 9ch;
      }
      @container (max-width: 560px) {
        guestlist-multi-select,
        fieldset,
        .held,
        .pair input {
          flex: 1 1 100%;
          min-width: 0;
        }
        .top > .button {
          margin-top: 0;
        }
        .pair input {
          flex-basis: 0;
          width: 100%;
        }
      }
    `,
  ];

  constructor() {
    super();
    this.filters = [];
    this.values = {};
  }

  override render() {
    if (this.filters.length === 0) return null;
    const isAnyHeld = this.filters.some(({ appliedValue }) => appliedValue !== undefined);
    const isAnySet = Object.keys(this.values).length > 0;
    return html`<div class=${isAnyHeld ? 'bar top' : 'bar'} role="group" aria-label="Filters">
      ${this.filters.map((filter) => this.#filter(filter))}
      ${
        isAnySet
          ? html`<button class="button" type="button" @click=${this.#clear}>${closeIcon} Clear filters</button>`
          : null
      }
    </div>`;
  }

  #filter(filter: GuestFilter): TemplateResult {
    const { name, dataType, appliedValue } = filter;
    if (appliedValue === undefined) return this.#control(filter);
    const fixed = html`<span class="fixed">
      ${lockIcon}<span class="sr">${name}, fixed by this application:</span> ${inWords(appliedValue, this.format)}
    </span>`;
    // If the token fixes yes or no, the guest has nothing left to choose.
    const isAlone = dataType === 'boolean' && valueFor(this.values, name) === undefined;
    return html`<div class="held">
      ${isAlone ? html`<span class="label">${name}</span>` : this.#control(filter)} ${fixed}
    </div>`;
  }

  #control(filter: GuestFilter): TemplateResult {
    const value = valueFor(this.values, filter.name) ?? filter.defaultValue ?? undefined;
    switch (filter.dataType) {
      case 'date':
        return this.#dates(filter, value);
      case 'number':
        return this.#numbers(filter, value);
      case 'boolean':
        return this.#choice(filter, value);
      case 'string':
        return html`<guestlist-multi-select
          .label=${filter.name}
          .values=${stringsIn(value)}
          .load=${(search: string, signal: AbortSignal) => this.load(filter.name, search, signal)}
          @choose=${(event: CustomEvent<readonly string[]>) =>
            this.#tell(filter.name, event.detail.length === 0 ? undefined : event.detail)}
        ></guestlist-multi-select>`;
    }
  }

  #dates({ name }: GuestFilter, value: FilterValue | undefined): TemplateResult {
    const [from, to] = datesIn(value);
    const set = (start: string, end: string) =>
      this.#tell(
        name,
        start === '' && end === '' ? undefined : { startDate: start || earliest, endDate: end || latest },
      );
    const preset = typeof value === 'string' ? html`<span class="quiet">${value}</span>` : null;
    return html`<fieldset>
      <legend>${name}</legend>
      <div class="pair">
        ${this.#input('date', `${name} from`, from, (text) => set(text, to))}
        <span class="quiet" aria-hidden="true">–</span>
        ${this.#input('date', `${name} to`, to, (text) => set(from, text))} ${preset}
      </div>
    </fieldset>`;
  }

  #numbers({ name }: GuestFilter, value: FilterValue | undefined): TemplateResult {
    const { min, max } = rangeIn(value);
    const read = (text: string) => (text === '' ? undefined : numberIn(text));
    const set = (low: typeof min, high: typeof max) =>
      this.#tell(name, low === undefined && high === undefined ? undefined : { min: low, max: high });
    return html`<fieldset>
      <legend>${name}</legend>
      <div class="pair">
        ${this.#input('number', `${name} at least`, String(min ?? ''), (text) => set(read(text), max))}
        <span class="quiet" aria-hidden="true">–</span>
        ${this.#input('number', `${name} at most`, String(max ?? ''), (text) => set(min, read(text)))}
      </div>
    </fieldset>`;
  }

  #input(type: 'date' | 'number', label: string, value: string, set: (text: string) => void): TemplateResult {
    const change = (event: Event) => {
      if (event.target instanceof HTMLInputElement) set(event.target.value);
    };
    return html`<input type=${type} aria-label=${label} .value=${value} @change=${change} />`;
  }

  #choice({ name }: GuestFilter, value: FilterValue | undefined): TemplateResult {
    const change = (event: Event) => {
      if (!(event.target instanceof HTMLSelectElement)) return;
      this.#tell(name, event.target.value === '' ? undefined : event.target.value === 'true');
    };
    return html`<fieldset>
      <legend>${name}</legend>
      <select aria-label=${name} @change=${change}>
        <option value="" ?selected=${value === undefined}>All</option>
        <option value="true" ?selected=${value === true}>Yes</option>
        <option value="false" ?selected=${value === false}>No</option>
      </select>
    </fieldset>`;
  }

  readonly #clear = (): void => {
    for (const name of Object.keys(this.values)) this.#tell(name, undefined);
  };

  #tell(name: string, value: FilterValue | undefined): void {
    this.dispatchEvent(new CustomEvent<FilterChange>('filter', { detail: { name, value } }));
  }
}
