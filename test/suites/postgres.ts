/** Creates databases on a real PostgreSQL server, which are dropped when the run ends. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const serverUrl = process.env.TEST_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';

/** Begins the names of the databases of this run. test/suites/run.ts sets the run and drops them. */
export const databasePrefix = `guestlist_test_${process.env.GUESTLIST_TEST_RUN ?? `${process.pid}_alone`}_`;

/** Gives `work` a connection to the server. */
export const onServer = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

let answers: Promise<unknown> | undefined;

/** Whether the server is available. Otherwise warns and skips the tests; fails under CI. */
export const isPostgresThere = async (): Promise<boolean> => {
  try {
    answers ??= onServer((client) => client.query('select 1'));
    await answers;
    return true;
  } catch (cause) {
    const message = 'NO POSTGRESQL at TEST_DATABASE_URL (default: 127.0.0.1:5432/test)';
    if (process.env.CI === 'true') throw new Error(message, { cause });
    console.warn(`${message}: ITS TESTS ARE SKIPPED`);
    return false;
  }
};

export type OwnDatabase = { readonly url: string; readonly drop: () => Promise<void> };

export const urlOfDatabase = (name: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
};

/** Creates a new database: a copy of `template`, or an empty one. The end of the run drops it, if `drop` does not. */
export const createOwnDatabase = async (template?: string, suffix = randomUUID().slice(0, 8)): Promise<OwnDatabase> => {
  const name = `${databasePrefix}${suffix}`;
  const copied = template === undefined ? '' : ` template ${template}`;
  await onServer((client) => client.query(`create database ${name}${copied}`));
  const drop = () => onServer(async (client) => void (await client.query(`drop database ${name} with (force)`)));
  return { url: urlOfDatabase(name), drop };
};
