import { commonReserved, commonSuffixes, functionsOf, type Grammar, wordsOf } from '../../parsing/grammar/grammar.js';
import { createParser } from '../../parsing/grammar/parser.js';
import type { SqlParser } from '../../parsing/sql-parser.js';

const aggregates = `any anyLast argMax argMin avg corr count covarPop covarSamp max median medianExact min quantile quantileExact quantileExactInclusive
  stddevPop stddevSamp sum uniq uniqCombined uniqExact uniqHLL12 varPop varSamp`;

/**
 * Functions that custom SQL may call: none that reads server state, files, dictionaries or other tables, waits,
 * unfolds arrays, takes functions, or is random.
 */
const functions = functionsOf(
  {
    scalar: `abs acos asin atan atan2 cbrt ceil cos degrees e exp exp10 exp2 floor greatest intDiv intDivOrZero isFinite isInfinite isNaN least ln log
      log10 log2 modulo pi pow power radians round roundBankers roundDown sign sin sqrt tan trunc
      concat concatWithSeparator empty endsWith leftUTF8 length lengthUTF8 left like lower lowerUTF8 match ilike
      multiSearchAny notEmpty notLike position positionCaseInsensitive positionCaseInsensitiveUTF8 positionUTF8 replace replaceAll replaceOne
      replaceRegexpAll replaceRegexpOne reverse reverseUTF8 right rightUTF8 splitByChar splitByString startsWith substring substringUTF8 trim
      trimBoth trimLeft trimRight upper upperUTF8 hex cityHash64 sipHash64 MD5 SHA256
      assumeNotNull coalesce if ifNull isNotNull isNull multiIf nullIf toNullable
      addDays addHours addMinutes addMonths addQuarters addSeconds addWeeks addYears age dateDiff dateTrunc date_trunc date_diff formatDateTime
      fromUnixTimestamp monthName now parseDateTime parseDateTimeBestEffort parseDateTimeBestEffortOrNull subtractDays subtractHours subtractMinutes
      subtractMonths subtractQuarters subtractSeconds subtractWeeks subtractYears today toDayOfMonth toDayOfWeek toDayOfYear toHour toISOWeek
      toISOYear toMinute toMonday toMonth toQuarter toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinutes toStartOfHour toStartOfMinute
      toStartOfMonth toStartOfQuarter toStartOfWeek toStartOfYear toTimeZone toUnixTimestamp toWeek toYear toYearWeek toYYYYMM toYYYYMMDD yesterday
      toBool toDate toDate32 toDateOrNull toDateTime toDateTime64 toDateTimeOrNull toDecimal32 toDecimal64 toDecimal128 toFloat32 toFloat32OrNull
      toFloat64 toFloat64OrNull toInt8 toInt16 toInt32 toInt32OrNull toInt64 toInt64OrNull toString toUInt8 toUInt16 toUInt32 toUInt32OrNull
      toUInt64 toUInt64OrNull toUUID toUUIDOrNull
      arrayAvg arrayDistinct arrayElement arrayMax arrayMin arraySort arrayStringConcat arraySum has hasAll hasAny indexOf
      JSONExtractArrayRaw JSONExtractBool JSONExtractFloat JSONExtractInt JSONExtractRaw JSONExtractString JSONExtractUInt JSONHas JSONLength
      JSONType JSON_EXISTS JSON_QUERY JSON_VALUE isValidJSON simpleJSONExtractBool simpleJSONExtractFloat simpleJSONExtractInt
      simpleJSONExtractRaw simpleJSONExtractString simpleJSONExtractUInt simpleJSONHas
      domain path protocol`,
    aggregate: wordsOf(aggregates)
      .flatMap((name) => [name, `${name}If`])
      .join(' '),
    window: `cume_dist dense_rank first_value lag lagInFrame last_value lead leadInFrame nth_value ntile percent_rank rank row_number`,
  },
  {
    unit: '',
    interval: '',
    bare: '',
    level: 'quantile quantileExact quantileExactInclusive quantileIf quantileExactIf quantileExactInclusiveIf',
  },
);

const plainTypes = `Bool Date Date32 DateTime Float32 Float64 Int8 Int16 Int32 Int64 Int128 Int256 String UInt8 UInt16 UInt32 UInt64 UInt128 UInt256
  UUID Nullable`;
const casts = new Map(
  [
    ...wordsOf(plainTypes).map((name) => ({ name, parameters: 0 })),
    { name: 'DateTime64', parameters: 1 },
    { name: 'Decimal', parameters: 2 },
  ].map((type) => [type.name.toUpperCase(), type]),
);

/** Within quotes, only backslashes and quotes need escaping. */
const writeText = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * The grammar of ClickHouse. A list of IN may hold no columns: the server reads a lone name there as a table, outside
 * of every leaf. Lambdas, array literals, arrayJoin, FINAL, SAMPLE, PREWHERE, LIMIT BY and SETTINGS are refused.
 *
 * @internal Tests only: they read the trees of statements.
 */
export const clickhouseGrammar: Grammar = {
  databaseName: 'ClickHouse',
  lexis: {
    quotes: new Map([
      ["'", 'text'],
      ['"', 'name'],
      ['`', 'name'],
    ]),
    hasEscapes: true,
    isDashSpaced: false,
    hasHashComments: false,
    symbols: ['::', '||', '<=', '>=', '<>', '!=', '==', ...'(),.+-*/%=<>;'],
    greatestCharacter: 0x10ffff,
  },
  isSameName: (a, b) => a === b,
  functions,
  casts,
  units: new Set(wordsOf('SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR')),
  likes: new Set(['LIKE', 'ILIKE']),
  joins: new Set(['LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']),
  reserved: new Set([
    ...commonReserved,
    ...wordsOf(
      'ANTI ANY ARRAY ASOF DIV FINAL FORMAT GLOBAL ILIKE INF INFINITY MOD NAN PASTE PREWHERE SAMPLE SEMI SETTINGS TOP',
    ),
  ]),
  suffixes: new Set([...commonSuffixes, ...wordsOf('APPLY COLUMNS PARALLEL REPLACE STRICT TOTALS')]),
  systemSchemas: new Set(wordsOf('SYSTEM INFORMATION_SCHEMA')),
  features: new Set(['concat', 'cast-colons', 'nulls-order', 'constant-lists', 'global-aliases']),
  writeText,
};

export const clickhouseParser: SqlParser = createParser(clickhouseGrammar);
