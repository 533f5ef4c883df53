/** Operation 4 stores everything or nothing. The store fails at one step, which no request could cause. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { whole } from '../../src/model/slices.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import type { Store } from '../../src/service/store/store.js';
import { stays } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('plan');
});
afterAll(() => world.close());

const failure = 'createDashboardEmbed DASHBOARD_CREATE_ERROR';

const broken = () => Promise.reject(new Error('the disk is full'));

/** Each write of the operation, made to fail after the earlier ones have run. */
const failures: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  'the dashboard': ({ dashboards }) => ({ dashboards: { ...dashboards, insert: broken } }),
  'a metric': ({ metrics }) => ({ metrics: { ...metrics, insertAll: broken } }),
  'a metric whose id is taken': ({ metrics }) => ({ metrics: { ...metrics, insertAll: () => Promise.resolve(false) } }),
  'the placement': ({ dashboards }) => ({ dashboards: { ...dashboards, placeFirstMetrics: broken } }),
  'the embed': ({ embeds }) => ({ embeds: { ...embeds, insert: broken } }),
  'the embed whose id is taken': ({ embeds }) => ({ embeds: { ...embeds, insert: () => Promise.resolve(false) } }),
};

const inventory = async ({ store, api }: World) => {
  const { dataAppId } = api();
  return {
    dashboards: (await whole(store.dashboards.listByWorkspace('w', dataAppId, null))).length,
    metrics: (await whole(store.metrics.listByWorkspace('w', dataAppId, null))).length,
    embeds: (await whole(store.embeds.listByDataApp(dataAppId, null))).length,
  };
};

test.each(Object.keys(failures))('if %s cannot be written, nothing is stored and the id is free', async (step) => {
  const { deps, store, api, clone } = world;
  const before = await inventory(world);
  const failing: Store = {
    ...store,
    transaction: (work) => store.transaction((inner) => work({ ...inner, ...failures[step]?.(inner) })),
  };
  const command = {
    dashboardId: `plan ${step}`,
    clientId: 'a',
    workspaceName: 'space',
    accessSettings: settings,
    templateDashboardId: 'plan',
    isImportMetrics: true,
    isAllowPrivateMetricsByDefault: false,
    isRenameDashboard: false,
  };
  const code = step === 'the embed whose id is taken' ? 'INVALID_DASHBOARD_ID' : failure.split(' ')[1];
  await expect(createDashboardEmbed({ ...deps, store: failing })(api(), command, stays)).rejects.toMatchObject({
    code,
  });
  expect(await inventory(world)).toEqual(before);
  await clone('plan', command.dashboardId);
  expect(await inventory(world)).toEqual({
    dashboards: before.dashboards + 1,
    metrics: before.metrics + 1,
    embeds: before.embeds + 1,
  });
});
