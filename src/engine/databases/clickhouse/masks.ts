import { sql } from 'kysely';
import type { Masks } from '../../dialect/dialect.js';

export const masks: Masks = {
  text: (value) => sql`toString(${value})`,
  length: (text) => sql`lengthUTF8(${text})`,
  first: (text, count) => sql`leftUTF8(${text}, ${sql.lit(count)})`,
  last: (text, count) => sql`rightUTF8(${text}, ${sql.lit(count)})`,
  digest: (key, text) => sql`lower(hex(SHA256(concat(${key}, ${text}))))`,
  years: null,
};
