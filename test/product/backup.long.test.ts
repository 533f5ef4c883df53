/** An installation is destroyed under load, and restored elsewhere by the command line alone; and backups of data folders. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { openMetadata } from '../../src/compose/metadata.js';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/backup.js';
import { loadCredentials } from '../../src/platform/config/credentials.js';
import { migrateSchema } from '../../src/platform/databases/migrate.js';
import { markKeyOf } from '../../src/platform/keys/high-water-mark.js';
import { createLog } from '../../src/platform/logs/log.js';
import { systemClock } from '../../src/platform/work/time.js';
import { migrations } from '../../src/service/store/migrations.js';
import { placeFlights } from '../suites/flights.js';
import { migrateAll } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { expectSame, issueAll } from './callers.js';
import { get, login, manager, post } from './guest.js';
import {
  backUp,
  breakReference,
  fillFolder,
  leftIn,
  makeFilled,
  makeFolder,
  makeServer,
  makeTemplate,
  placeOf,
  restore,
  runAt,
} from './installations.js';
import { unaudited } from './metadata-world.js';
import { contentAt, on, refusalAt } from './moving.js';
import { type Product, runToEnd, startProduct } from './product.js';
import { liveAt, writeDuring } from './writing.js';

const minutes = 60_000;
const key = { GUESTLIST_BACKUP_KEY: Buffer.alloc(32, 9).toString('base64') };

const makeDataFolder = async (): Promise<string> => {
  const folder = await makeFolder();
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

const hasServer = await isPostgresThere();

test.skipIf(!hasServer)(
  'a destroyed installation answers again as before, on the other backing, and what was revoked stays revoked',
  { timeout: 10 * minutes },
  async () => {
    const { url: server, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const [folder, elsewhere, back] = [await makeDataFolder(), await makeDataFolder(), await makeDataFolder()];
    const files = await makeFolder();

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

const template = 'backed';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

const embedded = (folder: string, name = 'metadata') => ({
  databaseUrl: null,
  folder: join(folder, name),
  isFlushed: false,
  markKey: null,
  acceptsLoss: false,
  clock: systemClock,
  log: createLog({ level: 'silent' }),
});

/** The key that a start on this folder makes, and that every later process of it has. */
const markKeyAt = async (folder: string) => {
  const given = { serviceToken: null, demoApiKey: null, demoJwtSecret: null, encryptionKey: null, gatewayToken: null };
  return markKeyOf((await loadCredentials(folder, given)).keyRing);
};

describe.skipIf(!hasServer)('a backup of a data folder', () => {
  it('has the rows of one moment while its process writes, and goes to both backings', async () => {
    const where = { folder: await makeFolder() };
    await fillFolder(where.folder);
    const running = await openMetadata({ ...embedded(where.folder), markKey: await markKeyAt(where.folder) });
    running.startMarking();
    const file = join(where.folder, 'one.backup');
    const { done, written } = await writeDuring(running.database, () => backUp(file, where)).finally(() =>
      running.database.close(),
    );
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(written).toBeGreaterThan(1);
    for (const target of [{ folder: await makeFolder(), server: await makeServer() }, { folder: await makeFolder() }]) {
      expect(await restore(file, target)).toMatchObject({ code: 0, err: '' });
      const [held, tokens] = await liveAt(placeOf(target));
      expect(held).toBe(tokens);
      expect(held).toBeLessThanOrEqual(written);
    }
    expect(await liveAt(where.folder)).toEqual([written, written]);
    const snapshots = join(where.folder, 'snapshots');
    expect(existsSync(snapshots) ? await readdir(snapshots) : []).toEqual([]);
  });

  it('of a gateway alone is restored into the folder of a gateway', async () => {
    const [first, second] = [await makeFolder(), await makeFolder()];
    const opened = await openMetadata(embedded(first, 'gateway'));
    await migrateAll(opened.database);
    await opened.database.close();
    const file = join(first, 'one.backup');
    expect((await runAt({ folder: first }, ['backup', '--to', file, '--only', 'gateway'])).code).toBe(0);
    expect((await restore(file, { folder: second })).code).toBe(0);
    expect(existsSync(join(second, 'gateway', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(second, 'metadata'))).toBe(false);
  });
});

describe.skipIf(!hasServer)('a restore into a data folder', () => {
  it('leaves the folder of a backup as it was, and refuses one that holds something', async () => {
    const [first, used] = [{ folder: await makeFolder(), server: await makeFilled(template) }, await makeFolder()];
    const before = await contentAt(first.server);
    const file = join(first.folder, 'one.backup');
    await backUp(file, first);
    expect(await restore(file, { folder: used })).toMatchObject({ code: 0, err: '' });
    const restored = await contentAt(used);
    expect(unaudited(restored)).toEqual(unaudited(before));
    expect(await refusalAt(used)).toBeNull();
    expect(await restore(file, { folder: used })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is not empty.*Move /),
    });
    expect(await backUp(join(first.folder, 'two.backup'), { folder: used })).toMatchObject({ code: 0 });
    expect(await contentAt(used)).toEqual(restored);
  });

  it('migrates what an earlier version made', async () => {
    const older = { folder: await makeFolder(), server: await makeServer() };
    await on(older.server, async (database) => {
      const db = database.connect<unknown>();
      const some = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0015'));
      await migrateSchema({ db, schema: 'guestlist', migrations: some, what: 'metadata' });
      await sql`insert into guestlist.data_apps (id, name, created_at, updated_at) values ('old', 'old', now(), now())`.execute(
        db,
      );
    });
    const file = join(older.folder, 'one.backup');
    expect(await backUp(file, older)).toMatchObject({ code: 0, err: '' });
    const target = { folder: await makeFolder() };
    expect(await restore(file, target)).toMatchObject({ code: 0, err: '' });
    const names = await on(target.folder, async (database) => {
      const db = database.connect();
      const { rows } = await sql<{ name: string }>`select name from guestlist.data_apps
        union all select max(name) from guestlist.kysely_migration order by 1`.execute(db);
      return rows.map(({ name }) => name);
    });
    expect(names).toEqual([Object.keys(migrations).at(-1), 'old']);
  });

  it('leaves nothing in the folder if it fails', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled(template) };
    await breakReference(first.server);
    const file = join(first.folder, 'one.backup');
    expect((await backUp(file, first)).code).toBe(0);
    const target = { folder: await makeFolder() };
    expect(await restore(file, target)).toMatchObject({ code: 1, err: expect.stringContaining('foreign key') });
    expect(await leftIn(target.folder)).toEqual([]);
  });
});
