import { sql } from 'kysely';
import type { Sql } from '../../dialect/dialect.js';
import { type ZoneOffset, zoneOffsets } from '../../dialect/zone-offsets.js';

/**
 * Dates and times of SQLite are text, seconds or milliseconds since 1970, or Julian days. The dialect reads them all as
 * ISO 8601 text without trailing zeros, which sorts by time: `2024-03-05T08:15:30.25`.
 */
const written = (...parts: readonly Sql[]): Sql =>
  sql`rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', ${sql.join(parts)}), '0'), '.')`;

/** Above: milliseconds. As seconds it is the year 5138, as milliseconds the year 1973. */
const mostSeconds = '100000000000';
/** Julian days end with the year 9999. */
const mostDays = '5373484.5';

/** NULL for a value that is no date. `now` and other words of SQLite are none. */
export const storedTime = (value: Sql, unit?: 'seconds'): Sql => {
  if (unit === 'seconds') return written(value, sql`'unixepoch'`);
  return sql`CASE typeof(${value})
    WHEN 'text' THEN CASE WHEN ${value} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' THEN ${written(value)} END
    WHEN 'integer' THEN ${written(sql`CASE WHEN abs(${value}) < ${sql.raw(mostSeconds)} THEN ${value} ELSE ${value} / 1000.0 END`, sql`'unixepoch'`)}
    WHEN 'real' THEN CASE WHEN ${value} BETWEEN 0 AND ${sql.raw(mostDays)} THEN ${written(value)} ELSE ${written(value, sql`'unixepoch'`)} END
  END`;
};

export const dayOf = (time: Sql): Sql => sql`substr(${time}, 1, 10)`;

/** `2024-03-05T08:15:30.25` from `2024-03-05 08:15:30.250`, and the first moment of a day. */
export const momentOf = (text: string): string => {
  const [day = '', time = '00:00:00'] = text.split(/[ T]/);
  return `${day}T${time.includes('.') ? time.replace(/\.?0+$/, '') : time}`;
};

/** Local time of the zone, by our own table of offsets: SQLite knows no zone but that of its machine. */
export const localTime = (time: Sql, zone: string | null): Sql => {
  const offsets = zone === null ? [] : zoneOffsets(zone);
  if (offsets.every(({ seconds }) => seconds === 0)) return time;
  // Computed once for each row, in place of once for each comparison. SQLite moves no time beyond the years 0 and 9999: it stays.
  return sql`(WITH utc AS MATERIALIZED (SELECT ${time} AS at) SELECT coalesce(${written(sql`at`, sql`(${secondsAhead(offsets)}) || ' seconds'`)}, at) FROM utc)`;
};

/** In two steps, so few comparisons are needed. A search by halves would nest deeper than SQLite parses. */
const secondsAhead = (offsets: readonly ZoneOffset[]): Sql => {
  const size = Math.ceil(Math.sqrt(offsets.length));
  const chunks = Array.from({ length: Math.ceil(offsets.length / size) }, (_, index) =>
    offsets.slice(index * size, (index + 1) * size),
  );
  return firstBefore(chunks.map((chunk) => ({ since: chunk[0]?.since ?? null, value: firstBefore(chunk.map(ofOne)) })));
};

type Since = { readonly since: number | null; readonly value: Sql };

const ofOne = ({ since, seconds }: ZoneOffset): Since => ({ since, value: sql.lit(seconds) });

/** The value of the last item that began; the first one has no beginning. */
const firstBefore = (items: readonly Since[]): Sql => {
  const last = items.at(-1)?.value ?? sql.lit(0);
  if (items.length < 2) return last;
  const tests = items.slice(1).map(({ since }, index) => {
    const at = new Date(since ?? 0).toISOString().slice(0, 19);
    return sql`WHEN at < ${sql.lit(at)} THEN ${items[index]?.value ?? last}`;
  });
  return sql`CASE ${sql.join(tests, sql` `)} ELSE ${last} END`;
};
