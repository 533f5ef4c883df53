import { datatypeOf } from '../../../model/datamart/datatypes.js';
import type { ClientDatabases, SourceTable } from '../../../model/datamart/source-schema.js';
import type { ServerConnection } from '../../../model/organization.js';
import type { Cell } from '../../../model/query/engine.js';
import { type Catalog, createCatalog } from '../../dialect/catalog.js';
import { type Ask, buildSourceTables, namesIn, type SourceKey } from '../../dialect/source-tables.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';
import { storedSql } from './assumed.js';
import { inexact } from './dialect.js';

/** What the catalog of a database says differently. */
export type CatalogFacts = {
  /** A regular expression of the schemas that the database itself or an extension keeps tables in. */
  readonly systemSchemas: string;
  /** Whether `reltuples` counts the rows of a table. */
  readonly hasEstimates: boolean;
};

/** How tables, keys and client databases are read. */
export type CatalogReader = {
  readonly readCatalog: (ask: Ask, schemas: readonly string[] | null) => Promise<Catalog>;
  readonly readSourceTables: (ask: Ask) => Promise<readonly SourceTable[]>;
  readonly readClientDatabases: (
    ask: Ask,
    source: Pick<ServerConnection, 'database' | 'schema'>,
  ) => Promise<ClientDatabases>;
};

export const postgresCatalog: CatalogFacts = { systemSchemas: '^pg_', hasEstimates: true };

/** Tables and views that the user may read, without system schemas. */
const readable = ({ systemSchemas }: CatalogFacts): string =>
  `c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '${systemSchemas}'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')`;

/** Each domain with its base type, also through other domains. */
const domains = `WITH RECURSIVE steps AS (
  SELECT oid AS domain, typbasetype AS base, typnotnull AS required FROM pg_catalog.pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT s.domain, n.typbasetype, s.required OR n.typnotnull
  FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype = 'd'
), domains AS (
  SELECT s.domain, s.base, s.required FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype <> 'd'
)`;

/**
 * The type by its own name only where that is a type of the database itself: its output never fails. An enum is written
 * with its texts in their order, as DuckDB and MySQL write it, and a domain as its base.
 */
const typeSql = `CASE
  WHEN b.typtype = 'e' THEN (SELECT concat('enum(', string_agg(quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder), ')')
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = b.oid)
  WHEN b.typname = 'citext' THEN 'citext'
  WHEN bn.nspname = 'pg_catalog' THEN regexp_replace(
    format_type(b.oid, CASE WHEN m.base IS NULL THEN a.atttypmod END), '^pg_catalog[.]', '')
  ELSE concat(quote_ident(bn.nspname), '.', quote_ident(b.typname)) END`;

/** Columns that the user may not read are left out, as tables are. */
const columnsQuery = (
  facts: CatalogFacts,
  extra = '',
): string => `${domains} SELECT n.nspname::text, c.relname::text, a.attname::text, ${typeSql},
  NOT (a.attnotnull OR coalesce(m.required, false)), current_database()::text,
  a.attcollation::text, coalesce(co.collisdeterministic, false), ${storedSql}
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN domains m ON m.domain = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = coalesce(m.base, a.atttypid)
JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
WHERE a.attnum > 0 AND NOT a.attisdropped AND ${readable(facts)} ${extra}
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum`;

const namesOf = (relation: string, numbers: string, most: string): string =>
  `(SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(${numbers}::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = ${relation} AND named.attnum = listed.number
    WHERE listed.position <= ${most})`;

/**
 * Unique keys, by constraint or index. Left out: partial indexes, indexes of expressions, and those of tables with
 * inheritors, whose rows a SELECT includes without the index covering them. Partitioned tables are fine. A deferred
 * constraint holds once committed.
 */
const keysQuery = (
  facts: CatalogFacts,
  extra = '',
): string => `SELECT n.nspname::text, c.relname::text, CASE WHEN i.indisprimary THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
  ${namesOf('i.indrelid', 'i.indkey', 'i.indnkeyatts')} AS names, NULL, NULL, NULL
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND ${readable(facts)} ${extra}
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
UNION ALL
SELECT n.nspname::text, c.relname::text, 'FOREIGN KEY', ${namesOf('k.conrelid', 'k.conkey', 'cardinality(k.conkey)')},
  fn.nspname::text, f.relname::text, ${namesOf('k.confrelid', 'k.confkey', 'cardinality(k.confkey)')}
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0 AND ${readable(facts)} ${extra}
ORDER BY 1, 2, 3, names`;

/** The estimate is null for views, and for tables that were never analyzed: before version 14 those count 0 rows. */
const describeQuery = (facts: CatalogFacts): string => `SELECT n.nspname::text, c.relname::text,
  CASE WHEN ${facts.hasEstimates} AND c.relkind IN ('r', 'm', 'p') AND (c.reltuples > 0
    OR c.reltuples = 0 AND current_setting('server_version_num')::int >= 140000) THEN c.reltuples::float8 END,
  CASE WHEN c.relispartition THEN 'partition' WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE ${readable(facts)}`;

const isOfExtension = (catalog: string, object: string): string =>
  `EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.${catalog}'::regclass AND d.objid = ${object} AND d.deptype = 'e')`;

/** Built-in operators come first only where they fit equally well. */
const ownOperatorsQuery = `SELECT DISTINCT o.oprname::text FROM pg_catalog.pg_operator o
WHERE o.oprnamespace <> 'pg_catalog'::regnamespace AND NOT ${isOfExtension('pg_operator', 'o.oid')}
UNION SELECT DISTINCT '::' || t.typname FROM pg_catalog.pg_cast k
JOIN pg_catalog.pg_type t ON t.oid = k.casttarget JOIN pg_catalog.pg_proc f ON f.oid = k.castfunc
WHERE f.pronamespace <> 'pg_catalog'::regnamespace AND NOT ${isOfExtension('pg_cast', 'k.oid')}`;

/** Column types of every readable table of these schemas; null: of all but the system's. */
export const readCatalog = async (
  ask: Ask,
  schemas: readonly string[] | null,
  facts: CatalogFacts,
): Promise<Catalog> => {
  const within = schemas === null ? '' : 'AND n.nspname = ANY (CAST($1 AS text[]))';
  const values = schemas === null ? [] : [schemas];
  const rows = await ask(columnsQuery(facts, within), values);
  const columns = rows.map(([schema, table, column, type, , , collation, isDeterministic, stored]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parsePostgresType(String(type), collation ?? null, isDeterministic === true ? String(stored) : null),
  }));
  const keys = sourceKeys(await ask(keysQuery(facts, within), values));
  const catalog = createCatalog(String(rows[0]?.[5] ?? ''), columns, keys);
  return { ...catalog, ownOperators: new Set((await ask(ownOperatorsQuery)).map(([name]) => String(name))) };
};

export const readSourceTables = async (ask: Ask, facts: CatalogFacts): Promise<readonly SourceTable[]> => {
  const columns = await ask(columnsQuery(facts));
  const keys = sourceKeys(await ask(keysQuery(facts)));
  return buildSourceTables('POSTGRES', columns, keys, await ask(describeQuery(facts)));
};

const sourceKeys = (rows: Awaited<ReturnType<Ask>>): readonly SourceKey[] =>
  rows.map(([schema, table, kind, names, referencedSchema, referenced, referencedNames]) => ({
    schemaName: String(schema),
    tableName: String(table),
    kind: String(kind),
    columns: namesIn(names),
    references: { schemaName: String(referencedSchema), tableName: String(referenced) },
    referencedColumns: namesIn(referencedNames),
  }));

/** Databases that PostgreSQL hosting services keep for themselves, and `postgres`. */
const hostsOwn = ['postgres', 'rdsadmin', 'cloudsqladmin', 'alloydbadmin', 'azure_maintenance', 'azure_sys'];

const databasesQuery = `SELECT datname::text FROM pg_catalog.pg_database
WHERE datallowconn AND NOT datistemplate AND datname !~ '^template[01]$' AND datname <> ALL (CAST($1 AS text[]))
  AND datname <> current_database() AND has_database_privilege(oid, 'CONNECT') ORDER BY 1`;

/** Schemas of Guestlist's metadata are never a client's. */
const schemasQuery = ({ systemSchemas }: CatalogFacts): string => `SELECT nspname::text FROM pg_catalog.pg_namespace
WHERE nspname !~ '${systemSchemas}' AND nspname <> ALL (CAST($1 AS text[])) AND has_schema_privilege(oid, 'USAGE') ORDER BY 1`;

/** A client has another database of the server, or a schema of the datasource's database. */
export const readClientDatabases = async (
  ask: Ask,
  { database, schema }: { readonly database: string; readonly schema: string | null },
  facts: CatalogFacts,
): Promise<ClientDatabases> => {
  const names = async (query: string, without: readonly string[]): Promise<readonly string[]> =>
    (await ask(query, [without])).map(([name]) => String(name));
  return {
    DATABASE: await names(databasesQuery, [...hostsOwn, database]),
    MULTI_DATABASE: await names(schemasQuery(facts), [
      'public',
      'information_schema',
      'guestlist',
      'guestlist_gateway',
      ...(schema === null ? [] : [schema]),
    ]),
  };
};

/** Text whose `=` compares as its collation does; that of char(n) ignores trailing blanks, and citext ignores case. */
const comparedByCollation = /^(text|character varying|"char"|name)(\(|$)/;

/** Sets `stored` for columns whose collation is deterministic. */
const parsePostgresType = (datatype: string, collation: Cell, stored: string | null): SqlType => {
  const type = datatypeOf('POSTGRES', datatype) ?? otherType;
  if (type.kind !== 'text') return type;
  return comparedByCollation.test(datatype) && stored !== null
    ? { ...type, collation: String(collation), stored }
    : { ...type, collation: inexact };
};
