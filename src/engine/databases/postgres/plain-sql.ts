/** SQL that variants share: written with what all of them document. */
import { sql } from 'kysely';
import type { Period } from '../../../model/filter/period.js';
import type { Sql } from '../../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../../dialect/refuse.js';
import type { SqlType } from '../../dialect/sql-type.js';

/** What a variant does not have, or is not known to have. `instead`: how to do without. */
export const refuseLacking = (databaseName: string, what: string, instead: string): never =>
  refuseQuery(`${databaseName} is not known to have ${what}; ${instead}.`, 'variant-lacks');

/** Its own functions round times to a second, or take numbers alone. */
export const refusePercentileOfTime = (databaseName: string, kind: SqlType['kind']): void => {
  if (kind !== 'date' && kind !== 'timestamp' && kind !== 'instant') return;
  refuseLacking(databaseName, 'medians and percentiles of dates and times', 'use MIN or MAX, or a number');
};

/** 1970-01-05, the first Monday, in seconds since 1970. */
const firstMondaySeconds = 4 * 86_400;

/** Starts of periods are whole multiples, so nothing is rounded. */
const count = (start: Sql, of: Period): Sql => {
  const part = (name: string): Sql => sql`extract(${sql.raw(name)} FROM CAST(${start} AS timestamp))`;
  const seconds = part('epoch');
  switch (of) {
    case 'minute':
      return sql`${seconds} / 60`;
    case 'hour':
      return sql`${seconds} / 3600`;
    case 'day':
      return sql`${seconds} / 86400`;
    case 'week':
      return sql`(${seconds} - ${sql.lit(firstMondaySeconds)}) / 604800`;
    case 'month':
      return sql`(${part('year')} - 1970) * 12 + ${part('month')} - 1`;
    case 'quarter':
      return sql`(${part('year')} - 1970) * 4 + ${part('quarter')} - 1`;
    case 'year':
      return sql`${part('year')} - 1970`;
    default:
      return refuseUnknown('time grain', of);
  }
};

export const periodOf = (start: Sql, of: Period): Sql => sql`CAST(${count(start, of)} AS bigint)`;
