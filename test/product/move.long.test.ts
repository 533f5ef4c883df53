/**
 * `guestlist move` with many tenants: killed again and again, with a target that goes away or is full; then the product
 * starts on the target and answers what it answered before.
 */
import { rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrateAll } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { mountSmallDisk } from '../suites/small-disk.js';
import { expectSame, issueAll } from './callers.js';
import { login, manager } from './guest.js';
import { fillFolder, makeFolder, makeServer, runAt } from './installations.js';
import { addTenants } from './metadata-world.js';
import { contentAt, killOften, on, runMove } from './moving.js';
import { runToEnd, startProduct } from './product.js';

const tenants = Number(process.env.MOVE_TENANTS ?? '10000');
const kills = Number(process.env.MOVE_KILLS ?? '6');
const minutes = 60_000;

const removeDatabase = async (folder: string): Promise<void> => {
  await rm(join(folder, 'metadata'), { recursive: true });
  await rm(join(folder, 'metadata.mark'), { force: true });
};

describe.skipIf(!(await isPostgresThere()))('many tenants', { timeout: 20 * minutes }, () => {
  it('move from the folder to PostgreSQL and back through kills, and callers notice nothing', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    const first = await startProduct({ dataDir: folder, isEmbedded: true, loadsFlights: true });
    const issued = await issueAll(first);
    await login(first, manager('SFO'));
    expect(await first.stop()).toBe(0);
    await on(folder, (database) => addTenants(database, tenants, 10));
    const before = await contentAt(folder);
    await killOften({ folder, from: folder, to: server }, before, kills, tenants * 4 + 5_000);

    const refused = await runToEnd(['serve'], { GUESTLIST_DATA_DIR: folder });
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('was moved to') });
    const onServer = await startProduct({ dataDir: folder, env: { DATABASE_URL: server } });
    await expectSame(onServer, issued);
    expect(await onServer.stop()).toBe(0);

    await removeDatabase(folder);
    const later = await contentAt(server);
    await killOften({ folder, from: server, to: folder }, later, kills, tenants * 4 + 5_000);
    const moved = await runToEnd(['serve'], { GUESTLIST_DATA_DIR: folder, DATABASE_URL: server });
    expect(moved).toMatchObject({ code: 1, output: expect.stringContaining('was moved to') });
    const back = await startProduct({ dataDir: folder, isEmbedded: true });
    await expectSame(back, issued);
    expect(await back.stop()).toBe(0);
  });
});

/** Passes connections on to the server until `cut`, which breaks them all. */
const createRelay = async (target: URL) => {
  const sockets = new Set<Socket>();
  let bytes = 0;
  const relay = createServer((client) => {
    const server = connect(Number(target.port === '' ? 5432 : target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => socket.destroy());
    }
    client.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes > 3_000_000) cut();
    });
    client.pipe(server).pipe(client);
  });
  const cut = (): void => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const address = relay.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return { url: url.href, cut };
};

describe.skipIf(!(await isPostgresThere()))('a target that fails', { timeout: 10 * minutes }, () => {
  const fill = async (folder: string): Promise<void> =>
    on(folder, async (database) => {
      await migrateAll(database);
      await addTenants(database, 2_000);
    });

  it('goes away while rows are copied: the source stays as it was, and the next run ends', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    await fill(folder);
    const before = await contentAt(folder);
    const relay = await createRelay(new URL(server));
    onTestFinished(relay.cut);
    const failed = await runMove({ folder, from: folder, to: relay.url });
    expect([failed.code, failed.output]).toEqual([1, expect.stringMatching(/metadata database/)]);
    expect(await contentAt(folder)).toEqual(before);
    expect((await runMove({ folder, from: folder, to: server })).code).toBe(0);
    expect(await contentAt(server)).toEqual(before);
  });

  it('is a folder on a full disk: the source stays as it was', async ({ skip }) => {
    const disk = await mountSmallDisk(100);
    if (disk === undefined) return skip();
    onTestFinished(disk.remove);
    const server = await makeServer();
    await on(server, async (database) => {
      await migrateAll(database);
      await addTenants(database, 20_000);
    });
    const before = await contentAt(server);
    const ends = { folder: disk.folder, from: server, to: disk.folder };
    const failed = await runMove(ends);
    expect([failed.code, failed.output]).toEqual([1, expect.stringContaining('guestlist: ')]);
    expect(await contentAt(server)).toEqual(before);
    await on(server, (database) => sql`update guestlist.data_apps set name = 'still'`.execute(database.connect()));
  });
});

describe.skipIf(!(await isPostgresThere()))('places in use', () => {
  it('are refused by a move: a database that other sessions have open, and a folder of a process', async () => {
    const [folder, from, to] = [await makeFolder(), await makeServer(), await makeServer()];
    await on(from, async (database) => {
      await migrateAll(database);
      await addTenants(database, 20);
    });
    for (const used of [from, to]) {
      const refused = await on(used, () => runAt({ folder }, ['move', '--from', from, '--to', to]));
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringMatching(/in use by other sessions.*Stop every Guestlist/),
      });
    }
    expect((await runAt({ folder }, ['move', '--from', from, '--to', to])).code).toBe(0);
    const next = await makeServer();
    await fillFolder(folder);
    const used = await on(folder, () => runAt({ folder }, ['move', '--to', next]));
    expect(used).toMatchObject({ code: 1, err: expect.stringContaining('is in use by process') });
  });
});
