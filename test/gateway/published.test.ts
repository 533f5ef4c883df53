/** Which edition of a template a new tenant's copy gets, with real provisioning and real roll-outs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { joinProcesses } from '../../src/gateway/ledger/processes.js';
import { createProvision } from '../../src/gateway/provision/provision.js';
import { planRollout, rolloutStatus } from '../../src/gateway/rollout/plan.js';
import { createBringToPublished } from '../../src/gateway/rollout/published.js';
import { createRollouts, type StartRollout } from '../../src/gateway/rollout/rollout.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import {
  type Board,
  openBoard,
  openRolloutHouse,
  type RolloutHouse,
  secondEdition,
  withMetric,
} from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

const first = ['Metric count', 'Metric by-shop', 'Metric by-state'];
const second = ['Metric count', 'Shops', 'Metric by-client'];

let made = 0;
const openWith = async (...clientIds: readonly string[]): Promise<Board> => {
  made += 1;
  const board = await openBoard(house, `published-${made}`);
  await board.provision(clientIds);
  return board;
};

const rolloutsOf = () => createRollouts({ ...house, ledger: house.rolloutLedger });
const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;

/** Rolls the current content out, and returns the id. */
const rollOut = async ({ policy, template }: Board, parts: Partial<StartRollout> = {}): Promise<string> => {
  house.clock.advance(1000);
  const { id, done } = await rolloutsOf().start(policy, { ...usual, template, ...parts });
  await done;
  return id;
};

type Parts = { readonly upstream?: Call; readonly record?: (event: AuditEvent) => Promise<void> };

/** A gateway process that makes copies. */
const openGateway = async ({ policy }: Board, { upstream = house.upstream, record = async () => {} }: Parts = {}) => {
  const self = await joinProcesses(house.ledger.db, true);
  const provision = createProvision({
    ...house,
    ...{ baseUrl: 'u', keyId: 'k', upstream, keepVersion: house.versions.keep, audit: { record } },
    ledger: { ...house.ledger, self },
    bringToPublished: createBringToPublished({ ...house, upstream, ledger: house.rolloutLedger }),
  });
  return { self, ensure: (clientId: string) => provision.ensure(policy, [...policy.templates.values()], clientId) };
};
const signUp = async (board: Board, clientId: string, parts: Parts = {}) =>
  (await openGateway(board, parts)).ensure(clientId);

const namesOf = async (board: Board, clientId: string) =>
  (await board.read(clientId)).content.metrics.map(({ name }) => name);

/** What a roll-out of the current content would do to each copy. */
const plan = async ({ policy, template }: Board) => {
  const page = await planRollout({ ...house, ledger: house.rolloutLedger }, policy, { template, after: '', limit: 9 });
  return Object.fromEntries(page.tenants.map(({ clientId, status }) => [clientId, status]));
};

it('is the current content, until the template was rolled out to all tenants', async () => {
  const board = await openWith('old');
  await board.publish(secondEdition);
  await rollOut(board, { canary: [house.ledger.refOf('old')], steps: [] });
  await board.publish((content) => ({ ...content, gridMargin: [4] }));
  await signUp(board, 'new');
  expect(await plan(board)).toEqual({ old: 'behind', new: 'up-to-date' });
});

it('is the edition that was rolled out last, whatever the template has become since', async () => {
  const board = await openWith();
  await rollOut(board);
  await board.publish(secondEdition);
  await signUp(board, 'new');
  expect(await namesOf(board, 'new')).toEqual(first);
  expect(await plan(board)).toEqual({ new: 'behind' });
  await rollOut(board);
  expect(await namesOf(board, 'new')).toEqual(second);
});

it('is the edition before, after a rollback', async () => {
  const board = await openWith('old');
  await rollOut(board);
  await board.publish(secondEdition);
  const id = await rollOut(board);
  await (await rolloutsOf().rollback(id)).done;
  await signUp(board, 'new');
  expect(await namesOf(board, 'new')).toEqual(first);
});

it('is the edition before while a roll-out is under way, whose end brings the new one', async () => {
  const board = await openWith('old', 'other');
  await rollOut(board);
  await board.publish(secondEdition);
  const id = await rollOut(board, { canary: [house.ledger.refOf('old')], isPausing: true });
  await signUp(board, 'new');
  expect([await namesOf(board, 'old'), await namesOf(board, 'new')]).toEqual([second, first]);
  await (await rolloutsOf().resume(board.policy, id)).done;
  expect(await plan(board)).toEqual({ old: 'up-to-date', other: 'up-to-date', new: 'up-to-date' });
  expect(await rolloutStatus(house.rolloutLedger, id)).toMatchObject({
    state: 'finished',
    cohorts: [{ states: { applied: 1 } }, { states: { applied: 2 } }],
  });
});

it('is the new one for a copy that is completed just after the roll-out ended', async () => {
  const board = await openWith();
  await rollOut(board);
  await board.publish(secondEdition);
  const record = async ({ detail }: AuditEvent): Promise<void> => {
    if (detail?.step === 'verified' && detail.version !== undefined && (await plan(board)).new === undefined)
      await rollOut(board);
  };
  await signUp(board, 'new', { record });
  expect(await namesOf(board, 'new')).toEqual(second);
  expect(await plan(board)).toEqual({ new: 'up-to-date' });
  // The version that is noted for the copy is the new one too: with the one before, the copy would count as edited.
  await board.publish((content) => withMetric(content, 'count', { name: 'All' }));
  expect(await plan(board)).toEqual({ new: 'behind' });
});

it('is the published one for a copy whose making was interrupted', async () => {
  const board = await openWith();
  await rollOut(board);
  await board.publish(secondEdition);
  let isMade = (): void => {};
  const making = new Promise<void>((resolve) => {
    isMade = resolve;
  });
  const dying: Call = async (operation, input) => {
    const answer = await house.upstream(operation, input);
    if (operation.name !== 'createDashboardEmbed') return answer;
    isMade();
    return new Promise(() => {});
  };
  const gateway = await openGateway(board, { upstream: dying });
  void gateway.ensure('cut');
  await making;
  await gateway.self.leave();
  await signUp(board, 'cut');
  expect(await namesOf(board, 'cut')).toEqual(first);
  expect(await plan(board)).toEqual({ cut: 'behind' });
});

it('is not replaced by unpublished content if the service refuses it: the login fails, and a later one succeeds', async () => {
  const board = await openWith();
  await rollOut(board);
  await board.publish(secondEdition);
  const refusing: Call = (operation, input) => {
    if (operation.name !== 'replaceDashboardContent') return house.upstream(operation, input);
    throw new Refusal('INVALID_DASHBOARD_DATA', 'The column "sales.state" is not in the datamart.');
  };
  await expect(signUp(board, 'new', { upstream: refusing })).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    reason: 'published-edition-refused',
  });
  await signUp(board, 'new');
  expect(await namesOf(board, 'new')).toEqual(first);
});
