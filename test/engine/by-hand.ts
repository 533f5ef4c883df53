/** Hand-written SQL, run by each database's own driver without the engine. Metrics must have the same answers. */
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import type { Cell } from '../../src/model/query/engine.js';
import { onClickHouse } from '../suites/clickhouse.js';
import { onMysql } from '../suites/mysql.js';
import { readSqlite } from '../suites/sqlite-file.js';
import type { Kind } from './test-databases.js';
import type { Place } from './world.js';

export type ByHand = {
  readonly words: Words;
  readonly run: (sql: string) => Promise<readonly (readonly Cell[])[]>;
  readonly close: () => Promise<void>;
};

/** Expressions that each database writes differently. Dates are returned as ISO 8601 text. */
export type Words = {
  readonly month: (date: string) => string;
  readonly quarter: (date: string) => string;
  readonly year: (date: string) => string;
  readonly moment: (date: string) => string;
  readonly real: (number: string) => string;
  /** A percentile with linear interpolation, over a column in the rows of a FROM clause, as a scalar. */
  readonly percentile: (part: number, column: string, from: string) => string;
};

const duckDb: Words = {
  month: (date) => `strftime(date_trunc('month', ${date}), '%Y-%m-%d')`,
  quarter: (date) => `strftime(date_trunc('quarter', ${date}), '%Y-%m-%d')`,
  year: (date) => `strftime(date_trunc('year', ${date}), '%Y-%m-%d')`,
  moment: (date) => `strftime(${date}, '%Y-%m-%dT%H:%M:%S')`,
  real: (number) => `cast(${number} as double)`,
  percentile: (part, column, from) => `(select quantile_cont(cast(${column} as double), ${part}) ${from})`,
};

const postgres: Words = {
  month: (date) => `to_char(date_trunc('month', ${date}), 'YYYY-MM-DD')`,
  quarter: (date) => `to_char(date_trunc('quarter', ${date}), 'YYYY-MM-DD')`,
  year: (date) => `to_char(date_trunc('year', ${date}), 'YYYY-MM-DD')`,
  moment: (date) => `to_char(${date}, 'YYYY-MM-DD"T"HH24:MI:SS')`,
  real: (number) => `cast(${number} as double precision)`,
  percentile: (part, column, from) => `(select percentile_cont(${part}) within group (order by ${column}) ${from})`,
};

const mysql: Words = {
  month: (date) => `date_format(${date}, '%Y-%m-01')`,
  quarter: (date) => `concat(year(${date}), '-', lpad(quarter(${date}) * 3 - 2, 2, '0'), '-01')`,
  year: (date) => `date_format(${date}, '%Y-01-01')`,
  moment: (date) => `date_format(${date}, '%Y-%m-%dT%H:%i:%s')`,
  real: (number) => `cast(${number} as double)`,
  percentile: (part, column, from) =>
    `(select distinct percentile_cont(${part}) within group (order by ${column}) over () ${from})`,
};

const clickHouse: Words = {
  month: (date) => `formatDateTime(toStartOfMonth(${date}), '%Y-%m-%d')`,
  quarter: (date) => `formatDateTime(toStartOfQuarter(${date}), '%Y-%m-%d')`,
  year: (date) => `formatDateTime(toStartOfYear(${date}), '%Y-%m-%d')`,
  moment: (date) => `formatDateTime(${date}, '%Y-%m-%dT%H:%i:%S')`,
  real: (number) => `toFloat64(${number})`,
  percentile: (part, column, from) => `(select quantileExactInclusive(${part})(toFloat64(${column})) ${from})`,
};

const sqlite: Words = {
  month: (date) => `strftime('%Y-%m-01', ${date})`,
  quarter: (date) => `strftime('%Y-', ${date}) || printf('%02d', (strftime('%m', ${date}) - 1) / 3 * 3 + 1) || '-01'`,
  year: (date) => `strftime('%Y-01-01', ${date})`,
  moment: (date) => `strftime('%Y-%m-%dT%H:%M:%S', ${date})`,
  real: (number) => `cast(${number} as real)`,
  percentile: (
    part,
    column,
    from,
  ) => `(with v as (select ${column} as x, row_number() over (order by ${column} is null, ${column}) - 1 as r,
    (count(${column}) over () - 1) * ${part} as at ${from})
    select max(case when r = cast(at as int) then x end) + (at - cast(at as int)) * (coalesce(max(case when r = cast(at as int) + 1 then x end), 0) - max(case when r = cast(at as int) then x end)) from v)`,
};

/** Drivers return whole numbers and decimals as text or as numbers. No text in the test data looks like a number. */
const cellOf = (value: unknown): Cell => {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new Error(`the driver answered a ${typeof value}`);
};
const cellsOf = (rows: readonly unknown[]): readonly (readonly Cell[])[] =>
  rows.map((row) => {
    if (!Array.isArray(row)) throw new Error('the driver answered a row by names');
    return row.map(cellOf);
  });

const connectDuckDb = async (path: string): Promise<ByHand> => {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  return {
    words: duckDb,
    run: async (sql) => cellsOf((await connection.runAndReadAll(sql)).getRowsJson()),
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};

const connectPostgres = async (address: {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}): Promise<ByHand> => {
  const { host, port, database, username: user, password } = address;
  const client = new pg.Client({ host, port, database, user, password, options: '-c search_path=main' });
  await client.connect();
  return {
    words: postgres,
    run: async (text) => cellsOf((await client.query({ text, rowMode: 'array' })).rows),
    close: () => client.end(),
  };
};

export const connectByHand = async (kind: Kind, { datasource, schemaName }: Place): Promise<ByHand> => {
  if (datasource.datasourceType === 'DUCKDB') return connectDuckDb(datasource.path);
  if (datasource.datasourceType === 'SQLITE') {
    const { path } = datasource;
    return { words: sqlite, run: async (sql) => cellsOf(readSqlite(path, sql)), close: async () => {} };
  }
  if (datasource.datasourceType === 'POSTGRES') return connectPostgres(datasource);
  const close = async (): Promise<void> => {};
  if (kind === 'MYSQL') {
    const run = (sql: string) =>
      onMysql(async (connection) => {
        const [rows] = await connection.query({ sql, rowsAsArray: true });
        return cellsOf(Array.isArray(rows) ? rows : []);
      }, schemaName);
    return { words: mysql, run, close };
  }
  const rest = 'SETTINGS join_use_nulls = 1 FORMAT JSONCompactEachRow';
  const run = async (sql: string) => cellsOf(await onClickHouse(`${sql} ${rest}`, schemaName));
  return { words: clickHouse, run, close };
};
