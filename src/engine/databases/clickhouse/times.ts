import { sql } from 'kysely';
import type { Sql } from '../dialect.js';
import type { SqlType } from '../sql-type.js';
import { instantName } from './names.js';

export const as = (value: Sql, name: string): Sql => sql`CAST(${value} AS ${sql.raw(name)})`;

/**
 * Zones that crossed the date line since 1900, and skipped a day. timeZoneOffset still gives their offset from before it, a day too little. Their text is
 * right, but takes longer.
 */
const skippedDay: ReadonlySet<string> = new Set(
  'Apia Enderbury Fakaofo Kanton Kiritimati Kwajalein'
    .split(' ')
    .map((name) => `Pacific/${name}`)
    .concat('Kwajalein'),
);

/** Local time of the zone, told in UTC: as an instant of its zone it would be compared by the instant. DateTime itself ends in 1970. */
export const localTime = (column: Sql, type: SqlType, zone: string): Sql => {
  const name = instantName(type.digits ?? 0);
  const instant = as(column, name);
  if (!skippedDay.has(zone)) return sql`addSeconds(${instant}, ${secondsAhead(column, type, zone)})`;
  const local = sql`toString(toTimeZone(${instant}, ${zone}))`;
  return as(inNanoseconds(column, type, local, sql`toString(toTimeZone(${instant}, 'UTC'))`), name);
};

const secondsAhead = (column: Sql, type: SqlType, zone: string): Sql =>
  inNanoseconds(column, type, sql`timeZoneOffset(toTimeZone(${column}, ${zone}))`, sql`0`);

/** `atTheEnd` where nanoseconds end: local time would overflow, which fails for all where a condition is evaluated on another tenant's row. */
const inNanoseconds = (column: Sql, { digits }: SqlType, value: Sql, atTheEnd: Sql): Sql =>
  digits === 9
    ? sql`if(${column} < CAST('2262-04-10 00:00:00' AS ${sql.raw(instantName(9))}), ${value}, ${atTheEnd})`
    : value;
