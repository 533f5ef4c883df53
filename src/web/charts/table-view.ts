/** Rows as an HTML table, for table charts, underlying rows, and as an alternative to every chart. */
import { css, html, nothing, svg, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { CellRule, Tone } from '../../model/dashboard/chart.js';
import type { Sort, TimeGrain } from '../../model/dashboard/metric.js';
import type { CrossFilter, GuestChart } from '../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import { type Format, numberOf, titleOf } from '../base/format.js';
import { isOthers } from '../base/others.js';
import { isChosen } from './model/chosen.js';
import { datesOf, measureText, valueLabel } from './model/columns.js';

export const tableStyles = css`
  .scroll {
    height: 100%;
    overflow: auto;
    border-radius: 6px;
  }
  table {
    width: 100%;
    border-collapse: separate;
    border-spacing: 0;
    font-size: 13px;
  }
  th {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--gl-surface);
    color: var(--gl-muted);
    font-weight: 500;
    white-space: nowrap;
  }
  th,
  td {
    padding: 7px 10px;
    border-bottom: 1px solid var(--gl-grid);
    text-align: start;
    vertical-align: top;
  }
  td {
    overflow-wrap: break-word;
    min-width: 5ch;
    max-width: 48ch;
  }
  td.date {
    white-space: nowrap;
  }
  /* Rows of the same height, so that the place of each is known before it is drawn. */
  .windowed td {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .gap td {
    padding: 0;
    border: 0;
  }
  /* Gives the columns their width and takes no height. */
  .widest tr {
    visibility: collapse;
  }
  th.number,
  td.number {
    text-align: end;
    white-space: nowrap;
  }
  tr.faded {
    opacity: 0.45;
  }
  tbody tr:hover td {
    background: var(--gl-subtle);
  }
  th button,
  td button {
    padding: 0;
    border: 0;
    background: none;
    color: inherit;
    font: inherit;
    text-align: inherit;
  }
  th button:hover,
  tbody button {
    color: var(--gl-accent);
  }
  td button[aria-pressed='true'],
  th button[aria-pressed='true'] {
    font-weight: 650;
  }
  tbody button:hover {
    text-decoration: underline;
  }
  .arrow {
    display: inline-block;
    width: 1.2em;
    text-align: center;
  }
  .tone {
    font-weight: 600;
  }
  .tone path {
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.8;
    stroke-linecap: round;
  }
  .tone.good {
    color: var(--gl-good);
  }
  .tone.warning {
    color: var(--gl-warning);
  }
  .tone.bad {
    color: var(--gl-bad);
  }
  .barred {
    display: block;
    position: relative;
    min-width: 72px;
  }
  .barred svg {
    position: absolute;
    inset: -3px -4px;
    width: calc(100% + 8px);
    height: calc(100% + 6px);
  }
  .barred rect {
    fill: var(--gl-series-1);
    opacity: 0.2;
  }
  .barred > span {
    position: relative;
  }
  th.number button {
    display: inline-flex;
    flex-direction: row-reverse;
  }
`;

type TableChart = Pick<
  GuestChart,
  'format' | 'unit' | 'currency' | 'notation' | 'decimals' | 'numbers' | 'dates' | 'rules' | 'bars'
>;

/** What a guest can do with values of the first column. */
export type Markable = {
  /** Called with the value that the guest chose. */
  readonly onMark?: ((value: Cell) => void) | undefined;
  /** The value that filters the other charts: the rows of others fade. */
  readonly chosen?: CrossFilter | undefined;
};

/** Whether another value is chosen. */
export const isOutside = (value: Cell, chosen: CrossFilter | undefined): boolean =>
  chosen !== undefined && !isChosen(value, chosen);

/** A value that can be chosen: plain text where nothing can be done with it. */
export const markButton = (text: string, value: Cell, { onMark, chosen }: Markable): TemplateResult | string =>
  onMark === undefined || isOthers(value)
    ? text
    : html`<button type="button" aria-pressed=${chosen === undefined ? nothing : isChosen(value, chosen) ? 'true' : 'false'} @click=${() => onMark(value)}>${text}</button>`;

export type TableView = {
  readonly answer: MetricAnswer;
  readonly columns: readonly AnswerColumn[];
  /** Names of the columns that use the chart's number format. */
  readonly measures: readonly string[];
  /** How numbers are written, and the rules and bars of cells. */
  readonly chart: TableChart;
  readonly format: Format;
  /** The grain of a column, by its name. */
  readonly grainOf?: ((name: string) => TimeGrain | undefined) | undefined;
  /** The table's accessible name. */
  readonly label: string;
  readonly sort?: Sort | null;
  readonly onSort?: (name: string) => void;
  readonly onScroll?: () => void;
  /** Rows before the first of the answer, if the answer is one of several pages. */
  readonly offset?: number | undefined;
} & Markable;

/** The rows of a long table that are part of the page: from `first` up to, and without, `last`. */
export type RowWindow = { readonly first: number; readonly last: number; readonly rowHeight: number };

type Row = MetricAnswer['rows'][number];

/** What all rows of a table share. */
type Cells = TableView & { readonly extents: ReadonlyMap<string, Extent> };

/** The table with all rows, or with those of a window. */
export const tableView = (view: TableView, window?: RowWindow): TemplateResult => {
  const cells = { ...view, extents: extentsOf(view) };
  const { rows } = view.answer;
  return html`
  <div class=${window === undefined ? 'scroll' : 'scroll windowed'} tabindex="0" role="region" aria-label=${view.label} @scroll=${view.onScroll}>
    <table part="table" aria-rowcount=${window === undefined && view.offset === undefined ? nothing : countOf(view) + 1}>
      <thead>
        <tr>
          ${view.columns.map((column) => headCell(view, column))}
        </tr>
      </thead>
      ${window === undefined ? html`<tbody>${rows.map((row, at) => bodyRow(cells, row, view.offset === undefined ? undefined : at))}</tbody>` : windowed(cells, window)}
    </table>
  </div>
`;
};

const countOf = ({ answer, offset }: TableView): number =>
  offset === undefined ? answer.rows.length : answer.totalRecords;

const bodyRow = (cells: Cells, row: Row, at?: number): TemplateResult =>
  html`<tr class=${isOutside(row[cells.columns[0]?.name ?? ''] ?? null, cells.chosen) ? 'faded' : nothing} aria-rowindex=${at === undefined ? nothing : (cells.offset ?? 0) + at + 2}>
    ${cells.columns.map((column, index) => bodyCell(cells, column, row, index))}
  </tr>`;

/** Gaps stand for the rows that are not drawn. A row keeps its element while it is drawn, and so the focus in it. */
const windowed = (cells: Cells, { first, last, rowHeight }: RowWindow): TemplateResult => {
  const { rows } = cells.answer;
  const start = Math.min(first, Math.max(0, rows.length - (last - first)));
  const drawn = rows.slice(start, last).map((row, index) => ({ row, at: start + index }));
  const gap = (count: number) =>
    count === 0
      ? null
      : html`<tbody class="gap" aria-hidden="true"><tr><td colspan=${cells.columns.length} height=${Math.round(count * rowHeight)}></td></tr></tbody>`;
  const byPlace = ({ at }: (typeof drawn)[number]) => at;
  return html`${gap(start)}
    <tbody>${repeat(drawn, byPlace, ({ row, at }) => bodyRow(cells, row, at))}</tbody>
    ${gap(Math.max(0, rows.length - last))}
    <tbody class="widest" aria-hidden="true">${widestOf(cells).map((row) => bodyRow({ ...cells, onMark: undefined }, row))}</tbody>`;
};

const widest = new WeakMap<MetricAnswer, readonly Row[]>();

/** Two rows, of the longest values and of the largest numbers: with them, columns keep their width while rows change. */
const widestOf = ({ answer, columns }: Cells): readonly Row[] => {
  const known = widest.get(answer);
  if (known !== undefined) return known;
  const longest: Record<string, Cell> = {};
  const largest: Record<string, Cell> = {};
  for (const column of columns) {
    const { name } = column;
    const lengthOf = (value: Cell = '') => (valueLabel(value, column) ?? String(value)).length;
    for (const row of answer.rows) {
      const value = row[name] ?? null;
      if (lengthOf(value) > lengthOf(longest[name])) longest[name] = value;
      if (Math.abs(numberOf(value) ?? 0) > Math.abs(numberOf(largest[name]) ?? 0)) largest[name] = value;
    }
  }
  const found = [longest, largest];
  widest.set(answer, found);
  return found;
};

/** The ends of a column's bars. Zero is one of them, or lies between them. */
type Extent = { readonly least: number; readonly most: number };

const extentsOf = ({ answer, chart }: TableView): ReadonlyMap<string, Extent> =>
  new Map(
    (chart.bars ?? []).map((name) => {
      const values = answer.rows.map((row) => numberOf(row[name]) ?? 0);
      const least = values.reduce((a, b) => Math.min(a, b), 0);
      return [name, { least, most: values.reduce((a, b) => Math.max(a, b), 0) }];
    }),
  );

/** A sign and a hidden word for each tone, so that no reader depends on its colour. */
const signs: Readonly<Record<Tone, string>> = {
  good: 'M1 5.5 4 8.5 9 2',
  warning: 'M5 1v5M5 8.2v1',
  bad: 'M1.5 1.5l7 7M8.5 1.5l-7 7',
};

const holds: Readonly<Record<CellRule['operator'], (value: number, limit: number) => boolean>> = {
  '=': (value, limit) => value === limit,
  '<>': (value, limit) => value !== limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
};

const ruleFor = ({ rules = [] }: TableChart, name: string, value: Cell): CellRule | undefined => {
  const number = numberOf(value);
  if (number === null) return undefined;
  return rules.find((rule) => rule.measure === name && holds[rule.operator](number, rule.value));
};

const toned = (text: string, { tone, word }: CellRule): TemplateResult => {
  const said = word === undefined ? html`<span class="sr">${tone}</span>` : word;
  return html`<span class="tone ${tone}"><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${svg`<path d=${signs[tone]} />`}</svg> ${text} ${said}</span>`;
};

const barred = (inner: TemplateResult | string, value: Cell, { least, most }: Extent): TemplateResult => {
  const number = numberOf(value) ?? 0;
  const part = (size: number) => (most === least ? 0 : (100 * size) / (most - least));
  const start = part(Math.min(0, number) - least);
  return html`<span class="barred"
    ><svg aria-hidden="true">${svg`<rect x="${start}%" width="${part(Math.abs(number))}%" height="100%" rx="2" />`}</svg
    ><span>${inner}</span></span
  >`;
};

const headCell = (view: TableView, column: AnswerColumn): TemplateResult => {
  const { name, dataType } = column;
  const { sort, onSort } = view;
  const direction = sort?.name === name ? sort.direction : undefined;
  const ariaSort = direction === undefined ? 'none' : direction === 'ASC' ? 'ascending' : 'descending';
  const arrow = direction === undefined ? '' : direction === 'ASC' ? '↑' : '↓';
  const text = titleOf(column);
  return html`<th part="header-cell" scope="col" class=${cellClass(dataType)} aria-sort=${ariaSort}>
    ${
      onSort === undefined
        ? text
        : html`<button type="button" @click=${() => onSort(name)}>${text}<span class="arrow" aria-hidden="true">${arrow}</span></button>`
    }
  </th>`;
};

const writtenOf = ({ measures, chart, format, grainOf }: Cells, column: AnswerColumn, row: Row): string => {
  const { name, dataType } = column;
  const value = row[name] ?? null;
  if (measures.includes(name)) return measureText(row, column, chart, format);
  return value === null ? '—' : format.dimension(value, dataType, grainOf?.(name), datesOf(chart, name));
};

const bodyCell = (view: Cells, column: AnswerColumn, row: Row, index: number): TemplateResult => {
  const value = row[column.name] ?? null;
  const text = valueLabel(value, column) ?? writtenOf(view, column, row);
  return html`<td part="cell" class=${cellClass(column.dataType)}>
    ${index === 0 && view.onMark !== undefined && !isOthers(value) ? markButton(text, value, view) : marked(view, column.name, value, text)}
  </td>`;
};

const marked = ({ chart, extents }: Cells, name: string, value: Cell, text: string): TemplateResult | string => {
  const rule = ruleFor(chart, name, value);
  const inner = rule === undefined ? text : toned(text, rule);
  const extent = extents.get(name);
  return extent === undefined || value === null ? inner : barred(inner, value, extent);
};

const cellClass = (dataType: AnswerColumn['dataType']): string =>
  dataType === 'number' || dataType === 'date' ? dataType : 'text';
