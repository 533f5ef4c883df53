import { type Datasource, protocolOf } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import { statementRefused } from '../../model/query/engine.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { createLru } from '../../platform/work/lru.js';
import {
  type Database,
  NamesRefused,
  type OpenedDatabase,
  outdated,
  refuseConnection,
  TypesChanged,
} from '../connections/database.js';
import { type ClientDatabaseRef, schemasFor, siblingDatabase } from '../scope/client-database.js';
import { tracedRuns } from './traced-runs.js';

/** An opened database with the catalogs of its clients. */
export type Places = {
  /**
   * Gives the work the database with its catalog, which is read once, and again after a failure. Where the database does
   * not know a name of a statement, or a type does not fit, the catalog is read again and the work done once more: a column
   * that was renamed, dropped or revoked costs only the metrics that name it, and one of another type none. Throws
   * DATASOURCE_CONNECTION_ERROR.
   */
  readonly use: <R>(client: ClientDatabaseRef | null, work: (database: Database) => Promise<R>) => Promise<R>;
};

/** A catalog of this age is not the reason of an unknown name. Faulty SQL does not read it at each question. */
const freshMs = 1000;

/** As freshMs, where the catalog itself lacks what the datamart names: it may have come back. */
const freshOfMissingMs = 30_000;

const missing: ReadonlySet<Reason> = new Set([
  'column-not-in-datasource',
  'table-not-in-datasource',
  'tenancy-column-missing',
  'client-column-missing',
]);

/**
 * As freshMs, where a type does not fit: a column may have got another one. Faulty values and SQL are more frequent, so the
 * catalog is read again less often.
 */
const freshOfTypesMs = 300_000;

const ofTypes: ReadonlySet<Reason> = new Set([
  statementRefused,
  'measure-type',
  'grain-without-date',
  'bucket-invalid',
  'value-of-wrong-type',
  'client-column-type',
  'tenancy-join-types',
]);

const mayBeOfCatalog: ReadonlySet<Reason> = new Set([...missing, ...ofTypes]);

/** Whether a catalog of this age may be the reason of the failure. */
const mayBeOutdated = (cause: unknown, age: number): boolean => {
  if (cause instanceof NamesRefused) return age >= freshMs;
  if (cause instanceof TypesChanged) return true;
  if (!(cause instanceof Refusal)) return false;
  return age >= (missing.has(cause.reason) ? freshOfMissingMs : freshOfTypesMs) && mayBeOfCatalog.has(cause.reason);
};

type Read = { readonly database: Database; readonly readAt: number };

/** Where each client has a schema of one database, so many clients' catalogs are cached. */
const catalogsPerDatabase = 200;

export const createCatalogCache = (opening: Promise<OpenedDatabase>, datasource: Datasource, clock: Clock): Places => {
  const known = createLru<string, Promise<Read>>(catalogsPerDatabase);
  const read = async (client: ClientDatabaseRef | null): Promise<Read> => {
    const readAt = clock.now().getTime();
    const { dialect, readCatalog, ...runs } = await opening;
    const { run, stream } = tracedRuns(runs, datasource, client);
    const catalog = await readCatalog(schemasFor(client));
    assertDatabase(catalog.database, datasource, client);
    const key = keyOf(client);
    const database: Database = {
      dialect,
      catalog,
      isOld: () => clock.now().getTime() - readAt >= freshOfMissingMs,
      run: (...asked) => run(...asked).catch(forgetOutdated(key)),
      stream: (...asked) => stream(...asked).catch(forgetOutdated(key)),
    };
    return { database, readAt };
  };
  const forgetOutdated = (key: string) => (cause: unknown) => {
    if (cause instanceof Refusal && cause.reason === outdated) known.delete(key);
    throw cause;
  };
  const find = (client: ClientDatabaseRef | null): Promise<Read> => {
    const key = keyOf(client);
    const there = known.get(key);
    if (there !== undefined) return there;
    const reading = read(client);
    known.set(key, reading);
    reading.catch(() => known.delete(key));
    return reading;
  };
  return {
    use: async (client, work) => {
      const reading = find(client);
      const { database, readAt } = await reading;
      try {
        return await work(database);
      } catch (cause) {
        if (!mayBeOutdated(cause, clock.now().getTime() - readAt)) throw cause;
      }
      if (known.get(keyOf(client)) === reading) known.delete(keyOf(client));
      return work((await find(client)).database);
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
  if (
    protocolOf(datasourceType) !== 'POSTGRES' ||
    client?.level !== 'DATABASE' ||
    found === '' ||
    found === client.database
  )
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
