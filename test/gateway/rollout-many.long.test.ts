/**
 * A roll-out over many tenants, some of which edited their dashboards. The default is forty tenants; TEST_TENANTS sets
 * another number (`npm run test:rollout`: a thousand, on the embedded database and on PostgreSQL).
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type PlannedTenant, planRollout, rolloutStatus } from '../../src/gateway/rollout/plan.js';
import { createRollouts } from '../../src/gateway/rollout/rollout.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import { isPostgresThere } from '../suites/postgres.js';
import { type Board, openBoard, openRolloutHouse, type RolloutHouse, secondEdition } from './rollout-fixture.js';

const hasPostgres = await isPostgresThere();
const count = Number(process.env.TEST_TENANTS ?? 24);
const isMany = count > 40;

const open = async (isServer: boolean): Promise<RolloutHouse> => {
  const house = await openRolloutHouse(isServer ? 'postgres' : 'pglite');
  onTestFinished(() => house.close());
  return house;
};

/**
 * What a tenant did with its copy, by its number. The last two edits touch what the template's second edition changes.
 */
type Edit = 'none' | 'renamed' | 'moved' | 'dropped' | 'clash' | 'clash-removed';
const editOf = (index: number): Edit =>
  (['none', 'renamed', 'none', 'moved', 'none', 'dropped', 'none', 'clash', 'none', 'clash-removed'] as const)[
    index % 10
  ] ?? 'none';

const without = (content: DashboardContent, name: string): DashboardContent => {
  const metrics = content.metrics.filter((one) => one.name !== name);
  const layout = content.layout.filter(({ metricId }) => metrics.some((one) => one.metricId === metricId));
  return { ...content, metrics, layout };
};

const edit = async (board: Board, clientId: string, kind: Edit): Promise<void> => {
  if (kind === 'renamed') await board.renames(clientId, 'Metric count', `Count of ${clientId}`);
  if (kind === 'clash') await board.renames(clientId, 'Metric by-shop', `Shops of ${clientId}`);
  if (kind === 'clash-removed') await board.renames(clientId, 'Metric by-state', `States of ${clientId}`);
  if (kind === 'dropped') await board.edits(clientId, (content) => without(content, 'Metric count'));
  if (kind === 'moved')
    await board.edits(clientId, (content) => ({
      ...content,
      layout: content.layout.map((card, index) => (index === 0 ? { ...card, x: 3, w: 9 } : card)),
    }));
};

const statusAfter: Readonly<Record<Edit, PlannedTenant['status']>> = {
  none: 'behind',
  renamed: 'edited',
  moved: 'edited',
  dropped: 'edited',
  clash: 'conflict',
  'clash-removed': 'conflict',
};

const planAll = async (house: RolloutHouse, { policy, template }: Board) => {
  const planned = new Map<string, PlannedTenant>();
  for (let after: string | null = ''; after !== null; ) {
    const deps = { ...house, ledger: house.rolloutLedger };
    const page = await planRollout(deps, policy, { template, after, limit: 500 });
    for (const tenant of page.tenants) planned.set(tenant.clientId, tenant);
    after = page.next;
  }
  return planned;
};

/** The names that a tenant sees after its own edit and the template's second edition. */
const namesAfter = (clientId: string, kind: Edit): readonly string[] =>
  ({
    none: ['Metric count', 'Shops', 'Metric by-client'],
    renamed: [`Count of ${clientId}`, 'Shops', 'Metric by-client'],
    moved: ['Metric count', 'Shops', 'Metric by-client'],
    dropped: ['Shops', 'Metric by-client'],
    clash: ['Metric count', `Shops of ${clientId}`, 'Metric by-state'],
    'clash-removed': ['Metric count', 'Metric by-shop', `States of ${clientId}`],
  })[kind];

const run = async (isServer: boolean): Promise<void> => {
  const house = await open(isServer);
  const board = await openBoard(house, 'sales-board');
  const clients = Array.from({ length: count }, (_, index) => `tenant ${index}`);
  await board.provision(clients);
  for (const [index, clientId] of clients.entries()) await edit(board, clientId, editOf(index));
  const exportAll = async (): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (const clientId of clients) texts.push(await board.exported(clientId));
    return texts;
  };
  const before = await exportAll();
  await board.publish(secondEdition);

  const planned = await planAll(house, board);
  expect(clients.map((clientId) => planned.get(clientId)?.status)).toEqual(
    clients.map((_, index) => statusAfter[editOf(index)]),
  );

  const rollouts = createRollouts({ ...house, ledger: house.rolloutLedger });
  const canary = clients.slice(0, 3).map(house.ledger.refOf);
  const options = { maxFailures: 0, onConflict: 'leave', isAdopting: false, canary, steps: [10, 50, 100] } as const;
  const { id, done } = await rollouts.start(board.policy, { ...options, template: board.template });
  await done;
  const status = await rolloutStatus(house.rolloutLedger, id);
  expect(status.state).toBe('finished');
  expect(status.cohorts[0]).toMatchObject({ name: 'canary' });
  const conflicts = clients.filter((_, index) => statusAfter[editOf(index)] === 'conflict');
  expect(status.tenants.map(({ clientId }) => clientId).toSorted()).toEqual(conflicts.toSorted());

  const after = await exportAll();
  for (const [index, clientId] of clients.entries()) {
    const kind = editOf(index);
    const { content } = await board.read(clientId);
    expect(
      content.metrics.map(({ name }) => name),
      clientId,
    ).toEqual(namesAfter(clientId, kind));
    if (statusAfter[kind] === 'conflict') expect(after[index], clientId).toBe(before[index]);
    else expect(content.gridMargin, clientId).toEqual([16]);
    if (kind === 'moved') expect(content.layout[0], clientId).toMatchObject({ x: 3, w: 9 });
    // No tenant has another tenant's metrics.
    const others = clients.filter((other) => other !== clientId).slice(0, 50);
    expect(others.filter((other) => after[index]?.includes(`of ${other}"`))).toEqual([]);
  }

  await (await rollouts.rollback(id)).done;
  expect((await rolloutStatus(house.rolloutLedger, id)).state).toBe('rolled-back');
  expect(await exportAll()).toEqual(before);
};

const timeoutMs = isMany ? 1_800_000 : 120_000;

describe(`a roll-out over ${count} tenants: no edit lost, and a rollback gives byte-identical exports`, () => {
  it('the roll-out loses no edit on the embedded database', () => run(false), timeoutMs);
  it.skipIf(!hasPostgres)('the roll-out loses no edit on PostgreSQL', () => run(true), timeoutMs);
});
