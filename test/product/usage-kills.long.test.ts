/** The product is killed under load, again and again: each count of an answer is stored, once. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRandom } from '../fault/random.js';
import { createMigratedDatabase } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { get, login, manager, openDashboard, post } from './guest.js';
import { runMove } from './moving.js';
import { type Product, startProduct } from './product.js';

const kills = 5;
const counted = ['mints', 'sourceQueries', 'exports'] as const;
type Counts = Record<(typeof counted)[number], number>;
type Told = { readonly data: { readonly rows: readonly Counts[] } };

const backings = (await isPostgresThere()) ? ['embedded', 'postgres'] : ['embedded'];

/** The first day of each question is its own, so that no answer is kept. */
const dayOf = (number: number): string => new Date(Date.UTC(1800, 0, 1 + number)).toISOString().slice(0, 10);

test.each(backings)(
  'a kill loses no count of an answer, and repeats none: %s',
  { timeout: 600_000 },
  async (backing) => {
    const random = createRandom(7);
    const database = backing === 'postgres' ? await createMigratedDatabase() : undefined;
    onTestFinished(async () => database?.drop());
    const how = database === undefined ? { isEmbedded: true } : { env: { DATABASE_URL: database.url } };
    let product: Product = await startProduct(how);
    onTestFinished(() => product.remove());
    const answered: Counts = { mints: 0, sourceQueries: 0, exports: 0 };
    /** Asked, and cut off by a kill. */
    const open: Counts = { mints: 0, sourceQueries: 0, exports: 0 };
    let questions = 0;
    const once = async (
      name: keyof Counts,
      request: () => Promise<{ readonly status: number; readonly text: string }>,
    ) => {
      open[name] += 1;
      const { status, text } = await request();
      expect([status, text]).toEqual([200, text]);
      open[name] -= 1;
      answered[name] += 1;
    };
    const loadUntilKilled = async (token: string, dashboardId: string, metricId: string) => {
      const { url, credentials } = product;
      const listed = await get<{ data: { name: string }[] }>(`${url}/api/v2/data-app`, credentials.serviceToken);
      const dataAppName = listed.body.data[0]?.name;
      const metric = (way: string) => {
        questions += 1;
        const dashboardFilter = { Date: { startDate: dayOf(questions), endDate: '2100-01-01' } };
        return post(`${url}/api/v2/guest/metrics/${metricId}/${way}`, { dashboardId, dashboardFilter }, token);
      };
      const mint = () =>
        post(
          `${url}/api/v2/guest-token/create`,
          { dataAppName, clientId: `load-${questions}`, params: {} },
          credentials.demoApiKey,
        );
      const work = [
        () => once('mints', mint),
        () => once('sourceQueries', () => metric('query')),
        () => once('exports', () => metric('csv')),
      ];
      const underLoad = async (one: () => Promise<void>): Promise<void> => {
        while (product.isRunning()) await one();
      };
      const loading = Promise.allSettled([...work, ...work].map(underLoad));
      const before = { ...answered };
      await vi.waitFor(
        () => expect(counted.map((name) => answered[name] - before[name] > 2)).toEqual(counted.map(() => true)),
        { timeout: 60_000, interval: 20 },
      );
      await wait(random() * 900);
      await product.stop('SIGKILL');
      const failed = (await loading).flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      // A request that the kill cut off fails as one to a server that is not there.
      expect(failed.filter((error) => !(error instanceof TypeError))).toEqual([]);
    };
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill > 0) product = await startProduct({ ...how, dataDir: product.dataDir });
      const { token, embeds } = await login(product, manager('LAX'));
      answered.mints += 1;
      const dashboardId = embeds[0]?.id ?? '';
      const { metrics } = await openDashboard(product, token, dashboardId);
      await loadUntilKilled(token, dashboardId, metrics[0]?.metricId ?? '');
    }
    product = await startProduct({ ...how, dataDir: product.dataDir });
    const files = join(product.dataDir, 'usage');
    await vi.waitFor(async () => expect(await readdir(files)).toEqual([]), { timeout: 240_000, interval: 1_000 });
    const { serviceToken } = product.credentials;
    const { body } = await get<Told>(`${product.url}/api/v2/usage?from=2000-01&to=2100-01`, serviceToken);
    const [sums] = body.data.rows;
    expect(answered.mints).toBeGreaterThan(20);
    for (const name of ['mints', 'exports'] as const) {
      expect(sums?.[name]).toBeGreaterThanOrEqual(answered[name]);
      expect(sums?.[name]).toBeLessThanOrEqual(answered[name] + open[name]);
    }
    // A file asks the database too.
    const asked = answered.sourceQueries + answered.exports;
    expect(sums?.sourceQueries).toBeGreaterThanOrEqual(asked);
    expect(await product.stop()).toBe(0);
    expect(await readdir(files)).toEqual([]);
  },
);

test.skipIf(!backings.includes('postgres'))(
  'what a killed process left goes along when the metadata moves to PostgreSQL',
  { timeout: 600_000 },
  async () => {
    const { url, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const killed = await startProduct({ isEmbedded: true });
    onTestFinished(killed.remove);
    const files = join(killed.dataDir, 'usage');
    // Killed within the second, before the database has the mint.
    await login(killed, manager('LAX'));
    await killed.stop('SIGKILL');
    expect(await readdir(files)).toHaveLength(1);
    expect(await runMove({ folder: killed.dataDir, from: killed.dataDir, to: url })).toMatchObject({ code: 0 });
    const moved = await startProduct({ env: { DATABASE_URL: url }, dataDir: killed.dataDir });
    onTestFinished(async () => void (await moved.stop()));
    await vi.waitFor(async () => expect(await readdir(files)).toEqual([]), { timeout: 240_000, interval: 1_000 });
    const { serviceToken } = moved.credentials;
    const { body } = await get<Told>(`${moved.url}/api/v2/usage?from=2000-01&to=2100-01`, serviceToken);
    expect(body.data.rows).toMatchObject([{ mints: 1 }]);
  },
);
