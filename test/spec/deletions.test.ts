/**
 * Deletion of datasources, workspaces and template dashboards. If something depends on one, the deletion is refused
 * with its name, and nothing changes.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, cloneBoard, type House, ok, openHouse, refused, settings } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const makeDatasource = async (name: string): Promise<void> => {
  const path = join(house.sources, `${name}.duckdb`);
  await copyFile(join(house.sources, 'warehouse.duckdb'), path);
  await ok(house, 'createDatasource', { datasourceType: 'DUCKDB', credentials: { name, path } });
};
const makeDatamart = (name: string, datasourceName: string) => ({
  name,
  datasourceName,
  tableList: [{ name: 'products', schemaName: 'main', columns: [{ name: 'id' }, { name: 'label' }] }],
});
const sources = async () => (await ok(house, 'listDatasources', {})).data.map(({ name }) => name);
const workspaces = async () => (await ok(house, 'listWorkspaces', {})).data.map(({ name }) => name);
const boards = async (workspaceName: string) =>
  (await ok(house, 'listDashboards', { workspaceName })).data.map(({ externalDashboardId }) => externalDashboardId);
const emptyBoard = { layout: [], filters: [], metrics: [], gridMargin: [] };
const importBoard = (workspaceName: string, dashboardId: string) =>
  ok(house, 'importDashboard', { workspaceName, dashboardId, importDashboardData: emptyBoard });

describe('DELETE /datasource', () => {
  test('a datasource that nothing depends on is deleted, and its name is free', async () => {
    await makeDatasource('spare');
    expect(await ok(house, 'deleteDatasource', { name: 'spare' })).toEqual({ name: 'spare' });
    expect(await sources()).not.toContain('spare');
    await refused('deleteDatasource DATASOURCE_ID_ERROR', house, { name: 'spare' });
    await ok(house, 'createDatasource', {
      datasourceType: 'DUCKDB',
      credentials: { name: 'spare', path: join(house.sources, 'spare.duckdb') },
    });
  });

  test('STILL_IN_USE names its datamarts and workspaces; after their deletion, it can be deleted', async () => {
    await makeDatasource('used');
    await ok(house, 'createDatamart', makeDatamart('of-used', 'used'));
    const workspace = { name: 'over-used', connectionType: 'DATASOURCE', datasourceName: 'used' };
    await ok(house, 'createWorkspace', workspace);
    const message = await refused('deleteDatasource STILL_IN_USE', house, { name: 'used' });
    expect(message).toContain('datamart "of-used", workspace "over-used"');
    expect(await sources()).toContain('used');
    await ok(house, 'deleteDatamart', { datamartName: 'of-used' });
    expect(await refused('deleteDatasource STILL_IN_USE', house, { name: 'used' })).not.toContain('of-used');
    await ok(house, 'updateWorkspace', { name: 'over-used', connectionType: 'MULTI_DATAMART' });
    await ok(house, 'deleteDatasource', { name: 'used' });
  });

  test('a deletion and simultaneous creations of datamarts: one side is refused, and no datamart loses its source', async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = `raced-${round}`;
      await makeDatasource(name);
      const [deleted, ...made] = await Promise.all([
        call(house, 'deleteDatasource', { name }),
        call(house, 'createDatamart', makeDatamart(`${name}-mart`, name)),
        call(house, 'createWorkspace', { name: `${name}-space`, connectionType: 'DATASOURCE', datasourceName: name }),
        call(house, 'syncDatasource', { name }),
      ]);
      const statuses = [deleted, ...made].map(({ status }) => status);
      expect(statuses.every((status) => [200, 400, 409].includes(status))).toBe(true);
      const stands = made.slice(0, 2).some(({ status }) => status === 200);
      expect([deleted.status, stands]).toEqual(deleted.status === 200 ? [200, false] : [409, true]);
    }
  });

  test('the credential is a service token, and the name is required', async () => {
    await refused('deleteDatasource AUTHENTICATION_ERROR', house, { name: 'shop' }, { bearer: house.apiKey });
    await refused('deleteDatasource INVALID_REQUEST_BODY', house, {});
  });
});

describe('DELETE /workspace', () => {
  test('a workspace without dashboards is deleted', async () => {
    await ok(house, 'createWorkspace', { name: 'bare', connectionType: 'MULTI_DATAMART' });
    expect(await ok(house, 'deleteWorkspace', { name: 'bare' })).toEqual({ data: { name: 'bare' }, error: null });
    expect(await workspaces()).not.toContain('bare');
    await refused('deleteWorkspace WORKSPACE_DOES_NOT_EXIST', house, { name: 'bare' });
  });

  test('STILL_IN_USE names its dashboards, including those of clients', async () => {
    await cloneBoard(house, 'a-copy-of-acme', 'acme');
    const message = await refused('deleteWorkspace STILL_IN_USE', house, { name: 'shop' });
    expect(message).toContain('dashboard "board"');
    expect(message).toContain('dashboard "a-copy-of-acme"');
    expect(await boards('shop')).toContain('board');
    await ok(house, 'deleteDashboard', { dashboardId: 'a-copy-of-acme' });
  });

  test('a deletion and a simultaneous import: one is refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = `space-${round}`;
      await ok(house, 'createWorkspace', { name, connectionType: 'MULTI_DATAMART' });
      const [deleted, imported] = await Promise.all([
        call(house, 'deleteWorkspace', { name }),
        call(house, 'importDashboard', {
          workspaceName: name,
          dashboardId: `board-${round}`,
          importDashboardData: emptyBoard,
        }),
      ]);
      expect([
        [200, 400],
        [409, 200],
      ]).toContainEqual([deleted.status, imported.status]);
    }
  });

  test('the credential is a service token, and the name is required', async () => {
    await refused('deleteWorkspace AUTHENTICATION_ERROR', house, { name: 'shop' }, { bearer: house.apiKey });
    await refused('deleteWorkspace INVALID_REQUEST_BODY', house, {});
  });
});

describe('DELETE /workspace/dashboards', () => {
  test('a template that nothing depends on is deleted, and its id is free', async () => {
    await importBoard('shop', 'unused');
    const input = { workspaceName: 'shop', dashboardId: 'unused' };
    expect(await ok(house, 'deleteTemplate', input)).toEqual({ id: 'unused', error: null });
    expect(await boards('shop')).not.toContain('unused');
    await refused('deleteTemplate INVALID_DASHBOARD_ID', house, input);
    await importBoard('shop', 'unused');
  });

  test('STILL_IN_USE names its copies and embeds; after their deletion, it can be deleted', async () => {
    await importBoard('shop', 'stood-on');
    const input = { workspaceName: 'shop', dashboardId: 'stood-on' };
    await cloneBoard(house, 'copy-of-it', 'acme', { templateDashboardId: 'stood-on' });
    const { id } = await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId: 'stood-on',
      workspaceName: 'shop',
      accessSettings: settings,
    });
    const message = await refused('deleteTemplate STILL_IN_USE', house, input);
    expect(message).toContain(`copy "copy-of-it", embed "${id}"`);
    await ok(house, 'deleteDashboard', { dashboardId: 'copy-of-it' });
    await ok(house, 'deleteEmbed', { embedId: id });
    await ok(house, 'deleteTemplate', input);
  });

  test("a client's dashboard, and a template of another workspace, are unknown to it", async () => {
    await cloneBoard(house, 'clients-own', 'acme');
    await ok(house, 'createWorkspace', { name: 'elsewhere', connectionType: 'MULTI_DATAMART' });
    for (const input of [
      { workspaceName: 'shop', dashboardId: 'clients-own' },
      { workspaceName: 'elsewhere', dashboardId: 'board' },
    ]) {
      await refused('deleteTemplate INVALID_DASHBOARD_ID', house, input);
    }
    expect(await boards('shop')).toContain('board');
    await refused('deleteTemplate WORKSPACE_ID_ERROR', house, { workspaceName: 'nowhere', dashboardId: 'board' });
  });

  test('a deletion and a simultaneous copy: one is refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      const dashboardId = `raced-${round}`;
      await importBoard('shop', dashboardId);
      const [deleted, copied] = await Promise.all([
        call(house, 'deleteTemplate', { workspaceName: 'shop', dashboardId }),
        call(house, 'createDashboardEmbed', {
          dashboardId: `${dashboardId}-copy`,
          clientId: 'acme',
          workspaceName: 'shop',
          accessSettings: settings,
          templateDashboardId: dashboardId,
          isImportMetrics: true,
        }),
      ]);
      expect([200, 409]).toContain(deleted.status);
      expect([200, 400]).toContain(copied.status);
      expect([deleted.status, copied.status]).not.toEqual([200, 200]);
    }
  });

  test('the credential is a service token, and both names are required', async () => {
    const input = { workspaceName: 'shop', dashboardId: 'board' };
    await refused('deleteTemplate AUTHENTICATION_ERROR', house, input, { bearer: house.apiKey });
    await refused('deleteTemplate INVALID_REQUEST_BODY', house, { workspaceName: 'shop' });
  });
});
