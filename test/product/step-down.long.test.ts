/**
 * From the previous release to this one and one step back, while logins, mints and queries go on at the processes that
 * live: nothing fails, nothing is lost, and what the previous release does not know it does not show.
 */
import { link, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { unpackPrevious } from '../suites/previous-release.js';
import { analyst, type EmbedToken, type GuestDashboard, get, openTruth, post, type Reply } from './guest.js';
import { on } from './moving.js';
import { type Product, runToEnd, startProduct } from './product.js';
import { gatewayToken, hostSecret, sessionOf } from './replicas.js';

type Release = 'previous' | 'this';
type Living = { readonly release: Release; readonly product: Product };

const hidden = 'main.flights.delay';
const leftOut = 'SFO';
const tenant = 'LAX';
const ruledBoard = `ruled--${tenant}`;

const accessSettings = {
  metricCreationMode: 'DRAG_DROP',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
};

const flights = { schemaName: 'main', tableName: 'flights' };

/** A model whose base filter leaves rows out. */
const ruledModel = {
  name: 'ruled',
  datasourceName: 'flights',
  tenancySettings: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'main', tableName: 'tenants' },
    ...{ tablePrimaryKeyColumn: 'iata', tableClientNameColumn: 'name' },
  },
  tableList: [
    {
      name: 'flights',
      clientColumn: 'origin',
      baseFilters: [{ columnName: 'destination', predicate: { kind: 'noneOf', values: [leftOut] } }],
      columns: [{ name: 'origin' }, { name: 'destination' }, { name: 'date' }, { name: 'delay' }],
    },
  ],
};

const ruledContent = {
  gridMargin: [],
  layout: [{ metricId: 'by-destination', x: 0, y: 0, w: 12, h: 6 }],
  filters: [],
  metrics: [
    {
      metricId: 'by-destination',
      name: 'Flights by destination',
      definition: {
        kind: 'visual',
        chart: { type: 'bar' },
        from: flights,
        dimensions: [{ name: 'To', column: { ...flights, columnName: 'destination' } }],
        measures: [{ name: 'Flights', aggregate: 'COUNT' }],
        underlying: [
          { ...flights, columnName: 'destination' },
          { ...flights, columnName: 'delay' },
        ],
        sort: [{ name: 'Flights', direction: 'DESC' }],
        limit: null,
      },
    },
  ],
};

describe.skipIf(!(await isPostgresThere()))('one step up, one step down', { timeout: 600_000 }, () => {
  let unpacked: Awaited<ReturnType<typeof unpackPrevious>>;
  let database: OwnDatabase;
  let folder: string;
  let dataDir: string;
  let env: Readonly<Record<string, string>>;
  let apiKey: string;
  let serviceToken: string;
  let remove: () => Promise<void>;
  const shares = new Map<string, number>();
  const living: Living[] = [];

  const start = async (release: Release): Promise<Living> => {
    const root = release === 'previous' ? { root: unpacked.folder } : {};
    const product = await startProduct({ dataDir, env, ...root });
    const one = { release, product };
    living.push(one);
    return one;
  };
  /** Requests that are sent no more, then the process. */
  const end = async (one: Living): Promise<void> => {
    living.splice(living.indexOf(one), 1);
    expect(await one.product.stop()).toBe(0);
  };

  beforeAll(async () => {
    [unpacked, database, folder] = await Promise.all([
      unpackPrevious(),
      createOwnDatabase(),
      mkdtemp(join(tmpdir(), 'guestlist-step-down-')),
    ]);
    // The demo's data, as the previous release makes it. The processes below have a configuration of their own.
    const demo = await startProduct({ root: unpacked.folder, env: { DATABASE_URL: database.url } });
    await demo.stop();
    ({ dataDir, remove } = demo);
    apiKey = demo.credentials.demoApiKey;
    serviceToken = demo.credentials.serviceToken;
    const file = join(folder, 'guestlist.yaml');
    const policies = join(unpacked.folder, 'config/policies/flights.yaml');
    const datasources = { duckdbFolders: [folder] };
    // The demo alone may read its file where it is.
    const path = join(folder, 'flights.duckdb');
    await link(join(dataDir, 'demo/flights.duckdb'), path);
    await on(database.url, (opened) => sql`update guestlist.datasources set path = ${path}`.execute(opened.connect()));
    await writeFile(file, JSON.stringify({ datasources, gateway: { policies, upstream: { timeoutMs: 60_000 } } }));
    env = {
      DATABASE_URL: database.url,
      GUESTLIST_CONFIG: file,
      GUESTLIST_API_KEY: apiKey,
      GUESTLIST_HOST_JWT_SECRET: hostSecret,
      GUESTLIST_GATEWAY_TOKEN: gatewayToken,
      GUESTLIST_LOG_LEVEL: 'warn',
    };
    const truth = await openTruth();
    for (const [org, share] of await truth.rows(
      `select origin, avg(case when delay > 15 then 1 else 0 end) from flights where delay is not null group by origin`,
    ))
      shares.set(String(org), Number(share));
    truth.close();
  }, 240_000);
  afterAll(async () => {
    for (const { product } of living) await product.stop('SIGKILL');
    await remove?.();
    await unpacked?.remove();
    await rm(folder, { recursive: true, force: true });
    await database?.drop();
  });

  const faults: string[] = [];
  const counts: Record<string, number> = {};
  let turn = 0;
  /** The next process, as a balancer chooses it. */
  const next = (): Living => {
    turn += 1;
    const one = living[turn % living.length];
    if (one === undefined) throw new Error('no process lives');
    return one;
  };
  const sent = async <T>(what: string, call: (one: Living) => Promise<{ status: number; text: string; body: T }>) => {
    const one = next();
    const answer = await call(one);
    counts[what] = (counts[what] ?? 0) + 1;
    if (answer.status !== 200) faults.push(`${what} at the ${one.release} release: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  const share = async (org: string, token: string): Promise<void> => {
    const dashboardId = `delays--${org}`;
    const path = `/api/v2/guest/dashboards/${dashboardId}`;
    const board = await sent('dashboard', (at) => get<{ data?: GuestDashboard }>(`${at.product.url}${path}`, token));
    const metric = board.data?.metrics.find(({ name }) => name === 'Delayed over 15 minutes');
    if (metric === undefined) return;
    const answer = await sent('query', (at) =>
      post<Partial<Reply>>(`${at.product.url}/api/v2/guest/metrics/${metric.metricId}/query`, { dashboardId }, token),
    );
    const value = answer.data?.[0]?.['Share delayed'];
    if (value !== undefined && Math.abs(Number(value) - (shares.get(org) ?? 0)) > 0.001)
      faults.push(`the share of ${org} is ${value}`);
  };
  const login = async (org: string): Promise<void> => {
    const session = sessionOf(analyst(org));
    const answer = await sent('login', (at) => post<Partial<EmbedToken>>(`${at.product.url}/embed-token`, {}, session));
    if (answer.token !== undefined) await share(org, answer.token);
  };
  const mintAt = ({ product }: Living, parts: object) =>
    post<{ token?: string }>(
      `${product.url}/api/v2/guest-token/create`,
      { clientId: tenant, dataAppName: 'flights', expiryTime: 3_600_000, ...parts },
      apiKey,
    );
  const mint = async (): Promise<void> => {
    const params = { userIdentifier: `user ${turn}`, allowedEmbeds: [`delays--${tenant}`] };
    const { token } = await sent('mint', (at) => mintAt(at, { params }));
    if (token !== undefined) await share(tenant, token);
  };

  /** What is asked with a token or of a model that the previous release does not know. */
  type Ruled = { readonly token: string; readonly metricId: string; readonly dashboardId: string };
  const ruled: Ruled[] = [];
  const outcomes: Record<Release, Record<string, number>> = { previous: {}, this: {} };
  const askRuled = async ({ token, metricId, dashboardId }: Ruled): Promise<void> => {
    const { product, release } = next();
    const ask = (way: string) => post(`${product.url}/api/v2/guest/metrics/${metricId}/${way}`, { dashboardId }, token);
    const note = (way: string, status: number): void => {
      const key = `${dashboardId} ${way} ${status}`;
      outcomes[release][key] = (outcomes[release][key] ?? 0) + 1;
    };
    const opened = await get(`${product.url}/api/v2/guest/dashboards/${dashboardId}`, token);
    note('dashboard', opened.status);
    for (const way of ['query', 'underlying']) {
      const { status, text } = await ask(way);
      note(way, status);
      const isShown = dashboardId === ruledBoard ? text.includes(leftOut) : /delay"/i.test(text);
      if (isShown) faults.push(`the ${release} release shows what is left out, at ${way}: ${text.slice(0, 200)}`);
    }
  };

  let isOver = false;
  const orgs = ['LAX', 'ATL', 'SFO', 'DEN'];
  const work = async (number: number): Promise<void> => {
    for (let round = number; !isOver; round += 1) {
      await login(orgs[round % orgs.length] ?? tenant);
      await mint();
      for (const one of ruled) await askRuled(one);
    }
  };
  /** Waits until each kind of request was sent so many times more. */
  const requests = async (times: number): Promise<void> => {
    const goal = (counts.query ?? 0) + times;
    while ((counts.query ?? 0) < goal) await login(tenant);
  };

  const made: string[] = [];
  /** Content and a tenant of this phase, made at this process. */
  const make = async ({ product }: Living, org: string): Promise<void> => {
    const name = `made ${made.length}`;
    const answer = await post(`${product.url}/api/v2/data-app`, { name }, serviceToken);
    expect(answer.status).toBe(200);
    made.push(name);
    await login(org);
  };
  const stepDown = (...args: readonly string[]) =>
    runToEnd(['step-down', ...args], { ...env, GUESTLIST_DATA_DIR: dataDir });

  const addRuled = async (at: Living): Promise<void> => {
    const { url } = at.product;
    const call = async (path: string, body: object, bearer = serviceToken): Promise<void> => {
      const answer = await post(`${url}/api/v2${path}`, body, bearer);
      if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    };
    await call('/data-app/datamarts', ruledModel);
    await call('/workspace', { name: 'ruled', connectionType: 'DATAMART', datamartName: 'ruled' });
    const board = { workspaceName: 'ruled', dashboardId: 'ruled', dashboardName: 'Ruled' };
    await call('/data-app/import-dashboard', { ...board, importDashboardData: ruledContent });
    const copy = { dashboardId: ruledBoard, clientId: tenant, workspaceName: 'ruled', templateDashboardId: 'ruled' };
    const settings = { ...accessSettings, datamartName: 'ruled' };
    await call('/data-app/dashboard-embeds', { ...copy, isImportMetrics: true, accessSettings: settings }, apiKey);
    await addToken(at, ruledBoard, {});
    await addToken(at, `delays--${tenant}`, { hideColumns: [hidden] });
  };
  const addToken = async (at: Living, dashboardId: string, params: object): Promise<void> => {
    const minted = await mintAt(at, {
      params: { allowedEmbeds: [dashboardId], ...params },
      permissions: { isEnableUnderlyingData: true },
    });
    const token = minted.body.token ?? '';
    const board = await get<{ data: GuestDashboard }>(
      `${at.product.url}/api/v2/guest/dashboards/${dashboardId}`,
      token,
    );
    const metricId = board.body.data.metrics[0]?.metricId ?? '';
    ruled.push({ token, metricId, dashboardId });
  };

  test('nothing fails, is lost or is shown that must not be', async () => {
    const old = await start('previous');
    const workers = [0, 1, 2].map(work);
    try {
      await make(old, 'JFK');
      await requests(5);
      // The new release migrates while the previous one serves.
      const first = await start('this');
      await make(first, 'ORD');
      await make(old, 'BOS');
      await requests(10);
      await addRuled(first);
      await requests(10);
      await end(old);
      await make(first, 'MIA');
      await requests(10);

      const refused = await stepDown();
      expect(refused.code).toBe(1);
      expect(refused.output).toMatch(/datamart "ruled"[\s\S]*guest tokens/);
      await expect(start('previous')).rejects.toThrow(/another version/);
      expect(await stepDown('--without-them')).toMatchObject({ code: 0 });
      const back = await start('previous');
      await requests(10);
      await make(back, 'SEA');
      await make(first, 'PHX');
      await end(first);
      await requests(10);
      await make(back, 'LAS');

      const again = await start('this');
      await requests(10);
      await end(back);
      await requests(5);
      isOver = true;
      await Promise.all(workers);
      await expect(start('previous')).rejects.toThrow(/another version/);

      expect(faults).toEqual([]);
      const listed = await get(`${again.product.url}/api/v2/data-app`, serviceToken);
      for (const name of made) expect(listed.text).toContain(`"${name}"`);
      for (const org of ['JFK', 'ORD', 'BOS', 'MIA', 'SEA', 'PHX', 'LAS', ...orgs]) await login(org);
      for (const one of ruled) await askRuled(one);
      expect(faults).toEqual([]);
      // This release answers everything, and the previous one no rows, and nothing to a token that it must not find.
      const ways = ['dashboard', 'query', 'underlying'];
      const answered = [`delays--${tenant}`, ruledBoard].flatMap((id) => ways.map((way) => `${id} ${way} 200`));
      expect(Object.keys(outcomes.this).sort()).toEqual(answered);
      const before = Object.keys(outcomes.previous);
      expect(before.filter((outcome) => outcome.startsWith('delays')).sort()).toEqual(
        ways.map((way) => `delays--${tenant} ${way} 401`),
      );
      expect(before.filter((outcome) => /^ruled.* (?:query|underlying) 200$/.test(outcome))).toEqual([]);
      expect(before.filter((outcome) => /^ruled.* query /.test(outcome))).toHaveLength(1);
      const verify = ['audit', 'verify', '--url', again.product.url];
      expect(await runToEnd(verify, { ...env, GUESTLIST_DATA_DIR: dataDir })).toMatchObject({ code: 0 });
    } finally {
      isOver = true;
      await Promise.allSettled(workers);
      console.info(JSON.stringify({ counts, outcomes, faults: faults.slice(0, 20) }, null, 1));
    }
  });
});
