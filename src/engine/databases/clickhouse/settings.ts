import type { ClickHouseSettings } from '@clickhouse/client';

/**
 * Said with every question, so that neither a server's profile nor another question's settings decide what it means. An unknown one is an
 * error at the server, and never passed over.
 */
export const settings: ClickHouseSettings = {
  // What SQL means.
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
  // What an answer is made of: all of it, or an error.
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
  // A fault halfway is told by the status, and not in the midst of rows; a question whose asker is gone is given up.
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  // How values are written: what a JSON number would round is text.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'simple',
};
