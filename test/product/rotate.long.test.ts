/** The encryption key of an installation is rotated while its users log in and read, and its service token. */
import { createHash, randomBytes } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { placeFlights } from '../suites/flights.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { get, login, manager, openDashboard } from './guest.js';
import { makeFolder } from './installations.js';
import { type Product, runToEnd, startProduct } from './product.js';

const minutes = 60_000;

/** Users log in and read at whichever process serves, until the work has ended. Returns how many did. */
const underLoad = async (serving: () => Product, work: () => Promise<void>): Promise<number> => {
  let isEnded = false;
  let count = 0;
  const reading = (async () => {
    while (!isEnded) {
      const product = serving();
      // Throws for anything but an answer.
      const { token, embeds } = await login(product, manager('SFO'));
      await openDashboard(product, token, embeds[0]?.id ?? '');
      count += 1;
    }
  })();
  await Promise.all([
    work().finally(() => {
      isEnded = true;
    }),
    reading,
  ]);
  return count;
};

test.skipIf(!(await isPostgresThere()))(
  'the encryption key and the service token are rotated, and no request fails',
  { timeout: 15 * minutes },
  async () => {
    const { url: database, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const files = await makeFolder();
    const first = await makeFolder();
    await placeFlights(join(first, 'demo/flights.duckdb'));
    let ring = randomBytes(32).toString('base64');
    const env = () => ({ DATABASE_URL: database, GUESTLIST_ENCRYPTION_KEY: ring });
    let product = await startProduct({ dataDir: first, env: env() });
    onTestFinished(async () => void (await product.stop()));

    /** The next process begins to serve before the last one ends, as a rolling update does. */
    const roll = async (): Promise<void> => {
      const folder = await makeFolder();
      await cp(join(product.dataDir, 'credentials.json'), join(folder, 'credentials.json'));
      await placeFlights(join(folder, 'demo/flights.duckdb'));
      const before = product;
      product = await startProduct({ dataDir: folder, env: env() });
      expect(await before.stop()).toBe(0);
    };
    const operator = () => ({ ...env(), GUESTLIST_DATA_DIR: product.dataDir, PORT: new URL(product.url).port });
    const rotate = async (...args: readonly string[]): Promise<string> => {
      const { code, output } = await runToEnd(['rotate', ...args], operator());
      expect([code, output]).toEqual([0, output]);
      return output;
    };

    const served = await underLoad(
      () => product,
      async () => {
        for (const [name, ...args] of [['one', '--begin'], ['two'], ['three']] as const) {
          const file = join(files, name);
          await rotate(...args, '--to', file);
          ring = (await readFile(file, 'utf8')).trim();
          await roll();
        }
      },
    );
    expect(served).toBeGreaterThan(0);
    expect(ring).not.toContain(',');

    const before = product.credentials.serviceToken;
    const tokens = join(files, 'tokens');
    expect(await rotate('--tokens', tokens)).toContain('stay valid for 7 days');
    const after = /GUESTLIST_SERVICE_TOKEN=(\S+)/.exec(await readFile(tokens, 'utf8'))?.[1] ?? '';
    expect(createHash('sha256').update(after).digest('hex')).not.toBe(
      createHash('sha256').update(before).digest('hex'),
    );
    for (const token of [before, after]) expect((await get(`${product.url}/api/v2/data-app`, token)).status).toBe(200);
    expect(await rotate()).toMatch(/encryption key [0-9a-f]{8} .* 0 days/);
    await roll();
    expect((await get(`${product.url}/api/v2/data-app`, after)).status).toBe(200);
  },
);
