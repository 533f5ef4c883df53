/** The settings that a policy gives to the copies of a template reach existing copies by a roll-out. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { planRollout } from '../../src/gateway/rollout/plan.js';
import {
  createRollouts,
  type Rollouts,
  type StartedRollout,
  type StartRollout,
} from '../../src/gateway/rollout/rollout.js';
import { createTemplateVersions } from '../../src/gateway/rollout/template-versions.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { capabilityNames } from '../../src/model/capability.js';
import type { SettingsChange } from '../../src/model/dashboard/embed.js';
import { renameEmbed, updateEmbed } from '../../src/service/embeds/settings.js';
import { type Board, openBoard, openRolloutHouse, type RolloutHouse } from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

const plain = '{ name: Sales }';
const withReports = '{ name: Sales, accessSettings: { isAllowEmailReports: true } }';

const embedOf = async (board: Board, clientId: string) => {
  const embed = await house.world.store.embeds.findById('id-app', board.idOf(clientId));
  if (embed === undefined) throw new Error(`${clientId} has no embed`);
  return embed;
};

const sets = (board: Board, clientId: string, accessSettings: SettingsChange) =>
  updateEmbed(house.world.deps)(house.caller, { embedId: board.idOf(clientId), accessSettings });

const plan = (board: Board, policy: Policy) =>
  planRollout({ ...house, ledger: house.rolloutLedger }, policy, {
    template: board.template,
    after: '',
    limit: 100,
    showsValues: true,
  });

const planned = async (board: Board, policy: Policy, clientId: string) => {
  const { tenants } = await plan(board, policy);
  return tenants.find((one) => one.clientId === clientId);
};

const runToEnd = async (made: Rollouts, begin: (one: Rollouts) => Promise<StartedRollout>): Promise<string> => {
  const { id, done } = await begin(made);
  await done;
  return id;
};

const rollouts = () => createRollouts({ ...house, ledger: house.rolloutLedger });

const rollOut = async (board: Board, policy: Policy, more: Partial<StartRollout> = {}): Promise<string> =>
  runToEnd(rollouts(), (one) =>
    one.start(policy, {
      template: board.template,
      canary: [],
      steps: [100],
      maxFailures: 0,
      onConflict: 'leave',
      isAdopting: false,
      ...more,
    }),
  );

const reportsAt = async (board: Board, clientId: string) =>
  (await embedOf(board, clientId)).accessSettings?.isAllowEmailReports;

describe('settings of a template', () => {
  it('a setting that nobody changed on the copy takes what the policy says now', async () => {
    const board = await openBoard(house, 'untouched');
    await board.provision(['a']);
    const policy = board.policyWith(withReports);
    expect(await planned(board, policy, 'a')).toMatchObject({
      status: 'behind',
      isEdited: false,
      settings: ['The access setting reports by e-mail (isAllowEmailReports) changes from off to on.'],
      conflicts: [],
    });
    await rollOut(board, policy);
    expect(await reportsAt(board, 'a')).toBe(true);
    expect(await planned(board, policy, 'a')).toMatchObject({ status: 'up-to-date', settings: [] });
    expect((await embedOf(board, 'a')).accessSettings?.datamartName).toBe('sales');
  });

  it('a setting that the host changed on one copy stays, and is named as a conflict with its values', async () => {
    const board = await openBoard(house, 'changed');
    const first = board.policyWith('{ name: Sales, accessSettings: { joinModel: multi, isAllowMetricUpdate: true } }');
    await board.provision(['a', 'b'], true, first);
    await sets(board, 'a', { joinModel: 'single', isAllowMetricUpdate: false });
    const policy = board.policyWith('{ name: Sales, accessSettings: { isAllowMetricUpdate: true } }');
    expect(await planned(board, policy, 'a')).toMatchObject({
      status: 'conflict',
      settings: [],
      conflicts: [
        {
          path: 'settings.accessSettings.joinModel',
          what: 'access setting: how tables are joined (joinModel)',
          kind: 'removed-by-template',
          base: 'multi',
          template: null,
          tenant: 'single',
        },
      ],
    });
    await rollOut(board, policy);
    expect((await embedOf(board, 'a')).accessSettings).toMatchObject({
      joinModel: 'single',
      isAllowMetricUpdate: false,
    });
    expect((await embedOf(board, 'b')).accessSettings).not.toHaveProperty('joinModel');
    await rollOut(board, policy, {
      choices: { [house.ledger.refOf('a')]: { 'settings.accessSettings.joinModel': 'template' } },
    });
    const { accessSettings } = await embedOf(board, 'a');
    expect(accessSettings).not.toHaveProperty('joinModel');
    expect(accessSettings).toMatchObject({ isAllowMetricUpdate: false });
  });

  it('settings reach the canary first, and a rollback gives back what each copy had', async () => {
    const board = await openBoard(house, 'canary');
    await board.provision(['a', 'b']);
    const policy = board.policyWith('{ name: Revenue, accessSettings: { isAllowEmailReports: true } }');
    const before = await board.exported('a');
    const id = await rollOut(board, policy, { canary: [house.ledger.refOf('a')], isPausing: true });
    expect([await reportsAt(board, 'a'), await reportsAt(board, 'b')]).toEqual([true, false]);
    await runToEnd(rollouts(), (one) => one.resume(policy, id));
    expect(await reportsAt(board, 'b')).toBe(true);
    expect((await embedOf(board, 'a')).name).toBe('Revenue');
    await sets(board, 'b', { isAllowUnderlyingData: true });
    await runToEnd(rollouts(), (one) => one.rollback(id));
    expect(await reportsAt(board, 'a')).toBe(false);
    expect((await embedOf(board, 'a')).name).toBe('Sales');
    expect(await board.exported('a')).toBe(before);
    // What the host changed since is not overwritten.
    expect((await embedOf(board, 'b')).accessSettings).toMatchObject({
      isAllowUnderlyingData: true,
      isAllowEmailReports: true,
    });
  });

  it('a copy takes a new name of the template, unless the host gave the copy another or an override does', async () => {
    const board = await openBoard(house, 'named');
    const override = (name: string) =>
      `tenants:\n  - name: special\n    clientIds: [c]\n    templates: { named: { name: ${name} } }\n`;
    await board.provision(['a', 'b', 'c'], true, board.policyWith(plain, override('Ours')));
    await renameEmbed(house.world.deps)(house.caller, { embedId: board.idOf('b'), name: 'Own name' });
    const policy = board.policyWith('{ name: Revenue }', override('Theirs'));
    expect((await planned(board, policy, 'a'))?.settings).toEqual(['The name changes from "Sales" to "Revenue".']);
    expect((await planned(board, policy, 'b'))?.conflicts).toMatchObject([{ path: 'settings.name' }]);
    expect((await planned(board, policy, 'c'))?.settings).toEqual(['The name changes from "Ours" to "Theirs".']);
    await rollOut(board, policy);
    const names = await Promise.all(['a', 'b', 'c'].map(async (client) => (await embedOf(board, client)).name));
    expect(names).toEqual(['Revenue', 'Own name', 'Theirs']);
    expect((await planned(board, policy, 'c'))?.status).toBe('up-to-date');
    const shown = await house.world.store.dashboards.findByExternalId('id-app', board.idOf('a'));
    expect(shown?.name).toBe('Revenue');
  });

  it('a copy of before settings were stored conflicts where it differs, and is adopted on demand', async () => {
    const board = await openBoard(house, 'older');
    const older = createTemplateVersions({
      ...house,
      capabilities: fixedCapabilities(capabilityNames.filter((name) => name !== 'copy-settings')),
    });
    await board.provision(['a']);
    const { version } = await older.record(board.policy, board.template);
    await house.ledger.db
      .updateTable('dashboards')
      .set({ template_version: version })
      .where('template', '=', board.template)
      .execute();
    expect(await planned(board, board.policy, 'a')).toMatchObject({ status: 'up-to-date' });
    const policy = board.policyWith(withReports);
    expect(await planned(board, policy, 'a')).toMatchObject({
      status: 'conflict',
      conflicts: [{ path: 'settings.accessSettings.isAllowEmailReports', base: null, template: true, tenant: false }],
    });
    await rollOut(board, policy);
    expect(await reportsAt(board, 'a')).toBe(false);
    await rollOut(board, policy, { isAdopting: true });
    expect(await reportsAt(board, 'a')).toBe(true);
  });

  it('a service that cannot replace settings gets the content alone, and the plan says why', async () => {
    const board = await openBoard(house, 'foreign');
    const capabilities = fixedCapabilities(capabilityNames.filter((name) => name !== 'copy-settings'));
    const foreign = { ...house, capabilities, versions: createTemplateVersions({ ...house, capabilities }) };
    await board.provision(['a']);
    const policy = board.policyWith(withReports);
    await board.publish((content) => ({ ...content, gridMargin: [24, 24] }));
    const input = { template: board.template, after: '', limit: 10 };
    const page = await planRollout({ ...foreign, ledger: house.rolloutLedger }, policy, input);
    expect(page.settingsFault).toMatch(/capability "copy-settings"/);
    expect(page.tenants).toMatchObject([{ status: 'behind', settings: [], conflicts: [] }]);
    const started = createRollouts({ ...foreign, ledger: house.rolloutLedger });
    await runToEnd(started, (one) =>
      one.start(policy, {
        ...{ template: board.template, canary: [], steps: [100], maxFailures: 0 },
        ...{ onConflict: 'leave', isAdopting: false },
      }),
    );
    expect(await reportsAt(board, 'a')).toBe(false);
    expect((await board.read('a')).content.gridMargin).toEqual([24, 24]);
    expect((await plan(board, policy)).settingsFault).toBeNull();
  });

  it('a plan does not apply after the policy changed the settings', async () => {
    const board = await openBoard(house, 'moved');
    await board.provision(['a']);
    const { version } = await plan(board, board.policyWith(withReports));
    await expect(rollOut(board, board.policy, { version })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });
});
