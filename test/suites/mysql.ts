/** Creates databases on a real MariaDB or MySQL server. */
import { randomUUID } from 'node:crypto';
import { type Connection, createConnection } from 'mysql2/promise';

const serverUrl = new URL(process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306');

/** Connection settings of the server. */
export const mysqlServer = {
  host: serverUrl.hostname,
  port: Number(serverUrl.port === '' ? '3306' : serverUrl.port),
  username: decodeURIComponent(serverUrl.username),
  password: decodeURIComponent(serverUrl.password),
} as const;

/** Runs statements as the tests' user, in `database` if it is given. */
export const onMysql = async <T>(work: (connection: Connection) => Promise<T>, database?: string): Promise<T> => {
  const { host, port, username: user, password } = mysqlServer;
  const named = database === undefined ? {} : { database };
  const connection = await createConnection({ host, port, user, password, connectTimeout: 5_000, ...named });
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
};

/** Whether the server is available. Otherwise warns and skips the tests; fails under CI. */
export const isMysqlThere = async (): Promise<boolean> => {
  try {
    await onMysql((connection) => connection.query('select 1'));
    return true;
  } catch (cause) {
    const message = 'NO MARIADB at TEST_MYSQL_URL (default: root without a password at 127.0.0.1:3306)';
    if (process.env.CI === 'true') throw new Error(message, { cause });
    console.warn(`${message}: ITS TESTS ARE SKIPPED`);
    return false;
  }
};

export type OwnMysqlDatabase = { readonly name: string; readonly drop: () => Promise<void> };

/** Creates a new, empty database. Its default collation treats `a`, `A` and `á ` as equal. */
export const createOwnMysqlDatabase = async (): Promise<OwnMysqlDatabase> => {
  const name = `guestlist_test_${randomUUID().replaceAll('-', '')}`;
  await onMysql((connection) =>
    connection.query(`create database ${name} character set utf8mb4 collate utf8mb4_general_ci`),
  );
  return {
    name,
    drop: async () => {
      await onMysql((connection) => connection.query(`drop database ${name}`));
    },
  };
};
