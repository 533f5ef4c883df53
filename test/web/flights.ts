/** Computes answers from the real flights, in the service's shapes. */

import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import type { AnswerColumn } from '../../src/model/query/engine.js';

export type Column = Pick<AnswerColumn, 'name' | 'dataType' | 'numbers' | 'dates'>;
export type Question = {
  readonly airport: string;
  readonly states: readonly string[];
  readonly from: string | null;
  readonly to: string | null;
  readonly sort: { readonly name: string; readonly direction: 'ASC' | 'DESC' } | null;
  readonly limit: number | null;
  readonly offset: number;
};
export type Rows = readonly Readonly<Record<string, string | number | boolean | null>>[];

type MetricSql = { readonly columns: readonly Column[]; readonly groupBy: readonly string[]; readonly sql: string };

const number = (name: string): Column => ({ name, dataType: 'number' });
const string = (name: string): Column => ({ name, dataType: 'string' });

export const metricSql: Readonly<Record<string, MetricSql>> = {
  flightsADay: {
    columns: [{ name: 'day', dataType: 'date' }, number('flights')],
    groupBy: ['day'],
    sql: "SELECT strftime(date, '%Y-%m-%d') AS day, count(*)::INT AS flights FROM rows GROUP BY 1 ORDER BY 1",
  },
  delayByHour: {
    columns: [number('hour'), number('averageDelay')],
    groupBy: ['hour'],
    sql: 'SELECT hour(date)::INT AS hour, avg(delay) AS averageDelay FROM rows GROUP BY 1 ORDER BY 1',
  },
  shareDelayed: {
    columns: [number('shareDelayed')],
    groupBy: [],
    sql: 'SELECT avg(CASE WHEN delay > 15 THEN 1.0 ELSE 0.0 END)::DOUBLE AS shareDelayed FROM rows HAVING count(*) > 0',
  },
  delayByDestination: {
    columns: [string('airport'), number('averageDelay')],
    groupBy: ['airport'],
    sql: 'SELECT name AS airport, avg(delay) AS averageDelay FROM rows GROUP BY 1 ORDER BY 2 DESC LIMIT 20',
  },
  busiestRoutes: {
    columns: [string('destination'), number('flights')],
    groupBy: ['destination'],
    sql: 'SELECT destination, count(*)::INT AS flights FROM rows GROUP BY 1 ORDER BY 2 DESC LIMIT 12',
  },
  distances: {
    columns: [number('distance'), number('flights')],
    groupBy: ['distance'],
    sql: 'SELECT (floor(distance / 250) * 250)::INT AS distance, count(*)::INT AS flights FROM rows GROUP BY 1 ORDER BY 1',
  },
  topDestinations: {
    columns: [string('airport'), string('state'), number('flights'), number('averageDelay')],
    groupBy: ['airport', 'state'],
    sql: 'SELECT name AS airport, state, count(*)::INT AS flights, avg(delay) AS averageDelay FROM rows GROUP BY 1, 2 ORDER BY 3 DESC',
  },
};

const underlyingColumns: readonly Column[] = [
  { name: 'date', dataType: 'date', dates: { style: 'full', precision: 'minute' } },
  string('destination'),
  string('airport'),
  number('delay'),
  { ...number('distance'), numbers: { unit: 'mi' } },
];

export const openFlights = async () => {
  const folder = fileURLToPath(new URL('../../node_modules/vega-datasets/data', import.meta.url));
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE joined AS SELECT f.*, coalesce(a.name, f.destination) AS name, a.state
    FROM '${folder}/flights-3m.parquet' f LEFT JOIN '${folder}/airports.csv' a ON a.iata = f.destination
    WHERE f.origin IN ('LAX', 'ATL', 'SFO')`);
  const run = async (sql: string, question: Question): Promise<Rows> => {
    const reader = await connection.runAndReadAll(
      `WITH rows AS (
      SELECT * FROM joined WHERE origin = $airport AND ($states = '' OR state IN (SELECT unnest(string_split($states, ','))))
        AND ($from = '' OR date >= $from::DATE) AND ($to = '' OR date < $to::DATE + 1)
    ) ${sql}`,
      {
        airport: question.airport,
        states: question.states.join(','),
        from: question.from ?? '',
        to: question.to ?? '',
      },
    );
    return reader
      .getRowObjectsJson()
      .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, scalar(value)])));
  };
  const page = (sql: string, { sort, limit, offset }: Question) =>
    `SELECT * FROM (${sql}) ${sort === null ? '' : `ORDER BY "${sort.name}" ${sort.direction} NULLS LAST`} LIMIT ${limit ?? 1000} OFFSET ${offset}`;
  const answer = async (question: Question, { columns, groupBy, sql }: MetricSql) => {
    const [rows, total] = [
      await run(page(sql, question), question),
      await run(`SELECT count(*)::INT AS n FROM (${sql})`, question),
    ];
    return {
      data: rows,
      timeTaken: 3,
      totalRecords: Number(total[0]?.n ?? 0),
      metaData: rows.length === 0 ? { columns: [], groupbyColumnList: [] } : { columns, groupbyColumnList: groupBy },
      error: null,
    };
  };
  return {
    query: async (metric: string, question: Question) => {
      const sql = metricSql[metric];
      return sql === undefined ? undefined : answer(question, sql);
    },
    underlying: (question: Question) =>
      answer(question, {
        columns: underlyingColumns,
        groupBy: [],
        sql: "SELECT strftime(date, '%Y-%m-%dT%H:%M:%S') AS date, destination, name AS airport, delay::INT AS delay, distance::INT AS distance FROM rows ORDER BY 1",
      }),
    states: async (question: Question, search: string) => {
      const rows = await run('SELECT DISTINCT state FROM rows WHERE state IS NOT NULL ORDER BY 1', question);
      return rows.map((row) => String(row.state)).filter((state) => state.toLowerCase().includes(search.toLowerCase()));
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};

export type Flights = Awaited<ReturnType<typeof openFlights>>;

const scalar = (value: unknown): string | number | boolean | null =>
  typeof value === 'number' || typeof value === 'boolean' || value === null ? value : String(value);
