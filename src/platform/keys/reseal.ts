/**
 * Rewrites sealed values with the first key of a ring, while other processes read and write them. A value that was
 * written meanwhile is never overwritten, and a run that was cut off is simply run again.
 */
import { type Kysely, type SelectType, sql } from 'kysely';
import type { Sealed } from '../../model/brand.js';
import { createSealer, type KeyRing, prefixOf } from './sealing.js';

/** How the values of a sealed column are bound to their rows. */
type Bound = {
  /** The columns of the table's primary key. */
  readonly key: readonly string[];
  /** The context of a row's value, from the values of `key`. */
  readonly contextOf: (...key: readonly string[]) => string;
};

export type SealedColumn = Bound & { readonly schema: string; readonly table: string; readonly column: string };

/** The columns that are declared as sealed, as `table.column`. */
type SealedIn<Tables> = {
  [Table in keyof Tables & string]: {
    [Column in keyof Tables[Table] & string]: NonNullable<SelectType<Tables[Table][Column]>> extends Sealed
      ? `${Table}.${Column}`
      : never;
  }[keyof Tables[Table] & string];
}[keyof Tables & string];

/** Lists the sealed columns of a schema. A sealed column that is missing here does not compile. */
export const sealedColumnsOf = <Tables>(
  schema: string,
  columns: Readonly<Record<SealedIn<Tables>, Bound>>,
): readonly SealedColumn[] =>
  Object.entries<Bound>(columns).map(([name, bound]) => {
    const [table = '', column = ''] = name.split('.');
    return { schema, table, column, ...bound };
  });

type Db = Kysely<unknown>;
type Row = { readonly key: readonly string[]; readonly value: Sealed };

const isThere = async (db: Db, { schema, table }: SealedColumn): Promise<boolean> => {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(${`${schema}.${table}`}) is not null as found`.execute(db);
  return rows[0]?.found === true;
};

/** Lists values that none of these keys sealed, in the order of their keys, from behind `after`. */
const listOthers = async (
  db: Db,
  { schema, table, column, key }: SealedColumn,
  sealedBy: readonly Buffer[],
  { after, limit }: { readonly after: readonly string[] | null; readonly limit: number },
): Promise<readonly Row[]> => {
  const refs = key.map((name) => sql.ref(name));
  const isOther = sealedBy.map((one) => {
    const prefix = prefixOf(one);
    return sql`and left(${sql.ref(column)}, ${sql.lit(prefix.length)}) <> ${prefix}`;
  });
  const isBehind = after === null ? sql`` : sql`and (${sql.join(refs)}) > (${sql.join(after)})`;
  const { rows } = await sql<Readonly<Record<string, string>> & { readonly sealed_value: Sealed }>`
    select ${sql.join(refs)}, ${sql.ref(column)} as sealed_value from ${sql.id(schema, table)}
    where ${sql.ref(column)} is not null ${sql.join(isOther, sql` `)} ${isBehind}
    order by ${sql.join(refs)} limit ${sql.lit(limit)}`.execute(db);
  return rows.map((row) => ({ key: key.map((name) => String(row[name])), value: row.sealed_value }));
};

/** Returns a value that no key of the ring sealed; undefined if there is none. */
export const findForeign = async (
  db: Db,
  columns: readonly SealedColumn[],
  ring: readonly Buffer[],
): Promise<Sealed | undefined> => {
  for (const column of columns) {
    if (!(await isThere(db, column))) continue;
    const [first] = await listOthers(db, column, ring, { after: null, limit: 1 });
    if (first !== undefined) return first.value;
  }
  return undefined;
};

/** Whether any of these columns holds a value. */
export const hasValues = async (db: Db, columns: readonly SealedColumn[]): Promise<boolean> =>
  (await findForeign(db, columns, [])) !== undefined;

export type Resealed = {
  readonly resealed: number;
  /** Values that no key of the ring opens, as `schema.table.column of key`. They stay as they were. */
  readonly unreadable: readonly string[];
};

type ResealOptions = {
  readonly db: Db;
  readonly ring: KeyRing;
  readonly columns: readonly SealedColumn[];
  /** Rows that are read at once. */
  readonly pageSize?: number;
};

const resealColumn = async (
  { db, ring, pageSize = 500 }: ResealOptions,
  column: SealedColumn,
): Promise<Resealed & { readonly tried: number }> => {
  const sealer = createSealer(...ring);
  const { schema, table, column: name, key, contextOf } = column;
  let tried = 0;
  let resealed = 0;
  const unreadable: string[] = [];
  const rewrite = async (row: Row): Promise<void> => {
    tried += 1;
    const context = contextOf(...row.key);
    const next = sealer.seal(sealer.open(row.value, context), context);
    const isRow = key.map((part, index) => sql`${sql.ref(part)} = ${row.key[index]}`);
    // The old value is part of the condition, so a value that another process has written meanwhile stays.
    const { numAffectedRows = 0n } = await sql`
      update ${sql.id(schema, table)} set ${sql.ref(name)} = ${next}
      where ${sql.join(isRow, sql` and `)} and ${sql.ref(name)} = ${row.value}`.execute(db);
    resealed += Number(numAffectedRows);
  };
  const marks = ring.map(prefixOf);
  for (let after: readonly string[] | null = null; ; ) {
    const rows: readonly Row[] = await listOthers(db, column, ring.slice(0, 1), { after, limit: pageSize });
    for (const row of rows) {
      after = row.key;
      if (marks.some((mark) => String(row.value).startsWith(mark))) await rewrite(row);
      else unreadable.push(`${schema}.${table}.${name} of ${row.key.join(', ')}`);
    }
    if (rows.length < pageSize) return { tried, resealed, unreadable };
  }
};

/**
 * Seals every value of these columns with the first key of the ring, in as many rounds as other processes still seal
 * with another one. Throws if they do so in every round, or if a value was changed.
 */
export const reseal = async (options: ResealOptions): Promise<Resealed> => {
  let resealed = 0;
  for (let round = 0; round < 10; round += 1) {
    const unreadable: string[] = [];
    let tried = 0;
    for (const column of options.columns) {
      if (!(await isThere(options.db, column))) continue;
      const done = await resealColumn(options, column);
      tried += done.tried;
      resealed += done.resealed;
      unreadable.push(...done.unreadable);
    }
    // A value that changed meanwhile was tried and not rewritten: the next round looks at it again.
    if (tried === 0) return { resealed, unreadable };
  }
  throw new Error(
    'a process still seals with another key: start every process with the new key first in GUESTLIST_ENCRYPTION_KEY, then run this again',
  );
};
