/**
 * A tenant's life, with the hook sender of docs/how-to/tenant-events.md, on PostgreSQL and Redis; after the deletion,
 * both are searched for the tenant.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { redisArgs } from '../suites/redis.js';
import { type EmbedToken, type Failure, get, login, post, session } from './guest.js';
import { type Product, startProduct } from './product.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) console.warn('SKIPPED: no redis-server on PATH, so the scan after a deletion is not made');
it.runIf(process.env.CI === 'true')('redis-server is there where CI runs', () => expect(hasRedis).toBe(true));

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : 0;
};

const startRedis = async () => {
  const port = await freePort();
  const child = spawn('redis-server', redisArgs(port), { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break;
  return { url: `redis://127.0.0.1:${port}`, end: () => child.kill('SIGKILL') };
};

const readValue = async (cache: Redis, key: string): Promise<unknown> => {
  const kind = await cache.type(key);
  if (kind === 'string') return cache.get(key);
  if (kind === 'hash') return cache.hgetall(key);
  if (kind === 'list') return cache.lrange(key, 0, -1);
  if (kind === 'set') return cache.smembers(key);
  if (kind === 'zset') return cache.zrange(key, 0, -1);
  if (kind === 'stream') return cache.xrange(key, '-', '+');
  throw new Error(`the scan cannot read a ${kind}`);
};

describe.runIf(hasRedis && (await isPostgresThere()))("a tenant's life", () => {
  const hookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const clientId = `unmistakable-${randomUUID()}`;
  const users = ['first', 'second'].map((name) => `${name}-person-${randomUUID()}`);
  const claimsOf = (sub = users[0]) => ({ sub, org_id: clientId, roles: ['manager'] });
  let database: OwnDatabase;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let product: Product;

  beforeAll(async () => {
    [database, redis] = await Promise.all([createOwnDatabase(), startRedis()]);
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, GUESTLIST_HOOK_SECRETS: hookSecret };
    product = await startProduct({ env });
  });
  afterAll(async () => {
    await product.stop();
    await product.remove();
    redis.end();
    await database.drop();
  });

  const environment = () => ({ ...process.env, GUESTLIST_URL: product.url, GUESTLIST_HOOK_SECRET: hookSecret });
  /** Runs the sender exactly as docs/how-to/tenant-events.md prints it. */
  const byNode = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const page = await readFile(`${root}/docs/how-to/tenant-events.md`, 'utf8');
    const [, code] = /```js\n(import \{ Webhook \}[\s\S]*?)```/.exec(page) ?? [];
    if (code === undefined) throw new Error('docs/how-to/tenant-events.md shows no sender');
    const call = `console.log(JSON.stringify(await sendHook(...process.argv.slice(1))))`;
    const node = ['--input-type=module', '-e', `${code}\n${call}`, ...args];
    return JSON.parse((await run(process.execPath, node, { cwd: root, env: environment() })).stdout);
  };
  const byCurl = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await run('bash', ['docs/how-to/send-hook.sh', ...args], { cwd: root, env: environment() });
    return JSON.parse(stdout).data;
  };
  const dashboards = async (): Promise<readonly string[]> => {
    const { body } = await get<{ data: { embedId: string }[] }>(
      `${product.url}/api/v2/data-app/embeds`,
      product.credentials.demoApiKey,
    );
    return body.data.map(({ embedId }) => embedId).filter((id) => id.includes(clientId));
  };
  /** Returns everything stored: each row of each table, each key and value. */
  const scan = async (): Promise<string> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const cache = new Redis(redis.url);
    try {
      const tables = await client.query<{ name: string }>(
        `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
          where table_schema not in ('pg_catalog', 'information_schema')`,
      );
      const texts: string[] = [];
      for (const { name } of tables.rows) {
        const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} as t`);
        texts.push(name, ...rows.map(({ row }) => row));
      }
      for (const key of await cache.keys('*')) texts.push(key, JSON.stringify(await readValue(cache, key)));
      return texts.join('\n');
    } finally {
      await client.end();
      cache.disconnect();
    }
  };

  it('begins with its dashboards, goes through a suspension, and ends without a trace', async () => {
    const signedUp = await byNode('tenant-signed-up', clientId, randomUUID());
    expect(signedUp).toEqual({ state: 'active', isApplied: true, provisioned: 1 });
    expect(await dashboards()).toEqual([`delays--${clientId}`]);
    const tokens: EmbedToken[] = [];
    for (const user of users) tokens.push(await login(product, claimsOf(user)));
    expect(await byNode('tenant-suspended', clientId, randomUUID())).toEqual({ state: 'suspended', isApplied: true });
    const refused = await post<Failure>(`${product.url}/embed-token`, {}, session(product, claimsOf()));
    expect([refused.status, refused.body.error.code]).toEqual([403, 'TENANT_SUSPENDED']);
    await byNode('tenant-resumed', clientId, randomUUID());
    for (const user of users) tokens.push(await login(product, claimsOf(user)));
    const before = await scan();
    expect([clientId, ...users].map((name) => before.includes(name))).toEqual([true, true, true]);
    expect(before).toContain(`guestlist:token:${clientId}`);

    const { text } = await get(`${product.url}/metrics`);
    for (const line of [
      'answers_total{outcome="minted"} 4',
      'answers_total{outcome="TENANT_SUSPENDED"} 1',
      'policy_refused 0',
    ])
      expect(text).toContain(`guestlist_gateway_${line}\n`);
    for (const name of [clientId, ...users]) expect(text).not.toContain(name);

    const deleted = await byNode('tenant-deleted', clientId, randomUUID());
    expect(deleted).toMatchObject({ state: 'deleted', isApplied: true, erasure: { isComplete: true } });
    const after = await scan();
    for (const name of [clientId, ...users]) expect(after).not.toContain(name);
    expect(after).toContain('"analytics service"');
    expect(await dashboards()).toEqual([]);
    for (const { token } of tokens) {
      const { status } = await get(`${product.url}/api/v2/guest/dashboards/delays--${clientId}`, token);
      expect(status).toBe(401);
    }
  });

  /** Starts a gateway with the same service, database and cache, and a policy that looks the tenant up at the host. */
  const startLookingUp = async (lookupUrl: string, folder: string): Promise<Product> => {
    const flights = await readFile(`${root}/config/policies/flights.yaml`, 'utf8');
    const tenant = { key: 'claims.org_id', http: { url: lookupUrl, secretVariable: 'LOOKUP_SECRET' } };
    const policy = flights.replace(/^ {2}tenant: .*$/m, `  tenant: ${JSON.stringify(tenant)}`);
    expect(policy).toContain(lookupUrl);
    await writeFile(join(folder, 'policy.yaml'), policy);
    const gateway = { policies: './policy.yaml', policyMayRead: { lookups: [tenant.http] } };
    const settings = { gateway: { ...gateway, session: { issuer: 'guestlist-demo' } } };
    await writeFile(join(folder, 'guestlist.yaml'), JSON.stringify(settings));
    return startProduct({
      args: ['--only', 'gateway'],
      env: {
        GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'),
        GUESTLIST_HOST_JWT_SECRET: product.credentials.demoJwtSecret,
        GUESTLIST_SERVICE_URL: product.url,
        GUESTLIST_API_KEY: product.credentials.demoApiKey,
        LOOKUP_SECRET: hookSecret,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
      },
    });
  };

  it('ends without a trace where the tenant was looked up at the host, and revocations of it are still owed', async () => {
    const [tenant, organization, person] = ['tenant', 'organization', 'person'].map(
      (name) => `${name}-${randomUUID()}`,
    );
    if (tenant === undefined || person === undefined) throw new Error('no names');
    const host = createHttpServer((_, response) => void response.end(JSON.stringify({ tenants: [tenant] })));
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-lookup-'));
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/tenants`;
    const front = await startLookingUp(url, folder);
    try {
      const { credentials } = product;
      const claims = { sub: person, org_id: organization, roles: ['manager'] };
      expect((await login({ ...front, credentials }, claims)).embeds.map(({ id }) => id)).toContain(
        `delays--${tenant}`,
      );
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      for (const target of [
        { by: 'tenant', clientId: tenant },
        { by: 'user', userIdentifier: person, clientId: tenant },
      ]) {
        await client.query(
          `insert into guestlist_gateway.pending_revocations (id, target, attempt_at, created_at)
            values ($1, $2, now() + interval '1 day', now())`,
          [randomUUID(), JSON.stringify(target)],
        );
      }
      await client.end();
      const before = await scan();
      expect([tenant, person].map((name) => before.includes(name))).toEqual([true, true]);
      expect(await byNode('tenant-deleted', tenant, randomUUID())).toMatchObject({ erasure: { isComplete: true } });
      const after = await scan();
      for (const name of [tenant, organization, person]) expect(after).not.toContain(name);
      const refused = await post<Failure>(`${front.url}/embed-token`, {}, session(product, claims));
      expect([refused.status, refused.body.error.code]).toEqual([403, 'TENANT_SUSPENDED']);
    } finally {
      await front.stop();
      await front.remove();
      host.close();
      await rm(folder, { recursive: true });
    }
  });

  it("a tenant's life can be told by curl and openssl, as docs/how-to/send-hook.sh has it", async () => {
    const other = `other-${randomUUID()}`;
    expect(await byCurl('tenant-signed-up', other)).toMatchObject({ state: 'active', provisioned: 1 });
    expect(await byCurl('tenant-deleted', other)).toMatchObject({ state: 'deleted', erasure: { isComplete: true } });
    await expect(byCurl('tenant-elsewhere', other)).rejects.toThrow('404');
  });
});
