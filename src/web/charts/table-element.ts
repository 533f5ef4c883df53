/** A table or pivot table. Of many rows, only those in view are part of the page, except on paper. */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { GuestChart } from '../../model/guest/view.js';
import type { MetricAnswer } from '../../model/query/engine.js';
import type { Format } from '../base/format.js';
import { baseStyles } from '../base/theme.js';
import { type Pivot, pivotOf } from './pivot.js';
import { pivotStyles, pivotView } from './pivot-view.js';
import { type Markable, type RowWindow, type TableView, tableStyles, tableView } from './table-view.js';

export type PivotContent = {
  readonly answer: MetricAnswer;
  readonly chart: GuestChart;
  readonly format: Format;
  readonly name: string;
  /** Says how many of the rows are shown, if not all. */
  readonly missing: string | null;
} & Markable;

/** The answer has the rows from `offset` on, counted from 0; a whole page has `size` rows. */
export type Pages = { readonly offset: number; readonly size: number; readonly turnTo: (offset: number) => void };

export type TableContent =
  | { readonly kind: 'table'; readonly table: TableView; readonly pages: Pages | undefined }
  | { readonly kind: 'pivot'; readonly pivot: PivotContent };

/** Says which rows are shown, and turns to others. */
const pager = (
  { answer: { rows, totalRecords: total }, format: { text } }: TableView,
  { offset, size, turnTo }: Pages,
) => {
  const last = offset + rows.length;
  const span = text('{first}–{last} of {total}', { first: offset + 1, last, total });
  return html`<div class="pager">
    <span class="quiet" role="status">${span}</span>
    <button class="button" part="button" type="button" ?disabled=${offset === 0} @click=${() => turnTo(offset - size)}>${text('Previous')}</button>
    <button class="button" part="button" type="button" ?disabled=${last >= total} @click=${() => turnTo(last)}>${text('Next')}</button>
  </div>`;
};

/** Tables of at most so many rows are drawn whole. */
const mostWhole = 200;
/** Rows drawn above and below those in view. */
const margin = 10;

export class TableElement extends LitElement {
  static override properties = {
    content: { attribute: false },
    isPrinted: { type: Boolean, reflect: true, attribute: 'printed' },
    drawn: { state: true },
  };
  declare content: TableContent | undefined;
  declare isPrinted: boolean;
  declare drawn: RowWindow;

  /** The pivot table of the content. Scrolling does not lay it out again. */
  #laidOut: Pivot | undefined;
  readonly #resized = new ResizeObserver(() => this.#look());

  constructor() {
    super();
    this.isPrinted = false;
    this.drawn = { first: 0, last: 4 * margin, rowHeight: 34 };
  }

  static override styles = [
    baseStyles,
    tableStyles,
    pivotStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .scroll {
        flex: 1;
        min-height: 0;
      }
      .more {
        margin: 8px 0 0;
        font-size: 12px;
      }
      .pager {
        display: flex;
        flex: none;
        flex-wrap: wrap;
        align-items: center;
        gap: 6px 10px;
        margin-top: 8px;
        font-size: 12px;
      }
      .pager .quiet {
        flex: 1;
      }
      .pager .button {
        min-height: 26px;
        padding: 0 8px;
        font-size: 12px;
      }
      :host([printed]) .pager .button {
        display: none;
      }
      /* On paper a table has all of its rows, and its head on each page. */
      :host([printed]),
      :host([printed]) .scroll {
        display: block;
        height: auto;
        overflow: visible;
      }
      :host([printed]) :is(thead, tr) {
        break-inside: avoid;
      }
      :host([printed]) :is(th, td) {
        position: static;
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resized.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resized.disconnect();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const pivot = this.content?.kind === 'pivot' ? this.content.pivot : undefined;
    if (changed.has('content')) this.#laidOut = pivot && pivotOf(pivot.answer, pivot.chart, pivot.format);
  }

  override render(): TemplateResult | null {
    const { content } = this;
    if (content === undefined) return null;
    if (content.kind === 'pivot') return this.#laidOut === undefined ? null : this.#pivot(this.#laidOut, content.pivot);
    const { table, pages } = content;
    return html`${tableView({ ...table, onScroll: this.#look, offset: pages?.offset }, this.#isWhole ? undefined : this.drawn)}
    ${pages === undefined ? null : pager(table, pages)}`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const before = changed.get('content');
    const offsetOf = (content: TableContent | undefined) =>
      (content?.kind === 'table' ? content.pages?.offset : 0) ?? 0;
    if (before !== undefined && offsetOf(before) !== offsetOf(this.content)) {
      this.renderRoot.querySelector('.scroll')?.scrollTo({ top: 0 });
    }
    this.#look();
  }

  get #isWhole(): boolean {
    const { content } = this;
    const rows = content?.kind === 'table' ? content.table.answer.rows : (this.#laidOut?.rows ?? []);
    return this.isPrinted || rows.length <= mostWhole;
  }

  #pivot(pivot: Pivot, { format, name, missing, onMark, chosen }: PivotContent): TemplateResult {
    const notes = [...(missing === null ? [] : [missing]), ...pivot.notes];
    const label = [format.text('{name}, pivot table', { name }), ...notes].join(', ');
    return html`${pivotView(pivot, { label, onScroll: this.#look, onMark, chosen }, this.#isWhole ? undefined : this.drawn)}
    ${notes.length === 0 ? null : html`<p class="more quiet">${notes.join('. ')}</p>`}`;
  }

  /** Finds the rows in view, in steps, so that not each pixel of scrolling draws the table again. */
  readonly #look = (): void => {
    const scroll = this.renderRoot.querySelector('.scroll');
    if (this.#isWhole || scroll === null) return;
    const measured = scroll.querySelector('tr[aria-rowindex]')?.getBoundingClientRect().height ?? 0;
    const rowHeight = measured > 0 ? measured : this.drawn.rowHeight;
    const top = Math.floor(scroll.scrollTop / rowHeight / margin) * margin;
    const seen = Math.ceil(scroll.clientHeight / rowHeight) + margin;
    const next = { first: Math.max(0, top - margin), last: top + seen + margin, rowHeight };
    const { first, last } = this.drawn;
    if (next.first !== first || next.last !== last || Math.abs(rowHeight - this.drawn.rowHeight) > 0.5) {
      this.drawn = next;
    }
  };
}
