/**
 * Two simultaneous changes of one embed, dashboard or data app. Needs a real server, since the embedded database runs
 * one transaction at a time.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import { createEmbed } from '../../src/service/embeds/embeds.js';
import { deleteDashboard, renameEmbed, updateEmbed } from '../../src/service/embeds/settings.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import {
  createSemanticLayer,
  deleteSemanticLayer,
  updateSemanticLayer,
} from '../../src/service/semantic-layer/semantic-layer.js';
import { stays } from '../engine/world.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createWorld, settings, type World } from './world.js';

const rounds = 8;

const codeOf = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'done',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );

describe.skipIf(!(await isPostgresThere()))('at the same time', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld('postgres');
    await world.template('board');
  });
  afterAll(() => world.close());

  const settingsOf = async (embedId: string) => (await world.store.embeds.findById('id-app', embedId))?.accessSettings;

  test('two changes of access settings: neither gives back what the other took away', async () => {
    const { deps, api } = world;
    const embedId = await world.embed('board');
    const update = (accessSettings: object) => updateEmbed(deps)(api(), { embedId, accessSettings });
    for (let round = 0; round < rounds; round++) {
      await update({ isAllowUnderlyingData: true, isAllowMetricUpdate: true });
      await Promise.all([update({ isAllowUnderlyingData: false }), update({ isAllowMetricUpdate: false })]);
      expect(await settingsOf(embedId)).toMatchObject({ isAllowUnderlyingData: false, isAllowMetricUpdate: false });
    }
  });

  test('a rename and a change of access settings do not undo each other', async () => {
    const { deps, api } = world;
    const embedId = await world.embed('board');
    const names = ['a', 'b', 'c'];
    for (let round = 0; round < rounds; round++) {
      await updateEmbed(deps)(api(), { embedId, accessSettings: { isAllowUnderlyingData: true } });
      await Promise.all([
        ...names.map((name) => renameEmbed(deps)(api(), { embedId, name })),
        updateEmbed(deps)(api(), { embedId, accessSettings: { isAllowUnderlyingData: false } }),
        ...names.map((name) => renameEmbed(deps)(api(), { embedId, name })),
      ]);
      expect(await settingsOf(embedId)).toMatchObject({ isAllowUnderlyingData: false });
    }
  });

  test('a dashboard is deleted while it is embedded, renamed and changed: each of them is done or refused', async () => {
    const { deps, api } = world;
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const embedId = `gone-${round}`;
      await world.clone('board', embedId);
      const embed = { embedType: 'dashboard', dashboardId: embedId, workspaceName: 'space' } as const;
      const codes = await Promise.all(
        [
          createEmbed(deps)(api(), { ...embed, accessSettings: settings }),
          deleteDashboard(deps)(api(), { dashboardId: embedId }),
          updateEmbed(deps)(api(), { embedId, accessSettings: { isAllowUnderlyingData: false } }),
          renameEmbed(deps)(api(), { embedId, name: 'x' }),
        ].map(codeOf),
      );
      for (const code of codes) seen.add(code);
    }
    expect([...seen].filter((code) => !['done', 'INVALID_DASHBOARD_ID', 'INVALID_EMBED_ID'].includes(code))).toEqual(
      [],
    );
  });

  test('a semantic layer is deleted while it is updated: each of them is done or refused', async () => {
    const { deps } = world;
    const service = { kind: 'serviceToken', tokenId: 't' } as const;
    const layer = { datamartName: 'sales', feedback: 'x' };
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      await createSemanticLayer(deps)(service, layer);
      const codes = await Promise.all(
        [
          updateSemanticLayer(deps)(service, layer),
          deleteSemanticLayer(deps)(service, layer),
          updateSemanticLayer(deps)(service, layer),
        ].map(codeOf),
      );
      for (const code of codes) seen.add(code);
    }
    expect([...seen].filter((code) => !['done', 'SEMANTIC_LAYER_NOT_FOUND'].includes(code))).toEqual([]);
  });

  test('a data app is deleted while its key embeds and revokes: each of them is done or refused', async () => {
    const { deps, store, api } = world;
    const now = deps.clock.now();
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const id = `brief-${round}`;
      await store.dataApps.insert({ id, name: id, createdAt: now, updatedAt: now });
      const caller = { ...api(), dataAppId: id, dataAppName: id };
      const place = { workspaceName: 'space', accessSettings: settings };
      const flags = { isImportMetrics: true, isRenameDashboard: false };
      const codes = await Promise.all(
        [
          createEmbed(deps)(caller, { ...place, embedType: 'dashboard', dashboardId: 'board' }),
          createDashboardEmbed(deps)(
            caller,
            {
              ...place,
              ...flags,
              dashboardId: 'own',
              clientId: 'a',
              templateDashboardId: 'board',
            },
            stays,
          ),
          store.dataApps.delete(id),
          revokeGuestTokens(deps)(caller, { clientId: 'a' }),
        ].map(codeOf),
      );
      for (const code of codes) seen.add(code);
    }
    expect([...seen].filter((code) => !['done', 'INVALID_REQUEST_BODY'].includes(code))).toEqual([]);
  });
});
