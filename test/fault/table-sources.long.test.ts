/** Sources of tenants, the service and the mail server answer with damaged bytes under load: only connections end. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { begin, kinds, loginAt, origin, run, stop, urlOf } from '../cli/init-suite.js';
import { type Mailbox, openMailbox } from '../delivery/mailbox.js';
import { type Relay, startRelay } from '../engine/relay.js';
import { customerId } from '../fixtures/northwind-database.js';
import { get, login, manager, post } from '../product/guest.js';
import { configureMail, signedManager, writeStarter } from '../product/mailing.js';
import { type Product, startProduct } from '../product/product.js';
import {
  clickHouseServer,
  createOwnClickHouseDatabase,
  isClickHouseThere,
  onClickHouse,
} from '../suites/clickhouse.js';
import { askOnce, faultsOf, type Outcome, startLoad } from './clients.js';
import { type DamageName, damageOf, damages, type Endless } from './damages.js';
import { countStatuses, longestOf, middleOf, writeLine } from './table.js';
import { askToken, faultTimeoutMs } from './under-load.js';

const zeros = Buffer.alloc(262_144);
const endlessOf = {
  PostgreSQL: { first: Buffer.from('D\x7f\xff\xff\xff', 'latin1'), repeated: zeros },
  MariaDB: {
    first: Buffer.alloc(0),
    repeated: Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0]), Buffer.alloc(0xffffff)]),
  },
  http: {
    first: Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n["'),
    repeated: zeros,
  },
  SMTP: { first: Buffer.from('250-'), repeated: zeros },
} as const satisfies Readonly<Record<string, Endless>>;

/** Flipped bits may be inside a value, where no protocol sees them. */
const seen = damages.filter((name) => name !== 'flipped bytes');
const rounds = 4;
/** An answer that never ends is a query above its time limit; names of columns may be what is damaged. */
const isOrdinary = new Set(['datasource-timeout', 'columns-changed']);
const patience = { timeout: 60_000, interval: 50 };

type Damaging = {
  readonly fault: string;
  readonly relay: Relay;
  readonly damage: DamageName;
  readonly endless: Endless;
  /** Asks what needs the damaged server. */
  readonly ask: (count: number) => Promise<Outcome>;
};

/** Damages answers while users ask. Writes the line, and returns the answers that no user may see. */
const runDamage = async ({ fault, relay, damage, endless, ask }: Damaging): Promise<readonly string[]> => {
  const load = startLoad(4, ask);
  const recoveries: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await load.ended(8);
    relay.alter(damageOf(damage, round, endless));
    relay.cut();
    await load.ended(12);
    relay.alter(null);
    relay.cut();
    const startedMs = performance.now();
    await vi.waitFor(async () => expect((await ask(0)).status).toBe(200), patience);
    recoveries.push(performance.now() - startedMs);
  }
  await load.stop();
  const { outcomes } = load;
  writeLine({
    fault: `${fault}: ${damage}, ${rounds} times`,
    answers: countStatuses(outcomes.map(({ status }) => status)),
    longestMs: longestOf(outcomes),
    goodAgainMs: middleOf(recoveries),
    goodAgainMaxMs: Math.round(Math.max(...recoveries)),
    acknowledged: outcomes.filter(({ status }) => status === 200).length,
    lost: 0,
  });
  return faultsOf(outcomes);
};

const expectAlive = async (product: Pick<Product, 'url' | 'output'>): Promise<void> => {
  expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
  expect(product.output()).not.toContain('process.fault');
};

const openClickHouse = async () => {
  const { name, drop } = await createOwnClickHouseDatabase();
  const tables = [
    'customers (customer_id String, company_name String) ENGINE = MergeTree ORDER BY customer_id',
    'orders (order_id Int32, customer_id String, order_date Date, freight Float64) ENGINE = MergeTree ORDER BY order_id',
  ];
  for (const table of tables) await onClickHouse(`CREATE TABLE ${name}.${table}`);
  await onClickHouse(`INSERT INTO ${name}.customers VALUES ('A', 'Anna'), ('B', 'Bob')`);
  const made = "number, if(number < 60, 'A', 'B'), toDate('2024-01-01') + number, number / 4";
  await onClickHouse(`INSERT INTO ${name}.orders SELECT ${made} FROM numbers(100)`);
  const { host, port, username, password } = clickHouseServer;
  return { url: `clickhouse://${username}:${password}@${host}:${port}/${name}`, drop };
};

const sources = [
  ...kinds.flatMap(({ kind, open, isThere }) =>
    kind === 'PostgreSQL' || kind === 'MariaDB' ? [{ kind, open, isThere, endless: endlessOf[kind] }] : [],
  ),
  { kind: 'ClickHouse', open: openClickHouse, isThere: await isClickHouseThere(), endless: endlessOf.http },
];

describe.each(sources.filter(({ isThere }) => isThere))('$kind as a source', ({ kind, open, endless }) => {
  let source: Awaited<ReturnType<typeof open>>;
  let folder: string;
  let relay: Relay;
  let serving: ReturnType<typeof begin>;
  let product: Pick<Product, 'url' | 'output'>;
  let askChart: () => Promise<Outcome>;
  beforeAll(async () => {
    source = await open();
    const url = new URL(source.url);
    relay = await startRelay({ host: url.hostname, port: Number(url.port || '5432') });
    url.hostname = relay.host;
    url.port = String(relay.port);
    folder = await mkdtemp(join(tmpdir(), 'guestlist-sources-'));
    const shared = kind === 'ClickHouse' ? [] : ['--shared', 'products,categories'];
    const { code, output } = await run(folder, 'init', '--yes', '--database', url.href, ...shared, '--origin', origin);
    expect([code, output]).toEqual([0, expect.stringMatching(/charts/)]);
    await appendFile(join(folder, 'guestlist.yaml'), '\nqueries: { timeoutSeconds: 2, cacheTtlSeconds: 0 }\n');
    serving = begin(folder, ['serve']);
    product = { url: await urlOf(serving), output: serving.output };
    const { body } = await loginAt(folder, product.url, { tenant_id: customerId(0) });
    const [{ id: dashboardId } = { id: '' }] = body.embeds;
    const opened = await get<{ data: { metrics: { metricId: string }[] } }>(
      `${product.url}/api/v2/guest/dashboards/${dashboardId}`,
      body.token,
    );
    const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' };
    const path = `${product.url}/api/v2/guest/metrics/${opened.body.data.metrics[0]?.metricId}/query`;
    askChart = () => askOnce(path, { method: 'POST', headers, body: JSON.stringify({ dashboardId }) });
  }, 120_000);
  afterAll(async () => {
    await stop(serving);
    await rm(folder, { recursive: true, force: true });
    await relay?.close();
    await source?.drop();
  });

  it.each(seen)(
    `${kind} with %s: answers or 503, and the process goes on`,
    // A login that is never answered takes ten seconds, and is tried twice.
    { timeout: 2 * faultTimeoutMs },
    async (damage) => {
      const before = product.output().length;
      const faults = await runDamage({ fault: `${kind} as a source`, relay, damage, endless, ask: askChart });
      expect(faults.filter((fault) => !fault.startsWith('400 {"error":{"code":"METRIC_QUERY_ERROR"'))).toEqual([]);
      const reasons = product
        .output()
        .slice(before)
        .matchAll(/"status":400,[^\n]*"reason":"([^"]*)"/g);
      expect([...reasons].map(([, reason]) => reason).filter((reason) => !isOrdinary.has(reason ?? ''))).toEqual([]);
      await expectAlive(product);
    },
  );
});

describe('the service behind a gateway', () => {
  let service: Product;
  let gateway: Product;
  let relay: Relay;
  beforeAll(async () => {
    service = await startProduct({ args: ['--only', 'service'] });
    const { hostname, port } = new URL(service.url);
    relay = await startRelay({ host: hostname === 'localhost' ? '127.0.0.1' : hostname, port: Number(port) });
    gateway = await startProduct({
      args: ['--only', 'gateway'],
      env: {
        GUESTLIST_SERVICE_URL: `http://${relay.host}:${relay.port}`,
        GUESTLIST_API_KEY: service.credentials.demoApiKey,
        GUESTLIST_HOST_JWT_SECRET: service.credentials.demoJwtSecret,
        GUESTLIST_TENANT_PER_MINUTE: '1000000',
      },
    });
    await login({ ...gateway, credentials: service.credentials }, manager('LAX'));
  }, 120_000);
  afterAll(async () => {
    for (const product of [gateway, service]) {
      await product?.stop('SIGKILL');
      await product?.remove();
    }
    await relay?.close();
  });

  it.each(seen)(
    'the service with %s: tokens or 503, and the gateway goes on',
    { timeout: faultTimeoutMs },
    async (damage) => {
      const through = { ...gateway, credentials: service.credentials };
      const faults = await runDamage({
        ...{ fault: 'HTTP of the service', relay, damage, endless: endlessOf.http },
        ask: () => askToken(through),
      });
      expect(faults).toEqual([]);
      await expectAlive(gateway);
    },
  );
});

describe('the mail server', () => {
  let mailbox: Mailbox;
  let relay: Relay;
  let folder: string;
  let product: Product;
  beforeEach(async () => {
    mailbox = await openMailbox();
    const { hostname, port } = new URL(mailbox.url);
    relay = await startRelay({ host: hostname, port: Number(port) });
    folder = await mkdtemp(join(tmpdir(), 'guestlist-mail-'));
    await writeStarter(folder, await configureMail(folder));
    product = await startProduct({
      ...{ dataDir: join(folder, 'data'), root: folder },
      env: {
        GUESTLIST_SMTP_URL: `smtp://${relay.host}:${relay.port}`,
        GUESTLIST_PUBLIC_ORIGIN: 'https://numbers.example.com',
      },
    });
  }, 120_000);
  afterEach(async () => {
    await product?.stop('SIGKILL');
    await relay?.close();
    await mailbox?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(seen)(
    'SMTP with %s: every report arrives, none is another message, and the process goes on',
    { timeout: faultTimeoutMs },
    async (damage) => {
      const signed = signedManager(product.credentials.demoJwtSecret, 'mia');
      const login = `${product.url}/embed-token`;
      const { body } = await post<{ token: string; embeds: { id: string }[] }>(login, {}, signed);
      const board = `${product.url}/api/v2/guest/dashboards/${body.embeds[0]?.id}`;
      const call = async <T>(path: string, input: object): Promise<T> => {
        const answer = await post<{ data: T }>(`${board}/schedules${path}`, input, body.token);
        expect(answer.status, answer.text).toBe(200);
        return answer.body.data;
      };
      const recurrence = { every: 'day', at: '03:00', timezone: 'UTC' };
      const ids: string[] = [];
      for (let nth = 1; nth <= 3; nth += 1) {
        relay.alter(damageOf(damage, nth, endlessOf.SMTP));
        const { id } = await call<{ id: string }>('', { name: `Report ${nth}`, format: 'csv', recurrence });
        await call('/send', { scheduleId: id });
        ids.push(id);
      }
      const historyOf = async (scheduleId: string) => {
        const path = `${board}/schedules/deliveries?scheduleId=${scheduleId}`;
        return (await get<{ data: { state: string; attempts: number }[] }>(path, body.token)).body.data;
      };
      await vi.waitFor(async () => {
        for (const id of ids) expect((await historyOf(id))[0]?.attempts).toBeGreaterThan(0);
      }, patience);
      relay.alter(null);
      const startedMs = performance.now();
      await vi.waitFor(
        async () => {
          for (const id of ids) expect((await historyOf(id)).map(({ state }) => state)).toEqual(['sent']);
        },
        { timeout: 180_000, interval: 500 },
      );
      const subjects = new Map<string, Set<string>>();
      for (const { mail } of mailbox.received) {
        const known = subjects.get(String(mail.subject)) ?? new Set();
        subjects.set(String(mail.subject), known.add(String(mail.messageId)));
      }
      // A message whose answer was lost comes once more, with the same id.
      expect([...subjects.values()].map(({ size }) => size)).toEqual(ids.map(() => 1));
      await expectAlive(product);
      const tookMs = Math.round(performance.now() - startedMs);
      writeLine({
        ...{ fault: `SMTP: ${damage}`, answers: `sent: ${ids.length}`, longestMs: 0, goodAgainMs: tookMs },
        ...{ goodAgainMaxMs: tookMs, acknowledged: ids.length, lost: 0 },
      });
    },
  );
});
