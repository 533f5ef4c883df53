import { sql } from 'kysely';
import type { Masks } from '../../dialect/dialect.js';

export const masks: Masks = {
  text: (value) => sql`CAST(${value} AS VARCHAR)`,
  length: (text) => sql`length(${text})`,
  first: (text, count) => sql`left(${text}, ${sql.lit(count)})`,
  last: (text, count) => sql`right(${text}, ${sql.lit(count)})`,
  // concat() would leave NULL out.
  digest: (key, text) => sql`sha256(${key} || ${text})`,
  years: ['0001-01-01', '9999-12-31'],
};
