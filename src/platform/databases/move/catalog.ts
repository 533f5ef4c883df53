/**
 * Reads from the catalog what a move copies, so that a table of a later migration needs no line here: tables with their
 * columns, sequences, and the references that are restored after the rows.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';

export type Column = { readonly name: string; readonly type: string };

export type Table = {
  /** With its schema, quoted where necessary. */
  readonly name: string;
  /** Those that are stored. Generated ones follow from them. */
  readonly columns: readonly Column[];
};

export type Contents = { readonly tables: readonly Table[]; readonly sequences: readonly string[] };

const among = (schemas: readonly string[]): RawBuilder<unknown> => sql.join(schemas.map((schema) => sql.lit(schema)));

/** Lists the tables and sequences of these schemas, by name. An unlogged table holds nothing that outlives a process. */
export const readContents = async (db: Kysely<unknown>, schemas: readonly string[]): Promise<Contents> => {
  const { rows } = await sql<{ readonly name: string; readonly kind: string; readonly columns: readonly Column[] }>`
    select format('%I.%I', n.nspname, c.relname) collate "C" as name, c.relkind::text as kind,
      (select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
          order by a.attname collate "C"), '[]')
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${among(schemas)}) and c.relkind in ('r', 'S') and c.relpersistence <> 'u'
    order by 1`.execute(db);
  return {
    tables: rows.filter(({ kind }) => kind === 'r').map(({ name, columns }) => ({ name, columns })),
    sequences: rows.filter(({ kind }) => kind === 'S').map(({ name }) => name),
  };
};

/** Lists the schemas that this user or an extension has made and that are not among `known`, if they hold tables. */
export const listOtherSchemas = async (db: Kysely<unknown>, known: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await sql<{ readonly name: string }>`
    select distinct n.nspname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'S') and n.nspname <> 'information_schema' and not starts_with(n.nspname, 'pg_')
      and n.nspname not in (${among(known)})
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
};

/** Lists those of these schemas that exist. */
export const listSchemas = async (db: Kysely<unknown>, schemas: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await sql<{ readonly name: string }>`
    select nspname as name from pg_namespace where nspname in (${among(schemas)})`.execute(db);
  const there = new Set(rows.map(({ name }) => name));
  return schemas.filter((schema) => there.has(schema));
};

type Reference = { readonly table: string; readonly name: string; readonly definition: string };

/** Lists the foreign keys of these schemas. */
export const listReferences = async (
  db: Kysely<unknown>,
  schemas: readonly string[],
): Promise<readonly Reference[]> => {
  const { rows } = await sql<Reference>`
    select format('%I.%I', n.nspname, c.relname) as "table", quote_ident(k.conname) as name,
      pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and n.nspname in (${among(schemas)}) order by 1, 2`.execute(db);
  return rows;
};

/** Lists other sessions of this user in this database, by the names that they gave. */
export const listOtherSessions = async (db: Kysely<unknown>): Promise<readonly string[]> => {
  const { rows } = await sql<{ readonly pid: number; readonly name: string | null }>`
    select pid, application_name as name from pg_stat_activity
    where datname = current_database() and usename = current_user and backend_type = 'client backend'
      and pid <> pg_backend_pid()
    order by pid`.execute(db);
  return rows.map(({ pid, name }) => (name === null || name === '' ? String(pid) : `${pid} (${name})`));
};
