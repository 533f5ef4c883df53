/** Rows as an HTML table, for table charts, underlying rows, and as an alternative to every chart. */
import { css, html, type TemplateResult } from 'lit';
import type { Chart } from '../../domain/dashboard/chart.js';
import type { Sort, TimeGrain } from '../../domain/dashboard/metric.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../domain/query/engine.js';
import { type Format, humanise } from '../base/format.js';

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
  th.number,
  td.number {
    text-align: end;
    white-space: nowrap;
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
  td button {
    color: var(--gl-accent);
  }
  td button:hover {
    text-decoration: underline;
  }
  .arrow {
    display: inline-block;
    width: 1.2em;
    text-align: center;
  }
  th.number button {
    display: inline-flex;
    flex-direction: row-reverse;
  }
`;

export type TableView = {
  readonly answer: MetricAnswer;
  readonly columns: readonly AnswerColumn[];
  /** Names of the columns that use the chart's number format. */
  readonly measures: readonly string[];
  readonly chart: Chart;
  readonly format: Format;
  /** The grain of a column, by its name. */
  readonly grainOf?: ((name: string) => TimeGrain | undefined) | undefined;
  /** The table's accessible name. */
  readonly label: string;
  readonly sort?: Sort | null;
  readonly onSort?: (name: string) => void;
  readonly onDrill?: ((value: Cell) => void) | undefined;
};

export const tableView = (view: TableView): TemplateResult => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${view.label}>
    <table>
      <thead>
        <tr>
          ${view.columns.map((column) => headCell(view, column))}
        </tr>
      </thead>
      <tbody>
        ${view.answer.rows.map(
          (row) => html`<tr>
            ${view.columns.map((column, index) => bodyCell(view, column, row[column.name] ?? null, index))}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>
`;

const headCell = (view: TableView, { name, dataType }: AnswerColumn): TemplateResult => {
  const { sort, onSort } = view;
  const direction = sort?.name === name ? sort.direction : undefined;
  const ariaSort = direction === undefined ? 'none' : direction === 'ASC' ? 'ascending' : 'descending';
  const arrow = direction === undefined ? '' : direction === 'ASC' ? '↑' : '↓';
  const text = humanise(name);
  return html`<th scope="col" class=${cellClass(dataType)} aria-sort=${ariaSort}>
    ${
      onSort === undefined
        ? text
        : html`<button type="button" @click=${() => onSort(name)}>${text}<span class="arrow" aria-hidden="true">${arrow}</span></button>`
    }
  </th>`;
};

const bodyCell = (view: TableView, column: AnswerColumn, value: Cell, index: number): TemplateResult => {
  const text = view.measures.includes(column.name)
    ? view.format.measure(value, view.chart)
    : value === null
      ? '—'
      : view.format.dimension(value, column.dataType, view.grainOf?.(column.name));
  const { onDrill } = view;
  return html`<td class=${cellClass(column.dataType)}>
    ${index === 0 && onDrill !== undefined ? html`<button type="button" @click=${() => onDrill(value)}>${text}</button>` : text}
  </td>`;
};

const cellClass = (dataType: AnswerColumn['dataType']): string =>
  dataType === 'number' || dataType === 'date' ? dataType : 'text';
