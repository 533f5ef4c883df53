/**
 * Functions that custom SQL may call in PostgreSQL: none that reads files, settings, catalogs, sequences or other
 * databases, waits or writes.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const aggregateFunctions = words(`
  sum avg min max count bool_and bool_or every string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg
  stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp mode percentile_cont percentile_disc
  regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy bit_and bit_or`);

export const windowFunctions = words(`
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`);

export const scalarFunctions = words(`
  abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log10 power pow mod div gcd lcm pi degrees radians
  sin cos tan asin acos atan atan2 cot sinh cosh tanh width_bucket
  lower upper initcap length char_length character_length octet_length substring substr left right ltrim rtrim btrim
  lpad rpad replace translate reverse split_part strpos position starts_with concat concat_ws overlay ascii chr md5
  regexp_replace regexp_match regexp_matches regexp_count regexp_substr regexp_instr regexp_like regexp_split_to_array
  like_escape format to_char to_date to_number to_timestamp string_to_array array_to_string
  date_trunc date_part date_bin extract age make_date make_time make_timestamp make_timestamptz make_interval
  justify_days justify_hours justify_interval timezone now isfinite overlaps
  array_length cardinality array_position array_append array_prepend array_cat array_remove
  json_build_object json_build_array jsonb_build_object jsonb_build_array json_array_length jsonb_array_length
  json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text json_typeof jsonb_typeof to_json to_jsonb
  num_nulls num_nonnulls`);

/** Functions allowed in FROM. */
export const tableFunctions = words('generate_series unnest');

export const operators: ReadonlySet<string> = new Set([
  ...words('= <> != < <= > >= + - * / % ^ || ~~ !~~ ~~* !~~* ~ ~* !~ !~* -> ->> #> #>> @> <@ ? &&'),
  ...['BETWEEN', 'NOT BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN SYMMETRIC'],
]);

export const types = words(`
  int2 int4 int8 numeric float4 float8 text varchar bpchar bool date time timestamp timestamptz interval uuid json jsonb`);

/** Of the session, only the clock. */
export const clockFunctions = words(`
  SVFOP_CURRENT_DATE SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`);
