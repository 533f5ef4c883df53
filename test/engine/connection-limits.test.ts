/** A server that has no connection left: what it answers passes, for whoever connects. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnectionBudget } from '../../src/engine/connections/budget.js';
import type { OpenOptions } from '../../src/engine/connections/database.js';
import { openMysql } from '../../src/engine/databases/mysql/database.js';
import { openPostgres } from '../../src/engine/databases/postgres/database.js';
import { findUnavailable } from '../../src/model/unavailable.js';
import { captureLog } from '../gateway/harness.js';
import { isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere, onServer } from '../suites/postgres.js';

const { log } = captureLog();
const limits = { maxWaiting: 10, waitMs: 1_000, maxConnections: 2, maxConnectionsPerDatasource: 2 };
const options: OpenOptions = {
  ...{ log, timeoutMs: 1_000, streamMs: 1_000, connectTimeoutMs: 2_000, connections: 1 },
  permits: createConnectionBudget(limits).permitsOf('shop'),
};
const name = `gl_full_${randomUUID().slice(0, 8)}`;
const sourceAt = (host: string, port: number, more: object) =>
  ({ id: 'shop', name: 'shop', host, port, username: name, password: 'secret', isSsl: false, ...more }) as never;
const passes = (refusal: unknown): void => {
  expect(refusal).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason: 'datasource-exhausted' });
  expect(findUnavailable(refusal)?.reason).toBe('datasource-exhausted');
};

describe.runIf(await isPostgresThere())('PostgreSQL', () => {
  it('has no connection left for the role', async () => {
    const database = await createOwnDatabase();
    onTestFinished(database.drop);
    await onServer((client) => client.query(`create role ${name} login password 'secret' connection limit 0`));
    onTestFinished(() => onServer(async (client) => void (await client.query(`drop role ${name}`))));
    const { hostname, port, pathname } = new URL(database.url);
    const place = sourceAt(hostname, Number(port || '5432'), {
      datasourceType: 'POSTGRES',
      database: pathname.slice(1),
    });
    passes(await openPostgres(place, options).catch((error: unknown) => error));
  });
});

describe.runIf(await isMysqlThere())('MariaDB', () => {
  it('has no connection left for the user in this hour', async () => {
    const { host, port } = mysqlServer;
    await onMysql((root) =>
      root.query(`create user ${name}@'%' identified by 'secret' with max_connections_per_hour 1`),
    );
    onTestFinished(() => onMysql(async (root) => void (await root.query(`drop user ${name}@'%'`))));
    const place = sourceAt(host, port, { datasourceType: 'MYSQL', database: 'information_schema' });
    const opened = await openMysql(place, options);
    onTestFinished(opened.close);
    passes(await openMysql(place, options).catch((error: unknown) => error));
  });
});
