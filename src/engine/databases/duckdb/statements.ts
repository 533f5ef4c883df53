/** Caches prepared statements per connection. Preparing takes a tenth of a small tenant's query time. */
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';

const greatestMemory = 50;
/** In characters. Longer texts rarely repeat. */
const longestText = 20_000;

/** By text, least recently used first. */
const keptOf = new WeakMap<DuckDBConnection, Map<string, DuckDBPreparedStatement>>();

/** Takes a prepared statement out of the cache, or prepares one. The caller returns it with keepStatement. */
export const takeStatement = async (connection: DuckDBConnection, text: string): Promise<DuckDBPreparedStatement> => {
  const kept = keptOf.get(connection);
  const known = kept?.get(text);
  if (known === undefined) return connection.prepare(text);
  kept?.delete(text);
  return known;
};

/** Returns a statement that was read to its end. Clears its bound values. */
export const keepStatement = (connection: DuckDBConnection, text: string, statement: DuckDBPreparedStatement): void => {
  if (text.length > longestText) {
    statement.destroySync();
    return;
  }
  statement.clearBindings();
  const kept = keptOf.get(connection) ?? new Map<string, DuckDBPreparedStatement>();
  keptOf.set(connection, kept.set(text, statement));
  const [oldest] = kept;
  if (kept.size <= greatestMemory || oldest === undefined) return;
  kept.delete(oldest[0]);
  oldest[1].destroySync();
};

/** Drops all statements before the connection closes, because they keep the file open. */
export const dropStatements = (connection: DuckDBConnection): void => {
  for (const statement of keptOf.get(connection)?.values() ?? []) statement.destroySync();
  keptOf.delete(connection);
};
