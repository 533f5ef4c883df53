/** `guestlist init` on each database. */
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { customerId, northwindStatements } from '../fixtures/northwind-database.js';
import { jwkOf, rsaPair } from '../gateway/signers.js';
import { request } from '../product/guest.js';
import {
  clickHouseServer,
  createOwnClickHouseDatabase,
  isClickHouseThere,
  type OwnClickHouseDatabase,
  onClickHouse,
} from '../suites/clickhouse.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { begin, initSuite, kinds, openWith, origin, readMetrics, run, stop, urlOf } from './init-suite.js';

for (const kind of kinds.filter(({ isThere }) => isThere)) initSuite(kind);

/** ClickHouse has no foreign keys, and its keys are not unique: relationships are proposed by name alone. */
describe.runIf(await isClickHouseThere())('on ClickHouse', () => {
  let source: OwnClickHouseDatabase;
  let folder: string;
  beforeAll(async () => {
    source = await createOwnClickHouseDatabase();
    const tables = [
      'customers (customer_id String, company_name String) ENGINE = MergeTree ORDER BY customer_id',
      'orders (order_id Int32, customer_id String, order_date Date, freight Float64) ENGINE = MergeTree ORDER BY order_id',
      'secrets (id Int32, value String) ENGINE = MergeTree ORDER BY id',
    ];
    for (const table of tables) await onClickHouse(`CREATE TABLE ${source.name}.${table}`);
    await onClickHouse(`INSERT INTO ${source.name}.customers VALUES ('A', 'Anna'), ('B', 'Bob')`);
    const made = "number, if(number < 60, 'A', 'B'), toDate('2024-01-01') + number, number / 4";
    await onClickHouse(`INSERT INTO ${source.name}.orders SELECT ${made} FROM numbers(100)`);
    folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await source.drop();
  });

  test('init sets up a dashboard in which each tenant sees its own rows, and leaves out tables without a tenant', async () => {
    const { host, port, username, password } = clickHouseServer;
    const url = `clickhouse://${username}:${password}@${host}:${port}/${source.name}`;
    const { code, output } = await run(folder, 'init', '--yes', '--database', url, '--origin', origin);
    expect([code, output]).toEqual([0, expect.stringMatching(/secrets +LEFT OUT: [\s\S]*[1-9] charts/)]);
    expect(output).not.toContain(password);
    const serving = begin(folder, ['serve']);
    try {
      const at = await urlOf(serving);
      const counts = [];
      for (const tenant of ['A', 'B', 'C']) {
        const metrics = await readMetrics(folder, at, { tenant_id: tenant });
        expect(metrics.length).toBeGreaterThan(1);
        counts.push(metrics[0]?.[1].map((row) => Object.values(row)));
      }
      expect(counts).toEqual([[[60]], [[40]], [[0]]]);
    } finally {
      await stop(serving);
    }
  });
});

const webhookSecret = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString('base64')}`;

/** Edits the configuration that init wrote. */
const configure = async (folder: string, edit: (gateway: Record<string, unknown>) => void): Promise<void> => {
  const file = join(folder, 'guestlist.yaml');
  const settings = parse(await readFile(file, 'utf8'));
  edit(settings.gateway);
  await writeFile(file, stringify(settings));
};

const deliver = (url: string, provider: string, body: string, headers: Record<string, string>) =>
  request<{ data: { provisioned?: number } }>(`${url}/hooks/provider/${provider}`, { method: 'POST', body, headers });

/** Events of Stripe happen in whole seconds, so each event happens a second after the one before. */
let happenedSeconds = Math.floor(Date.now() / 1000) - 3_600;
const nextMoment = (): number => {
  happenedSeconds += 1;
  return happenedSeconds;
};

const sendClerk = (url: string, secret: string, event: object) => {
  const [id, now] = [`msg_${randomUUID()}`, new Date()];
  const body = JSON.stringify({ ...event, object: 'event', timestamp: nextMoment() * 1000, instance_id: 'ins_1' });
  return deliver(url, 'clerk', body, {
    'svix-id': id,
    'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
    'svix-signature': new Webhook(secret).sign(id, now, body),
  });
};

const sendStripe = (url: string, secret: string, org: string, state: string) => {
  const at = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    ...{ id: `evt_${randomUUID()}`, object: 'event', type: 'customer.subscription.updated', created: nextMoment() },
    data: { object: { id: 'sub_1', object: 'subscription', status: state, metadata: { org } } },
  });
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return deliver(url, 'billing', body, { 'stripe-signature': `t=${at},v1=${signature}` });
};

/** The example of an app with opaque sessions, with a login and a logout. It prints its port. */
const hostProgram = (example: string): string => `
import { app } from ${JSON.stringify(example)};
app.post('/login/:company', ({ session, params }, response) => {
  session.user = { id: 'ann', company: params.company, roles: [], loggedInAt: 1700000000 };
  response.sendStatus(204);
});
app.post('/logout', ({ session }, response) => session.destroy(() => response.sendStatus(204)));
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/** As a new user would: an empty folder, a database, and the sessions of a login provider. */
describe('with the sessions of a login provider', () => {
  test('init --login clerk sets up a dashboard that a session of Clerk opens, and shows its own rows only', async () => {
    const source = await mkdtemp(join(tmpdir(), 'guestlist-init-source-'));
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    const pair = rsaPair();
    const keys = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: [jwkOf(pair, { kid: 'k1', alg: 'RS256' })] }));
    });
    keys.listen(0, '127.0.0.1');
    await once(keys, 'listening');
    const { port } = keys.address() as AddressInfo;
    let serving: ReturnType<typeof begin> | undefined;
    try {
      await runOnFile(join(source, 'northwind.duckdb'), northwindStatements);
      const issuer = 'https://clerk.example.com';
      const login = ['--login', 'clerk', '--issuer', issuer, '--jwks-url', `http://127.0.0.1:${port}/keys`];
      const database = ['--database', join(source, 'northwind.duckdb'), '--shared', 'products,categories'];
      const { code, output } = await run(folder, 'init', '--yes', ...database, ...login, '--origin', origin);
      expect([code, output]).toEqual([0, expect.stringContaining('session token of Clerk')]);
      serving = begin(folder, ['serve']);
      const url = await urlOf(serving);
      const open = (claims: object, by = pair) => {
        const session = jwt.sign({ sub: 'user_1', iss: issuer, ...claims }, by.privateKey, {
          ...{ algorithm: 'RS256', keyid: 'k1', expiresIn: 60 },
        });
        return openWith(url, session);
      };
      const own = await open({ v: 2, o: { id: customerId(0), rol: 'admin', slg: 'acme' } });
      expect([own.status, own.body.embeds?.map(({ id }) => id)]).toEqual([200, [`overview--${customerId(0)}`]]);
      const old = await open({ org_id: customerId(7), org_role: 'org:member' });
      expect(old.body.embeds?.map(({ id }) => id)).toEqual([`overview--${customerId(7)}`]);
      expect((await open({ v: 2 })).status).toBe(403);
      expect((await open({ v: 2, o: { id: customerId(0), rol: 'admin' } }, rsaPair())).status).toBe(401);
      await stop(serving);

      // The webhooks of the login and of the billing provider: lines of YAML, and two secrets.
      const secrets = { clerk: webhookSecret(7), stripe: 'whsec_of_the_billing_provider' };
      await configure(folder, (gateway) => {
        gateway.hooks = {
          providers: {
            clerk: { kind: 'clerk', secretVariable: 'CLERK_WEBHOOK_SECRET' },
            billing: {
              ...{ kind: 'stripe', secretVariable: 'STRIPE_WEBHOOK_SECRET' },
              claims: { org_id: 'event.data.object.metadata.org' },
            },
          },
        };
      });
      await appendFile(
        join(folder, 'guestlist.env'),
        `CLERK_WEBHOOK_SECRET=${secrets.clerk}\nSTRIPE_WEBHOOK_SECRET=${secrets.stripe}\n`,
      );
      serving = begin(folder, ['serve']);
      const again = await urlOf(serving);
      const org = customerId(3);
      const status = async () => {
        const claims = { sub: 'user_3', iss: issuer, v: 2, o: { id: org, rol: 'admin' } };
        const options = { algorithm: 'RS256' as const, keyid: 'k1', expiresIn: 60 };
        const { status: answered, body } = await openWith(again, jwt.sign(claims, pair.privateKey, options));
        return [answered, body.embeds?.map(({ id }) => id)];
      };
      const byClerk = (type: string) =>
        sendClerk(again, secrets.clerk, { type, data: { id: org, object: 'organization' } });
      const byStripe = (state: string) => sendStripe(again, secrets.stripe, org, state);
      const granted = [200, [`overview--${org}`]];
      expect(await byClerk('organization.created')).toMatchObject({ status: 200, body: { data: { provisioned: 1 } } });
      expect(await status()).toEqual(granted);
      expect((await byStripe('unpaid')).status).toBe(200);
      expect(await status()).toEqual([403, undefined]);
      expect((await byStripe('active')).status).toBe(200);
      expect(await status()).toEqual(granted);
      expect(
        (await sendClerk(again, webhookSecret(8), { type: 'organization.deleted', data: { id: org } })).status,
      ).toBe(401);
      expect(await status()).toEqual(granted);
      expect((await byClerk('organization.deleted')).status).toBe(200);
      expect(await status()).toEqual([403, undefined]);
    } finally {
      await stop(serving);
      keys.close();
      for (const made of [folder, source]) await rm(made, { recursive: true, force: true });
    }
  });

  test('the opaque cookie of an Express app in another process opens the dashboard, until its user logs out', async () => {
    const source = await mkdtemp(join(tmpdir(), 'guestlist-init-source-'));
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    const secret = webhookSecret(9);
    const example = new URL('../../examples/opaque-session/express.mjs', import.meta.url).href;
    const host = spawn(process.execPath, ['--input-type=module', '--eval', hostProgram(example)], {
      env: { PATH: process.env.PATH ?? '', SESSION_SECRET: 'a secret of the app', ANALYTICS_SESSION_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let serving: ReturnType<typeof begin> | undefined;
    try {
      const [listening] = await once(host.stdout, 'data');
      const app = `http://127.0.0.1:${String(listening).trim()}`;
      await runOnFile(join(source, 'northwind.duckdb'), northwindStatements);
      const database = ['--database', join(source, 'northwind.duckdb'), '--shared', 'products,categories'];
      const { code } = await run(folder, 'init', '--yes', ...database, '--claim', 'org_id', '--origin', origin);
      expect(code).toBe(0);
      await configure(folder, (gateway) => {
        const ask = {
          url: `${app}/analytics-session`,
          forward: ['app_session'],
          secretVariable: 'ASK_SECRET',
          cacheSeconds: 0,
        };
        gateway.session = { issuers: [{ issuer: 'our-app', ask }] };
      });
      await appendFile(join(folder, 'guestlist.env'), `ASK_SECRET=${secret}\n`);
      const login = await fetch(`${app}/login/${customerId(0)}`, { method: 'POST' });
      const [cookie = ''] = (login.headers.getSetCookie()[0] ?? '').split(';');
      const checked = await run(
        folder,
        'session',
        'check',
        '--ask',
        `${app}/analytics-session`,
        '--secret-variable',
        'ASK_SECRET',
        '--cookie',
        cookie,
      );
      expect([checked.code, checked.output]).toEqual([0, expect.stringContaining(customerId(0))]);
      serving = begin(folder, ['serve']);
      const url = await urlOf(serving);
      const open = (value: string) =>
        request<{ embeds: { id: string }[] }>(`${url}/embed-token`, {
          method: 'POST',
          headers: { cookie: value, origin },
        });
      const own = await open(cookie);
      expect([own.status, own.body.embeds?.map(({ id }) => id)]).toEqual([200, [`overview--${customerId(0)}`]]);
      expect((await open('app_session=s%3Aunknown')).status).toBe(401);
      await fetch(`${app}/logout`, { method: 'POST', headers: { cookie } });
      expect((await open(cookie)).status).toBe(401);
      host.kill();
      await once(host, 'close');
      expect((await open(cookie)).status).toBe(503);
    } finally {
      host.kill();
      await stop(serving);
      for (const made of [folder, source]) await rm(made, { recursive: true, force: true });
    }
  });
});
