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
import { namedFault } from './database-faults.js';

/**
 * Kysely on a PGlite: it has one connection, so callers take turns, in the order they asked. `noteWrite` is called before and after each statement that
 * may write: all but those that Kysely built as a SELECT.
 */
export const createPgliteDialect = (client: PGlite, noteWrite: () => void): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => createDriver(client, noteWrite),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

const createDriver = (client: PGlite, noteWrite: () => void): Driver => {
  const connection = createConnection(client, noteWrite);
  const turns = createTurns();
  const run = async (statement: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(statement));
  };
  return {
    init: async () => client.waitReady,
    acquireConnection: async () => {
      await turns.take();
      return connection;
    },
    beginTransaction: async (_, { isolationLevel, accessMode }) =>
      run(`begin${isolationLevel ? ` isolation level ${isolationLevel}` : ''}${accessMode ? ` ${accessMode}` : ''}`),
    commitTransaction: async () => run('commit'),
    rollbackTransaction: async () => run('rollback'),
    releaseConnection: async () => turns.pass(),
    destroy: async () => {
      await turns.take();
      await client.close();
    },
  };
};

const createConnection = (client: PGlite, noteWrite: () => void): DatabaseConnection => ({
  executeQuery: async <Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> => {
    const note = SelectQueryNode.is(query) ? () => {} : noteWrite;
    note();
    try {
      const { rows, affectedRows } = await client.query<Row>(sql, [...parameters]);
      return { rows, numAffectedRows: BigInt(affectedRows ?? 0) };
    } catch (error) {
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

/** One at a time, first come first served. */
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
