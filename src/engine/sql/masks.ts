/** What a token's masks leave of the values of a column: the masked types, and their SQL. */
import { sql } from 'kysely';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import type { Mask } from '../../model/datamart/masks.js';
import { assertHas } from '../dialect/capabilities.js';
import { castTo, type Dialect, type Sql } from '../dialect/dialect.js';
import { asDecimal, floatType, integerRanges, type SqlType } from '../dialect/sql-type.js';
import { bucketOf } from './expressions.js';

const text: SqlType = { kind: 'text', cast: 'VARCHAR' };
const textual: ReadonlySet<string> = new Set(['text', 'enum', 'uuid']);
const temporal: ReadonlySet<string> = new Set(['date', 'timestamp', 'instant']);

const [leastBigint, greatestBigint] = integerRanges.get('BIGINT') ?? [0n, 0n];

const widest = 38;
/** The digits of the widest bucket. */
const widestBucket = 9;

/** The type of the masked values; undefined where the mask cannot be applied to values of this type. */
export const maskedType = (mask: Mask, type: SqlType): SqlType | undefined => {
  switch (mask.kind) {
    case 'hash':
    case 'last4':
    case 'first':
      return textual.has(type.kind) ? text : undefined;
    case 'year':
      return temporal.has(type.kind) ? { kind: 'date', cast: 'DATE' } : undefined;
    case 'bucket':
      return bucketType(type);
    case 'null':
      return type;
  }
};

const bucketType = (type: SqlType): SqlType | undefined => {
  if (type.kind === 'float') return floatType;
  if (type.kind === 'integer') {
    const [least, greatest] = integerRanges.get(type.cast) ?? [leastBigint - 1n, 0n];
    return least >= leastBigint && greatest <= greatestBigint ? { kind: 'integer', cast: 'BIGINT' } : undefined;
  }
  if (type.kind !== 'decimal' || type.readAs !== undefined) return undefined;
  // PostgreSQL's have any number of digits.
  if (type.hasNotFinite === true) return type;
  const decimal = asDecimal(type.cast);
  if (decimal === undefined) return undefined;
  // One digit more, for the bucket below the lowest value.
  const needed = Math.max(decimal.width - decimal.scale, widestBucket) + 1;
  return needed + decimal.scale > widest ? undefined : { ...type, cast: `DECIMAL(${widest},${decimal.scale})` };
};

/** A column as it is stored, and the tenant's key for hashes. */
export type Masked = { readonly ref: ColumnRef; readonly type: SqlType; readonly key: string };

/** Writes the masked values. Never fails on a value, and NULL stays NULL. */
export const maskSql = (dialect: Dialect, column: Sql, mask: Mask, of: Masked): Sql => {
  const { masks } = dialect;
  const value = (): Sql => masks.text(column, of.type);
  switch (mask.kind) {
    case 'hash': {
      const { digest } = masks;
      assertHas(dialect, 'digest');
      if (digest === null) throw new TypeError('a digest that was not refused');
      const key = dialect.cast({ text: of.key, cast: 'VARCHAR' });
      return masks.first(digest(key, digest(key, value())), 32);
    }
    case 'last4':
      return partSql(dialect, value(), 4, masks.last);
    case 'first':
      return partSql(dialect, value(), 1, masks.first);
    case 'year':
      return yearSql(dialect, column, of);
    case 'bucket':
      return bucketSql(dialect, column, mask.width, of);
    case 'null':
      // Keeps the column's type and collation.
      return sql`CASE WHEN 1 = 0 THEN ${column} END`;
  }
};

/** Never the whole text: one that is not longer than the part is empty. */
const partSql = (dialect: Dialect, value: Sql, count: number, part: Dialect['masks']['first']): Sql =>
  sql`CASE WHEN ${dialect.masks.length(value)} <= ${sql.lit(count)} THEN '' ELSE ${part(value, count)} END`;

/** The first day of the year; of an instant, of its year in UTC. Days that have no year of four digits are NULL. */
const yearSql = (dialect: Dialect, column: Sql, { ref, type }: Masked): Sql => {
  const value = dialect.field(column, { ref, type, zone: type.kind === 'instant' ? 'UTC' : null });
  const year = castTo(dialect, dialect.grain(value, 'year', type), 'DATE');
  const { years } = dialect.masks;
  if (years === null) return year;
  const [first, end] = years.map((day) => sql.raw(`DATE '${day}'`));
  return sql`CASE WHEN ${value} >= ${first} AND ${value} < ${end} THEN ${year} END`;
};

const bucketSql = (dialect: Dialect, column: Sql, width: number, { type }: Masked): Sql => {
  const shown = bucketType(type);
  if (shown === undefined) throw new TypeError('a bucket of values that are no numbers');
  if (shown.kind === 'integer') return integerBucketSql(dialect, column, width);
  const text = String(width);
  const size = { text, cast: shown.kind === 'float' ? 'DOUBLE' : `DECIMAL(${text.length},0)` };
  return bucketOf(dialect, shown.hasNotFinite === true ? column : castTo(dialect, column, shown.cast), shown, size);
};

/** The lowest values share the bucket of the lowest number that has a bucket within the type. */
const integerBucketSql = (dialect: Dialect, column: Sql, width: number): Sql => {
  const whole = (number: bigint): Sql => dialect.cast({ text: String(number), cast: 'BIGINT' });
  const [size, least] = [whole(BigInt(width)), whole(leastBigint + BigInt(width))];
  const wide = castTo(dialect, column, 'BIGINT');
  const value = sql`(CASE WHEN ${wide} < ${least} THEN ${least} ELSE ${wide} END)`;
  return sql`(${value} - (((${value} % ${size}) + ${size}) % ${size}))`;
};
