/**
 * A power failure of the embedded database's disk. Killing the process would prove nothing, since the operating system
 * still writes what it has buffered. So the folder is on a disk image, and the test copies the image at the moment of
 * the failure: the copy contains only what had reached the disk.
 */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/databases/database.js';

const run = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Creates a disk in a file. Mounting it needs root; without it, the test says that it is skipped. */
const createDisk = async () => {
  const home = await mkdtemp(join(tmpdir(), 'guestlist-power-'));
  const mounted: string[] = [];
  onTestFinished(async () => {
    for (const place of mounted) run('umount', '-l', place);
    await rm(home, { recursive: true, force: true });
  });
  const mount = async (image: string): Promise<string | undefined> => {
    const place = `${image}.mounted`;
    await mkdir(place);
    if (!run('mount', '-o', 'loop', image, place)) return undefined;
    mounted.push(place);
    return place;
  };
  const image = join(home, 'disk');
  await writeFile(image, '');
  await truncate(image, 300 * 1024 * 1024);
  const place = run('mkfs.ext4', '-q', image) ? await mount(image) : undefined;
  if (place === undefined) {
    console.warn('NO DISK CAN BE MOUNTED HERE: THE TEST OF A POWER FAILURE IS SKIPPED');
    return undefined;
  }
  /** Returns a copy of the disk as it is now, as after a power failure. */
  const fail = async (): Promise<string> => {
    const copy = join(home, 'after');
    await copyFile(image, copy);
    return (await mount(copy)) ?? '';
  };
  return { place, fail };
};

type Numbers = { numbers: { n: number } };

/** Returns the number of acknowledged rows that exist after the failure. */
const rowsAfter = async (place: string): Promise<number> => {
  const database = await openDatabase({ databaseUrl: null, folder: join(place, 'metadata'), isFlushed: true });
  const row = await database
    .connect<Numbers>()
    .selectFrom('numbers')
    .select((count) => count.fn.countAll<number>().as('count'))
    .executeTakeFirst();
  await database.close();
  return Number(row?.count);
};

describe('a power failure right after 100 acknowledged rows', () => {
  it.each([
    [true, 'all of them are there'],
    // Without flushing, rows must be lost; this proves that the simulated failure is real.
    [false, 'some are not'],
  ])('with flush %s, %s', async (isFlushed) => {
    const disk = await createDisk();
    if (disk === undefined) return;
    const folder = join(disk.place, 'metadata');
    const first = await openDatabase({ databaseUrl: null, folder, isFlushed: true });
    await sql`create table numbers (n integer primary key)`.execute(first.connect());
    await first.close();
    const database = await openDatabase({ databaseUrl: null, folder, isFlushed });
    const db = database.connect<Numbers>();
    for (let n = 0; n < 100; n += 1) await db.insertInto('numbers').values({ n }).execute();
    const after = await disk.fail();
    await database.close();
    const rows = await rowsAfter(after);
    if (isFlushed) expect(rows).toBe(100);
    else expect(rows).toBeLessThan(100);
  });
});
