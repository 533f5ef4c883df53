/** What one may say about a relationship of two columns, and who says it: a key, a person, or the rows. */
import type { Cardinality } from '../../../model/datamart/datamart.js';
import type { Api, OperationAnswer } from './api.js';
import { keyOf, type Relationship, type StoredModel } from './model-edit.js';
import type { Keys } from './model-tenancy.js';

export const cardinalityText: Readonly<Record<Cardinality, string>> = {
  ManyToOne: 'many to one',
  OneToOne: 'one to one',
  OneToMany: 'one to many',
  ManyToMany: 'many to many',
};

export const cardinalities = Object.keys(cardinalityText) as readonly Cardinality[];

/** A column of a relationship; the table by its whole name. */
export type End = { readonly table: string; readonly column: string };
export type Ends = { readonly from: End; readonly to: End };

/** How often values of two columns repeat, as the service counted them in the rows of all tenants. */
export type Checked = OperationAnswer<'compareDatasourceColumns'>['data'];
export type Repeats = Checked['from'];

/** Whether a key of the source says that no value of this column repeats. */
const isKey = (keys: Keys, { table, column }: End): boolean =>
  (keys.get(table) ?? []).some((key) => key.length === 1 && key[0] === column);

const ofUnique = (isFromUnique: boolean, isToUnique: boolean): Cardinality => {
  if (isToUnique) return isFromUnique ? 'OneToOne' : 'ManyToOne';
  return isFromUnique ? 'OneToMany' : 'ManyToMany';
};

/** What the keys say. Null: they say nothing, and it is safer to say nothing too. */
export const proposedByKeys = (keys: Keys, { from, to }: Ends): Cardinality | null => {
  const found = ofUnique(isKey(keys, from), isKey(keys, to));
  return found === 'ManyToMany' ? null : found;
};

/** What the rows say. Null: too little was read to say it. */
export const proposedByRows = ({ from, to }: Checked): Cardinality | null => {
  const isKnown = ({ rows, repeated, isWhole }: Repeats): boolean => repeated > 0 || (isWhole && rows > 0);
  return isKnown(from) && isKnown(to) ? ofUnique(from.repeated === 0, to.repeated === 0) : null;
};

/** The ends of which a cardinality says that no value repeats. */
const uniqueEnds = (cardinality: Cardinality | null, { from, to }: Ends): readonly (keyof Ends)[] => {
  const ends: readonly (keyof Ends)[] =
    cardinality === 'OneToOne'
      ? ['from', 'to']
      : cardinality === 'ManyToOne'
        ? ['to']
        : cardinality === 'OneToMany'
          ? ['from']
          : [];
  return from.table === to.table && from.column === to.column ? [] : ends;
};

export type Evidence = {
  readonly kind: 'proved' | 'declared' | 'contradicted' | 'open';
  readonly text: string;
};

const nameOf = ({ table, column }: End): string => `${table}.${column}`;

/** Who says that a cardinality is so. */
export const evidenceOf = (
  cardinality: Cardinality | null,
  ends: Ends,
  keys: Keys,
  checked: Checked | null = null,
): Evidence => {
  const claimed = uniqueEnds(cardinality, ends);
  if (cardinality === null)
    return {
      kind: 'open',
      text: 'The keys of the database decide; without one it counts as many to many.',
    };
  if (claimed.length === 0)
    return {
      kind: 'declared',
      text: 'It says nothing that a key or a row could contradict. No tenant follows from it.',
    };
  const broken = claimed.filter((end) => (checked?.[end].repeated ?? 0) > 0);
  if (broken.length > 0) {
    const counts = broken.map((end) => `${checked?.[end].repeated} values of ${nameOf(ends[end])} are in several rows`);
    return { kind: 'contradicted', text: `The rows contradict it: ${counts.join('; ')}.` };
  }
  const unproved = claimed.filter((end) => !isKey(keys, ends[end]));
  if (unproved.length === 0)
    return { kind: 'proved', text: `${claimed.map((end) => nameOf(ends[end])).join(' and ')} has a key.` };
  const named = unproved.map((end) => nameOf(ends[end])).join(' and ');
  return {
    kind: 'declared',
    text: `No key says that values of ${named} do not repeat. ${rowsText(unproved, checked)}`,
  };
};

const rowsText = (ends: readonly (keyof Ends)[], checked: Checked | null): string => {
  if (checked === null) return 'If they do, rows are shown to several tenants.';
  const read = ends.map((end) => checked[end]);
  if (read.some(({ rows }) => rows === 0)) return 'There were no rows to check.';
  const rows = Math.min(...read.map((one) => one.rows)).toLocaleString('en');
  return read.every(({ isWhole }) => isWhole)
    ? `None repeats in the ${rows} rows of now.`
    : `None repeats in the first ${rows} rows; the others were not read.`;
};

/** The ends of a stored relationship, whose tables may be named without their schema. */
export const endsOf = (
  { parentTableName, parentColumnName, childTableName, childColumnName }: Relationship,
  whole: (name: string) => string,
): Ends => ({
  from: { table: whole(parentTableName), column: parentColumnName },
  to: { table: whole(childTableName), column: childColumnName },
});

/** A name for a relationship that none of the others has. */
export const freeName = ({ from }: Ends, taken: readonly string[]): string => {
  const name = `${from.table.split('.').at(-1)}.${from.column}`;
  for (let count = 1; ; count += 1) {
    const tried = count === 1 ? name : `${name} ${count}`;
    if (!taken.includes(tried)) return tried;
  }
};

/** Counts the values that repeat in two columns, in the rows of all tenants. */
export const countRepeats = async (
  api: Api,
  name: string,
  { datamartTables }: Pick<StoredModel, 'datamartTables'>,
  { from, to }: Ends,
): Promise<Checked> => {
  const placeOf = ({ table, column: columnName }: End) => {
    const { schemaName = '', tableName = '' } = datamartTables.find((one) => keyOf(one) === table) ?? {};
    return { schemaName, tableName, columnName };
  };
  const { data } = await api.call('compareDatasourceColumns', { name, from: placeOf(from), to: placeOf(to) });
  return data;
};
