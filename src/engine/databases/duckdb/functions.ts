/**
 * Functions that custom SQL may call in DuckDB: none that reads files, settings, catalogs or sequences, runs text as
 * SQL, or waits.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const aggregateFunctions = words(`
  sum avg mean min max count count_star count_if countif bool_and bool_or string_agg group_concat listagg list array_agg
  median mode quantile quantile_cont quantile_disc percentile_cont percentile_disc approx_count_distinct approx_quantile
  stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp skewness kurtosis entropy mad
  regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy bit_and bit_or bit_xor
  product fsum favg arg_max arg_min max_by min_by first last any_value`);

export const windowFunctions = words(`
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`);

export const scalarFunctions = words(`
  abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log10 log2 power pow mod fmod divide gcd lcm pi degrees radians
  sin cos tan asin acos atan atan2 cot sinh cosh tanh greatest least isnan isinf isfinite even factorial
  lower upper lcase ucase initcap length len strlen char_length character_length substring substr left right trim ltrim rtrim
  lpad rpad replace translate reverse split_part string_split str_split string_split_regex strpos position instr contains
  starts_with ends_with prefix suffix concat concat_ws ascii ord chr unicode md5 sha256 strip_accents levenshtein editdist3
  hamming jaccard jaro_similarity jaro_winkler_similarity
  regexp_matches regexp_replace regexp_extract regexp_extract_all regexp_full_match regexp_split_to_array
  like_escape not_like_escape ilike_escape not_ilike_escape format printf
  strftime strptime try_strptime date_trunc date_part datepart datetrunc date_diff datediff date_sub datesub date_add
  extract age make_date make_time make_timestamp time_bucket last_day monthname dayname year month day hour minute second
  millisecond microsecond quarter week weekofyear weekday isodow isoyear dayofweek dayofmonth dayofyear yearweek era century
  decade millennium epoch epoch_ms epoch_us epoch_ns to_timestamp timezone now today current_date current_timestamp
  to_years to_quarters to_months to_weeks to_days to_hours to_minutes to_seconds to_milliseconds to_microseconds
  coalesce ifnull nullif if
  array_length list_contains array_contains list_has list_position list_extract array_extract list_element list_concat
  list_distinct list_unique list_sort list_reverse list_sum list_avg list_min list_max list_count list_value list_aggregate
  array_slice list_slice array_to_string struct_extract struct_pack row
  json_extract json_extract_string json_extract_path json_extract_path_text json_array_length json_type json_valid json_keys
  json_exists json_contains hash bit_count bar`);

/** Functions allowed in FROM, and `unnest` in the SELECT list. */
export const tableFunctions = words('generate_series range unnest');

export const operators = words(`+ - * / // % ** ^ || ~~ !~~ ~~* !~~* ~~~ ^@ -> ->> @> <@ && & | << >>`);

export const types: ReadonlySet<string> = new Set([
  ...words(
    'BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL',
  ),
  ...words('VARCHAR DATE TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS INTERVAL UUID LIST'),
  'TIMESTAMP WITH TIME ZONE',
]);

/** Names that DuckDB reads as calls where no column has that name. Of the session, only the clock is allowed. */
export const sessionNames = words(`
  current_catalog current_database current_schema current_schemas current_role current_user session_user user
  current_setting current_query current_connection_id`);
