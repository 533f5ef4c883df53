/**
 * The connection pool of the metadata's PostgreSQL server, for Kysely. A restart, a failover, a terminated session or a
 * frozen server never ends the process and never blocks a request. Statements that can be repeated safely are repeated.
 * All others fail with DependencyUnavailable in bounded time.
 */

import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { ClientBase, ClientConfig, PoolClient } from 'pg';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Reason } from '../../model/reasons.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { wantsPrimary } from '../addresses/database-url.js';
import { faultOf, namedFault } from './database-faults.js';
import { guardPostgres } from './postgres-guard.js';
import { createServerHealth, type ServerHealth, suspectAfterMs } from './postgres-health.js';
import { assertPrimary, createPostgresServers, type PostgresServers } from './postgres-servers.js';

type PoolLog = Pick<Log, 'warn'>;

const connectTimeoutMs = 10_000;
/**
 * Maximum time of one statement, locks included. The server ends the statement. If it does not, this process closes the
 * connection a little later.
 */
const statementTimeoutMs = 60_000;
const hangUpMs = statementTimeoutMs + 2_000;
/** After the first failure, new connections are retried for this time. Most restarts end within it. */
const patienceMs = 1_500;
const retryEveryMs = 100;

/** Whether the statement changes nothing. If the connection breaks, another connection may run it again. */
const isRepeatable = (sql: string): boolean => /^\s*(select|begin|start transaction)\b/i.test(sql);
const begins = (sql: string): boolean => /^(begin|start transaction)\b/i.test(sql);
const ends = (sql: string): boolean => /^(commit|rollback)$/i.test(sql);
/** Whether the statement belongs to a migration. Only migrations take a session lock. They have no time limit. */
const isMigration = (sql: string): boolean => /pg_(?:try_)?advisory_lock(?:_shared)?\(/.test(sql);

type Guard = <T>(work: Promise<T>, limitMs: number) => Promise<T>;

/** Waits for the work, up to `limitMs`. Rejects earlier if the server does not respond or is no longer the current one. */
const createGuard =
  ({ isAnswering }: ServerHealth, servers: PostgresServers): Guard =>
  async (work, limitMs) => {
    const startedMs = performance.now();
    const server = servers.current();
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const givenUp = handled(
      new Promise<never>((_, reject) => {
        const giveUp = (reason: Reason): void =>
          reject(new DependencyUnavailable(reason, 'The metadata database did not answer in time.'));
        const look = async (): Promise<void> => {
          if (!(await isAnswering())) giveUp('database-silent');
          else if (server !== servers.current()) giveUp('database-left');
          else if (performance.now() - startedMs > limitMs) giveUp('database-late');
          else later();
        };
        const later = (): void => {
          if (!isOver) timer = setTimeout(() => void look(), suspectAfterMs);
        };
        later();
      }),
    );
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      isOver = true;
      clearTimeout(timer);
      // An abandoned query may fail later. Its caller has already received the timeout.
      work.catch(() => undefined);
    }
  };

type Acquire = () => Promise<PoolClient>;
type Ways = { readonly health: ServerHealth; readonly guard: Guard; readonly servers: PostgresServers };

/** Takes a connection. Retries right after a failure. During a longer outage, it fails at once. */
const createAcquire = (connect: Acquire, { health, guard, servers }: Ways): Acquire => {
  let failingSinceMs: number | null = null;
  const once = async (): Promise<PoolClient> => {
    const server = servers.current();
    const connecting = connect();
    try {
      return await guard(connecting, connectTimeoutMs);
    } catch (error) {
      servers.leave(server);
      // A connection that arrives too late returns to the pool. A failure was already reported here.
      connecting.then(
        (client) => client.release(),
        () => undefined,
      );
      throw error;
    }
  };
  return async () => {
    for (;;) {
      health.assertAnswering();
      try {
        const client = await once();
        failingSinceMs = null;
        if (generationOf(client) === servers.generation()) return client;
        client.release(true);
      } catch (error) {
        failingSinceMs ??= performance.now();
        const isOver = performance.now() - failingSinceMs > patienceMs;
        if (isOver || error instanceof DependencyUnavailable) {
          throw new DependencyUnavailable('database-away', 'The metadata database cannot be connected to.', error);
        }
        await wait(retryEveryMs);
      }
    }
  };
};

type Loan = {
  client: PoolClient;
  /** Why the connection cannot be used any more, or null. */
  broken: DependencyUnavailable | null;
  isInTransaction: boolean;
  isPatient: boolean;
  isReleased: boolean;
};

const release = (loan: Loan): void => {
  // Closes the connection of a migration, so that its session settings do not remain.
  if (!loan.isReleased) loan.client.release(loan.broken !== null || loan.isPatient);
  loan.isReleased = true;
};

/** Records whether the connection is still usable. Returns the error to throw. */
const noteFailure = (loan: Loan, servers: PostgresServers, error: unknown): unknown => {
  const named = namedFault(error);
  const fault = error instanceof DependencyUnavailable ? 'away' : faultOf(error);
  if (named instanceof DependencyUnavailable && (fault === 'away' || fault === 'read-only')) loan.broken = named;
  // A read-only server may be the former primary. The next connection may reach the new one.
  if (fault === 'read-only') servers.outdate(generationOf(loan.client));
  return named;
};

const send = async <R>(loan: Loan, guard: Guard, sql: string, parameters: readonly unknown[]) => {
  if (isMigration(sql)) {
    loan.isPatient = true;
    await guard(loan.client.query('set statement_timeout = 0'), hangUpMs);
  }
  const asked: Promise<unknown> = loan.client.query(sql, [...parameters]);
  const result = await guard(asked, loan.isPatient ? Number.POSITIVE_INFINITY : hangUpMs);
  if (begins(sql)) loan.isInTransaction = true;
  return result as PostgresQueryResult<R>;
};

const replace = async (loan: Loan, acquire: Acquire): Promise<void> => {
  release(loan);
  loan.client = await acquire();
  loan.isReleased = false;
  loan.broken = null;
};

/** Lends one connection. Its statements run one after the other. */
const createLoan = (client: PoolClient, acquire: Acquire, { guard, servers }: Ways): PostgresPoolClient => {
  const loan: Loan = { client, broken: null, isInTransaction: false, isPatient: false, isReleased: false };
  const note = (error: unknown): unknown => noteFailure(loan, servers, error);
  const query = async <R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> => {
    if (loan.broken !== null) throw loan.broken;
    const mayRepeat = !loan.isInTransaction && !loan.isPatient && isRepeatable(sql) && !isMigration(sql);
    if (ends(sql)) loan.isInTransaction = false;
    try {
      return await send(loan, guard, sql, parameters);
    } catch (error) {
      const isLost = !(error instanceof DependencyUnavailable) && faultOf(error) === 'away';
      const named = note(error);
      if (!mayRepeat || !isLost) throw named;
    }
    await replace(loan, acquire);
    return send<R>(loan, guard, sql, parameters).catch((error: unknown) => Promise.reject(note(error)));
  };
  return { query: query as PostgresPoolClient['query'], release: () => release(loan) };
};

/** The `generation` of PostgresServers when the connection was made. */
type Aged = { readonly generation?: number };
const generationOf = (client: ClientBase & Aged): number => client.generation ?? 0;

/** Sets the statement time limit. Rejects if a primary is required and this server takes no writes. */
const prepare = async (client: ClientBase, isPrimaryWanted: boolean): Promise<void> => {
  await client.query(`set statement_timeout = ${statementTimeoutMs}`);
  if (isPrimaryWanted) await assertPrimary(client);
};

/** Opens the pool. `end` waits for running statements, which end in bounded time. */
export const openPostgresPool = async (databaseUrl: string, log?: PoolLog): Promise<PostgresPool> => {
  // Imported on first use, because it would slow down a start without a server.
  const { default: pg } = await import('pg');
  const servers = createPostgresServers(databaseUrl);
  const isPrimaryWanted = wantsPrimary(databaseUrl);
  class PooledClient extends pg.Client implements Aged {
    readonly generation = servers.generation();
    constructor(config: ClientConfig = {}) {
      super({ ...config, connectionString: servers.current() });
      guardPostgres(this);
    }
  }
  const pool = new pg.Pool({
    Client: PooledClient,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    onConnect: (client) => prepare(client, isPrimaryWanted),
  });
  // The pool removes an idle connection that breaks. Without a listener, its error would end the process.
  pool.on('error', (error) =>
    log?.warn({ event: 'metadata.connection_lost', err: error }, 'an idle connection to the metadata database broke'),
  );
  pool.on('connect', (client) => {
    // If a lent connection breaks, its statement also fails. Without a listener, this second error event would end the
    // process.
    client.on('error', (error) =>
      log?.warn({ event: 'metadata.connection_lost', err: error }, 'a connection to the metadata database broke'),
    );
  });
  const health = createServerHealth({
    createClient: (connectionTimeoutMillis) => new PooledClient({ keepAlive: true, connectionTimeoutMillis }),
    servers,
    isPrimaryWanted,
    log,
  });
  const ways = { health, servers, guard: createGuard(health, servers) };
  const acquire = createAcquire(() => pool.connect(), ways);
  return {
    connect: async () => createLoan(await acquire(), acquire, ways),
    end: async () => {
      health.close();
      await pool.end();
    },
  };
};
