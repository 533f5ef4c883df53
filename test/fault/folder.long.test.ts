/**
 * The embedded database's folder becomes full or is removed. Requests are answered with 503, never 500, and `/readyz`
 * names the cause.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DependencyUnavailable } from '../../src/model/unavailable.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { analyst, login, manager, session } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { makeReadOnly } from '../suites/read-only-folder.js';
import { mountSmallDisk } from '../suites/small-disk.js';
import { askOnce, type Outcome } from './clients.js';

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

/** Sends requests until one is refused: a full disk still accepts writes to allocated blocks. */
const untilRefused = async (product: Product): Promise<Outcome> => {
  for (;;) {
    const outcome = await askToken(product);
    if (outcome.status !== 200) return outcome;
  }
};

describe('the embedded database alone', () => {
  it('in a folder that is temporarily read-only: statements fail with a temporary fault, then work again', async ({
    skip,
  }) => {
    const home = await mkdtemp(join(tmpdir(), 'guestlist-read-only-'));
    const database = await openDatabase({ databaseUrl: null, folder: join(home, 'metadata') });
    onTestFinished(database.close);
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const db = database.connect<Record<string, { n: number }>>();
    const create = (name: string) => sql`create table ${sql.table(name)} (n integer)`.execute(db);
    await create('before');
    await sql`insert into before values (1)`.execute(db);
    const undo = makeReadOnly(home);
    if (undo === undefined) return skip();
    onTestFinished(undo);
    for (const name of ['one', 'two', 'three']) {
      const failure = await create(name).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DependencyUnavailable);
    }
    undo();
    for (const name of ['one', 'two', 'three', 'four']) await create(name);
    expect((await sql`select n from before`.execute(db)).rows).toEqual([{ n: 1 }]);
  });
});

describe('the folder of the embedded database', () => {
  it('is full: tokens get 503 with Retry-After, and the process is not ready', async ({ skip }) => {
    const disk = await mountSmallDisk(160);
    if (disk === undefined) return skip();
    onTestFinished(disk.remove);
    const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    const product = await startProduct({ isEmbedded: true, dataDir: disk.folder, env: limits });
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    await login(product, manager('LAX'));
    expect(await readiness(product)).toEqual([200, { status: 'ready' }]);
    disk.fill();
    // What else is asked in the folder at this moment may fail too.
    const failed = expect.arrayContaining(['data-folder']);
    expect(await readiness(product)).toEqual([503, { status: 'not ready', failed }]);
    const refused = await untilRefused(product);
    expect([refused.status, refused.retryAfter !== undefined]).toEqual([503, true]);
  });

  it('is removed while the process runs: the process is not ready', async () => {
    const product = await startProduct({ isEmbedded: true });
    onTestFinished(() => product.remove());
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
    // Renames the folder at once, while the process writes to it.
    const gone = `${product.dataDir}.gone`;
    await rename(product.dataDir, gone);
    onTestFinished(() => rm(gone, { recursive: true, force: true }));
    // What else is asked in the folder at this moment may fail too.
    const failed = expect.arrayContaining(['data-folder']);
    expect(await readiness(product)).toEqual([503, { status: 'not ready', failed }]);
    await writeFile(product.dataDir, '');
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(503);
  });
});
