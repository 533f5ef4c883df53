/** What runs now in several processes, as each of them reads it, and how it is ended in another one. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type NewWork, workIdOf } from '../../src/model/query/running.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { createBoard } from '../../src/service/running/board.js';
import { endRunning, readRunning } from '../../src/service/running/read.js';
import { createMovableClock } from '../gateway/harness.js';
import type { Backing } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createWorld, type World } from './world.js';

const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];
const log = pino({ level: 'silent' });
const operator = { kind: 'serviceToken', tokenId: 't' } as const;
const personWho = (seesData: boolean) =>
  ({ ...operator, person: { issuer: 'i', subject: 's', name: 'n', roles: ['support'], seesData } }) as const;
const query: NewWork = {
  ...{ kind: 'query', subject: 'flights', canEnd: true, dataAppId: 'id-app', clientId: 'LAX' },
  ...{ dashboardId: 'delays', metricId: 'by-day', requestId: 'r1' },
};

describe.each(backings)('processes that share %s', (backing) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(backing);
  });
  afterEach(() => world.store.running.purge(new Date('2100-01-01')));
  afterAll(() => world.close());

  /** Processes with one clock. `writes` counts what each of them writes. */
  const start = (...names: readonly string[]) => {
    const clock = createMovableClock();
    const pauses: (() => Promise<void>)[] = [];
    const processes = names.map((name) => {
      const running = createRunningWork(clock);
      const counted = { writes: 0 };
      const store = {
        running: {
          ...world.store.running,
          publish: (...of: Parameters<typeof world.store.running.publish>) => {
            counted.writes += 1;
            return world.store.running.publish(...of);
          },
        },
      };
      const board = createBoard({
        ...{ store, running, clock, log, ids: { uuid: randomUUID }, isShared: true },
        live: () => ({ sources: [], cache: { bytes: 7, maxBytes: 10 } }),
        self: { name, version: '1.2.3' },
        pause: async () => {
          for (const each of pauses) await each();
        },
      });
      const deps = { store: world.store, running: board };
      const works = async (caller: Parameters<ReturnType<typeof readRunning>>[0] = operator) =>
        (await readRunning(deps)(caller)).works;
      return { name, running, board, counted, deps, works };
    });
    const [one, other] = processes;
    if (one === undefined || other === undefined) throw new Error('name two processes');
    return { clock, pauses, processes, one, other };
  };
  /** Runs a work until it is let go or ended. */
  const hold = ({ running }: ReturnType<typeof start>['one'], of: NewWork = query) => {
    let letGo = (): void => {};
    const done = running.during(of, ({ signal, begins }) => {
      begins();
      return new Promise<void>((resolve, reject) => {
        letGo = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    });
    done.catch(() => {});
    return { done, letGo: () => letGo() };
  };

  test('each reads what the other runs, with names and seconds by one clock', async () => {
    const { clock, one, other, processes } = start('one', 'other');
    const held = hold(one);
    for (const { board } of processes) await board.beat();
    clock.advance(2_000);
    const { processes: told } = await readRunning(other.deps)(operator);
    expect(told.map(({ name, isAnswering }) => [name, isAnswering])).toEqual([
      ['other', true],
      ['one', false],
    ]);
    expect(await other.works()).toMatchObject([
      { kind: 'query', state: 'running', seconds: 2, dataAppName: 'app', clientId: 'LAX', dashboardId: 'delays' },
    ]);
    expect(await other.works()).toEqual(await one.works());
    held.letGo();
    await held.done;
    expect(await one.works()).toEqual([]);
    await one.board.beat();
    expect(await other.works()).toEqual([]);
  });

  test('a process that writes no more is gone after five seconds, and one that stops is gone at once', async () => {
    const { clock, one, other } = start('one', 'other');
    hold(one);
    await one.board.beat();
    clock.advance(4_999);
    expect(await other.works()).toHaveLength(1);
    clock.advance(1);
    expect(await other.works()).toEqual([]);
    await one.board.beat();
    expect(await other.works()).toHaveLength(1);
    await one.board.leave();
    expect(await other.works()).toEqual([]);
  });

  test('a process writes once for each beat while something runs, whatever its number, and seldom otherwise', async () => {
    const { clock, one } = start('one', 'other');
    for (let second = 0; second < 30; second += 1) {
      await one.board.beat();
      clock.advance(1_000);
    }
    expect(one.counted.writes).toBe(3);
    const held = Array.from({ length: 500 }, () => hold(one));
    for (let second = 0; second < 10; second += 1) {
      await one.board.beat();
      clock.advance(1_000);
    }
    expect(one.counted.writes).toBe(13);
    const told = (await readRunning(one.deps)(operator)).processes[0];
    expect([(await one.works()).length, told?.others]).toEqual([200, 300]);
    for (const { letGo } of held) letGo();
    await Promise.all(held.map(({ done }) => done));
    for (let second = 0; second < 9; second += 1) {
      await one.board.beat();
      clock.advance(1_000);
    }
    expect(one.counted.writes).toBe(14);
  });

  test('an operator ends in one process what another one runs, and hears how that went', async () => {
    const { one, other, pauses } = start('one', 'other');
    const held = hold(one);
    await one.board.beat();
    const [work] = await other.works();
    const end = endRunning(other.deps);
    expect(await end(operator, { id: work?.id ?? '' })).toBe('unanswered');
    pauses.push(one.board.beat);
    expect(await end(operator, { id: work?.id ?? '' })).toBe('over');
    await expect(held.done).rejects.toMatchObject({ reason: 'ended-by-operator' });
    const again = hold(one);
    await one.board.beat();
    const [next] = await other.works();
    expect(await end(operator, { id: next?.id ?? '' })).toBe('ended');
    await expect(again.done).rejects.toMatchObject({ reason: 'ended-by-operator' });
    expect(await end(operator, { id: next?.id ?? '' })).toBe('over');
    const elsewhere = workIdOf({ kind: 'query', instance: randomUUID(), number: 1 });
    expect(await end(operator, { id: elsewhere })).toBe('over');
  });

  test('a work is ended by its kind alone, and a delivery never is', async () => {
    const { one } = start('one', 'other');
    hold(one, { kind: 'delivery', subject: 'schedule', canEnd: false });
    const [delivery] = await one.works();
    expect(delivery?.id).toBe(null);
    const { instance } = (await one.board.read()).processes[0] ?? { instance: '' };
    for (const kind of ['delivery', 'query'] as const)
      expect(await one.board.end({ kind, instance, number: 1 })).toBe('over');
    expect(await one.works()).toHaveLength(1);
  });

  test('people without access to data see for which tenant something runs, and not what', async () => {
    const { one, other } = start('one', 'other');
    hold(one);
    await one.board.beat();
    for (const { works, deps } of [one, other]) {
      const [hidden] = await works(personWho(false));
      expect(hidden).toMatchObject({ clientId: 'LAX', dashboardId: null, metricId: null, requestId: null });
      expect(await works(personWho(true))).toMatchObject([
        { dashboardId: 'delays', metricId: 'by-day', requestId: 'r1' },
      ]);
      const { processes } = await readRunning(deps)(personWho(false));
      expect(processes.map(({ cache }) => cache)).toEqual(processes.map(() => ({ bytes: null, maxBytes: 10 })));
    }
  });

  test('what was left by processes that died is removed by another one', async () => {
    const { clock, one, other } = start('one', 'other');
    hold(one);
    await one.board.beat();
    await other.board.beat();
    clock.advance(70_000);
    await other.board.beat();
    const { store } = world;
    expect((await store.running.list(new Date(0))).map(({ name }) => name)).not.toContain('one');
  });
});
