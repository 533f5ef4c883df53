/** Metrics that a catalogue suggests, as first questions. Pure: reads no row. */
import type { Dimension, MeasureAggregate } from '../dashboard/metric.js';
import { withColumnFormats } from '../guest/column-formats.js';
import { withCurrencyGroups } from '../guest/currency-groups.js';
import type { Field, FieldTable, GuestFields } from '../guest/fields.js';
import type { NewGuestDefinition } from '../guest/metric.js';
import { type LabelledColumn, labelsOf } from './chat.js';

export type Suggestion = { readonly definition: NewGuestDefinition; readonly labels: readonly LabelledColumn[] };

const most = 6;
/** Groups of a suggested bar chart. */
const groups = 10;

/** Names of keys, which say little to a reader. */
const keyName = /\b(?:id|code|key|uuid)\b/i;

const isGroup = ({ type, isIdentifier, label, columnName }: Field): boolean =>
  (type === 'text' || type === 'enum') && !isIdentifier && !keyName.test(label || columnName.replaceAll('_', ' '));
const isNumber = ({ type, isIdentifier, isMeasure }: Field): boolean =>
  isMeasure || ((type === 'integer' || type === 'number') && !isIdentifier);

/** Fields that the operator described come first. */
const notesOf = ({ columnType, description, synonyms }: Field): number =>
  Number(columnType !== null) + Number(description !== null) + Number(synonyms.length > 0);
const bestFirst = (fields: readonly Field[]): readonly Field[] => fields.toSorted((a, b) => notesOf(b) - notesOf(a));

const titleOf = ({ label, columnName }: Field): string => label || columnName;

type Placed = { readonly table: FieldTable; readonly field: Field };

const columnOf = ({ table: { schemaName, tableName }, field: { columnName } }: Placed) => ({
  ...{ schemaName, tableName, columnName },
});

const groupOf = (placed: Placed, more: Partial<Dimension> = {}): Dimension => ({
  ...{ name: titleOf(placed.field), column: columnOf(placed), ...more },
});

/** Null: the rows are counted. */
type Counted = { readonly placed: Placed; readonly aggregate: MeasureAggregate } | null;

const measureOf = (counted: Counted, group: Dimension) => {
  const wanted = counted === null ? 'Count' : titleOf(counted.placed.field);
  const name = wanted.toLowerCase() === group.name.toLowerCase() ? `${wanted} 2` : wanted;
  return counted === null
    ? { name, aggregate: 'COUNT' as const }
    : { name, aggregate: counted.aggregate, column: columnOf(counted.placed) };
};

const definitionOf = (from: FieldTable, group: Dimension, counted: Counted): NewGuestDefinition => {
  const measure = measureOf(counted, group);
  const { schemaName, tableName } = from;
  const parts = { from: { schemaName, tableName }, dimensions: [group], measures: [measure] };
  return group.grain === undefined
    ? { chart: { type: 'bar' }, ...parts, sort: [{ name: measure.name, direction: 'DESC' }], limit: groups }
    : { chart: { type: 'line' }, ...parts, sort: [{ name: group.name, direction: 'ASC' }] };
};

/** The tables that the table's rows are of, by declared relationships; their fields can be groups. */
const parentsOf = ({ tables, relationships }: GuestFields, from: FieldTable): readonly FieldTable[] =>
  relationships
    .filter(({ parent, cardinality }) => parent.tableName === from.tableName && cardinality === 'ManyToOne')
    .flatMap(({ child }) => tables.filter(({ tableName }) => tableName === child.tableName));

const ofTable = (fields: GuestFields, from: FieldTable): readonly NewGuestDefinition[] => {
  const place =
    (table: FieldTable) =>
    (field: Field): Placed => ({ table, field });
  const dates = from.fields.filter(({ type }) => type === 'date').map(place(from));
  const near = [...parentsOf(fields, from), from];
  const kinds = near.flatMap((table) => bestFirst(table.fields.filter(isGroup)).slice(0, 2).map(place(table)));
  const numbers = bestFirst(from.fields.filter(isNumber)).map(place(from));
  const counted = [
    null,
    ...numbers.map((placed) => ({ placed, aggregate: placed.field.suggestedAggregates.at(-1) ?? 'AVG' }) as const),
  ];
  const times = dates.slice(0, 1).map((one) => groupOf(one, { grain: one.field.defaultGrain ?? 'month' }));
  // Each measure has another group, so that the suggestions differ.
  return counted.slice(0, 3).flatMap((of, at) => {
    const kind = kinds[at % Math.max(1, kinds.length)];
    return [...times, ...(kind === undefined ? [] : [groupOf(kind)])].map((group) => definitionOf(from, group, of));
  });
};

/** Amounts of several currencies are kept apart, and have no order of size. */
const apart = (fields: GuestFields, definition: NewGuestDefinition): NewGuestDefinition => {
  const grouped = withCurrencyGroups(fields, definition);
  const [group] = grouped.dimensions ?? [];
  if (grouped === definition || group === undefined) return definition;
  const { limit: _, ...rest } = grouped;
  return { ...rest, sort: [{ name: group.name, direction: 'ASC' }] };
};

/** Returns a few metrics that fit the catalogue: counts and averages over time, and by the fields that name things. */
export const suggestionsOf = (fields: GuestFields): readonly Suggestion[] => {
  // Tables with dates hold what happens; the others describe it.
  const tables = fields.tables.toSorted(
    (a, b) =>
      Number(b.fields.some(({ type }) => type === 'date')) - Number(a.fields.some(({ type }) => type === 'date')),
  );
  return tables
    .flatMap((table) => ofTable(fields, table))
    .slice(0, most)
    .map((definition) => apart(fields, definition))
    .map((definition) => ({
      definition: withColumnFormats(definition, fields),
      labels: labelsOf(definition, fields),
    }));
};
