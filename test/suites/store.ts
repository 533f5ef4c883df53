/** What every metadata database must do for the store. The suite does not know which database it runs on. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workspace } from '../../src/model/organization.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { dump } from './dump.js';
import { guestTests } from './guest-store.js';
import { testSealer } from './sealer.js';
import { contentTests } from './store-content.js';
import { datamartTests } from './store-datamarts.js';
import { deliveryTests } from './store-deliveries.js';
import {
  dashboardSample,
  dataAppSample,
  datamartSample,
  datasourceSample,
  embedSample,
  firstEpoch,
  grantSample,
  insertOrganization,
  keySample,
  metricSample,
  moment,
  workspaceSample,
} from './store-samples.js';
import { sourceTests } from './store-sources.js';

type Context = { database: Database; store: Store };

export const storeSuite = (name: string, open: () => Promise<Database>): void => {
  describe(`store on ${name}`, () => {
    const context: Partial<Context> = {};
    const store = (): Store => {
      if (context.store === undefined) throw new Error('the database did not open');
      return context.store;
    };
    const database = (): Database => {
      if (context.database === undefined) throw new Error('the database did not open');
      return context.database;
    };
    beforeAll(async () => {
      context.database = await open();
      context.store = createStore(context.database.connect<Tables>(), testSealer, context.database.writes);
    }, 60_000);
    afterAll(async () => context.database?.close());

    organizationTests(store);
    sourceTests(store, database);
    credentialTests(store, database);
    dashboardTests(store);
    metricTests(store);
    embedTests(store);
    raceTests(store);
    transactionTests(store, database);
    textTests(store, database);
    contentTests(store);
    deletionTests(store, database);
    datamartTests(store, database);
    embedDeletionTests(store);
    guestTests(store, database);
    boardTests(store);
    deliveryTests(store, database);
  });
};

const organizationTests = (store: () => Store): void => {
  describe('data apps, datasources, datamarts, workspaces', () => {
    it('gives back what was inserted, by name and by id', async () => {
      const { dataApp, datasource, datamart, workspace } = await insertOrganization(store());
      expect(await store().dataApps.findByName(dataApp.name)).toEqual(dataApp);
      expect(await store().dataApps.findById(dataApp.id)).toEqual(dataApp);
      expect(await store().datasources.findByName(datasource.name)).toEqual(datasource);
      expect(await store().datasources.findById(datasource.id)).toEqual(datasource);
      expect(await store().datamarts.findByName(datamart.name)).toEqual(datamart);
      expect(await store().datamarts.findById(datamart.id)).toEqual(datamart);
      expect(await store().workspaces.findByName(workspace.name)).toEqual(workspace);
      expect(await store().workspaces.findById(workspace.id)).toEqual(workspace);
    });

    it('finds nothing under another name', async () => {
      const { dataApp, datasource, datamart, workspace } = await insertOrganization(store());
      for (const taken of [dataApp.name.toUpperCase(), `${dataApp.name} `, '%', dataApp.id]) {
        expect(await store().dataApps.findByName(taken)).toBeUndefined();
      }
      expect(await store().dataApps.findById(dataApp.name)).toBeUndefined();
      expect(await store().datasources.findByName(datasource.id)).toBeUndefined();
      expect(await store().datasources.findById(datasource.name)).toBeUndefined();
      expect(await store().datamarts.findByName(datamart.id)).toBeUndefined();
      expect(await store().datamarts.findById(datamart.name)).toBeUndefined();
      expect(await store().workspaces.findByName(workspace.id)).toBeUndefined();
      expect(await store().workspaces.findById(workspace.name)).toBeUndefined();
    });

    it("throws if a rename uses another item's name", async () => {
      const { dataApp, otherApp } = await insertOrganization(store());
      await expect(store().dataApps.update({ ...dataApp, name: otherApp.name })).rejects.toThrow();
      expect(await store().dataApps.findById(dataApp.id)).toEqual(dataApp);
    });

    it('returns false for a taken name and keeps the first item', async () => {
      const { dataApp, datasource, datamart, workspace } = await insertOrganization(store());
      expect(await store().dataApps.insert(dataAppSample({ name: dataApp.name }))).toBe(false);
      expect(await store().datasources.insert(datasourceSample({ name: datasource.name }))).toBe(false);
      expect(await store().datamarts.insert(datamartSample(datasource.id, { name: datamart.name }))).toBe(false);
      expect(await store().workspaces.insert(workspaceSample({ name: workspace.name }))).toBe(false);
      expect(await store().dataApps.findByName(dataApp.name)).toEqual(dataApp);
      expect(await store().datamarts.findByName(datamart.name)).toEqual(datamart);
    });

    it('updates by id, to null and back', async () => {
      const { dataApp, datasource, datamart, workspace } = await insertOrganization(store());
      const renamed = { ...dataApp, name: `renamed-${randomUUID()}`, updatedAt: new Date(moment.getTime() + 1000) };
      await store().dataApps.update(renamed);
      expect(await store().dataApps.findById(dataApp.id)).toEqual(renamed);
      expect(await store().dataApps.findByName(dataApp.name)).toBeUndefined();
      const moved = { ...datasource, path: 'elsewhere.duckdb' };
      await store().datasources.update(moved);
      expect(await store().datasources.findById(datasource.id)).toEqual(moved);
      const bare = { ...datamart, tenancy: null, tables: [], relationships: [], sharedTables: [] };
      await store().datamarts.update(bare);
      expect(await store().datamarts.findById(datamart.id)).toEqual(bare);
      await store().datamarts.update(datamart);
      expect(await store().datamarts.findById(datamart.id)).toEqual(datamart);
      const unbound = { ...workspace, connectionType: 'DATASOURCE' as const, datamartId: null };
      await store().workspaces.update(unbound);
      expect(await store().workspaces.findById(workspace.id)).toEqual(unbound);
    });

    it('throws if there is no row to update', async () => {
      const { datasource } = await insertOrganization(store());
      await expect(store().dataApps.update(dataAppSample())).rejects.toThrow(/does not exist/);
      await expect(store().datasources.update(datasourceSample())).rejects.toThrow(/does not exist/);
      await expect(store().datamarts.update(datamartSample(datasource.id))).rejects.toThrow(/does not exist/);
      await expect(store().workspaces.update(workspaceSample())).rejects.toThrow(/does not exist/);
    });

    it('refuses to point at what is not there', async () => {
      await expect(store().datamarts.insert(datamartSample(randomUUID()))).rejects.toThrow();
      await expect(store().workspaces.insert(workspaceSample({ datamartId: randomUUID() }))).rejects.toThrow();
    });
  });
};

const credentialTests = (store: () => Store, database: () => Database): void => {
  describe('credentials', () => {
    it('finds an API key by its hash, with its data app', async () => {
      const { dataApp } = await insertOrganization(store());
      const key = { ...keySample({ expiresAt: moment }), dataAppId: dataApp.id, description: null };
      expect(await store().apiKeys.insert(key)).toBe(true);
      expect(await store().apiKeys.findByHash(key.hash)).toEqual({ ...key, dataAppName: dataApp.name });
      expect(await store().apiKeys.findByHash(hashToken(createToken()))).toBeUndefined();
      expect(await store().serviceTokens.findByHash(key.hash)).toBeUndefined();
      expect(await store().apiKeys.insert({ ...key, id: randomUUID() })).toBe(false);
    });

    it('finds a service token by its hash', async () => {
      const key = keySample();
      expect(await store().serviceTokens.insert(key)).toBe(true);
      expect(await store().serviceTokens.findByHash(key.hash)).toEqual(key);
      expect(await store().apiKeys.findByHash(key.hash)).toBeUndefined();
      expect(await store().serviceTokens.insert({ ...key, id: randomUUID() })).toBe(false);
    });

    it('gives a guest grant back whole, its dates as dates', async () => {
      const { dataApp, datamart } = await insertOrganization(store());
      const wide = grantSample(dataApp.id, { allowedEmbeds: null, expiresAt: null, timezone: null });
      const narrow = grantSample(dataApp.id, {
        allowedEmbeds: [],
        userIdentifier: 'ana@example.com',
        datamartId: datamart.id,
      });
      for (const grant of [wide, narrow]) {
        const hash = hashToken(createToken());
        await store().guestTokens.insert(hash, grant, firstEpoch);
        expect(await store().guestTokens.findByHash(hash)).toEqual({
          ...grant,
          hash,
          epoch: firstEpoch,
          revision: expect.stringMatching(/^\d+$/),
        });
      }
      expect(await store().guestTokens.findByHash(hashToken(createToken()))).toBeUndefined();
    });

    it('does not overwrite a guest token', async () => {
      const { dataApp } = await insertOrganization(store());
      const hash = hashToken(createToken());
      const grant = grantSample(dataApp.id);
      await store().guestTokens.insert(hash, grant, firstEpoch);
      const second = grantSample(dataApp.id, { clientId: 'ATL' });
      await expect(store().guestTokens.insert(hash, second, firstEpoch)).rejects.toThrow();
      expect(await store().guestTokens.findByHash(hash)).toEqual({
        ...grant,
        hash,
        epoch: firstEpoch,
        revision: expect.stringMatching(/^\d+$/),
      });
    });

    it('keeps no token in clear, in any table', async () => {
      const { dataApp } = await insertOrganization(store());
      const [apiKey, serviceToken, guestToken] = [createToken(), createToken(), createToken()];
      const marker = `marker-${randomUUID()}`;
      await store().apiKeys.insert({ ...keySample({ hash: hashToken(apiKey), name: marker }), dataAppId: dataApp.id });
      await store().serviceTokens.insert(keySample({ hash: hashToken(serviceToken), name: marker }));
      await store().guestTokens.insert(
        hashToken(guestToken),
        grantSample(dataApp.id, { clientId: marker }),
        firstEpoch,
      );
      const text = await dump(database());
      expect(text.split(marker)).toHaveLength(4);
      for (const token of [apiKey, serviceToken, guestToken]) {
        expect(text).toContain(hashToken(token));
        expect(text).not.toContain(token);
        expect(text).not.toContain(token.replaceAll('-', ''));
      }
    });

    it('accepts only a hash as a hash', async () => {
      const clear = createToken() as ReturnType<typeof hashToken>;
      await expect(store().serviceTokens.insert(keySample({ hash: clear }))).rejects.toThrow();
    });
  });
};

const dashboardTests = (store: () => Store): void => {
  describe('dashboards', () => {
    it('gives a dashboard back whole and updates it', async () => {
      const { workspace, owner } = await insertOrganization(store());
      const template = dashboardSample(workspace.id);
      const clone = dashboardSample(workspace.id, {
        owner,
        templateId: template.id,
        metadata: { a: [1, { b: null }] },
      });
      expect(await store().dashboards.insert(template)).toBe(true);
      expect(await store().dashboards.insert(clone)).toBe(true);
      expect(await store().dashboards.findById(clone.id)).toEqual(clone);
      const changed = { ...clone, name: 'Other', layout: [], filters: [], metadata: null, gridMargin: [] };
      await store().dashboards.update({ ...changed, isAllowPrivateMetricsByDefault: true });
      expect(await store().dashboards.findById(clone.id)).toEqual({ ...changed, isAllowPrivateMetricsByDefault: true });
      expect(await store().dashboards.findById(template.id)).toEqual(template);
      await expect(store().dashboards.update(dashboardSample(workspace.id))).rejects.toThrow(/does not exist/);
      expect(await store().dashboards.findById(randomUUID())).toBeUndefined();
    });

    it('keeps owner and external id in every update', async () => {
      const { workspace, owner, otherOwner } = await insertOrganization(store());
      const [board, metric] = [dashboardSample(workspace.id, { owner }), metricSample(workspace.id, { owner })];
      await store().dashboards.insert(board);
      await store().metrics.insert(metric);
      for (const of of [null, otherOwner, { ...owner, clientId: 'ATL' }]) {
        await expect(store().dashboards.update({ ...board, owner: of })).rejects.toThrow(/does not exist/);
        await expect(store().metrics.update({ ...metric, owner: of })).rejects.toThrow(/does not exist/);
      }
      await expect(store().dashboards.update({ ...board, externalDashboardId: 'x' })).rejects.toThrow(/does not exist/);
      expect(await store().dashboards.findById(board.id)).toEqual(board);
      expect(await store().metrics.findById(metric.metricId)).toEqual(metric);
    });

    it("takes the data app's own before the organization's, and never another data app's", async () => {
      const { workspace, owner, otherOwner, dataApp, otherApp } = await insertOrganization(store());
      const externalDashboardId = `delays-${randomUUID()}`;
      const sample = (fields: object) => dashboardSample(workspace.id, { externalDashboardId, ...fields });
      const other = sample({ owner: otherOwner });
      await store().dashboards.insert(other);
      expect(await store().dashboards.findByExternalId(dataApp.id, externalDashboardId)).toBeUndefined();
      expect(await store().dashboards.findTemplate(externalDashboardId)).toBeUndefined();
      const template = sample({});
      expect(await store().dashboards.insert(template)).toBe(true);
      expect(await store().dashboards.findByExternalId(dataApp.id, externalDashboardId)).toEqual(template);
      const own = sample({ owner });
      expect(await store().dashboards.insert(own)).toBe(true);
      expect(await store().dashboards.findByExternalId(dataApp.id, externalDashboardId)).toEqual(own);
      expect(await store().dashboards.findByExternalId(otherApp.id, externalDashboardId)).toEqual(other);
      expect(await store().dashboards.findTemplate(externalDashboardId)).toEqual(template);
    });

    it('returns false for a taken external id: per data app, for any client, and in the organization', async () => {
      const { workspace, owner } = await insertOrganization(store());
      const externalDashboardId = `taken-${randomUUID()}`;
      const insert = (fields: object) =>
        store().dashboards.insert(dashboardSample(workspace.id, { externalDashboardId, ...fields }));
      expect(await insert({ owner })).toBe(true);
      expect(await insert({ owner: { ...owner, clientId: 'ATL' } })).toBe(false);
      expect(await insert({})).toBe(true);
      expect(await insert({})).toBe(false);
    });

    it("lists the organization's and the data app's own, by name and then external id, in pages", async () => {
      const { workspace, owner, otherOwner, dataApp } = await insertOrganization(store());
      const insert = async (name: string, externalDashboardId: string, of: typeof owner | null) => {
        await store().dashboards.insert(dashboardSample(workspace.id, { name, externalDashboardId, owner: of }));
      };
      const prefix = randomUUID();
      await insert('b', `${prefix}-2`, null);
      await insert('é', `${prefix}-3`, owner);
      await insert('b', `${prefix}-1`, owner);
      await insert('B', `${prefix}-4`, null);
      await insert('a', `${prefix}-5`, otherOwner);
      const list = async (dataAppId: string | null, page: { number: number; size: number } | null) =>
        (await whole(store().dashboards.listByWorkspace(workspace.id, dataAppId, page))).map(
          ({ name, externalDashboardId }) => name + externalDashboardId.slice(-1),
        );
      expect(await list(dataApp.id, null)).toEqual(['B4', 'b1', 'b2', 'é3']);
      expect(await list(null, null)).toEqual(['B4', 'b2']);
      expect(await list(dataApp.id, { number: 1, size: 3 })).toEqual(['B4', 'b1', 'b2']);
      expect(await list(dataApp.id, { number: 2, size: 3 })).toEqual(['é3']);
      expect(await list(dataApp.id, { number: 3, size: 3 })).toEqual([]);
      expect(await whole(store().dashboards.listByWorkspace(randomUUID(), dataApp.id, null))).toEqual([]);
    });

    it('holds its metrics in the order they were placed in, and replaces them', async () => {
      const { workspace } = await insertOrganization(store());
      const dashboard = dashboardSample(workspace.id);
      const metrics = ['z', 'a', 'm'].map((name) => metricSample(workspace.id, { name }));
      await store().dashboards.insert(dashboard);
      for (const metric of metrics) await store().metrics.insert(metric);
      const later = new Date(moment.getTime() + 1);
      const place = (order: readonly number[], now = moment) =>
        store().dashboards.placeMetrics(
          dashboard.id,
          order.flatMap((index) => metrics[index] ?? []).map(({ metricId }) => ({ metricId, placement: 'METRIC' })),
          now,
        );
      await place([0, 1]);
      const placed = await store().dashboards.listMetrics(dashboard.id);
      expect(placed).toEqual([
        { metric: metrics[0], placement: 'METRIC', placedAt: moment },
        { metric: metrics[1], placement: 'METRIC', placedAt: moment },
      ]);
      await place([2, 1, 0], later);
      // A metric that was already placed keeps its time, so a token that was minted in between still knows it.
      expect((await store().dashboards.listMetrics(dashboard.id)).map(({ placedAt }) => placedAt)).toEqual([
        later,
        moment,
        moment,
      ]);
      expect((await store().dashboards.listMetrics(dashboard.id)).map(({ metric }) => metric.name)).toEqual([
        'm',
        'a',
        'z',
      ]);
      await place([]);
      expect(await store().dashboards.listMetrics(dashboard.id)).toEqual([]);
    });

    it('keeps the old metrics if the new ones cannot be placed', async () => {
      const { workspace } = await insertOrganization(store());
      const [dashboard, metric] = [dashboardSample(workspace.id), metricSample(workspace.id)];
      await store().dashboards.insert(dashboard);
      await store().metrics.insert(metric);
      const kept = [{ metricId: metric.metricId, placement: 'GALLERY' as const }];
      await store().dashboards.placeMetrics(dashboard.id, kept, moment);
      const broken = [{ metricId: randomUUID(), placement: 'METRIC' as const }];
      await expect(store().dashboards.placeMetrics(dashboard.id, broken, moment)).rejects.toThrow();
      await expect(store().dashboards.placeMetrics(dashboard.id, [...kept, ...kept], moment)).rejects.toThrow();
      await expect(store().dashboards.placeMetrics(randomUUID(), kept, moment)).rejects.toThrow(/does not exist/);
      expect(await store().dashboards.listMetrics(dashboard.id)).toEqual([
        { metric, placement: 'GALLERY', placedAt: moment },
      ]);
    });
  });
};

const metricTests = (store: () => Store): void => {
  describe('metrics', () => {
    it('returns a metric completely, updates it, and returns false for a taken id', async () => {
      const { workspace, owner } = await insertOrganization(store());
      const metric = metricSample(workspace.id, { owner, lineage: ['copy', 'original'] });
      expect(await store().metrics.insert(metric)).toBe(true);
      expect(await store().metrics.insert({ ...metric, name: 'second' })).toBe(false);
      expect(await store().metrics.findById(metric.metricId)).toEqual(metric);
      const changed = { ...metric, name: 'Changed', definition: { ...metric.definition, limit: 5 } };
      await store().metrics.update(changed);
      expect(await store().metrics.findById(metric.metricId)).toEqual(changed);
      expect(await store().metrics.findById(randomUUID())).toBeUndefined();
      await expect(store().metrics.update(metricSample(workspace.id))).rejects.toThrow(/does not exist/);
    });

    it("lists the organization's and the data app's own, by name and then id, in pages", async () => {
      const { workspace, owner, otherOwner, dataApp } = await insertOrganization(store());
      const prefix = randomUUID();
      for (const [name, id, of] of [
        ['b', 2, null],
        ['b', 1, owner],
        ['B', 3, owner],
        ['a', 4, otherOwner],
      ] as const) {
        await store().metrics.insert(metricSample(workspace.id, { name, metricId: `${prefix}-${id}`, owner: of }));
      }
      const list = async (dataAppId: string | null, page: { number: number; size: number } | null) =>
        (await whole(store().metrics.listByWorkspace(workspace.id, dataAppId, page))).map(
          ({ name, metricId }) => name + metricId.slice(-1),
        );
      expect(await list(dataApp.id, null)).toEqual(['B3', 'b1', 'b2']);
      expect(await list(null, null)).toEqual(['b2']);
      expect(await list(dataApp.id, { number: 2, size: 2 })).toEqual(['b2']);
    });

    it('names every dashboard that holds it, of any owner', async () => {
      const { workspace, owner, otherOwner } = await insertOrganization(store());
      const metric = metricSample(workspace.id);
      await store().metrics.insert(metric);
      const boards = [null, owner, otherOwner].map((of, index) =>
        dashboardSample(workspace.id, { owner: of, name: `${index}` }),
      );
      for (const board of [...boards, dashboardSample(workspace.id)]) await store().dashboards.insert(board);
      for (const { id } of boards) {
        await store().dashboards.placeMetrics(id, [{ metricId: metric.metricId, placement: 'GALLERY' }], moment);
      }
      expect(await store().metrics.listDashboards(metric.metricId)).toEqual(boards);
      expect(await store().metrics.listDashboards(randomUUID())).toEqual([]);
    });
  });
};

const embedTests = (store: () => Store): void => {
  describe('embeds', () => {
    it('returns embeds completely, only to their own data app', async () => {
      const { workspace, dataApp, otherApp } = await insertOrganization(store());
      const [dashboard, metric] = [dashboardSample(workspace.id), metricSample(workspace.id)];
      await store().dashboards.insert(dashboard);
      await store().metrics.insert(metric);
      const embed = embedSample(dataApp.id, dashboard.id, { description: 'Verspätungen' });
      const single = embedSample(dataApp.id, dashboard.id, {
        embedType: 'metric',
        metricId: metric.metricId,
        accessSettings: null,
      });
      expect(await store().embeds.insert(embed)).toBe(true);
      expect(await store().embeds.insert(single)).toBe(true);
      expect(await store().embeds.insert({ ...embed, name: 'second' })).toBe(false);
      expect(await store().embeds.findById(dataApp.id, embed.embedId)).toEqual(embed);
      expect(await store().embeds.findById(dataApp.id, single.embedId)).toEqual(single);
      expect(await store().embeds.findById(otherApp.id, embed.embedId)).toBeUndefined();
      expect(await whole(store().embeds.listByDataApp(otherApp.id, null))).toEqual([]);
      expect(await store().embeds.insert({ ...embed, dataAppId: otherApp.id })).toBe(true);
    });

    it("finds a dashboard's oldest dashboard embed, and lists by age in pages", async () => {
      const { workspace, dataApp, otherApp } = await insertOrganization(store());
      const [dashboard, metric] = [dashboardSample(workspace.id), metricSample(workspace.id)];
      await store().dashboards.insert(dashboard);
      await store().metrics.insert(metric);
      const at = (ms: number) => ({ createdAt: new Date(moment.getTime() + ms) });
      const newer = embedSample(dataApp.id, dashboard.id, { embedId: 'a', ...at(2) });
      const older = embedSample(dataApp.id, dashboard.id, { embedId: 'b', ...at(1) });
      const single = embedSample(dataApp.id, dashboard.id, {
        embedType: 'metric',
        metricId: metric.metricId,
        ...at(0),
      });
      for (const embed of [newer, older, single]) await store().embeds.insert(embed);
      expect(await store().embeds.findByDashboard(dataApp.id, dashboard.id)).toEqual(older);
      expect(await store().embeds.findByDashboard(otherApp.id, dashboard.id)).toBeUndefined();
      expect(await whole(store().embeds.listByDataApp(dataApp.id, null))).toEqual([single, older, newer]);
      expect(await whole(store().embeds.listByDataApp(dataApp.id, { number: 2, size: 2 }))).toEqual([newer]);
      const anybody = { dataAppId: dataApp.id, clientId: 'nobody' };
      expect(await store().embeds.listByClient(anybody)).toEqual([single, older, newer]);
      expect(await store().embeds.listByClient({ ...anybody, dataAppId: otherApp.id })).toEqual([]);
    });

    it('an embed and a dashboard may have one name only if it means the same dashboard', async () => {
      const { workspace, dataApp, owner } = await insertOrganization(store());
      const [own, other] = [dashboardSample(workspace.id, { owner }), dashboardSample(workspace.id)];
      await store().dashboards.insert(own);
      await store().dashboards.insert(other);
      const named = { embedId: own.externalDashboardId };
      expect(await store().embeds.insert(embedSample(dataApp.id, other.id, named))).toBe(false);
      expect(await store().embeds.insert(embedSample(dataApp.id, own.id, named))).toBe(true);
      const embed = embedSample(dataApp.id, other.id);
      await store().embeds.insert(embed);
      const late = dashboardSample(workspace.id, { owner, externalDashboardId: embed.embedId });
      expect(await store().dashboards.insert(late)).toBe(false);
      expect(await store().dashboards.findById(late.id)).toBeUndefined();
    });

    it('refuses a metric embed without metric', async () => {
      const { workspace, dataApp } = await insertOrganization(store());
      const dashboard = dashboardSample(workspace.id);
      await store().dashboards.insert(dashboard);
      await expect(
        store().embeds.insert(embedSample(dataApp.id, dashboard.id, { embedType: 'metric' })),
      ).rejects.toThrow();
    });
  });
};

const times = 20;
const simultaneously = async (create: () => Promise<boolean>): Promise<number> =>
  (await Promise.all(Array.from({ length: times }, create))).filter(Boolean).length;

const raceTests = (store: () => Store): void => {
  describe('simultaneous creates of one name make exactly one', () => {
    it('data apps, datasources, datamarts, workspaces, keys', async () => {
      const name = `race-${randomUUID()}`;
      const { datasource, dataApp } = await insertOrganization(store());
      const { hash } = keySample();
      expect(await simultaneously(() => store().dataApps.insert(dataAppSample({ name })))).toBe(1);
      expect(await simultaneously(() => store().datasources.insert(datasourceSample({ name })))).toBe(1);
      expect(await simultaneously(() => store().datamarts.insert(datamartSample(datasource.id, { name })))).toBe(1);
      expect(await simultaneously(() => store().workspaces.insert(workspaceSample({ name })))).toBe(1);
      expect(await simultaneously(() => store().serviceTokens.insert(keySample({ hash })))).toBe(1);
      expect(
        await simultaneously(() => store().apiKeys.insert({ ...keySample({ hash }), dataAppId: dataApp.id })),
      ).toBe(1);
    });

    it('simultaneous creates of one name make one dashboard, metric and embed', async () => {
      const { workspace, owner, dataApp } = await insertOrganization(store());
      const externalDashboardId = `race-${randomUUID()}`;
      const insert = (fields: object) =>
        store().dashboards.insert(dashboardSample(workspace.id, { externalDashboardId, ...fields }));
      expect(await simultaneously(() => insert({}))).toBe(1);
      expect(await simultaneously(() => insert({ owner }))).toBe(1);
      const metricId = randomUUID();
      expect(await simultaneously(() => store().metrics.insert(metricSample(workspace.id, { metricId })))).toBe(1);
      const board = await store().dashboards.findTemplate(externalDashboardId);
      const embedId = randomUUID();
      expect(
        await simultaneously(() => store().embeds.insert(embedSample(dataApp.id, board?.id ?? '', { embedId }))),
      ).toBe(1);
    });

    it('an embed and a dashboard of one name that mean different dashboards', async () => {
      const { workspace, owner, dataApp } = await insertOrganization(store());
      const template = dashboardSample(workspace.id);
      await store().dashboards.insert(template);
      const name = `race-${randomUUID()}`;
      let isEmbed = false;
      const won = await simultaneously(() => {
        isEmbed = !isEmbed;
        return isEmbed
          ? store().embeds.insert(embedSample(dataApp.id, template.id, { embedId: name }))
          : store().dashboards.insert(dashboardSample(workspace.id, { owner, externalDashboardId: name }));
      });
      expect(won).toBe(1);
      const embed = await store().embeds.findById(dataApp.id, name);
      const board = await store().dashboards.findByExternalId(dataApp.id, name);
      expect([embed, board].filter((found) => found !== undefined)).toHaveLength(1);
    });

    it('simultaneous creates of one name make exactly one, also if each is in its own transaction', async () => {
      const name = `race-${randomUUID()}`;
      const create = () => store().transaction((inner) => inner.dataApps.insert(dataAppSample({ name })));
      expect(await simultaneously(create)).toBe(1);
    });

    it('simultaneous placings of metrics leave one of them whole', async () => {
      const { workspace } = await insertOrganization(store());
      const dashboard = dashboardSample(workspace.id);
      const metrics = [0, 1, 2].map(() => metricSample(workspace.id));
      await store().dashboards.insert(dashboard);
      for (const metric of metrics) await store().metrics.insert(metric);
      const ids = metrics.map(({ metricId }) => metricId);
      const placements = Array.from({ length: times }, (_, index) => (index % 2 === 0 ? ids : ids.toReversed()));
      await Promise.all(
        placements.map((order) =>
          store().dashboards.placeMetrics(
            dashboard.id,
            order.map((metricId) => ({ metricId, placement: 'METRIC' })),
            moment,
          ),
        ),
      );
      const placed = (await store().dashboards.listMetrics(dashboard.id)).map(({ metric }) => metric.metricId);
      expect([ids, ids.toReversed()]).toContainEqual(placed);
    });
  });
};

const transactionTests = (store: () => Store, database: () => Database): void => {
  describe('transactions', () => {
    it('store everything or nothing', async () => {
      const [kept, first, second] = [dataAppSample(), dataAppSample(), dataAppSample()];
      const answer = await store().transaction(async (inner) => {
        await inner.dataApps.insert(kept);
        expect(await inner.dataApps.findById(kept.id)).toEqual(kept);
        return 42;
      });
      expect(answer).toBe(42);
      expect(await store().dataApps.findById(kept.id)).toEqual(kept);
      const broken = store().transaction(async (inner) => {
        await inner.dataApps.insert(first);
        await inner.transaction((nested) => nested.dataApps.insert(second));
        throw new Error('changed my mind');
      });
      await expect(broken).rejects.toThrow('changed my mind');
      expect(await store().dataApps.findById(first.id)).toBeUndefined();
      expect(await store().dataApps.findById(second.id)).toBeUndefined();
    });

    it('roll back what an inner one throws', async () => {
      const sample = dataAppSample();
      const broken = store().transaction((inner) =>
        inner.transaction(async (nested) => {
          await nested.dataApps.insert(sample);
          throw new Error('inner');
        }),
      );
      await expect(broken).rejects.toThrow('inner');
      expect(await store().dataApps.findById(sample.id)).toBeUndefined();
    });

    it('roll back when the database refuses, and leave the connection usable', async () => {
      const sample = dataAppSample();
      const broken = store().transaction(async (inner) => {
        await inner.dataApps.insert(sample);
        await inner.datamarts.insert(datamartSample(randomUUID()));
      });
      await expect(broken).rejects.toThrow();
      expect(await store().dataApps.findById(sample.id)).toBeUndefined();
      expect(await store().dataApps.insert(sample)).toBe(true);
    });

    it('continue after a taken name', async () => {
      const { workspace, owner, dataApp } = await insertOrganization(store());
      const board = dashboardSample(workspace.id, { owner });
      const clash = dashboardSample(workspace.id, { owner });
      await store().transaction(async (inner) => {
        expect(await inner.dashboards.insert(board)).toBe(true);
        expect(
          await inner.embeds.insert(embedSample(dataApp.id, board.id, { embedId: clash.externalDashboardId })),
        ).toBe(true);
        expect(await inner.dashboards.insert(clash)).toBe(false);
        expect(await inner.dashboards.insert(board)).toBe(false);
      });
      expect(await store().dashboards.findById(board.id)).toEqual(board);
      expect(await store().dashboards.findById(clash.id)).toBeUndefined();
    });

    it('are isolated from what others have not committed', async () => {
      const samples = Array.from({ length: times }, () => dataAppSample());
      await Promise.all(
        samples.map((sample, index) =>
          store()
            .transaction(async (inner) => {
              await inner.dataApps.insert(sample);
              if (index % 2 === 0) throw new Error('even');
            })
            .catch((error: Error) => expect(error.message).toBe('even')),
        ),
      );
      const found = await Promise.all(samples.map(({ id }) => store().dataApps.findById(id)));
      expect(found.map((dataApp) => dataApp === undefined)).toEqual(samples.map((_, index) => index % 2 === 0));
    });

    it('transactions need no search_path of the connection', async () => {
      const db = database().connect<Tables>();
      await db.connection().execute(async (connection) => {
        await sql`set search_path to pg_catalog`.execute(connection);
        const isolated = createStore(connection, testSealer);
        const { dataApp, workspace, owner } = await insertOrganization(isolated);
        await isolated.dashboards.insert(dashboardSample(workspace.id, { owner }));
        expect(await whole(isolated.dashboards.listByWorkspace(workspace.id, dataApp.id, null))).toHaveLength(1);
        await isolated.apiKeys.findByHash(keySample().hash);
        await sql`reset search_path`.execute(connection);
      });
    });
  });
};

const texts = [
  '日本語 ✈️ عربى e\u0301',
  `"quoted" 'single' \\ back\\u0000slash $1 ; -- %_`,
  'x'.repeat(100_000),
  ' leading and trailing ',
  '\u{1F468}\u200D\u{1F469}',
  '__proto__',
  'constructor',
  '',
];

const textTests = (store: () => Store, database: () => Database): void => {
  describe('text', () => {
    it.each(texts)('survives in columns and documents: %.30s', async (text) => {
      const { workspace, dataApp, datamart, owner } = await insertOrganization(store());
      const values = JSON.parse(`{${JSON.stringify(text)}: ${JSON.stringify(text)}, "__proto__": "own"}`);
      const grant = grantSample(dataApp.id, {
        clientId: text,
        userIdentifier: text,
        rlsSettings: [{ metricId: text, values }],
      });
      const hash = hashToken(createToken());
      await store().guestTokens.insert(hash, grant, firstEpoch);
      const found = await store().guestTokens.findByHash(hash);
      expect(found).toEqual({ ...grant, hash, epoch: firstEpoch, revision: expect.stringMatching(/^\d+$/) });
      expect(Object.entries(found?.rlsSettings[0]?.values ?? {}).sort()).toEqual(Object.entries(values).sort());
      const board = dashboardSample(workspace.id, {
        name: text,
        owner: { ...owner, clientId: text },
        metadata: { [`x${text}`]: text },
      });
      expect(await store().dashboards.insert(board)).toBe(true);
      expect(await store().dashboards.findById(board.id)).toEqual(board);
      await store().datamarts.update({ ...datamart, sharedTables: [text, text] });
      expect((await store().datamarts.findById(datamart.id))?.sharedTables).toEqual([text, text]);
    });

    it('a text that is a name may be long', async () => {
      const name = `é${'n'.repeat(253)}`;
      const sample = dataAppSample({ name: name + randomUUID().slice(0, 1) });
      await store().dataApps.insert(sample);
      expect(await store().dataApps.findByName(sample.name)).toEqual(sample);
    });

    it.each(['a\u0000b', '\ud800', 'x\udc00', '\\\u0000'])(
      'a text that no jsonb can hold is refused: %j',
      async (text) => {
        const { workspace } = await insertOrganization(store());
        const board = dashboardSample(workspace.id, { metadata: { [text]: text } });
        await expect(store().dashboards.insert(board)).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY' });
        expect(await store().dashboards.findById(board.id)).toBeUndefined();
      },
    );

    it('a text of JSON is a document in the database, not a string', async () => {
      await insertOrganization(store());
      const { rows } = await sql<{ kind: string }>`
        select distinct jsonb_typeof(tables) || ' ' || jsonb_typeof(tenancy) as kind from guestlist.datamarts
        where tenancy is not null`.execute(database().connect<Tables>());
      expect(rows).toEqual([{ kind: 'array object' }]);
    });
  });
};

const embedDeletionTests = (store: () => Store): void => {
  const setUp = async () => {
    const made = await insertOrganization(store());
    const { dataApp, otherOwner, owner, workspace } = made;
    const [own, shared] = [dashboardSample(workspace.id, { owner }), dashboardSample(workspace.id)];
    for (const board of [own, shared]) await store().dashboards.insert(board);
    const [first, second] = [embedSample(dataApp.id, own.id), embedSample(dataApp.id, shared.id)];
    const twin = { ...embedSample(otherOwner.dataAppId, shared.id), embedId: first.embedId };
    for (const embed of [first, second, twin]) expect(await store().embeds.insert(embed)).toBe(true);
    const tokenFor = async (allowedEmbeds: readonly string[] | null, dataAppId = dataApp.id) => {
      const hash = hashToken(createToken());
      expect(await store().guestTokens.insert(hash, grantSample(dataAppId, { allowedEmbeds }), firstEpoch)).toBe(true);
      return async () => (await store().guestTokens.findByHash(hash))?.allowedEmbeds;
    };
    return { ...made, own, shared, first, second, twin, tokenFor };
  };

  it('a deleted embed is removed from guest tokens: those that name only it are deleted, and no other data app is affected', async () => {
    const { dataApp, otherOwner, first, second, twin, tokenFor } = await setUp();
    const named = await tokenFor([first.embedId]);
    const both = await tokenFor([second.embedId, first.embedId]);
    const [all, none] = [await tokenFor(null), await tokenFor([])];
    const foreign = await tokenFor([twin.embedId], otherOwner.dataAppId);
    expect(await store().embeds.delete(dataApp.id, first.embedId)).toBe(true);
    expect(await store().embeds.delete(dataApp.id, first.embedId)).toBe(false);
    expect(await Promise.all([named(), both(), all(), none(), foreign()])).toEqual([
      undefined,
      [second.embedId],
      null,
      [],
      [first.embedId],
    ]);
    expect(await store().embeds.findById(otherOwner.dataAppId, twin.embedId)).toEqual(twin);
  });

  it('a grant that names a deleted embed is not stored', async () => {
    const { dataApp, first, second } = await setUp();
    await store().embeds.delete(dataApp.id, first.embedId);
    const hash = hashToken(createToken());
    const allowedEmbeds = [second.embedId, first.embedId];
    expect(await store().guestTokens.insert(hash, grantSample(dataApp.id, { allowedEmbeds }), firstEpoch)).toBe(false);
    expect(await store().guestTokens.findByHash(hash)).toBeUndefined();
  });

  it('a token that is minted while its embed is deleted does not outlive it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { dataApp, first } = await setUp();
      const hash = hashToken(createToken());
      await Promise.all([
        store().guestTokens.insert(hash, grantSample(dataApp.id, { allowedEmbeds: [first.embedId] }), firstEpoch),
        store().embeds.delete(dataApp.id, first.embedId),
      ]);
      expect(await store().guestTokens.findByHash(hash)).toBeUndefined();
    }
  });

  it('the id of a deleted embed is free again, that of its dashboard is not', async () => {
    const { dataApp, own, shared, first } = await setUp();
    await store().embeds.delete(dataApp.id, first.embedId);
    expect(await store().embeds.insert({ ...embedSample(dataApp.id, shared.id), embedId: first.embedId })).toBe(true);
    const named = { ...embedSample(dataApp.id, own.id), embedId: own.externalDashboardId };
    expect(await store().embeds.insert(named)).toBe(true);
    await store().embeds.delete(dataApp.id, named.embedId);
    expect(await store().embeds.insert({ ...named, dashboardId: shared.id })).toBe(false);
  });

  it('a deleted dashboard takes its embeds, its tokens and the metrics that only it holds', async () => {
    const { own, shared, owner, otherOwner, workspace, first, second, dataApp, tokenFor } = await setUp();
    const [only, both, organizations, foreign] = [owner, owner, null, otherOwner].map((whose) =>
      metricSample(workspace.id, { owner: whose }),
    );
    const all = [only, both, organizations, foreign].flatMap((metric) => metric ?? []);
    for (const metric of all) await store().metrics.insert(metric);
    const placed = (metrics: typeof all) => metrics.map(({ metricId }) => ({ metricId, placement: 'METRIC' as const }));
    await store().dashboards.placeMetrics(own.id, placed(all), moment);
    await store().dashboards.placeMetrics(shared.id, placed(all.slice(1, 2)), moment);
    const token = await tokenFor([first.embedId]);
    await store().dashboards.delete(own);
    expect(await Promise.all(all.map(({ metricId }) => store().metrics.findById(metricId)))).toEqual([
      undefined,
      both,
      organizations,
      foreign,
    ]);
    expect(await whole(store().embeds.listByDataApp(dataApp.id, null))).toEqual([second]);
    expect(await token()).toBeUndefined();
    expect(await store().dashboards.findById(own.id)).toBeUndefined();
    expect(await store().dashboards.insert(own)).toBe(true);
  });
};

const boardTests = (store: () => Store): void => {
  it('a workspace reaches one datamart, those of its datasource, or all', async () => {
    const { datasource, datamart } = await insertOrganization(store());
    const beside = datamartSample(datasource.id);
    const elsewhere = datasourceSample();
    await store().datasources.insert(elsewhere);
    const far = datamartSample(elsewhere.id);
    for (const mart of [beside, far]) await store().datamarts.insert(mart);
    const reached = async (connection: Pick<Workspace, 'connectionType' | 'datasourceId' | 'datamartId'>) => {
      const workspace = { id: randomUUID(), name: randomUUID(), ...connection };
      return (await store().workspaces.listDatamarts(workspace)).map(({ id }) => id);
    };
    const none = { datasourceId: null, datamartId: null };
    const { id: datasourceId } = datasource;
    expect(await reached({ ...none, connectionType: 'DATAMART', datamartId: datamart.id })).toEqual([datamart.id]);
    expect((await reached({ ...none, connectionType: 'DATASOURCE', datasourceId })).toSorted()).toEqual(
      [datamart.id, beside.id].toSorted(),
    );
    expect(await reached({ ...none, connectionType: 'MULTI_DATAMART' })).toEqual(
      expect.arrayContaining([datamart.id, beside.id, far.id]),
    );
    // The workspace's datamart was deleted. It must reach no datamart, not all of them.
    expect(await reached({ ...none, connectionType: 'DATAMART' })).toEqual([]);
  });

  it('finds the copies of a metric that no dashboard holds, and only the owner’s', async () => {
    const { workspace, owner, otherOwner } = await insertOrganization(store());
    const dashboard = dashboardSample(workspace.id, { owner });
    await store().dashboards.insert(dashboard);
    const original = metricSample(workspace.id, { owner: null, lineage: [] });
    const copies = [owner, owner, otherOwner].map((whose) =>
      metricSample(workspace.id, { owner: whose, lineage: [original.metricId, 'older'] }),
    );
    const grandchild = metricSample(workspace.id, { owner, lineage: ['other', original.metricId] });
    for (const metric of [original, ...copies, grandchild]) await store().metrics.insert(metric);
    const [placed, free] = copies;
    await store().dashboards.placeMetrics(
      dashboard.id,
      [{ metricId: placed?.metricId ?? '', placement: 'GALLERY' }],
      moment,
    );
    expect(await store().metrics.listUnplacedCopies(original.metricId, owner)).toEqual([free]);
    expect(await store().metrics.listUnplacedCopies(randomUUID(), owner)).toEqual([]);
  });

  it('says whether another data app shows a dashboard or a metric that is on it', async () => {
    const { dataApp, otherOwner, workspace } = await insertOrganization(store());
    const [board, other] = [dashboardSample(workspace.id), dashboardSample(workspace.id)];
    const metric = metricSample(workspace.id, { owner: null });
    for (const one of [board, other]) await store().dashboards.insert(one);
    await store().metrics.insert(metric);
    for (const one of [board, other])
      await store().dashboards.placeMetrics(one.id, [{ metricId: metric.metricId, placement: 'METRIC' }], moment);
    await store().embeds.insert(embedSample(dataApp.id, board.id));
    const isShared = () => store().embeds.isSharedBeyond(dataApp.id, board.id);
    expect(await isShared()).toBe(false);
    const embed = embedSample(otherOwner.dataAppId, other.id, { embedType: 'metric', metricId: metric.metricId });
    await store().embeds.insert(embed);
    expect(await isShared()).toBe(true);
    await store().embeds.delete(otherOwner.dataAppId, embed.embedId);
    expect(await isShared()).toBe(false);
    await store().embeds.insert(embedSample(otherOwner.dataAppId, board.id));
    expect(await isShared()).toBe(true);
  });

  it('reports that another data app shows a dashboard if its clients have copies of it', async () => {
    const { dataApp, owner, otherOwner, workspace } = await insertOrganization(store());
    const board = dashboardSample(workspace.id);
    await store().dashboards.insert(board);
    const isShared = () => store().embeds.isSharedBeyond(dataApp.id, board.id);
    await store().dashboards.insert(dashboardSample(workspace.id, { owner, templateId: board.id }));
    expect(await isShared()).toBe(false);
    await store().dashboards.insert(dashboardSample(workspace.id, { owner: otherOwner, templateId: board.id }));
    expect(await isShared()).toBe(true);
  });

  it('locks a dashboard for who changes what it read', async () => {
    const { workspace } = await insertOrganization(store());
    const dashboard = dashboardSample(workspace.id, { name: '' });
    await store().dashboards.insert(dashboard);
    const extend = (letter: string) =>
      store().transaction(async (inner) => {
        const locked = await inner.dashboards.lock(dashboard.id);
        if (locked !== undefined) await inner.dashboards.update({ ...locked, name: `${locked.name}${letter}` });
      });
    await Promise.all(['a', 'b', 'c', 'd'].map(extend));
    expect([...((await store().dashboards.findById(dashboard.id))?.name ?? '')].toSorted()).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    expect(await store().dashboards.lock(randomUUID())).toBeUndefined();
  });

  it('lists all owners of an external id, and of two simultaneous inserts, each sees the other', async () => {
    const { workspace, owner } = await insertOrganization(store());
    const externalDashboardId = randomUUID();
    const boards = [null, owner].map((whose) => dashboardSample(workspace.id, { owner: whose, externalDashboardId }));
    const seen = await Promise.all(
      boards.map((board) =>
        store().transaction(async (inner) => {
          expect(await inner.dashboards.insert(board)).toBe(true);
          return (await inner.dashboards.listByExternalId(externalDashboardId)).length;
        }),
      ),
    );
    expect(seen.toSorted()).toEqual([1, 2]);
    expect((await store().dashboards.listByExternalId(externalDashboardId)).map(({ id }) => id)).toEqual(
      boards.map(({ id }) => id),
    );
  });
};

const deletionTests = (store: () => Store, database: () => Database): void => {
  it('a deleted data app takes everything that belongs to it along, and nothing else', async () => {
    const { dataApp, otherOwner, owner, workspace, datamart } = await insertOrganization(store());
    const [own, shared] = [dashboardSample(workspace.id, { owner }), dashboardSample(workspace.id)];
    const [foreign, metric] = [
      dashboardSample(workspace.id, { owner: otherOwner }),
      metricSample(workspace.id, { owner }),
    ];
    for (const board of [own, shared, foreign]) await store().dashboards.insert(board);
    await store().metrics.insert(metric);
    await store().dashboards.placeMetrics(own.id, [{ metricId: metric.metricId, placement: 'METRIC' }], moment);
    const key = { ...keySample(), dataAppId: dataApp.id };
    await store().apiKeys.insert(key);
    await store().embeds.insert(embedSample(dataApp.id, shared.id));
    const hash = hashToken(createToken());
    await store().guestTokens.insert(hash, grantSample(dataApp.id), firstEpoch);
    const db = database().connect<Tables>().withSchema('guestlist');
    await db.deleteFrom('data_apps').where('id', '=', dataApp.id).execute();
    expect(await store().apiKeys.findByHash(key.hash)).toBeUndefined();
    expect(await store().guestTokens.findByHash(hash)).toBeUndefined();
    expect(await whole(store().embeds.listByDataApp(dataApp.id, null))).toEqual([]);
    expect(await store().dashboards.findById(own.id)).toBeUndefined();
    expect(await store().metrics.findById(metric.metricId)).toBeUndefined();
    expect(await store().dashboards.findById(shared.id)).toEqual(shared);
    expect(await store().dashboards.findById(foreign.id)).toEqual(foreign);
    expect(await store().datamarts.findById(datamart.id)).toEqual(datamart);
  });
};
