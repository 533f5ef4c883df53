/** Encryption keys of two replicas on one PostgreSQL: a rolling update with a wrong key, and a rotation. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Datasource } from '../../src/model/organization.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { createSealer, createSealingKey } from '../../src/platform/keys/sealing.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { type Failure, post } from '../product/guest.js';
import { type Product, runToEnd, startProduct } from '../product/product.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { serverSample } from '../suites/store-samples.js';
import { askOnce, faultsOf, startLoad } from './clients.js';
import { writeLine } from './table.js';
import { askToken, faultTimeoutMs, measure } from './under-load.js';

/** A port that nothing listens at. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

const [first, second, wrong] = [createSealingKey(), createSealingKey(), createSealingKey()];

describe.skipIf(!(await isPostgresThere()))('encryption keys of replicas', () => {
  let database: OwnDatabase;
  let product: Product;
  const environment = (keys: string) => ({ DATABASE_URL: database.url, GUESTLIST_ENCRYPTION_KEY: keys });
  const startReplica = async (keys: string): Promise<Product> => {
    const replica = await startProduct({ dataDir: product.dataDir, env: environment(keys) });
    onTestFinished(async () => void (await replica.stop('SIGKILL')));
    return replica;
  };
  /** Opens the stored credentials of the datasource: with the right key, only its server is missing. */
  const openSource = async ({ url, credentials }: Product): Promise<unknown> => {
    const { body } = await post<Failure>(`${url}/api/v2/datasource/sync`, { name: 'shop' }, credentials.serviceToken);
    return body.error.code;
  };
  const opened = 'DATASOURCE_CONNECTION_ERROR';

  beforeAll(async () => {
    database = await createOwnDatabase();
    product = await startProduct({ env: environment(first) });
    const own = await openDatabase({ databaseUrl: database.url, folder: null });
    const store = createStore(own.connect<Tables>(), createSealer(Buffer.from(first, 'base64')));
    await store.datasources.insert({ ...serverSample(), name: 'shop', host: '127.0.0.1', port: 9 } as Datasource);
    await own.close();
    expect(await openSource(product)).toBe(opened);
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await database?.drop();
  });

  it('a rolling update with a wrong key: the new process ends with 1 and is never ready, and users see nothing of it', {
    timeout: faultTimeoutMs,
  }, async () => {
    const probes: number[] = [];
    const ended: Awaited<ReturnType<typeof runToEnd>>[] = [];
    const startWrong = async (): Promise<void> => {
      const port = String(await freePort());
      let isOver = false;
      const run = runToEnd(['serve'], {
        ...environment(wrong),
        ...{ PORT: port, GUESTLIST_DATA_DIR: product.dataDir },
      }).finally(() => {
        isOver = true;
      });
      while (!isOver) probes.push((await askOnce(`http://127.0.0.1:${port}/readyz`)).status);
      ended.push(await run);
    };
    const { line, faults } = await measure(product, {
      fault: 'Rolling update with a wrong encryption key',
      begin: startWrong,
      end: () => undefined,
    });
    writeLine(line);
    expect([faults, line.lost]).toEqual([[], 0]);
    expect(ended.map(({ code }) => code)).toEqual([1, 1]);
    for (const { output } of ended)
      expect(output).toMatch(
        /sealed with the encryption key [0-9a-f]{8}, which GUESTLIST_ENCRYPTION_KEY does not have/,
      );
    expect(probes).toContain(503);
    expect(probes).not.toContain(200);
  });

  it('a rotation: two replicas change one after the other, secrets are resealed between, and users see nothing of it', {
    timeout: faultTimeoutMs,
  }, async () => {
    const replicas = [product, await startReplica(first)];
    const [other] = replicas.slice(1);
    if (other === undefined) throw new Error('there is no replica');
    const reseal = (keys: string) =>
      runToEnd(['keys', 'reseal'], { ...environment(keys), GUESTLIST_DATA_DIR: product.dataDir });
    let current = other;
    /** Starts a replica with these keys, and ends the one before it. */
    const replace = async (keys: string): Promise<void> => {
      const next = await startReplica(keys);
      expect([await openSource(next), await openSource(current)]).toEqual([opened, opened]);
      const before = current;
      current = next;
      expect(await before.stop()).toBe(0);
    };
    const load = startLoad(2, () => askToken(current));
    await replace(`${first},${second}`);
    expect(await reseal(second)).toMatchObject({ code: 1, output: expect.stringContaining('does not have') });
    await replace(`${second},${first}`);
    expect(await reseal(`${second},${first}`)).toEqual({
      code: 0,
      output: expect.stringContaining('Every stored secret has the first key'),
    });
    await replace(second);
    await load.ended(4);
    await load.stop();
    const statuses = new Set(load.outcomes.map(({ status }) => status));
    expect([faultsOf(load.outcomes), statuses.has(200)]).toEqual([[], true]);
    const late = await runToEnd(['serve'], { ...environment(first), GUESTLIST_DATA_DIR: product.dataDir });
    expect([late.code, late.output.includes('Set GUESTLIST_ENCRYPTION_KEY')]).toEqual([1, true]);
  });
});
