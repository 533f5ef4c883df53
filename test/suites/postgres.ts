/** Creates databases on a real PostgreSQL server, for one test file each. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const serverUrl = process.env.TEST_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';

const onServer = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/** Whether the server is available. Otherwise warns and skips the tests; fails under CI. */
export const isPostgresThere = async (): Promise<boolean> => {
  try {
    await onServer('select 1');
    return true;
  } catch (cause) {
    const message = 'NO POSTGRESQL at TEST_DATABASE_URL (default: 127.0.0.1:5432/test)';
    if (process.env.CI === 'true') throw new Error(message, { cause });
    console.warn(`${message}: ITS TESTS ARE SKIPPED`);
    return false;
  }
};

export type OwnDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** Creates a new, empty database. */
export const createOwnDatabase = async (): Promise<OwnDatabase> => {
  const name = `guestlist_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) };
};
