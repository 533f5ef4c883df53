import { sql } from 'kysely';
import type { Aggregate } from '../domain/metric.js';
import type { Sql } from './dialect.js';
import { refuseQuery, refuseUnknown } from './refuse.js';

/** As most databases write it. */
export const plainAggregate = (aggregate: Aggregate, value: Sql): Sql => {
  switch (aggregate) {
    case 'SUM':
      return sql`sum(${value})`;
    case 'AVG':
      return sql`avg(${value})`;
    case 'MIN':
      return sql`min(${value})`;
    case 'MAX':
      return sql`max(${value})`;
    case 'COUNT':
      return sql`count(${value})`;
    case 'COUNT_DISTINCT':
      return sql`count(DISTINCT ${value})`;
    case 'MEDIAN':
      return sql`median(${value})`;
    case 'PERCENTILE':
      return refuseQuery('This version of the engine does not compute percentiles yet.', 'percentile-unsupported');
    default:
      return refuseUnknown('aggregate', aggregate);
  }
};
