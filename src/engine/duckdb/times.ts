import { sql } from 'kysely';
import { firstDay, type Sql } from '../dialect.js';

/** A date as a timestamp, where to cast it would fail: it may lie beyond every timestamp. */
export const timeOf = (day: Sql): Sql =>
  sql`coalesce(TRY_CAST(${day} AS TIMESTAMP), CASE WHEN ${day} > DATE ${sql.lit(firstDay)} THEN TIMESTAMP 'infinity' WHEN ${day} IS NOT NULL THEN TIMESTAMP '-infinity' END)`;
