import { commonReserved, commonSuffixes, functionsOf, type Grammar, wordsOf } from '../../parsing/grammar/grammar.js';
import { createParser } from '../../parsing/grammar/parser.js';
import type { SqlParser } from '../../parsing/sql-parser.js';

/**
 * Functions that custom SQL may call: none that reads server state, files, locks or other users, waits, or is random.
 */
const functions = functionsOf(
  {
    scalar: `ABS ACOS ASIN ATAN ATAN2 CEIL CEILING COS COT DEGREES EXP FLOOR GREATEST LEAST LN LOG LOG10 LOG2 MOD PI POW POWER RADIANS ROUND SIGN
      SIN SQRT TAN TRUNCATE ASCII CHAR_LENGTH CHARACTER_LENGTH CONCAT CONCAT_WS ELT FIELD FIND_IN_SET FORMAT INSTR LCASE LEFT LENGTH LOCATE LOWER
      LPAD LTRIM MID REGEXP_INSTR REGEXP_REPLACE REGEXP_SUBSTR REPLACE REVERSE RIGHT RPAD RTRIM STRCMP SUBSTRING SUBSTRING_INDEX TRIM UCASE UPPER
      HEX MD5 SHA1 SHA2 CRC32 COALESCE IF IFNULL ISNULL NULLIF
      ADDDATE ADDTIME CONVERT_TZ CURDATE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATE DATEDIFF DATE_ADD DATE_FORMAT DATE_SUB DAY DAYNAME
      DAYOFMONTH DAYOFWEEK DAYOFYEAR FROM_DAYS FROM_UNIXTIME HOUR LAST_DAY MAKEDATE MAKETIME MICROSECOND MINUTE MONTH MONTHNAME NOW PERIOD_ADD
      PERIOD_DIFF QUARTER SECOND SEC_TO_TIME STR_TO_DATE SUBDATE SUBTIME TIME TIMEDIFF TIMESTAMP TIMESTAMPADD TIMESTAMPDIFF TIME_FORMAT TIME_TO_SEC
      TO_DAYS UNIX_TIMESTAMP UTC_DATE UTC_TIMESTAMP WEEK WEEKDAY WEEKOFYEAR YEAR YEARWEEK
      JSON_ARRAY JSON_CONTAINS JSON_CONTAINS_PATH JSON_DEPTH JSON_EXTRACT JSON_KEYS JSON_LENGTH JSON_OBJECT JSON_QUOTE JSON_SEARCH JSON_TYPE
      JSON_UNQUOTE JSON_VALID JSON_VALUE`,
    aggregate: `AVG BIT_AND BIT_OR BIT_XOR COUNT GROUP_CONCAT JSON_ARRAYAGG JSON_OBJECTAGG MAX MIN STD STDDEV STDDEV_POP STDDEV_SAMP SUM VARIANCE
      VAR_POP VAR_SAMP`,
    window: 'CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENT_RANK RANK ROW_NUMBER',
  },
  {
    unit: 'TIMESTAMPADD TIMESTAMPDIFF',
    interval: 'ADDDATE DATE_ADD DATE_SUB SUBDATE',
    bare: 'CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP UTC_DATE UTC_TIMESTAMP',
    level: '',
  },
);

const casts = new Map(
  Object.entries({
    CHAR: 1,
    DATE: 0,
    DATETIME: 1,
    TIME: 1,
    DECIMAL: 2,
    DOUBLE: 0,
    FLOAT: 0,
    SIGNED: 0,
    UNSIGNED: 0,
  }).map(([name, parameters]) => [name, { name, parameters }]),
);

/** Text with a backslash is written as bytes, because the backslash is literal only in our sessions' mode. */
const writeText = (value: string): string =>
  value.includes('\\')
    ? `_utf8mb4 X'${Buffer.from(value, 'utf8').toString('hex')}'`
    : `'${value.replaceAll("'", "''")}'`;

/** Columns and aliases are case-insensitive. Tables are read by the datamart's spelling. */
const isSameName = (a: string, b: string): boolean => a.length === b.length && a.toLowerCase() === b.toLowerCase();

/**
 * The grammar of MySQL 8 and MariaDB with our session settings: `"x"` is text, `a || b` is refused, a backslash is
 * literal.
 *
 * @internal Tests only: they read the trees of statements.
 */
export const mysqlGrammar: Grammar = {
  databaseName: 'MySQL',
  lexis: {
    quotes: new Map([
      ["'", 'text'],
      ['"', 'text'],
      ['`', 'name'],
    ]),
    hasEscapes: false,
    isDashSpaced: true,
    hasHashComments: true,
    symbols: ['<=>', '->>', '->', '<=', '>=', '<>', '!=', ...'(),.+-*/%=<>;'],
    greatestCharacter: 0xffff,
  },
  isSameName,
  functions,
  casts,
  units: new Set(
    wordsOf(`MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR SECOND_MICROSECOND MINUTE_MICROSECOND MINUTE_SECOND HOUR_MICROSECOND
      HOUR_SECOND HOUR_MINUTE DAY_MICROSECOND DAY_SECOND DAY_MINUTE DAY_HOUR YEAR_MONTH`),
  ),
  likes: new Set(['LIKE', 'REGEXP', 'RLIKE']),
  joins: new Set(['LEFT JOIN', 'RIGHT JOIN']),
  reserved: new Set([
    ...commonReserved,
    ...wordsOf(`BINARY COLLATE DIV DUAL FORCE HIGH_PRIORITY IGNORE KEY LOCALTIME LOCALTIMESTAMP MATCH MOD REGEXP RLIKE ROW_COUNT
      SQL_BIG_RESULT SQL_BUFFER_RESULT SQL_CACHE SQL_CALC_FOUND_ROWS SQL_NO_CACHE SQL_SMALL_RESULT STRAIGHT_JOIN USE XOR`),
  ]),
  suffixes: new Set([...commonSuffixes, 'MINUS']),
  systemSchemas: new Set(wordsOf('INFORMATION_SCHEMA MYSQL PERFORMANCE_SCHEMA SYS')),
  features: new Set([
    'collate',
    'json-arrows',
    'is-truth',
    'text-alias',
    'inline-ctes',
    'rollup',
    'group-concat',
    'default-distinct',
    'ordered-set',
    'sums-anything',
  ]),
  writeText,
};

export const mysqlParser: SqlParser = createParser(mysqlGrammar);
