import { sql } from 'kysely';
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { Column } from '../../dialect/dialect.js';
import { firstDay, type Sql } from '../../dialect/dialect.js';
import type { SqlType } from '../../dialect/sql-type.js';

/** A date as a timestamp, without failing on dates beyond all timestamps. */
export const timeOf = (day: Sql): Sql =>
  sql`coalesce(TRY_CAST(${day} AS TIMESTAMP), CASE WHEN ${day} > DATE ${sql.lit(firstDay)} THEN TIMESTAMP 'infinity' WHEN ${day} IS NOT NULL THEN TIMESTAMP '-infinity' END)`;

/** A year within the range of timestamps, so shifted times never leave it. */
const [least, greatest] = ['290308-01-01 (BC)', '294246-01-01'];

const isWithin = (value: Sql, name: string): Sql =>
  sql`${value} BETWEEN ${sql.raw(`${name} '${least}'`)} AND ${sql.raw(`${name} '${greatest}'`)}`;

/**
 * The first day of the period. While planning, DuckDB evaluates date_trunc() on the column's least and greatest
 * value, perhaps another tenant's, and an error there fails every query. So the argument is bounded; a day outside
 * the bounds stays as it is.
 */
export const firstDayOf = (value: Sql, grain: TimeGrain, { kind }: SqlType): Sql => {
  const name = kind === 'date' ? 'DATE' : 'TIMESTAMP';
  const bounded = sql`least(greatest(${value}, ${sql.raw(`${name} '${least}'`)}), ${sql.raw(`${name} '${greatest}'`)})`;
  return sql`CASE WHEN ${isWithin(value, name)} THEN CAST(date_trunc(${sql.lit(grain)}, ${bounded}) AS DATE) ELSE CAST(${value} AS DATE) END`;
};

/**
 * Local time of the zone; a timestamp is read as UTC where the datamart says so. Conditions on it may run on any
 * tenant's row, so it never fails: within a year of the type's ends the time stays UTC.
 */
export const localTime = (column: Sql, { kind }: Column['type'], zone: Sql): Sql => {
  const isInstant = kind === 'instant';
  const within = isWithin(column, isInstant ? 'TIMESTAMPTZ' : 'TIMESTAMP');
  const instant = isInstant ? column : sql`(${column} AT TIME ZONE 'UTC')`;
  const utc = isInstant ? sql`make_timestamp(epoch_us(${column}))` : column;
  return sql`(CASE WHEN ${within} OR isinf(${column}) THEN ${instant} AT TIME ZONE ${zone} ELSE ${utc} END)`;
};
