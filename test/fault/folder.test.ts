/** The embedded database on a folder that fills up, or is removed: 503 and never 500, and `/readyz` names the cause. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { analyst, login, manager, session } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { askOnce, type Outcome } from './clients.js';

/** A small file system of its own; only root may make one. Says so loudly where it cannot. */
const mountSmall = async (megabytes: number): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-full-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  onTestFinished(async () => {
    if (status === 0) spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  if (status === 0) return folder;
  console.warn('NO tmpfs CAN BE MOUNTED HERE: THE TEST OF A FULL DISK IS SKIPPED');
  return undefined;
};

let users = 0;
const askToken = (product: Product): Promise<Outcome> => {
  users += 1;
  const authorization = `Bearer ${session(product, { ...analyst('LAX'), sub: `user-${users}` })}`;
  return askOnce(`${product.url}/embed-token`, { method: 'POST', headers: { authorization } });
};
const readiness = async ({ url }: Product) => {
  const { status, body } = await askOnce(`${url}/readyz`);
  return [status, JSON.parse(body)];
};

/** Until one is refused: what has its place already can still be written. */
const untilRefused = async (product: Product): Promise<Outcome> => {
  for (;;) {
    const outcome = await askToken(product);
    if (outcome.status !== 200) return outcome;
  }
};

describe('the folder of the embedded database', () => {
  it('is full: tokens get 503 with Retry-After, and readiness says no', async ({ skip }) => {
    const folder = await mountSmall(160);
    if (folder === undefined) return skip();
    const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    const product = await startProduct({ dataDir: folder, env: limits });
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    await login(product, manager('LAX'));
    expect(await readiness(product)).toEqual([200, { status: 'ready' }]);
    spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'filler')}`, 'bs=64k']);
    expect(await readiness(product)).toEqual([503, { status: 'not ready', failed: ['data-folder'] }]);
    const refused = await untilRefused(product);
    expect([refused.status, refused.retryAfter !== undefined]).toEqual([503, true]);
  });

  it('is removed while the process runs: readiness says no', async () => {
    const product = await startProduct();
    onTestFinished(() => product.remove());
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
    await rm(product.dataDir, { recursive: true });
    expect(await readiness(product)).toEqual([503, { status: 'not ready', failed: ['data-folder'] }]);
    await writeFile(product.dataDir, '');
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(503);
  });
});
