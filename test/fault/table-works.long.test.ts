/** Long work during faults: no process ends, nothing stays unfinished, and nothing happens twice. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openMailbox } from '../delivery/mailbox.js';
import { get, login, manager, post, request } from '../product/guest.js';
import { configureMail, signedManager, writeStarter } from '../product/mailing.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { type FaultProxy, openFaultProxy } from './fault-proxy.js';
import { type Line, writeLine } from './table.js';

const gatewayToken = randomBytes(32).toString('hex');
const contentPath = '/api/v2/data-app/dashboards/content';
const templates = ['delays', 'routes'] as const;
const tenants = ['LAX', 'ATL', 'SEA'] as const;
const patience = { timeout: 90_000, interval: 50 };

const lineOf = (fault: string, answers: string, goodAgainMs: number, acknowledged: number): Line => {
  const ms = Math.round(goodAgainMs);
  return { fault, answers, longestMs: 0, goodAgainMs: ms, goodAgainMaxMs: ms, acknowledged, lost: 0 };
};
const removed = async (product: Product): Promise<void> => {
  product.signal('SIGCONT');
  await product.stop('SIGKILL');
  await product.remove();
};
const countOf = (text: string, part: string): number => text.split(part).length - 1;

describe.skipIf(!isPostgresServerThere())('gateways of one ledger', { timeout: 400_000 }, () => {
  let postgres: OwnPostgres;
  let service: Product;
  let proxy: FaultProxy;
  let folder: string;
  let gateways: readonly [Product, Product];
  const start = (): Promise<Product> =>
    startProduct({
      args: ['--only', 'gateway'],
      env: {
        GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'),
        GUESTLIST_SERVICE_URL: proxy.url,
        GUESTLIST_API_KEY: service.credentials.demoApiKey,
        GUESTLIST_HOST_JWT_SECRET: service.credentials.demoJwtSecret,
        GUESTLIST_GATEWAY_TOKEN: gatewayToken,
        DATABASE_URL: postgres.url,
      },
    });
  beforeEach(async () => {
    [postgres, service] = await Promise.all([startOwnPostgres(), startProduct({ args: ['--only', 'service'] })]);
    proxy = await openFaultProxy(service.url);
    folder = await mkdtemp(join(tmpdir(), 'guestlist-works-'));
    const policies = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
    const upstream = { timeoutMs: 60_000, deadlineMs: 120_000 };
    const gateway = { policies, session: { issuer: 'guestlist-demo' }, upstream };
    await writeFile(join(folder, 'guestlist.yaml'), JSON.stringify({ gateway }));
    gateways = [await start(), await start()];
  }, 240_000);
  afterEach(async () => {
    await Promise.all([...gateways, service].map(removed));
    await proxy.close();
    await postgres.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const command = (gateway: Product, name: string, input: object) =>
    post<{ data: Record<string, unknown> }>(`${gateway.url}/gateway/admin/${name}`, input, gatewayToken);
  const signIn = (gateway: Product, tenant: string) =>
    login({ ...gateway, credentials: service.credentials }, manager(tenant));
  /** Changes each template, so that there is something to roll out. */
  const change = async (margin: number): Promise<void> => {
    const bearer = service.credentials.serviceToken;
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    for (const dashboardId of templates) {
      const target = { dashboardId, workspaceName: 'flights' };
      const url = `${service.url}${contentPath}`;
      const { body } = await get<{ data: object; digest: string }>(`${url}?${new URLSearchParams(target)}`, bearer);
      const content = { ...body.data, gridMargin: [margin, margin] };
      const changed = JSON.stringify({ ...target, content, expectedDigest: body.digest });
      expect((await request(url, { method: 'PUT', headers, body: changed })).status).toBe(200);
    }
  };
  /** Begins a roll-out of each template, and resolves once the service holds a write of each. */
  const begin = async (gateway: Product): Promise<readonly string[]> => {
    proxy.decide(({ path, method }) => (path === contentPath && method === 'PUT' ? 'silent-before' : 'none'));
    const ids: string[] = [];
    for (const template of templates)
      ids.push(String((await command(gateway, 'rollout-apply', { template })).body.data.id));
    await vi.waitFor(() => expect(proxy.kept()).toBeGreaterThanOrEqual(templates.length), patience);
    return ids;
  };
  const letThrough = (): void => {
    proxy.decide(() => 'none');
    proxy.release();
  };
  const finished = (gateway: Product, ids: readonly string[]): Promise<void> =>
    vi.waitFor(async () => {
      for (const id of ids) {
        const { body } = await command(gateway, 'rollout-status', { id });
        expect(body.data).toMatchObject({ state: 'finished', isAtWork: false });
      }
    }, patience);
  const marginsAre = async (margin: number): Promise<void> => {
    for (const template of templates)
      for (const tenant of tenants) {
        const target = { dashboardId: `${template}--${tenant}`, workspaceName: 'flights' };
        const url = `${service.url}${contentPath}?${new URLSearchParams(target)}`;
        const { body } = await get<{ data: object }>(url, service.credentials.demoApiKey);
        expect(body.data).toMatchObject({ gridMargin: [margin, margin] });
      }
  };

  it('two roll-outs whose process is killed, and an outage while another takes them over: all are finished', async () => {
    const [first, other] = gateways;
    for (const tenant of tenants) await signIn(first, tenant);
    await change(3);
    const ids = await begin(first);
    await first.stop('SIGKILL');
    await vi.waitFor(() => expect(other.output()).toContain('process.died'), patience);
    await postgres.stop('immediate');
    letThrough();
    await vi.waitFor(() => expect(other.output()).toContain('process.heartbeat_failed'), patience);
    await postgres.start();
    const startedMs = performance.now();
    await finished(other, ids);
    const tookMs = performance.now() - startedMs;
    await marginsAre(3);
    expect(await other.stop()).toBe(0);
    writeLine(lineOf('two roll-outs cut off, PostgreSQL away during the take-over', 'finished: 2', tookMs, 2));
  });

  it('an outage interrupts two roll-outs of a process that lives on: they go on by themselves', async () => {
    const [first, other] = gateways;
    for (const tenant of tenants) await signIn(first, tenant);
    await change(4);
    const ids = await begin(first);
    await postgres.stop('fast');
    letThrough();
    await vi.waitFor(() => expect(countOf(first.output(), 'rollout.interrupted')).toBe(2), patience);
    await postgres.start();
    const startedMs = performance.now();
    await finished(other, ids);
    const tookMs = performance.now() - startedMs;
    await marginsAre(4);
    expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual([0, 0]);
    writeLine(lineOf('two roll-outs interrupted by an outage of PostgreSQL', 'finished: 2', tookMs, 2));
  });

  it('processes that get a tenth of the processor are not taken for dead', async () => {
    await signIn(gateways[0], 'LAX');
    for (let round = 0; round < 8; round += 1) {
      for (const gateway of gateways) gateway.signal('SIGSTOP');
      // The length of the stop is the fault itself.
      await pass(3_500);
      for (const gateway of gateways) gateway.signal('SIGCONT');
      await pass(400);
    }
    const startedMs = performance.now();
    await signIn(gateways[1], 'ATL');
    const said = gateways.map((gateway) => countOf(gateway.output(), 'process.died'));
    expect(said).toEqual([0, 0]);
    writeLine(
      lineOf('a starved processor: eight stops of 3.5 s', 'taken for dead: 0', performance.now() - startedMs, 0),
    );
  });

  it('a process that is taken for dead and lives costs time alone: its roll-outs end once, and it gets more time', async () => {
    const [first, other] = gateways;
    for (const tenant of tenants) await signIn(first, tenant);
    await change(5);
    const ids = await begin(first);
    first.signal('SIGSTOP');
    await vi.waitFor(() => expect(other.output()).toContain('process.died'), patience);
    proxy.decide(() => 'none');
    const startedMs = performance.now();
    await finished(other, ids);
    const tookMs = performance.now() - startedMs;
    // Its held writes fail now, and it may say so of no roll-out.
    first.signal('SIGCONT');
    proxy.release();
    await vi.waitFor(() => expect(countOf(first.output(), 'rollout.interrupted')).toBe(2), patience);
    await finished(first, ids);
    await marginsAre(5);
    for (let round = 0; round < 2; round += 1) {
      first.signal('SIGSTOP');
      await pass(7_000);
      first.signal('SIGCONT');
      await pass(1_500);
    }
    expect(countOf(other.output(), 'process.died'), other.output()).toBe(1);
    writeLine(lineOf('a process that was stopped is taken for dead, and goes on', 'taken for dead: 1', tookMs, 2));
  });
});

const aheadMs = 20 * 60_000;
it.runIf(isPostgresServerThere())(
  'a replica whose clock is twenty minutes ahead sends no report twice, and none early',
  { timeout: 400_000 },
  async () => {
    const postgres = await startOwnPostgres();
    onTestFinished(postgres.remove);
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-ahead-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const mailbox = await openMailbox();
    onTestFinished(mailbox.close);
    await writeStarter(folder, await configureMail(folder));
    const start = (env: Readonly<Record<string, string>>, dataDir: string) =>
      startProduct({
        ...{ dataDir, root: folder },
        env: {
          ...{ DATABASE_URL: postgres.url, GUESTLIST_SMTP_URL: mailbox.url },
          ...{ GUESTLIST_PUBLIC_ORIGIN: 'https://numbers.example.com', ...env },
        },
      });
    const right = await start({}, join(folder, 'data'));
    onTestFinished(async () => void (await right.stop('SIGKILL')));
    const preload = new URL('ahead-clock.mjs', import.meta.url).href;
    const ahead = await start({ NODE_OPTIONS: `--import ${preload}` }, join(folder, 'data'));
    onTestFinished(async () => void (await ahead.stop('SIGKILL')));
    await vi.waitFor(() => expect(ahead.output()).toContain('clock.skewed'), patience);
    const { body: ready } = await get<{ clockSkewMs?: number }>(`${ahead.url}/readyz`);
    expect(Math.abs((ready.clockSkewMs ?? 0) - aheadMs)).toBeLessThan(10_000);

    const { body } = await post<{ token: string; embeds: { id: string }[] }>(
      `${right.url}/embed-token`,
      {},
      signedManager(right.credentials.demoJwtSecret, 'mia'),
    );
    const board = `${right.url}/api/v2/guest/dashboards/${body.embeds[0]?.id}`;
    const call = async <T>(path: string, input: object): Promise<T> => {
      const answer = await post<{ data: T }>(`${board}/schedules${path}`, input, body.token);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data;
    };
    // Due in ten minutes: for the replica that is ahead, ten minutes ago.
    const soon = new Date(Date.now() + 10 * 60_000);
    const time = soon.toISOString().slice(11, 16);
    const recurrence = { every: 'day', at: time, timezone: 'UTC' };
    const early = await call<{ id: string }>('', { name: 'In ten minutes', format: 'csv', recurrence });
    mailbox.hold();
    const { id } = await call<{ id: string }>('', { name: 'Now', format: 'csv', recurrence });
    await call('/send', { scheduleId: id });
    await vi.waitFor(() => expect(mailbox.held()).toBe(1), patience);
    // Both replicas look for due messages each second. Ten such rounds of the one that is ahead pass.
    await pass(10_000);
    expect(mailbox.held()).toBe(1);
    mailbox.letGo();
    await vi.waitFor(async () => {
      const { body: history } = await get<{ data: { state: string }[] }>(
        `${board}/schedules/deliveries?scheduleId=${id}`,
        body.token,
      );
      expect(history.data.map(({ state }) => state)).toEqual(['sent']);
    }, patience);
    expect(mailbox.received.map(({ mail }) => mail.subject)).toHaveLength(1);
    const { body: none } = await get<{ data: unknown[] }>(
      `${board}/schedules/deliveries?scheduleId=${early.id}`,
      body.token,
    );
    expect(none.data).toEqual([]);
    writeLine(lineOf('a replica 20 minutes ahead', 'sent: 1, early: 0', 0, 1));
  },
);
