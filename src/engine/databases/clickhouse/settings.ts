import type { ClickHouseSettings } from '@clickhouse/client';

/**
 * How a query reads `Distributed` tables: rows of every shard once, or an error. Without a cluster they change nothing.
 * docs/reference/databases.md says what each is for.
 */
const clusterSettings: ClickHouseSettings = {
  // A shard that does not answer is an error, and not fewer rows.
  skip_unavailable_shards: 0,
  // A replica that is more than 5 minutes behind is not read, and without another one the query fails.
  max_replica_delay_for_distributed_queries: '300',
  fallback_to_stale_replicas_for_distributed_queries: 0,
  // The rows of a subquery are read once, of all shards, and sent to each: a shard's own subquery would lack rows.
  distributed_product_mode: 'global',
  prefer_global_in_and_join: 1,
  // Groups of several shards become one group.
  distributed_group_by_no_merge: '0',
  optimize_distributed_group_by_sharding_key: 0,
  // All shards are asked: rows may be elsewhere than the sharding key says.
  optimize_skip_unused_shards: 0,
  // Replicas that share one query have repeated rows of joins, and lost rows of row policies.
  max_parallel_replicas: '1',
};

/**
 * Sent with every query, so neither a server profile nor an earlier query changes its meaning. The server refuses
 * unknown settings.
 */
export const settings: ClickHouseSettings = {
  ...clusterSettings,
  // Semantics of SQL.
  allow_experimental_analyzer: 1,
  join_use_nulls: 1,
  join_default_strictness: 'ALL',
  transform_null_in: 0,
  aggregate_functions_null_for_empty: 1,
  empty_result_for_aggregation_by_empty_set: 0,
  group_by_use_nulls: 0,
  count_distinct_implementation: 'uniqExact',
  cast_keep_nullable: 1,
  decimal_check_overflow: 1,
  prefer_column_name_to_alias: 0,
  enable_positional_arguments: 1,
  enable_extended_results_for_datetime_functions: 1,
  session_timezone: 'UTC',
  // An answer is complete, or an error.
  limit: '0',
  offset: '0',
  extremes: 0,
  use_query_cache: 0,
  optimize_trivial_approximate_count_query: 0,
  timeout_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  // An error in the middle of a result gives an error status. A query whose client disconnected is cancelled.
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  // Numbers that JSON would round are text.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'simple',
  // Text of values in SQL.
  bool_true_representation: 'true',
  bool_false_representation: 'false',
};
