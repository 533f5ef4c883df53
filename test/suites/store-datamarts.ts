/** Datamarts, their semantic layers and everything that is deleted with them, on every metadata database. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { SemanticLayer } from '../../src/model/datamart/semantic-layer.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import {
  accessSettingsSample,
  dashboardSample,
  datamartSample,
  datasourceSample,
  embedSample,
  firstEpoch,
  grantSample,
  insertOrganization,
  metricSample,
  moment,
  workspaceSample,
} from './store-samples.js';

const times = 12;

const layerSample = (fields: Partial<SemanticLayer> = {}): SemanticLayer => ({
  tables: [
    {
      schemaName: 'main',
      tableName: 'flights',
      description: 'Flüge ✈️',
      synonyms: ['departures'],
      columns: [{ columnName: 'delay', description: null, synonyms: [], columnType: 'Number', isIdentifier: false }],
    },
  ],
  feedback: 'Delays are in minutes.',
  updatedAt: moment,
  ...fields,
});

export const datamartTests = (store: () => Store, database: () => Database): void => {
  describe('datamarts', () => {
    listTests(store);
    columnTests(store, database);
    lockTests(store);
    removalTests(store);
  });
  describe('semantic layers', () => layerTests(store));
  describe('embeds over a deleted datamart', () => embedTests(store));
};

const listTests = (store: () => Store): void => {
  it('lists by name in pages, with the name of the datasource', async () => {
    const datasource = datasourceSample();
    await store().datasources.insert(datasource);
    const prefix = randomUUID();
    const marts = ['b', 'B', 'é', 'a'].map((name) => datamartSample(datasource.id, { name: `${prefix}-${name}` }));
    for (const mart of marts) await store().datamarts.insert(mart);
    const listed = (await whole(store().datamarts.list(null))).filter(({ datamart }) =>
      datamart.name.startsWith(prefix),
    );
    expect(listed).toEqual([1, 3, 0, 2].map((index) => ({ datamart: marts[index], datasourceName: datasource.name })));
    const all = await whole(store().datamarts.list(null));
    expect(await whole(store().datamarts.list({ number: 1, size: 2 }))).toEqual(all.slice(0, 2));
    expect(await whole(store().datamarts.list({ number: 2, size: 2 }))).toEqual(all.slice(2, 4));
    expect(await whole(store().datamarts.list({ number: 1000, size: 10 }))).toEqual([]);
  });
};

const columnTests = (store: () => Store, database: () => Database): void => {
  it('keeps every member of a column, of a table and of tenancy', async () => {
    const { datamart } = await insertOrganization(store());
    const [table] = datamart.tables;
    if (table === undefined) throw new Error('the sample has no table');
    const full = {
      columnName: 'double',
      datatype: '',
      alias: 'd',
      label: '',
      isHide: true,
      isApplyTimezone: true,
      isCustomColumn: true,
      sql: "delay * 2 -- '\\",
      isAggregate: true,
      allowAggregate: true,
      defaultAggregation: 'SUM',
      defaultSort: 'DESC' as const,
    };
    const changed = {
      ...datamart,
      tables: [{ ...table, wildcard: 'flights-*', columns: [...table.columns, full] }],
      tenancy: { tenancyLevel: 'DATABASE' as const, primaryDatabase: 'main', tableName: 'clients' },
    };
    await store().datamarts.update(changed);
    expect(await store().datamarts.findById(datamart.id)).toEqual(changed);
  });

  it('reads a row of the first release, which has none of the later members', async () => {
    const { datasource } = await insertOrganization(store());
    const id = randomUUID();
    const column =
      '{"columnName":"a","datatype":"BIGINT","alias":"","label":"","isHide":false,"isApplyTimezone":false}';
    const tables = `[{"schemaName":"main","tableName":"t","label":"","clientColumn":null,"isHide":false,"columns":[${column}]}]`;
    await sql`insert into guestlist.datamarts
      values (${id}, ${id}, ${datasource.id}, null, ${tables}::jsonb, '[]', '[]', now(), now())`.execute(
      database().connect<Tables>(),
    );
    const found = await store().datamarts.findByName(id);
    expect(found?.tables[0]?.columns[0]).toEqual(JSON.parse(column));
    if (found === undefined) throw new Error('the row is not found');
    await store().datamarts.update(found);
    expect(await store().datamarts.findById(id)).toEqual(found);
  });
};

const lockTests = (store: () => Store): void => {
  it('lets one change it at a time: none of many changes is lost', async () => {
    const { datamart } = await insertOrganization(store());
    const names = Array.from({ length: times }, (_, index) => `t${index}`);
    await Promise.all(
      names.map((name) =>
        store().transaction(async (inner) => {
          const current = await inner.datamarts.lockByName(datamart.name);
          if (current === undefined) throw new Error('the datamart is gone');
          await inner.datamarts.update({ ...current, sharedTables: [...current.sharedTables, name] });
        }),
      ),
    );
    const found = await store().datamarts.findById(datamart.id);
    expect(found?.sharedTables.toSorted()).toEqual([...datamart.sharedTables, ...names].toSorted());
  });

  it('locks nothing under another name', async () => {
    expect(await store().datamarts.lockByName(randomUUID())).toBeUndefined();
  });
};

const removalTests = (store: () => Store): void => {
  it('takes its layer and the tokens scoped to it along; its workspaces stay without it', async () => {
    const { dataApp, datasource, datamart, workspace } = await insertOrganization(store());
    const other = datamartSample(datasource.id);
    const elsewhere = workspaceSample({ datamartId: other.id });
    const dashboard = dashboardSample(workspace.id);
    await store().datamarts.insert(other);
    await store().workspaces.insert(elsewhere);
    await store().dashboards.insert(dashboard);
    await store().semanticLayers.insert(datamart.id, layerSample());
    await store().semanticLayers.insert(other.id, layerSample());
    const hashes = [datamart.id, other.id, null].map((datamartId) => ({ datamartId, hash: hashToken(createToken()) }));
    for (const { hash, datamartId } of hashes) {
      await store().guestTokens.insert(hash, grantSample(dataApp.id, { datamartId, allowedEmbeds: null }), firstEpoch);
    }
    await store().datamarts.remove(datamart.id);
    expect(await store().datamarts.findById(datamart.id)).toBeUndefined();
    expect(await store().semanticLayers.findByDatamart(datamart.id)).toBeUndefined();
    expect(await store().semanticLayers.findByDatamart(other.id)).toEqual(layerSample());
    const found = await Promise.all(hashes.map(({ hash }) => store().guestTokens.findByHash(hash)));
    expect(found.map((grant) => grant?.datamartId)).toEqual([undefined, other.id, null]);
    expect(await store().workspaces.findById(workspace.id)).toEqual({ ...workspace, datamartId: null });
    expect(await store().workspaces.findById(elsewhere.id)).toEqual(elsewhere);
    expect(await store().dashboards.findById(dashboard.id)).toEqual(dashboard);
  });
};

const layerTests = (store: () => Store): void => {
  it('gives a layer back whole, updates and removes it', async () => {
    const { datamart } = await insertOrganization(store());
    expect(await store().semanticLayers.findByDatamart(datamart.id)).toBeUndefined();
    expect(await store().semanticLayers.insert(datamart.id, layerSample())).toBe(true);
    expect(await store().semanticLayers.findByDatamart(datamart.id)).toEqual(layerSample());
    expect(await store().semanticLayers.insert(datamart.id, layerSample({ feedback: 'second' }))).toBe(false);
    const changed = layerSample({ tables: [], feedback: null, updatedAt: new Date(moment.getTime() + 1) });
    await store().semanticLayers.update(datamart.id, changed);
    expect(await store().semanticLayers.findByDatamart(datamart.id)).toEqual(changed);
    expect(await store().semanticLayers.remove(datamart.id)).toBe(true);
    expect(await store().semanticLayers.remove(datamart.id)).toBe(false);
    await expect(store().semanticLayers.update(datamart.id, changed)).rejects.toThrow(/does not exist/);
  });

  it('of simultaneous inserts one succeeds', async () => {
    const { datamart } = await insertOrganization(store());
    const answers = await Promise.all(
      Array.from({ length: times }, (_, index) =>
        store().semanticLayers.insert(datamart.id, layerSample({ feedback: `${index}` })),
      ),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    const kept = await store().semanticLayers.findByDatamart(datamart.id);
    expect(kept?.feedback).toBe(`${answers.indexOf(true)}`);
  });

  it('refuses a layer of no datamart', async () => {
    await expect(store().semanticLayers.insert(randomUUID(), layerSample())).rejects.toThrow();
  });
};

const embedTests = (store: () => Store): void => {
  it('are removed in every data app, and from the tokens that name them', async () => {
    const { dataApp, otherApp, workspace, datamart } = await insertOrganization(store());
    const [dashboard, metric] = [dashboardSample(workspace.id), metricSample(workspace.id)];
    await store().dashboards.insert(dashboard);
    await store().metrics.insert(metric);
    const over = { accessSettings: { ...accessSettingsSample, datamartName: datamart.name } };
    const gone = embedSample(dataApp.id, dashboard.id, over);
    const single = embedSample(dataApp.id, dashboard.id, { ...over, embedType: 'metric', metricId: metric.metricId });
    const foreign = embedSample(otherApp.id, dashboard.id, over);
    const kept = embedSample(dataApp.id, dashboard.id);
    const bare = embedSample(dataApp.id, dashboard.id, { accessSettings: null });
    // The other data app has an embed of the same id, which names another datamart.
    const namesake = embedSample(otherApp.id, dashboard.id, { embedId: gone.embedId });
    for (const embed of [gone, single, foreign, kept, bare, namesake]) {
      expect(await store().embeds.insert(embed)).toBe(true);
    }
    const lists: readonly (readonly [string, readonly string[] | null, readonly string[] | null | undefined])[] = [
      [dataApp.id, [gone.embedId], undefined],
      [dataApp.id, [single.embedId, gone.embedId], undefined],
      [dataApp.id, [gone.embedId, kept.embedId, single.embedId], [kept.embedId]],
      [dataApp.id, [kept.embedId], [kept.embedId]],
      [dataApp.id, [], []],
      [dataApp.id, null, null],
      [otherApp.id, [foreign.embedId], undefined],
      [otherApp.id, [gone.embedId], [gone.embedId]],
    ];
    const hashes = lists.map(() => hashToken(createToken()));
    for (const [index, [dataAppId, allowedEmbeds]] of lists.entries()) {
      const hash = hashes[index];
      if (hash !== undefined)
        await store().guestTokens.insert(hash, grantSample(dataAppId, { allowedEmbeds }), firstEpoch);
    }
    await store().embeds.removeByDatamart(datamart.name);
    expect(await whole(store().embeds.listByDataApp(dataApp.id, null))).toEqual(
      [kept, bare].toSorted((a, b) => (a.embedId < b.embedId ? -1 : 1)),
    );
    expect(await whole(store().embeds.listByDataApp(otherApp.id, null))).toEqual([namesake]);
    const grants = await Promise.all(hashes.map((hash) => store().guestTokens.findByHash(hash)));
    expect(grants.map((grant) => grant?.allowedEmbeds)).toEqual(lists.map(([, , after]) => after));
    await store().embeds.removeByDatamart(datamart.name);
  });
};
