import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueues, type QueueLimits } from '../../src/engine/run/fair-queue.js';
import type { Timing } from '../../src/platform/work/time.js';
import { refusalOf } from './world.js';

const usual: QueueLimits = {
  running: 3,
  runningPerClient: 2,
  waiting: 10_000,
  waitingPerClient: 10_000,
  waitMs: 30_000,
  holdsLoud: true,
};

/** How long a query of a loud client is held while others run. */
const patienceMs = 200;

/** A clock and timers that the test moves. */
const createTiming = () => {
  let nowMs = 0;
  const due = new Map<object, { readonly atMs: number; readonly run: () => void }>();
  const timing: Timing = {
    nowMs: () => nowMs,
    after: (ms, run) => {
      const key = {};
      due.set(key, { atMs: nowMs + ms, run });
      return () => void due.delete(key);
    },
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const [key, { atMs, run }] of [...due]) {
      if (atMs > nowMs) continue;
      due.delete(key);
      run();
    }
  };
  return { timing, pass, timers: () => due.size };
};

/** A queue, the queries in the order in which they started, and a function that ends the oldest running query. */
const createStage = (limits: Partial<QueueLimits> = {}) => {
  const { timing, pass, timers } = createTiming();
  const refused: string[] = [];
  const queues = createFairQueues(timing, (why) => void refused.push(why));
  const at = { database: 'one', limits: { ...usual, ...limits } };
  const queue = {
    waiting: queues.waiting,
    isIdle: () => queues.count().length === 0,
    use: <Result>(client: string, work: () => Promise<Result>, signal?: AbortSignal) =>
      queues.use({ ...at, client }, work, signal),
  };
  const started: string[] = [];
  const running: { readonly client: string; readonly end: () => void }[] = [];
  const ask = (client: string, signal?: AbortSignal, label = client): Promise<void> =>
    queue.use(
      client,
      () =>
        new Promise<void>((end) => {
          started.push(label);
          running.push({ client, end });
        }),
      signal,
    );
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const endOldest = async (): Promise<void> => {
    running.shift()?.end();
    await settle();
  };
  return { queue, ask, started, running, endOldest, settle, pass, timers, refused };
};

describe('known leak 21: one client at a hundred times the load does not starve the others', () => {
  it('a client that comes after a thousand queries of another one waits for one of them to start', async () => {
    const { ask, started, endOldest, settle } = createStage({ runningPerClient: 3 });
    for (let index = 0; index < 1000; index += 1) void ask('heavy');
    await settle();
    expect(started).toEqual(['heavy', 'heavy', 'heavy']);
    void ask('light');
    await settle();
    const before = started.length;
    while (!started.includes('light')) await endOldest();
    // `heavy` had its turn before, and has one more.
    expect(started.slice(before)).toEqual(['heavy', 'light']);
  });

  it('leak 21: another client does not wait at all beside a slot that one client cannot take', async () => {
    const { ask, started, settle } = createStage();
    for (let index = 0; index < 1000; index += 1) void ask('heavy');
    void ask('light');
    await settle();
    expect(started).toEqual(['heavy', 'heavy', 'light']);
  });

  it('at random: a client waits for at most as many starts as other clients were waiting', async () => {
    const limitsOf = fc.record({
      running: fc.integer({ min: 1, max: 4 }),
      runningPerClient: fc.integer({ min: 1, max: 4 }),
    });
    // Each step either adds a query (mostly of one client) or ends the query that runs the longest.
    const [end, heavy] = [null, 0];
    const step = fc.oneof(fc.constant(end), fc.constant(heavy), fc.integer({ min: 1, max: 6 }));
    await fc.assert(
      fc.asyncProperty(limitsOf, fc.array(step, { minLength: 20, maxLength: 120 }), async (limits, steps) => {
        const { ask, started, running, endOldest, settle, queue } = createStage(limits);
        const waits: { readonly client: string; readonly since: number; readonly bound: number }[] = [];
        const asked: string[] = [];
        const countIn = (list: readonly string[], client: string) => list.filter((one) => one === client).length;
        const isWaiting = (client: string) => countIn(asked, client) > countIn(started, client);
        for (const next of steps) {
          if (next === end) await endOldest();
          else {
            const client = `client ${next}`;
            const isNew = !isWaiting(client) && !running.some((one) => one.client === client);
            const bound = new Set(asked.filter(isWaiting)).size;
            if (isNew) waits.push({ client, since: started.length, bound });
            asked.push(client);
            void ask(client);
            await settle();
          }
          expect(running.length).toBeLessThanOrEqual(limits.running);
          for (const { client } of running)
            expect(
              countIn(
                running.map((one) => one.client),
                client,
              ),
            ).toBeLessThanOrEqual(limits.runningPerClient);
        }
        while (!queue.isIdle()) await endOldest();
        expect(started.toSorted()).toEqual(asked.toSorted());
        for (const { client, since, bound } of waits)
          expect(started.slice(since).indexOf(client), `${client} in ${started}`).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 60, seed: 3, endOnFailure: true },
    );
  });
});

describe('leak 21: a loud client, which takes far more than the others', () => {
  const wide = { running: 8, runningPerClient: 6 };
  /** A stage on which `loud` has taken three seconds, one query after the other. */
  const createLoud = async (limits: Partial<QueueLimits> = wide) => {
    const stage = createStage(limits);
    const { ask, endOldest, settle, pass } = stage;
    for (let count = 0; count < 30; count += 1) {
      void ask('loud');
      await settle();
      pass(100);
      await endOldest();
    }
    stage.started.length = 0;
    const askAll = async (...clients: readonly string[]): Promise<void> => {
      for (const client of clients) void ask(client);
      await settle();
    };
    return { ...stage, askAll };
  };

  it('has its queries run one at a time, and each while nobody else runs one', async () => {
    const { askAll, started, endOldest } = await createLoud();
    await askAll('quiet', 'loud', 'loud');
    expect(started).toEqual(['quiet']);
    await endOldest();
    expect(started).toEqual(['quiet', 'loud']);
    await endOldest();
    expect(started).toEqual(['quiet', 'loud', 'loud']);
  });

  it('does not hold the six cards of a dashboard of anybody else', async () => {
    const { askAll, started } = await createLoud();
    const cards = Array.from({ length: 6 }, () => 'quiet');
    await askAll('quiet', 'loud', 'loud', ...cards.slice(1));
    expect(started).toEqual(cards);
  });

  it('is not held where nobody else asks, nor a second after somebody did', async () => {
    const { askAll, started, endOldest, pass } = await createLoud();
    await askAll('loud', 'loud');
    expect(started).toEqual(['loud', 'loud']);
    await endOldest();
    await endOldest();
    await askAll('quiet');
    await endOldest();
    pass(1001);
    await askAll('loud', 'loud');
    expect(started).toEqual(['loud', 'loud', 'quiet', 'loud', 'loud']);
  });

  it('is loud before its long queries have ended', async () => {
    const { askAll, started, pass } = createStageOfAll();
    await askAll('loud', 'loud');
    pass(2000);
    await askAll('quiet', 'loud');
    expect(started).toEqual(['loud', 'loud', 'quiet']);
  });

  it('is not held for good: one of its queries starts in time beside those of others', async () => {
    const { askAll, started, pass, settle, timers, endOldest, queue } = await createLoud();
    await askAll('quiet', 'loud', 'loud');
    pass(patienceMs - 1);
    await settle();
    expect(started).toEqual(['quiet']);
    pass(1);
    await settle();
    expect(started).toEqual(['quiet', 'loud']);
    while (!queue.isIdle()) await endOldest();
    expect([started.length, timers()]).toEqual([3, 0]);
  });

  it('is refused as any client where its own query takes too long', async () => {
    const { ask, askAll, pass, running, settle } = await createLoud();
    await askAll('quiet', 'loud');
    pass(patienceMs);
    const late = refusalOf(() => ask('loud'));
    // Others go on asking.
    for (let count = 0; count < 31; count += 1) {
      await askAll('quiet');
      for (const { client, end } of running) if (client === 'quiet') end();
      await settle();
      pass(1000);
    }
    expect(await late).toMatchObject({ reason: 'query-line-late' });
  });

  it('is not one that only has much in a database where all have', async () => {
    const { ask, askAll, started, endOldest, settle, pass } = createStageOfAll();
    for (let count = 0; count < 30; count += 1)
      for (const client of ['a', 'b', 'c']) {
        void ask(client);
        await settle();
        pass(100);
        await endOldest();
      }
    started.length = 0;
    await askAll('a', 'a', 'b', 'b');
    expect(started).toEqual(['a', 'a', 'b', 'b']);
  });

  it('is not held where queries take as long as their readers', async () => {
    const { askAll, started } = await createLoud({ ...wide, holdsLoud: false });
    await askAll('quiet', 'loud', 'loud');
    expect(started).toEqual(['quiet', 'loud', 'loud']);
  });

  const createStageOfAll = () => {
    const stage = createStage(wide);
    const askAll = async (...clients: readonly string[]): Promise<void> => {
      for (const client of clients) void stage.ask(client);
      await stage.settle();
    };
    return { ...stage, askAll };
  };

  it('at random: every query starts, within the limits, and one that asks alone as many as it may', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('ask'), of: fc.constantFrom('a', 'a', 'a', 'a', 'b', 'c') }),
      fc.record({ kind: fc.constant('end'), of: fc.constant('') }),
      fc.record({ kind: fc.constantFrom('pass', 'end'), of: fc.constantFrom('1', '50', '500', '3000') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 160 }), fc.boolean(), async (steps, isAlone) => {
        const { ask, started, running, endOldest, settle, pass, queue, timers } = createStage({ waitMs: 1e9 });
        const asked: string[] = [];
        for (const { kind, of } of steps) {
          if (kind === 'end') await endOldest();
          else if (kind === 'pass') pass(Number(of));
          else {
            asked.push(isAlone ? 'a' : of);
            void ask(isAlone ? 'a' : of);
          }
          await settle();
          expect(running.length).toBeLessThanOrEqual(usual.running);
          const ofA = running.filter(({ client }) => client === 'a').length;
          expect(ofA).toBeLessThanOrEqual(usual.runningPerClient);
          if (isAlone) expect(ofA).toBe(Math.min(usual.runningPerClient, ofA + queue.waiting()));
        }
        for (let count = 0; count < 2 * asked.length && !queue.isIdle(); count += 1) {
          pass(patienceMs);
          await settle();
          await endOldest();
        }
        expect(started.toSorted()).toEqual(asked.toSorted());
        expect([queue.isIdle(), timers()]).toEqual([true, 0]);
      }),
      { numRuns: 100, seed: 5, endOnFailure: true },
    );
  });
});

describe('the queue', () => {
  it("serves each client's queries in order of arrival, and the clients in turn", async () => {
    const { ask, started, endOldest, settle } = createStage({ running: 1 });
    for (const [index, client] of ['a', 'a', 'a', 'b', 'b', 'c'].entries())
      void ask(client, undefined, `${client}${index}`);
    await settle();
    for (let index = 0; index < 6; index += 1) await endOldest();
    expect(started).toEqual(['a0', 'a1', 'b3', 'c5', 'a2', 'b4']);
  });

  it('refuses at once if it is full, for the client or in total, and says how to fix that', async () => {
    const { ask, settle, refused } = createStage({ running: 1, waitingPerClient: 2, waiting: 3 });
    for (const client of ['a', 'a', 'a', 'b']) void ask(client);
    await settle();
    expect(await refusalOf(() => ask('a'))).toEqual({
      code: 'METRIC_QUERY_ERROR',
      reason: 'query-line-full',
      message: 'Too many queries of this client are waiting for the datasource. Retry shortly.',
    });
    expect(await refusalOf(() => ask('c'))).toMatchObject({
      message: 'Too many queries are waiting for the datasource. Retry shortly.',
    });
    expect(refused).toEqual(['full', 'full']);
  });

  it('never refuses while a slot is free, even if no query may wait', async () => {
    const { ask, started, settle } = createStage({ waiting: 0, waitingPerClient: 0 });
    void ask('a');
    void ask('a');
    void ask('b');
    await settle();
    expect(started).toEqual(['a', 'a', 'b']);
    expect(await refusalOf(() => ask('c'))).toMatchObject({ reason: 'query-line-full' });
  });

  it('refuses a query that waited too long, and frees its place', async () => {
    const { ask, started, endOldest, pass, timers, queue } = createStage({ running: 1 });
    void ask('a');
    const late = refusalOf(() => ask('b'));
    pass(29_999);
    void ask('c');
    pass(1);
    expect(await late).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'query-line-late' });
    await endOldest();
    expect(started).toEqual(['a', 'c']);
    await endOldest();
    expect([queue.isIdle(), timers()]).toEqual([true, 0]);
  });

  it('never starts a query whose caller has left', async () => {
    const { ask, started, endOldest, queue, timers } = createStage({ running: 1 });
    void ask('a');
    const leaving = new AbortController();
    const gone = ask('b', leaving.signal);
    void ask('c');
    leaving.abort(new Error('left'));
    await expect(gone).rejects.toThrow('left');
    await expect(ask('b', leaving.signal)).rejects.toThrow('left');
    expect(queue.waiting()).toBe(1);
    await endOldest();
    await endOldest();
    expect(started).toEqual(['a', 'c']);
    expect([queue.isIdle(), timers()]).toEqual([true, 0]);
  });

  it('frees the slot if the query fails', async () => {
    const { queue } = createStage({ running: 1 });
    for (let index = 0; index < 3; index += 1) {
      await expect(queue.use('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    }
    expect(await queue.use('a', async () => 'runs')).toBe('runs');
  });

  it('is separate for each database: waiting for one does not delay another', async () => {
    const { timing } = createTiming();
    const queues = createFairQueues(timing, () => {});
    const limits = { ...usual, running: 1 };
    let end = (): void => {};
    const busy = queues.use(
      { database: 'one', client: 'a', limits },
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    const waits = queues.use({ database: 'one', client: 'b', limits }, async () => 'later');
    expect(queues.waiting()).toBe(1);
    expect(await queues.use({ database: 'two', client: 'b', limits }, async () => 'now')).toBe('now');
    end();
    await busy;
    expect(await waits).toBe('later');
    expect(queues.waiting()).toBe(0);
  });
});
