-- CockroachDB: recorded, and run on no server. Values are bound.

-- before each statement
BEGIN READ ONLY;
SELECT pg_catalog.set_config($1, $2, true), pg_catalog.set_config($3, $4, true), pg_catalog.set_config($5, $6, true), pg_catalog.set_config($7, $8, true), pg_catalog.set_config($9, $10, true), pg_catalog.set_config($11, $12, true), pg_catalog.set_config($13, $14, true), pg_catalog.set_config($15, $16, true);
-- values: ["statement_timeout","30000","guestlist.client_id","ac'me\\","timezone","UTC","search_path","pg_catalog","datestyle","ISO, YMD","extra_float_digits","1","bytea_output","hex","intervalstyle","postgres"]

-- the sum of each month, of rows that a token restricts by text, a list and a number
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT * FROM (SELECT CASE WHEN "gl_leaf_0"."day" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST(date_trunc('month', CAST("gl_leaf_0"."day" AS timestamp)) AS date) ELSE "gl_leaf_0"."day" END AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" WHERE (CAST("gl_leaf_0"."note" AS text) = CAST($2 AS text)) AND (CAST("gl_leaf_0"."shop" AS text) = ANY (CAST($3 AS text[]))) AND (("gl_leaf_0"."price" > CAST($4 AS DECIMAL(2,1)) OR "gl_leaf_0"."price" = 'NaN')) GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme","west",["s1","s'2"],"1.5"]

-- rows of a table that has its client through its parent
WITH "gl_leaf_0" AS (SELECT "sale", "sku", "quantity" FROM "main"."lines" AS "gl_own" WHERE EXISTS (SELECT 1 FROM "main"."sales" AS "gl_parent_0" WHERE "gl_own"."sale" = "gl_parent_0"."id" AND CAST("gl_parent_0"."client" AS text) = CAST($1 AS text))) SELECT * FROM (SELECT CAST("gl_leaf_0"."sku" AS text) AS "gl_c0", count(1) AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme"]

-- a looked-up text, the second page
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)), "gl_leaf_1" AS (SELECT "code", "client", "state" FROM "main"."shops" WHERE CAST("client" AS text) = CAST($2 AS text)) SELECT * FROM (SELECT CAST("gl_leaf_1"."state" AS text) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" LEFT JOIN "gl_leaf_1" ON CAST("gl_leaf_0"."shop" AS text) = CAST("gl_leaf_1"."code" AS text) GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC LIMIT CAST($3 AS bigint) OFFSET CAST($4 AS bigint);
-- values: ["acme","acme","10","10"]

-- averages, extremes and distinct values, sorted by a float
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT * FROM (SELECT CAST("gl_leaf_0"."shop" AS text) AS "gl_c0", CAST(sum("gl_leaf_0"."amount") AS double precision) / nullif(CAST(count("gl_leaf_0"."amount") AS double precision), CAST(0 AS double precision)) AS "gl_c1", CASE WHEN bool_or("gl_leaf_0"."weight" = 'NaN') THEN 'NaN' ELSE max("gl_leaf_0"."weight") END AS "gl_c2", coalesce(min(CASE WHEN "gl_leaf_0"."weight" <> 'NaN' THEN "gl_leaf_0"."weight" END), min("gl_leaf_0"."weight")) AS "gl_c3", count(DISTINCT CAST("gl_leaf_0"."note" AS text)) AS "gl_c4" FROM "gl_leaf_0" WHERE (("gl_leaf_0"."weight" > CAST($2 AS double precision) OR "gl_leaf_0"."weight" = 'NaN')) GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c2" IS NULL, "gl_c2" = 'NaN' DESC, "gl_c2" DESC, "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme","2.5"]

-- the median of a number
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST("gl_leaf_0"."amount" AS double precision)) AS "gl_c0" FROM "gl_leaf_0";
-- values: ["acme"]

-- the median of a date
-- refused: CockroachDB is not known to have medians and percentiles of dates and times; use MIN or MAX, or a number.

-- days of the week in a timezone
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT * FROM (SELECT CAST(extract(isodow FROM (("gl_leaf_0"."at" AT TIME ZONE 'UTC') AT TIME ZONE CASE WHEN "gl_leaf_0"."at" > timestamp '4712-01-01 00:00:00+00 BC' AND "gl_leaf_0"."at" < timestamp '294275-01-01 00:00:00+00' THEN CAST($2 AS text) ELSE 'UTC' END)) AS integer) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme","America/New_York"]

-- all but a list, within a range of days
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE (CAST("gl_leaf_0"."note" AS text) <> ALL (CAST($2 AS text[]))) AND ("gl_leaf_0"."day" >= CAST($3 AS date) AND "gl_leaf_0"."day" < CAST($4 AS date));
-- values: ["acme",["a","b"],"2024-01-01","2024-02-01"]

-- text by a pattern
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE (CAST("gl_leaf_0"."note" AS text) LIKE CAST($2 AS text) ESCAPE '\');
-- values: ["acme","a\\_b%"]

-- the month before
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)) SELECT * FROM (SELECT "gl_groups".*, CASE WHEN CAST((extract(year FROM CAST("gl_c0" AS timestamp)) - 1970) * 12 + extract(month FROM CAST("gl_c0" AS timestamp)) - 1 AS bigint) IS NOT NULL THEN sum("gl_c1") OVER (ORDER BY CAST((extract(year FROM CAST("gl_c0" AS timestamp)) - 1970) * 12 + extract(month FROM CAST("gl_c0" AS timestamp)) - 1 AS bigint) RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING) END AS "gl_c2" FROM (SELECT CASE WHEN "gl_leaf_0"."day" BETWEEN timestamp '4712-01-01 BC' AND timestamp '294275-12-31' THEN CAST(date_trunc('month', CAST("gl_leaf_0"."day" AS timestamp)) AS date) ELSE "gl_leaf_0"."day" END AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_groups") AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme"]

-- a masked column
WITH "gl_leaf_0" AS (SELECT "gl_own"."id" AS "id", "gl_own"."client" AS "client", "gl_own"."shop" AS "shop", "gl_own"."day" AS "day", "gl_own"."at" AS "at", "gl_own"."amount" AS "amount", "gl_own"."price" AS "price", "gl_own"."weight" AS "weight", CASE WHEN char_length(CAST("gl_own"."note" AS text)) <= 4 THEN '' ELSE right(CAST("gl_own"."note" AS text), 4) END AS "note", "gl_own"."note" AS "gl_stored_0" FROM "main"."sales" AS "gl_own" WHERE CAST("gl_own"."client" AS text) = CAST($1 AS text)) SELECT * FROM (SELECT CAST("gl_leaf_0"."note" AS text) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme"]

-- a hashed column
-- refused: CockroachDB has no SHA-256, which the mask `hash` needs; use the mask last4, first or null.

-- a FULL JOIN
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE CAST("client" AS text) = CAST($1 AS text)), "gl_leaf_1" AS (SELECT "code", "client", "state" FROM "main"."shops" WHERE CAST("client" AS text) = CAST($2 AS text)) SELECT * FROM (SELECT CAST("gl_leaf_1"."state" AS text) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" FULL JOIN "gl_leaf_1" ON CAST("gl_leaf_0"."shop" AS text) = CAST("gl_leaf_1"."code" AS text) GROUP BY 1) AS "gl_sorted" ORDER BY "gl_c0" IS NULL, "gl_c0" ASC;
-- values: ["acme","acme"]

-- SQL of the author
-- refused: Custom SQL and expressions are not supported for CockroachDB yet; use plain columns and measures.

-- the catalog, statement 1
SELECT table_schema, table_name, column_name,
  data_type, is_nullable, numeric_precision, numeric_scale, current_database()
FROM information_schema.columns WHERE is_hidden = 'NO' AND table_schema <> 'crdb_internal' AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg^_%' ESCAPE '^' 
ORDER BY table_schema, table_name, ordinal_position;

-- the catalog, statement 2
SELECT table_schema, table_name, column_name,
  data_type, is_nullable, numeric_precision, numeric_scale, current_database()
FROM information_schema.columns WHERE is_hidden = 'NO' AND table_schema <> 'crdb_internal' AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg^_%' ESCAPE '^' 
ORDER BY table_schema, table_name, ordinal_position;

-- the catalog, statement 3
SELECT version();
