/**
 * How well a model is described, and what to do next. The score is the one of the interface (`completionScore`); each
 * thing to do says what it adds. Pure functions.
 */
import { scoreWeights } from '../../../model/datamart/semantic-layer.js';
import { keyOf } from './model-edit.js';
import { type Described, scoreOf, semanticTables } from './model-notes.js';
import { type Keys, stateOf, type TableTenancy } from './model-tenancy.js';

/** A field of the model's page. Without a column, it is one of the table; without a table, one of the whole model. */
export type ModelPlace = {
  readonly table?: string;
  readonly column?: string;
  readonly field: 'owner' | 'description' | 'synonyms' | 'type' | 'shown' | 'feedback';
};

export const isSamePlace = (a: ModelPlace | null, b: ModelPlace | null): boolean =>
  a !== null && b !== null && a.table === b.table && a.column === b.column && a.field === b.field;

/** As the address of the page has it. */
export const placeQuery = ({ table, column, field }: ModelPlace): Readonly<Record<string, string>> => ({
  ...(table === undefined ? {} : { table }),
  ...(column === undefined ? {} : { column }),
  field,
});

const fields: ReadonlySet<string> = new Set(['owner', 'description', 'synonyms', 'type', 'shown', 'feedback']);

/** Null: the address names no place. */
export const placeIn = (query: URLSearchParams): ModelPlace | null => {
  const [table, column, field] = ['table', 'column', 'field'].map((name) => query.get(name) ?? undefined);
  if (field === undefined || !fields.has(field)) return null;
  return {
    ...(table === undefined ? {} : { table }),
    ...(column === undefined ? {} : { column }),
    field: field as ModelPlace['field'],
  };
};

export type Todo = {
  readonly place: ModelPlace;
  readonly text: string;
  /** What it adds to the score. 0: it is no part of the score. */
  readonly points: number;
};

/** One part of the score. */
export type ScorePart = {
  readonly text: string;
  readonly filled: number;
  readonly all: number;
  readonly weight: number;
};

export type Score = {
  readonly points: number;
  readonly parts: readonly ScorePart[];
  /** What concerns tenants first, then what adds most. */
  readonly todos: readonly Todo[];
};

type Item = { readonly place: Omit<ModelPlace, 'field'>; readonly name: string; readonly isFilled: boolean };

type Part = {
  readonly text: string;
  readonly field: ModelPlace['field'];
  readonly weight: number;
  readonly items: readonly Item[];
  readonly todo: (name: string) => string;
};

const partsOf = (described: Described): readonly Part[] => {
  const tables = semanticTables(described).map((table) => ({ ...table, key: keyOf(table) }));
  const columns = tables.flatMap(({ key, columns: own }) => own.map((column) => ({ ...column, key })));
  const ofTables = (isFilled: (table: (typeof tables)[number]) => boolean): readonly Item[] =>
    tables.map((table) => ({ place: { table: table.key }, name: table.key, isFilled: isFilled(table) }));
  const ofColumns = (isFilled: (column: (typeof columns)[number]) => boolean): readonly Item[] =>
    columns.map((column) => ({
      place: { table: column.key, column: column.columnName },
      name: `${column.key}.${column.columnName}`,
      isFilled: isFilled(column),
    }));
  const { tableDescriptions, tableSynonyms, columnDescriptions, columnSynonyms, columnTypes, feedback } = scoreWeights;
  const notes: Item = { place: {}, name: '', isFilled: described.notes.feedback !== null };
  return [
    {
      ...{ text: 'Tables with a description', field: 'description', weight: tableDescriptions },
      items: ofTables(({ description }) => description !== null),
      todo: (name) => `Describe the table ${name}`,
    },
    {
      ...{ text: 'Columns with a description', field: 'description', weight: columnDescriptions },
      items: ofColumns(({ description }) => description !== null),
      todo: (name) => `Describe ${name}`,
    },
    {
      ...{ text: 'Columns whose meaning is said', field: 'type', weight: columnTypes },
      items: ofColumns(({ columnType }) => columnType !== null),
      todo: (name) => `Say what ${name} means`,
    },
    {
      ...{ text: 'Columns with synonyms', field: 'synonyms', weight: columnSynonyms },
      items: ofColumns(({ synonyms }) => synonyms.length > 0),
      todo: (name) => `Add other words for ${name}`,
    },
    {
      ...{ text: 'Tables with synonyms', field: 'synonyms', weight: tableSynonyms },
      items: ofTables(({ synonyms }) => synonyms.length > 0),
      todo: (name) => `Add other words for the table ${name}`,
    },
    {
      ...{ text: 'Notes about the whole model', field: 'feedback', weight: feedback, items: [notes] },
      todo: () => 'Write notes about the whole model',
    },
  ];
};

const todosOf = ({ field, weight, items, todo }: Part): readonly Todo[] =>
  items
    .filter(({ isFilled }) => !isFilled)
    .map(({ place, name }) => ({ place: { ...place, field }, text: todo(name), points: weight / items.length }));

/** Ids that only join tables help nobody who builds a metric. */
const keyTodos = ({ model }: Described, keys: Keys): readonly Todo[] =>
  model.datamartTables
    .filter(({ isHide }) => !isHide)
    .flatMap((table) => {
      const key = keyOf(table);
      const single = new Set((keys.get(key) ?? []).flatMap((one) => (one.length === 1 ? one : [])));
      const isId = (name: string): boolean => single.has(name) || name === table.clientColumn;
      return table.datamartTableColumns
        .filter(({ columnName, isHide }) => !isHide && isId(columnName))
        .map(({ columnName }) => ({
          place: { table: key, column: columnName, field: 'shown' as const },
          text: `Hide ${key}.${columnName}, ${columnName === table.clientColumn ? 'which has the client id' : 'a key'}, unless people ask for it`,
          points: 0,
        }));
    });

const tenancyTodos = (tenancies: readonly TableTenancy[]): readonly Todo[] =>
  tenancies
    .filter((tenancy) => stateOf(tenancy) === 'nobody’s')
    .map(({ table }) => ({
      place: { table, field: 'owner' },
      text: `Say whose rows ${table} holds: no query reads it`,
      points: 0,
    }));

export const describeScore = (described: Described, tenancies: readonly TableTenancy[], keys: Keys): Score => {
  const parts = partsOf(described);
  return {
    points: scoreOf(described),
    parts: parts.map(({ text, weight, items }) => ({
      ...{ text, weight, all: items.length },
      filled: items.filter(({ isFilled }) => isFilled).length,
    })),
    todos: [
      ...tenancyTodos(tenancies),
      ...parts.flatMap(todosOf).toSorted((a, b) => b.points - a.points),
      ...keyTodos(described, keys),
    ],
  };
};
