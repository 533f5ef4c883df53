/**
 * Two products at one service: the first runs the service with its own gateway, the second is a gateway alone, as one
 * that a host mounts. What one of them revokes, the other one never goes on serving.
 */
import { hash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Product, startProduct } from './product.js';
import { gatewayToken, hostSecret, sessionOf } from './replicas.js';

let folder: string;
let whole: Product;
let mounted: Product;

/** A configuration with a policy of its own, which the test changes. */
const configure = async (name: string): Promise<string> => {
  const policies = join(folder, `${name}.policy.yaml`);
  await writeFile(policies, await readFile('config/policies/flights.yaml', 'utf8'));
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, JSON.stringify({ gateway: { policies, upstream: { timeoutMs: 60_000 } } }));
  return file;
};
const envOf = async (name: string) => ({
  GUESTLIST_CONFIG: await configure(name),
  GUESTLIST_HOST_JWT_SECRET: hostSecret,
  GUESTLIST_GATEWAY_TOKEN: gatewayToken,
  GUESTLIST_LOG_LEVEL: 'warn',
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-two-'));
  // The demo has a policy that nobody changes, so the product goes on with the demo's data and a policy of its own.
  const demo = await startProduct();
  await demo.stop();
  const { dataDir, credentials } = demo;
  const key = { GUESTLIST_API_KEY: credentials.demoApiKey };
  whole = await startProduct({ dataDir, env: { ...(await envOf('whole')), ...key } });
  const at = { ...key, GUESTLIST_SERVICE_URL: whole.url };
  mounted = await startProduct({ env: { ...(await envOf('mounted')), ...at }, args: ['--only', 'gateway'] });
}, 120_000);
afterAll(async () => {
  for (const product of [mounted, whole]) {
    await product.stop();
    await product.remove();
  }
  await rm(folder, { recursive: true, force: true });
});

const askFor = async ({ url }: Product, session: string, body: object = {}): Promise<string> => {
  const answer = await fetch(`${url}/embed-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { token, error } = (await answer.json()) as { token?: string; error?: unknown };
  if (token === undefined) throw new Error(JSON.stringify(error));
  return token;
};
/** The status with which the service answers a read with the token. */
const reads = async (org: string, token: string): Promise<number> =>
  (
    await fetch(`${whole.url}/api/v2/guest/dashboards/delays--${org}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status;
const run = async ({ url }: Product, command: string, input: object): Promise<unknown> => {
  const answer = await fetch(`${url}/gateway/admin/${command}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayToken}` },
    body: JSON.stringify(input),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: unknown }).data;
};
/** Takes a permission away from analysts, so that their tokens grant too much. */
const narrow = async (name: string, product: Product): Promise<void> => {
  const file = join(folder, `${name}.policy.yaml`);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('permissions: [isShowDashboardName]', 'permissions: []'));
  expect(await run(product, 'policy-reload', {})).toMatchObject({ outcome: 'changed' });
};

test('a revocation at one gateway: the other one serves the dead token to nobody who says that it is dead', async () => {
  const session = sessionOf({ sub: 'ann', org_id: 'LAX' });
  const token = await askFor(mounted, session);
  expect(await reads('LAX', token)).toBe(200);
  await run(whole, 'revoke', { by: 'tenant', tenant: 'LAX', reason: 'a test' });
  expect(await reads('LAX', token)).toBe(401);
  const next = await askFor(mounted, session, { replaces: hash('sha256', token, 'hex') });
  expect([next === token, await reads('LAX', next)]).toEqual([false, 200]);
  expect(await askFor(mounted, session)).toBe(next);
});

test('a changed policy ends the tokens of its own gateway, whichever of the two it is, and leaves the other one’s', async () => {
  const session = sessionOf({ sub: 'bob', org_id: 'SFO' });
  const both = async () => [await askFor(whole, session), await askFor(mounted, session)] as const;
  const [own, other] = await both();
  await narrow('whole', whole);
  expect([await reads('SFO', own), await reads('SFO', other)]).toEqual([401, 200]);
  const [renewed, kept] = await both();
  expect([await reads('SFO', renewed), kept]).toEqual([200, other]);
  await narrow('mounted', mounted);
  expect([await reads('SFO', renewed), await reads('SFO', other)]).toEqual([200, 401]);
  expect(await reads('SFO', await askFor(mounted, session))).toBe(200);
});
