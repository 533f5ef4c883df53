/** The catalogue as text for a model: what `guestFields` lists for this guest, and nothing else. */
import type { Datamart } from '../datamart/datamart.js';
import type { SemanticLayer } from '../datamart/semantic-layer.js';
import type { FieldTable, GuestFields } from '../guest/fields.js';

/** What a guest may build on, with the words of the operator about it. */
export type Catalogue = { readonly fields: GuestFields; readonly feedback: string | null };

/** Characters of a catalogue that is sent as a whole. A larger one is read table by table. */
const mostCharacters = 24_000;

const filled = (notes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(notes).filter(
      ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );

const tableNotes = ({ schemaName, tableName, label, description, synonyms, joinGroup }: FieldTable) => ({
  schemaName,
  tableName,
  joinGroup,
  ...filled({ label, description, synonyms }),
});

const wholeTable = (table: FieldTable) => ({
  ...tableNotes(table),
  columns: table.fields.map((field) => {
    const { columnName, type, label, description, synonyms, columnType, suggestedAggregates, currencyColumn } = field;
    const words = { label, description, synonyms, columnType };
    return {
      columnName,
      type,
      ...filled({ ...words, aggregates: suggestedAggregates, currencyColumn: currencyColumn ?? null }),
    };
  }),
});

const wordsOf = (text: string): string => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;

/** The names of a datamart that are hidden from guests, as words. */
const hiddenWords = (datamart: Datamart, fields: GuestFields): readonly string[] => {
  const shown = new Set(
    fields.tables
      .flatMap(({ tableName, label, fields: columns }) => [
        ...[tableName, label],
        ...columns.flatMap((column) => [column.columnName, column.label]),
      ])
      .map(wordsOf),
  );
  const all = datamart.tables.flatMap(({ tableName, label, columns, hiddenColumns = [] }) => [
    ...[tableName, label],
    ...[...columns, ...hiddenColumns].flatMap((column) => [column.columnName, column.label]),
  ]);
  return [...new Set(all.map(wordsOf))].filter((words) => words.trim() !== '' && !shown.has(words));
};

/**
 * Returns the operator's notes about the whole datamart, without the lines that name a table or column that is not
 * among the guest's fields. Guests see these notes nowhere else.
 */
export const openFeedback = (
  datamart: Datamart,
  fields: GuestFields,
  layer: Pick<SemanticLayer, 'feedback'> | undefined,
): string | null => {
  if (layer === undefined || layer.feedback === null) return null;
  const hidden = hiddenWords(datamart, fields);
  const lines = layer.feedback.split(/\r?\n/).filter((line) => !hidden.some((words) => wordsOf(line).includes(words)));
  return lines.join('\n').trim() || null;
};

/** Returns the catalogue as JSON. A large one has no columns, but for the tables that are named. */
export const catalogueText = ({ fields, feedback }: Catalogue, wanted: readonly string[]): string => {
  const { tables, relationships } = fields;
  const named = tables.filter(({ tableName }) => wanted.includes(tableName));
  const head = { ...filled({ notes: feedback }), relationships };
  const whole = JSON.stringify({ ...head, tables: (named.length > 0 ? named : tables).map(wholeTable) });
  if (whole.length <= mostCharacters) return whole;
  const text = JSON.stringify({
    ...head,
    tables: tables.map(tableNotes),
    next: 'This is too much at once. Ask again with the names of one or two of these tables.',
  });
  return text.slice(0, mostCharacters);
};
