/** How many statements a look-up of a tenant's status needs, and when it is read again. */
import type { KyselyPlugin } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import type { Ledger } from '../../src/gateway/ledger/ledger.js';
import { createTenantAccess } from '../../src/gateway/lifecycle/access.js';
import { createEpochs } from '../../src/gateway/revocation/epochs.js';
import { createScopes } from '../../src/gateway/revocation/scopes.js';
import { createTenantRecords, type TenantEvent } from '../../src/gateway/tenant/records.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { createLocalSharing } from '../../src/platform/redis/sharing.js';
import { analyst, captureLog, createMovableClock, isInRequest, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';

/** A ledger that counts the statements of requests. The gateway's background work has its own, at any moment. */
const counted = (ledger: Ledger) => {
  const count = { statements: 0 };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (isInRequest()) count.statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { ledger: { ...ledger, db: ledger.db.withPlugin(plugin) }, count };
};

it('a cached answer needs no statement on the ledger, even much later', async () => {
  const { ledger, count } = counted(await openTestLedger());
  const { granted, clock } = await startGateway({ ledger });
  const first = await granted(analyst);
  expect(count.statements).toBeGreaterThan(0);
  count.statements = 0;
  for (let second = 0; second < 20; second += 1) {
    clock.advance(1000);
    expect((await granted(analyst)).token).toBe(first.token);
  }
  expect(count.statements).toBe(0);
});

const session = {} as Session;
const at = (kind: TenantEvent['kind'], ms: number): TenantEvent => ({
  kind,
  clientId: 'LAX',
  occurredAt: new Date(ms),
});

const createTwo = async () => {
  const ledger = { ...(await openTestLedger()), isShared: true };
  const clock = createMovableClock();
  const { log } = captureLog();
  const scopes = createScopes(ledger);
  const tenants = createTenantRecords(ledger, clock);
  const reads: string[] = [];
  const find: typeof tenants.find = (clientId) => {
    reads.push(clientId);
    return tenants.find(clientId);
  };
  const time = { ms: 0 };
  const timing = { nowMs: () => time.ms, after: () => () => {} };
  // The gateways get no notifications, do not poll, and use the test's clock.
  const open = () => {
    const sharing = createLocalSharing(createMemoryCache({ clock }));
    const epochs = createEpochs({ ledger, sharing, log, timing });
    onTestFinished(() => epochs.close());
    return { epochs, standing: createTenantAccess({ tenants: { find }, epochs, scopes }) };
  };
  return { tenants, reads, time, here: open(), there: open() };
};

it('reads a tenant once for each change of its state, known by its epoch', async () => {
  const { tenants, reads, here, there } = await createTwo();
  const ask = () => Promise.all(Array.from({ length: 5 }, () => here.standing.assert(session, 'LAX')));
  await ask();
  await ask();
  expect(reads).toEqual(['LAX']);
  await tenants.note(at('suspended', 1));
  await there.epochs.publish();
  await expect(there.standing.assert(session, 'LAX')).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
  // This gateway was not notified, and its cached status is less than a second old.
  await ask();
  expect(reads).toHaveLength(2);
  await here.epochs.latest();
  await expect(ask()).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
  expect(reads).toHaveLength(3);
  const before = here.standing.generationOf('LAX');
  await tenants.note(at('resumed', 2));
  await here.epochs.latest();
  await ask();
  expect(here.standing.generationOf('LAX')).not.toBe(before);
  // Neither event changes anything: one was known, the other is older.
  await tenants.note(at('resumed', 2));
  await tenants.note(at('suspended', 0));
  await here.epochs.latest();
  await ask();
  expect(reads).toHaveLength(4);
});

it('uses a status for at most a second; then it reads the ledger and notices a change', async () => {
  const { tenants, time, here } = await createTwo();
  await here.standing.assert(session, 'LAX');
  await tenants.note(at('suspended', 1));
  time.ms = 1_001;
  await expect(here.standing.assert(session, 'LAX')).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
});
