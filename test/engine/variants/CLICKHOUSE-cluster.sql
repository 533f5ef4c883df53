-- ClickHouse with a cluster: recorded, and run on none. Values are bound.

-- settings of every query, beside readonly and max_execution_time
-- skip_unavailable_shards = 0
-- max_replica_delay_for_distributed_queries = "300"
-- fallback_to_stale_replicas_for_distributed_queries = 0
-- distributed_product_mode = "global"
-- prefer_global_in_and_join = 1
-- distributed_group_by_no_merge = "0"
-- optimize_distributed_group_by_sharding_key = 0
-- optimize_skip_unused_shards = 0
-- max_parallel_replicas = "1"
-- allow_experimental_analyzer = 1
-- join_use_nulls = 1
-- join_default_strictness = "ALL"
-- transform_null_in = 0
-- aggregate_functions_null_for_empty = 1
-- empty_result_for_aggregation_by_empty_set = 0
-- group_by_use_nulls = 0
-- count_distinct_implementation = "uniqExact"
-- cast_keep_nullable = 1
-- decimal_check_overflow = 1
-- prefer_column_name_to_alias = 0
-- enable_positional_arguments = 1
-- enable_extended_results_for_datetime_functions = 1
-- session_timezone = "UTC"
-- limit = "0"
-- offset = "0"
-- extremes = 0
-- use_query_cache = 0
-- optimize_trivial_approximate_count_query = 0
-- timeout_overflow_mode = "throw"
-- read_overflow_mode = "throw"
-- group_by_overflow_mode = "throw"
-- sort_overflow_mode = "throw"
-- result_overflow_mode = "throw"
-- distinct_overflow_mode = "throw"
-- set_overflow_mode = "throw"
-- join_overflow_mode = "throw"
-- transfer_overflow_mode = "throw"
-- wait_end_of_query = 1
-- cancel_http_readonly_queries_on_client_close = 1
-- output_format_json_quote_64bit_integers = 1
-- output_format_json_quote_decimals = 1
-- output_format_json_quote_denormals = 1
-- date_time_output_format = "simple"
-- bool_true_representation = "true"
-- bool_false_representation = "false"

-- the sum of each month
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "amount" FROM "main"."sales" WHERE "client" = {p1:String}) SELECT toStartOfMonth(CAST("gl_leaf_0"."day" AS Date32)) AS "gl_c0", sum(CAST("gl_leaf_0"."amount" AS Int128)) AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]

-- a join of two distributed tables
WITH "gl_leaf_0" AS (SELECT "id", "client", "shop", "day", "amount" FROM "main"."sales" WHERE "client" = {p1:String}), "gl_leaf_1" AS (SELECT "code", "client", "state" FROM "main"."shops" WHERE "client" = {p2:String}) SELECT "gl_leaf_1"."state" AS "gl_c0", sum(CAST("gl_leaf_0"."amount" AS Int128)) AS "gl_c1" FROM "gl_leaf_0" LEFT JOIN "gl_leaf_1" ON "gl_leaf_0"."shop" = "gl_leaf_1"."code" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme","acme"]

-- rows that have their client through another distributed table
WITH "gl_leaf_0" AS (SELECT "sale", "sku" FROM "main"."lines" AS "gl_own" WHERE "gl_own"."sale" IN (SELECT "gl_parent_0"."id" FROM "main"."sales" AS "gl_parent_0" WHERE "gl_parent_0"."client" = {p1:String})) SELECT "gl_leaf_0"."sku" AS "gl_c0", count(1) AS "gl_c1" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST;
-- values: ["acme"]
