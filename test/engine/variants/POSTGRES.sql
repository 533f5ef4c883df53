-- before each statement
BEGIN READ ONLY;
SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('guestlist.client_id', $2, true),
  pg_catalog.set_config('timezone', 'UTC', true), pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', (
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ') FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS name)), true),
  pg_catalog.set_config('datestyle', 'ISO, YMD', true), pg_catalog.set_config('extra_float_digits', '1', true),
  pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('bytea_output', 'hex', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true), pg_catalog.set_config('transform_null_equals', 'off', true);
-- values: ["30000","ac'me\\"]

-- the sum of each month, of rows that a token restricts by text, a list and a number
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT CASE WHEN "gl_leaf_0"."day" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST(date_trunc('month', CAST("gl_leaf_0"."day" AS timestamp)) AS date) ELSE "gl_leaf_0"."day" END AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" WHERE ((CAST("gl_leaf_0"."note" AS text) COLLATE "C") = CAST($2 AS text)) AND ((CAST("gl_leaf_0"."shop" AS text) COLLATE "C") = ANY (CAST($3 AS text[]))) AND ("gl_leaf_0"."price" > CAST($4 AS DECIMAL(2,1))) GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","west",["s1","s'2"],"1.5"]

-- rows of a table that has its client through its parent
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "sale", "sku", "quantity" FROM "main"."lines" AS "gl_own" WHERE EXISTS (SELECT 1 FROM "main"."sales" AS "gl_parent_0" WHERE "gl_own"."sale" = "gl_parent_0"."id" AND "gl_parent_0"."client" OPERATOR(pg_catalog.=) CAST($1 AS text))) SELECT (CAST("gl_groups"."gl_c0" AS text) COLLATE "C") AS "gl_c0", "gl_groups"."gl_c1" AS "gl_c1" FROM (SELECT "gl_leaf_0"."sku" AS "gl_c0", count(1) AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_groups" ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]

-- a looked-up text, the second page
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)), "gl_leaf_1" AS NOT MATERIALIZED (SELECT "code", "client", "state" FROM "main"."shops" WHERE "client" OPERATOR(pg_catalog.=) CAST($2 AS text)) SELECT (CAST("gl_groups"."gl_c0" AS text) COLLATE "C") AS "gl_c0", "gl_groups"."gl_c1" AS "gl_c1" FROM (SELECT "gl_leaf_1"."state" AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" LEFT JOIN "gl_leaf_1" ON "gl_leaf_0"."shop" = "gl_leaf_1"."code" GROUP BY 1) AS "gl_groups" ORDER BY 1 ASC NULLS LAST LIMIT CAST($3 AS bigint) OFFSET CAST($4 AS bigint);
-- values: ["acme","acme","10","10"]

-- averages, extremes and distinct values, sorted by a float
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT (CAST("gl_groups"."gl_c0" AS text) COLLATE "C") AS "gl_c0", "gl_groups"."gl_c1" AS "gl_c1", "gl_groups"."gl_c2" AS "gl_c2", "gl_groups"."gl_c3" AS "gl_c3", "gl_groups"."gl_c4" AS "gl_c4" FROM (SELECT "gl_leaf_0"."shop" AS "gl_c0", CAST(sum("gl_leaf_0"."amount") AS double precision) / nullif(count("gl_leaf_0"."amount"), 0) AS "gl_c1", max("gl_leaf_0"."weight") AS "gl_c2", min("gl_leaf_0"."weight") AS "gl_c3", count(DISTINCT (CAST("gl_leaf_0"."note" AS text) COLLATE "C")) AS "gl_c4" FROM "gl_leaf_0" WHERE ("gl_leaf_0"."weight" > CAST($2 AS double precision)) GROUP BY 1) AS "gl_groups" ORDER BY 3 DESC NULLS LAST, 1 ASC NULLS LAST;
-- values: ["acme","2.5"]

-- the median of a number
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST("gl_leaf_0"."amount" AS double precision)) AS "gl_c0" FROM "gl_leaf_0";
-- values: ["acme"]

-- the median of a date
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT CASE WHEN bool_and(isfinite("gl_leaf_0"."day")) THEN timestamp '2000-01-01' + percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN isfinite("gl_leaf_0"."day") THEN CAST("gl_leaf_0"."day" AS timestamp) - timestamp '2000-01-01' END) ELSE CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY "gl_leaf_0"."day") AS timestamp) END AS "gl_c0" FROM "gl_leaf_0";
-- values: ["acme"]

-- days of the week in a timezone
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT CAST(extract(isodow FROM (("gl_leaf_0"."at" AT TIME ZONE 'UTC') AT TIME ZONE CASE WHEN "gl_leaf_0"."at" > timestamp '4712-01-01 00:00:00+00 BC' AND "gl_leaf_0"."at" < timestamp '294275-01-01 00:00:00+00' THEN CAST($2 AS text) ELSE 'UTC' END)) AS integer) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","America/New_York"]

-- all but a list, within a range of days
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE ((CAST("gl_leaf_0"."note" AS text) COLLATE "C") <> ALL (CAST($2 AS text[]))) AND ("gl_leaf_0"."day" >= CAST($3 AS date) AND "gl_leaf_0"."day" < CAST($4 AS date));
-- values: ["acme",["a","b"],"2024-01-01","2024-02-01"]

-- text by a pattern
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE ((CAST("gl_leaf_0"."note" AS text) COLLATE "C") LIKE CAST($2 AS text) ESCAPE '\');
-- values: ["acme","a\\_b%"]

-- the month before
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT "gl_groups".*, CASE WHEN CASE WHEN "gl_c0" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST((extract(year FROM CAST("gl_c0" AS timestamp)) + CASE WHEN extract(year FROM CAST("gl_c0" AS timestamp)) < 0 THEN 1 ELSE 0 END - 1970) * 12 + extract(month FROM CAST("gl_c0" AS timestamp)) - 1 AS bigint) END IS NOT NULL THEN sum("gl_c1") OVER (ORDER BY CASE WHEN "gl_c0" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST((extract(year FROM CAST("gl_c0" AS timestamp)) + CASE WHEN extract(year FROM CAST("gl_c0" AS timestamp)) < 0 THEN 1 ELSE 0 END - 1970) * 12 + extract(month FROM CAST("gl_c0" AS timestamp)) - 1 AS bigint) END RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING) END AS "gl_c2" FROM (SELECT CASE WHEN "gl_leaf_0"."day" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST(date_trunc('month', CAST("gl_leaf_0"."day" AS timestamp)) AS date) ELSE "gl_leaf_0"."day" END AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_groups" ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]

-- a masked column
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "gl_own"."id" AS "id", "gl_own"."client" AS "client", "gl_own"."shop" AS "shop", "gl_own"."day" AS "day", "gl_own"."at" AS "at", "gl_own"."amount" AS "amount", "gl_own"."price" AS "price", "gl_own"."weight" AS "weight", CASE WHEN char_length((CAST("gl_own"."note" AS text) COLLATE "C")) <= 4 THEN '' ELSE right((CAST("gl_own"."note" AS text) COLLATE "C"), 4) END AS "note", "gl_own"."note" AS "gl_stored_0" FROM "main"."sales" AS "gl_own" WHERE "gl_own"."client" OPERATOR(pg_catalog.=) CAST($1 AS text)) SELECT (CAST("gl_leaf_0"."note" AS text) COLLATE "C") AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]

-- a hashed column
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "gl_own"."id" AS "id", "gl_own"."client" AS "client", "gl_own"."shop" AS "shop", "gl_own"."day" AS "day", "gl_own"."at" AS "at", "gl_own"."amount" AS "amount", "gl_own"."price" AS "price", "gl_own"."weight" AS "weight", left(encode(sha256(convert_to(CAST($1 AS text) || encode(sha256(convert_to(CAST($2 AS text) || (CAST("gl_own"."note" AS text) COLLATE "C"), 'UTF8')), 'hex'), 'UTF8')), 'hex'), 32) AS "note", "gl_own"."note" AS "gl_stored_0" FROM "main"."sales" AS "gl_own" WHERE "gl_own"."client" OPERATOR(pg_catalog.=) CAST($3 AS text)) SELECT (CAST("gl_leaf_0"."note" AS text) COLLATE "C") AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["a key","a key","acme"]

-- a FULL JOIN
WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)), "gl_leaf_1" AS NOT MATERIALIZED (SELECT "code", "client", "state" FROM "main"."shops" WHERE "client" OPERATOR(pg_catalog.=) CAST($2 AS text)) SELECT (CAST("gl_groups"."gl_c0" AS text) COLLATE "C") AS "gl_c0", "gl_groups"."gl_c1" AS "gl_c1" FROM (SELECT "gl_leaf_1"."state" AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" FULL JOIN "gl_leaf_1" ON "gl_leaf_0"."shop" = "gl_leaf_1"."code" GROUP BY 1) AS "gl_groups" ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme"]

-- SQL of the author
WITH "gl_sql_0" AS MATERIALIZED (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" OPERATOR(pg_catalog.=) CAST($1 AS text)), "gl_q" AS (SELECT shop AS d FROM "gl_sql_0" AS "sales" WHERE true) SELECT "gl_q"."d" AS "gl_c0" FROM "gl_q" ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]

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
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
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
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
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
WHERE k.contype = 'f' AND k.conparentid = 0 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
ORDER BY 1, 2, 3, names;

-- the catalog, statement 3
SELECT DISTINCT o.oprname::text FROM pg_catalog.pg_operator o
WHERE o.oprnamespace <> 'pg_catalog'::regnamespace AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e')
UNION SELECT DISTINCT '::' || t.typname FROM pg_catalog.pg_cast k
JOIN pg_catalog.pg_type t ON t.oid = k.casttarget JOIN pg_catalog.pg_proc f ON f.oid = k.castfunc
WHERE f.pronamespace <> 'pg_catalog'::regnamespace AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_cast'::regclass AND d.objid = k.oid AND d.deptype = 'e');

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
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
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
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
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
WHERE k.contype = 'f' AND k.conparentid = 0 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') 
ORDER BY 1, 2, 3, names;

-- the catalog, statement 6
SELECT n.nspname::text, c.relname::text,
  CASE WHEN true AND c.relkind IN ('r', 'm', 'p') AND (c.reltuples > 0
    OR c.reltuples = 0 AND current_setting('server_version_num')::int >= 140000) THEN c.reltuples::float8 END,
  CASE WHEN c.relispartition THEN 'partition' WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT');

-- the catalog, statement 7
SELECT datname::text FROM pg_catalog.pg_database
WHERE datallowconn AND NOT datistemplate AND datname !~ '^template[01]$' AND datname <> ALL (CAST($1 AS text[]))
  AND datname <> current_database() AND has_database_privilege(oid, 'CONNECT') ORDER BY 1;

-- the catalog, statement 8
SELECT nspname::text FROM pg_catalog.pg_namespace
WHERE nspname !~ '^pg_' AND nspname <> ALL (CAST($1 AS text[])) AND has_schema_privilege(oid, 'USAGE') ORDER BY 1;

-- the catalog, statement 9
SELECT pg_catalog.current_setting('server_version'), r.rolsuper,
  r.rolbypassrls OR EXISTS (SELECT FROM pg_catalog.pg_class c
    WHERE c.relrowsecurity AND NOT c.relforcerowsecurity AND pg_catalog.pg_has_role(c.relowner, 'USAGE')),
  EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')),
  EXISTS (SELECT FROM pg_catalog.pg_namespace n
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')),
  r.rolcreaterole OR r.rolcreatedb OR r.rolreplication
  FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) current_user;
