/** Checks of `/readyz` beside the databases: the service accepts the API key, and the data folder accepts writes. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { analyst, login, manager, session } from '../product/guest.js';
import { type Product, type StartOptions, startProduct } from '../product/product.js';
import { makeReadOnly } from '../suites/read-only-folder.js';
import { askOnce } from './clients.js';

const started = async (options: StartOptions = {}): Promise<Product> => {
  const product = await startProduct({ isEmbedded: true, ...options });
  onTestFinished(product.remove);
  onTestFinished(async () => void (await product.stop('SIGKILL')));
  return product;
};
const readiness = async ({ url }: Product) => {
  const { status, body } = await askOnce(`${url}/readyz`);
  return [status, JSON.parse(body)];
};

it('a gateway is ready only while the service accepts its API key', async () => {
  const service = await started({ args: ['--only', 'service'] });
  const gatewayWith = (apiKey: string) =>
    started({
      args: ['--only', 'gateway'],
      env: {
        GUESTLIST_SERVICE_URL: service.url,
        GUESTLIST_API_KEY: apiKey,
        GUESTLIST_HOST_JWT_SECRET: 'a'.repeat(48),
      },
    });
  const [refused, taken] = await Promise.all([
    gatewayWith('7e57ab1e-0000-4000-8000-000000000000'),
    gatewayWith(service.credentials.demoApiKey),
  ]);
  const notReady = [503, { status: 'not ready', failed: ['api-key'] }];
  // While the service is slow to answer, the key may be good, and the gateway is ready.
  await vi.waitFor(async () => expect(await readiness(refused)).toMatchObject(notReady), { timeout: 60_000 });
  expect(await readiness(taken)).toEqual([200, { status: 'ready' }]);
});

it('a data folder becomes read-only: not ready, tokens get an answer or 503, never 500; later it serves again', async ({
  skip,
}) => {
  const product = await started({ env: { GUESTLIST_TENANT_PER_MINUTE: '1000000' } });
  await login(product, manager('LAX'));
  const { dataDir } = product;
  const undo = makeReadOnly(dataDir);
  if (undo === undefined) return skip();
  onTestFinished(undo);
  // A write of the embedded database may have failed already, and is in the list then too.
  const failed = expect.arrayContaining(['data-folder']);
  expect(await readiness(product)).toEqual([503, { status: 'not ready', failed }]);
  const statuses: number[] = [];
  for (const user of Array.from({ length: 30 }, (_, index) => index)) {
    const headers = { authorization: `Bearer ${session(product, { ...analyst(`T${user}`), sub: `user-${user}` })}` };
    const { status, retryAfter } = await askOnce(`${product.url}/embed-token`, { method: 'POST', headers });
    expect(status === 200 || retryAfter !== undefined).toBe(true);
    statuses.push(status);
  }
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  undo();
  await vi.waitFor(() => login(product, analyst('ATL')), { timeout: 30_000, interval: 100 });
  expect(await readiness(product)).toEqual([200, { status: 'ready' }]);
});
