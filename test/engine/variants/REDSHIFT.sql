-- Amazon Redshift: recorded, and run on no server. Values are bound.

-- before each statement
BEGIN READ ONLY;
SELECT pg_catalog.set_config($1, $2, true), pg_catalog.set_config($3, $4, true), pg_catalog.set_config($5, $6, true), pg_catalog.set_config($7, $8, true), pg_catalog.set_config($9, $10, true), pg_catalog.set_config($11, $12, true);
-- values: ["statement_timeout","30000","guestlist.client_id","ac'me\\","timezone","UTC","search_path","pg_catalog","datestyle","ISO, YMD","extra_float_digits","2"]

-- the sum of each month, of rows that a token restricts by text, a list and a number
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT CAST(date_trunc('month', CAST("gl_leaf_0"."day" AS timestamp)) AS date) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" WHERE (COLLATE(CAST(COLLATE(CAST("gl_leaf_0"."note" AS varchar(65535)), 'case_sensitive') AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($3 AS varchar(65535)) || '|', 'case_sensitive')) AND (COLLATE(CAST(COLLATE(CAST("gl_leaf_0"."shop" AS varchar(65535)), 'case_sensitive') AS varchar(65535)) || '|', 'case_sensitive') IN (COLLATE(CAST($4 AS varchar(65535)) || '|', 'case_sensitive'), COLLATE(CAST($5 AS varchar(65535)) || '|', 'case_sensitive'))) AND ("gl_leaf_0"."price" > CAST($6 AS DECIMAL(2,1))) GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme","west","s1","s'2","1.5"]

-- rows of a table that has its client through its parent
WITH "gl_leaf_0" AS (SELECT "sale", "sku", "quantity" FROM "main"."lines" AS "gl_own" WHERE "gl_own"."sale" IN (SELECT "gl_parent_0"."id" FROM "main"."sales" AS "gl_parent_0" WHERE "gl_parent_0"."client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("gl_parent_0"."client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive'))) SELECT COLLATE(CAST("gl_leaf_0"."sku" AS varchar(65535)), 'case_sensitive') AS "gl_c0", count(1) AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme"]

-- a looked-up text, the second page
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')), "gl_leaf_1" AS (SELECT "code", "client", "state" FROM "main"."shops" WHERE "client" = CAST($3 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($4 AS varchar(65535)) || '|', 'case_sensitive')) SELECT COLLATE(CAST("gl_leaf_1"."state" AS varchar(65535)), 'case_sensitive') AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" LEFT JOIN "gl_leaf_1" ON COLLATE(CAST("gl_leaf_0"."shop" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST("gl_leaf_1"."code" AS varchar(65535)) || '|', 'case_sensitive') GROUP BY 1 ORDER BY 1 ASC NULLS LAST LIMIT 10 OFFSET 10;
-- values: ["acme","acme","acme","acme"]

-- averages, extremes and distinct values, sorted by a float
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT COLLATE(CAST("gl_leaf_0"."shop" AS varchar(65535)), 'case_sensitive') AS "gl_c0", CAST(sum("gl_leaf_0"."amount") AS double precision) / nullif(count("gl_leaf_0"."amount"), 0) AS "gl_c1", max("gl_leaf_0"."weight") AS "gl_c2", min("gl_leaf_0"."weight") AS "gl_c3", count(DISTINCT COLLATE(CAST("gl_leaf_0"."note" AS varchar(65535)), 'case_sensitive')) AS "gl_c4" FROM "gl_leaf_0" WHERE ("gl_leaf_0"."weight" > CAST($3 AS double precision)) GROUP BY 1 ORDER BY 3 DESC NULLS LAST, 1 ASC NULLS LAST;
-- values: ["acme","acme","2.5"]

-- the median of a number
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST("gl_leaf_0"."amount" AS double precision)) AS "gl_c0" FROM "gl_leaf_0";
-- values: ["acme","acme"]

-- the median of a date
-- refused: Amazon Redshift is not known to have medians and percentiles of dates and times; use MIN or MAX, or a number.

-- days of the week in a timezone
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT CAST((extract(dow FROM CAST((("gl_leaf_0"."at" AT TIME ZONE 'UTC') AT TIME ZONE CAST($3 AS varchar(65535))) AS timestamp)) + 6) % 7 + 1 AS integer) AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme","America/New_York"]

-- all but a list, within a range of days
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE (COLLATE(CAST(COLLATE(CAST("gl_leaf_0"."note" AS varchar(65535)), 'case_sensitive') AS varchar(65535)) || '|', 'case_sensitive') NOT IN (COLLATE(CAST($3 AS varchar(65535)) || '|', 'case_sensitive'), COLLATE(CAST($4 AS varchar(65535)) || '|', 'case_sensitive'))) AND ("gl_leaf_0"."day" >= CAST($5 AS date) AND "gl_leaf_0"."day" < CAST($6 AS date));
-- values: ["acme","acme","a","b","2024-01-01","2024-02-01"]

-- text by a pattern
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "at", "amount", "price", "weight", "note" FROM "main"."sales" WHERE "client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT sum("gl_leaf_0"."amount") AS "gl_c0" FROM "gl_leaf_0" WHERE (COLLATE(CAST("gl_leaf_0"."note" AS varchar(65535)), 'case_sensitive') LIKE CAST($3 AS varchar(65535)));
-- values: ["acme","acme","a\\_b%"]

-- the month before
-- refused: Amazon Redshift is not known to have what a comparison with an earlier period needs; leave out the comparison.

-- a masked column
WITH "gl_leaf_0" AS (SELECT "gl_own"."id" AS "id", "gl_own"."client" AS "client", "gl_own"."shop" AS "shop", "gl_own"."day" AS "day", "gl_own"."at" AS "at", "gl_own"."amount" AS "amount", "gl_own"."price" AS "price", "gl_own"."weight" AS "weight", CASE WHEN char_length(COLLATE(CAST("gl_own"."note" AS varchar(65535)), 'case_sensitive')) <= 4 THEN '' ELSE right(COLLATE(CAST("gl_own"."note" AS varchar(65535)), 'case_sensitive'), 4) END AS "note", "gl_own"."note" AS "gl_stored_0" FROM "main"."sales" AS "gl_own" WHERE "gl_own"."client" = CAST($1 AS varchar(65535)) AND COLLATE(CAST("gl_own"."client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')) SELECT COLLATE(CAST("gl_leaf_0"."note" AS varchar(65535)), 'case_sensitive') AS "gl_c0", sum("gl_leaf_0"."amount") AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme"]

-- a hashed column
-- refused: Amazon Redshift has no SHA-256, which the mask `hash` needs; use the mask last4, first or null.

-- a FULL JOIN
-- refused: Amazon Redshift has no FULL JOIN; set the relationship's join to LEFT JOIN, RIGHT JOIN or INNER JOIN in the datamart.

-- SQL of the author
-- refused: Custom SQL and expressions are not supported for Amazon Redshift yet; use plain columns and measures.

-- the catalog, statement 1
SELECT table_schema, table_name, column_name,
  data_type, is_nullable, numeric_precision, numeric_scale, current_database()
FROM pg_catalog.svv_columns WHERE 1 = 1 AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg^_%' ESCAPE '^' 
ORDER BY table_schema, table_name, ordinal_position;

-- the catalog, statement 2
SELECT table_schema, table_name, column_name,
  data_type, is_nullable, numeric_precision, numeric_scale, current_database()
FROM pg_catalog.svv_columns WHERE 1 = 1 AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg^_%' ESCAPE '^' 
ORDER BY table_schema, table_name, ordinal_position;

-- the catalog, statement 3
SELECT version();
