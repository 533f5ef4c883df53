/** Section 10 of the interface, "Delete datamart". */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { boardOver, createSales, readDatamart, rowsOf } from './datamarts.js';
import { call, type House, mint, noon, ok, openHouse, refused, settings } from './house.js';
import { definition } from './organization.js';

let house: House;
let made = 0;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

/** Creates a datamart with a dashboard of acme over it. */
const create = async () => {
  made += 1;
  const name = `gone-${made}`;
  const board = `${name}-board`;
  await createSales(house, name);
  await boardOver(house, name, board, 'acme', definition());
  const metricId = (await ok(house, 'listEmbedMetrics', { embedId: board, clientId: 'acme' })).data[0]?.metricId;
  const remove = () => ok(house, 'deleteDatamart', { datamartName: name });
  const ask = (bearer: string) => call(house, 'queryGuestMetric', { metricId, dashboardId: board }, { bearer });
  return { name, board, metricId, remove, ask };
};

const namesListed = async () =>
  (await ok(house, 'listDatamarts', { expandDetails: 'false' })).data.map(({ name }) => name);

describe('paths and methods', () => {
  test('DELETE with the body {datamartName}: {id: datamart name, error: null}', async () => {
    const { name } = await create();
    const answer = await call(house, 'deleteDatamart', { datamartName: name });
    expect([answer.status, answer.body]).toEqual([200, { id: name, error: null }]);
    expect(await namesListed()).not.toContain(name);
  });

  test('POST on the legacy path', async () => {
    const { name } = await create();
    const sent = { path: '/api/v2/dataApp/datamart/delete' };
    expect(await ok(house, 'deleteDatamart', { datamartName: name }, sent)).toEqual({ id: name, error: null });
    expect(await namesListed()).not.toContain(name);
  });

  test('DELETE with the name in the query, if there is no body', async () => {
    const { name } = await create();
    const answer = await request(`${house.url()}/api/v2/data-app/datamart?datamartName=${name}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${house.serviceToken}` },
    });
    expect([answer.status, answer.body]).toEqual([200, { id: name, error: null }]);
    expect(await namesListed()).not.toContain(name);
  });
});

test('Unknown datamart: 400 INVALID_REQUEST_BODY; so is a second deletion', async () => {
  const { name, remove } = await create();
  await remove();
  for (const datamartName of [name, name.toUpperCase(), 'nowhere']) {
    expect(await refused('deleteDatamart INVALID_REQUEST_BODY', house, { datamartName })).toContain(
      `datamartName: there is no datamart named ${JSON.stringify(datamartName)}`,
    );
  }
});

test('datamartName is required, and other fields are refused', async () => {
  expect(await refused('deleteDatamart INVALID_REQUEST_BODY', house, {})).toContain('datamartName');
  await refused('deleteDatamart INVALID_REQUEST_BODY', house, { datamartName: 'shop', name: 'shop' });
  expect(await namesListed()).toContain('shop');
});

test('requires the service token; otherwise AUTHENTICATION_ERROR, and nothing is deleted', async () => {
  const { name } = await create();
  for (const bearer of [null, 'wrong', house.apiKey, await mint(house, 'acme')]) {
    await refused('deleteDatamart AUTHENTICATION_ERROR', house, { datamartName: name }, { bearer });
  }
  expect(await namesListed()).toContain(name);
});

test('of simultaneous deletions, exactly one succeeds', async () => {
  const { name } = await create();
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => call(house, 'deleteDatamart', { datamartName: name })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
});

describe('also deletes everything that depends on it', () => {
  test('no token reads its rows any more, even if a datamart of the same name is created', async () => {
    const { name, board, remove, ask } = await create();
    const tokens = {
      any: await mint(house, 'acme'),
      only: await mint(house, 'acme', { allowedEmbeds: [board] }),
      scoped: await mint(house, 'acme', {}, { datamartName: name }),
    };
    for (const token of Object.values(tokens)) {
      const answer = await ask(token);
      expect([answer.status, answer.body.data]).toEqual([200, [{ Revenue: 200 }]]);
    }
    await remove();
    const codes = async () =>
      Promise.all(
        Object.values(tokens).map(async (token) => {
          const { status, body } = await ask(token);
          return [status, (body as { error: { code: string } }).error.code];
        }),
      );
    const expected = [
      [403, 'UNAUTHORIZED'],
      [401, 'AUTHENTICATION_ERROR'],
      [401, 'AUTHENTICATION_ERROR'],
    ];
    expect(await codes()).toEqual(expected);
    await createSales(house, name);
    expect(await codes()).toEqual(expected);
  });

  test('embeds over it in every data app; other embeds stay', async () => {
    const { name, board, remove } = await create();
    const other = { bearer: house.otherKey };
    const accessSettings = { ...settings, datamartName: name };
    const input = { dashboardId: `${board}-2`, clientId: 'globex', workspaceName: 'all', accessSettings };
    await ok(house, 'createDashboardEmbed', input, other);
    const { data: before } = await ok(house, 'listEmbeds', {});
    await remove();
    const { data: after } = await ok(house, 'listEmbeds', {});
    expect(after).toEqual(before.filter(({ embedId }) => embedId !== board));
    expect((await ok(house, 'listEmbeds', {}, other)).data).toEqual([]);
  });

  test('a token that names another embed too still opens that one', async () => {
    const { name, board, remove, ask } = await create();
    const kept = `${name}-kept`;
    await boardOver(house, 'shop', kept, 'acme', definition());
    const token = await mint(house, 'acme', { allowedEmbeds: [board, kept] });
    expect((await ask(token)).status).toBe(200);
    await remove();
    expect((await ask(token)).status).toBe(403);
    const metricId = (await ok(house, 'listEmbedMetrics', { embedId: kept, clientId: 'acme' })).data[0]?.metricId;
    const { data } = await ok(house, 'queryGuestMetric', { metricId, dashboardId: kept }, { bearer: token });
    expect(data).toEqual([{ Revenue: 200 }]);
  });

  test('the semantic layer of a deleted datamart is deleted', async () => {
    const { name, remove } = await create();
    await ok(house, 'createSemanticLayer', { datamartName: name, feedback: 'kept?' });
    await remove();
    await createSales(house, name);
    const { data } = await ok(house, 'getSemanticLayer', { datamartName: name });
    expect(data).toMatchObject({ feedback: null, lastUpdated: null });
  });
});

describe('a workspace that was connected to it', () => {
  /** Creates a workspace of the datamart, with a dashboard and an embed that names no datamart. */
  const connect = async (name: string) => {
    const { data } = await ok(house, 'listMetrics', { workspaceName: 'shop' });
    const metricId = data.find(({ metricId: id }) => id === 'revenue')?.metricId ?? '';
    const workspaceName = `space-of-${name}`;
    await house.stored(async (store) => {
      const datamart = await store.datamarts.findByName(name);
      const [id, dashboardId] = [randomUUID(), randomUUID()];
      await store.workspaces.insert({
        id,
        name: workspaceName,
        connectionType: 'DATAMART',
        datasourceId: null,
        datamartId: datamart?.id ?? null,
      });
      await store.dashboards.insert({
        id: dashboardId,
        externalDashboardId: workspaceName,
        workspaceId: id,
        name: workspaceName,
        owner: null,
        templateId: null,
        layout: [],
        gridMargin: [],
        filters: [],
        metadata: null,
        isAllowPrivateMetricsByDefault: false,
      });
      await store.dashboards.placeMetrics(dashboardId, [{ metricId, placement: 'METRIC' }], noon);
    });
    const embed = { embedType: 'metric', dashboardId: workspaceName, metricId, workspaceName };
    const { id: embedId } = await ok(house, 'createEmbed', embed);
    return { workspaceName, embed, embedId, metricId };
  };

  test('stays with its dashboards, but nobody can read rows through it', async () => {
    const { name, remove } = await create();
    const { workspaceName, embedId, metricId } = await connect(name);
    expect(await rowsOf(house, embedId, 'acme')).toEqual([{ Revenue: 200 }]);
    const token = await mint(house, 'acme', { allowedEmbeds: [embedId] });
    const ask = () => call(house, 'queryGuestMetric', { metricId: embedId }, { bearer: token });
    expect((await ask()).body.data).toEqual([{ Revenue: 200 }]);
    await remove();
    const { data } = await ok(house, 'listDashboards', { workspaceName });
    expect(data).toEqual([{ name: workspaceName, externalDashboardId: workspaceName }]);
    expect((await ask()).body).toMatchObject({ error: { code: 'METRIC_QUERY_ERROR' } });
    const query = { embedId, metricId, clientId: 'acme' };
    expect(await refused('queryMetric METRIC_QUERY_ERROR', house, query)).toContain('The embed has no datamart');
  });

  test('reaches no other datamart: "no datamart" must not mean "any datamart"', async () => {
    const { name, remove } = await create();
    const { workspaceName, embed } = await connect(name);
    await remove();
    const accessSettings = { ...settings, datamartName: 'shop' };
    const message = await refused('createEmbed INVALID_DATAMART_NAME', house, { ...embed, accessSettings });
    expect(message).toContain('is connected to another source');
    await refused('createDashboardEmbed INVALID_DATAMART_NAME', house, {
      dashboardId: `${name}-late`,
      clientId: 'acme',
      workspaceName,
      accessSettings,
    });
  });
});

test('deletion is irreversible: a new datamart of the same name has nothing of the old one', async () => {
  const { name, board, remove } = await create();
  await remove();
  await createSales(house, name, { relationships: [], sharedTables: [] });
  expect(await readDatamart(house, name)).toMatchObject({ datamartRelationships: [], sharedTables: [] });
  await refused('queryMetric INVALID_EMBED_ID', house, { embedId: board, metricId: 'x', clientId: 'acme' });
});
