import { sql } from 'kysely';
import type { Masks } from '../../dialect/dialect.js';

export const masks: Masks = {
  text: (value) => sql`(CAST(${value} AS text) COLLATE "C")`,
  length: (text) => sql`char_length(${text})`,
  first: (text, count) => sql`left(${text}, ${sql.lit(count)})`,
  last: (text, count) => sql`right(${text}, ${sql.lit(count)})`,
  digest: (key, text) => sql`encode(sha256(convert_to(${key} || ${text}, 'UTF8')), 'hex')`,
  years: ['0001-01-01', '9999-12-31'],
};
