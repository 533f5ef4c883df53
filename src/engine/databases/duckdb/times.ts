import { sql } from 'kysely';
import type { TimeGrain } from '../../../domain/dashboard/metric.js';
import type { Column } from '../dialect.js';
import { firstDay, type Sql } from '../dialect.js';
import type { SqlType } from '../sql-type.js';

/** A date as a timestamp, where to cast it would fail: it may lie beyond every timestamp. */
export const timeOf = (day: Sql): Sql =>
  sql`coalesce(TRY_CAST(${day} AS TIMESTAMP), CASE WHEN ${day} > DATE ${sql.lit(firstDay)} THEN TIMESTAMP 'infinity' WHEN ${day} IS NOT NULL THEN TIMESTAMP '-infinity' END)`;

/** A year from either end of timestamps: what is made of the times between them never leaves the type. */
const [least, greatest] = ['290308-01-01 (BC)', '294246-01-01'];

const isWithin = (value: Sql, name: string): Sql =>
  sql`${value} BETWEEN ${sql.raw(`${name} '${least}'`)} AND ${sql.raw(`${name} '${greatest}'`)}`;

/**
 * The first day of the period. DuckDB evaluates date_trunc() on the column's least and greatest value when it plans. These may be
 * another tenant's, and the failure would be everybody's, so the argument is bounded. A day outside of the bounds stays as it is.
 */
export const firstDayOf = (value: Sql, grain: TimeGrain, { kind }: SqlType): Sql => {
  const name = kind === 'date' ? 'DATE' : 'TIMESTAMP';
  const bounded = sql`least(greatest(${value}, ${sql.raw(`${name} '${least}'`)}), ${sql.raw(`${name} '${greatest}'`)})`;
  return sql`CASE WHEN ${isWithin(value, name)} THEN CAST(date_trunc(${sql.lit(grain)}, ${bounded}) AS DATE) ELSE CAST(${value} AS DATE) END`;
};

/**
 * Local time of the zone; a plain timestamp is UTC by the datamart's word. Conditions on it may be evaluated on any tenant's row, so
 * it never fails: within a year of the ends of the type, where local time may not exist, it is UTC.
 */
export const localTime = (column: Sql, { kind }: Column['type'], zone: Sql): Sql => {
  const isInstant = kind === 'instant';
  const within = isWithin(column, isInstant ? 'TIMESTAMPTZ' : 'TIMESTAMP');
  const instant = isInstant ? column : sql`(${column} AT TIME ZONE 'UTC')`;
  const utc = isInstant ? sql`make_timestamp(epoch_us(${column}))` : column;
  return sql`(CASE WHEN ${within} OR isinf(${column}) THEN ${instant} AT TIME ZONE ${zone} ELSE ${utc} END)`;
};
