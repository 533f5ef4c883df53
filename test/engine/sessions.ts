import pg from 'pg';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import { onMysql } from '../suites/mysql.js';

export type ServerKind = 'POSTGRES' | 'MYSQL';
export type ServerSource = Extract<Datasource, ServerConnection> & { readonly datasourceType: ServerKind };
export const isServer = (datasource: Datasource): datasource is ServerSource =>
  datasource.datasourceType === 'POSTGRES' || datasource.datasourceType === 'MYSQL';

type Session = { readonly id: number; readonly state: string };

const onPostgres = async <T>(source: ServerSource, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const { host, port, username: user, password } = source;
  const client = new pg.Client({ host, port, user, password, database: 'postgres' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Returns what the server says about its connections to this database: the statement or the state of each. */
export const sessionsOf = async (source: ServerSource): Promise<readonly Session[]> => {
  if (source.datasourceType === 'MYSQL') {
    const sql = 'SELECT ID, INFO FROM information_schema.PROCESSLIST WHERE DB = ?';
    const [rows] = await onMysql((connection) => connection.query<never[]>(sql, [source.database]));
    return rows.map(({ ID, INFO }: { ID: number; INFO: string | null }) => ({ id: ID, state: INFO ?? 'idle' }));
  }
  const sql = `SELECT pid AS id, CASE state WHEN 'active' THEN query ELSE state END AS state
    FROM pg_stat_activity WHERE datname = $1`;
  const { rows } = await onPostgres(source, (client) => client.query(sql, [source.database]));
  return rows.map(({ id, state }) => ({ id: Number(id), state: String(state) }));
};

/** Ends the connections, as an operator or a failing network would. */
export const endSessions = async (source: ServerSource): Promise<void> => {
  const ids = (await sessionsOf(source)).map(({ id }) => Number(id));
  if (source.datasourceType === 'MYSQL') {
    await onMysql(async (connection) => {
      for (const id of ids) await connection.query(`KILL ${id}`);
    });
    return;
  }
  await onPostgres(source, async (client) => {
    for (const id of ids) await client.query('SELECT pg_terminate_backend($1)', [id]);
  });
};
