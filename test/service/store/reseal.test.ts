/** The canary of the encryption key, and `guestlist keys reseal`, on the metadata of the product. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { resealAll, sealedColumns } from '../../../src/compose/reseal.js';
import { openLedger } from '../../../src/gateway/ledger/ledger.js';
import type { LedgerTables } from '../../../src/gateway/ledger/tables.js';
import { createRecipients } from '../../../src/gateway/recipients.js';
import { tagKeyOf } from '../../../src/platform/caches/tags.js';
import { openDatabase } from '../../../src/platform/databases/database.js';
import { createSealer, type KeyRing, markOf, prefixOf } from '../../../src/platform/keys/sealing.js';
import { openCanary } from '../../../src/service/store/key-canary.js';
import { createStore } from '../../../src/service/store/store.js';
import type { Tables } from '../../../src/service/store/tables.js';
import { openTestDatabase, type TestDatabase } from '../../suites/metadata.js';
import { serverSample } from '../../suites/store-samples.js';

const [first, second, third] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const keySource = 'the test';

let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const db = (): Kysely<Tables> => database.connect<Tables>();
const open = (...ring: KeyRing) => openCanary(db(), { ring, keySource, columns: sealedColumns, acceptsLoss: false });
const acceptLoss = (...ring: KeyRing) =>
  openCanary(db(), { ring, keySource, columns: sealedColumns, acceptsLoss: true });
const storeOf = (...ring: KeyRing) => createStore(db(), createSealer(...ring));
const insertSource = async (...ring: KeyRing) => {
  const source = serverSample();
  await storeOf(...ring).datasources.insert(source);
  return source;
};

/** A value of every sealed column but the canary, each sealed with this key. */
const fillAll = async (key: Buffer): Promise<void> => {
  const sealer = createSealer(key);
  for (const { schema, table, column, key: names, contextOf } of sealedColumns) {
    if (table === 'sealing_canary') continue;
    const values = names.map((name) => (name.endsWith('id') ? randomUUID() : `${name} ${randomUUID()}`));
    const sealed = sealer.seal(`${table}.${column}`, contextOf(...values));
    const shape = `${schema}.${table}`;
    // Constraints and references between tables are not the subject: each row stands alone.
    await db()
      .transaction()
      .execute(async (transaction) => {
        await sql`set local session_replication_role = replica`.execute(transaction);
        const row = JSON.stringify({
          ...(await sampleOf(table)),
          ...Object.fromEntries(names.map((name, index) => [name, values[index]])),
          [column]: sealed,
        });
        await sql`insert into ${sql.raw(shape)}
          select * from json_populate_record(null::${sql.raw(shape)}, ${row}::text::json)`.execute(transaction);
      });
  }
};

/** The other columns of a row, as far as its table demands them. */
const sampleOf = async (table: string): Promise<Readonly<Record<string, unknown>>> => {
  const at = new Date(0);
  const samples: Readonly<Record<string, object>> = {
    datasources: { name: randomUUID(), datasource_type: 'POSTGRES' },
    recipients: { issued_at: at, seen_at: at },
    studio_sessions: {
      ...{ hash: 'a'.repeat(64), issuer: 'i', subject: 's', person: {} },
      ...{ created_at: at, used_at: at, expires_at: at },
    },
    schedules: {
      ...{
        dashboard_id: randomUUID(),
        opened_id: 'x',
        data_app_id: randomUUID(),
        client_id: 'c',
        user_identifier: 'u',
      },
      ...{ name: 'n', format: 'alert', recurrence: {}, catch_up: 'latest', is_paused: false, created_at: at },
      ...{ alert: {}, dashboard_filter: {} },
    },
  };
  return { ...samples[table] };
};

const prefixes = async (): Promise<Readonly<Record<string, readonly string[]>>> => {
  const found: Record<string, readonly string[]> = {};
  for (const { schema, table, column } of sealedColumns) {
    const { rows } = await sql<{ prefix: string }>`
      select distinct left(${sql.ref(column)}, 12) as prefix from ${sql.id(schema, table)}
      where ${sql.ref(column)} is not null`.execute(db());
    found[`${schema}.${table}.${column}`] = rows.map(({ prefix }) => prefix);
  }
  return found;
};
const allSealedBy = (key: Buffer) =>
  Object.fromEntries(
    sealedColumns.map(({ schema, table, column }) => [`${schema}.${table}.${column}`, [prefixOf(key)]]),
  );

describe('the canary of the encryption key', () => {
  it('is stored at the first start, and keeps the key of tags through every rotation', async () => {
    const { tagKey } = await open(first);
    expect(tagKey).toEqual(tagKeyOf(first));
    expect((await open(first)).tagKey).toEqual(tagKey);
    expect((await open(first, second)).tagKey).toEqual(tagKey);
    expect((await open(second, first)).tagKey).toEqual(tagKey);
    await resealAll(db(), [second, first], keySource);
    expect((await open(second)).tagKey).toEqual(tagKey);
  });

  it('refuses a start with another key, and says which key is missing, from where, and how to mend it', async () => {
    await open(first);
    const refused = open(second, third);
    await expect(refused).rejects.toThrow(markOf(first));
    await expect(refused).rejects.toThrow(
      `which ${keySource} does not have (it has ${markOf(second)}, ${markOf(third)}). Set GUESTLIST_ENCRYPTION_KEY`,
    );
    await expect(refused).rejects.toThrow('--accept-loss');
  });

  it('refuses a wrong key at the first start of this version too, by what is stored already', async () => {
    await insertSource(first);
    await expect(open(second)).rejects.toThrow(markOf(first));
    expect((await open(first)).tagKey).toEqual(tagKeyOf(first));
  });

  it('of two first starts with different keys, one is refused by the canary of the key', async () => {
    const outcomes = await Promise.allSettled([open(first), open(second)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is made anew where an operator accepts that the key is lost, and only then', async () => {
    await open(first);
    expect((await acceptLoss(first)).loss).toBeNull();
    expect((await acceptLoss(second)).loss).toContain(markOf(first));
    expect((await open(second)).loss).toBeNull();
    await expect(open(first)).rejects.toThrow(markOf(second));
  });

  it('the canary of the encryption key that was changed is refused by every key', async () => {
    await open(first);
    await sql`update guestlist.sealing_canary set sealed = overlay(sealed placing 'AAAA' from 20)`.execute(db());
    await expect(open(first)).rejects.toThrow(/changed/);
  });
});

describe('keys reseal', () => {
  it('seals every column of both schemas with the first key', async () => {
    await open(first);
    await fillAll(first);
    expect(await prefixes()).toEqual(allSealedBy(first));
    const before = await resealAll(db(), [second, first], keySource, 1);
    expect(before).toEqual({ resealed: sealedColumns.length, unreadable: [] });
    expect(await prefixes()).toEqual(allSealedBy(second));
    expect(await resealAll(db(), [second, first], keySource)).toEqual({ resealed: 0, unreadable: [] });
    await expect(open(first)).rejects.toThrow(markOf(second));
  });

  it('keeps what each value says, for each part that reads it', async () => {
    const source = await insertSource(first);
    const ledger = await openLedger(database.connect<LedgerTables>());
    const parts = { ledger, keepDays: 1, clock: { now: () => new Date(1_000) }, log: { warn: () => {} } };
    const session = { userIdentifier: 'ann', claims: { sub: 'ann' } } as never;
    await createRecipients({ ...parts, sealer: createSealer(first) }).note(session, 'acme');
    await open(first);
    await resealAll(db(), [second, first], keySource);
    expect(await storeOf(second).datasources.findById(source.id)).toEqual(source);
    const { find } = createRecipients({ ...parts, sealer: createSealer(second) });
    expect(await find({ clientId: 'acme', userIdentifier: 'ann' })).toEqual(session);
  });

  it('a reseal that was cut off leaves the canary to the old key, and is finished by another run', async () => {
    await open(first);
    const sources = [];
    for (let count = 0; count < 5; count += 1) sources.push(await insertSource(first));
    // The third value ends the run, as a connection that breaks would.
    await sql`create function pg_temp.refuse() returns trigger language plpgsql as $$
      begin
        if (select count(*) from guestlist.datasources where left(sealed, 12) = ${sql.lit(prefixOf(second))}) >= 2
        then raise exception 'cut off'; end if;
        return new;
      end $$`.execute(db());
    await sql`create trigger refuse before update on guestlist.datasources
      for each row execute function pg_temp.refuse()`.execute(db());
    onTestFinished(async () => void (await sql`drop function pg_temp.refuse() cascade`.execute(db()).catch(() => {})));
    await expect(resealAll(db(), [second, first], keySource, 2)).rejects.toThrow('cut off');
    await sql`drop trigger refuse on guestlist.datasources`.execute(db());
    await expect(open(second)).rejects.toThrow(markOf(first));
    for (const source of sources) expect(await storeOf(second, first).datasources.findById(source.id)).toEqual(source);
    expect(await resealAll(db(), [second, first], keySource, 2)).toEqual({ resealed: 4, unreadable: [] });
    for (const source of sources) expect(await storeOf(second).datasources.findById(source.id)).toEqual(source);
  });

  it('never overwrites what another process writes meanwhile', async () => {
    await open(first);
    const source = await insertSource(first);
    const changed = { ...source, password: 'newer' };
    // Between the read and the write of the value: the store of a replica that still has the old key first.
    const racing: Kysely<Tables> = db().withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows.some((row) => 'sealed_value' in row)) await writeOnce();
        return result;
      },
    });
    let isWritten = false;
    const writeOnce = async (): Promise<void> => {
      if (isWritten) return;
      isWritten = true;
      await storeOf(first, second).datasources.update(changed);
    };
    await resealAll(racing, [second, first], keySource);
    expect(isWritten).toBe(true);
    expect(await storeOf(second).datasources.findById(source.id)).toEqual(changed);
  });

  it('names what no key opens, leaves it, and leaves the canary to the old key', async () => {
    const [lost, kept] = [await insertSource(third), await insertSource(first)];
    await acceptLoss(first);
    const { unreadable } = await resealAll(db(), [second, first], keySource);
    expect(unreadable).toEqual([`guestlist.datasources.sealed of ${lost.id}`]);
    expect(await storeOf(second).datasources.findById(kept.id)).toEqual(kept);
    expect(await storeOf(third).datasources.findById(lost.id)).toEqual(lost);
    await expect(open(second)).rejects.toThrow(markOf(first));
  });

  it('does nothing without the key of the canary', async () => {
    await open(first);
    await insertSource(first);
    await expect(resealAll(db(), [second], keySource)).rejects.toThrow(markOf(first));
  });
});

it('the embedded database is resealed like a server', async () => {
  const embedded = await openDatabase({ databaseUrl: null, folder: null });
  onTestFinished(() => embedded.close());
  const { migrate } = await import('../../../src/service/store/migrations.js');
  const own = embedded.connect<Tables>();
  await migrate(own);
  const source = serverSample();
  await createStore(own, createSealer(first)).datasources.insert(source);
  await openCanary(own, { ring: [first], keySource, columns: sealedColumns, acceptsLoss: false });
  // The schema of a gateway is missing, as where a service runs alone.
  expect(await resealAll(own, [second, first], keySource)).toEqual({ resealed: 2, unreadable: [] });
  expect(await createStore(own, createSealer(second)).datasources.findById(source.id)).toEqual(source);
});
