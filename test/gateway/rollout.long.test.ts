import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinProcesses } from '../../src/gateway/ledger/processes.js';
import { createProvision } from '../../src/gateway/provision/provision.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import { planRollout, rolloutStatus } from '../../src/gateway/rollout/plan.js';
import { createBringToPublished } from '../../src/gateway/rollout/published.js';
import { createRollouts, type RolloutDeps, type StartRollout } from '../../src/gateway/rollout/rollout.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { replaceDashboardContent } from '../../src/service/dashboards/contract/content.js';
import { type Board, openBoard, openRolloutHouse, type RolloutHouse, secondEdition } from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

let made = 0;
/** A new template with copies of these tenants. */
const openWith = async (...clientIds: readonly string[]): Promise<Board> => {
  made += 1;
  const board = await openBoard(house, `board-${made}`);
  await board.provision(clientIds);
  return board;
};

const rolloutsOf = (parts: Partial<RolloutDeps> = {}) =>
  createRollouts({ ...house, ledger: house.rolloutLedger, width: 2, ...parts });
const wanted = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
type Wanted = Partial<Omit<StartRollout, 'template'>>;

const apply = async ({ template, policy }: Board, parts: Wanted = {}, deps: Partial<RolloutDeps> = {}) => {
  const { id, done } = await rolloutsOf(deps).start(policy, { ...wanted, template, ...parts });
  await done;
  return rolloutStatus(house.rolloutLedger, id);
};
const finish = async (begun: ReturnType<ReturnType<typeof rolloutsOf>['resume']>) => {
  const { id, done } = await begun;
  await done;
  return rolloutStatus(house.rolloutLedger, id);
};
const rollback = (id: string) => finish(rolloutsOf().rollback(id));

const plan = async ({ template, policy }: Board) => {
  const deps = { ...house, ledger: house.rolloutLedger };
  const page = await planRollout(deps, policy, { template, after: '', limit: 500 });
  return Object.fromEntries(page.tenants.map(({ clientId, ...rest }) => [clientId, rest]));
};
const namesOf = async (board: Board, clientId: string) =>
  (await board.read(clientId)).content.metrics.map(({ name }) => name);

const allExports = async (board: Board, clientIds: readonly string[]) =>
  Promise.all(clientIds.map((clientId) => board.exported(clientId)));

/** The upstream where this call fails, before or after the service has done its work. */
const failing =
  (isMeant: (dashboardId: string, operation: string) => boolean, error: () => Error, isAfter = false): Call =>
  async (operation, input) => {
    const isHit = isMeant(String((input as { dashboardId?: string }).dashboardId), operation.name);
    if (isHit && !isAfter) throw error();
    const answer = await house.upstream(operation, input);
    if (isHit) throw error();
    return answer;
  };
const unavailable = () => new Refusal('UPSTREAM_UNAVAILABLE', 'it does not answer');

describe('plan: the drift of each tenant', () => {
  it('distinguishes behind, edited, conflict, up to date, missing, unreadable and unknown, and writes nothing', async () => {
    const board = await openWith('plain', 'edited', 'clash', 'gone', 'stolen');
    await board.provision(['old', 'odd'], false);
    await board.renames('edited', 'Metric count', 'Ours');
    await board.renames('clash', 'Metric by-shop', 'Ours');
    await board.renames('odd', 'Metric count', 'Odd');
    await board.edits('stolen', (content) => ({ ...content, metadata: { guestlist: { clientId: 'other' } } }));
    const gone = await house.world.store.dashboards.findByExternalId('id-app', board.idOf('gone'));
    if (gone !== undefined) await house.world.store.dashboards.delete(gone);
    expect((await plan(board)).edited).toMatchObject({ status: 'up-to-date', isEdited: true });
    const { version } = await house.versions.record(board.policy, board.template);
    await board.publish(secondEdition);
    await board.provision(['new']);
    expect(await plan(board)).toMatchObject({
      plain: { status: 'behind', isEdited: false, fromVersion: version },
      edited: { status: 'edited', isEdited: true, conflicts: [] },
      clash: { status: 'conflict', conflicts: [{ kind: 'changed-by-both', path: expect.stringMatching(/\.name$/) }] },
      gone: { status: 'missing' },
      stolen: { status: 'unreadable', fault: expect.stringContaining('mark') },
      old: { status: 'unknown-base', adoptable: version },
      odd: { status: 'unknown-base', adoptable: null },
      new: { status: 'up-to-date', isEdited: false },
    });
    expect(await namesOf(board, 'plain')).toContain('Metric by-state');
  });

  it('has pages, all of one version of the template', async () => {
    const board = await openWith('a', 'b', 'c');
    const deps = { ...house, ledger: house.rolloutLedger };
    const { template, policy } = board;
    const first = await planRollout(deps, policy, { template, after: '', limit: 2 });
    const { version, next } = first;
    const second = await planRollout(deps, policy, { template, after: next ?? '', limit: 2, version });
    expect([...first.tenants, ...second.tenants].map(({ clientId }) => clientId).toSorted()).toEqual(['a', 'b', 'c']);
    expect(second.next).toBeNull();
    await board.publish(secondEdition);
    await expect(planRollout(deps, policy, { template, after: '', limit: 2, version })).rejects.toThrow(/plan again/);
  });
});

describe('apply', () => {
  it("applies the new template, keeps tenants' edits, and leaves copies with conflicts unchanged", async () => {
    const board = await openWith('plain', 'edited', 'clash');
    await board.renames('edited', 'Metric count', 'Ours');
    await board.renames('clash', 'Metric by-shop', 'Mine');
    const clash = await board.exported('clash');
    const ids = new Map((await board.read('edited')).content.metrics.map(({ name, metricId }) => [name, metricId]));
    await board.publish(secondEdition);
    const status = await apply(board);
    expect(status).toMatchObject({ state: 'finished', isAtWork: false });
    expect(status.cohorts).toEqual([{ name: '100 %', states: { applied: 2, conflict: 1 } }]);
    expect(status.tenants).toMatchObject([{ clientId: 'clash', state: 'conflict' }]);
    expect(await namesOf(board, 'plain')).toEqual(['Metric count', 'Shops', 'Metric by-client']);
    expect(await namesOf(board, 'edited')).toEqual(['Ours', 'Shops', 'Metric by-client']);
    expect(await board.exported('clash')).toBe(clash);
    // Grants, embeds and guests' views refer to metrics by their ids, so the ids must stay.
    const after = (await board.read('edited')).content.metrics;
    expect(after.slice(0, 2).map(({ metricId }) => metricId)).toEqual([ids.get('Ours'), ids.get('Metric by-shop')]);
    expect(await plan(board)).toMatchObject({
      plain: { status: 'up-to-date', isEdited: false },
      edited: { status: 'up-to-date', isEdited: true },
      clash: { status: 'conflict' },
    });
    // An audit reader must see who did what with what result. The dashboard's id would reveal the tenant.
    const own = house.events.filter(({ detail }) => detail?.rollout === status.id);
    expect(own.map(({ code }) => code).toSorted()).toEqual(['CONFLICT', 'OK', 'OK', 'OK', 'OK']);
    expect(JSON.stringify(own.map(({ detail }) => detail))).not.toMatch(/plain|edited|clash/);
  });

  it('on-conflict keep-tenant: applies everything that is not in conflict', async () => {
    const board = await openWith('clash');
    await board.renames('clash', 'Metric by-shop', 'Mine');
    await board.publish(secondEdition);
    const status = await apply(board, { onConflict: 'keep-tenant' });
    expect(status.cohorts[0]?.states).toEqual({ applied: 1 });
    expect(status.tenants).toMatchObject([{ clientId: 'clash', state: 'applied', conflicts: [{}] }]);
    expect(await namesOf(board, 'clash')).toEqual(['Metric count', 'Mine', 'Metric by-client']);
  });

  it('follows cohorts: the canary first, and stops if too many fail', async () => {
    const clients = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const board = await openWith(...clients);
    await board.publish(secondEdition);
    const upstream = failing(
      (dashboardId, name) => dashboardId === board.idOf('c') && name === 'replaceDashboardContent',
      unavailable,
    );
    const canary = ['c', 'd'].map(house.ledger.refOf);
    const status = await apply(board, { canary, steps: [50, 100] }, { upstream });
    expect(status.state).toBe('stopped');
    expect(status.cohorts[0]).toEqual({ name: 'canary', states: { applied: 1, failed: 1 } });
    expect(status.cohorts.slice(1).flatMap(({ states }) => Object.keys(states))).toEqual(
      status.cohorts.slice(1).map(() => 'waiting'),
    );
    const resumed = await finish(rolloutsOf().resume(board.policy, status.id));
    expect(resumed.state).toBe('finished');
    expect(resumed.cohorts.every(({ states }) => Object.keys(states).join() === 'applied')).toBe(true);
    await expect(rolloutsOf().resume(board.policy, status.id)).rejects.toThrow(/finished/);
  });

  it('max-failures: continues with fewer failures', async () => {
    const board = await openWith('a', 'b', 'c');
    await board.publish(secondEdition);
    const isA = (dashboardId: string, name: string) =>
      dashboardId === board.idOf('a') && name === 'replaceDashboardContent';
    const status = await apply(board, { maxFailures: 1 }, { upstream: failing(isA, unavailable) });
    expect(status).toMatchObject({ state: 'finished', cohorts: [{ states: { applied: 2, failed: 1 } }] });
    expect(status.tenants).toMatchObject([{ clientId: 'a', state: 'failed', fault: 'it does not answer' }]);
  });

  it('an edit between reading and writing is merged too, never overwritten', async () => {
    const board = await openWith('busy');
    await board.publish(secondEdition);
    let edits = 0;
    const upstream: Call = async (operation, input) => {
      if (operation === (replaceDashboardContent as unknown) && edits++ === 0)
        await board.renames('busy', 'Metric count', 'Just now');
      return house.upstream(operation, input);
    };
    expect((await apply(board, {}, { upstream })).cohorts[0]?.states).toEqual({ applied: 1 });
    expect(await namesOf(board, 'busy')).toEqual(['Just now', 'Shops', 'Metric by-client']);
  });

  it('a copy of unknown origin is included only if it equals a known version, and only on request', async () => {
    const board = await openWith();
    await board.provision(['old', 'odd'], false);
    await board.renames('odd', 'Metric count', 'Odd');
    await board.publish(secondEdition);
    const left = await apply(board);
    expect(left.cohorts[0]?.states).toEqual({ 'unknown-base': 2 });
    const adopted = await apply(board, { isAdopting: true });
    expect(adopted.cohorts[0]?.states).toEqual({ applied: 1, 'unknown-base': 1 });
    expect(await namesOf(board, 'old')).toEqual(['Metric count', 'Shops', 'Metric by-client']);
    expect(await namesOf(board, 'odd')).toContain('Odd');
  });

  it('is refused for another template than planned, an unknown one, or during another roll-out of it', async () => {
    const board = await openWith('a');
    const { template, policy } = board;
    const { version } = await house.versions.record(board.policy, template);
    await board.publish(secondEdition);
    await expect(rolloutsOf().start(policy, { ...wanted, template, version })).rejects.toThrow(/plan again/);
    await expect(rolloutsOf().start(policy, { ...wanted, template: 'none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    // It waits at its first write until the others were refused.
    let allow = (): void => {};
    const isAllowed = new Promise<void>((resolve) => {
      allow = resolve;
    });
    const waiting: Call = async (operation, input) => {
      if (operation.name === replaceDashboardContent.name) await isAllowed;
      return house.upstream(operation, input);
    };
    const { id, done } = await rolloutsOf({ upstream: waiting }).start(policy, { ...wanted, template });
    await expect(rolloutsOf().start(policy, { ...wanted, template })).rejects.toThrow(/is running/);
    await expect(rolloutsOf().resume(policy, id)).rejects.toThrow(/Another process/);
    allow();
    await done;
    await expect(rollback('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('rollback', () => {
  it('restores byte-identical exports, with the removed metric under its id', async () => {
    const clients = ['a', 'b', 'c'];
    const board = await openWith(...clients);
    await board.renames('b', 'Metric count', 'Ours');
    await board.edits('c', (content) => ({
      ...content,
      metadata: { ...content.metadata, z: { b: [1, 2.5], a: null } },
    }));
    const before = await allExports(board, clients);
    const { version } = await house.versions.record(board.policy, board.template);
    await board.publish(secondEdition);
    const { id } = await apply(board);
    const after = await allExports(board, clients);
    expect(after.filter((text, index) => text === before[index])).toEqual([]);
    expect(await rollback(id)).toMatchObject({ state: 'rolled-back', cohorts: [{ states: { restored: 3 } }] });
    expect(await allExports(board, clients)).toEqual(before);
    expect(await plan(board)).toMatchObject({ a: { status: 'behind', fromVersion: version } });
    await expect(rollback(id)).rejects.toThrow(/already/);
    // After the second roll-out, the same copies of the new metric are used again.
    await apply(board);
    expect(await allExports(board, clients)).toEqual(after);
  });

  it('reports an edit after the roll-out and keeps it', async () => {
    const board = await openWith('a', 'b');
    await board.publish(secondEdition);
    const { id } = await apply(board);
    await board.renames('a', 'Shops', 'Our shops');
    const edited = await board.exported('a');
    const status = await rollback(id);
    expect(status).toMatchObject({
      state: 'rollback-stopped',
      cohorts: [{ states: { restored: 1, 'restore-conflict': 1 } }],
    });
    expect(status.tenants).toMatchObject([{ clientId: 'a', state: 'restore-conflict' }]);
    expect(await board.exported('a')).toBe(edited);
    await board.renames('a', 'Our shops', 'Shops');
    expect((await rollback(id)).state).toBe('rolled-back');
  });

  it('rolls back a stopped roll-out, and leaves alone what it did not write', async () => {
    const board = await openWith('a', 'b', 'clash');
    await board.renames('clash', 'Metric by-shop', 'Mine');
    const before = await allExports(board, ['a', 'b', 'clash']);
    await board.publish(secondEdition);
    const isB = (dashboardId: string, name: string) =>
      dashboardId === board.idOf('b') && name === 'replaceDashboardContent';
    // The service did its work, but its answer was lost.
    const { id, state } = await apply(board, {}, { upstream: failing(isB, unavailable, true) });
    expect(state).toBe('stopped');
    expect(await rollback(id)).toMatchObject({ state: 'rolled-back' });
    expect(await allExports(board, ['a', 'b', 'clash'])).toEqual(before);
  });
});

describe('an interrupted roll-out continues', () => {
  class Killed extends Error {}

  /**
   * A process that dies after this many calls: the service does the work of the last call, but its answer is lost, and
   * nothing follows.
   */
  const mortal = async (calls: number) => {
    let left = calls;
    const self = await joinProcesses(house.ledger.db, true);
    const wrap = <T extends object>(part: T): T =>
      new Proxy(part, {
        get: (target, name) => {
          const value = Reflect.get(target, name);
          // The ledger under a lease is the ledger: to take it is no call.
          if (name === 'under' && typeof value === 'function')
            return (lease: unknown) => wrap(value.call(target, lease));
          return typeof value === 'function' ? guard(value.bind(target)) : value;
        },
      });
    const guard =
      (call: (...args: unknown[]) => unknown) =>
      async (...args: unknown[]) => {
        left -= 1;
        if (left < 0) throw new Killed();
        const answer = await call(...args);
        if (left === 0) throw new Killed();
        return typeof answer === 'object' && answer !== null && 'release' in answer ? wrap(answer) : answer;
      };
    const bury = async (): Promise<void> => {
      const own = house.ledger.db.updateTable('processes').where('process_id', '=', self.id());
      await own.set({ beat_at: new Date(0) }).execute();
      expect((await house.ledger.self.beat(true)).dead).toBe(1);
    };
    return {
      bury,
      ledger: wrap(createRolloutLedger({ db: house.ledger.db, self }, house.clock)),
      versions: house.versions,
      upstream: guard(house.upstream as never) as unknown as Call,
      audit: wrap(house.audit),
      width: 1,
      isDead: () => left <= 0,
    };
  };

  /**
   * Kills a process after each of its calls in turn, until one finishes. `mend` checks what a kill leaves and repairs
   * it.
   */
  const killEach = async (
    begin: (deps: Awaited<ReturnType<typeof mortal>>) => Promise<unknown>,
    mend: () => Promise<void>,
  ): Promise<number> => {
    for (let kills = 0; ; kills += 1) {
      // The roll-outs are told apart by when they began.
      house.clock.advance(1000);
      const deps = await mortal(kills + 1);
      const outcome = await begin(deps).then(
        () => 'done',
        (error: unknown) => error,
      );
      if (outcome !== 'done' && !(outcome instanceof Killed)) throw outcome;
      await deps.bury();
      await mend();
      if (!deps.isDead()) return kills;
    }
  };
  const lastOf = async ({ template }: Board) =>
    (await house.rolloutLedger.list()).find((rollout) => rollout.template === template);

  it('killed after each of its steps in turn, a roll-out ends like an uninterrupted one, and can be rolled back', async () => {
    const board = await openWith('a');
    await board.renames('a', 'Metric count', 'Ours');
    const before = await board.exported('a');
    await board.publish(secondEdition);
    const begin = async (deps: Awaited<ReturnType<typeof mortal>>) =>
      (await rolloutsOf(deps).start(board.policy, { ...wanted, template: board.template })).done;
    let round = 0;
    const kills = await killEach(begin, async () => {
      const last = await lastOf(board);
      if (last === undefined || last.state === 'rolled-back') return;
      round += 1;
      // Every second one is taken back in the state that the kill left.
      if (last.state === 'running' && round % 2 === 0) {
        expect((await finish(rolloutsOf().resume(board.policy, last.id))).state).toBe('finished');
        expect(await namesOf(board, 'a')).toEqual(['Ours', 'Shops', 'Metric by-client']);
      }
      expect((await rollback(last.id)).state).toBe('rolled-back');
      expect(await board.exported('a')).toBe(before);
    });
    expect(kills).toBeGreaterThan(12);
  }, 240_000);

  it('killed after each of its steps in turn, a rollback ends like an uninterrupted one', async () => {
    const board = await openWith('a');
    const before = await board.exported('a');
    await board.publish(secondEdition);
    let id = (await apply(board)).id;
    const begin = async (deps: Awaited<ReturnType<typeof mortal>>) => (await rolloutsOf(deps).rollback(id)).done;
    const kills = await killEach(begin, async () => {
      const { state } = await rolloutStatus(house.rolloutLedger, id);
      if (state !== 'rolled-back') expect((await rollback(id)).state).toBe('rolled-back');
      expect(await board.exported('a')).toBe(before);
      id = (await apply(board)).id;
    });
    expect(kills).toBeGreaterThan(8);
  }, 240_000);

  it('an edit during the interruption is kept and reported', async () => {
    const board = await openWith('a');
    await board.publish(secondEdition);
    const isWrite = (_: string, name: string) => name === 'replaceDashboardContent';
    const { id } = await apply(board, {}, { upstream: failing(isWrite, unavailable) });
    await board.renames('a', 'Metric by-shop', 'Ours');
    const edited = await board.exported('a');
    const status = await finish(rolloutsOf().resume(board.policy, id));
    expect(status.tenants).toMatchObject([{ state: 'conflict', fault: expect.stringContaining('interrupted') }]);
    expect(await board.exported('a')).toBe(edited);
  });
});

it('applies the new template to a copy whose creation was interrupted while the template changed', async () => {
  const board = await openWith();
  const gatewayOf = async (upstream: Call) => {
    const self = await joinProcesses(house.ledger.db, true);
    const ledger = { ...house.ledger, self };
    const place = { baseUrl: 'u', keyId: 'k', capabilities: house.capabilities, keepVersion: house.versions.keep };
    const bringToPublished = createBringToPublished({ ...house, upstream, ledger: house.rolloutLedger });
    const provision = createProvision({ ...house, ...place, bringToPublished, ledger, upstream });
    return { ensure: () => provision.ensure(board.policy, [...board.policy.templates.values()], 'cut'), self };
  };
  let made = (): void => {};
  const isMade = new Promise<void>((resolve) => {
    made = resolve;
  });
  const dying = await gatewayOf(async (operation, input) => {
    const answer = await house.upstream(operation, input);
    if (operation.name !== 'createDashboardEmbed') return answer;
    made();
    // The process ends here.
    return new Promise(() => {});
  });
  void dying.ensure();
  await isMade;
  await dying.self.leave();
  await board.publish(secondEdition);
  const { ensure } = await gatewayOf(house.upstream);
  expect(await ensure()).toHaveLength(1);
  expect((await apply(board)).cohorts[0]?.states).toEqual({ applied: 1 });
  expect(await namesOf(board, 'cut')).toEqual(['Metric count', 'Shops', 'Metric by-client']);
});

it('removes an erased tenant with its before-images', async () => {
  const board = await openWith('leaver', 'stayer');
  await board.renames('leaver', 'Metric count', 'A secret of theirs');
  await board.publish(secondEdition);
  await apply(board);
  const rows = async () => JSON.stringify(await house.ledger.db.selectFrom('rollout_items').selectAll().execute());
  expect(await rows()).toContain('A secret of theirs');
  expect(await house.rolloutLedger.forgetTenant(house.ledger.refOf('leaver'))).toBe(1);
  expect(await rows()).not.toContain('A secret of theirs');
});

it('continues if a tenant is erased during the roll-out', async () => {
  const board = await openWith('first', 'second', 'the-leaver');
  await board.publish(secondEdition);
  const leaving: Call = async (operation, input) => {
    const answer = await house.upstream(operation, input);
    if (operation === (replaceDashboardContent as unknown))
      await house.rolloutLedger.forgetTenant(house.ledger.refOf('the-leaver'));
    return answer;
  };
  const { state, cohorts } = await apply(board, {}, { upstream: leaving, width: 1 });
  expect([state, cohorts.map(({ states }) => states)]).toEqual(['finished', [{ applied: 2 }]]);
});
