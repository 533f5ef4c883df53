import { DefaultQueryCompiler, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { CompareOperator } from '../../../model/filter/filter.js';
import type { Period } from '../../../model/filter/period.js';
import {
  type Bound,
  type BoundList,
  type Column,
  type Dialect,
  firstDay,
  firstMonday,
  type PlainAggregate,
  plainAggregate,
  type Sql,
} from '../../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../../dialect/refuse.js';
import { decimalOfCast, type SqlType } from '../../dialect/sql-type.js';
import { converted, digitsOf, isPadded, keysOf } from './keys.js';
import { masks } from './masks.js';
import { comparedDigits, greatestDigits, greatestValueBytes, instantName, nameOfCast } from './names.js';

/** Parameters have names and types. A backslash escapes in strings and in names. */
class ClickHouseQueryCompiler extends DefaultQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    this.addParameter(parameter);
    this.append(`{p${this.numParameters}:${Array.isArray(parameter) ? 'Array(String)' : 'String'}}`);
  }
  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(identifier.replaceAll('\\', '\\\\'));
  }
  protected override sanitizeStringLiteral(value: string): string {
    return super.sanitizeStringLiteral(value.replaceAll('\\', '\\\\'));
  }
}

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new ClickHouseQueryCompiler(),
  },
});

/** Date32 clamps dates outside its range. Expressions (no text) are within it. */
const assertHeld = (text: unknown, cast: string): void => {
  if (
    typeof text !== 'string' ||
    (cast !== 'DATE' && !cast.startsWith('TIMESTAMP')) ||
    (text >= '1900' && text < '2300')
  )
    return;
  refuseQuery(
    'A condition holds a date outside of the years 1900 to 2299, which ClickHouse cannot represent. Use a date in this range.',
    'value-out-of-range',
  );
};

const cast = ({ text, cast }: Bound): Sql => {
  assertHeld(text, cast);
  const name = nameOfCast(cast);
  return name === 'String' ? sql`${text}` : sql`CAST(${text} AS ${sql.raw(name)})`;
};

const field = (column: Sql, { type, zone }: Column): Sql => {
  if (isPadded(type) || type.kind === 'uuid') return as(column, 'String');
  if (type.readAs === 'json') return sql`toJSONString(${column})`;
  if (type.readAs === 'text') return sql`toString(${column})`;
  if (type.kind !== 'instant') return column;
  if (zone === null || zone === 'UTC') return sql`toTimeZone(${column}, 'UTC')`;
  return localTime(column, type, zone);
};

const chunksOf = (texts: readonly string[]): readonly (readonly string[])[] => {
  const chunks: string[][] = [[]];
  let bytes = 0;
  for (const text of texts) {
    // `+ 3`: each item is written with two quotes and a comma.
    const size = Buffer.byteLength(text) + 3;
    if (bytes + size > greatestValueBytes && bytes > 0) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(text);
    bytes += size;
  }
  return chunks;
};

const arrayOf = (texts: readonly string[]): Sql => {
  const [first, ...rest] = chunksOf(texts).map((chunk) => sql`${chunk}`);
  return rest.length === 0 ? sql`${first}` : sql`arrayConcat(${sql.join([first, ...rest])})`;
};

/**
 * The column converted to the list's type, because IN would round the list to the column's. Null: the types are
 * equal.
 */
const listed = (type: SqlType, list: BoundList): { readonly name: string; readonly isOwn: boolean } => {
  const decimal = decimalOfCast(list.cast);
  if (decimal !== undefined) {
    const scale = Math.max(decimal.scale, digitsOf(type).scale);
    return { name: `Decimal(${greatestDigits}, ${scale})`, isOwn: false };
  }
  if (list.cast.startsWith('TIMESTAMP')) return { name: instantName(comparedDigits(type.digits)), isOwn: false };
  return { name: nameOfCast(list.cast), isOwn: list.cast !== 'DATE' };
};

/** Compares NaN as the other databases do: equal to itself and above all numbers. In ClickHouse, NaN equals nothing. */
const compare = (value: Sql, operator: CompareOperator, bound: Bound, { kind }: SqlType): Sql | undefined => {
  if (kind !== 'float') return undefined;
  const isNone = sql`isNaN(${value})`;
  if (bound.text !== 'NaN') {
    if (operator !== '>' && operator !== '>=') return undefined;
    return sql`(${value} ${sql.raw(operator)} ${cast(bound)} OR ${isNone})`;
  }
  if (operator === '=' || operator === '>=') return isNone;
  if (operator === '<' || operator === '<>') return sql`NOT ${isNone}`;
  return operator === '<=' ? sql`(${value} IS NOT NULL)` : sql`(${isNone} AND NOT ${isNone})`;
};

/** IN never matches NaN. */
const list: Dialect['list'] = (value, kind, given, type) => {
  const texts = given.texts.filter((text) => text !== 'NaN' || type.kind !== 'float');
  if (texts.length === given.texts.length) return plainList(value, kind, given, type);
  const isNone = sql`isNaN(${value})`;
  if (texts.length === 0) return kind === 'oneOf' ? isNone : sql`(NOT ${isNone})`;
  const rest = plainList(value, kind, { ...given, texts }, type);
  return kind === 'oneOf' ? sql`(${rest} OR ${isNone})` : sql`(${rest} AND NOT ${isNone})`;
};

const plainList = (value: Sql, kind: 'oneOf' | 'noneOf', given: BoundList, type: SqlType): Sql => {
  for (const text of given.texts) assertHeld(text, given.cast);
  const { name, isOwn } = listed(type, given);
  const texts = arrayOf(given.texts);
  const values = name === 'String' ? texts : as(texts, `Array(${name})`);
  const compared = isOwn ? value : converted(value, name);
  return kind === 'oneOf' ? sql`(${compared} IN ${values})` : sql`(${compared} NOT IN ${values})`;
};

/**
 * LIKE: a backslash escapes `%`, `_` and itself, and is literal before other characters. Other databases escape every
 * character.
 */
const like = (value: Sql, { text }: Bound): Sql => {
  const pattern = text.replaceAll(/\\([\s\S])/g, (escaped, char: string) => ('\\%_'.includes(char) ? escaped : char));
  return sql`(${value} LIKE ${pattern})`;
};

/** Rounded down also before 1970, where ClickHouse's own functions round up to the next second first. */
const startOf = (time: Sql, seconds: number): Sql => {
  const [micros, width] = [sql`toUnixTimestamp64Micro(${time})`, sql.raw(String(seconds * 1_000_000))];
  return sql`fromUnixTimestamp64Micro(${micros} - positiveModulo(${micros}, ${width}), 'UTC')`;
};

const grain = (value: Sql, of: TimeGrain): Sql => {
  const [day, time] = [as(value, 'Date32'), as(value, instantName(6))];
  switch (of) {
    case 'minute':
      return startOf(time, 60);
    case 'hour':
      return startOf(time, 3600);
    case 'day':
      return day;
    case 'week':
      return sql`toStartOfWeek(${day}, 1)`;
    case 'month':
      return sql`toStartOfMonth(${day})`;
    case 'quarter':
      return sql`toStartOfQuarter(${day})`;
    case 'year':
      return sql`toStartOfYear(${day})`;
    case 'hourOfDay':
      return sql`toHour(${time})`;
    case 'dayOfWeek':
      return sql`toDayOfWeek(${day})`;
    default:
      return refuseUnknown('time grain', of);
  }
};

/** Sums in a type wide enough for any number of rows, because ClickHouse's integers wrap around on overflow. */
const sum = (value: Sql, type: SqlType): Sql => {
  if (type.kind === 'integer') {
    const { width } = digitsOf(type);
    if (width > 38) return sql`sum(${as(value, type.cast === 'UINT256' ? 'UInt256' : 'Int256')})`;
    return width > 10 ? sql`sum(${as(value, 'Int128')})` : sql`sum(${value})`;
  }
  const decimal = decimalOfCast(type.cast);
  if (decimal === undefined || decimal.width <= 18) return sql`sum(${value})`;
  return sql`sum(${as(value, `Decimal(${greatestDigits}, ${decimal.scale})`)})`;
};

/** Both sides get one scale, because `%` ignores the scale of decimals. */
const bucket = (value: Sql, type: SqlType, width: Bound): Sql => {
  const scale = Math.max(digitsOf(type).scale, decimalOfCast(width.cast)?.scale ?? 0);
  const name = `Decimal(${greatestDigits}, ${scale})`;
  const size = as(sql`${width.text}`, name);
  return sql`(${value} - (((${converted(value, name)} % ${size}) + ${size}) % ${size}))`;
};

const double = (value: Sql): Sql => as(value, 'Float64');

const percentile = (value: Sql, { kind }: SqlType, fraction: number): Sql => {
  const at = (one: Sql): Sql => sql`quantileExactInclusive(${sql.lit(fraction)})(${one})`;
  if (kind !== 'date' && kind !== 'instant') return at(double(value));
  const micros = sql`toUnixTimestamp64Micro(${as(value, instantName(6))})`;
  return sql`fromUnixTimestamp64Micro(${as(sql`round(${at(micros)})`, 'Int64')}, 'UTC')`;
};

const aggregate = (of: PlainAggregate, value: Sql, type: SqlType): Sql => {
  switch (of) {
    case 'SUM':
      return sum(value, type);
    case 'AVG':
      // Exact up to the final division, as on the other databases.
      return sql`(${double(sum(value, type))} / nullIf(count(${value}), 0))`;
    default:
      return plainAggregate(of, value);
  }
};

const period = (start: Sql, of: Period): Sql => {
  const since = sql`CAST(${sql.lit(of === 'week' ? firstMonday : firstDay)} AS ${sql.raw(instantName(6))})`;
  return sql`dateDiff(${sql.lit(of)}, ${since}, ${as(start, instantName(6))}, 'UTC')`;
};

/** The greatest LIMIT. */
const allRows = '18446744073709551615';

export const clickHouseDialect: Dialect = {
  capabilities: {
    databaseName: 'ClickHouse',
    hasFullJoin: true,
    isRightJoinSlow: false,
    hasCorrelatedSubqueries: false,
  },
  compile: (query) => query.compile(compiler),
  table: (_database, { schemaName, tableName }) => sql.id(schemaName, tableName),
  asLeaf: sql`AS`,
  // MATERIALIZED is no barrier here: ClickHouse pushes filters into it and evaluates them on excluded rows.
  barrier: (name, rows) => sql`${name} AS (${rows} LIMIT ${sql.raw(allRows)})`,
  cast,
  tenant: (column, type, value) => {
    const bound = type.kind === 'uuid' ? as(cast(value), 'UUID') : cast(value);
    const equal = sql`${column} = ${bound}`;
    return isPadded(type) ? sql`${equal} AND ${as(column, 'String')} = ${cast(value)}` : equal;
  },
  join: (near, far) => {
    const [left, right] = keysOf(near, far);
    return sql`${left} = ${right}`;
  },
  keys: keysOf,
  field,
  comparable: (value, { kind }) => (kind === 'enum' ? as(value, 'String') : value),
  compare,
  isBeyond: ({ text, cast: of }) => (of === 'DATE' || of === 'TIMESTAMP') && (text >= '2300' || text.startsWith('+')),
  list,
  like,
  contains: (value, _type, search) => sql`(position(lowerUTF8(${as(value, 'String')}), lowerUTF8(${search})) > 0)`,
  grain,
  bucket,
  period,
  aggregate,
  percentile,
  masks,
  double,
  sortable: (rows) => rows,
  order: ({ position, name, isFloat }, direction) => {
    const key = sql`${sql.lit(position)} ${sql.raw(direction)} NULLS LAST`;
    // ClickHouse would sort NaN last in both directions.
    return isFloat && direction === 'DESC' ? sql`isNaN(${sql.id(name)}) DESC NULLS LAST, ${key}` : key;
  },
  page: (limit, offset) => {
    const rows = limit === null ? sql`` : sql` LIMIT ${sql.lit(limit)}`;
    return offset === 0 ? rows : sql`${rows} OFFSET ${sql.lit(offset)}`;
  },
};

const as = (value: Sql, name: string): Sql => sql`CAST(${value} AS ${sql.raw(name)})`;

/**
 * Zones that crossed the date line since 1900 and skipped a day. timeZoneOffset still returns their offset from
 * before, one day too little. Converting by text is right, but slower.
 */
const skippedDay: ReadonlySet<string> = new Set(
  'Apia Enderbury Fakaofo Kanton Kiritimati Kwajalein'
    .split(' ')
    .map((name) => `Pacific/${name}`)
    .concat('Kwajalein'),
);

/**
 * Local time, stored as if it were UTC: an instant with a zone would be compared by the instant. DateTime begins
 * in 1970, so DateTime64 is used.
 */
const localTime = (column: Sql, type: SqlType, zone: string): Sql => {
  const name = instantName(type.digits ?? 0);
  const instant = as(column, name);
  if (!skippedDay.has(zone)) return sql`addSeconds(${instant}, ${secondsAhead(column, type, zone)})`;
  const local = sql`toString(toTimeZone(${instant}, ${zone}))`;
  return as(inNanoseconds(column, type, local, sql`toString(toTimeZone(${instant}, 'UTC'))`), name);
};

const secondsAhead = (column: Sql, type: SqlType, zone: string): Sql =>
  inNanoseconds(column, type, sql`timeZoneOffset(toTimeZone(${column}, ${zone}))`, sql`0`);

/**
 * Uses `atTheEnd` near the end of nanosecond times, where local time would overflow: that error could come from
 * another tenant's row.
 */
const inNanoseconds = (column: Sql, { digits }: SqlType, value: Sql, atTheEnd: Sql): Sql =>
  digits === 9
    ? sql`if(${column} < CAST('2262-04-10 00:00:00' AS ${sql.raw(instantName(9))}), ${value}, ${atTheEnd})`
    : value;
