// Three million flights on DuckDB (stored in the tenants' order, and shuffled) and on PostgreSQL (with an index on the client column).
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';

const source = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data');
const quote = (text) => `'${text.replaceAll("'", "''")}'`;

const columns = 'date, delay, distance, origin, destination';
const flights = `SELECT ${columns} FROM read_parquet(${quote(join(source, 'flights-3m.parquet'))})`;
const airports = `SELECT iata, name, state FROM read_csv(${quote(join(source, 'airports.csv'))})`;
const tenants = 'SELECT iata, name FROM airports WHERE iata IN (SELECT DISTINCT origin FROM flights) ORDER BY iata';

export const makeDuckDb = async (path, order) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of [
    `CREATE TABLE flights AS ${flights} ORDER BY ${order}`,
    `CREATE TABLE airports AS ${airports}`,
    `CREATE TABLE tenants AS ${tenants}`,
    'CHECKPOINT',
  ]) {
    await connection.run(statement);
  }
  connection.closeSync();
  instance.closeSync();
};

const exportCsv = async (path, table, file) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(`COPY ${table} TO ${quote(file)} (FORMAT csv, HEADER false)`);
  connection.closeSync();
  instance.closeSync();
};

/** A database of its own on the server of BENCH_DATABASE_URL, dropped by `drop`. */
export const makePostgres = async (folder, duckDb, serverUrl) => {
  const name = `guestlist_bench_${process.pid}`;
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  await server.query(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('CREATE TABLE flights (date timestamp, delay int, distance int, origin text, destination text)');
  await client.query('CREATE TABLE airports (iata text, name text, state text)');
  await client.query('CREATE TABLE tenants (iata text, name text)');
  for (const table of ['flights', 'airports', 'tenants']) {
    const file = join(folder, `${table}.csv`);
    await exportCsv(duckDb, table, file);
    execFileSync('psql', [
      '-v',
      'ON_ERROR_STOP=1',
      '-qc',
      `\\copy ${table} FROM ${quote(file)} (FORMAT csv)`,
      url.href,
    ]);
  }
  await client.query('CREATE INDEX ON flights (origin)');
  await client.query('VACUUM ANALYZE');
  await client.end();
  return {
    url: url.href,
    drop: async () => {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.end();
    },
  };
};

export const makeData = async (folder, serverUrl) => {
  const ordered = join(folder, 'ordered.duckdb');
  const shuffled = join(folder, 'shuffled.duckdb');
  await makeDuckDb(ordered, 'origin, date');
  await makeDuckDb(shuffled, 'hash(date, origin, destination, delay)');
  const postgres = await makePostgres(folder, ordered, serverUrl);
  return { ordered, shuffled, postgres };
};
