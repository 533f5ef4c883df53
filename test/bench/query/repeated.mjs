// The flights of the demo repeated: each copy has other dates, and each tenth copy other tenants too.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';

const source = join(
  dirname(createRequire(import.meta.url).resolve('vega-datasets')),
  '..',
  'data',
  'flights-3m.parquet',
);
const quote = (text) => `'${text.replaceAll("'", "''")}'`;

/** Days that the flights cover. */
const days = 181;
const copiesPerTenants = 10;

/** The copies as selects, each in the order of tenants: three million rows of one set of tenants and dates. */
const copiesOf = (millions) =>
  Array.from({ length: Math.max(1, Math.round(millions / 3)) }, (_, at) => {
    const set = Math.floor(at / copiesPerTenants);
    const shift = (at % copiesPerTenants) * days;
    const origin = set === 0 ? 'origin' : `origin || '-${set}'`;
    return `SELECT date + INTERVAL ${shift} DAY AS date, delay, distance, ${origin} AS origin, destination FROM read_parquet(${quote(source)})`;
  });

const withFile = async (path, work) => {
  const instance = await DuckDBInstance.create(path, { threads: '2', memory_limit: '4GB' });
  const connection = await instance.connect();
  try {
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};

/** A DuckDB file in which a tenant's rows of ten copies stand together. */
export const makeFlights = (path, millions) =>
  withFile(path, async (connection) => {
    await connection.run(
      'CREATE TABLE flights (date TIMESTAMP, delay BIGINT, distance BIGINT, origin VARCHAR, destination VARCHAR)',
    );
    const copies = copiesOf(millions);
    for (let at = 0; at < copies.length; at += copiesPerTenants)
      await connection.run(
        `INSERT INTO flights SELECT * FROM (${copies.slice(at, at + copiesPerTenants).join(' UNION ALL ')}) ORDER BY origin, date`,
      );
    await connection.run('CREATE TABLE tenants AS SELECT DISTINCT origin AS iata, origin AS name FROM flights');
    await connection.run('CHECKPOINT');
  });

/** A database of its own with an index on tenant and date, dropped by `drop`. */
export const makeFlightsInPostgres = async (folder, millions, serverUrl) => {
  const name = `guestlist_bench_${process.pid}_${millions}`;
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  await server.query(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  // Not logged: a crash of the server may empty it, and it is made in a third of the time.
  await client.query("SET maintenance_work_mem = '1GB'");
  await client.query(
    'CREATE UNLOGGED TABLE flights (date timestamp, delay int, distance int, origin text, destination text)',
  );
  const file = join(folder, 'copy.csv');
  await withFile(':memory:', async (connection) => {
    await connection.run(
      `COPY (SELECT date, delay, distance, origin, destination FROM read_parquet(${quote(source)}) ORDER BY origin, date) TO ${quote(file)} (FORMAT csv, HEADER false)`,
    );
  });
  await client.query('CREATE UNLOGGED TABLE one (LIKE flights)');
  execFileSync('psql', ['-v', 'ON_ERROR_STOP=1', '-qc', `\\copy one FROM ${quote(file)} (FORMAT csv)`, url.href]);
  for (let at = 0; at < Math.max(1, Math.round(millions / 3)); at += 1) {
    const set = Math.floor(at / copiesPerTenants);
    const origin = set === 0 ? 'origin' : `origin || '-${set}'`;
    await client.query(
      `INSERT INTO flights SELECT date + interval '${(at % copiesPerTenants) * days} days', delay, distance, ${origin}, destination FROM one`,
    );
  }
  await client.query('DROP TABLE one');
  await client.query('CREATE INDEX ON flights (origin, date)');
  await client.query('CREATE TABLE tenants AS SELECT DISTINCT origin AS iata, origin AS name FROM flights');
  await client.query('VACUUM ANALYZE flights');
  await client.end();
  return {
    url: url.href,
    drop: async () => {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.end();
    },
  };
};
