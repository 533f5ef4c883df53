/** Section 12 of the interface, "Create workspace / Update workspace", and `GET /api/v2/workspace`. */
import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Workspace } from '../../src/model/organization.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { call, cloneBoard, type House, type Input, metricOf, mint, ok, openHouse, refused, settings } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const overShop = { connectionType: 'DATAMART', datamartName: 'shop' } as const;
const optional = {
  llmName: 'gpt',
  aiCopilotLlms: ['gpt', 'claude'],
  isEnableMetricSuggestions: true,
  isEnableMetricSummary: false,
  summaryType: 'custom',
  customSummaryPrompt: 'In one sentence.\nIn German.',
  themeName: 'dark',
};

const stored = (name: string): Promise<Workspace | undefined> =>
  house.stored((store) => store.workspaces.findByName(name));

const listed = async (name: string) =>
  (await ok(house, 'listWorkspaces', {})).data.find((workspace) => workspace.name === name);

describe('create', () => {
  test.each<[string, Input]>([
    ['DATASOURCE', { datasourceName: 'warehouse' }],
    ['DATAMART', { datamartName: 'shop' }],
    ['MULTI_DATASOURCE', {}],
    ['MULTI_DATAMART', {}],
  ])('connectionType %s: Response {data: {name}, error: null}', async (connectionType, source) => {
    const name = `of ${connectionType}`;
    const answer = await call(house, 'createWorkspace', { name, connectionType, ...source });
    expect([answer.status, answer.body]).toEqual([200, { data: { name }, error: null }]);
    expect(await ok(house, 'listDashboards', { workspaceName: name })).toEqual({ data: [], error: null });
  });

  test('optional fields are stored', async () => {
    await ok(house, 'createWorkspace', { name: 'full', ...overShop, ...optional });
    expect(await listed('full')).toEqual({ name: 'full', connectionType: 'DATAMART', ...optional });
  });

  test('creating a workspace whose name is taken fails with WORKSPACE_NAME_ALREADY_EXISTS', async () => {
    await ok(house, 'createWorkspace', { name: 'twice', ...overShop });
    const again = { name: 'twice', connectionType: 'MULTI_DATAMART' };
    const message = await refused('createWorkspace WORKSPACE_NAME_ALREADY_EXISTS', house, again);
    expect(message).toContain('"twice"');
    expect((await listed('twice'))?.connectionType).toBe('DATAMART');
    await ok(house, 'createWorkspace', { name: 'Twice', ...overShop });
  });

  test('of ten simultaneous creates with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'createWorkspace', { name: 'at-once', ...overShop })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  });
});

describe.each(['createWorkspace', 'updateWorkspace'] as const)('%s', (operation) => {
  const name = operation === 'createWorkspace' ? 'never' : 'shop';

  test('INVALID_DATASOURCE_NAME / INVALID_DATAMART_NAME: unknown source', async () => {
    const [source, mart] =
      operation === 'createWorkspace'
        ? (['createWorkspace INVALID_DATASOURCE_NAME', 'createWorkspace INVALID_DATAMART_NAME'] as const)
        : (['updateWorkspace INVALID_DATASOURCE_NAME', 'updateWorkspace INVALID_DATAMART_NAME'] as const);
    // A datamart's name is not accepted as a datasource's, or the reverse.
    for (const datasourceName of ['nowhere', 'shop', 'Warehouse'])
      expect(await refused(source, house, { name, connectionType: 'DATASOURCE', datasourceName })).toContain(
        JSON.stringify(datasourceName),
      );
    for (const datamartName of ['nowhere', 'warehouse', 'SHOP'])
      expect(await refused(mart, house, { name, connectionType: 'DATAMART', datamartName })).toContain(
        JSON.stringify(datamartName),
      );
  });

  test.each<[string, Input]>([
    ['connectionType is required', { datamartName: 'shop' }],
    ['connectionType is one of four', { connectionType: 'datamart', datamartName: 'shop' }],
    ['DATASOURCE names its source', { connectionType: 'DATASOURCE' }],
    ['DATAMART names its source', { connectionType: 'DATAMART' }],
    ['and no other', { connectionType: 'DATAMART', datamartName: 'shop', datasourceName: 'warehouse' }],
    ['MULTI_DATASOURCE carries no source name', { connectionType: 'MULTI_DATASOURCE', datasourceName: 'warehouse' }],
    ['MULTI_DATAMART carries no source name', { connectionType: 'MULTI_DATAMART', datamartName: 'shop' }],
    ['llmName is a string', { ...overShop, llmName: 7 }],
    ['aiCopilotLlms is an array of strings', { ...overShop, aiCopilotLlms: 'gpt' }],
    ['aiCopilotLlms is bounded', { ...overShop, aiCopilotLlms: Array(1001).fill('gpt') }],
    ['isEnableMetricSuggestions is a boolean', { ...overShop, isEnableMetricSuggestions: 'true' }],
    ['isEnableMetricSummary is a boolean', { ...overShop, isEnableMetricSummary: 1 }],
    ['summaryType is a string', { ...overShop, summaryType: true }],
    ['customSummaryPrompt is bounded', { ...overShop, customSummaryPrompt: 'x'.repeat(4001) }],
    ['themeName is a string', { ...overShop, themeName: {} }],
    ['name is a string', { ...overShop, name: 7 }],
    ['name is bounded', { ...overShop, name: 'x'.repeat(256) }],
    ['there are no other fields', { ...overShop, datamartId: 'x' }],
  ])('a workspace that breaks a rule is refused: %s', async (_, input) => {
    const pair =
      operation === 'createWorkspace'
        ? ('createWorkspace INVALID_REQUEST_BODY' as const)
        : ('updateWorkspace INVALID_REQUEST_BODY' as const);
    await refused(pair, house, { name, ...input });
  });

  test('Auth: API key, and a service token as newer clients send', async () => {
    const pair =
      operation === 'createWorkspace'
        ? ('createWorkspace AUTHENTICATION_ERROR' as const)
        : ('updateWorkspace AUTHENTICATION_ERROR' as const);
    for (const bearer of [null, 'wrong', house.endedKey]) await refused(pair, house, { name, ...overShop }, { bearer });
    for (const bearer of [house.apiKey, house.otherKey, house.serviceToken]) {
      const own = operation === 'createWorkspace' ? randomUUID() : name;
      await ok(house, operation, { name: own, ...overShop }, { bearer });
    }
  });
});

describe('update', () => {
  test('identifies the workspace by name, and replaces its connection', async () => {
    await ok(house, 'createWorkspace', { name: 'moved', ...overShop });
    const before = await stored('moved');
    const change = { name: 'moved', connectionType: 'DATASOURCE', datasourceName: 'warehouse' };
    const answer = await call(house, 'updateWorkspace', change);
    expect([answer.status, answer.body]).toEqual([200, { data: { name: 'moved' }, error: null }]);
    const after = await stored('moved');
    expect(after).toMatchObject({ id: before?.id, connectionType: 'DATASOURCE', datamartId: null });
    expect(after?.datasourceId).toEqual(expect.any(String));
    await ok(house, 'updateWorkspace', { name: 'moved', connectionType: 'MULTI_DATASOURCE' });
    expect(await stored('moved')).toMatchObject({
      connectionType: 'MULTI_DATASOURCE',
      datasourceId: null,
      datamartId: null,
    });
  });

  test('a missing setting keeps its value, null clears it', async () => {
    await ok(house, 'createWorkspace', { name: 'kept', ...overShop, ...optional });
    await ok(house, 'updateWorkspace', { name: 'kept', ...overShop, themeName: 'light', isEnableMetricSummary: true });
    const changed = { ...optional, themeName: 'light', isEnableMetricSummary: true };
    expect(await listed('kept')).toMatchObject(changed);
    const nulls = Object.fromEntries(Object.keys(optional).map((key) => [key, null]));
    await ok(house, 'updateWorkspace', { name: 'kept', ...overShop, ...nulls, llmName: 'other' });
    const cleared = await listed('kept');
    expect(cleared).toMatchObject({ llmName: 'other' });
    for (const key of Object.keys(optional)) expect(Object.hasOwn(cleared ?? {}, key), key).toBe(key === 'llmName');
  });

  test('null is refused at creation', async () => {
    await refused('createWorkspace INVALID_REQUEST_BODY', house, { name: 'never', ...overShop, themeName: null });
  });

  test('updating an unknown workspace fails with WORKSPACE_DOES_NOT_EXIST', async () => {
    const message = await refused('updateWorkspace WORKSPACE_DOES_NOT_EXIST', house, { name: 'nowhere', ...overShop });
    expect(message).toContain('"nowhere"');
    expect(await listed('nowhere')).toBeUndefined();
  });

  test('a refused update changes nothing', async () => {
    await ok(house, 'createWorkspace', { name: 'firm', ...overShop, themeName: 'dark' });
    const before = await listed('firm');
    const change = { name: 'firm', connectionType: 'DATAMART', datamartName: 'nowhere', themeName: 'light' };
    await refused('updateWorkspace INVALID_DATAMART_NAME', house, change);
    expect(await listed('firm')).toEqual(before);
  });
});

describe('list', () => {
  test('Response: {data: [{name}]} ordered by name, with the settings', async () => {
    const settings = {
      llmName: 'small',
      aiCopilotLlms: ['a', 'b'],
      isEnableMetricSummary: true,
      summaryType: 'custom',
    };
    await ok(house, 'createWorkspace', { name: 'clever', ...overShop, ...settings });
    const { data } = await ok(house, 'listWorkspaces', {});
    expect(data.find(({ name }) => name === 'clever')).toEqual({
      name: 'clever',
      connectionType: overShop.connectionType,
      ...settings,
    });
    expect(data.find(({ name }) => name === 'shop')).toEqual({ name: 'shop', connectionType: 'DATAMART' });
    const names = data.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['shop', 'orders', 'long']));
  });

  test('ten items per page, for API key and service token alike', async () => {
    for (let index = 0; index < 12; index += 1)
      await ok(house, 'createWorkspace', { name: `zz-${index + 10}`, ...overShop });
    const { data: all } = await ok(house, 'listWorkspaces', {});
    for (const bearer of [house.apiKey, house.otherKey, house.serviceToken]) {
      const page = async (pageNumber: number) =>
        (await ok(house, 'listWorkspaces', { isPagination: true, pageNumber }, { bearer })).data;
      expect(await page(1)).toEqual(all.slice(0, 10));
      expect(await page(2)).toEqual(all.slice(10, 20));
      expect(await page(1000)).toEqual([]);
    }
  });

  test('a wrong credential or query is refused', async () => {
    for (const bearer of [null, 'wrong', house.endedKey])
      await refused('listWorkspaces AUTHENTICATION_ERROR', house, {}, { bearer });
    await refused('listWorkspaces INVALID_REQUEST_BODY', house, { isPagination: true, pageNumber: 0 });
    await refused('listWorkspaces INVALID_REQUEST_BODY', house, { name: 'shop' });
  });
});

test('themeName is the theme of the guest’s dashboard until it is cleared', async () => {
  await cloneBoard(house, 'themed', 'acme');
  const token = await mint(house, 'acme', { allowedEmbeds: ['themed'] });
  const theme = async () =>
    (await ok(house, 'getGuestDashboard', { dashboardId: 'themed' }, { bearer: token })).data.theme;
  expect(await theme()).toBeNull();
  await ok(house, 'updateWorkspace', { name: 'shop', ...overShop, themeName: 'dark' });
  expect(await theme()).toEqual({ name: 'dark' });
  await ok(house, 'updateWorkspace', { name: 'shop', ...overShop, themeName: null });
  expect(await theme()).toBeNull();
});

describe('the connection of a workspace with embeds changes', () => {
  let token: string;
  let metricId: string;
  let follower: string;
  let followerToken: string;
  const connect = (connection: Input) => ok(house, 'updateWorkspace', { name: 'shop', ...connection });
  const bearer = () => ({ bearer: token });
  const throughBoard = () => ({ dashboardId: 'pinned', metricId });
  const read = async () => (await ok(house, 'queryGuestMetric', throughBoard(), bearer())).data;
  const follow = async () =>
    (await ok(house, 'queryMetric', { embedId: follower, metricId: 'revenue', clientId: 'acme' })).data;

  /** Asserts that every read of data over `shop` is refused. */
  const assertClosed = async (): Promise<void> => {
    await refused('queryGuestMetric METRIC_QUERY_ERROR', house, throughBoard(), bearer());
    await refused('listGuestUnderlying METRIC_QUERY_ERROR', house, throughBoard(), bearer());
    await refused('downloadGuestCsv METRIC_QUERY_ERROR', house, throughBoard(), bearer());
    const sheets = { dashboardId: 'pinned', metrics: [{ metricId }] };
    await refused('downloadGuestDashboardXlsx METRIC_QUERY_ERROR', house, sheets, bearer());
    const option = { dashboardId: 'pinned', filter: 'Region' };
    await refused('listGuestFilterOptions METRIC_QUERY_ERROR', house, option, bearer());
    await refused('queryMetric METRIC_QUERY_ERROR', house, { embedId: 'pinned', metricId, clientId: 'acme' });
  };

  beforeAll(async () => {
    await cloneBoard(house, 'pinned', 'acme');
    metricId = await metricOf(house, 'pinned', 'acme', 'revenue');
    const permissions = { isEnableUnderlyingData: true, isEnableDownloadMetrics: true };
    token = await mint(house, 'acme', { allowedEmbeds: ['pinned'] }, { permissions });
    const made = { embedType: 'metric', dashboardId: 'board', metricId: 'revenue', workspaceName: 'shop' };
    follower = (await ok(house, 'createEmbed', made)).id;
    followerToken = await mint(house, 'acme', { allowedEmbeds: [follower] }, { datamartName: 'shop' });
    // The twin has the same tables with amounts that are ten times larger.
    const path = join(house.sources, 'twin.duckdb');
    await copyFile(join(house.sources, 'warehouse.duckdb'), path);
    await runOnFile(path, ['UPDATE sales SET amount = amount * 10']);
    await house.stored(async (store) => {
      const datasource = { id: randomUUID(), name: 'twin', syncedAt: null, datasourceType: 'DUCKDB' as const, path };
      await store.datasources.insert(datasource);
      const shop = await store.datamarts.findByName('shop');
      if (shop === undefined) throw new Error('no datamart shop');
      await store.datamarts.insert({ ...shop, id: randomUUID(), name: 'twin', datasourceId: datasource.id });
    });
  });

  test('an embed that names its datamart reads that datamart or nothing', async () => {
    expect(await read()).toEqual([{ Revenue: 200 }]);
    for (const connection of [
      { connectionType: 'DATAMART', datamartName: 'twin' },
      { connectionType: 'DATAMART', datamartName: 'orders' },
      { connectionType: 'DATASOURCE', datasourceName: 'twin' },
    ]) {
      await connect(connection);
      await assertClosed();
    }
    for (const connection of [
      { connectionType: 'DATASOURCE', datasourceName: 'warehouse' },
      { connectionType: 'MULTI_DATAMART' },
      { connectionType: 'MULTI_DATASOURCE' },
      overShop,
    ]) {
      await connect(connection);
      expect(await read(), JSON.stringify(connection)).toEqual([{ Revenue: 200 }]);
    }
  });

  test("an embed that names none reads the workspace's new datamart, with that one's tenancy", async () => {
    expect(await follow()).toEqual([{ Revenue: 200 }]);
    await connect({ connectionType: 'DATAMART', datamartName: 'twin' });
    expect(await follow()).toEqual([{ Revenue: 2000 }]);
    for (const connection of [
      { connectionType: 'DATASOURCE', datasourceName: 'warehouse' },
      { connectionType: 'MULTI_DATAMART' },
    ]) {
      await connect(connection);
      const query = { embedId: follower, metricId: 'revenue', clientId: 'acme' };
      await refused('queryMetric METRIC_QUERY_ERROR', house, query);
    }
    await connect(overShop);
    expect(await follow()).toEqual([{ Revenue: 200 }]);
  });

  test('a token limited to a datamart does not open an embed that now reads another one', async () => {
    const query = { metricId: follower };
    const sent = { bearer: followerToken };
    expect((await ok(house, 'queryGuestMetric', query, sent)).data).toEqual([{ Revenue: 200 }]);
    await connect({ connectionType: 'DATAMART', datamartName: 'twin' });
    await refused('queryGuestMetric UNAUTHORIZED', house, query, sent);
    await connect(overShop);
    expect((await ok(house, 'queryGuestMetric', query, sent)).data).toEqual([{ Revenue: 200 }]);
  });

  test('no embed can be created over a datamart that the workspace does not reach', async () => {
    await connect({ connectionType: 'DATASOURCE', datasourceName: 'twin' });
    const embed = { embedType: 'dashboard', dashboardId: 'board', workspaceName: 'shop', accessSettings: settings };
    await refused('createEmbed INVALID_DATAMART_NAME', house, embed);
    const twin = { ...settings, datamartName: 'twin' };
    await ok(house, 'createEmbed', { ...embed, accessSettings: twin });
    await connect(overShop);
    await refused('createEmbed INVALID_DATAMART_NAME', house, { ...embed, accessSettings: twin });
  });

  test.each(['DATAMART', 'DATASOURCE'] as const)(
    'a workspace of type %s whose source was deleted reaches nothing',
    async (connectionType) => {
      const setLost = (workspace: Workspace): Workspace => ({
        ...workspace,
        connectionType,
        datamartId: null,
        datasourceId: null,
      });
      await house.stored(async (store) => {
        const workspace = await store.workspaces.findByName('shop');
        if (workspace === undefined) throw new Error('no workspace shop');
        await store.workspaces.update(setLost(workspace));
      });
      await assertClosed();
      await refused('queryMetric METRIC_QUERY_ERROR', house, {
        embedId: follower,
        metricId: 'revenue',
        clientId: 'acme',
      });
      await refused('queryGuestMetric UNAUTHORIZED', house, { metricId: follower }, { bearer: followerToken });
      const embed = { embedType: 'dashboard', dashboardId: 'board', workspaceName: 'shop', accessSettings: settings };
      await refused('createEmbed INVALID_DATAMART_NAME', house, embed);
      await connect(overShop);
      expect(await read()).toEqual([{ Revenue: 200 }]);
    },
  );
});
