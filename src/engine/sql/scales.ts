/** Amounts that are stored in the smallest unit of their currency, such as cents: their types and values in whole units. */
import { sql } from 'kysely';
import { castTo, type Dialect, type Sql } from '../dialect/dialect.js';
import { asDecimal, decimalOfCast, floatType, type SqlType } from '../dialect/sql-type.js';

/** The digits that decimals of every database hold. */
const widest = 38;

/** The type of the values in whole units; undefined for types whose values would not be exact. */
export const scaledType = (from: SqlType, digits: number): SqlType | undefined => {
  if (from.kind === 'float') return { ...floatType, scaled: { from, digits } };
  if ((from.kind !== 'integer' && from.kind !== 'decimal') || from.readAs !== undefined) return undefined;
  const { greatestDigits, hasNotFinite } = from;
  const rest = {
    ...(greatestDigits === undefined ? {} : { greatestDigits }),
    ...(hasNotFinite === undefined ? {} : { hasNotFinite }),
    scaled: { from, digits },
  };
  // PostgreSQL's decimals have any number of digits.
  if (hasNotFinite === true) return { kind: 'decimal', cast: from.cast, ...rest };
  const decimal = asDecimal(from.cast);
  const width = (decimal?.width ?? widest) + digits + 1;
  if (decimal === undefined || width > widest) return undefined;
  return { kind: 'decimal', cast: `DECIMAL(${width},${decimal.scale + digits})`, ...rest };
};

/**
 * Writes the values in whole units; those of a column without a scale as they are. Multiplies, since a quotient of
 * decimals may be rounded. NULL stays NULL.
 */
export const scaledSql = (dialect: Dialect, column: Sql, { scaled, kind, cast, hasNotFinite }: SqlType): Sql => {
  if (scaled === undefined) return column;
  const { from, digits } = scaled;
  if (kind === 'float') {
    return sql`(${dialect.double(column)} / ${dialect.cast({ text: `1${'0'.repeat(digits)}`, cast: 'DOUBLE' })})`;
  }
  const whole = from.kind === 'integer' ? castTo(dialect, column, `DECIMAL(${asDecimal(from.cast)?.width},0)`) : column;
  const unit = dialect.cast({ text: `0.${'1'.padStart(digits, '0')}`, cast: `DECIMAL(${digits + 1},${digits})` });
  const value = sql`(${whole} * ${unit})`;
  return hasNotFinite === true || decimalOfCast(cast) === undefined ? value : castTo(dialect, value, cast);
};

/** How many digits numbers with a scale may have. */
export const greatestScaled = (digits: number): number => widest - digits - 1;
