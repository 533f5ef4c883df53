/** A roll-out runs changed metrics for its canary tenants before it writes, and pauses after each step if that is wanted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rolloutStatus } from '../../src/gateway/rollout/plan.js';
import { createRollouts, type RolloutDeps, type StartRollout } from '../../src/gateway/rollout/rollout.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { columnRef, metric as over } from '../engine/world.js';
import {
  type Board,
  openBoard,
  openRolloutHouse,
  type RolloutHouse,
  secondEdition,
  takeOverAll,
  withMetric,
} from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

const tenants = ['a', 'b', 'c', 'd'];
let made = 0;
const openWith = async (clientIds: readonly string[] = tenants): Promise<Board> => {
  made += 1;
  const board = await openBoard(house, `trial-${made}`);
  await board.provision(clientIds);
  return board;
};

/** Fits the datamart, and no query answers it. */
const failing: MetricDefinition = over('sales', {
  measures: [{ name: 'n', aggregate: 'COUNT' }],
  where: { column: columnRef('sales.shop'), predicate: { kind: 'like', pattern: 'x\\' } },
});
const broken = (first: DashboardContent) => withMetric(first, 'by-shop', { definition: failing });

type Wanted = Partial<Omit<StartRollout, 'template'>>;
const rolloutsOf = (parts: Partial<RolloutDeps> = {}) =>
  createRollouts({ ...house, ledger: house.rolloutLedger, width: 2, ...parts });
const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
const statusOf = (id: string) => rolloutStatus(house.rolloutLedger, id);
const apply = async ({ template, policy }: Board, parts: Wanted = {}, deps: Partial<RolloutDeps> = {}) => {
  const { id, done } = await rolloutsOf(deps).start(policy, { ...usual, template, ...parts });
  await done;
  return statusOf(id);
};
const resume = async ({ policy }: Board, id: string) => {
  await (await rolloutsOf().resume(policy, id)).done;
  return statusOf(id);
};
const digestsOf = async (board: Board) => Promise.all(tenants.map(async (one) => (await board.read(one)).digest));

/** The upstream, and the calls that try metrics and write them, in order. */
const recorded = () => {
  const calls: string[] = [];
  const upstream: Call = (operation, input, signal) => {
    const { dashboardId, clientId } = input as { readonly dashboardId?: string; readonly clientId?: string };
    if (['tryDashboardContent', 'replaceDashboardContent'].includes(operation.name))
      calls.push(`${operation.name} ${dashboardId} ${clientId ?? ''}`.trim());
    return house.upstream(operation, input, signal);
  };
  return { calls, upstream };
};

describe('the trial for the canary tenants', () => {
  it('stops before anything is written, and names the tenant, the metric and the message', async () => {
    const board = await openWith();
    await board.publish(broken);
    const before = await digestsOf(board);
    const { state, tenants: notable, id } = await apply(board, { canary: [house.ledger.refOf('b')], maxFailures: 9 });
    expect(state).toBe('stopped');
    expect(notable).toEqual([
      expect.objectContaining({
        clientId: 'b',
        cohort: 'canary',
        state: 'failed',
        fault: expect.stringMatching(/^metric "Metric by-shop" \(.+\) fails for this tenant: .*backslash/),
      }),
    ]);
    expect(await digestsOf(board)).toEqual(before);
    expect((await resume(board, id)).state).toBe('stopped');
    expect(house.events.filter(({ code, detail }) => code === 'FAILED' && detail?.step === 'try')).not.toEqual([]);
  });

  it('tries each changed metric on the canaries’ own copies, names no client, and comes before the first write', async () => {
    const board = await openWith();
    await board.publish((first) =>
      secondEdition(
        withMetric(first, 'count', { definition: over('sales', { measures: [{ name: 'All', aggregate: 'COUNT' }] }) }),
      ),
    );
    const { calls, upstream } = recorded();
    const { state } = await apply(board, { canary: ['b', 'c'].map(house.ledger.refOf) }, { upstream });
    expect(state).toBe('finished');
    const tried = calls.filter((call) => call.startsWith('try'));
    expect(calls.slice(0, tried.length)).toEqual(tried);
    expect([...new Set(tried)].toSorted()).toEqual(['b', 'c'].map((one) => `tryDashboardContent ${board.idOf(one)}`));
    expect(tried).toHaveLength(4);
  });

  it('without a canary, tries up to three tenants of the first step', async () => {
    const board = await openWith();
    await board.publish(broken);
    const { state, tenants: notable } = await apply(board);
    expect([state, notable.length]).toEqual(['stopped', 3]);
  });

  it('is left out where the service cannot do it, or nothing changes for the canary', async () => {
    const board = await openWith();
    await board.publish(broken);
    const capabilities = fixedCapabilities(['read-content', 'replace-content']);
    expect((await apply(board, {}, { capabilities })).state).toBe('finished');
    const { calls, upstream } = recorded();
    await apply(board, {}, { upstream });
    expect(calls).toEqual([]);
  });
});

describe('--pause', () => {
  const steps = [50, 100];
  const isNew = async (board: Board, clientId: string) =>
    (await board.read(clientId)).content.metrics.some(({ name }) => name === 'Shops');
  const newOnes = async (board: Board) => {
    const all = await Promise.all(tenants.map(async (one) => ((await isNew(board, one)) ? [one] : [])));
    return all.flat();
  };

  it('waits after the canary and after each step, until it is resumed; the last step ends it', async () => {
    const board = await openWith();
    await board.publish(secondEdition);
    const canary = [house.ledger.refOf('b')];
    const { id, state } = await apply(board, { canary, steps, isPausing: true });
    expect([state, await newOnes(board)]).toEqual(['paused', ['b']]);
    const states: string[] = [];
    while (states.at(-1) !== 'finished' && states.length < 4) states.push((await resume(board, id)).state);
    expect(states.at(-1)).toBe('finished');
    expect(await newOnes(board)).toEqual(tenants);
  });

  it('survives a restart: another process neither goes on by itself, nor needs the first one to resume', async () => {
    const board = await openWith();
    await board.publish(secondEdition);
    const { id } = await apply(board, { canary: [house.ledger.refOf('b')], isPausing: true });
    const restarted = rolloutsOf();
    expect((await takeOverAll(restarted, board.policy)).ids).toEqual([]);
    expect((await statusOf(id)).state).toBe('paused');
    await (await restarted.resume(board.policy, id)).done;
    expect([(await statusOf(id)).state, await newOnes(board)]).toEqual(['finished', tenants]);
  });

  it('can be taken back while it waits', async () => {
    const board = await openWith();
    const before = await digestsOf(board);
    await board.publish(secondEdition);
    const { id } = await apply(board, { canary: [house.ledger.refOf('b')], isPausing: true });
    await (await rolloutsOf().rollback(id)).done;
    expect([(await statusOf(id)).state, await digestsOf(board)]).toEqual(['rolled-back', before]);
  });
});
