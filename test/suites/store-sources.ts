/** What the store must do with datasources and workspaces, in addition to what all named records have in common. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Sealed } from '../../src/model/brand.js';
import type { ClientLevel, SourceTable } from '../../src/model/datamart/source-schema.js';
import { isFile } from '../../src/model/organization.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { createSealer, textOfSealed } from '../../src/platform/keys/sealing.js';
import type { SyncedSource } from '../../src/service/store/source-syncs.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { dump } from './dump.js';
import { datasourceSample, moment, serverSample, workspaceSample } from './store-samples.js';

const tables: readonly SourceTable[] = [
  {
    schemaName: 'main',
    tableName: 'sales',
    columns: [{ columnName: 'id', datatype: 'BIGINT', isNullable: false }],
    primaryKey: ['id'],
    uniqueKeys: [['client', 'day']],
    foreignKeys: [
      { columns: ['shop'], references: { schemaName: 'main', tableName: 'shops' }, referencedColumns: ['id'] },
    ],
  },
];

const found = (tables: readonly SourceTable[]): SyncedSource => ({
  tables,
  clientDatabases: { DATABASE: [], MULTI_DATABASE: [] },
});

const at = (seconds: number): Date => new Date(moment.getTime() + seconds * 1000);

export const sourceTests = (store: () => Store, database: () => Database): void => {
  describe('datasources', () => {
    credentialTests(store, database);
    schemaTests(store);
  });
  workspaceTests(store);
};

const credentialTests = (store: () => Store, database: () => Database): void => {
  const sealedOf = async (id: string): Promise<Sealed> => {
    const db = database().connect<Tables>().withSchema('guestlist');
    const { sealed } = await db
      .selectFrom('datasources')
      .select('sealed')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (sealed === null) throw new Error('nothing is sealed');
    return sealed;
  };
  const writeSealed = async (id: string, sealed: Sealed): Promise<void> => {
    const db = database().connect<Tables>().withSchema('guestlist');
    await db.updateTable('datasources').set({ sealed }).where('id', '=', id).execute();
  };

  it('gives a server back with its credentials', async () => {
    const empty = serverSample({ password: '', datasourceType: 'MYSQL', port: 3306, isSsl: false, schema: null });
    for (const sample of [serverSample(), serverSample({ schema: 'sales' }), empty]) {
      expect(await store().datasources.insert(sample)).toBe(true);
      expect(await store().datasources.findByName(sample.name)).toEqual(sample);
      const changed = { ...sample, password: 'another' };
      await store().datasources.update(changed);
      expect(await store().datasources.findById(sample.id)).toEqual(changed);
    }
  });

  it('keeps no credential in clear, in any table', async () => {
    const sample = serverSample();
    if (isFile(sample)) throw new Error('no server');
    await store().datasources.insert(sample);
    await store().datasources.saveSync(sample.id, found(tables), at(1));
    const text = await dump(database());
    expect(text).toContain(sample.name);
    const words = [sample.password, sample.password.slice(5, 41), sample.username, sample.host];
    for (const word of words) {
      expect(text).not.toContain(word);
      for (const encoding of ['base64', 'base64url', 'hex'] as const)
        expect(text).not.toContain(Buffer.from(word).toString(encoding).slice(0, 20));
    }
  });

  it('seals alike credentials differently', async () => {
    const [one, two] = [serverSample(), serverSample()];
    await store().datasources.insert(one);
    await store().datasources.insert({ ...two, ...one, id: two.id, name: two.name });
    expect(await sealedOf(one.id)).not.toBe(await sealedOf(two.id));
  });

  it('does not open what was moved from another datasource', async () => {
    const [one, two] = [serverSample(), serverSample()];
    await store().datasources.insert(one);
    await store().datasources.insert(two);
    await writeSealed(one.id, await sealedOf(two.id));
    await expect(store().datasources.findById(one.id)).rejects.toThrow(/changed, or moved/);
    expect(await store().datasources.findById(two.id)).toEqual(two);
  });

  it('does not open what was changed', async () => {
    const sample = serverSample();
    await store().datasources.insert(sample);
    const sealed = textOfSealed(await sealedOf(sample.id));
    const changed = `${sealed.slice(0, 40)}${sealed[40] === 'A' ? 'B' : 'A'}${sealed.slice(41)}`;
    await writeSealed(sample.id, changed as unknown as Sealed);
    await expect(store().datasources.findById(sample.id)).rejects.toThrow(/changed, or moved/);
  });

  it('a store with another key still lists, names the setting to correct, and accepts the credentials again', async () => {
    const sample = serverSample();
    await store().datasources.insert(sample);
    const other = createStore(database().connect<Tables>(), createSealer(crypto.getRandomValues(Buffer.alloc(32))));
    const { id, name, datasourceType, syncedAt } = sample;
    expect(await other.datasources.findSummary(name)).toEqual({ id, name, datasourceType, syncedAt });
    expect(await whole(other.datasources.list(null))).toContainEqual({ id, name, datasourceType, syncedAt });
    await expect(other.datasources.findByName(name)).rejects.toThrow(/GUESTLIST_ENCRYPTION_KEY/);
    await other.datasources.update(sample);
    expect(await other.datasources.findByName(name)).toEqual(sample);
    await expect(store().datasources.findByName(name)).rejects.toThrow(/GUESTLIST_ENCRYPTION_KEY/);
  });
};

const schemaTests = (store: () => Store): void => {
  it('keeps the client databases of the latest sync, by exact name; without a sync there are none', async () => {
    const [sample, other] = [datasourceSample(), datasourceSample()];
    await store().datasources.insert(sample);
    await store().datasources.insert(other);
    const { findClientDatabase, saveSync } = store().datasources;
    const find = (name: string, level: ClientLevel = 'DATABASE') => findClientDatabase(sample.id, level, name);
    expect(await find('acme')).toBeUndefined();
    const many = Array.from({ length: 5001 }, (_, index) => `client_${index}`);
    const clientDatabases = { DATABASE: ['acme', 'Müller', ...many], MULTI_DATABASE: ['schema'] };
    await saveSync(sample.id, { tables, clientDatabases }, at(10));
    for (const name of ['acme', 'Müller', 'client_5000']) expect(await find(name)).toBe(name);
    expect(await find('schema', 'MULTI_DATABASE')).toBe('schema');
    const { listClientDatabases } = store().datasources;
    expect(await listClientDatabases(sample.id, 'MULTI_DATABASE', 5)).toEqual(['schema']);
    expect((await listClientDatabases(sample.id, 'DATABASE', 2)).length).toBe(2);
    expect(await listClientDatabases(other.id, 'DATABASE', 5)).toEqual([]);
    for (const name of ['ACME', 'acme ', 'acmé', 'müller', 'acm_', '%', '', 'schema', 'acme\0']) {
      expect(await find(name)).toBeUndefined();
    }
    expect(await find('acme', 'MULTI_DATABASE')).toBeUndefined();
    expect(await findClientDatabase(other.id, 'DATABASE', 'acme')).toBeUndefined();
    await saveSync(sample.id, found([]), at(5));
    expect(await find('acme')).toBe('acme');
    await saveSync(sample.id, found([]), at(11));
    expect(await find('acme')).toBeUndefined();
  });

  it('keeps what was found, and the latest of it', async () => {
    const sample = datasourceSample();
    await store().datasources.insert(sample);
    expect(await store().datasources.findTables(sample.id)).toBeUndefined();
    await store().datasources.saveSync(sample.id, found(tables), at(10));
    expect(await store().datasources.findTables(sample.id)).toEqual(tables);
    await store().datasources.saveSync(sample.id, found([]), at(5));
    expect(await store().datasources.findTables(sample.id)).toEqual(tables);
    expect((await store().datasources.findById(sample.id))?.syncedAt).toEqual(at(10));
    await store().datasources.saveSync(sample.id, found([]), at(10));
    expect(await store().datasources.findTables(sample.id)).toEqual([]);
    await store().datasources.update({ ...sample, syncedAt: at(20) });
    expect(await store().datasources.findTables(sample.id)).toEqual([]);
    expect(await store().datasources.findTables(randomUUID())).toBeUndefined();
  });

  it('are listed in order of names, by pages', async () => {
    const prefix = `list-${randomUUID()}-`;
    for (const name of ['b', 'a', 'B', 'ä'])
      await store().datasources.insert(datasourceSample({ name: prefix + name }));
    const names = async (page: Parameters<Store['datasources']['list']>[0]) =>
      (await whole(store().datasources.list(page))).map(({ name }) => name);
    const all = await names(null);
    expect(all.filter((name) => name.startsWith(prefix))).toEqual(['B', 'a', 'b', 'ä'].map((name) => prefix + name));
    expect(await names({ number: 2, size: 3 })).toEqual(all.slice(3, 6));
  });
};

const workspaceTests = (store: () => Store): void => {
  describe('workspaces', () => {
    it('keep their settings, and lose those that are left out', async () => {
      const plain = workspaceSample({ connectionType: 'MULTI_DATAMART' });
      const full = {
        ...workspaceSample({ connectionType: 'MULTI_DATASOURCE' }),
        llmName: 'gpt',
        aiCopilotLlms: ['gpt', ''],
        isEnableMetricSuggestions: false,
        isEnableMetricSummary: true,
        summaryType: 'custom',
        customSummaryPrompt: 'é\n"quoted"',
        themeName: 'dark',
      };
      for (const workspace of [plain, full]) {
        await store().workspaces.insert(workspace);
        expect(await store().workspaces.findById(workspace.id)).toEqual(workspace);
      }
      await store().workspaces.update({ ...plain, id: full.id, name: full.name });
      expect(await store().workspaces.findByName(full.name)).toEqual({ ...plain, id: full.id, name: full.name });
    });

    it('are listed in order of names, by pages', async () => {
      const prefix = `list-${randomUUID()}-`;
      for (const name of ['b', 'a', 'B']) await store().workspaces.insert(workspaceSample({ name: prefix + name }));
      const all = (await whole(store().workspaces.list(null))).map(({ name }) => name);
      expect(all.filter((name) => name.startsWith(prefix))).toEqual(['B', 'a', 'b'].map((name) => prefix + name));
      expect((await whole(store().workspaces.list({ number: 2, size: 2 }))).map(({ name }) => name)).toEqual(
        all.slice(2, 4),
      );
    });
  });
};
