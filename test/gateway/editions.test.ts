/** The history of a template, and the check of its metrics before a roll-out. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Policies } from '../../src/gateway/policy/policies.js';
import { checkTemplate } from '../../src/gateway/rollout/check.js';
import { createRolloutCommands } from '../../src/gateway/rollout/commands.js';
import { findVersion, listEditions, recordTemplate } from '../../src/gateway/rollout/editions.js';
import { planRollout } from '../../src/gateway/rollout/plan.js';
import { createRollouts } from '../../src/gateway/rollout/rollout.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import { replaceDashboardContent } from '../../src/service/dashboards/content.js';
import { columnRef, metric as over, stays } from '../engine/world.js';
import { type Board, openBoard, openRolloutHouse, type RolloutHouse, withMetric } from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

let made = 0;
const openWith = async (clientIds: readonly string[]): Promise<Board> => {
  made += 1;
  const board = await openBoard(house, `edition-${made}`);
  await board.provision(clientIds);
  return board;
};
const deps = () => ({ ...house, ledger: house.rolloutLedger });
const historyOf = ({ policy, template }: Board, limit = 20) => listEditions(deps(), policy, { template, limit });
const renamed = (name: string) => (content: DashboardContent) => withMetric(content, 'count', { name });

describe('the history of a template', () => {
  it('names each edition, who made it and what changed in words, newest first', async () => {
    const board = await openWith(['a', 'b']);
    await recordTemplate(deps(), board.policy, board.template, 'link ada');
    await board.publish(renamed('All sales'));
    await recordTemplate(deps(), board.policy, board.template, 'link bob');
    const { editions, published, unpublished, hasMore } = await historyOf(board);
    expect(editions).toMatchObject([
      { number: 2, by: 'link bob', changes: ['Metric "Metric count" is now called "All sales".'], copies: 0 },
      { number: 1, by: 'link ada', changes: [], copies: 2 },
    ]);
    expect([published, unpublished, hasMore]).toEqual([editions[1]?.version, editions[0]?.changes, false]);
  });

  it('has a change that nobody claimed, until who made it says so; another one cannot claim it then', async () => {
    const board = await openWith([]);
    expect((await historyOf(board)).editions).toMatchObject([{ number: 1, by: null }]);
    for (const by of ['link ada', 'link bob']) await recordTemplate(deps(), board.policy, board.template, by);
    expect((await historyOf(board)).editions).toMatchObject([{ number: 1, by: 'link ada' }]);
  });

  it('begins with the versions that are known from copies, in their order', async () => {
    const board = await openWith([]);
    const first = await house.versions.record(board.policy, board.template);
    await house.ledger.db.deleteFrom('template_editions').where('template', '=', board.template).execute();
    await board.publish(renamed('All sales'));
    await recordTemplate(deps(), board.policy, board.template, 'link ada');
    expect((await historyOf(board)).editions).toMatchObject([
      { number: 2, by: 'link ada', changes: [expect.stringContaining('All sales')] },
      { number: 1, by: null, version: first.version },
    ]);
  });

  it('a restored version is a new edition, and its content is that of the old one', async () => {
    const board = await openWith(['a']);
    const [first] = (await historyOf(board)).editions;
    const { content } = await findVersion(deps(), { template: board.template, version: first?.version ?? '' });
    await board.publish(renamed('All sales'));
    await historyOf(board);
    await board.publish((now) => ({ ...now, ...content }));
    const { editions, unpublished } = await historyOf(board);
    expect(editions.map(({ number, version }) => [number, version === first?.version])).toEqual([
      [3, true],
      [2, false],
      [1, true],
    ]);
    expect(unpublished).toEqual([]);
  });

  it('is cut at the limit, and still says what the last one shown changed', async () => {
    const board = await openWith([]);
    await historyOf(board);
    for (const name of ['One', 'Two']) {
      await board.publish((now) => ({
        ...now,
        metrics: now.metrics.map((one, index) => (index === 0 ? { ...one, name } : one)),
      }));
      await historyOf(board);
    }
    expect(await historyOf(board, 1)).toMatchObject({
      editions: [{ number: 3, changes: ['Metric "One" is now called "Two".'] }],
      hasMore: true,
    });
  });

  it('simultaneous readers make one edition', async () => {
    const board = await openWith([]);
    await Promise.all(Array.from({ length: 8 }, () => historyOf(board)));
    expect((await historyOf(board)).editions).toHaveLength(1);
  });

  it('names the roll-outs of each edition, and who began them', async () => {
    const board = await openWith(['a']);
    await board.publish(renamed('All sales'));
    const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
    const rollouts = createRollouts(deps());
    await (await rollouts.start(board.policy, { ...usual, template: board.template, by: 'link bob' })).done;
    expect((await historyOf(board)).editions[0]).toMatchObject({
      copies: 1,
      rollouts: [{ state: 'finished', startedBy: 'link bob' }],
    });
  });

  it('refuses a template that the policy does not name, and a version that it never had', async () => {
    const board = await openWith([]);
    const { policy, template } = board;
    await expect(listEditions(deps(), policy, { template: 'none', limit: 1 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(findVersion(deps(), { template, version: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('a roll-out with decided conflicts', () => {
  const edit = async (board: Board, clientId: string, name: string) => {
    const { content, digest } = await board.read(clientId);
    const command = {
      ...{ dashboardId: board.idOf(clientId), workspaceName: 'space', expectedDigest: digest },
      content: withMetric(content, 'count', { name }),
    };
    await replaceDashboardContent(house.world.deps)(house.caller, command, stays);
  };
  const namesOf = async (board: Board, clientId: string) =>
    (await board.read(clientId)).content.metrics.map(({ name }) => name);

  it('writes the copies whose conflicts are decided, each as it was decided, and leaves the others', async () => {
    const board = await openWith(['a', 'b', 'c']);
    for (const clientId of ['a', 'b', 'c']) await edit(board, clientId, `Of ${clientId}`);
    await board.publish(renamed('All sales'));
    const plan = await planRollout(deps(), board.policy, {
      ...{ template: board.template, after: '', limit: 9 },
      showsValues: true,
    });
    const path = 'metrics["count"].name';
    expect(plan.tenants.map(({ conflicts }) => conflicts)).toEqual(
      plan.tenants.map(({ clientId }) => [
        {
          path: expect.any(String),
          what: expect.any(String),
          kind: 'changed-by-both',
          base: 'Metric count',
          template: 'All sales',
          tenant: `Of ${clientId}`,
        },
      ]),
    );
    const [{ path: found = path } = {}] = plan.tenants[0]?.conflicts ?? [];
    const { commands } = createRolloutCommands({ ...house, policies: { current: () => board.policy } as Policies });
    const run = (name: string, input: object) =>
      commands
        .find((command) => command.name === name)
        ?.run(input, { name: 'link bob', seesData: true, roles: [], studio: null }) as Promise<{
        id: string;
        state: string;
      }>;
    const { id } = await run('rollout-apply', {
      template: board.template,
      choices: [
        { clientId: 'a', path: found, take: 'template' },
        { clientId: 'b', path: found, take: 'tenant' },
      ],
    });
    await vi.waitFor(async () => expect((await run('rollout-status', { id })).state).toBe('finished'), 50_000);
    const names = await Promise.all(['a', 'b', 'c'].map((clientId) => namesOf(board, clientId)));
    expect(names.map(([name]) => name)).toEqual(['All sales', 'Of b', 'Of c']);
    const after = await planRollout(deps(), board.policy, { template: board.template, after: '', limit: 9 });
    const statuses = Object.fromEntries(after.tenants.map(({ clientId, status }) => [clientId, status]));
    expect(statuses).toEqual({ a: 'up-to-date', b: 'up-to-date', c: 'conflict' });
    const stored = house.ledger.db.selectFrom('rollouts').select(['options', 'started_by']).where('id', '=', id);
    const { options, started_by } = await stored.executeTakeFirstOrThrow();
    // A tenant's name must not outlive the tenant.
    expect(Object.keys(JSON.parse(options).choices).toSorted()).toEqual(['a', 'b'].map(house.ledger.refOf).toSorted());
    expect(started_by).toBe('link bob');
  });
});

describe('the check of a template', () => {
  /** A metric whose query fails at the database. */
  const withFailing = (now: DashboardContent) =>
    withMetric(now, 'by-shop', {
      definition: over('sales', {
        measures: [{ name: 'n', aggregate: 'COUNT' }],
        where: { column: columnRef('sales.shop'), predicate: { kind: 'like', pattern: 'x\\' } },
      }),
    });
  const check = ({ policy, template }: Board, more: object = {}) =>
    checkTemplate(deps(), policy, { template, tenants: 3, seesData: true, ...more });

  it('runs no metric for a person who may not see data, whatever the rows are', async () => {
    const board = await openWith(['a', 'b']);
    await board.publish(withFailing);
    const { tenants, faults } = await check(board, { seesData: false });
    expect(tenants.map(({ clientId }) => clientId).toSorted()).toEqual(['a', 'b']);
    expect(faults).toEqual([
      { level: 'warning', clientId: null, metric: null, text: expect.stringContaining('may not') },
    ]);
  });

  it('runs every metric for each sampled tenant, and finds no fault where there is none', async () => {
    const board = await openWith(['a', 'b']);
    const { tenants, faults, version } = await check(board);
    expect(tenants.toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))).toEqual([
      { clientId: 'a', metrics: 3 },
      { clientId: 'b', metrics: 3 },
    ]);
    expect([faults, version]).toEqual([[], (await historyOf(board)).editions[0]?.version]);
  });

  it('names the tenant and the metric that fails, before any copy has it', async () => {
    const board = await openWith(['a', 'b']);
    await board.publish(withFailing);
    const before = await board.read('a');
    expect((await check(board, { clientIds: ['a'] })).faults).toEqual([
      { level: 'error', clientId: 'a', metric: 'Metric by-shop', text: expect.stringContaining('backslash') },
    ]);
    expect(await board.read('a')).toEqual(before);
  });

  it('warns of a metric without rows, for the tenant that has none alone', async () => {
    const board = await openWith(['a', 'nobody-bought-here']);
    const { faults } = await check(board);
    expect(faults).toContainEqual({
      ...{ level: 'warning', clientId: 'nobody-bought-here', metric: 'Metric by-shop' },
      text: 'It has no rows for this tenant.',
    });
    expect(faults.every(({ clientId }) => clientId === 'nobody-bought-here')).toBe(true);
  });

  it('checks the tenants that are named, and refuses one without a copy', async () => {
    const board = await openWith(['a', 'b']);
    expect((await check(board, { clientIds: ['b'] })).tenants).toEqual([{ clientId: 'b', metrics: 3 }]);
    await expect(check(board, { clientIds: ['b', 'z'] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('z'),
    });
  });

  it('reports a copy that the service lost', async () => {
    const board = await openWith(['a']);
    const copies = house.ledger.db.updateTable('dashboards').where('template', '=', board.template);
    await copies.set({ dashboard_id: 'lost' }).execute();
    expect((await check(board)).faults).toMatchObject([{ level: 'error', clientId: 'a', metric: null }]);
  });
});
