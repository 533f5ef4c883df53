/** A template is not rolled out while a metric of it reads a table whose rows belong to nobody. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinProcesses } from '../../src/gateway/ledger/processes.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { checkTemplate } from '../../src/gateway/rollout/check.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import { planRollout } from '../../src/gateway/rollout/plan.js';
import { createRollouts } from '../../src/gateway/rollout/rollout.js';
import { listUnreadable } from '../../src/gateway/rollout/unreadable.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { columnRef, metric as over, refusalOf } from '../engine/world.js';
import {
  type Board,
  firstEdition,
  openBoard,
  openRolloutHouse,
  type RolloutHouse,
  takeOverAll,
  withMetric,
} from './rollout-fixture.js';

let house: RolloutHouse;
let mart: Datamart;
let board: Board;
beforeAll(async () => {
  house = await openRolloutHouse();
  const found = await house.world.store.datamarts.findByName('sales');
  if (found === undefined) throw new Error('the world has a datamart sales');
  mart = found;
});
afterAll(() => house.close());

let made = 0;
beforeEach(async () => {
  await change({ sharedTables: ['shops'] });
  made += 1;
  board = await openBoard(house, `unreadable-${made}`);
  await board.provision(['a', 'b']);
});

const change = (parts: Partial<Datamart>) => house.world.store.datamarts.update({ ...mart, ...parts });
const deps = () => ({ ...house, ledger: house.rolloutLedger });
const apply = async (policy: Policy = board.policy) => {
  const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
  const { done } = await createRollouts({ ...deps(), width: 2 }).start(policy, { ...usual, template: board.template });
  await done;
};
const current = () => house.versions.record(board.policy, board.template);
const namesIn = async (policy: Policy = board.policy) =>
  (await listUnreadable(deps(), policy, await current())).map(({ name }) => name);
/** Begins a roll-out that waits after the canary `a`, and so still has `b` to do. */
const pause = async (): Promise<string> => {
  const canary = [house.ledger.refOf('a')];
  const usual = { canary, steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
  const wanted = { ...usual, isPausing: true, template: board.template };
  const { id, done } = await createRollouts(deps()).start(board.policy, wanted);
  await done;
  expect((await house.rolloutLedger.find(id))?.state).toBe('paused');
  return id;
};
const namesOf = async (clientId: string) => (await board.read(clientId)).content.metrics.map(({ name }) => name);
/** Leaves the roll-out as if its process had died. */
const cutOff = async (id: string): Promise<void> => {
  await house.rolloutLedger.setState(id, 'running');
  const dead = await joinProcesses(house.ledger.db, true);
  await createRolloutLedger({ db: house.ledger.db, self: dead }, house.clock).lease(id);
  const own = house.ledger.db.updateTable('processes').where('process_id', '=', dead.id());
  await own.set({ beat_at: new Date(0) }).execute();
  await house.ledger.self.beat(true);
};
// A service that cannot try the content leaves it to this check alone.
const untrying = () => fixedCapabilities(['replace-content', 'list-unreadable-metrics']);
const takeOver = async (id: string): Promise<void> => {
  const rollouts = createRollouts({ ...deps(), capabilities: untrying() });
  expect(await takeOverAll(rollouts, board.policy)).toMatchObject({ ids: [id], failures: 0 });
};

const byState: MetricDefinition = over('sales', {
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'n', aggregate: 'COUNT' }],
});
const inSql: MetricDefinition = {
  ...{ kind: 'sql', chart: { type: 'table' }, sql: 'SELECT count(*) AS n FROM shops', dimensions: [] },
  ...{ measures: [{ name: 'n' }], filters: [], rlsVariables: [], sort: [], limit: null },
};
const reads = (definition: MetricDefinition) => (first: DashboardContent) =>
  withMetric(first, 'by-shop', { definition });

it.each([
  ['of fields', byState],
  ['in SQL', inSql],
])('refuses it for a metric %s, names metric and table, and writes nothing', async (_, definition) => {
  await board.publish(reads(definition));
  await change({ sharedTables: [] });
  const before = await Promise.all(['a', 'b'].map(async (one) => (await board.read(one)).digest));
  const { code, reason, message } = await refusalOf(() => apply());
  expect([code, reason]).toEqual(['NOT_SUPPORTED', 'rollout-unreadable']);
  expect(message).toContain('"Metric by-shop"');
  expect(message).toContain('main.shops');
  expect(await Promise.all(['a', 'b'].map(async (one) => (await board.read(one)).digest))).toEqual(before);
  expect((await house.rolloutLedger.list()).filter(({ template }) => template === board.template)).toEqual([]);
});

it('refuses it also for a metric that all copies have, and goes on once the table has an owner', async () => {
  await board.publish(reads(byState));
  await apply();
  await change({ sharedTables: [] });
  await board.publish((content) => withMetric(content, 'count', { name: 'Sales' }));
  expect((await refusalOf(() => apply())).reason).toBe('rollout-unreadable');
  await change({ sharedTables: ['shops'] });
  await apply();
  expect((await board.read('a')).content.metrics.map(({ name }) => name)).toContain('Sales');
});

it('refuses to continue it once a table has lost its owner, and says why; a take-over stops it', async () => {
  await board.publish(reads(byState));
  const failing: Call = async (operation, input) => {
    if (operation.name === 'replaceDashboardContent') throw new Refusal('UPSTREAM_UNAVAILABLE', 'away');
    return house.upstream(operation, input);
  };
  const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
  const { id, done } = await createRollouts({ ...deps(), upstream: failing }).start(board.policy, {
    ...{ ...usual, template: board.template },
  });
  await done.catch(() => undefined);
  const rollouts = createRollouts(deps());
  await change({ sharedTables: [] });
  const before = await Promise.all(['a', 'b'].map(async (one) => (await board.read(one)).digest));
  expect((await refusalOf(() => rollouts.resume(board.policy, id))).reason).toBe('rollout-unreadable');
  expect((await refusalOf(() => rollouts.resume({ ...board.policy, templates: new Map() }, id))).code).toBe(
    'NOT_FOUND',
  );
  await cutOff(id);
  await takeOver(id);
  expect((await house.rolloutLedger.find(id))?.state).toBe('stopped');
  expect(await Promise.all(['a', 'b'].map(async (one) => (await board.read(one)).digest))).toEqual(before);
  await change({ sharedTables: ['shops'] });
  await (await rollouts.resume(board.policy, id)).done;
  expect((await house.rolloutLedger.find(id))?.state).toBe('finished');
});

describe('goes on with the version that it began with', () => {
  const renamed = (content: DashboardContent) => withMetric(content, 'count', { name: 'Sales' });

  it.each([
    ['resumed', async (id: string) => (await createRollouts(deps()).resume(board.policy, id)).done],
    [
      'taken over',
      async (id: string) => {
        await cutOff(id);
        await takeOver(id);
      },
    ],
  ])('%s, although the template reads a table of nobody by now', async (_, goOn) => {
    await board.publish(renamed);
    const id = await pause();
    await board.publish(reads(byState));
    await change({ sharedTables: [] });
    expect(await namesIn()).toEqual(['Metric by-shop']);
    await goOn(id);
    expect((await house.rolloutLedger.find(id))?.state).toBe('finished');
    expect(await namesOf('b')).toEqual(['Sales', 'Metric by-shop', 'Metric by-state']);
    const { metrics } = (await board.read('b')).content;
    expect(JSON.stringify(metrics)).not.toContain('shops');
  });

  it('is refused for what that version reads, although the template is mended by now', async () => {
    await board.publish(reads(byState));
    const id = await pause();
    await board.publish((content) =>
      withMetric(content, 'by-shop', { definition: firstEdition.metrics[1]?.definition ?? byState }),
    );
    await change({ sharedTables: [] });
    expect(await namesIn()).toEqual([]);
    const before = (await board.read('b')).digest;
    const { reason, message } = await refusalOf(() => createRollouts(deps()).resume(board.policy, id));
    expect([reason, message]).toEqual(['rollout-unreadable', expect.stringContaining('main.shops')]);
    await cutOff(id);
    await takeOver(id);
    expect((await house.rolloutLedger.find(id))?.state).toBe('stopped');
    expect((await board.read('b')).digest).toBe(before);
  });
});

it('is said by the check and by the plan, also where no tenant has a copy', async () => {
  board = await openBoard(house, `unreadable-new-${made}`);
  await board.publish(reads(byState));
  await change({ sharedTables: [] });
  const { faults } = await checkTemplate(deps(), board.policy, {
    template: board.template,
    tenants: 3,
    seesData: true,
  });
  expect(faults).toEqual([
    { level: 'error', clientId: null, metric: 'Metric by-shop', text: expect.stringContaining('main.shops') },
  ]);
  const plan = await planRollout(deps(), board.policy, { template: board.template, after: '', limit: 10 });
  expect(plan.unreadable.map(({ name }) => name)).toEqual(['Metric by-shop']);
});

it('asks with the client columns that the policy gives to the copies, and only about the policy’s datamart', async () => {
  await board.publish(reads(byState));
  await change({ sharedTables: [] });
  expect(await namesIn()).toEqual(['Metric by-shop']);
  const template = board.policy.templates.get(board.template);
  if (template === undefined) throw new Error('the policy names the template');
  const tableTenancySettings = [{ name: 'main.shops', clientColumn: 'code' }];
  const accessSettings = { ...template.accessSettings, tableTenancySettings };
  const templates = new Map([[board.template, { ...template, accessSettings }]]);
  expect(await namesIn({ ...board.policy, templates })).toEqual([]);
});

it('leaves it to the trial and to each query where the service cannot say it', async () => {
  await board.publish(reads(byState));
  await change({ sharedTables: [] });
  expect(
    await listUnreadable({ ...deps(), capabilities: fixedCapabilities([]) }, board.policy, await current()),
  ).toEqual([]);
});
