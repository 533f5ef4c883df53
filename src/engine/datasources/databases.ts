import { type Datasource, isFile } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import type { LiveConnections, LiveSource } from '../../model/query/live.js';
import { Refusal } from '../../model/refusal.js';
import { findUnavailable } from '../../model/unavailable.js';
import { closeAll } from '../../platform/work/close-all.js';
import { systemTiming } from '../../platform/work/time.js';
import { type ConnectionBudget, createConnectionBudget } from '../connections/budget.js';
import type { Database, Log, OpenDatabase, OpenedDatabase, OpenOptions } from '../connections/database.js';
import { usualLimits } from '../connections/limits.js';
import { maxWaiting } from '../connections/pool.js';
import { type Kind, kinds } from '../databases/kinds.js';
import { type ClientDatabaseRef, datasourceFor } from '../scope/client-database.js';
import { allowedSiblings, createCatalogCache, type Places } from './catalog-cache.js';
import { openWithReplicas } from './replicas.js';

/** The request that a question belongs to, for the log. */
export type LogOrigin = { readonly requestId?: string | undefined; readonly tenant?: string | undefined };

/** Opens each database once, however many questions ask for it at the same time. Retries after a failure. */
export type Databases = {
  /**
   * Lends the datasource's database, or the client's. It stays open while in use.
   * @throws METRIC_QUERY_ERROR where it cannot be opened.
   */
  readonly use: <R>(
    datasource: Datasource,
    client: ClientDatabaseRef | null,
    work: (database: Database) => Promise<R>,
    origin?: LogOrigin,
  ) => Promise<R>;
  /**
   * Reads its tables, and drops cached catalogs so later questions see them too. Throws DATASOURCE_CONNECTION_ERROR.
   */
  readonly introspect: Engine['introspect'];
  /** The client databases that the operator allows. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly listClientDatabases: Engine['listClientDatabases'];
  readonly readRights: Engine['readRights'];
  /**
   * Runs the work while another process may have one connection to the datasource. It is counted as one of this process.
   * @throws METRIC_QUERY_ERROR where none is free in time; the signal's reason where it aborts first.
   */
  readonly withSetAside: <R>(datasource: Datasource, work: () => Promise<R>, signal: AbortSignal) => Promise<R>;
  /** How the datasource is opened there. */
  readonly openLimits: Pick<OpenOptions, 'timeoutMs' | 'streamMs' | 'connectTimeoutMs'>;
  readonly forget: (datasourceId: string) => Promise<void>;
  /** The datasources that are open, or failed since the start. */
  readonly live: () => readonly LiveDatabases[];
  /** Waits for what runs. */
  readonly close: () => Promise<void>;
};

export type DatabasesOptions = {
  readonly log: Log;
  /**
   * Checks the datasource allow-list. Throws DATASOURCE_CONNECTION_ERROR where the operator does not allow the
   * datasource's host or folder.
   */
  readonly assertReachable: (datasource: Datasource) => Promise<void>;
  /** Limit of one statement. */
  readonly timeoutMs?: number;
  /** Limit of a download, including the reader's time. */
  readonly streamMs?: number;
  readonly connectTimeoutMs?: number;
  /** An unused database is closed after this time. */
  readonly idleMs?: number;
  /** Greatest number of open databases. */
  readonly limit?: number;
  /** Greatest number of connections to all servers. */
  readonly maxConnections?: number;
  /** To one datasource, including its clients' databases. */
  readonly maxConnectionsPerDatasource?: number;
  /** To one client's own database. */
  readonly maxConnectionsPerClient?: number;
  /** How long a question waits for a connection. */
  readonly waitMs?: number;
  readonly clock: Clock;
};

type Entry = {
  readonly key: string;
  readonly datasourceId: string;
  readonly datasource: Datasource;
  readonly openSince: Date;
  readonly opening: Promise<OpenedDatabase>;
  /** Undefined until it is open. */
  readonly opened: () => OpenedDatabase | undefined;
  readonly places: Places;
  readonly running: Set<Promise<unknown>>;
  idle: NodeJS.Timeout | undefined;
};

const openServer: OpenDatabase = async (datasource, options) => {
  const kind: Kind | undefined = kinds[datasource.datasourceType];
  if (kind !== undefined) return kind.open(datasource, options);
  throw new Refusal('METRIC_QUERY_ERROR', 'This version of the engine does not know this type of datasource.');
};

const open = openWithReplicas(openServer, systemTiming);

type Entries = {
  /** The entry of the datasource's database, or of the client's. Opens it where it is not open. */
  readonly find: (datasource: Datasource, client: ClientDatabaseRef | null) => Entry;
  readonly isOpen: (datasource: Datasource, client: ClientDatabaseRef | null) => boolean;
  /** Marks the entry as idle. It is closed after `idleMs`, or earlier where another database needs its place. */
  readonly rest: (entry: Entry) => void;
  readonly retireAll: (isMeant: (entry: Entry) => boolean) => Promise<void>;
  readonly all: () => readonly Entry[];
} & Pick<ConnectionBudget, 'count' | 'permitsOf'>;

/** Closes the database after its running work. */
const closeEntry = async (entry: Entry): Promise<void> => {
  clearTimeout(entry.idle);
  while (entry.running.size > 0) await Promise.allSettled(entry.running);
  const [opened] = await Promise.allSettled([entry.opening]);
  if (opened?.status === 'fulfilled') await opened.value.close();
};

const openLimitsOf = ({
  timeoutMs,
  streamMs,
  connectTimeoutMs = 10_000,
}: DatabasesOptions): Databases['openLimits'] => ({
  timeoutMs: timeoutMs ?? usualLimits.timeoutMs,
  streamMs: streamMs ?? usualLimits.streamMs,
  connectTimeoutMs,
});

/** How an entry is opened. */
const createOpening = (options: DatabasesOptions): Pick<Entries, 'find' | 'count' | 'permitsOf'> => {
  const { log, clock } = options;
  const { waitMs, maxConnections, maxConnectionsPerDatasource, maxConnectionsPerClient } = {
    ...usualLimits,
    ...options,
  };
  const limits = openLimitsOf(options);
  const budget = createConnectionBudget({ maxWaiting, waitMs, maxConnections, maxConnectionsPerDatasource });
  const find: Entries['find'] = (datasource, client) => {
    const isClients = client?.level === 'DATABASE';
    const placed = datasourceFor(datasource, client);
    const connections = isClients
      ? Math.min(maxConnectionsPerClient, maxConnectionsPerDatasource)
      : maxConnectionsPerDatasource;
    const permits = budget.permitsOf(datasource.id);
    const opening = open(placed, { log, ...limits, connections, permits });
    let opened: OpenedDatabase | undefined;
    opening.then(
      (database) => {
        opened = database;
      },
      () => {},
    );
    return {
      key: keyOf(placed),
      datasourceId: datasource.id,
      datasource,
      openSince: clock.now(),
      opening,
      opened: () => opened,
      places: createCatalogCache(opening, datasource, clock),
      running: new Set(),
      idle: undefined,
    };
  };
  return { find, ...budget };
};

const createEntries = (options: DatabasesOptions): Entries => {
  const { log, idleMs = 300_000, limit = 100 } = options;
  const { find: make, count, permitsOf } = createOpening(options);
  const entries = new Map<string, Entry>();
  const remove = (entry: Entry): boolean => entries.get(entry.key) === entry && entries.delete(entry.key);
  const retire = (entry: Entry): void => {
    remove(entry);
    closeEntry(entry).catch((err: unknown) =>
      log.warn({ event: 'datasource.close_failed', err }, 'failed to close an idle datasource'),
    );
  };
  const makeRoom = (): void => {
    if (entries.size < limit) return;
    // Entries are ordered by last use, the most recent last.
    const idle = [...entries.values()].find(({ running }) => running.size === 0);
    if (idle === undefined) throw new Refusal('METRIC_QUERY_ERROR', 'Too many datasources are in use. Retry later.');
    retire(idle);
  };
  const findOpen = (datasource: Datasource, client: ClientDatabaseRef | null): Entry | undefined =>
    entries.get(keyOf(datasourceFor(datasource, client)));
  return {
    all: () => [...entries.values()],
    ...{ count, permitsOf },
    isOpen: (datasource, client) => findOpen(datasource, client) !== undefined,
    find: (datasource, client) => {
      const known = findOpen(datasource, client);
      if (known !== undefined) return known;
      makeRoom();
      const entry = make(datasource, client);
      entries.set(entry.key, entry);
      entry.opening.catch(() => remove(entry));
      return entry;
    },
    rest: (entry) => {
      if (entry.running.size > 0 || !remove(entry)) return;
      entries.set(entry.key, entry);
      entry.idle = setTimeout(() => retire(entry), idleMs).unref();
    },
    retireAll: async (isMeant) => {
      const meant = [...entries.values()].filter((entry) => isMeant(entry) && remove(entry));
      await closeAll(meant.map((entry) => () => closeEntry(entry)));
    },
  };
};

type Lend = <R>(
  datasource: Datasource,
  client: ClientDatabaseRef | null,
  work: (entry: Entry) => Promise<R>,
) => Promise<R>;

const createLend =
  (
    { find, isOpen, rest }: Entries,
    assertReachable: DatabasesOptions['assertReachable'],
    assertOpen: () => void,
  ): Lend =>
  async (datasource, client, work) => {
    // The allow-list is checked before a database is opened. An open database stays allowed.
    if (!isOpen(datasource, client)) await assertReachable(datasourceFor(datasource, client));
    assertOpen();
    const entry = find(datasource, client);
    clearTimeout(entry.idle);
    const running = work(entry);
    entry.running.add(running);
    try {
      return await running;
    } finally {
      entry.running.delete(running);
      rest(entry);
    }
  };

export const createDatabases = (options: DatabasesOptions): Databases => {
  const { log, clock, assertReachable } = options;
  const entries = createEntries(options);
  const { retireAll } = entries;
  const failures = createFailures(clock);
  let isClosed = false;
  const lendOpen = createLend(entries, assertReachable, () => assertOpen(isClosed));
  const lend: Lend = (datasource, client, work) =>
    failures.noting(datasource, () => lendOpen(datasource, client, work));
  const forget = (datasourceId: string): Promise<void> => retireAll((entry) => entry.datasourceId === datasourceId);
  return {
    use: (datasource, client, work, origin = {}) => {
      const ask = () => lend(datasource, client, ({ places }) => places.use(client, work));
      return forQuestion(ask, datasource, log, origin);
    },
    introspect: async (datasource, databases = [], origin = {}) => {
      await forget(datasource.id);
      const describe = async ({ opening }: Entry) => (await opening).describe(databases);
      return forOperator(() => lend(datasource, null, describe), datasource, log, origin);
    },
    listClientDatabases: async (datasource, origin = {}) => {
      const list = async ({ opening }: Entry) => (await opening).listClientDatabases();
      const found = await forOperator(() => lend(datasource, null, list), datasource, log, origin);
      return { ...found, DATABASE: await allowedSiblings(datasource, found.DATABASE, assertReachable) };
    },
    readRights: (datasource, origin = {}) => {
      const read = async ({ opening }: Entry) => (await opening).readRights();
      return forOperator(() => lend(datasource, null, read), datasource, log, origin);
    },
    withSetAside: async (datasource, work, signal) => {
      if (isFile(datasource)) return work();
      const permit = await entries.permitsOf(datasource.id).acquire(signal);
      try {
        return await work();
      } finally {
        permit.release();
      }
    },
    openLimits: openLimitsOf(options),
    forget,
    live: () => liveOf(entries, failures.all()),
    close: async () => {
      isClosed = true;
      await retireAll(() => true);
    },
  };
};

/** How a datasource's connection failed last. */
type Failure = {
  readonly datasource: Pick<Datasource, 'id' | 'name' | 'datasourceType'>;
  readonly at: Date;
  readonly reason: string;
  readonly isOver: boolean;
};

export type LiveDatabases = Omit<LiveSource, 'queries' | 'downloads'>;

const mostFailures = 100;

/**
 * The reason of a failure that is the connection's, and not the question's. Whether a question fails depends on rows, and
 * people without access to data see the latest failure of a source.
 */
const faultOf = (error: unknown): string | undefined => {
  const refused = error instanceof Refusal && error.code === 'DATASOURCE_CONNECTION_ERROR' ? error.reason : undefined;
  const reason = findUnavailable(error)?.reason ?? refused;
  return reason?.startsWith('datasource-') === true ? reason : undefined;
};

/** Remembers the latest failure of each datasource, and whether something succeeded since. */
const createFailures = (clock: Clock) => {
  const failures = new Map<string, Failure>();
  const note = ({ id, name, datasourceType }: Datasource, reason: string): void => {
    failures.delete(id);
    failures.set(id, { datasource: { id, name, datasourceType }, at: clock.now(), reason, isOver: false });
    const [first] = failures.keys();
    if (failures.size > mostFailures && first !== undefined) failures.delete(first);
  };
  return {
    all: (): readonly Failure[] => [...failures.values()],
    noting: async <R>(datasource: Datasource, work: () => Promise<R>): Promise<R> => {
      try {
        const result = await work();
        const known = failures.get(datasource.id);
        if (known?.isOver === false) failures.set(datasource.id, { ...known, isOver: true });
        return result;
      } catch (error) {
        const reason = faultOf(error);
        if (reason !== undefined) note(datasource, reason);
        throw error;
      }
    },
  };
};

const liveOf = ({ all, count }: Entries, failures: readonly Failure[]): readonly LiveDatabases[] => {
  const entries = all();
  const known = new Map<string, Failure['datasource']>();
  for (const { datasource } of [...failures, ...entries]) known.set(datasource.id, datasource);
  return [...known.values()].map(({ id, name, datasourceType: type }) => {
    const own = entries.filter(({ datasourceId }) => datasourceId === id);
    const opened = own.flatMap((entry) => entry.opened() ?? []);
    const counts = [count(id), ...opened.flatMap((database) => database.count?.() ?? [])];
    const sum = (of: keyof LiveConnections): number => counts.reduce((total, one) => total + one[of], 0);
    const failure = failures.find(({ datasource }) => datasource.id === id);
    return {
      ...{ id, name, type, databases: opened.length },
      openSince: own.map(({ openSince }) => openSince.toISOString()).toSorted()[0] ?? null,
      connections: { open: sum('open'), busy: sum('busy'), waiting: sum('waiting') },
      lastError:
        failure === undefined ? null : { at: failure.at.toISOString(), reason: failure.reason, isOver: failure.isOver },
    };
  });
};

const assertOpen = (isClosed: boolean): void => {
  if (!isClosed) return;
  throw new Refusal('METRIC_QUERY_ERROR', 'The service is shutting down. Retry the query.', {
    reason: 'engine-closed',
  });
};

/**
 * The key holds the datasource's settings, so a changed datasource opens anew in every process without a
 * notification.
 */
const keyOf = (datasource: Datasource): string => {
  const known = written.get(datasource);
  if (known !== undefined) return known;
  const key = JSON.stringify(datasource);
  written.set(datasource, key);
  return key;
};

const written = new WeakMap<Datasource, string>();

/**
 * Callers of a question must not see hosts or credentials: connection errors become a neutral refusal, and the cause
 * is logged.
 */
const forQuestion = async <R>(
  work: () => Promise<R>,
  { name }: Datasource,
  log: Log,
  origin: LogOrigin,
): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Refusal && cause.code === 'DATASOURCE_CONNECTION_ERROR')) throw cause;
    log.error(
      { event: 'datasource.open_failed', ...origin, err: cause.cause ?? cause, datasource: name, reason: cause.reason },
      'failed to open a datasource',
    );
    throw new Refusal('METRIC_QUERY_ERROR', `Datasource ${name} could not be opened. The cause is in the log.`, {
      reason: 'datasource-unavailable',
      cause,
    });
  }
};

const forOperator = async <R>(
  work: () => Promise<R>,
  { name }: Datasource,
  log: Log,
  { requestId }: LogOrigin,
): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    const isOurs = cause instanceof Refusal && cause.code === 'DATASOURCE_CONNECTION_ERROR';
    const inner = cause instanceof Refusal ? (cause.cause ?? cause) : cause;
    log.error(
      { event: 'datasource.sync_failed', requestId, err: inner, datasource: name },
      'failed to read the tables of a datasource',
    );
    if (isOurs) throw cause;
    throw new Refusal(
      'DATASOURCE_CONNECTION_ERROR',
      `Datasource ${name}: its tables could not be read. The cause is in the log.`,
      { reason: 'datasource-failed', cause },
    );
  }
};
