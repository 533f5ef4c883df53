/** A dialog with the underlying rows of a metric, page by page. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { MetricAnswer } from '../../model/query/engine.js';
import { dialogStyles, dialogView, showDialog } from '../base/dialog.js';
import type { Format } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles } from '../base/theme.js';
import { tableStyles, tableView } from '../charts/table-view.js';

export type LoadRows = (offset: number, limit: number, signal: AbortSignal) => Promise<MetricAnswer>;

const pageSize = 50;

export class RowsDialog extends LitElement {
  static override properties = {
    label: { attribute: false },
    format: { attribute: false },
    load: { state: true },
    offset: { state: true },
    answer: { state: true },
    problem: { state: true },
  };
  declare label: string;
  declare format: Format;
  declare load: LoadRows | undefined;
  declare offset: number;
  declare answer: MetricAnswer | undefined;
  declare problem: string | undefined;

  #textOf: (error: unknown) => string = String;
  readonly #latest = createLatest();

  constructor() {
    super();
    this.label = '';
    this.offset = 0;
  }

  static override styles = [
    baseStyles,
    dialogStyles,
    stateStyles,
    tableStyles,
    css`
      :host {
        position: absolute;
      }
      dialog {
        width: min(920px, 94vw);
        height: min(640px, 88vh);
      }
      dialog[open] {
        display: flex;
        flex-direction: column;
      }
      footer {
        display: flex;
        align-items: center;
        gap: 10px;
      }
      .rows {
        flex: 1;
        min-height: 0;
        margin: 12px 0;
      }
      footer .quiet {
        flex: 1;
        font-size: 13px;
      }
    `,
  ];

  /** Opens the dialog and loads the first page. `textOf` says what the guest reads about a failure of `load`. */
  open(load: LoadRows, textOf: (error: unknown) => string): void {
    this.load = load;
    this.#textOf = textOf;
    this.answer = undefined;
    this.#turnTo(0);
    void showDialog(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#closed();
  }

  override render() {
    if (this.load === undefined) return null;
    const { text } = this.format;
    const content = html`<div class="rows">${this.#rows()}</div>
      <footer>${this.#footer()}</footer>`;
    const title = text('Rows behind {name}', { name: this.label });
    return dialogView({ text, title, content, closed: this.#closed });
  }

  #rows(): TemplateResult {
    const { text } = this.format;
    if (this.problem !== undefined) {
      return errorState(text, text('The rows can’t be shown'), this.problem, () => this.#turnTo(this.offset));
    }
    if (this.answer === undefined) return loadingState(text('Loading rows'));
    if (this.answer.rows.length === 0) return emptyState(text('No rows for these filters'));
    const { answer, format, label } = this;
    const { columns } = answer;
    const written = columns.filter(
      ({ dataType, numbers, currencyColumn }) =>
        dataType === 'number' && (numbers !== undefined || currencyColumn !== undefined),
    );
    const measures = written.map(({ name }) => name);
    const chart = {
      numbers: written.map(({ name, numbers }) => ({ measure: name, ...numbers })),
      dates: columns.map(({ name, dates }) => ({ name, ...dates })),
    };
    return tableView({ answer, columns, measures, chart, format, label });
  }

  #footer(): TemplateResult {
    const total = this.answer?.totalRecords ?? 0;
    const last = this.offset + (this.answer?.rows.length ?? 0);
    const { text } = this.format;
    const span = text('{first}–{last} of {total}', { first: this.offset + 1, last, total });
    return html`<span class="quiet" role="status">${total === 0 ? '' : span}</span>
      <button class="button" part="button" type="button" ?disabled=${this.offset === 0} @click=${() => this.#turnTo(this.offset - pageSize)}>
        ${text('Previous')}
      </button>
      <button class="button" part="button" type="button" ?disabled=${last >= total} @click=${() => this.#turnTo(this.offset + pageSize)}>
        ${text('Next')}
      </button>`;
  }

  #turnTo(offset: number): void {
    const { load } = this;
    if (load === undefined) return;
    this.problem = undefined;
    this.#latest.run(
      (signal) => load(Math.max(0, offset), pageSize, signal),
      (answer) => {
        this.answer = answer;
        this.offset = Math.max(0, offset);
      },
      (error) => {
        this.answer = undefined;
        this.problem = this.#textOf(error);
      },
    );
  }

  readonly #closed = (): void => {
    this.#latest.cancel();
    this.load = undefined;
    this.answer = undefined;
    this.problem = undefined;
  };
}
