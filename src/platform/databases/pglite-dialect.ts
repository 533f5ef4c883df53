import type { PGlite } from '@electric-sql/pglite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SelectQueryNode,
} from 'kysely';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { type Breathe, breathe as ofThisProcess } from '../work/breathe.js';
import { faultOf, namedFault } from './database-faults.js';

/** Opens the same database again. Rejects if that is not possible now. */
export type Reopen = () => Promise<PGlite>;

/**
 * A Kysely dialect for PGlite. PGlite has one connection, so callers take turns in the order of their calls.
 * `noteWrite` is called before and after each statement that may write: all statements except those that Kysely built
 * as a SELECT. PGlite runs statements in this thread without waiting, so other tasks on the event loop run between
 * statements. If a file could not be read or written, PGlite's state no longer matches its folder. With `reopen`, it is
 * reopened before the next turn.
 */
export const createPgliteDialect = (
  client: PGlite,
  noteWrite: () => void,
  breathe: Breathe = ofThisProcess,
  reopen?: Reopen,
): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => {
    const held: Held = { client, isSpoilt: false };
    return createDriver(createConnection(held, noteWrite, breathe), held, reopen);
  },
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

type Held = { client: PGlite; isSpoilt: boolean };

/** Reopens the database, as after a kill. Acknowledged writes are in its files. */
const renew = async (held: Held, reopen: Reopen): Promise<void> => {
  // The last writes may fail. The log of acknowledged writes is already on disk.
  if (!held.client.closed) await held.client.close().catch(() => undefined);
  try {
    held.client = await reopen();
    held.isSpoilt = false;
  } catch (error) {
    throw new DependencyUnavailable('database-spoilt', 'The embedded database cannot be opened now.', error);
  }
};

const createDriver = (connection: DatabaseConnection, held: Held, reopen: Reopen | undefined): Driver => {
  const turns = createTurns();
  const run = async (statement: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(statement));
  };
  return {
    init: async () => held.client.waitReady,
    acquireConnection: async () => {
      await turns.take();
      try {
        if (held.isSpoilt && reopen !== undefined) await renew(held, reopen);
        return connection;
      } catch (error) {
        turns.pass();
        throw error;
      }
    },
    beginTransaction: async (_, { isolationLevel, accessMode }) =>
      run(`begin${isolationLevel ? ` isolation level ${isolationLevel}` : ''}${accessMode ? ` ${accessMode}` : ''}`),
    commitTransaction: async () => run('commit'),
    rollbackTransaction: async () => run('rollback'),
    releaseConnection: async () => turns.pass(),
    destroy: async () => {
      await turns.take();
      if (!held.client.closed) await held.client.close();
    },
  };
};

const createConnection = (held: Held, noteWrite: () => void, breathe: Breathe): DatabaseConnection => ({
  executeQuery: async <Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> => {
    await breathe();
    const note = SelectQueryNode.is(query) ? () => {} : noteWrite;
    note();
    try {
      const { rows, affectedRows } = await held.client.query<Row>(sql, [...parameters]);
      return { rows, numAffectedRows: BigInt(affectedRows ?? 0) };
    } catch (error) {
      held.isSpoilt ||= faultOf(error) === 'spoilt';
      throw namedFault(error);
    } finally {
      note();
    }
  },
  // biome-ignore lint/correctness/useYield: PGlite answers whole results
  streamQuery: async function* () {
    throw new Error('PGlite has no cursors to stream from: execute the query instead.');
  },
});

type Turns = { readonly take: () => Promise<void>; readonly pass: () => void };

/** Creates a queue that runs one task at a time, in the order of arrival. */
const createTurns = (): Turns => {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  return {
    take: async () => {
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve));
      isTaken = true;
    },
    pass: () => {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next();
    },
  };
};
