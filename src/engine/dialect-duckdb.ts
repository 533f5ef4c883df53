import type { CompiledQuery, RawBuilder } from 'kysely';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { TimeGrain } from '../domain/metric.js';
import type { Column } from './plan.js';
import { refuseUnknown } from './refuse.js';
import type { Bound } from './values.js';

/** DuckDB writes identifiers and parameters as PostgreSQL does. */
class DuckDbQueryCompiler extends PostgresQueryCompiler {}

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new DuckDbQueryCompiler(),
  },
});

type Sql = RawBuilder<unknown>;

/** The text and its bound values; every value is text or a list of texts, and says its type by a cast. */
export const compileSql = (query: Sql): CompiledQuery => query.compile(compiler);

/** `cast` comes from sql-type.ts and values.ts alone. */
export const castText = ({ text, cast }: Bound): Sql => sql`CAST(${text} AS ${sql.raw(cast)})`;

/** The column's values as local time of its zone. A plain timestamp is UTC by the datamart's word. */
export const localSql = (column: Sql, { type, zone }: Column): Sql => {
  if (zone === null) return column;
  const bound = castText({ text: zone, cast: 'VARCHAR' });
  return type.kind === 'instant'
    ? sql`(${column} AT TIME ZONE ${bound})`
    : sql`((${column} AT TIME ZONE 'UTC') AT TIME ZONE ${bound})`;
};

/** Days and what is longer are dates; weeks start on Monday, `dayOfWeek` is 1 for Monday to 7 for Sunday. */
export const grainSql = (value: Sql, grain: TimeGrain): Sql => {
  switch (grain) {
    case 'minute':
    case 'hour':
      return sql`date_trunc(${sql.lit(grain)}, ${value})`;
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year':
      return sql`CAST(date_trunc(${sql.lit(grain)}, ${value}) AS DATE)`;
    case 'hourOfDay':
      return sql`extract(hour FROM ${value})`;
    case 'dayOfWeek':
      return sql`extract(isodow FROM ${value})`;
    default:
      return refuseUnknown('time grain', grain);
  }
};
