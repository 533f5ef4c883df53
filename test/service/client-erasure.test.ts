/** Operations that run while a client is erased: none may leave anything of the client. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import { eraseClient } from '../../src/service/data-apps/data-apps.js';
import { saveGuestLayout } from '../../src/service/guest/layouts.js';
import { createGuestMetric } from '../../src/service/guest/metrics.js';
import { createGuestView } from '../../src/service/guest/views.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import { createGuestToken } from '../../src/service/guest-tokens/guest-tokens.js';
import type { Store } from '../../src/service/store/store.js';
import { stays } from '../engine/world.js';
import { dump } from '../suites/dump.js';
import { createWorld, settings, type World } from './world.js';

const clientId = 'client-that-is-unmistakable';
const userIdentifier = 'user-that-is-unmistakable';
const open = { ...settings, isAllowManageMetrics: true, isAllowCreateDashboardView: true, isAllowMetricCreation: true };
const permissions = {
  isEnableManageMetrics: true,
  isEnableCreateDashboardView: true,
  isEnableCustomizeLayout: true,
  isEnableMetricUpdation: true,
  isDisableMetricCreation: false,
};

let world: World;
let shared: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  shared = await world.embed('board', undefined, { ...open, isAllowMetricLayoutChange: true });
});
afterAll(async () => {
  await world.close();
});

const erase = () => eraseClient(world.deps)(world.api(), { clientId });
const expectGone = async () => {
  const text = await dump(world.database);
  expect(text).toContain('board');
  expect(text).not.toContain('unmistakable');
};
const mintDuring = async (meanwhile: () => Promise<unknown>, params: object, whose = clientId) => {
  const { store, deps, api } = world;
  let isFirst = true;
  const guestTokens: Store['guestTokens'] = {
    ...store.guestTokens,
    currentEpoch: async (subject) => {
      const epoch = await store.guestTokens.currentEpoch(subject);
      if (isFirst) await meanwhile();
      isFirst = false;
      return epoch;
    },
  };
  const mint = createGuestToken({ ...deps, store: { ...store, guestTokens } });
  return mint(api(), { clientId: whose, dataAppName: 'app', params: { userIdentifier, ...params } });
};

test.each([
  ['over its dashboard', 'DASHBOARD_PARAM_ERROR', () => ({ allowedEmbeds: ['own--board'] })],
  ["over the organization's", 'INVALID_REQUEST_BODY', () => ({ allowedEmbeds: [shared] })],
  ['over all', 'INVALID_REQUEST_BODY', () => ({})],
])('a mint %s: refused, and nothing of it is stored, even if it was revoked before', async (_, code, paramsOf) => {
  await world.clone('board', 'own--board', clientId);
  const meanwhile = async () => {
    await revokeGuestTokens(world.deps)(world.api(), { clientId, userIdentifier });
    await erase();
    await eraseClient(world.deps)(world.api(), { clientId: 'another' });
  };
  await expect(mintDuring(meanwhile, paramsOf())).rejects.toMatchObject({ code });
  await expectGone();
});

test("another client's mint is good", async () => {
  const { token } = await mintDuring(erase, { allowedEmbeds: [shared] }, 'b');
  const grant = await world.store.guestTokens.findByHash(world.deps.tokens.hash(token));
  expect(grant).toMatchObject({ clientId: 'b' });
  await eraseClient(world.deps)(world.api(), { clientId: 'b' });
});

const guestWrites = {
  'saves a view': (deps: World['deps'], guest: GuestCaller) =>
    createGuestView(deps)(guest, { dashboardId: shared, name: 'unmistakable' }),
  'makes a metric': (deps: World['deps'], guest: GuestCaller) =>
    createGuestMetric(deps)(guest, {
      dashboardId: shared,
      name: 'unmistakable',
      definition: {
        chart: { type: 'singleValue' },
        from: world.sales,
        dimensions: [],
        measures: [{ name: 'Sales', aggregate: 'COUNT' }],
      },
    }),
  'arranges the board': (deps: World['deps'], guest: GuestCaller) =>
    saveGuestLayout(deps)(guest, { dashboardId: shared, layout: [] }),
};

test.each(Object.entries(guestWrites))('a guest that %s: refused as if the token were gone', async (_, write) => {
  const params = { userIdentifier, allowedEmbeds: [shared] };
  await write(world.deps, await world.mint(params, { clientId, permissions }));
  const guest = await world.mint(params, { clientId, permissions });
  const { store } = world;
  const delayed: Store = {
    ...store,
    transaction: async (work) => {
      await erase();
      return store.transaction(work);
    },
  };
  await expect(write({ ...world.deps, store: delayed }, guest)).rejects.toMatchObject({ reason: 'token-gone' });
  await expectGone();
});

test('everything at the same time, then a last erasure: nothing remains', async () => {
  for (let round = 0; round < 6; round += 1) {
    const params = { userIdentifier, allowedEmbeds: [shared] };
    const guest = await world.mint(params, { clientId, permissions });
    const outcomes = await Promise.allSettled([
      ...Object.values(guestWrites).map((write) => write(world.deps, guest)),
      erase(),
      world.clone('board', `round-${round}`, clientId),
      world.mint(params, { clientId, permissions }),
      erase(),
    ]);
    const faults = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    for (const fault of faults)
      expect(fault).toMatchObject({ code: expect.stringMatching(/^(UNAUTHORIZED|INVALID_REQUEST_BODY)$/) });
    await erase();
    await expectGone();
  }
});

test('a dashboard that is made afterwards is whole', async () => {
  await createDashboardEmbed(world.deps)(
    world.api(),
    {
      dashboardId: 'anew',
      clientId,
      workspaceName: 'space',
      accessSettings: settings,
      templateDashboardId: 'board',
      isImportMetrics: true,
      isRenameDashboard: false,
    },
    stays,
  );
  expect(await erase()).toMatchObject({ dashboards: 1, embeds: 1, metrics: 1 });
  await expectGone();
});
