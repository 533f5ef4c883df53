/** An installation is destroyed under load, and restored elsewhere by the command line alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { placeFlights } from '../suites/flights.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { expectSame, issueAll } from './callers.js';
import { get, login, manager, post } from './guest.js';
import { type Product, runToEnd, startProduct } from './product.js';

const minutes = 60_000;
const key = { GUESTLIST_BACKUP_KEY: Buffer.alloc(32, 9).toString('base64') };

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await placeFlights(join(folder, 'demo/flights.duckdb'));
  return folder;
};

type Issued = Awaited<ReturnType<typeof issueAll>>;

/** Mints tokens until the work has ended. */
const underMints = async <T>(
  product: Product,
  { dataAppName, key: apiKey }: Issued,
  work: () => Promise<T>,
): Promise<T> => {
  let isEnded = false;
  const minting = (async () => {
    let count = 0;
    while (!isEnded) {
      const body = { dataAppName, clientId: `load-${count}` };
      const minted = await post(`${product.url}/api/v2/guest-token/create`, body, apiKey);
      expect(minted.status).toBe(200);
      count += 1;
    }
    return count;
  })();
  const done = await work().finally(() => {
    isEnded = true;
  });
  expect(await minting).toBeGreaterThan(0);
  return done;
};

/** The status with which the service answers a read of the dashboard with the token. */
const reads = async ({ url }: Product, token: string, board: string): Promise<number> =>
  (await get(`${url}/api/v2/guest/dashboards/${board}`, token)).status;

test.skipIf(!(await isPostgresThere()))(
  'a destroyed installation answers again as before, on the other backing, and what was revoked stays revoked',
  { timeout: 10 * minutes },
  async () => {
    const { url: server, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const [folder, elsewhere, back] = [await makeFolder(), await makeFolder(), await makeFolder()];
    const files = await mkdtemp(join(tmpdir(), 'guestlist-backups-'));
    onTestFinished(() => rm(files, { recursive: true, force: true }));

    const first = await startProduct({ dataDir: folder, isEmbedded: true });
    const issued = await issueAll(first);
    const { token: revoked, embeds } = await login(first, manager('SFO'));
    const board = embeds[0]?.id ?? '';
    expect(await reads(first, revoked, board)).toBe(200);
    const operator = { GUESTLIST_DATA_DIR: folder, PORT: new URL(first.url).port };
    const revoking = await runToEnd(['revoke', 'tenant', 'SFO', '--reason', 'a test'], operator);
    expect([revoking.code, revoking.output]).toEqual([0, revoking.output]);
    expect(await reads(first, revoked, board)).toBe(401);
    const one = join(files, 'one.backup');
    const backedUp = await underMints(first, issued, () => runToEnd(['backup', '--to', one], { ...operator, ...key }));
    expect([backedUp.code, backedUp.output]).toEqual([0, expect.stringContaining('was read again and is whole')]);
    await first.stop('SIGKILL');
    await rm(folder, { recursive: true });

    const there = { GUESTLIST_DATA_DIR: elsewhere, DATABASE_URL: server };
    const restored = await runToEnd(['restore', one], { ...there, ...key });
    expect([restored.code, restored.output]).toEqual([0, expect.stringContaining('The audit was verified')]);
    const second = await startProduct({ dataDir: elsewhere, env: { DATABASE_URL: server } });
    await expectSame(second, issued);
    expect(await reads(second, revoked, board)).toBe(401);
    const two = join(files, 'two.backup');
    const again = await underMints(second, issued, () => runToEnd(['backup', '--to', two], { ...there, ...key }));
    expect([again.code, again.output]).toEqual([0, again.output]);
    expect(await second.stop()).toBe(0);

    const last = await runToEnd(['restore', two], { GUESTLIST_DATA_DIR: back, ...key });
    expect([last.code, last.output]).toEqual([0, last.output]);
    const third = await startProduct({ dataDir: back, isEmbedded: true });
    await expectSame(third, issued);
    expect(await reads(third, revoked, board)).toBe(401);
    expect(await third.stop()).toBe(0);
  },
);
