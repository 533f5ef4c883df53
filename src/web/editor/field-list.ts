/** The list of fields in the editor: the rows of each table, and what a click in a row does. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { filterIcon, measureIcon, splitIcon } from '../base/icons.js';
import type { Editing } from './answer-controls.js';
import { type Found, findTable, sameTable, searchFields, titleOf } from './catalogue.js';
import { firstCondition } from './condition-controls.js';
import { type Action, refusalOf } from './edit.js';
import { columnIn, type ListPlace, type ListRow } from './list-keys.js';

/** Null: the control does nothing, but readers reach it and its reason. Undefined: the row lacks the control. */
type Control = Action | null | undefined;
/** The name, and what measures, splits and filters by it. `found`: the field that the row is of. */
type FieldRow = ListRow & {
  readonly why: string | null;
  /** Whether it is the title of a kind of fields in a table. */
  readonly isKind?: true;
  readonly controls: readonly Control[];
  readonly found?: Found;
};

export const refOf = ({ table, field }: Found): ColumnRef => ({
  schemaName: table.schemaName,
  tableName: table.tableName,
  columnName: field.columnName,
});

/** What a click on a field does. */
const usual = (found: Found): Action =>
  found.field.isMeasure ||
  (found.field.suggestedAggregates.length > 0 && (found.field.type === 'integer' || found.field.type === 'number'))
    ? { kind: 'addMeasure', column: refOf(found) }
    : { kind: 'addGroup', shelf: 'dimensions', column: refOf(found) };

const possible = ({ draft, catalogue }: Editing, action: Action): Action | undefined =>
  refusalOf(draft, catalogue, action) === null ? action : undefined;

const countRow = (editing: Editing, table: string): FieldRow => {
  const title = editing.format.text('Rows');
  const count: Action = { kind: 'addMeasure', column: null, name: title };
  return { key: `${table} rows`, title, why: null, isHead: false, controls: [undefined, possible(editing, count)] };
};

/** What people call the table that the metric starts from. */
const startOf = ({ draft: { from }, catalogue }: Editing): string => {
  const table = from === null ? undefined : findTable(catalogue, from);
  return table === undefined ? '' : titleOf(table);
};

const rowOf = (editing: Editing, found: Found): FieldRow => {
  const { draft, catalogue, format } = editing;
  const { field } = found;
  const column = refOf(found);
  const { schemaName, tableName, columnName } = column;
  const action = usual(found);
  const isApart = refusalOf(draft, catalogue, action) === 'not-joined';
  const why = isApart
    ? format.text('No relationship leads from {from} to {to}', { from: startOf(editing), to: titleOf(found.table) })
    : field.description;
  const uses: readonly Action[] = [
    { kind: 'addMeasure', column },
    { kind: 'addGroup', shelf: 'dimensions', column },
    { kind: 'addFilter', column, predicate: firstCondition(field.type) },
  ];
  const controls = [isApart ? null : action, ...uses.map((use) => possible(editing, use))];
  const key = JSON.stringify([schemaName, tableName, columnName]);
  return { key, title: titleOf(field), why, isHead: false, controls, found };
};

/** The kinds of fields as people call them, in the order in which they stand. */
const kindsOf = ({
  format: { text },
}: Editing): readonly (readonly [string, (type: Found['field']['type']) => boolean])[] => [
  [text('Text'), (type) => type === 'text' || type === 'enum' || type === 'uuid'],
  [text('Number'), (type) => type === 'integer' || type === 'number'],
  [text('Date'), (type) => type === 'date'],
  [text('Other'), () => true],
];

/** The fields of a table under the names of their kinds. */
const rowsByKind = (editing: Editing, key: string, found: readonly Found[]): readonly FieldRow[] => {
  const kinds = kindsOf(editing);
  return kinds.flatMap(([title], at) => {
    const own = found.filter(({ field }) => kinds.findIndex(([, isOf]) => isOf(field.type)) === at);
    const head: FieldRow = { key: `${key} ${at}`, title, why: null, isHead: true, isKind: true, controls: [null] };
    return own.length === 0 ? [] : [head, ...own.map((one) => rowOf(editing, one))];
  });
};

/**
 * The rows of each table: its title, its rows to count once a metric reads from it, and its fields by their kinds. What was
 * searched for is found best first.
 */
export const fieldRows = (editing: Editing, search: string): readonly (readonly FieldRow[])[] => {
  const { catalogue, draft } = editing;
  const { from } = draft;
  const found = searchFields(catalogue, search);
  const tables = catalogue.tables.filter((table) => found.some((one) => one.table === table));
  return tables.map((table) => {
    const { schemaName, tableName, description } = table;
    const key = JSON.stringify([schemaName, tableName]);
    const head: FieldRow = { key, title: titleOf(table), why: description, isHead: true, controls: [null] };
    const own = found.filter((one) => one.table === table);
    const fields = search.trim() === '' ? rowsByKind(editing, key, own) : own.map((one) => rowOf(editing, one));
    return [head, ...(from !== null && sameTable(from, table) ? [countRow(editing, key)] : []), ...fields];
  });
};

/** What the icons beside a field mean. */
export const iconLegend = ({ format: { text } }: Editing): TemplateResult =>
  html`<p class="legend quiet" aria-hidden="true"><span>${measureIcon} ${text('Measure')}</span> <span>${splitIcon} ${text('Split by')}</span>
    <span>${filterIcon} ${text('Filters')}</span></p>`;

/** `place`: what the key Tab reaches in the list. */
export const fieldRow = (
  { format: { text }, act }: Editing,
  row: FieldRow,
  place: ListPlace | undefined,
  drag: (event: DragEvent, found: Found) => void,
): TemplateResult => {
  const { key, title: name, why, isHead, isKind, found, controls } = row;
  const stop = place?.row === key ? columnIn(row, place.column) : undefined;
  const tabindex = (column: number) => (column === stop ? 0 : -1);
  if (isHead) {
    return html`<div role="row"><div role="rowheader" aria-colspan="4" title=${why ?? nothing}
      data-row=${key} data-column="0" tabindex=${tabindex(0)}>${isKind ? html`<h4>${name}</h4>` : html`<h3>${name}</h3>`}</div></div>`;
  }
  const uses = [
    { icon: measureIcon, label: text('Measure {name}', { name }) },
    { icon: splitIcon, label: text('Split by {name}', { name }) },
    { icon: filterIcon, label: text('Filter by {name}', { name }) },
  ];
  const isApart = controls[0] === null;
  const use = (action: Control): void => {
    if (action != null) act(action);
  };
  // Not the attribute `disabled`: a reader of the screen must reach the reason.
  return html`<div role="row" class="row" draggable=${found === undefined || isApart ? 'false' : 'true'}
    @dragstart=${(event: DragEvent) => found !== undefined && drag(event, found)}>
    <div role="rowheader" class="field">${
      found === undefined
        ? html`<span class="name quiet">${name}</span>`
        : html`<button class="name" type="button" title=${why === null ? name : `${name}\n${why}`} aria-disabled=${isApart ? 'true' : 'false'}
            data-row=${key} data-column="0" tabindex=${tabindex(0)} @click=${() => use(controls[0])}>${name}
            ${isApart ? html`<small>${why}</small>` : nothing}</button>`
    }</div>
    ${uses.map(
      ({ icon, label }, at) =>
        html`<div role="gridcell" class="use">${
          controls[at + 1] == null
            ? nothing
            : html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
              data-row=${key} data-column=${at + 1} tabindex=${tabindex(at + 1)}
              @click=${() => use(controls[at + 1])}>${icon}</button>`
        }</div>`,
    )}
  </div>`;
};
