/** What a person decides about when the database of a datamart has changed: each change, with what it shows and breaks. Pure. */
import { type Break, breaksBetween, ownershipBreaks, ownershipsOf, type Typed, type Use } from './change-breaks.js';
import { qualifiedName, sameTable, type TableRef } from './datamart.js';
import { whyHidden } from './model-draft.js';
import { acceptChanges } from './source-accepted.js';
import { type Compared, type SourceChange, sourceChanges } from './source-changes.js';
import type { SourceTable } from './source-schema.js';
import { type DescribedOwnership, describeOwnership } from './table-ownership.js';

export type Offer = {
  readonly change: SourceChange;
  /** Whose the rows of the table are after an addition. Null: the change is no addition. */
  readonly ownership: DescribedOwnership | null;
  /** Why an addition is not taken without a person. Null: it is safe. */
  readonly caution: string | null;
  readonly breaks: readonly Break[];
};

/** The keys of a table also by the former names of renamed columns. */
const withFormerKeys = (table: SourceTable, changes: readonly SourceChange[]): SourceTable => {
  const renamed = changes.filter(({ kind, columnName, table: of }) => {
    return kind === 'renamed' && columnName !== null && sameTable(of, table);
  });
  if (renamed.length === 0) return table;
  const former = (name: string): string => renamed.find(({ newName }) => newName === name)?.columnName ?? name;
  const keys = [table.primaryKey, ...table.uniqueKeys];
  return { ...table, uniqueKeys: [...table.uniqueKeys, ...keys.map((key) => key.map(former))] };
};

const mixed = (now: SourceTable, was: SourceTable | undefined, isTaken: (name: string) => boolean): SourceTable => {
  const stored = was?.columns ?? [];
  const isThere = (name: string): boolean => now.columns.some(({ columnName }) => columnName === name);
  const columns = now.columns.map((column) => {
    const before = stored.find(({ columnName }) => columnName === column.columnName);
    return before === undefined || isTaken(column.columnName) ? column : before;
  });
  return { ...now, columns: [...columns, ...stored.filter(({ columnName }) => !isThere(columnName))] };
};

/** The tables with what the datamart knew of them too, and with the new datatypes of the `taken` changes alone. */
const typedWith = (
  { stored, tables }: Compared,
  changes: readonly SourceChange[],
  taken: readonly SourceChange[],
): readonly SourceTable[] => {
  const isTaken = (table: TableRef) => (columnName: string) =>
    taken.some((one) => one.kind === 'retyped' && sameTable(one.table, table) && one.columnName === columnName);
  const formerOf = (table: TableRef): SourceChange | undefined =>
    changes.find((one) => one.kind === 'renamed' && one.columnName === null && sameTable(one.table, table));
  const gone = stored.filter((table) => !tables.some((one) => sameTable(one, table)));
  return [
    ...tables.map((table) => {
      const was = stored.find((one) => sameTable(one, table));
      return withFormerKeys(mixed(table, was, isTaken(table)), changes);
    }),
    ...gone.map((table) => {
      const newName = formerOf(table)?.newName;
      const now = tables.find((one) => one.schemaName === table.schemaName && one.tableName === newName);
      return now === undefined ? table : { ...table, primaryKey: now.primaryKey, uniqueKeys: now.uniqueKeys };
    }),
  ];
};

/** What the accepted changes break, together. */
export const breaksOf = (compared: Compared, accepted: readonly SourceChange[], uses: readonly Use[]) => {
  const changes = sourceChanges(compared);
  const before: Typed = { parts: compared.parts, typed: typedWith(compared, changes, []) };
  const after: Typed = { parts: acceptChanges(compared, accepted), typed: typedWith(compared, changes, accepted) };
  return breaksBetween(before, after, uses, compared.readSql ?? (() => undefined));
};

const cautions: Readonly<Partial<Record<DescribedOwnership['kind'], string>>> = {
  shared: 'all tenants read every row of its table',
  none: 'the datamart does not separate tenants',
  bridge: 'its rows are people whom several tenants share',
  unreadable: 'nobody can read its table',
};

const cautionOf = (
  compared: Compared,
  { table, columnName }: SourceChange,
  ownership: DescribedOwnership | undefined,
  changed: readonly Break[],
): string | null => {
  const column = compared.tables
    .find((one) => sameTable(one, table))
    ?.columns.find((one) => one.columnName === columnName);
  const hidden = column === undefined ? null : whyHidden(column);
  if (hidden !== null) return hidden;
  const [first] = changed;
  if (first !== undefined) return `it changes whose the rows of ${first.name} are: ${first.why}`;
  return ownership === undefined ? 'it has no table' : (cautions[ownership.kind] ?? null);
};

const offerOf = (compared: Compared, change: SourceChange, uses: readonly Use[], before: Typed): Offer => {
  if (change.kind !== 'new')
    return { change, ownership: null, caution: null, breaks: breaksOf(compared, [change], uses) };
  const after = { parts: acceptChanges(compared, [change]), typed: before.typed };
  const ownership = ownershipsOf(after)
    .map(describeOwnership)
    .find(({ table }) => table === qualifiedName(change.table));
  const changed = ownershipBreaks(before, after);
  return {
    change,
    ownership: ownership ?? null,
    caution: cautionOf(compared, change, ownership, changed),
    breaks: changed,
  };
};

/** Returns an offer for each change, in the order of `sourceChanges`. */
export const offersFor = (compared: Compared, uses: readonly Use[]): readonly Offer[] => {
  const changes = sourceChanges(compared);
  const before: Typed = { parts: compared.parts, typed: typedWith(compared, changes, []) };
  return changes.map((change) => offerOf(compared, change, uses, before));
};
