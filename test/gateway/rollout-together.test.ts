/** Two gateways on one PostgreSQL begin roll-outs of one template in the same instant: never do both run. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attachLedger, type LedgerTables } from '../../src/gateway/ledger/ledger.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import type { RolloutLedger } from '../../src/gateway/rollout/model.js';
import { createRollouts, type Rollouts } from '../../src/gateway/rollout/rollout.js';
import { createTemplateVersions } from '../../src/gateway/rollout/template-versions.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { isPostgresThere } from '../suites/postgres.js';
import { type Board, openBoard, openRolloutHouse, type RolloutHouse, secondEdition } from './rollout-fixture.js';

const hasServer = await isPostgresThere();

/** Resolves once it was called as often as that. */
const createMeeting = (size: number): (() => Promise<void>) => {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === size) for (const go of waiting) go();
    });
};

/** The ledger, whose beginnings of roll-outs wait for `meet`, each with its lease. */
const meetingAt = (ledger: RolloutLedger, meet: () => Promise<void>): RolloutLedger => ({
  ...ledger,
  under: (lease) => {
    const own = ledger.under(lease);
    return {
      ...own,
      insert: (...given) => meet().then(() => own.insert(...given)),
      assertAlone: (...given) => meet().then(() => own.assertAlone(...given)),
    };
  },
});

describe.skipIf(!hasServer)('roll-outs of one template that begin in the same instant', () => {
  let house: RolloutHouse;
  let second: Database;
  let ledgers: readonly RolloutLedger[];
  let gateways: readonly Pick<RolloutHouse, 'versions'>[];
  beforeAll(async () => {
    house = await openRolloutHouse('postgres');
    second = await openDatabase({ databaseUrl: house.world.database.url, folder: null });
    const ledger = await attachLedger(second.connect<LedgerTables>(), true);
    ledgers = [house.rolloutLedger, createRolloutLedger(ledger, house.clock)];
    gateways = [house, { versions: createTemplateVersions({ ...house, ledger }) }];
  });
  afterAll(async () => {
    await second.close();
    await house.close();
  });

  let made = 0;
  const makeBoard = async (): Promise<Board> => {
    made += 1;
    const board = await openBoard(house, `together-${made}`);
    await board.provision(['a', 'b']);
    await board.publish(secondEdition);
    return board;
  };

  /** Each gateway does its part at one moment. Returns how many began, and why the others did not. */
  const together = async (...parts: readonly ((rollouts: Rollouts) => ReturnType<Rollouts['start']>)[]) => {
    const meet = createMeeting(parts.length);
    const begun = await Promise.allSettled(
      parts.map((part, at) => {
        const ledger = meetingAt(ledgers[at] ?? house.rolloutLedger, meet);
        return part(createRollouts({ ...house, ...gateways[at], ledger }));
      }),
    );
    const reasons = begun.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    await Promise.all(begun.map((one) => (one.status === 'fulfilled' ? one.value.done : undefined)));
    return { begun: begun.length - reasons.length, reasons };
  };

  const usual = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
  const startOf = (board: Board) => (rollouts: Rollouts) =>
    rollouts.start(board.policy, { ...usual, template: board.template });
  /** A roll-out that has reached the first tenant, and waits for the operator. */
  const pausedOf = async (board: Board): Promise<string> => {
    const rollouts = createRollouts({ ...house, ledger: house.rolloutLedger });
    const canary = [house.ledger.refOf('a')];
    const options = { ...usual, canary, isPausing: true, template: board.template };
    const { id, done } = await rollouts.start(board.policy, options);
    await done;
    return id;
  };
  const running = { code: 'NOT_SUPPORTED', reason: 'rollout-state' };

  it('lets one of two new ones begin, which ends, and names it to the other', async () => {
    const board = await makeBoard();
    const { begun, reasons } = await together(startOf(board), startOf(board));
    expect([begun, reasons]).toEqual([1, [expect.objectContaining(running)]]);
    const ofBoard = (await house.rolloutLedger.list()).filter(({ template }) => template === board.template);
    expect(ofBoard.map(({ state }) => state)).toEqual(['finished']);
    expect(String(reasons[0])).toContain(ofBoard[0]?.id);
  });

  it('lets one of a new and of a paused one go on', async () => {
    const board = await makeBoard();
    const id = await pausedOf(board);
    const { begun, reasons } = await together(startOf(board), ({ resume }) => resume(board.policy, id));
    expect([begun, reasons]).toEqual([1, [expect.objectContaining(running)]]);
  });

  it('never lets two stored ones go on together, and afterwards each of them', async () => {
    const board = await makeBoard();
    const [one, other] = [await pausedOf(board), await pausedOf(board)];
    const { begun, reasons } = await together(
      ({ rollback }) => rollback(one),
      ({ resume }) => resume(board.policy, other),
    );
    expect(begun).toBeLessThan(2);
    for (const reason of reasons) expect(reason).toMatchObject(running);
    const rollouts = createRollouts({ ...house, ledger: house.rolloutLedger });
    for (const id of [one, other]) {
      const stored = await house.rolloutLedger.find(id);
      if (stored?.state !== 'rolled-back') await (await rollouts.rollback(id)).done;
    }
  });
});
