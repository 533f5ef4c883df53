/** Parts that the screens share: lists, empty states, dialogs and dates. */
import { html, nothing, render, type TemplateResult } from 'lit';
import { type Choice, options } from '../../base/options.js';
import { matcher } from '../../base/search.js';
import { searchField } from '../../base/search-field.js';
import { navigate } from './routes.js';

/** A link inside Studio, which does not load the page anew. */
export const link = (address: string, text: string | TemplateResult, className = ''): TemplateResult =>
  html`<a href=${address} class=${className} @click=${followed}>${text}</a>`;

export const followed = (event: MouseEvent): void => {
  const anchor = event.currentTarget;
  if (!(anchor instanceof HTMLAnchorElement)) return;
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  navigate(anchor.pathname + anchor.search);
};

export type Column<Row> = {
  readonly title: string;
  readonly of: (row: Row) => TemplateResult | string | number | null | undefined;
  /** The text for the filter and the download. Left out: the cell's own text. */
  readonly text?: (row: Row) => string;
  readonly isNumber?: boolean;
  /** Whether its cells are moments: the list then says in which time zone they are. */
  readonly isTime?: boolean;
};

/** A column of moments, in the reader's format and zone. Downloads have the moment itself. */
export const timeColumn = <Row>(
  title: string,
  of: (row: Row) => string | null | undefined,
  none = '',
): Column<Row> => ({
  title,
  of: (row) => moment(of(row), none),
  text: (row) => of(row) ?? none,
  isTime: true,
});

const textIn = <Row>({ text, of }: Column<Row>, row: Row): string => {
  if (text !== undefined) return text(row);
  const cell = of(row);
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : '';
};

/** A spreadsheet must not take a text for a formula. */
const csvCell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

const csvOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string =>
  [
    columns.map(({ title }) => csvCell(title)),
    ...rows.map((row) => columns.map((column) => csvCell(textIn(column, row)))),
  ]
    .map((cells) => cells.join(','))
    .join('\r\n');

/** Gives the reader a text as a file. */
export const download = (name: string, text: string, type: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(url);
};

/** Narrows a list to the rows with one value. It is part of the address, by its name. */
export type Filter<Row> = {
  readonly name: string;
  readonly label: string;
  readonly of: (row: Row) => string;
  /** Left out: the values of the rows. */
  readonly values?: readonly string[];
  /** How a value is shown. Left out: as it is. */
  readonly words?: (value: string) => string;
};

type List<Row> = {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The query of the address: the words of the search and the value of each filter. */
  readonly query: URLSearchParams;
  readonly filters?: readonly Filter<Row>[];
  /** The name of the search in the address, for a second list of a page. Left out: `search`. */
  readonly searchName?: string;
  /** Shown instead of a list without rows. */
  readonly empty: TemplateResult | string;
  /** Buttons beside the search. */
  readonly actions?: TemplateResult | undefined;
};

/** Writes a value into the address, so that a link shows the same rows. */
const setInAddress = (name: string, value: string): void => {
  const url = new URL(location.href);
  if (value === '') url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  navigate(url.pathname + url.search, true);
};

/** A choice that is part of the address, by its name. */
export const addressChoice = (
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
): TemplateResult => {
  const choose = (event: Event): void => setInAddress(name, (event.target as HTMLSelectElement).value);
  return html`<label>${label} <select name=${name} @change=${choose}>${options(choices, chosen)}</select></label>`;
};

const filterChoice = <Row>(
  { name, label, of, values, words = (value) => value }: Filter<Row>,
  rows: readonly Row[],
  chosen: string,
): TemplateResult => {
  const offered = values ?? [...new Set(rows.map(of))].toSorted();
  const all = [...new Set([...offered, chosen])].filter(Boolean);
  return addressChoice(name, label, [['', 'All'], ...all.map((value) => [value, words(value)] as const)], chosen);
};

const showAll = (names: readonly string[]) => (): void => {
  const url = new URL(location.href);
  for (const name of names) url.searchParams.delete(name);
  navigate(url.pathname + url.search, true);
};

const countText = (shown: number, all: number): string => {
  const rows = `${all.toLocaleString()} ${all === 1 ? 'row' : 'rows'}`;
  return shown === all ? rows : `${shown.toLocaleString()} of ${rows}`;
};

/** A list with filters and a search, which are part of the address, and a download of what is shown. */
export const list = <Row>(asked: List<Row>): TemplateResult => {
  const { name, rows, columns, query, filters = [], searchName = 'search', empty, actions } = asked;
  if (rows.length === 0) return html`<div class="empty">${empty}${actions ?? nothing}</div>`;
  const search = query.get(searchName) ?? '';
  const isFound = matcher(search);
  const wanted = filters.map((filter) => ({ filter, value: query.get(filter.name) ?? '' }));
  const ofFilters = rows.filter((row) => wanted.every(({ filter, value }) => value === '' || filter.of(row) === value));
  const shown = ofFilters.filter((row) => isFound(columns.map((column) => textIn(column, row)).join(' ')));
  const isNarrow = search !== '' || wanted.some(({ value }) => value !== '');
  return html`<div class="toolbar narrowing">
      ${wanted.map(({ filter, value }) => filterChoice(filter, rows, value))}
      ${searchField({ label: `Search ${name}`, placeholder: 'Search', value: search, search: (text) => setInAddress(searchName, text) })}
      <span class="count" role="status">${countText(shown.length, rows.length)}</span>
      ${isNarrow ? html`<button type="button" class="text" @click=${showAll([searchName, ...filters.map((filter) => filter.name)])}>Show all</button>` : nothing}
      <span class="gap"></span>
      ${columns.some(({ isTime }) => isTime) ? html`<span class="count">Times: ${timeZone}</span>` : nothing}
      ${actions ?? nothing}
      <button type="button" class="quiet" @click=${() => download(`${name}.csv`, `\uFEFF${csvOf(shown, columns)}`, 'text/csv')}>Download CSV</button>
    </div>
    <div class="table" tabindex="0" role="region" aria-label=${name}>
      <table>
        <thead>
          <tr>${columns.map(({ title, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : ''}>${title}</th>`)}</tr>
        </thead>
        <tbody>
          ${shown.map((row) => html`<tr>${columns.map((column) => html`<td class=${column.isNumber ? 'number' : ''}>${column.of(row)}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>
    ${shown.length === 0 ? html`<p class="empty">None of the ${rows.length} is like this.</p>` : nothing}`;
};

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The reader's zone, in which all moments of Studio are shown. */
export const timeZone = format.resolvedOptions().timeZone;

/** A moment in the reader's own format and zone. */
export const when = (iso: string | number | null | undefined): string =>
  iso === null || iso === undefined ? '' : format.format(new Date(iso));

/** A moment in a cell, in one line. */
export const moment = (iso: string | null | undefined, none = ''): TemplateResult | string =>
  iso === null || iso === undefined ? none : html`<time datetime=${iso}>${when(iso)}</time>`;

/** A value of a definition in few words. */
export const valueText = (value: unknown): string => {
  if (value === null) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};

/** A word in a colour. The word alone says what it means. */
export const badge = (text: string, kind: 'good' | 'bad' | 'warn' | 'plain' = 'plain'): TemplateResult =>
  html`<span class="badge ${kind}">${text}</span>`;

/**
 * Opens a modal dialog, which is removed when it closes. `draw` replaces what it shows; `closed` resolves to the value of
 * the button that closed it.
 */
export const openDialog = (title: string, content: TemplateResult, className = '') => {
  const dialog = document.createElement('dialog');
  dialog.className = className;
  dialog.ariaLabel = title;
  const draw = (next: TemplateResult): void => {
    render(next, dialog);
  };
  draw(content);
  document.body.append(dialog);
  dialog.showModal();
  const closed = new Promise<string>((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
  return { dialog, draw, closed };
};

/** Asks for what the form holds. Null: it was cancelled. */
export const filled = async (title: string, fields: TemplateResult, verb: string): Promise<FormData | null> => {
  const { dialog, closed } = openDialog(
    title,
    html`<form method="dialog" class="form"><h2>${title}</h2>${fields}
      <div class="buttons">${verb === 'Close' ? nothing : html`<button type="button" class="quiet" @click=${() => dialog.close('')}>Cancel</button>`}
        <button value="done">${verb}</button></div></form>`,
  );
  const form = dialog.querySelector('form');
  return (await closed) === 'done' && form !== null ? new FormData(form) : null;
};

type Answer = { readonly value: string; readonly text: string; readonly className?: string };

/** Asks for one of the answers. Empty: none was given. */
export const asked = (title: string, text: string, answers: readonly Answer[]): Promise<string> =>
  openDialog(
    title,
    html`<form method="dialog">
      <h2>${title}</h2>
      <p>${text}</p>
      <div class="buttons"><button value="" class="quiet" autofocus>Cancel</button>
        ${answers.map(({ value, text: verb, className = '' }) => html`<button value=${value} class=${className}>${verb}</button>`)}</div>
    </form>`,
    'confirm',
  ).closed;

/** Asks before something that cannot be undone. */
export const confirmed = async (title: string, text: string, verb: string): Promise<boolean> =>
  (await asked(title, text, [{ value: 'yes', text: verb, className: 'danger' }])) === 'yes';
