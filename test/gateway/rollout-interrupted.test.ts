/** A roll-out that was interrupted goes on by itself, whatever interrupted it, and never ends the process. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { joinProcesses } from '../../src/gateway/ledger/processes.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import type { Rollout } from '../../src/gateway/rollout/model.js';
import { createRollouts } from '../../src/gateway/rollout/rollout.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import {
  type Board,
  openBoard,
  openRolloutHouse,
  type RolloutHouse,
  secondEdition,
  takeOverAll,
} from './rollout-fixture.js';

let house: RolloutHouse;
beforeAll(async () => {
  house = await openRolloutHouse();
});
afterAll(() => house.close());

const unseen: unknown[] = [];
const note = (reason: unknown): void => void unseen.push(reason);
beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

let made = 0;
let boards: readonly Board[];
beforeEach(async () => {
  unseen.length = 0;
  made += 1;
  boards = await Promise.all([1, 2].map((number) => openBoard(house, `cut-${made}-${number}`)));
  for (const board of boards) {
    await board.provision(['a', 'b']);
    await board.publish(secondEdition);
  }
});

const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
const rolloutsOf = (parts: Partial<Parameters<typeof createRollouts>[0]> = {}) =>
  createRollouts({ ...house, ledger: house.rolloutLedger, width: 1, ...parts });
/** One policy for the templates of both boards. */
const policy = () => {
  const [first] = boards;
  if (first === undefined) throw new Error('there are two boards');
  return { ...first.policy, templates: new Map(boards.flatMap((board) => [...board.policy.templates])) };
};
const stateOf = async (id: string) => (await house.rolloutLedger.find(id))?.state;

class Outage extends Error {}
/** The ledger, which cannot be reached from the given call of `settle` on. */
const failingFrom = (call: number) => {
  let calls = 0;
  const failing = (ledger: typeof house.rolloutLedger): typeof house.rolloutLedger => ({
    ...ledger,
    under: (lease) => failing(ledger.under(lease)),
    settle: async (...given) => {
      calls += 1;
      if (calls >= call) throw new Outage();
      return ledger.settle(...given);
    },
  });
  return failing(house.rolloutLedger);
};

/** Two roll-outs, perhaps begun within one millisecond, so that their order is not told. */
const interruptAll = async (): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (const board of boards) {
    const wanted = { ...usual, template: board.template };
    const { id, done } = await rolloutsOf({ ledger: failingFrom(2) }).start(policy(), wanted);
    await expect(done).rejects.toThrow(Outage);
    ids.push(id);
  }
  return ids;
};

it('a roll-out that its own process could not finish is continued by any process, to its end', async () => {
  const ids = await interruptAll();
  expect(await Promise.all(ids.map(stateOf))).toEqual(['running', 'running']);
  const taken = await takeOverAll(rolloutsOf(), policy());
  expect([taken.ids.toSorted(), taken.failures]).toEqual([ids.toSorted(), 0]);
  expect(await Promise.all(ids.map(stateOf))).toEqual(['finished', 'finished']);
  expect((await takeOverAll(rolloutsOf(), policy())).ids).toEqual([]);
});

it('while the outage lasts, no rejection goes unseen, each roll-out counts as failed or begun, and none is lost', async () => {
  const ids = await interruptAll();
  const { outcomes } = await takeOverAll(rolloutsOf({ ledger: failingFrom(1) }), policy());
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // Of the service, only the first roll-out's content is read: the second cannot be continued yet.
  const refused = new Refusal('UPSTREAM_UNAVAILABLE', 'away', { reason: 'upstream-unreachable' });
  const away: Call = async () => {
    throw refused;
  };
  const later = await takeOverAll(rolloutsOf({ upstream: away }), policy());
  expect([later.ids, later.failures, later.faults]).toEqual([[], 2, [refused, refused]]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unseen).toEqual([]);
  expect((await takeOverAll(rolloutsOf(), policy())).ids.toSorted()).toEqual(ids.toSorted());
  expect(await Promise.all(ids.map(stateOf))).toEqual(['finished', 'finished']);
});

it('a roll-out that is beginning is no interrupted one: no other process takes it', async () => {
  const [board] = boards;
  const seen: (readonly Rollout[])[] = [];
  const watching = (ledger: typeof house.rolloutLedger): typeof house.rolloutLedger => ({
    ...ledger,
    under: (lease) => watching(ledger.under(lease)),
    insert: async (...given) => {
      await ledger.insert(...given);
      seen.push(await house.rolloutLedger.listInterrupted());
    },
  });
  const ledger = watching(house.rolloutLedger);
  await (await rolloutsOf({ ledger }).start(policy(), { ...usual, template: board?.template ?? '' })).done;
  expect(seen).toEqual([[]]);
});

it('a process that was taken for dead writes nothing more of the work that another one has taken', async () => {
  const [id = ''] = await interruptAll();
  const self = await joinProcesses(house.ledger.db, true);
  const ledger = createRolloutLedger({ db: house.ledger.db, self }, house.clock);
  const stale = await ledger.lease(id);
  if (stale === undefined) throw new Error('an interrupted roll-out can be taken');
  expect(await house.rolloutLedger.lease(id)).toBeUndefined();
  await house.ledger.db
    .updateTable('processes')
    .set({ beat_at: new Date(0) })
    .where('process_id', '=', self.id())
    .execute();
  await house.ledger.self.beat(true);
  const taken = await house.rolloutLedger.lease(id);
  const before = await house.rolloutLedger.count(id);
  const late = ledger.under(stale);
  const [dashboardId = ''] = await ledger.listIds(id, ['waiting', 'prepared', 'applied', 'current', 'failed']);
  const key = { rolloutId: id, dashboardId };
  const item = await ledger.findItem(key);
  if (item?.before == null) throw new Error('the first item has its content stored');
  const prepared = { before: item.before, after: item.before.content, conflicts: [] };
  const rollout = await ledger.find(id);
  if (rollout === undefined) throw new Error('the roll-out is stored');
  for (const write of [
    () => late.setState(id, 'finished'),
    () => late.prepare(key, prepared),
    () => late.settle({ ...key, tenantRef: item.tenantRef, template: item.template }, { state: 'failed' }),
    () => late.addNew(rollout),
    () => late.finish(rollout),
    () => late.forgetTenant(item.tenantRef),
    () => late.insert(rollout, []),
  ])
    await expect(write()).rejects.toMatchObject({ name: 'LeaseLost' });
  expect([await stateOf(id), await house.rolloutLedger.count(id)]).toEqual(['running', before]);
  await taken?.release();
});

it('a copy that was made while the roll-out ran is reached, though its process ended right after `finished`', async () => {
  const [board] = boards;
  if (board === undefined) throw new Error('there are two boards');
  const ofLate = (verified_at: Date | null) =>
    house.ledger.db
      .updateTable('dashboards')
      .set({ verified_at })
      .where('dashboard_id', '=', board.idOf('b'))
      .where('template', '=', board.template)
      .execute();
  await ofLate(null);
  const ending = (ledger: typeof house.rolloutLedger, hasEnded: () => boolean): typeof house.rolloutLedger => ({
    ...ledger,
    under: (lease) => ending(ledger.under(lease), hasEnded),
    finish: async (rollout) => {
      await ofLate(house.clock.now());
      await ledger.finish(rollout);
      isEnded = true;
    },
    settle: async (...given) => {
      if (hasEnded()) throw new Outage();
      return ledger.settle(...given);
    },
  });
  let isEnded = false;
  const ledger = ending(house.rolloutLedger, () => isEnded);
  const { id, done } = await rolloutsOf({ ledger }).start(policy(), { ...usual, template: board.template });
  await expect(done).rejects.toThrow(Outage);
  expect(await stateOf(id)).toBe('finished');
  expect((await takeOverAll(rolloutsOf(), policy())).ids).toContain(id);
  expect(await stateOf(id)).toBe('finished');
  expect(await house.rolloutLedger.count(id)).toEqual([{ cohort: 1, state: 'applied', count: 2 }]);
  expect((await takeOverAll(rolloutsOf(), policy())).ids).not.toContain(id);
});

it('a roll-out that an operator ends pauses after the copy that it writes, and goes on when it is resumed', async () => {
  const running = createRunningWork(house.clock);
  const ended: boolean[] = [];
  const ending = (ledger: typeof house.rolloutLedger): typeof house.rolloutLedger => ({
    ...ledger,
    under: (lease) => ending(ledger.under(lease)),
    settle: async (...given) => {
      const [work] = running.list();
      ended.push(running.end({ kind: 'rollout', number: work?.number ?? 0 }));
      return ledger.settle(...given);
    },
  });
  const [board] = boards;
  const wanted = { ...usual, template: board?.template ?? '' };
  const { id, done } = await rolloutsOf({ running, ledger: ending(house.rolloutLedger) }).start(policy(), wanted);
  expect(running.list()).toMatchObject([{ kind: 'rollout', subject: wanted.template, canEnd: true }]);
  await done;
  expect([await stateOf(id), ended, running.list()]).toEqual(['paused', [true], []]);
  const states = async () => (await house.rolloutLedger.count(id)).map(({ state, count }) => [state, count]);
  expect((await states()).toSorted()).toEqual([
    ['applied', 1],
    ['waiting', 1],
  ]);
  // Nobody interrupted it, so no process continues it by itself.
  expect((await takeOverAll(rolloutsOf(), policy())).ids).not.toContain(id);
  expect(await stateOf(id)).toBe('paused');
  await (await rolloutsOf({ running }).resume(policy(), id)).done;
  expect([await stateOf(id), await states()]).toEqual(['finished', [['applied', 2]]]);
});
