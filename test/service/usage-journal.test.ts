/** What no kill may lose of the counts: it is in the data folder before an answer leaves, and stored once. */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UsageQuestion } from '../../src/model/usage.js';
import { createShortTag } from '../../src/platform/caches/tags.js';
import { createUsageJournal } from '../../src/platform/files/usage-journal.js';
import { keepQuota } from '../../src/platform/limits/quota.js';
import { createStore, type Store } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import type { UsageBatch } from '../../src/service/store/usage.js';
import { createUsageCounter, storeLeft } from '../../src/service/usage/usage.js';
import { type Backing, openTestDatabase, type TestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { makeReadOnly } from '../suites/read-only-folder.js';
import { testSealer } from '../suites/sealer.js';
import { mountSmallDisk } from '../suites/small-disk.js';

const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];
const shortTag = createShortTag(Buffer.alloc(32, 7));
const secondMs = 1_000;
const dayMs = 86_400_000;
const nowhere = { dashboardId: null, metricId: null };
const ann = { dataAppId: 'd', clientId: 'LAX', userIdentifier: 'ann-who-is-unmistakable', ...nowhere };

type Line = Record<string, unknown> & { readonly event: string };
type Parts = Partial<Parameters<typeof createUsageJournal>[0]> & {
  readonly folder: string;
  readonly store: Pick<Store, 'usage'>;
  readonly at: { ms: number };
};

/** One process. Its timers never run: a test calls what they call. */
const startProcess = ({ store, at, ...options }: Parts) => {
  const said: Line[] = [];
  const log = { warn: (line: object) => said.push(line as Line), info: (line: object) => said.push(line as Line) };
  const clock = { now: () => new Date(at.ms) };
  const timing = { nowMs: () => at.ms, after: () => () => {} };
  const journal = createUsageJournal({ mark: 'm'.repeat(16), isAlone: false, clock, timing, log, ...options });
  const counter = createUsageCounter({ store, clock, ids: { uuid: randomUUID }, shortTag, log, keepQuota, journal });
  /** Looks twice, with the time in between after which a file is of a killed process. */
  const recover = async () => {
    await journal.sweep(storeLeft({ store }));
    at.ms += 121 * secondMs;
    await journal.sweep(storeLeft({ store }));
  };
  return { ...counter, journal, said, recover, events: () => said.map(({ event }) => event) };
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-usage-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const disk = await mountSmallDisk(1);
afterAll(() => disk?.remove());

describe.each(backings)('on %s', (backing) => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await openTestDatabase(backing);
    store = createStore(database.connect<Tables>(), testSealer);
    await store.dataApps.insert({ id: 'd', name: 'app', createdAt: new Date(), updatedAt: new Date() } as never);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await sql`delete from guestlist.usage`.execute(database.connect<Tables>());
    await sql`delete from guestlist.client_erasures`.execute(database.connect<Tables>());
  });

  const all: UsageQuestion = { from: new Date(0), to: new Date('2100-01-01'), step: null, by: [], limit: 100 };
  const sums = async (question: Partial<UsageQuestion> = {}) => {
    const [row] = await store.usage.read({ ...all, ...question });
    return { mints: row?.mints ?? 0, sourceQueries: row?.sourceQueries ?? 0, exports: row?.exports ?? 0 };
  };
  /** A store that cannot be reached, or whose answer is lost after it has written. */
  const failing = (how: 'before' | 'after'): Pick<Store, 'usage'> => ({
    usage: {
      ...store.usage,
      add: async (batch: UsageBatch) => {
        if (how === 'after') await store.usage.add(batch);
        throw new Error('the connection is lost');
      },
    },
  });
  const now = () => ({ ms: Date.now() });

  test('what was counted before a kill is stored by another process, once, and no file stays', async () => {
    const at = now();
    const killed = startProcess({ folder, store, at });
    killed.add(ann, { mints: 1 });
    killed.add({ ...ann, metricId: 'm' }, { sourceQueries: 1 });
    killed.add(ann, { exports: 1 });
    killed.add(ann, { keptAnswers: 7, rows: 3 });
    await killed.stored();
    expect(await sums()).toEqual({ mints: 0, sourceQueries: 0, exports: 0 });
    const next = startProcess({ folder, store, at });
    await next.recover();
    await next.recover();
    expect(await sums()).toEqual({ mints: 1, sourceQueries: 1, exports: 1 });
    expect(next.said).toEqual([{ event: 'usage.recovered', lines: 3 }]);
    expect(await readdir(folder)).toEqual([]);
    const [user] = await store.usage.read({ ...all, by: ['user'] });
    killed.add(ann, { mints: 1 });
    await killed.flush();
    expect((await store.usage.read({ ...all, by: ['user'] }))[0]?.user).toBe(user?.user);
  });

  test('a batch that the store took before the kill is not counted again, days later', async () => {
    const at = now();
    const lossy = startProcess({ folder, store: failing('after'), at });
    lossy.add(ann, { mints: 1 });
    await lossy.flush();
    expect(await readdir(folder)).toHaveLength(1);
    await sql`update guestlist.usage_writers set at = now() - interval '31 days'`.execute(database.connect<Tables>());
    const { sweep } = store.retention
      .of({ tokensDays: 1, deliveriesDays: 1, usageDays: 1100, hourDays: 35 })
      .kinds.at(-1) ?? {
      sweep: () => Promise.reject(new Error('usage is swept last')),
    };
    await sweep(new Date());
    await startProcess({ folder, store, at }).recover();
    expect(await sums()).toMatchObject({ mints: 1 });
    expect(await readdir(folder)).toEqual([]);
  });

  test('several processes that find the same files count them once', async () => {
    const at = now();
    const killed = startProcess({ folder, store: failing('before'), at });
    for (let count = 0; count < 5; count += 1) {
      killed.add(ann, { sourceQueries: 1 });
      await killed.flush();
    }
    const finders = Array.from({ length: 4 }, () => startProcess({ folder, store, at, isAlone: true }));
    await Promise.all(finders.map(({ journal }) => journal.sweep(storeLeft({ store }))));
    expect(await sums()).toMatchObject({ sourceQueries: 5 });
    expect(finders.flatMap(({ events }) => events()).filter((event) => event !== 'usage.recovered')).toEqual([]);
  });

  test('the files of a process that lives are left alone, however long the store cannot be reached', async () => {
    const at = now();
    const living = startProcess({ folder, store: failing('before'), at });
    const other = startProcess({ folder, store, at });
    living.add(ann, { mints: 1 });
    for (let round = 0; round < 30; round += 1) {
      await living.flush();
      living.journal.touch();
      await other.journal.sweep(storeLeft({ store }));
      at.ms += 10 * secondMs;
    }
    living.add(ann, { mints: 1 });
    await living.stored();
    expect(await sums()).toMatchObject({ mints: 0 });
    expect(other.said).toEqual([]);
    await other.recover();
    expect(await sums()).toMatchObject({ mints: 2 });
  });

  test('a process that was stopped, and whose files were taken meanwhile, loses and repeats nothing', async () => {
    const at = now();
    const stopped = startProcess({ folder, store, at });
    stopped.add(ann, { mints: 1 });
    await startProcess({ folder, store, at }).recover();
    // It goes on: first what its timer does, then a count.
    stopped.journal.touch();
    stopped.add(ann, { mints: 1 });
    await stopped.flush();
    expect(await sums()).toMatchObject({ mints: 2 });
    expect(await readdir(folder)).toEqual([]);
  });

  test('a process that was stopped, and goes on while its files are taken, loses nothing', async () => {
    const at = now();
    const stopped = startProcess({ folder, store, at });
    stopped.add(ann, { mints: 1 });
    const { journal } = startProcess({ folder, store, at });
    await journal.sweep(storeLeft({ store }));
    at.ms += 121 * secondMs;
    await journal.sweep(async (batch, lines) => {
      await storeLeft({ store })(batch, lines);
      stopped.journal.touch();
      stopped.add(ann, { mints: 1 });
    });
    await stopped.flush();
    expect(await sums()).toMatchObject({ mints: 2 });
  });

  test('a process that was stopped and is then killed loses nothing', async () => {
    const at = now();
    const stopped = startProcess({ folder, store, at });
    stopped.add(ann, { mints: 1 });
    await startProcess({ folder, store, at }).recover();
    stopped.journal.touch();
    stopped.add(ann, { mints: 1 });
    await stopped.stored();
    await startProcess({ folder, store, at }).recover();
    expect(await sums()).toMatchObject({ mints: 2 });
  });

  test('a process that ends stores everything, and leaves no file', async () => {
    const at = now();
    const { add, flush } = startProcess({ folder, store, at });
    add(ann, { mints: 1 });
    expect(await readdir(folder)).toHaveLength(1);
    await flush();
    expect(await readdir(folder)).toEqual([]);
  });

  test('files name no user, and only their owner reads them', async () => {
    const { add } = startProcess({ folder, store, at: now() });
    add(ann, { mints: 1 });
    const [name = ''] = await readdir(folder);
    expect(await readFile(join(folder, name), 'utf8')).toMatch(
      /^\{"since":.*"clientId":"LAX","person":"[\w-]{16}".*\}\n$/,
    );
    expect(await readFile(join(folder, name), 'utf8')).not.toContain('unmistakable');
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('another installation that shares the folder takes nothing', async () => {
    const at = now();
    startProcess({ folder, store, at, mark: 'a'.repeat(16) }).add(ann, { mints: 1 });
    const other = startProcess({ folder, store, at, isAlone: true });
    await other.recover();
    expect([await sums(), other.said]).toMatchObject([{ mints: 0 }, []]);
    expect(await readdir(folder)).toHaveLength(1);
  });

  const erasedRows = async () => {
    const rows = await store.usage.read({ ...all, by: ['tenant', 'user'] });
    const named = (clientId = '-') => clientId.replace(/^erased:.{16}$/, 'erased');
    return rows.map(({ clientId, user, mints }) => [named(clientId ?? undefined), user === null, mints]);
  };

  test('what an erased tenant used is stored without its name, also long after the erasure', async () => {
    const at = { ms: Date.now() - 2 * 3_600_000 };
    startProcess({ folder, store, at }).add(ann, { mints: 1 });
    await store.clients.erase('d', 'LAX');
    // An hour after the kill, in the hour of the kill or not.
    await sql`update guestlist.client_erasures set erased_at = ${new Date(at.ms + 2 * secondMs)}`.execute(
      database.connect<Tables>(),
    );
    await startProcess({ folder, store, at }).recover();
    expect(await erasedRows()).toEqual([['erased', true, 1]]);
  });

  test('a tenant that came back before the kill keeps its name', async () => {
    await store.clients.erase('d', 'LAX');
    await sql`update guestlist.client_erasures set erased_at = now() - interval '2 hours'`.execute(
      database.connect<Tables>(),
    );
    const at = now();
    startProcess({ folder, store, at }).add(ann, { mints: 1 });
    await startProcess({ folder, store, at }).recover();
    expect(await erasedRows()).toEqual([['LAX', false, 1]]);
  });

  test('after a day, when the erasure is forgotten, only a tenant that the store knows is named', async () => {
    const at = { ms: Date.now() - 2 * dayMs };
    const killed = startProcess({ folder, store, at });
    killed.add(ann, { mints: 1 });
    killed.add({ ...ann, clientId: null }, { mints: 4 });
    killed.add({ ...ann, clientId: 'SFO' }, { mints: 2 });
    const living = startProcess({ folder: join(folder, 'own'), store, at: now() });
    living.add({ ...ann, clientId: 'SFO' }, { keptAnswers: 1 });
    await living.flush();
    await startProcess({ folder, store, at }).recover();
    expect((await erasedRows()).filter(([, , mints]) => mints !== 0).toSorted()).toEqual(
      [
        ['-', false, 4],
        ['SFO', false, 2],
        ['erased', true, 1],
      ].toSorted(),
    );
  });

  test.skipIf(disk === undefined)('on a full disk, answers wait for the store, and nothing is lost', async () => {
    const own = join(disk?.folder ?? '', backing);
    const at = now();
    const { add, stored, events } = startProcess({ folder: own, store, at });
    for (let count = 0; count < 8; count += 1) add(ann, { mints: 1 });
    disk?.fill();
    for (let count = 0; count < 40; count += 1) add(ann, { mints: 1 });
    await stored();
    expect(await sums()).toMatchObject({ mints: 48 });
    disk?.fill();
    add(ann, { mints: 1 });
    await stored();
    expect(await sums()).toMatchObject({ mints: 49 });
    expect(events()).toEqual(['usage.journal_failed']);
    await disk?.empty();
    add(ann, { mints: 1 });
    await stored();
    expect(await sums()).toMatchObject({ mints: 49 });
    await startProcess({ folder: own, store, at }).recover();
    expect(await sums()).toMatchObject({ mints: 50 });
  });

  test('in a folder that cannot be written, answers wait for the store', async () => {
    const writable = makeReadOnly(folder);
    try {
      const { add, stored, events } = startProcess({ folder: join(folder, 'usage'), store, at: now() });
      add(ann, { mints: 1 });
      await stored();
      if (writable === undefined) return;
      expect([await sums(), events()]).toMatchObject([{ mints: 1 }, ['usage.journal_failed']]);
    } finally {
      writable?.();
    }
  });

  test('a line that was half written is left out, and damaged ones are kept aside without stopping the others', async () => {
    const at = now();
    for (const text of ['{"since":"20', '\0\0\0\n', '{"since":1}\n', '{"counts":{}}\n{"half', 'ok']) {
      const before = await readdir(folder);
      startProcess({ folder, store, at }).add(ann, { mints: 1 });
      const name = (await readdir(folder)).find((one) => !before.includes(one)) ?? '';
      await writeFile(join(folder, name), text, { flag: 'a' });
    }
    const next = startProcess({ folder, store, at });
    await next.recover();
    expect(await sums()).toMatchObject({ mints: 5 });
    expect(next.said.filter(({ event }) => event === 'usage.file_set_aside')).toMatchObject(
      Array.from({ length: 3 }, () => ({ lines: 1, reason: 'damaged' })),
    );
    const aside = await readdir(folder);
    expect(aside.map((name) => name.replace(/^.*\.1/, ''))).toEqual(Array(3).fill('.jsonl.aside'));
    await next.recover();
    expect(await readdir(folder)).toEqual(aside);
    const longAgo = new Date(at.ms - 32 * dayMs);
    await Promise.all(aside.map((name) => utimes(join(folder, name), longAgo, longAgo)));
    await next.recover();
    expect(await readdir(folder)).toEqual([]);
  });

  test('what is older than any bill is kept aside, and not counted', async () => {
    const at = { ms: Date.now() - 32 * dayMs };
    startProcess({ folder, store, at }).add(ann, { mints: 1 });
    const next = startProcess({ folder, store, at: now() });
    await next.recover();
    expect([await sums(), next.said]).toMatchObject([{ mints: 0 }, [{ reason: 'old', lines: 1 }]]);
  });

  test('a store that cannot be reached is asked again, and a later file does not come first', async () => {
    const at = now();
    const killed = startProcess({ folder, store: failing('before'), at });
    killed.add(ann, { mints: 1 });
    await killed.flush();
    killed.add(ann, { mints: 1 });
    const next = startProcess({ folder, store: failing('before'), at });
    await next.recover();
    expect(next.events()).toEqual(['usage.recovery_failed']);
    expect(await readdir(folder)).toHaveLength(2);
    await startProcess({ folder, store, at }).recover();
    expect(await sums()).toMatchObject({ mints: 2 });
  });

  test('near the limit of a quota, and for a new seat, an answer waits for the store', async () => {
    const at = now();
    const { hold, seat, add, stored } = startProcess({ folder, store, at });
    const quota = { queriesPerDay: 10, seats: 3 };
    const ask = async (userIdentifier: string) => {
      const by = { ...ann, userIdentifier };
      await seat(by, quota);
      const counted = await hold(by, 'sourceQueries', quota);
      add(by, { sourceQueries: 1 });
      counted();
      await stored();
      return (await sums()).sourceQueries;
    };
    expect(await ask('ann')).toBe(1);
    const seen: number[] = [];
    for (let count = 0; count < 9; count += 1) seen.push(await ask('ann'));
    expect([seen.at(0), seen.at(-1)]).toEqual([1, 10]);
  });
});

/** A store in memory, which takes a batch once and may fail before or after it has. */
const createFakeStore = () => {
  const taken = new Map<string, number>();
  const state = { failure: 'never' as 'never' | 'before' | 'after', sum: 0 };
  const add = async ({ writer, number, sums }: UsageBatch): Promise<void> => {
    if (state.failure === 'before') throw new Error('not reached');
    if ((taken.get(writer) ?? 0) < number) {
      taken.set(writer, number);
      state.sum += sums.reduce((sum, { mints }) => sum + mints, 0);
    }
    if (state.failure === 'after') throw new Error('the answer is lost');
  };
  return { state, store: { usage: { add } } as unknown as Pick<Store, 'usage'> };
};

const step = fc.record({
  process: fc.nat(1),
  act: fc.constantFrom(
    'count',
    'count',
    'count',
    'flush',
    'touch',
    'sweep',
    'kill',
    'kill in a write',
    'full',
    'wait',
    'stop',
  ),
  failure: fc.constantFrom('never' as const, 'never' as const, 'before' as const, 'after' as const),
});

test('whatever breaks and whoever is killed when, each answered count is stored once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const own = await mkdtemp(join(tmpdir(), 'guestlist-usage-'));
      const { state, store } = createFakeStore();
      const at = { ms: Date.UTC(2024, 0, 1) };
      let disk: 'whole' | 'full' | 'kill' = 'whole';
      let answered = 0;
      /** Counted, and never answered: a kill came first. */
      let unanswered = 0;
      const write = (fd: number, bytes: Buffer): number => {
        if (disk === 'whole') return writeSync(fd, bytes);
        writeSync(fd, bytes.subarray(0, 9));
        if (disk === 'full') return 9;
        throw new Error('killed');
      };
      const start = () => startProcess({ folder: own, store, at, write });
      const processes = [start(), start()];
      for (const { process, act, failure } of steps) {
        const one = processes[process] ?? start();
        state.failure = failure;
        disk = act === 'full' ? 'full' : act === 'kill in a write' ? 'kill' : 'whole';
        if (act === 'count' || act === 'full') {
          one.add(ann, { mints: 1 });
          await one.stored();
          // Where neither the folder nor the store took it, it is in memory alone.
          if (disk === 'full' && failure !== 'never') {
            state.failure = 'never';
            await one.flush();
          }
          answered += 1;
        } else if (act === 'flush') await one.flush();
        else if (act === 'touch') one.journal.touch();
        else if (act === 'sweep') await one.journal.sweep(storeLeft({ store }));
        else if (act === 'kill' || act === 'kill in a write') {
          if (act === 'kill in a write') {
            one.add(ann, { mints: 1 });
            unanswered += 1;
          }
          processes[process] = start();
        } else if (act === 'wait') {
          at.ms += 9 * secondMs;
          for (const { journal } of processes) journal.touch();
        } else at.ms += 125 * secondMs;
      }
      [state.failure, disk] = ['never', 'whole'];
      for (const { flush } of processes) await flush();
      await start().recover();
      expect(state.sum).toBeGreaterThanOrEqual(answered);
      expect(state.sum).toBeLessThanOrEqual(answered + unanswered);
      expect(await readdir(own)).toEqual([]);
      await rm(own, { recursive: true });
    }),
    { numRuns: 300 },
  );
});
