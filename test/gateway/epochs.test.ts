import { describe, expect, it, onTestFinished } from 'vitest';
import { raiseEpochs } from '../../src/gateway/ledger/epochs.js';
import { type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { createEpochs } from '../../src/gateway/revocation/epochs.js';
import { createScopes } from '../../src/gateway/revocation/scopes.js';
import { createTokenCache, type TokenCache } from '../../src/gateway/token/cache.js';
import { createTokenStep, Outdated } from '../../src/gateway/token/token.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { createLocalSharing } from '../../src/platform/redis/sharing.js';
import type { Timing } from '../../src/platform/work/time.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { captureLog, createMovableClock } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { policyOf } from './policies.js';

const hasPostgres = await isPostgresThere();

/** A clock that the test moves. Timers run when their time is reached. */
const createMovableTiming = () => {
  let nowMs = 0;
  const planned: { atMs: number; run: () => void }[] = [];
  const timing: Timing = {
    nowMs: () => nowMs,
    after: (ms, run) => {
      const plan = { atMs: nowMs + ms, run };
      planned.push(plan);
      return () => void planned.splice(planned.indexOf(plan) >>> 0, 1);
    },
  };
  return {
    ...timing,
    /** Moves the clock without running timers, as if the process had been stopped. */
    stall: (ms: number) => {
      nowMs += ms;
    },
    planned: () => planned.map(({ atMs }) => atMs - nowMs),
    runPlanned: () => {
      for (const { run } of planned.splice(0)) run();
    },
  };
};

const raise = (ledger: Ledger, scope: string) =>
  ledger.db.transaction().execute((transaction) => raiseEpochs(transaction, { scopes: [scope], revokedAt: null }));

const policy = policyOf();
const requestOf = (userIdentifier: string) => ({
  clientId: 'LAX',
  dataAppName: 'flights',
  params: { userIdentifier },
  expiryTime: 600_000,
});

/** The gateway's token step with its own clock, on a ledger that other processes write to. */
const createStep = (ledger: Ledger, cacheOf: (cache: TokenCache) => TokenCache = (cache) => cache) => {
  const timing = createMovableTiming();
  const clock = createMovableClock();
  const sharing = createLocalSharing(createMemoryCache({ clock }));
  const { log, lines } = captureLog();
  const epochs = createEpochs({ ledger, sharing, log, timing });
  const discarded: string[] = [];
  const state = { minted: 0, during: async () => {} };
  const upstream = async () => {
    state.minted += 1;
    const token = `token-${state.minted}`;
    await state.during();
    return { token };
  };
  const scopes = createScopes(ledger);
  const step = createTokenStep({
    upstream: upstream as unknown as Call,
    baseUrl: 'http://service.test',
    keyId: 'key',
    epochs,
    scopes,
    cache: cacheOf(createTokenCache({ sharing, apiKey: 'the-api-key', clock })),
    generationOf: () => '0',
    withLease: (_, work) => work(),
    assertKnown: async () => {},
    discard: async (token) => void discarded.push(token),
    isAlive: async () => true,
    clock,
  });
  onTestFinished(() => epochs.close());
  return {
    step: (user: string) => step(requestOf(user), policy, { requestId: 'r', minted: async () => {} }),
    epochs,
    timing,
    state,
    discarded,
    lines,
    scopes,
  };
};

const openShared = async (): Promise<Ledger> => ({ ...(await openTestLedger()), isShared: true });

describe('epochs, when other processes write to the ledger', () => {
  it('a mint is dropped if another gateway revokes it meanwhile, however recently the epoch was read', async () => {
    const ledger = await openShared();
    const { step, state, discarded, scopes } = createStep(ledger);
    await step('warm-up');
    state.during = () => raise(ledger, scopes.user('ann'));
    await expect(step('ann')).rejects.toThrow(Outdated);
    expect(discarded).toEqual(['token-2']);
    state.during = async () => {};
    expect((await step('ann')).token).toBe('token-3');
    // The subject was revoked before the mint, so nothing is minted.
    await raise(ledger, scopes.all);
    await expect(step('bob')).rejects.toThrow(Outdated);
    expect(state.minted).toBe(3);
  });

  it('an answer that was found before a revocation is not sent after it', async () => {
    const ledger = await openShared();
    const race = { now: async () => {} };
    const { step, epochs, state, scopes } = createStep(ledger, (cache) => ({
      ...cache,
      load: async (key, wanted) => {
        const held = await cache.load(key, wanted);
        await race.now();
        return held;
      },
    }));
    await step('ann');
    race.now = async () => {
      await raise(ledger, scopes.tenant('LAX'));
      await epochs.latest();
    };
    await expect(step('ann')).rejects.toThrow(Outdated);
    race.now = async () => {};
    expect((await step('ann')).token).toBe('token-2');
    expect(state.minted).toBe(2);
  });

  it.skipIf(!hasPostgres)(
    'a cached answer needs no statement for a second; after that, it is refused if the database is unavailable',
    async () => {
      const { url, drop } = await createOwnDatabase();
      const database = await openDatabase({ databaseUrl: url, folder: null });
      const ledger = await openLedger(database.connect<LedgerTables>());
      const { step, timing, lines } = createStep(ledger);
      const { token } = await step('ann');
      await database.close();
      await drop();
      timing.stall(1_000);
      expect((await step('ann')).token).toBe(token);
      timing.stall(1);
      await expect(step('ann')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', reason: 'ledger-unreachable' });
      await expect(step('bob')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expect(lines.filter(({ msg }) => String(msg).includes('ledger'))).toHaveLength(1);
    },
  );

  it('reads the epoch again after at most a second: every 400 ms by itself, or when notified', async () => {
    const ledger = await openShared();
    const { step, epochs, timing, scopes } = createStep(ledger);
    const { token } = await step('ann');
    expect(Math.max(...timing.planned())).toBeLessThanOrEqual(400);
    await raise(ledger, scopes.all);
    timing.stall(1_001);
    expect((await step('ann')).token).not.toBe(token);
    const known = await epochs.current();
    const before = known.markOf([scopes.all]);
    await raise(ledger, scopes.all);
    timing.runPlanned();
    await expect.poll(() => known.markOf([scopes.all])).not.toBe(before);
    await raise(ledger, scopes.all);
    const then = known.markOf([scopes.all]);
    await epochs.publish();
    await expect.poll(() => known.markOf([scopes.all])).not.toBe(then);
  });

  it('in a database that only this process uses, the epoch is never read again', async () => {
    const { step, timing } = createStep(await openTestLedger());
    const { token } = await step('ann');
    timing.stall(100_000);
    expect((await step('ann')).token).toBe(token);
    expect(timing.planned()).toEqual([]);
  });

  it('stores users and tenants under references that do not reveal them', async () => {
    const { scopes } = createStep(await openTestLedger());
    const all = [...scopes.ofSubject({ clientId: 'LAX', userIdentifier: 'demo|ann' })];
    for (const scope of all) expect(scope).toMatch(/^(tenant|user|member):[0-9a-f]{64}$/);
    const others = [
      { clientId: 'LA', userIdentifier: 'Xdemo|ann' },
      { clientId: 'LAX', userIdentifier: 'demo|an' },
      { clientId: 'demo|ann', userIdentifier: 'LAX' },
    ].flatMap((subject) => scopes.ofSubject(subject).slice(1));
    expect(new Set([...all.slice(1), ...others]).size).toBe(8);
  });
});

describe.skipIf(!hasPostgres)('epochs on PostgreSQL', () => {
  it('a reader misses no change while many write: changes become visible in the order of their numbers', async () => {
    const { url, drop } = await createOwnDatabase();
    const databases = await Promise.all([1, 2].map(() => openDatabase({ databaseUrl: url, folder: null })));
    onTestFinished(async () => {
      for (const database of databases) await database.close();
      await drop();
    });
    const [writer, reader] = await Promise.all(
      databases.map((database) => openLedger(database.connect<LedgerTables>())),
    );
    if (writer === undefined || reader === undefined) throw new Error('two were opened');
    const { epochs } = createStep(reader);
    const known = await epochs.latest();
    const scopes = Array.from({ length: 10 }, (_, index) => `scope ${index}`);
    let isWriting = true;
    const looking = (async () => {
      while (isWriting) await epochs.latest();
    })();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        raise(writer, scopes[index % 10] ?? '').then(() => (index % 7 === 0 ? raise(writer, 'scope 3') : undefined)),
      ),
    );
    isWriting = false;
    await looking;
    await epochs.latest();
    const rows = await reader.db.selectFrom('epochs').select(['scope', 'epoch']).execute();
    const truth = new Map(rows.map(({ scope, epoch }) => [scope, String(epoch)]));
    expect(known.markOf(scopes)).toBe(scopes.map((scope) => truth.get(scope)).join('.'));
    expect([...truth.values()].reduce((sum, epoch) => sum + Number(epoch), 0)).toBe(69);
  });
});
