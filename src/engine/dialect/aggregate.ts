import { sql } from 'kysely';
import type { PlainAggregate, Sql } from './dialect.js';
import { refuseUnknown } from './refuse.js';

/** The spelling that most databases share. */
export const plainAggregate = (aggregate: PlainAggregate, value: Sql): Sql => {
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
    default:
      return refuseUnknown('aggregate', aggregate);
  }
};
