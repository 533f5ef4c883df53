import type { Datasource } from '../../domain/organization.js';
import { Refusal } from '../../domain/refusal.js';
import { createLru } from '../../platform/lru.js';
import { type Database, type OpenedDatabase, outdated, refuseConnection } from '../connections/database.js';
import { type ClientDatabaseRef, schemasFor, siblingDatabase } from '../scope/client-database.js';

/** An opened database with the catalogs of its clients. */
export type Places = {
  /** Reads each catalog once, and again after a failure. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly find: (client: ClientDatabaseRef | null) => Promise<Database>;
};

/** Where each client has a schema of one database, so many clients' catalogs are cached. */
const catalogsPerDatabase = 200;

export const createCatalogCache = (opening: Promise<OpenedDatabase>, datasource: Datasource): Places => {
  const known = createLru<string, Promise<Database>>(catalogsPerDatabase);
  const read = async (client: ClientDatabaseRef | null): Promise<Database> => {
    const { dialect, run, stream, readCatalog } = await opening;
    const catalog = await readCatalog(schemasFor(client));
    assertDatabase(catalog.database, datasource, client);
    const key = keyOf(client);
    return {
      dialect,
      catalog,
      run: (...asked) => run(...asked).catch(forgetOutdated(key)),
      stream: (...asked) => stream(...asked).catch(forgetOutdated(key)),
    };
  };
  const forgetOutdated = (key: string) => (cause: unknown) => {
    if (cause instanceof Refusal && cause.reason === outdated) known.delete(key);
    throw cause;
  };
  return {
    find: (client) => {
      const key = keyOf(client);
      const there = known.get(key);
      if (there !== undefined) return there;
      const reading = read(client);
      known.set(key, reading);
      reading.catch(() => known.delete(key));
      return reading;
    },
  };
};

const keyOf = (client: ClientDatabaseRef | null): string => JSON.stringify(schemasFor(client));

/** A connection pooler may map a database name to another database. */
const assertDatabase = (
  found: string,
  { name, datasourceType }: Datasource,
  client: ClientDatabaseRef | null,
): void => {
  if (datasourceType !== 'POSTGRES' || client?.level !== 'DATABASE' || found === '' || found === client.database)
    return;
  const message = `Datasource ${name}: the server connected to another database than the client's. Check the connection pooler.`;
  refuseConnection(message, 'datasource-other-database', new Error(`the server is at database ${found}`));
};

type AssertReachable = (datasource: Datasource) => Promise<void>;

/** The sibling databases that the operator allows as datasources. The metadata database never is. */
export const allowedSiblings = async (
  datasource: Datasource,
  names: readonly string[],
  assertReachable: AssertReachable,
): Promise<readonly string[]> => {
  const kept: string[] = [];
  for (const name of names) {
    try {
      await assertReachable(siblingDatabase(datasource, name));
      kept.push(name);
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
    }
  }
  return kept;
};
