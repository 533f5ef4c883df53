import { sql } from 'kysely';
import type { Masks, Sql } from '../../dialect/dialect.js';

/** `bytes`: the text in the collation that compares byte by byte. */
export const createMasks = (bytes: (value: Sql) => Sql): Masks => ({
  text: (value) => bytes(sql`CAST(${value} AS CHAR CHARACTER SET utf8mb4)`),
  length: (text) => sql`CHAR_LENGTH(${text})`,
  first: (text, count) => sql`LEFT(${text}, ${sql.lit(count)})`,
  last: (text, count) => sql`RIGHT(${text}, ${sql.lit(count)})`,
  digest: (key, text) => bytes(sql`SHA2(CONCAT(${key}, ${text}), 256)`),
  years: null,
});
