/** Two processes of the product with one PostgreSQL and one Redis: each tells what the other runs, and ends it there. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { OperationAnswer } from '../../src/service/operations.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { type Product, runToEnd, startProduct } from './product.js';

const isThere = (await isPostgresThere()) && isRedisServerThere();
const clients = ['acme', 'bolt', 'coco'];
const column = (columnName: string) => ({ schemaName: 'public', tableName: 'sales', columnName });

type Running = OperationAnswer<'readRunning'>['data'];

describe.skipIf(!isThere)('two processes', () => {
  let [metadata, source]: OwnDatabase[] = [];
  let redis: OwnRedis;
  let folder: string;
  let one: Product;
  let other: Product;
  let locker: pg.Client;
  let env: Readonly<Record<string, string>>;
  const tokens = new Map<string, string>();
  let metricId: string;

  const call = async (at: Pick<Product, 'url'>, bearer: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${at.url}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of several operations
    return { status: response.status, body: (await response.json()) as any };
  };
  const made = async (bearer: string, path: string, body: unknown) => {
    const answer = await call(one, bearer, 'POST', path, body);
    expect([path, answer.status, answer.body.error ?? null]).toEqual([path, 200, null]);
    return answer.body;
  };
  const start = (): Promise<Product> => startProduct({ env, args: ['--only', 'service'] });

  /** A dashboard of one chart, and a token of each client that may read it. */
  const makeBoard = async ({ hostname: host, port, username, password, pathname }: URL): Promise<void> => {
    const operator = one.credentials.serviceToken;
    const login = { host, port: Number(port || '5432'), username, password: decodeURIComponent(password) };
    const credentials = { name: 'shop', ...login, database: pathname.slice(1) };
    await made(operator, '/datasource', { datasourceType: 'POSTGRES', credentials });
    const tenancySettings = {
      ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'public', tableName: 'clients' },
      ...{ tablePrimaryKeyColumn: 'id', tableClientNameColumn: 'name' },
    };
    const columns = [{ name: 'client' }, { name: 'amount' }];
    await made(operator, '/data-app/datamarts', {
      ...{ name: 'shop', datasourceName: 'shop', cacheTtlSeconds: 0, tenancySettings, relationships: [] },
      tableList: [{ name: 'sales', schemaName: 'public', clientColumn: 'client', columns }],
    });
    await made(operator, '/workspace', { name: 'shop', connectionType: 'DATAMART', datamartName: 'shop' });
    await made(operator, '/data-app', { name: 'shop' });
    const { key } = await made(operator, '/data-app/api-tokens', { dataAppName: 'shop', name: 'host' });
    const measures = [{ name: 'Sum', aggregate: 'SUM', column: column('amount') }];
    const definition = { kind: 'visual', chart: { type: 'table' }, from: column(''), dimensions: [], measures };
    await made(operator, '/data-app/import-dashboard', {
      ...{ workspaceName: 'shop', dashboardId: 'board', dashboardName: 'Board' },
      importDashboardData: {
        ...{ gridMargin: [], filters: [], layout: [{ metricId: 'sum', x: 0, y: 0, w: 12, h: 6 }] },
        metrics: [
          {
            metricId: 'sum',
            name: 'Sum',
            definition: { ...definition, from: { schemaName: 'public', tableName: 'sales' } },
          },
        ],
      },
    });
    for (const clientId of clients) {
      const dashboardId = `board--${clientId}`;
      await made(key, '/data-app/dashboard-embeds', {
        ...{ dashboardId, clientId, workspaceName: 'shop', templateDashboardId: 'board', isImportMetrics: true },
        accessSettings: { datamartName: 'shop' },
      });
      const params = { allowedEmbeds: [dashboardId] };
      const { token } = await made(key, '/guest-token/create', {
        clientId,
        dataAppName: 'shop',
        expiryTime: 3_600_000,
        params,
      });
      tokens.set(clientId, token);
      const { body } = await call(one, token, 'GET', `/guest/dashboards/${dashboardId}`);
      metricId = body.data.metrics[0].metricId;
    }
  };

  beforeAll(async () => {
    if (!isThere) return;
    [metadata, source] = await Promise.all([createOwnDatabase(), createOwnDatabase()]);
    redis = await startOwnRedis();
    folder = await mkdtemp(join(tmpdir(), 'guestlist-running-'));
    const address = new URL(source?.url ?? '');
    const config = join(folder, 'guestlist.yaml');
    const allowedHosts = [`${address.hostname}:${address.port || '5432'}`];
    await writeFile(config, JSON.stringify({ datasources: { allowedHosts } }));
    env = {
      ...{ GUESTLIST_CONFIG: config, GUESTLIST_DEMO: '0', DATABASE_URL: metadata?.url ?? '', REDIS_URL: redis.url },
      GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    locker = new pg.Client({ connectionString: address.href });
    await locker.connect();
    await locker.query(
      `create table clients as select unnest(array['acme', 'bolt', 'coco']) as id, 'A client' as name`,
    );
    await locker.query(`create table sales as select id as client, n as amount from clients, generate_series(1, 9) n`);
    one = await start();
    other = await start();
    await makeBoard(address);
  }, 180_000);
  afterEach(() => locker?.query('rollback'));
  afterAll(async () => {
    if (!isThere) return;
    await Promise.all([one.stop(), other.stop()]);
    await locker.end();
    await Promise.all([one.remove(), other.remove(), redis.stop(), rm(folder, { recursive: true, force: true })]);
    await Promise.all([metadata?.drop(), source?.drop()]);
  });

  const lock = async (): Promise<void> => {
    await locker.query('begin');
    await locker.query('lock table sales in access exclusive mode');
  };
  const ask = (at: Product, clientId: string) =>
    call(at, tokens.get(clientId) ?? '', 'POST', `/guest/metrics/${metricId}/query`, {
      dashboardId: `board--${clientId}`,
    });
  const read = async (at: Product): Promise<Running> =>
    (await call(at, at.credentials.serviceToken, 'GET', '/running')).body.data;
  const whileListed = (at: Product, count: number): Promise<Running> =>
    vi.waitFor(
      async () => {
        const running = await read(at);
        expect(running.works.map(({ clientId }) => clientId)).toHaveLength(count);
        return running;
      },
      { timeout: 30_000, interval: 200 },
    );

  test('each lists what the other one runs, and the command line ends it', async () => {
    await lock();
    const asked = ask(one, 'coco');
    const { works, processes } = await whileListed(other, 1);
    const owner = (await read(one)).processes.find(({ isAnswering }) => isAnswering)?.instance;
    expect(works).toMatchObject([
      { kind: 'query', state: 'running', subject: 'shop', dataAppName: 'shop', clientId: 'coco', process: owner },
    ]);
    expect(works[0]).toMatchObject({ dashboardId: 'board--coco', metricId });
    expect(processes).toHaveLength(2);
    const asOperator = { ...env, GUESTLIST_SERVICE_TOKEN: other.credentials.serviceToken };
    const listed = await runToEnd(['running', '--url', other.url], asOperator);
    expect([listed.code, listed.output]).toEqual([0, expect.stringContaining(works[0]?.id ?? '')]);
    const ended = await runToEnd(['running', '--end', works[0]?.id ?? '', '--url', other.url], asOperator);
    expect(ended).toEqual({ code: 0, output: 'It was ended.\n' });
    expect(await asked).toMatchObject({
      body: { error: { code: 'METRIC_QUERY_ERROR', message: /An operator ended/ } },
    });
    await whileListed(other, 0);
    expect(one.output()).toContain('"work.ended"');
  });

  test('what a process ran that was killed is gone from the list of the other one', async () => {
    await lock();
    const asked = ask(one, 'coco').catch(() => 'cut off');
    await whileListed(other, 1);
    await one.stop('SIGKILL');
    expect(await asked).toBe('cut off');
    const { processes } = await whileListed(other, 0);
    expect(processes).toHaveLength(1);
    await locker.query('rollback');
    one = await start();
    await vi.waitFor(async () => expect((await read(other)).processes).toHaveLength(2), { timeout: 30_000 });
    expect((await ask(one, 'coco')).body).toMatchObject({ data: [{ Sum: 45 }] });
  });
});
