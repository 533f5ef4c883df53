-- Citus: recorded, and run on no server. Values are bound.

-- before each statement
BEGIN READ ONLY;
SET LOCAL citus.propagate_set_commands TO E'local';
SET LOCAL statement_timeout TO E'30000';
SET LOCAL guestlist.client_id TO E'ac''me\\';
SET LOCAL timezone TO E'UTC';
SET LOCAL search_path TO E'pg_catalog';
SET LOCAL datestyle TO E'ISO, YMD';
SET LOCAL extra_float_digits TO E'1';
SET LOCAL standard_conforming_strings TO E'on';
SET LOCAL bytea_output TO E'hex';
SET LOCAL intervalstyle TO E'postgres';
SET LOCAL transform_null_equals TO E'off';

-- the sum of each month, of rows that a token restricts by text, a list and a number: as in POSTGRES.sql

-- rows of a table that has its client through its parent: as in POSTGRES.sql

-- a looked-up text, the second page: as in POSTGRES.sql

-- averages, extremes and distinct values, sorted by a float: as in POSTGRES.sql

-- the median of a number: as in POSTGRES.sql

-- the median of a date: as in POSTGRES.sql

-- days of the week in a timezone: as in POSTGRES.sql

-- all but a list, within a range of days: as in POSTGRES.sql

-- text by a pattern: as in POSTGRES.sql

-- the month before: as in POSTGRES.sql

-- a masked column: as in POSTGRES.sql

-- a hashed column: as in POSTGRES.sql

-- a FULL JOIN: as in POSTGRES.sql

-- SQL of the author
-- refused: Citus has no way to keep the host's own SQL and expressions away from other clients' rows; use plain columns and measures there.

-- the catalog, statement 1
WITH RECURSIVE steps AS (
  SELECT oid AS domain, typbasetype AS base, typnotnull AS required FROM pg_catalog.pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT s.domain, n.typbasetype, s.required OR n.typnotnull
  FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype = 'd'
), domains AS (
  SELECT s.domain, s.base, s.required FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype <> 'd'
) SELECT n.nspname::text, c.relname::text, a.attname::text, CASE
  WHEN b.typtype = 'e' THEN (SELECT concat('enum(', string_agg(quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder), ')')
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = b.oid)
  WHEN b.typname = 'citext' THEN 'citext'
  WHEN bn.nspname = 'pg_catalog' THEN regexp_replace(
    format_type(b.oid, CASE WHEN m.base IS NULL THEN a.atttypmod END), '^pg_catalog[.]', '')
  ELSE concat(quote_ident(bn.nspname), '.', quote_ident(b.typname)) END,
  NOT (a.attnotnull OR coalesce(m.required, false)), current_database()::text,
  a.attcollation::text, coalesce(co.collisdeterministic, false), pg_catalog.concat(a.atttypid, ' ', a.attcollation)
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN domains m ON m.domain = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = coalesce(m.base, a.atttypid)
JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum;

-- the catalog, statement 2
SELECT n.nspname::text, c.relname::text, CASE WHEN i.indisprimary THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
  (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = i.indrelid AND named.attnum = listed.number
    WHERE listed.position <= i.indnkeyatts) AS names, NULL, NULL, NULL
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
UNION ALL
SELECT n.nspname::text, c.relname::text, 'FOREIGN KEY', (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(k.conkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = k.conrelid AND named.attnum = listed.number
    WHERE listed.position <= cardinality(k.conkey)),
  fn.nspname::text, f.relname::text, (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(k.confkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = k.confrelid AND named.attnum = listed.number
    WHERE listed.position <= cardinality(k.confkey))
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
ORDER BY 1, 2, 3, names;

-- the catalog, statement 3: as in POSTGRES.sql

-- the catalog, statement 4
WITH RECURSIVE steps AS (
  SELECT oid AS domain, typbasetype AS base, typnotnull AS required FROM pg_catalog.pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT s.domain, n.typbasetype, s.required OR n.typnotnull
  FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype = 'd'
), domains AS (
  SELECT s.domain, s.base, s.required FROM steps s JOIN pg_catalog.pg_type n ON n.oid = s.base AND n.typtype <> 'd'
) SELECT n.nspname::text, c.relname::text, a.attname::text, CASE
  WHEN b.typtype = 'e' THEN (SELECT concat('enum(', string_agg(quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder), ')')
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = b.oid)
  WHEN b.typname = 'citext' THEN 'citext'
  WHEN bn.nspname = 'pg_catalog' THEN regexp_replace(
    format_type(b.oid, CASE WHEN m.base IS NULL THEN a.atttypmod END), '^pg_catalog[.]', '')
  ELSE concat(quote_ident(bn.nspname), '.', quote_ident(b.typname)) END,
  NOT (a.attnotnull OR coalesce(m.required, false)), current_database()::text,
  a.attcollation::text, coalesce(co.collisdeterministic, false), pg_catalog.concat(a.atttypid, ' ', a.attcollation)
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN domains m ON m.domain = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = coalesce(m.base, a.atttypid)
JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum;

-- the catalog, statement 5
SELECT n.nspname::text, c.relname::text, CASE WHEN i.indisprimary THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
  (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = i.indrelid AND named.attnum = listed.number
    WHERE listed.position <= i.indnkeyatts) AS names, NULL, NULL, NULL
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
UNION ALL
SELECT n.nspname::text, c.relname::text, 'FOREIGN KEY', (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(k.conkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = k.conrelid AND named.attnum = listed.number
    WHERE listed.position <= cardinality(k.conkey)),
  fn.nspname::text, f.relname::text, (SELECT json_agg(named.attname ORDER BY listed.position)::text
    FROM unnest(k.confkey::int2[]) WITH ORDINALITY AS listed(number, position)
    JOIN pg_catalog.pg_attribute named ON named.attrelid = k.confrelid AND named.attnum = listed.number
    WHERE listed.position <= cardinality(k.confkey))
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
ORDER BY 1, 2, 3, names;

-- the catalog, statement 6
SELECT n.nspname::text, c.relname::text,
  CASE WHEN false AND c.relkind IN ('r', 'm', 'p') AND (c.reltuples > 0
    OR c.reltuples = 0 AND current_setting('server_version_num')::int >= 140000) THEN c.reltuples::float8 END,
  CASE WHEN c.relispartition THEN 'partition' WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT');

-- the catalog, statement 7: as in POSTGRES.sql

-- the catalog, statement 8
SELECT nspname::text FROM pg_catalog.pg_namespace
WHERE nspname !~ '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)' AND nspname <> ALL (CAST($1 AS text[])) AND has_schema_privilege(oid, 'USAGE') ORDER BY 1;

-- the catalog, statement 9: as in POSTGRES.sql
