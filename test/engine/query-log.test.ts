/** Log lines about queries name the request and the tenant, and never what callers must not read. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it, onTestFinished } from 'vitest';
import { runLogged } from '../../src/engine/connections/database.js';
import { createEngine } from '../../src/engine/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { serveOperations } from '../../src/platform/http/wire/operations.js';
import { beginning } from '../../src/platform/http/wire/request.js';
import { systemClock } from '../../src/platform/work/time.js';
import { captureLog } from '../gateway/harness.js';
import { columnRef, datamart, metric, type Place, question, refusalOf, table } from './world.js';

const datasource = { id: 'd1', name: 'flights', datasourceType: 'DUCKDB', path: '/nowhere/none.duckdb' } as never;
const tenant = { kind: 'tenant', clientId: 'LAX' } as never;

it('a failed query and a refused one', async () => {
  const { log, lines } = captureLog();
  const about = { datasource, tenant, running: { requestId: 'request-1' }, faultOf: () => undefined };
  await expect(runLogged(() => Promise.reject(new Error('boom')), log, about)).rejects.toThrow(
    /The cause is in the log/,
  );
  const refusal = new Refusal('METRIC_QUERY_ERROR', 'late', { reason: 'datasource-timeout' });
  await expect(runLogged(() => Promise.reject(refusal), log, about)).rejects.toBe(refusal);
  const named = { requestId: 'request-1', tenant: 'LAX', datasource: 'flights' };
  expect(lines).toMatchObject([
    { event: 'query.failed', ...named, err: { message: 'boom' } },
    { event: 'query.stopped', ...named, reason: 'datasource-timeout' },
  ]);
});

it('a datasource that cannot be opened', async () => {
  const { log, lines } = captureLog();
  const engine = createEngine({ clock: systemClock, log, assertReachable: async () => {} });
  onTestFinished(() => engine.close());
  const mart = datamart({ tables: [table('sales', { client: 'VARCHAR' })] });
  const place = { datasource, schemaName: 'main' } as unknown as Place;
  const sales = metric('sales', { dimensions: [{ name: 'client', column: columnRef('sales.client') }] });
  const reads = engine.until(Object.assign(new AbortController().signal, { requestId: 'request-2' }));
  await refusalOf(() => reads.query({ ...question(place, mart, 'LAX', sales), tenant }));
  expect(lines).toMatchObject([
    { event: 'datasource.open_failed', requestId: 'request-2', tenant: 'LAX', datasource: 'flights' },
  ]);
});

it('tables of a datasource that cannot be read', async () => {
  const { log, lines } = captureLog();
  const engine = createEngine({ clock: systemClock, log, assertReachable: async () => {} });
  onTestFinished(() => engine.close());
  await refusalOf(() => engine.introspect(datasource, [], { requestId: 'request-5' }));
  await refusalOf(() => engine.listClientDatabases(datasource, { requestId: 'request-6' }));
  const failed = { event: 'datasource.sync_failed', datasource: 'flights' };
  expect(lines).toMatchObject([
    { ...failed, requestId: 'request-5' },
    { ...failed, requestId: 'request-6' },
  ]);
});

it('a query that fails at the database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-query-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'data.duckdb');
  const made = await DuckDBInstance.create(path);
  await (await made.connect()).run(
    "CREATE VIEW sales AS SELECT 'LAX' AS client, CAST('x' || range AS INTEGER) AS amount FROM range(3)",
  );
  made.closeSync();
  const { log, lines } = captureLog();
  const engine = createEngine({ clock: systemClock, log, assertReachable: async () => {} });
  onTestFinished(() => engine.close());
  const mart = datamart({ tenancy: null, tables: [table('sales', { client: 'VARCHAR', amount: 'INTEGER' })] });
  const place = { datasource: { ...(datasource as object), path }, schemaName: 'main' } as unknown as Place;
  const sales = metric('sales', { dimensions: [{ name: 'amount', column: columnRef('sales.amount') }] });
  const reads = engine.until(Object.assign(new AbortController().signal, { requestId: 'request-4' }));
  await refusalOf(() => reads.query(question(place, mart, 'None', sales)));
  expect(lines).toMatchObject([{ event: 'query.failed', requestId: 'request-4', datasource: 'flights' }]);
});

it("the signal of a guest's request has its X-Request-Id", async () => {
  const { log } = captureLog();
  const seen: unknown[] = [];
  const front = serveOperations({
    ...{ roots: ['/api/v2/guest'], headers: [], begin: beginning({ log }), log },
    dispatch: async ({ signal }) => void seen.push(Reflect.get(signal, 'requestId')) as undefined,
    addressOf: () => '127.0.0.1',
  });
  const server = createServer((request, response) => front(request, response, () => response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/api/v2/guest/dashboards/d`, { headers: { 'x-request-id': 'request-0003' } });
  expect(seen).toEqual(['request-0003']);
});
