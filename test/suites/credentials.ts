/**
 * What every metadata database must do for keys and tokens. Two stores simulate two processes. The suite does not know
 * which database it runs on.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StudioSession } from '../../src/model/person.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';
import type { TokenSubject } from '../../src/service/store/guest-tokens.js';
import type { LastUse } from '../../src/service/store/last-uses.js';
import type { Revocation } from '../../src/service/store/revocations.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { testSealer } from './sealer.js';
import { dataAppSample, grantSample, insertOrganization, keySample, moment } from './store-samples.js';
import { noDays, sweepKind } from './sweep.js';

/** Opens the empty database for two processes; the embedded one has only one process. */
export type OpenTwo = () => Promise<{
  readonly databases: readonly [Database, Database];
  readonly close: () => Promise<void>;
}>;

const at = (seconds: number): Date => new Date(moment.getTime() + seconds * 1000);
const grace = { now: at(0), expiresAt: at(60) };
const times = 20;

export const credentialSuite = (name: string, open: OpenTwo): void => {
  describe(`credentials on ${name}`, () => {
    const opened: { databases?: readonly [Database, Database]; close?: () => Promise<void> } = {};
    const database = (): Database => {
      if (opened.databases === undefined) throw new Error('the database did not open');
      return opened.databases[0];
    };
    const stores: Store[] = [];
    const store = (index: 0 | 1 = 0): Store => {
      const found = stores[index];
      if (found === undefined) throw new Error('the database did not open');
      return found;
    };
    beforeAll(async () => {
      Object.assign(opened, await open());
      for (const each of opened.databases ?? []) stores.push(createStore(each.connect<Tables>(), testSealer));
    }, 60_000);
    afterAll(async () => opened.close?.());

    keyTests(store);
    serviceTokenTests(store);
    epochTests(store);
    upkeepTests(store);
    dataAppTests(store, database);
    studioTests(store);
  });
};

const keyTests = (store: (index?: 0 | 1) => Store): void => {
  describe('API keys', () => {
    const insert = async (parts: object = {}) => {
      const { dataApp, otherApp } = await insertOrganization(store());
      const key = { ...keySample(), dataAppId: dataApp.id, ...parts };
      expect(await store().apiKeys.insert(key)).toBe(true);
      return { key, dataApp, otherApp };
    };

    it('one name is current once in a data app: of simultaneous creates in two processes one is made', async () => {
      const { dataApp, otherApp } = await insertOrganization(store());
      const made = await Promise.all(
        Array.from({ length: times }, (_, index) =>
          store(index % 2 === 0 ? 0 : 1).apiKeys.insert({ ...keySample({ name: 'one' }), dataAppId: dataApp.id }),
        ),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await store().apiKeys.insert({ ...keySample({ name: 'one' }), dataAppId: otherApp.id })).toBe(true);
    });

    it('one that is replaced frees its name, lives on to its end, and is replaced once', async () => {
      const { key } = await insert();
      const replaced = await Promise.all(
        Array.from({ length: times }, (_, index) => store(index % 2 === 0 ? 0 : 1).apiKeys.replace(key, grace)),
      );
      expect(replaced.filter((each) => each !== undefined)).toHaveLength(1);
      expect(await store().apiKeys.findByHash(key.hash)).toMatchObject({ id: key.id, expiresAt: grace.expiresAt });
      expect(await whole(store().apiKeys.listByDataApp(key.dataAppId, null))).toEqual([]);
      expect(await store().apiKeys.insert({ ...keySample({ name: key.name }), dataAppId: key.dataAppId })).toBe(true);
    });

    it('a rotation never makes one live longer', async () => {
      const { key } = await insert({ expiresAt: at(5) });
      expect(await store().apiKeys.replace(key, grace)).toMatchObject({ expiresAt: at(5) });
      expect(await store().apiKeys.findByHash(key.hash)).toMatchObject({ expiresAt: at(5) });
    });

    it('only its own data app replaces or revokes one', async () => {
      const { key, otherApp } = await insert();
      expect(await store().apiKeys.replace({ id: key.id, dataAppId: otherApp.id }, grace)).toBeUndefined();
      expect(await store().apiKeys.revoke(otherApp.id, key.name, at(0))).toBe(false);
      expect(await store().apiKeys.findByHash(key.hash)).toBeDefined();
    });

    it('what is revoked is a tombstone: known, and never found or made again', async () => {
      const { key } = await insert();
      expect(await store().apiKeys.isKnown(key.hash)).toBe(true);
      expect(await store().apiKeys.revoke(key.dataAppId, key.name, at(0))).toBe(true);
      expect(await store().apiKeys.revoke(key.dataAppId, key.name, at(0))).toBe(false);
      expect(await store().apiKeys.findByHash(key.hash)).toBeUndefined();
      expect(await store().apiKeys.isKnown(key.hash)).toBe(true);
      expect(await store().apiKeys.insert({ ...key, id: randomUUID() })).toBe(false);
      expect(await store().apiKeys.isKnown(hashToken(createToken()))).toBe(false);
    });

    it('a rotation that is under way during a revocation leaves no successor', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { key } = await insert();
        const successor = { ...keySample({ name: key.name }), dataAppId: key.dataAppId };
        const rotate = store(0).transaction(async (inner) => {
          if ((await inner.apiKeys.replace(key, grace)) !== undefined) await inner.apiKeys.insert(successor);
        });
        await Promise.all([rotate, store(1).apiKeys.revoke(key.dataAppId, key.name, at(0))]);
        expect(await store().apiKeys.findByHash(key.hash)).toBeUndefined();
        expect(await store().apiKeys.findByHash(successor.hash)).toBeUndefined();
      }
    });
  });
};

const serviceTokenTests = (store: (index?: 0 | 1) => Store): void => {
  describe('service tokens', () => {
    it('however many are revoked at the same time, one is left', async () => {
      const tokens = Array.from({ length: times }, () => keySample());
      for (const token of tokens) await store().serviceTokens.insert(token);
      const outcomes = await Promise.all(
        tokens.map(({ name }, index) => store(index % 2 === 0 ? 0 : 1).serviceTokens.revoke(name, at(0))),
      );
      expect(outcomes.filter((outcome) => outcome === 'revoked')).toHaveLength(times - 1);
      const [left, ...others] = await whole(store().serviceTokens.list(null));
      expect(others).toEqual([]);
      expect(await store().serviceTokens.revoke(left?.name ?? '', at(0))).toBe('last');
      expect(await store().serviceTokens.revoke('nobody', at(0))).toBe('unknown');
    });

    it('one in its grace does not count as left, nor one that has ended', async () => {
      const [kept, turned, ended] = [keySample(), keySample(), keySample({ expiresAt: at(0) })];
      for (const token of [kept, turned, ended]) await store().serviceTokens.insert(token);
      for (const { name } of await whole(store().serviceTokens.list(null)))
        if (![kept, turned, ended].some((token) => token.name === name))
          await store().serviceTokens.revoke(name, at(0));
      expect(await store().serviceTokens.replace(turned.id, grace)).toMatchObject({ name: turned.name });
      expect(await store().serviceTokens.replace(turned.id, grace)).toBeUndefined();
      expect(await store().serviceTokens.revoke(kept.name, at(0))).toBe('last');
      expect(await store().serviceTokens.insert(keySample({ name: turned.name }))).toBe(true);
      expect(await store().serviceTokens.revoke(kept.name, at(0))).toBe('revoked');
      expect(await store().serviceTokens.isKnown(kept.hash)).toBe(true);
      expect(await store().serviceTokens.findByHash(kept.hash)).toBeUndefined();
    });
  });
};

const epochTests = (store: (index?: 0 | 1) => Store): void => {
  describe('guest tokens', () => {
    const mint = async (
      subject: TokenSubject,
      parts: object = {},
      meanwhile: () => Promise<unknown> = async () => {},
    ) => {
      const epoch = await store().guestTokens.currentEpoch(subject);
      await meanwhile();
      const [hash, grant] = [
        hashToken(createToken()),
        grantSample(subject.dataAppId, { ...subject, expiresAt: null, ...parts }),
      ];
      expect(await store().guestTokens.insert(hash, grant, epoch)).toBe(true);
      return { hash, grant };
    };
    const isGood = async (hash: ReturnType<typeof hashToken>, index: 0 | 1 = 0) =>
      (await store(index).guestTokens.findByHash(hash)) !== undefined;
    const subjects = async () => {
      const { dataApp, otherApp } = await insertOrganization(store());
      const ana = { dataAppId: dataApp.id, clientId: 'acme', userIdentifier: 'ana' };
      return {
        ana,
        bob: { ...ana, userIdentifier: 'bob' },
        nobody: { ...ana, userIdentifier: null },
        globex: { ...ana, clientId: 'globex' },
        other: { ...ana, dataAppId: otherApp.id },
      };
    };
    const client = (userIdentifier: string | null) => ({ kind: 'client', clientId: 'acme', userIdentifier }) as const;

    it('comes with its client’s epoch: another one after each revocation and erasure of the client, never one that was before', async () => {
      const { ana, bob, nobody, globex, other } = await subjects();
      const epochOf = async (subject: TokenSubject) => {
        const { hash } = await mint(subject);
        const epoch = (await store(1).guestTokens.findByHash(hash))?.epoch;
        expect(epoch).toBe(await store().guestTokens.currentEpoch({ ...subject, userIdentifier: null }));
        return epoch;
      };
      const [first, elsewhere] = [await epochOf(ana), [await epochOf(globex), await epochOf(other)]];
      const revoke = (which: Revocation) => () => store().guestTokens.revoke(ana.dataAppId, which, at(0));
      await revoke(client('ana'))();
      expect([await epochOf(ana), await epochOf(bob), await epochOf(nobody)]).toEqual([first, first, first]);
      await revoke(client(null))();
      expect([await epochOf(globex), await epochOf(other)]).toEqual(elsewhere);
      const erase = () => store().clients.erase(ana.dataAppId, 'acme');
      const seen = new Set([first, await epochOf(ana)]);
      for (const change of [revoke(client(null)), erase, revoke(client(null)), revoke({ kind: 'all' }), erase, erase]) {
        await change();
        const [epoch, ...same] = [await epochOf(ana), await epochOf(bob), await epochOf(nobody)];
        expect(seen).not.toContain(epoch);
        expect(same).toEqual([epoch, epoch]);
        seen.add(epoch);
      }
    });

    it.each([
      ['a user', client('ana'), { ana: false, bob: true, nobody: true, globex: true, other: true }],
      ['a client', client(null), { ana: false, bob: false, nobody: false, globex: true, other: true }],
      ['a data app', { kind: 'all' }, { ana: false, bob: false, nobody: false, globex: false, other: true }],
    ] as const)('revoking %s ends its tokens, mints under way included, and no others', async (_, which, expected) => {
      const all = await subjects();
      const { dataAppId } = all.ana;
      const ended = Object.values(expected).filter((isLeft) => !isLeft).length;
      const before: Record<string, boolean> = {};
      const during: Record<string, boolean> = {};
      const stored = new Map<string, ReturnType<typeof hashToken>>();
      for (const [name, subject] of Object.entries(all)) stored.set(name, (await mint(subject)).hash);
      const epochs = new Map<string, Awaited<ReturnType<Store['guestTokens']['currentEpoch']>>>();
      for (const [name, subject] of Object.entries(all))
        epochs.set(name, await store(1).guestTokens.currentEpoch(subject));

      expect(await store(0).guestTokens.revoke(dataAppId, which, at(0))).toBe(ended);

      for (const [name, subject] of Object.entries(all)) {
        const [hash, epoch] = [hashToken(createToken()), epochs.get(name)];
        if (epoch === undefined) throw new Error('no epoch was read');
        await store(1).guestTokens.insert(hash, grantSample(subject.dataAppId, { ...subject, expiresAt: null }), epoch);
        during[name] = await isGood(hash);
        before[name] = await isGood(stored.get(name) ?? hash, 1);
        expect(await isGood((await mint(subject)).hash, 1), `${name}, minted afterwards`).toBe(true);
      }
      expect({ before, during }).toEqual({ before: expected, during: expected });
      // Tokens that were invalid from their mint are not counted. One of each was minted later.
      expect(await store(1).guestTokens.revoke(dataAppId, which, at(0))).toBe(ended);
    });

    it('a revocation in one process holds at the next read in another', async () => {
      const { ana } = await subjects();
      const { hash } = await mint(ana);
      for (let round = 0; round < 20; round += 1) {
        expect(await isGood(hash, 1)).toBe(round === 0);
        await store(0).guestTokens.revoke(ana.dataAppId, client('ana'), at(0));
      }
    });

    it('simultaneous revocations of overlapping subjects all succeed', async () => {
      const all = await subjects();
      for (let count = 0; count < 30; count += 1) for (const subject of Object.values(all)) await mint(subject);
      const counts = await Promise.all(
        [client('ana'), client(null), { kind: 'all' } as const, client('bob'), client(null)].map((which, index) =>
          store(index % 2 === 0 ? 0 : 1).guestTokens.revoke(all.ana.dataAppId, which, at(0)),
        ),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
    });

    it('one is ended by id or by itself, within its own data app', async () => {
      const { ana, other } = await subjects();
      const [one, two] = [await mint(ana), await mint(ana)];
      const revoke = (dataAppId: string, which: Parameters<Store['guestTokens']['revoke']>[1]) =>
        store().guestTokens.revoke(dataAppId, which, at(0));
      expect(await revoke(other.dataAppId, { kind: 'id', id: one.grant.id })).toBe(0);
      expect(await revoke(other.dataAppId, { kind: 'token', hash: one.hash })).toBe(0);
      expect([await isGood(one.hash), await isGood(two.hash)]).toEqual([true, true]);
      expect(await revoke(ana.dataAppId, { kind: 'id', id: one.grant.id })).toBe(1);
      expect([await isGood(one.hash), await isGood(two.hash)]).toEqual([false, true]);
      expect(await revoke(ana.dataAppId, { kind: 'token', hash: two.hash })).toBe(1);
      expect(await isGood(two.hash)).toBe(false);
    });

    it('lists what is good, oldest first', async () => {
      const { ana, bob, globex } = await subjects();
      const second = await mint(ana, { createdAt: at(2), expiresAt: at(10) });
      const first = await mint(bob, { createdAt: at(1) });
      await mint(globex, { createdAt: at(0), expiresAt: at(5) });
      const dead = await mint(bob, { createdAt: at(3) }, () =>
        store(1).guestTokens.revoke(ana.dataAppId, client('cid'), at(0)),
      );
      expect(await isGood(dead.hash)).toBe(true);
      const list = async (parts: object = {}, page: { number: number; size: number } | null = null) =>
        (await whole(store().guestTokens.listLive({ dataAppId: ana.dataAppId, now: at(5), ...parts }, page))).map(
          ({ id }) => id,
        );
      expect(await list()).toEqual([first.grant.id, second.grant.id, dead.grant.id]);
      expect(await list({ clientId: 'acme', userIdentifier: 'ana' })).toEqual([second.grant.id]);
      expect(await list({ now: at(10) })).toEqual([first.grant.id, dead.grant.id]);
      expect(await list({}, { number: 2, size: 2 })).toEqual([dead.grant.id]);
      await store(1).guestTokens.revoke(ana.dataAppId, client('bob'), at(0));
      expect(await list()).toEqual([second.grant.id]);
    });

    it('is refused if its data app or datamart was deleted', async () => {
      const { ana } = await subjects();
      const epoch = await store().guestTokens.currentEpoch(ana);
      const insert = (parts: object) =>
        store().guestTokens.insert(hashToken(createToken()), grantSample(ana.dataAppId, { ...ana, ...parts }), epoch);
      expect(await insert({ datamartId: randomUUID() })).toBe(false);
      await store().dataApps.delete(ana.dataAppId);
      expect(await insert({})).toBe(false);
    });
  });
};

const upkeepTests = (store: (index?: 0 | 1) => Store): void => {
  describe('upkeep', () => {
    it('removes tokens that expired before a time, and no others', async () => {
      const { dataApp } = await insertOrganization(store());
      const hashes = [at(0), at(1), null].map((expiresAt) => ({ hash: hashToken(createToken()), expiresAt }));
      for (const { hash, expiresAt } of hashes) {
        const grant = grantSample(dataApp.id, { expiresAt });
        await store().guestTokens.insert(hash, grant, await store().guestTokens.currentEpoch(grant));
      }
      await sweepKind(store().retention.of(noDays), 'tokens', at(1));
      const left = await Promise.all(hashes.map(({ hash }) => store().guestTokens.findByHash(hash)));
      expect(left.map((grant) => grant !== undefined)).toEqual([false, true, true]);
    });

    it('writes last uses of all kinds; the latest of several processes stays', async () => {
      const { dataApp } = await insertOrganization(store());
      const key = { ...keySample(), dataAppId: dataApp.id };
      const token = keySample();
      const grant = grantSample(dataApp.id, { expiresAt: null });
      await store().apiKeys.insert(key);
      await store().serviceTokens.insert(token);
      await store().guestTokens.insert(hashToken(createToken()), grant, await store().guestTokens.currentEpoch(grant));
      const uses = (seconds: number): readonly LastUse[] => [
        { kind: 'apiKey', id: key.id, at: at(seconds) },
        { kind: 'serviceToken', id: token.id, at: at(seconds) },
        { kind: 'guestToken', id: grant.id, at: at(seconds) },
        { kind: 'apiKey', id: grant.id, at: at(99) },
        { kind: 'guestToken', id: 'gone', at: at(99) },
      ];
      const used = async () => [
        (await store().apiKeys.findByHash(key.hash))?.lastUsedAt,
        (await store().serviceTokens.findByHash(token.hash))?.lastUsedAt,
        (await whole(store().guestTokens.listLive({ dataAppId: dataApp.id, now: at(0) }, null)))[0]?.lastUsedAt,
      ];
      await store(0).lastUses.write(uses(2));
      expect(await used()).toEqual([at(2), at(2), at(2)]);
      await store(1).lastUses.write(uses(1));
      expect(await used()).toEqual([at(2), at(2), at(2)]);
      await store(1).lastUses.write(uses(3));
      expect(await used()).toEqual([at(3), at(3), at(3)]);
      await store(1).lastUses.write([]);
    });

    it('writing last uses waits for no lock, and two processes that write the same ones do not block each other', async () => {
      const { dataApp } = await insertOrganization(store());
      const keys = Array.from({ length: 50 }, () => ({ ...keySample(), dataAppId: dataApp.id }));
      for (const key of keys) await store().apiKeys.insert(key);
      const uses = keys.map(({ id }): LastUse => ({ kind: 'apiKey', id, at: at(1) }));
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          store(index % 2 === 0 ? 0 : 1).lastUses.write(index % 2 === 0 ? uses : uses.toReversed()),
        ),
      );
      const written = await whole(store().apiKeys.listByDataApp(dataApp.id, null));
      expect(written.map(({ lastUsedAt }) => lastUsedAt)).toEqual(keys.map(() => at(1)));
    });
  });
};

const dataAppTests = (store: (index?: 0 | 1) => Store, database: () => Database): void => {
  describe('data apps', () => {
    it('of simultaneous renames to one name, one succeeds; a renamed item that was deleted is reported', async () => {
      const to = `race-${randomUUID()}`;
      const apps = Array.from({ length: times }, () => dataAppSample());
      for (const app of apps) await store().dataApps.insert(app);
      const outcomes = await Promise.all(
        apps.map((app, index) => store(index % 2 === 0 ? 0 : 1).dataApps.rename(app, { ...app, name: to })),
      );
      expect(outcomes.toSorted()).toEqual(['renamed', ...Array.from({ length: times - 1 }, () => 'taken')]);
      const [gone = dataAppSample()] = apps;
      await store().dataApps.delete(gone.id);
      expect(await store().dataApps.rename(gone, { ...gone, name: randomUUID() })).toBe('gone');
      expect([await store().dataApps.delete(gone.id), await store().dataApps.hold(gone.id)]).toEqual([false, false]);
    });

    it('everything that names a data app goes with it', async () => {
      const { rows } = await sql<{ name: string; rule: string }>`
        select conrelid::regclass::text as name, confdeltype::text as rule from pg_constraint
        where contype = 'f' and confrelid = 'guestlist.data_apps'::regclass order by 1`.execute(
        database().connect<Tables>(),
      );
      expect(rows.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['guestlist.api_keys', 'guestlist.guest_tokens', 'guestlist.revocation_epochs']),
      );
      expect(rows.filter(({ rule }) => rule !== 'c')).toEqual([]);
    });

    it('are listed by name, in pages', async () => {
      const all = (await whole(store().dataApps.list(null))).map(({ name }) => name);
      expect(all).toEqual(all.toSorted());
      expect((await whole(store().dataApps.list({ number: 2, size: 3 }))).map(({ name }) => name)).toEqual(
        all.slice(3, 6),
      );
    });
  });
};

const studioTests = (store: (index?: 0 | 1) => Store): void => {
  describe('sessions of Studio', () => {
    const session = (subject: string, expiresAt = at(60)): StudioSession => ({
      id: randomUUID(),
      hash: hashToken(createToken()),
      person: { issuer: 'link', subject, name: 'Operator', roles: ['owner'], seesData: true },
      createdAt: at(0),
      usedAt: at(0),
      expiresAt,
      ...{ vouchedAt: null, askedAt: null },
    });

    it('are found by hash and by id in every process, and end there', async () => {
      const own = session(randomUUID());
      await store().studioSessions.insert(own, null);
      expect(await store(1).studioSessions.findByHash(own.hash)).toEqual(own);
      await store(1).studioSessions.noteUse(own.id, at(7));
      expect(await store().studioSessions.findById(own.id)).toEqual({ ...own, usedAt: at(7) });
      await store().studioSessions.end(own.id);
      expect(await store(1).studioSessions.findById(own.id)).toBeUndefined();
      expect(await store(1).studioSessions.findByHash(own.hash)).toBeUndefined();
    });

    it('are asked for again by one process at a time, and keep what their issuer gave', async () => {
      const own = { ...session(randomUUID()), vouchedAt: at(0) };
      const [first, next] = (['first', 'next'] as const).map((token) => ({
        ...{ kind: 'refresh' as const, token, tellsRoles: true },
      }));
      if (first === undefined || next === undefined) throw new Error('there are two');
      await store().studioSessions.insert(own, first);
      expect(await store(1).studioSessions.findIssuerToken(own.id)).toEqual(first);
      const begun = await Promise.all(
        [0, 1].map((index) => store(index as 0 | 1).studioSessions.beginRecheck(own.id, null, at(300))),
      );
      expect(begun.toSorted()).toEqual([false, true]);
      expect(await store().studioSessions.noteRecheck(own.id, next, null)).toBe(true);
      expect(await store(1).studioSessions.findById(own.id)).toEqual({ ...own, askedAt: at(300) });
      const person = { ...own.person, roles: ['auditor' as const], seesData: false };
      expect(await store().studioSessions.beginRecheck(own.id, at(300), at(400))).toBe(true);
      expect(await store().studioSessions.noteRecheck(own.id, next, { person, at: at(400) })).toBe(true);
      const live = await store(1).studioSessions.listLive(at(59));
      expect(live.find(({ id }) => id === own.id)).toEqual({ ...own, person, vouchedAt: at(400), askedAt: at(400) });
      expect((await store().studioSessions.listLive(at(60))).map(({ id }) => id)).not.toContain(own.id);
      expect(await store(1).studioSessions.findIssuerToken(own.id)).toEqual(next);
      await store().studioSessions.end(own.id);
      expect(await store().studioSessions.noteRecheck(own.id, first, { person, at: at(500) })).toBe(false);
      expect(await store(1).studioSessions.findIssuerToken(own.id)).toBeUndefined();
    });

    it('sessions of Studio of one person end together; expired ones are removed', async () => {
      const [person, other] = [randomUUID(), randomUUID()];
      const sessions = [session(person), session(person), session(other), session(other, at(1))] as const;
      for (const one of sessions) await store().studioSessions.insert(one, null);
      expect(await store(1).studioSessions.endAllOf(sessions[0].person)).toBe(2);
      await store().studioSessions.removeExpired(at(2));
      const left = await Promise.all(sessions.map(({ id }) => store().studioSessions.findById(id)));
      expect(left).toEqual([undefined, undefined, sessions[2], undefined]);
    });
  });
};
