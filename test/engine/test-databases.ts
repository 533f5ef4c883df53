/** The same tables on every database that the engine reads, so that common answers are stated once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { kinds } from '../../src/engine/databases/kinds.js';
import { type Datasource, isFile, type Protocol } from '../../src/model/organization.js';
import { mapBounded } from '../../src/platform/work/bounded.js';
import {
  clickHouseServer,
  createOwnClickHouseDatabase,
  isClickHouseThere,
  onClickHouse,
} from '../suites/clickhouse.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { runOnSqlite } from '../suites/sqlite-file.js';
import { createFolder, datasourceAt, type Place } from './world.js';

/** Variants are not among them: no server of one could be had. */
export type Kind = Protocol;
export type Value = string | number | boolean | null;

/** A table with DuckDB's type for each column, or a statement that every database accepts. */
export type TableData = {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly Value[])[];
};

export type Builder = {
  readonly kind: Kind;
  readonly build: (name: string, items: readonly (TableData | string)[]) => Promise<Place>;
  /**
   * Replaces the rows of tables that `build` made. On DuckDB this makes a new file, since the engine keeps the old one
   * open.
   */
  readonly refill: (name: string, place: Place, tables: readonly TableData[]) => Promise<Place>;
  /** Runs statements in a database that `build` made. Null on DuckDB, whose files the engine opens read-only. */
  readonly run: ((place: Place, texts: readonly string[]) => Promise<void>) | null;
  readonly remove: () => Promise<void>;
};

/** This database's names of DuckDB's types. A test may replace them by its own `types`. */
type Types = Readonly<Record<string, string>>;

const typesOf: Readonly<Record<Kind, Types>> = {
  DUCKDB: {},
  POSTGRES: {
    DOUBLE: 'DOUBLE PRECISION',
    FLOAT: 'REAL',
    TINYINT: 'SMALLINT',
    HUGEINT: 'NUMERIC(39,0)',
    BLOB: 'BYTEA',
    "ENUM('x','y')": 'gl_kind',
  },
  MYSQL: {
    VARCHAR: 'VARCHAR(190)',
    TIMESTAMP: 'DATETIME(6)',
    'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP(6) NULL',
    HUGEINT: 'DECIMAL(39,0)',
  },
  SQLITE: { HUGEINT: 'BIGINT', "ENUM('x','y')": 'TEXT' },
  CLICKHOUSE: {
    VARCHAR: 'String',
    CHAR: 'FixedString',
    BIGINT: 'Int64',
    INTEGER: 'Int32',
    SMALLINT: 'Int16',
    TINYINT: 'Int8',
    HUGEINT: 'Int128',
    DOUBLE: 'Float64',
    FLOAT: 'Float32',
    BOOLEAN: 'Bool',
    DATE: 'Date32',
    TIMESTAMP: "DateTime64(6, 'UTC')",
    'TIMESTAMP WITH TIME ZONE': "DateTime64(6, 'Asia/Tokyo')",
    BLOB: 'Array(UInt8)',
    "ENUM('x','y')": "Enum8('x' = 1, 'y' = 2)",
  },
};

/** The type of a column; it allows NULL only if the test says so. */
const clickHouseType = (type: string): string => {
  const length = /^CHAR\((\d+)\)$/.exec(type)?.[1];
  if (type.startsWith('Array') || /Nullable/.test(type)) return type;
  return `Nullable(${length === undefined ? type : `FixedString(${length})`})`;
};

const clickHouseLiteral = (value: string, type: string | undefined): string => {
  const text = `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return type === 'TIMESTAMP WITH TIME ZONE' ? `toDateTime64('${value.replace('+00', '')}', 6, 'UTC')` : text;
};

/** SQLite writes an offset with minutes, an infinity as a number beyond all others, and has no NaN. */
const sqliteLiteral = (value: string, type: string | undefined): string => {
  if (type === 'DOUBLE' || type === 'FLOAT') return /nan/i.test(value) ? 'NULL' : value.replace(/infinity/i, '9e999');
  const text = type === 'TIMESTAMP WITH TIME ZONE' ? value.replace(/\+00$/, '+00:00') : value;
  return `'${text.replaceAll("'", "''")}'`;
};

const literal = (value: Value, kind: Kind, type: string | undefined): string => {
  if (typeof value !== 'string') return String(value).toUpperCase();
  // MySQL has no NaN and no infinity, and accepts no offset in an instant.
  if (kind === 'MYSQL' && type === 'DOUBLE') return 'NULL';
  if (kind === 'CLICKHOUSE') return clickHouseLiteral(value, type);
  if (kind === 'SQLITE') return sqliteLiteral(value, type);
  const text = kind === 'MYSQL' && type === 'TIMESTAMP WITH TIME ZONE' ? value.replace('+00', '') : value;
  return `'${text.replaceAll("'", "''")}'`;
};

const statementsOf = (kind: Kind, { name, columns, rows }: TableData, own: Types): readonly string[] => {
  const types = { ...typesOf[kind], ...own };
  const definitions = Object.entries(columns).map(([column, type]) => {
    const named = types[type] ?? type;
    return `"${column}" ${kind === 'CLICKHOUSE' ? clickHouseType(named) : named}`;
  });
  const engine = kind === 'CLICKHOUSE' ? ' ENGINE = MergeTree ORDER BY tuple()' : '';
  return [`CREATE TABLE "${name}" (${definitions.join(', ')})${engine}`, ...insertsOf(kind, { name, columns, rows })];
};

const insertsOf = (kind: Kind, { name, columns, rows }: TableData): readonly string[] => {
  if (rows.length === 0) return [];
  const kinds = Object.values(columns);
  const tuples = rows.map((row) => `(${row.map((value, index) => literal(value, kind, kinds[index])).join(', ')})`);
  return [`INSERT INTO "${name}" VALUES ${tuples.join(', ')}`];
};

const refillsOf = (kind: Kind, tables: readonly TableData[]): readonly string[] =>
  tables.flatMap((data) => [
    kind === 'CLICKHOUSE' ? `TRUNCATE TABLE "${data.name}"` : `DELETE FROM "${data.name}"`,
    ...insertsOf(kind, data),
  ]);

const createDuckDbBuilder = async (types: Types): Promise<Builder> => {
  const folder = await createFolder();
  const build = async (name: string, items: readonly (TableData | string)[]): Promise<Place> => {
    const texts = items.flatMap((item) => (typeof item === 'string' ? [item] : statementsOf('DUCKDB', item, types)));
    return { datasource: datasourceAt(await folder.build(name, texts)), schemaName: 'main' };
  };
  return {
    kind: 'DUCKDB',
    build,
    refill: (name, _, tables) => build(name, ['BEGIN TRANSACTION', ...tables, 'COMMIT']),
    run: null,
    remove: folder.remove,
  };
};

const createSqliteBuilder = async (types: Types): Promise<Builder> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-sqlite-'));
  const pathOf = ({ datasource }: Place): string => (isFile(datasource) ? datasource.path : '');
  return {
    kind: 'SQLITE',
    build: async (name, items) => {
      const path = join(folder, `${name}.sqlite`);
      await rm(path, { force: true });
      await runOnSqlite(
        path,
        items.flatMap((item) => (typeof item === 'string' ? [item] : statementsOf('SQLITE', item, types))),
      );
      return {
        datasource: { id: 'd1', name: 'warehouse', syncedAt: null, datasourceType: 'SQLITE', path },
        schemaName: 'main',
      };
    },
    refill: async (_name, place, tables) => {
      await runOnSqlite(pathOf(place), ['BEGIN', ...refillsOf('SQLITE', tables), 'COMMIT']);
      return place;
    },
    run: (place, texts) => runOnSqlite(pathOf(place), texts),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

const createServerBuilder = (
  kind: Exclude<Kind, 'DUCKDB' | 'SQLITE'>,
  types: Types,
  create: (texts: readonly string[]) => Promise<{ readonly place: Place; readonly drop: () => Promise<void> }>,
  run: (place: Place, texts: readonly string[]) => Promise<void>,
): Builder => {
  const drops: (() => Promise<void>)[] = [];
  return {
    kind,
    build: async (_name, items) => {
      const texts = items.flatMap((item) => (typeof item === 'string' ? [item] : statementsOf(kind, item, types)));
      const { place, drop } = await create(texts);
      drops.push(drop);
      return place;
    },
    refill: async (_name, place, tables) => {
      await run(place, refillsOf(kind, tables));
      return place;
    },
    run,
    remove: async () => {
      // A server takes only so many connections, and a long run makes many databases.
      await mapBounded(drops, 8, (drop) => drop());
    },
  };
};

/** Settings of the database itself. If they applied to a question, its values would mean something else. */
const odd = {
  datestyle: 'German, DMY',
  timezone: 'Asia/Tokyo',
  extra_float_digits: '-5',
  bytea_output: 'escape',
  intervalstyle: 'sql_standard',
  standard_conforming_strings: 'off',
};

/**
 * A collation that ignores case, accents and trailing blanks, so that a comparison that treats `acme` and `ACME` as
 * equal is noticed.
 */
const postgresBasics = [
  'CREATE SCHEMA main',
  'SET search_path = main, public',
  `CREATE COLLATION public.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
  'CREATE EXTENSION citext SCHEMA public',
  "CREATE TYPE gl_kind AS ENUM ('x', 'y')",
  ...Object.entries(odd).map(
    ([name, value]) =>
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${name} = ''${value}''', current_database()); END $$`,
  ),
];

/** Empties a database for the next file of the process, which takes a tenth of the time of a new one. */
const postgresReset = [
  `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET ALL', current_database()); END $$`,
  `DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
  END $$`,
  'CREATE SCHEMA public',
];

/** Databases of this process whose builder was removed. */
const unused: string[] = [];

const onPostgres = async (url: string, texts: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const text of texts) await client.query(text);
  await client.end();
};

const createPostgresBuilder = (types: Types): Builder => {
  const urls = new Map<Place, string>();
  return createServerBuilder(
    'POSTGRES',
    types,
    async (texts) => {
      const url = unused.pop() ?? (await createOwnDatabase()).url;
      await onPostgres(url, [...postgresBasics, ...texts]);
      const place: Place = { datasource: postgresAt(url), schemaName: 'main' };
      urls.set(place, url);
      const drop = async (): Promise<void> => {
        await onPostgres(url, postgresReset);
        unused.push(url);
      };
      return { place, drop };
    },
    async (place, texts) => {
      const url = urls.get(place);
      if (url === undefined) throw new Error('this builder did not make the database');
      // The settings apply only to new connections, so tests can compare with connections from before.
      const usual = ['search_path = main, public', 'standard_conforming_strings = on', 'datestyle = ISO'];
      await onPostgres(url, [...usual.map((setting) => `SET ${setting}`), texts.join('; ')]);
    },
  );
};

export const postgresAt = (address: string): Datasource => {
  const url = new URL(address);
  return {
    id: 'd1',
    name: 'warehouse',
    syncedAt: null,
    datasourceType: 'POSTGRES',
    host: url.hostname,
    port: Number(url.port === '' ? '5432' : url.port),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1),
    schema: null,
    isSsl: false,
  };
};

const mysqlAt = (database: string): Datasource => ({
  id: 'd1',
  name: 'warehouse',
  syncedAt: null,
  datasourceType: 'MYSQL',
  ...mysqlServer,
  database,
  schema: null,
  isSsl: false,
});

const fillMysql = (name: string, texts: readonly string[]): Promise<void> =>
  onMysql(async (connection) => {
    await connection.query("SET time_zone = '+00:00', sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'");
    for (const text of texts) await connection.query(text);
  }, name);

const createMysqlBuilder = (types: Types): Builder =>
  createServerBuilder(
    'MYSQL',
    types,
    async (texts) => {
      const { name, drop } = await createOwnMysqlDatabase();
      await fillMysql(name, texts);
      return { place: { datasource: mysqlAt(name), schemaName: name }, drop };
    },
    ({ schemaName }, texts) => fillMysql(schemaName, ['START TRANSACTION', ...texts, 'COMMIT']),
  );

const clickHouseAt = (database: string): Datasource => ({
  id: 'd1',
  name: 'warehouse',
  syncedAt: null,
  datasourceType: 'CLICKHOUSE',
  ...clickHouseServer,
  database,
  schema: null,
  isSsl: false,
});

const fillClickHouse = async (name: string, texts: readonly string[]): Promise<void> => {
  for (const text of texts) await onClickHouse(text, name);
};

const createClickHouseBuilder = (types: Types): Builder =>
  createServerBuilder(
    'CLICKHOUSE',
    types,
    async (texts) => {
      const { name, drop } = await createOwnClickHouseDatabase();
      await fillClickHouse(name, texts);
      return { place: { datasource: clickHouseAt(name), schemaName: name }, drop };
    },
    ({ schemaName }, texts) => fillClickHouse(schemaName, texts),
  );

/** Returns the kinds of database that are available on this machine. */
export const findKinds = async (): Promise<readonly Kind[]> => [
  'DUCKDB',
  'SQLITE',
  ...((await isPostgresThere()) ? (['POSTGRES'] as const) : []),
  ...((await isMysqlThere()) ? (['MYSQL'] as const) : []),
  ...((await isClickHouseThere()) ? (['CLICKHOUSE'] as const) : []),
];

/** Whether custom SQL and expressions of this kind are read. */
export const hasSql = (kind: Kind): boolean => kinds[kind].parser !== null;

export const findSqlKinds = async (): Promise<readonly Kind[]> => (await findKinds()).filter(hasSql);

export const createBuilder = async (kind: Kind, types: Partial<Record<Kind, Types>> = {}): Promise<Builder> => {
  const own = types[kind] ?? {};
  switch (kind) {
    case 'DUCKDB':
      return createDuckDbBuilder(own);
    case 'SQLITE':
      return createSqliteBuilder(own);
    case 'POSTGRES':
      return createPostgresBuilder(own);
    case 'MYSQL':
      return createMysqlBuilder(own);
    case 'CLICKHOUSE':
      return createClickHouseBuilder(own);
  }
};
