/**
 * Reads the files of rollups: one DuckDB instance that may open the folder of rollups and nothing else. Statements name
 * files by a dialect that writes the rollup in place of its table; all else is the dialect of DuckDB.
 */
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type RawBuilder, sql } from 'kysely';
import { handled } from '../../model/handled.js';
import { closeAll } from '../../platform/work/close-all.js';
import type { Database, ResultTable, Running } from '../connections/database.js';
import { createPool, type Pool } from '../connections/pool.js';
import { duckDbDialect } from '../databases/duckdb/dialect.js';
import { runStatement, watch } from '../databases/duckdb/read.js';
import { dropStatements } from '../databases/duckdb/statements.js';
import type { Dialect, Statement } from '../dialect/dialect.js';
import type { Layout, RollupColumn } from './layout.js';
import { literal } from './partition-file.js';

export type Reader = {
  readonly run: Database['run'];
  readonly close: () => Promise<void>;
};

const connectionsToFiles = 3;

const open = async (root: string, memoryMegabytes: number): Promise<readonly [DuckDBInstance, DuckDBConnection[]]> => {
  const instance = await DuckDBInstance.create(':memory:', {
    // A question reads what one tenant has, and several run at once: sharing one among threads takes longer than reading.
    threads: '1',
    memory_limit: `${memoryMegabytes}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connections: DuckDBConnection[] = [];
  for (let at = 0; at < connectionsToFiles; at += 1) connections.push(await instance.connect());
  const [first] = connections;
  if (first === undefined) throw new TypeError('an instance without connections');
  // A file never changes. One of many tenants has thousands of row groups, and reading what is in them takes longer than the rows of one.
  await first.run('SET parquet_metadata_cache = true');
  await first.run(`SET allowed_directories = [${literal(root)}]`);
  await first.run('SET enable_external_access = false');
  await first.run('SET lock_configuration = true');
  return [instance, connections];
};

/** Opened at the first question. */
export const createReader = (root: string, memoryMegabytes: number, timeoutMs: number): Reader => {
  let opened: Promise<{ readonly pool: Pool<DuckDBConnection>; readonly close: () => Promise<void> }> | undefined;
  const openAll = async () => {
    const [instance, connections] = await open(root, memoryMegabytes);
    const pool = createPool(connections);
    const closings = connections.map((connection) => () => {
      dropStatements(connection);
      connection.closeSync();
    });
    return { pool, close: () => pool.drain().then(() => closeAll([...closings, () => instance.closeSync()])) };
  };
  const find = () => {
    opened ??= handled(
      openAll().catch((cause: unknown) => {
        opened = undefined;
        throw cause;
      }),
    );
    return opened;
  };
  return {
    run: async (statement: Statement, _tenant, running: Running = {}): Promise<ResultTable> => {
      const { pool } = await find();
      return pool.use(
        (connection) => runStatement(connection, statement, watch(connection, timeoutMs, running.signal), running),
        running.signal,
      );
    },
    close: async () => {
      const ending = await opened?.catch(() => undefined);
      await ending?.close();
    },
  };
};

/** The open time of one tenant: for each column of the rollup, its values as text. Undefined: there is none. */
export type Tail = readonly (readonly (string | null)[])[] | undefined;

type Relation = {
  readonly layout: Layout;
  readonly folder: string;
  readonly files: readonly string[];
  readonly tail: Tail;
};

const named = (columns: readonly RollupColumn[]): RawBuilder<unknown> =>
  sql.join(columns.map(({ name }) => sql.id(name)));

const closedSql = ({ layout: { columns }, folder, files }: Relation): RawBuilder<unknown> => {
  if (files.length === 0) {
    const nothing = columns.map(({ name, stored }) => sql`CAST(NULL AS ${sql.raw(stored)}) AS ${sql.id(name)}`);
    return sql`SELECT ${sql.join(nothing)} WHERE false`;
  }
  const paths = files.map((file) => literal(join(folder, file))).join(', ');
  return sql`SELECT ${named(columns)} FROM read_parquet(${sql.raw(`[${paths}]`)}, hive_partitioning = false)`;
};

/** The lists have equal lengths, and DuckDB puts their values side by side. */
const tailSql = ({ layout: { columns }, tail }: Relation): RawBuilder<unknown> | null => {
  if (tail === undefined || (tail[0]?.length ?? 0) === 0) return null;
  const values = columns.map(
    ({ name, stored }, at) => sql`unnest(CAST(${tail[at]} AS ${sql.raw(stored)}[])) AS ${sql.id(name)}`,
  );
  return sql`SELECT ${sql.join(values)}`;
};

/** The dialect in which a statement reads the rollup where the plan names its table. */
export const dialectOver = (relation: Relation): Dialect => {
  const closed = closedSql(relation);
  const tail = tailSql(relation);
  const rows = tail === null ? sql`(${closed})` : sql`(${closed} UNION ALL ${tail})`;
  return { ...duckDbDialect, table: () => rows };
};
