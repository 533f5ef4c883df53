/** `guestlist move`: the metadata of a data folder goes to PostgreSQL and back, whole. move.long.test.ts kills it. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openConfiguredMetadata } from '../../src/compose/metadata.js';
import { productParts } from '../../src/compose/move/ends.js';
import { moveMetadata } from '../../src/compose/move/move.js';
import { sealedColumns } from '../../src/compose/reseal.js';
import { loadConfig } from '../../src/platform/config/config.js';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/move.js';
import { migrateSchema, statementsOf } from '../../src/platform/databases/migrate.js';
import { placeIn } from '../../src/platform/databases/move/places.js';
import type { KeyRing } from '../../src/platform/keys/sealing.js';
import { createLog } from '../../src/platform/logs/log.js';
import { systemClock } from '../../src/platform/work/time.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { migrateAll } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { makeFilled, makeFolder, makeServer, makeTemplate, runAt, tenants } from './installations.js';
import { contentAt, on } from './moving.js';

const hasServer = await isPostgresThere();
const template = 'moved';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

/** A database with the metadata of the tenants, and where else it may go. */
const makeWorld = async () => ({
  folder: await makeFolder(),
  from: await makeFilled(template),
  to: await makeServer(),
});

const move = (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runAt({ folder }, ['move', ...args], env);

const shipped = fileURLToPath(new URL('../../config/guestlist.yaml', import.meta.url));
const configOf = (folder: string) =>
  loadConfig({ GUESTLIST_DATA_DIR: folder, GUESTLIST_FLUSH: '0' }, shipped, { runsGateway: false, runsService: true });
const silent = createLog({ level: 'silent' });
const canaryOf = (...ring: KeyRing) => ({ ring, keySource: 'the test', columns: sealedColumns, acceptsLoss: false });

/** Whether nothing of the product is in the database. */
const isUntouched = (server: string): Promise<boolean> =>
  on(server, async (database) => {
    const { rows } = await sql`select from pg_namespace where nspname like 'guestlist%'`.execute(database.connect());
    return rows.length === 0;
  });

describe.skipIf(!hasServer)('metadata that is moved', () => {
  it('goes from PostgreSQL to the folder and back, with every row the same', { timeout: 180_000 }, async () => {
    const { folder, from, to } = await makeWorld();
    const before = await contentAt(from);
    const there = await move(folder, ['--to', folder], { DATABASE_URL: from });
    expect(there).toMatchObject({ code: 0, err: '' });
    expect(there.out).toMatch(/Copied and compared [\d,]+ rows of \d+ tables, and 1 sequence, .*\d+ rows per second/);
    expect(there.out).toMatch(new RegExp(`The audit was verified. Its head is ${tenants}:`));
    expect(await contentAt(from)).toEqual(before);
    expect(await move(folder, ['--to', to])).toMatchObject({ code: 0, err: '' });
    // What reached the second server went through the folder.
    expect(await contentAt(to)).toEqual(before);
  });

  it('needs no secrets of parts that it does not read, such as the mail server', async () => {
    const { folder, from, to } = await makeWorld();
    const config = join(folder, 'guestlist.yaml');
    const session = { issuers: [{ issuer: 'a', algorithms: ['HS256'], secretVariable: 'NOT_SET' }] };
    const channels = { ops: { kind: 'slack', urlVariable: 'NOT_SET' } };
    await writeFile(
      config,
      JSON.stringify({ mail: { from: 'reports@analytics.example' }, channels, gateway: { session } }),
    );
    const moved = await move(folder, ['--from', from, '--to', to, '--dry-run'], { GUESTLIST_CONFIG: config });
    expect(moved).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Nothing was written.') });
  });

  it('needs its key before anything is copied; then its source takes no writes, and a second move says where it is', async () => {
    const { folder, from, to } = await makeWorld();
    await on(from, (database) => openCanary(database.connect(), canaryOf(Buffer.alloc(32, 1))));
    const moveTo = (target: string, key = 1) =>
      move(folder, ['--from', from, '--to', target], {
        GUESTLIST_ENCRYPTION_KEY: Buffer.alloc(32, key).toString('base64'),
      });
    expect(await moveTo(to, 2)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Set GUESTLIST_ENCRYPTION_KEY'),
    });
    expect(await isUntouched(to)).toBe(true);
    expect((await moveTo(to)).code).toBe(0);
    const write = on(from, (database) =>
      sql`update guestlist.data_apps set name = 'other'`.execute(database.connect()),
    );
    await expect(write).rejects.toThrow('The metadata database takes no writes');
    expect(await moveTo(to)).toMatchObject({ code: 0, out: expect.stringContaining('already') });
    const again = await moveTo(await makeServer());
    expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/was moved to \S+:\d+\/\w+ on /) });
    expect(again.err).not.toContain(to);
  });

  it('has the tables that a later migration adds, without a list of tables', async () => {
    const { folder, from, to } = await makeWorld();
    const later = statementsOf([
      'create table later."Notes" (id integer generated always as identity, "When" date, twice integer generated always as (id * 2) stored)',
    ]);
    const part = { schema: 'later', migrations: { '0001-later': later }, what: 'notes' };
    await on(from, async (database) => {
      const db = database.connect<unknown>();
      await migrateSchema({ db, ...part });
      await sql`insert into later."Notes" ("When") values ('2026-01-31'), (null), ('infinity')`.execute(db);
    });
    const ends = { from: placeIn(from), to: placeIn(to), service: true };
    const request = { ...ends, isDry: false, say: () => {}, parts: [...productParts, part] };
    const moved = await moveMetadata(configOf(folder), request, { clock: systemClock, log: silent });
    expect(moved.tables).toContainEqual({ name: 'later."Notes"', rows: 3 });
    const notes = await on(to, async (database) => {
      const db = database.connect();
      await sql`insert into later."Notes" default values`.execute(db);
      return sql`select id, "When"::text as at, twice from later."Notes" order by id`.execute(db);
    });
    expect(notes.rows).toEqual([
      { id: 1, at: '2026-01-31', twice: 2 },
      { id: 2, at: null, twice: 4 },
      { id: 3, at: 'infinity', twice: 6 },
      { id: 4, at: null, twice: 8 },
    ]);
  });

  it('is only counted by a dry run, which writes to neither place', async () => {
    const { folder, from, to } = await makeWorld();
    for (const target of [to, folder]) {
      const dry = await move(folder, ['--from', from, '--to', target, '--dry-run']);
      expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/Would copy \d+ rows/) });
      expect(dry.out).toMatch(new RegExp(`guestlist_gateway\\.tenants +${tenants}`));
    }
    expect(await isUntouched(to)).toBe(true);
    expect(existsSync(join(folder, 'metadata'))).toBe(false);
  });
});

describe.skipIf(!hasServer)('a start on an empty database', () => {
  const start = async (folder: string, databaseUrl: string, halves = {}): Promise<void> => {
    const settings = { ...configOf(folder).settings, databaseUrl };
    const config = { settings, isDemo: false };
    const parts = { service: true, ...halves };
    const ring: KeyRing = [Buffer.alloc(32, 1)];
    await (await openConfiguredMetadata(config, parts, ring, { clock: systemClock, log: silent })).close();
  };

  it('names the command if the data folder has metadata, unless an empty start is meant', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    await mkdir(join(folder, 'metadata'));
    await writeFile(join(folder, 'metadata', 'PG_VERSION'), '17\n');
    const refused = await start(folder, server).catch((error: Error) => error.message);
    expect(refused).toContain(`guestlist move --from ${folder}`);
    expect(refused).toContain('guestlist serve --accept-empty');
    expect(refused).not.toContain(server);
    await start(folder, server, { acceptsEmpty: true });
    await on(server, migrateAll);
    await start(folder, server);
  });

  it('needs nothing if there is no metadata beside it', async () => {
    await start(await makeFolder(), await makeServer());
  });
});

describe.skipIf(!hasServer)('a move that cannot be done', () => {
  it('refuses a target that has metadata, and changes nothing there', async () => {
    const { folder, from, to } = await makeWorld();
    await on(to, migrateAll);
    const before = await contentAt(to);
    const full = await move(folder, ['--from', from, '--to', to]);
    expect(full).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });
    expect(await contentAt(to)).toEqual(before);
  });

  it('leaves a source that this version cannot copy as it is, and says what is wrong', async () => {
    const { folder, from, to } = await makeWorld();
    const runOn = (...texts: readonly string[]) =>
      on(from, async (database) => {
        for (const text of texts) await sql.raw(text).execute(database.connect());
      });
    for (const [breaking, mending, message] of [
      [
        "delete from guestlist.kysely_migration where name like '0018%'",
        "insert into guestlist.kysely_migration values ('0018-erasure-fences', '')",
        /lacks the migration 0018-/,
      ],
      [
        "insert into guestlist.kysely_migration values ('9999-x', '')",
        "delete from guestlist.kysely_migration where name = '9999-x'",
        /made by a newer version.*9999-x/,
      ],
      [
        'create schema guestlist_x create table extra (id integer)',
        'drop schema guestlist_x cascade',
        /has tables in "guestlist_x"/,
      ],
      [
        "update guestlist_gateway.audit_head set hash = 'x' || hash",
        'update guestlist_gateway.audit_head set hash = substr(hash, 2)',
        /audit chain has a fault/,
      ],
      ['create table guestlist.extra (id integer)', 'drop table guestlist.extra', /guestlist\.extra was made/],
    ] as const) {
      await runOn(breaking);
      const before = await contentAt(from);
      const refused = await move(folder, ['--from', from, '--to', to]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(message) });
      expect(await contentAt(from)).toEqual(before);
      await runOn(mending, "update guestlist.data_apps set name = 'still'");
    }
  });

  it('needs another place than the configured one, in a form that it knows', async () => {
    const folder = await makeFolder();
    const [nowhere, same, elsewhere, other, absent] = [
      await move(folder, []),
      await move(folder, ['--to', folder]),
      await move(folder, ['--to', `${folder}-other`]),
      await move(folder, ['--to', 'mysql://user:geheim@host/db']),
      await move(folder, ['--to', 'postgres://user:geheim@127.0.0.1:1/db']),
    ];
    expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('--from or --to') });
    expect(same).toMatchObject({ code: 1, err: expect.stringContaining('are the same') });
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('not the data folder') });
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('postgres://user:password@host') });
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('There is no embedded database') });
    expect(other.err + absent.err).not.toContain('geheim');
  });
});
