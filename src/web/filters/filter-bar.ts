/**
 * The filters a guest may set. Holds no state: shows `values` and fires a `filter` event for each change. A filter
 * whose value the token enforces and shows is locked: its value has no control.
 */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { FilterValue } from '../../model/filter/filter.js';
import type { ListedView } from '../../model/guest/saved-view.js';
import type { GuestFilter } from '../../model/guest/view.js';
import type { FilterValues, OptionList } from '../base/client.js';
import type { Format } from '../base/format.js';
import { closeIcon, lockIcon } from '../base/icons.js';
import type { CallOnDashboard } from '../base/operations.js';
import { type Choice, options } from '../base/options.js';
import { exported } from '../base/parts.js';
import { baseStyles } from '../base/theme.js';
import { type FilterLabels, inWords, numberIn, rangeIn, stringsIn, valueFor } from './filter-values.js';
import type { RangeTexts } from './range-input.js';

export type FilterChange = { readonly name: string; readonly value: FilterValue | undefined };
export type LoadFilterOptions = (filter: string, search: string, signal: AbortSignal) => Promise<OptionList>;

/** Whether the page is as narrow as a phone. */
const phone = '(max-width: 600px)';

/** The name of a filter as its reader reads it. */
const titleOf = ({ name, label }: GuestFilter): string => label ?? name;

export class FilterBar extends LitElement {
  static override properties = {
    unfit: { attribute: false },
    isPhone: { state: true },
    filters: { attribute: false },
    values: { attribute: false },
    format: { attribute: false },
    load: { attribute: false },
    labels: { attribute: false },
    callViews: { attribute: false },
    canShareViews: { attribute: false },
    openedView: { attribute: false },
  };
  declare filters: readonly GuestFilter[];
  declare values: FilterValues;
  declare format: Format;
  declare load: LoadFilterOptions;
  declare labels: FilterLabels;
  /** Undefined: this guest saves no views. */
  declare callViews: CallOnDashboard | undefined;
  declare canShareViews: boolean;
  declare openedView: ListedView | null;
  /** Filters whose value in the URL was left out. */
  declare unfit: readonly string[];
  declare isPhone: boolean;

  readonly #phone = matchMedia(phone);

  static override styles = [
    baseStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: start;
        gap: 10px 14px;
      }
      fieldset {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
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
      .bar > .button,
      guestlist-views {
        margin-top: 21px;
      }
      .locked {
        display: grid;
        min-width: 0;
      }
      .fixed {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0 8px;
        min-height: 34px;
        padding: 4px 10px;
        border: 1px dashed var(--gl-border);
        border-radius: 8px;
        background: var(--gl-subtle);
        overflow-wrap: anywhere;
      }
      .fixed svg {
        flex: none;
        color: var(--gl-muted);
      }
      .fixed .quiet {
        font-size: 12px;
      }
      select {
        min-height: 34px;
        padding: 0 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        font-size: 13px;
      }
      /* Keeps its place, so that no control moves when a filter is set, and the focus when it clears them. */
      .button[aria-disabled='true'] {
        cursor: default;
        opacity: 0.5;
      }
      /* As wide with a number of filters as without. */
      .opens {
        justify-content: center;
        min-width: 100px;
      }
      .note {
        max-width: 60ch;
        font-size: 12px;
      }
      .note:not(:empty) {
        padding-top: 4px;
      }
      dialog {
        width: 100%;
        max-width: none;
        min-height: min(70vh, 480px);
        max-height: 90vh;
        margin: auto 0 0;
        padding: 12px 16px 24px;
        border: 0;
        border-radius: 16px 16px 0 0;
        background: var(--gl-raised);
        color: var(--gl-text);
      }
      dialog::backdrop {
        background: rgb(10 16 28 / 48%);
      }
      .top {
        display: flex;
        align-items: center;
        justify-content: space-between;
        margin-bottom: 12px;
      }
      h2 {
        margin: 0;
        font-size: 16px;
      }
      @container (max-width: 560px) {
        guestlist-multi-select,
        fieldset,
        guestlist-dates,
        .locked {
          flex: 1 1 100%;
          min-width: 0;
        }
        .bar > .button,
        guestlist-views {
          margin-top: 0;
        }
      }
    `,
  ];

  constructor() {
    super();
    this.filters = [];
    this.values = {};
    this.labels = new Map();
    this.unfit = [];
    this.canShareViews = false;
    this.openedView = null;
    this.isPhone = this.#phone.matches;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#phone.addEventListener('change', this.#resized);
    this.#resized();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#phone.removeEventListener('change', this.#resized);
  }

  readonly #resized = (): void => {
    this.isPhone = this.#phone.matches;
  };

  override render() {
    if (this.filters.length === 0) return null;
    const isAnySet = this.filters.some(
      ({ name, appliedValue }) => appliedValue === undefined && valueFor(this.values, name) !== undefined,
    );
    const bar = html`<div class="bar" part="filters" role="group" aria-label=${this.format.text('Filters')}>
      ${this.filters.map((filter) => this.#filter(filter))}
      <button class="button" part="button" type="button" aria-disabled=${isAnySet ? 'false' : 'true'} @click=${this.#clear}>
        ${closeIcon} ${this.format.text('Clear filters')}
      </button>
      ${this.#views()}
    </div>`;
    const list = new Intl.ListFormat(this.format.language).format(this.unfit);
    const note =
      this.unfit.length === 0
        ? ''
        : this.format.text('The page’s address has values that do not fit, and they were left out: {list}', { list });
    return html`${this.isPhone ? this.#sheet(bar) : bar}<div class="note" role="status">${note}</div>`;
  }

  #views(): TemplateResult | null {
    if (this.callViews === undefined) return null;
    return html`<guestlist-views exportparts=${exported}
      .values=${this.values}
      .format=${this.format}
      .call=${this.callViews}
      .canShare=${this.canShareViews}
      .opened=${this.openedView}
      @view=${({ detail }: CustomEvent<ListedView>) => this.dispatchEvent(new CustomEvent('view', { detail }))}
    ></guestlist-views>`;
  }

  /** On a phone, one button opens the filters in a dialog. */
  #sheet(bar: TemplateResult): TemplateResult {
    const { text } = this.format;
    const n = this.filters.filter(
      ({ name, appliedValue }) => appliedValue !== undefined || valueFor(this.values, name) !== undefined,
    ).length;
    const dialog = () => this.renderRoot.querySelector('dialog');
    return html`<button class="button opens" part="button" type="button" aria-haspopup="dialog" @click=${() => dialog()?.showModal()}>
        ${n === 0 ? text('Filters') : text('Filters ({n})', { n })}
      </button>
      <dialog part="dialog" aria-labelledby="title">
        <div class="top">
          <h2 id="title">${text('Filters')}</h2>
          <button class="button" part="button" type="button" @click=${() => dialog()?.close()}>${text('Done')}</button>
        </div>
        ${bar}
      </dialog>`;
  }

  #filter(filter: GuestFilter): TemplateResult {
    const { appliedValue } = filter;
    if (appliedValue === undefined) return this.#control(filter);
    return html`<div class="locked" part="filter locked" role="group" aria-label=${titleOf(filter)}>
      <span class="label">${titleOf(filter)}</span>
      <span class="fixed">
        ${lockIcon} <span>${inWords(appliedValue, this.format, this.labels.get(filter.name))}</span>
        <span class="quiet">${this.format.text('Set by your access')}</span>
      </span>
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
        return html`<guestlist-multi-select part="filter" exportparts=${exported}
          .label=${titleOf(filter)}
          .format=${this.format}
          .values=${stringsIn(value)}
          .labels=${this.labels.get(filter.name)}
          .isSingle=${filter.isSingleChoice === true}
          .load=${(search: string, signal: AbortSignal) => this.load(filter.name, search, signal)}
          @choose=${(event: CustomEvent<readonly string[]>) =>
            this.#tell(filter.name, event.detail.length === 0 ? undefined : event.detail)}
        ></guestlist-multi-select>`;
    }
  }

  #dates(filter: GuestFilter, value: FilterValue | undefined): TemplateResult {
    return html`<guestlist-dates part="filter" exportparts=${exported}
      .label=${titleOf(filter)}
      .format=${this.format}
      .value=${value}
      @choose=${({ detail }: CustomEvent<FilterValue | null>) => this.#tell(filter.name, detail ?? undefined)}
    ></guestlist-dates>`;
  }

  #numbers(filter: GuestFilter, value: FilterValue | undefined): TemplateResult {
    const { name } = filter;
    const title = titleOf(filter);
    const { min, max } = rangeIn(value);
    const read = (text: string) => (text === '' ? undefined : numberIn(text));
    const set = ({ low, high }: RangeTexts) =>
      this.#tell(name, low === '' && high === '' ? undefined : { min: read(low), max: read(high) });
    return html`<fieldset part="filter">
      <legend>${title}</legend>
      <guestlist-range exportparts=${exported}
        .label=${title}
        .format=${this.format}
        .low=${String(min ?? '')}
        .high=${String(max ?? '')}
        @range=${(event: CustomEvent<RangeTexts>) => set(event.detail)}
      ></guestlist-range>
    </fieldset>`;
  }

  #choice(filter: GuestFilter, value: FilterValue | undefined): TemplateResult {
    const { name } = filter;
    const title = titleOf(filter);
    const change = (event: Event) => {
      if (!(event.target instanceof HTMLSelectElement)) return;
      this.#tell(name, event.target.value === '' ? undefined : event.target.value === 'true');
    };
    const { text, yesOrNo } = this.format;
    const choices: readonly Choice[] = [
      ['', text('All')],
      ['true', yesOrNo(true)],
      ['false', yesOrNo(false)],
    ];
    return html`<fieldset part="filter">
      <legend>${title}</legend>
      <select part="control" aria-label=${title} @change=${change}>
        ${options(choices, String(value ?? ''))}
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
