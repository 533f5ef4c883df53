/** Creates databases on the run's ClickHouse (clickhouse-server.ts). */
import { randomUUID } from 'node:crypto';

const serverUrl = process.env.TEST_CLICKHOUSE_URL;

const addressOf = (address: string) => {
  const url = new URL(address);
  return {
    host: url.hostname,
    port: Number(url.port === '' ? '8123' : url.port),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  } as const;
};

/** Connection settings of the server. */
export const clickHouseServer = addressOf(serverUrl ?? 'http://default@127.0.0.1:8123');

/** Whether it is chdb with our HTTP interface, which has users with three profiles. */
export const isFront = process.env.TEST_CLICKHOUSE_FRONT === '1';

/** Runs a query as the tests' user. Returns the answer's rows. */
export const onClickHouse = async (query: string, database?: string): Promise<readonly (readonly unknown[])[]> => {
  const { host, port, username, password } = clickHouseServer;
  const url = new URL(`http://${host}:${port}/?default_format=JSONCompactEachRow`);
  if (database !== undefined) url.searchParams.set('database', database);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const response = await fetch(url, { method: 'POST', body: query, headers: { authorization } });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line));
};

/** Whether a server is available. Otherwise warns and skips the tests; fails under CI. */
export const isClickHouseThere = async (): Promise<boolean> => {
  try {
    if (serverUrl === undefined) throw new Error('chdb is not installed, and TEST_CLICKHOUSE_URL is not set');
    await onClickHouse('SELECT 1');
    return true;
  } catch (cause) {
    const message = 'NO CLICKHOUSE (npm i --no-save --ignore-scripts chdb@3.4.0, or TEST_CLICKHOUSE_URL)';
    if (process.env.CI === 'true') throw new Error(message, { cause });
    console.warn(`${message}: ITS TESTS ARE SKIPPED`);
    return false;
  }
};

export type OwnClickHouseDatabase = { readonly name: string; readonly drop: () => Promise<void> };

/** Creates a new, empty database. */
export const createOwnClickHouseDatabase = async (): Promise<OwnClickHouseDatabase> => {
  const name = `guestlist_test_${randomUUID().replaceAll('-', '')}`;
  await onClickHouse(`CREATE DATABASE ${name}`);
  return {
    name,
    drop: async () => {
      await onClickHouse(`DROP DATABASE ${name} SYNC`);
    },
  };
};
