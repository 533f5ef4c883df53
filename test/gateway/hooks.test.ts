/** The effects of hooks, with the real service and a real ledger, on the embedded database and on PostgreSQL. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createTenantLeases } from '../../src/gateway/lease/tenant-lease.js';
import { createLeases } from '../../src/gateway/ledger/leases.js';
import { joinProcesses, leastSilenceMs } from '../../src/gateway/ledger/processes.js';
import { createTenantRecords } from '../../src/gateway/tenant/records.js';
import type { TenantEventKind } from '../../src/gateway/tenant/state.js';
import { whole } from '../../src/model/slices.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { createGuestView } from '../../src/service/guest/views.js';
import { createMovableClock, gatewayToken, startGateway, startSeconds } from './harness.js';
import { createOwnService, type OwnService, servicePolicy } from './own-service.js';
import { createSender, hookSecret, sendUntilTaken } from './senders.js';
import { foldState, type Happened, tenantEventKinds } from './tenant-events.js';

const startMs = startSeconds * 1000;
const momentOf = (at: number): string => new Date(startMs - 1_000_000 + at * 1000).toISOString();

/** Ids that do not occur by chance. */
const newTenant = (): string => `unmistakable-${randomUUID()}`;
const sessionOf = (clientId: string, sub = `person-of-${clientId}`) => ({
  iss: 'guestlist-demo',
  sub,
  org_id: clientId,
  roles: ['analyst'],
});

let service: OwnService;
beforeAll(async () => {
  service = await createOwnService();
});
beforeEach(() => {
  service.state.meddle = () => {};
});
afterAll(async () => {
  await service.close();
});

const start = async (overrides: Parameters<typeof startGateway>[0] = {}) => {
  const clock = createMovableClock();
  const { upstream, ledger } = service;
  const hooks = { secrets: [hookSecret], toleranceSeconds: 300 };
  const gateway = await startGateway({ upstream, ledger, policy: servicePolicy, hooks, clock, ...overrides });
  const send = createSender(gateway.url, clock.now);
  const event = (kind: TenantEventKind, clientId: string, at: number, more: object = {}) =>
    sendUntilTaken(send, kind, { clientId, occurredAt: momentOf(at), ...more });
  return { ...gateway, clock, send, event };
};
const boardsOf = async (clientId: string): Promise<readonly string[]> =>
  (await whole(service.store.dashboards.listByWorkspace('w', service.api().dataAppId, null)))
    .filter(({ owner }) => owner?.clientId === clientId)
    .map(({ externalDashboardId }) => externalDashboardId.split('--')[0] ?? '')
    .toSorted();
const tokensOf = (clientId: string) =>
  whole(service.store.guestTokens.listLive({ dataAppId: service.api().dataAppId, clientId, now: new Date(0) }, null));
const isGood = async (token: string): Promise<boolean> =>
  (await service.store.guestTokens.findByHash(service.deps.tokens.hash(token))) !== undefined;
const pendingOf = async (clientId: string): Promise<number> => {
  const rows = await service.ledger.db.selectFrom('pending_revocations').select('target').execute();
  return rows.filter(({ target }) => target.includes(clientId)).length;
};
/** The erasure that was asked for at `deletedAt`, whether this gateway or another one on the same ledger ran it. */
const erasureOf = (clientId: string, deletedAt: string) =>
  service.ledger.db
    .selectFrom('erasures')
    .select(['finished_at', 'steps'])
    .where('tenant_ref', '=', service.ledger.refOf(clientId))
    .where('deleted_at', '=', new Date(deletedAt))
    .executeTakeFirstOrThrow();
/**
 * Waits until a replica has seen the change of another one. The replicas have separate caches, so no notification
 * reaches them.
 */
const noticed = (look: () => Promise<unknown>, wanted: unknown) =>
  vi.waitFor(async () => expect(await look()).toEqual(wanted), { timeout: 10_000, interval: 20 });
const expectNothingLeft = async (clientId: string) => {
  expect([await boardsOf(clientId), await tokensOf(clientId)]).toEqual([[], []]);
  const text = await service.dumpAll();
  expect(text).toContain('processes');
  expect(text).not.toContain(clientId);
};

it("signed-up provisions the dashboards of the policy's onSignUp before the first login", async () => {
  const { event, granted } = await start();
  const clientId = newTenant();
  const answer = await event('signed-up', clientId, 1);
  expect(answer).toMatchObject({ status: 200, data: { state: 'active', isApplied: true, provisioned: 1 } });
  expect(await boardsOf(clientId)).toEqual(['delays']);
  expect((await granted(sessionOf(clientId))).embeds).toHaveLength(2);
  expect(await boardsOf(clientId)).toEqual(['delays', 'routes']);
});

it('an interrupted sign-up is finished by the next attempt with the same id', async () => {
  const { send } = await start();
  const clientId = newTenant();
  const [id, body] = [randomUUID(), { clientId, occurredAt: momentOf(1) }];
  for (const moment of ['before', 'after']) {
    service.state.meddle = (request, when) => {
      if (request.path.endsWith('/dashboard-embeds') && when === moment) throw new Error('cut');
    };
    const answer = await send('signed-up', body, { id });
    expect([answer.status, answer.error?.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  service.state.meddle = () => {};
  expect((await send('signed-up', body, { id })).data).toMatchObject({ provisioned: 1 });
  const calls: string[] = [];
  service.state.meddle = ({ path }) => void calls.push(path);
  expect((await send('signed-up', body, { id })).data).toMatchObject({ provisioned: 1 });
  expect([calls, await boardsOf(clientId)]).toEqual([[], ['delays']]);
});

it('creates several dashboards at once for an unknown tenant', async () => {
  const { granted } = await start();
  for (let round = 0; round < 15; round += 1) {
    expect((await granted(sessionOf(newTenant()))).embeds).toHaveLength(2);
  }
});

it('suspended stops minting at once and revokes tokens; resumed allows logins with new tokens', async () => {
  const { event, granted, refused } = await start();
  const clientId = newTenant();
  const { token } = await granted(sessionOf(clientId));
  expect(await isGood(token)).toBe(true);
  expect((await event('suspended', clientId, 1)).data).toEqual({ state: 'suspended', isApplied: true });
  expect(await isGood(token)).toBe(false);
  expect(await refused(sessionOf(clientId))).toMatchObject({ status: 403, code: 'TENANT_SUSPENDED' });
  expect((await granted(sessionOf(newTenant()))).embeds).toHaveLength(2);
  await event('resumed', clientId, 2);
  const next = await granted(sessionOf(clientId));
  expect([next.token === token, await isGood(next.token)]).toEqual([false, true]);
  expect(await boardsOf(clientId)).toEqual(['delays', 'routes']);
});

it('a suspension that did not reach the service: 503, and it is retried even if the hook is not sent again', async () => {
  const { send, granted, clock } = await start();
  const clientId = newTenant();
  const { token } = await granted(sessionOf(clientId));
  service.state.meddle = ({ path }) => {
    if (path.includes('guest-token')) throw new Error('cut');
  };
  for (const id of ['one', 'two']) {
    const { status, error } = await send('suspended', { clientId, occurredAt: momentOf(1) }, { id: clientId + id });
    expect([status, error?.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
  }
  // However often the hook is sent, one erasure is pending.
  expect(await pendingOf(clientId)).toBe(1);
  service.state.meddle = () => {};
  clock.advance(60_000);
  await noticed(() => pendingOf(clientId), 0);
  expect(await isGood(token)).toBe(false);
});

it('a suspension at any moment of a login: its token is answered to nobody and is invalid', async () => {
  const seen: string[] = [];
  for (let at = 1, isThrough = false; !isThrough; at += 1) {
    const { send, ask, refused } = await start();
    const clientId = newTenant();
    let moments = 0;
    let suspension: number | undefined;
    service.state.meddle = async ({ method, path }: WireRequest, moment) => {
      moments += 1;
      if (moments !== at) return;
      seen.push(`${moment} ${method} ${path}`);
      service.state.meddle = () => {};
      suspension = (await send('suspended', { clientId, occurredAt: momentOf(5) })).status;
    };
    const login = await ask(sessionOf(clientId));
    isThrough = suspension === undefined;
    if (isThrough) break;
    expect([suspension, login.status], seen.at(-1)).toEqual([200, 403]);
    expect(await refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
    expect(await tokensOf(clientId), seen.at(-1)).toEqual([]);
  }
  expect(seen).toContain('before POST /api/v2/guest-token/create');
  expect(seen).toContain('after POST /api/v2/guest-token/create');
});

it('a user who logs in after a resumption never gets a token that the suspension has ended', async () => {
  const { send, event, granted } = await start();
  const clientId = newTenant();
  await granted(sessionOf(clientId));
  service.state.meddle = async ({ path }, moment) => {
    if (path !== '/api/v2/guest-token/revoke' || moment !== 'before') return;
    service.state.meddle = () => {};
    await send('resumed', { clientId, occurredAt: momentOf(6) });
    await granted(sessionOf(clientId));
  };
  await event('suspended', clientId, 5);
  await event('resumed', clientId, 6);
  expect(await isGood((await granted(sessionOf(clientId))).token)).toBe(true);
});

it('another replica notices the change by itself', async () => {
  const [first, second] = [await start(), await start()];
  const clientId = newTenant();
  await second.granted(sessionOf(clientId));
  await first.event('suspended', clientId, 1);
  await noticed(async () => (await second.ask(sessionOf(clientId))).status, 403);
  expect(await second.refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
  await first.event('resumed', clientId, 2);
  await noticed(async () => (await second.ask(sessionOf(clientId))).status, 200);
  expect(await isGood((await second.granted(sessionOf(clientId))).token)).toBe(true);
});

it('deleted erases everything that names the tenant, in gateway, service and cache, and reports it', async () => {
  const cache = createMemoryCache({ clock: createMovableClock() });
  const kept: string[] = [];
  const watched = {
    ...cache,
    set: (...args: Parameters<typeof cache.set>) => {
      kept.push(args[0]);
      return cache.set(...args);
    },
  };
  const { event, granted, refused, lines } = await start({ cache: watched });
  const [clientId, other] = [newTenant(), newTenant()];
  const id = `evt-${clientId}`;
  await event('signed-up', clientId, 1, { note: clientId });
  const { token } = await granted(sessionOf(clientId));
  await granted(sessionOf(other));
  const grant = await service.store.guestTokens.findByHash(service.deps.tokens.hash(token));
  if (grant === undefined) throw new Error('the token is not there');
  const viewer = { ...grant, allowedEmbeds: null, permissions: { isEnableCreateDashboardView: true } };
  await createGuestView(service.deps)(
    { kind: 'guest', grant: viewer },
    { dashboardId: service.shared, name: clientId },
  );
  await event('suspended', clientId, 2);
  await event('resumed', clientId, 3);
  await granted(sessionOf(clientId, 'another'));
  expect((await service.dumpAll()).split(clientId).length).toBeGreaterThan(10);
  const before = lines.length;
  const answer = await event('deleted', clientId, 4, { id });
  expect(answer.data).toMatchObject({
    state: 'deleted',
    isApplied: true,
    erasure: {
      isComplete: true,
      steps: expect.arrayContaining([
        { where: 'guest tokens', erased: { 'revoked guest tokens': 1 }, left: [] },
        {
          where: 'analytics service',
          erased: expect.objectContaining({ dashboards: 2, embeds: 2, metrics: 2, guestViews: 1 }),
          left: [],
        },
        { where: 'token cache', erased: { tokens: 2 }, left: [] },
      ]),
    },
  });
  await expectNothingLeft(clientId);
  expect(JSON.stringify([answer.data, lines.slice(before)])).not.toContain(clientId);
  expect(kept.length).toBeGreaterThan(2);
  for (const key of kept) expect((await cache.get(key)) === null).toBe(key.includes(clientId));
  expect(await boardsOf(other)).toEqual(['delays', 'routes']);
  expect(await refused(sessionOf(clientId))).toMatchObject({ status: 403, code: 'TENANT_SUSPENDED' });
  await expectNothingLeft(clientId);
});

it('deleted also removes pending revocations of the tenant and its users', async () => {
  const { url, event, granted } = await start();
  const [clientId, other] = [newTenant(), newTenant()];
  for (const each of [clientId, other]) await granted(sessionOf(each));
  service.state.meddle = () => {
    throw new Error('cut');
  };
  for (const who of [clientId, other].flatMap((tenant) => [
    { by: 'tenant', tenant },
    { by: 'user', subject: `person-of-${tenant}`, issuer: 'guestlist-demo', tenant },
  ])) {
    const response = await fetch(`${url}/gateway/admin/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      body: JSON.stringify({ ...who, reason: 'a test' }),
    });
    expect(await response.json()).toMatchObject({ data: { service: 'pending' } });
  }
  service.state.meddle = () => {};
  expect([await pendingOf(clientId), await pendingOf(other)]).toEqual([2, 2]);
  expect((await event('deleted', clientId, 1)).data).toMatchObject({ erasure: { isComplete: true } });
  await expectNothingLeft(clientId);
  expect([await pendingOf(clientId), await pendingOf(other)]).toEqual([0, 2]);
  await event('deleted', other, 1);
});

it('deleted is answered with the stored report, if another process finished the erasure first', async () => {
  const { event, granted } = await start();
  const clientId = newTenant();
  await granted(sessionOf(clientId));
  const first = await event('deleted', clientId, 5);
  const again = await event('deleted', clientId, 5);
  expect(first.data).toMatchObject({ erasure: { isComplete: true } });
  expect(again.data).toEqual(first.data);
});

it('a deleted tenant stays deleted until it signs up again, and then starts with nothing', async () => {
  const { event, granted, refused } = await start();
  const clientId = newTenant();
  await granted(sessionOf(clientId));
  await event('deleted', clientId, 5);
  for (const [kind, at] of [
    ['signed-up', 4],
    ['signed-up', 5],
    ['resumed', 6],
    ['suspended', 7],
    ['resumed', 8],
  ] as const) {
    expect((await event(kind, clientId, at)).data).toEqual({ state: 'deleted', isApplied: false });
    expect(await refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
  }
  await expectNothingLeft(clientId);
  expect((await event('signed-up', clientId, 9)).data).toMatchObject({ state: 'active', provisioned: 1 });
  expect(await isGood((await granted(sessionOf(clientId))).token)).toBe(true);
  expect((await event('deleted', clientId, 8)).data).toEqual({ state: 'active', isApplied: false });
  expect(await boardsOf(clientId)).toEqual(['delays', 'routes']);
});

it('a tenant that is deleted before its first login is refused', async () => {
  const { event, refused } = await start();
  const clientId = newTenant();
  expect((await event('deleted', clientId, 1)).data).toMatchObject({ erasure: { isComplete: true } });
  expect(await refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
  await expectNothingLeft(clientId);
});

it('an erasure that was interrupted at any call is continued, and a new sign-up waits for it', async () => {
  const { send, event, granted, refused } = await start();
  const clientId = newTenant();
  const deleted = { clientId, occurredAt: momentOf(5) };
  let calls = 0;
  let cutAt = 0;
  service.state.meddle = (_, moment) => {
    calls += moment === 'before' ? 1 : 0;
    if (calls * 2 - (moment === 'before' ? 1 : 0) === cutAt) throw new Error('cut');
  };
  await granted(sessionOf(clientId));
  for (const id of ['one', 'two'].map((each) => `${each}-${randomUUID()}`)) {
    for (let isCut = true, at = 1; isCut; at += 1) {
      [calls, cutAt] = [0, at];
      const answer = await send('deleted', deleted, { id });
      isCut = answer.status === 503;
      if (isCut) expect(await refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
      else expect(answer.data).toMatchObject({ state: 'deleted' });
    }
    expect(calls).toBeLessThan(10);
  }
  [calls, cutAt] = [0, 0];
  await expectNothingLeft(clientId);
  await event('signed-up', clientId, 6);
  [calls, cutAt] = [0, 1];
  expect((await send('deleted', { clientId, occurredAt: momentOf(7) })).status).toBe(503);
  [calls, cutAt] = [0, 0];
  expect((await event('signed-up', clientId, 8)).data).toMatchObject({ state: 'active', provisioned: 1 });
  expect(await erasureOf(clientId, momentOf(7))).toMatchObject({
    finished_at: expect.any(Date),
    steps: expect.arrayContaining([expect.objectContaining({ erased: expect.objectContaining({ dashboards: 1 }) })]),
  });
  expect(await boardsOf(clientId)).toEqual(['delays']);
});

it('a deletion at any moment of a login: no dashboard and no token remains', async () => {
  const seen: string[] = [];
  for (let at = 1, isThrough = false; !isThrough; at += 1) {
    const [first, second] = [await start(), await start()];
    const clientId = newTenant();
    let moments = 0;
    let deletion: number | undefined;
    service.state.meddle = async ({ method, path }: WireRequest, moment) => {
      moments += 1;
      if (moments !== at) return;
      seen.push(`${moment} ${method} ${path}`);
      service.state.meddle = () => {};
      deletion = (await second.send('deleted', { clientId, occurredAt: momentOf(5) })).status;
    };
    const login = await first.ask(sessionOf(clientId));
    isThrough = deletion === undefined;
    const { token } = (await login.json()) as { token?: string };
    if (!isThrough) await second.event('deleted', clientId, 5);
    if (token !== undefined && !isThrough) expect(await isGood(token)).toBe(false);
    if (!isThrough) await expectNothingLeft(clientId);
  }
  expect(seen).toContain('after POST /api/v2/guest-token/create');
  expect(seen).toContain('before POST /api/v2/data-app/dashboard-embeds');
});

it('a login at any moment of a deletion is refused and leaves nothing', async () => {
  const { event, granted, refused } = await start();
  const clientId = newTenant();
  await granted(sessionOf(clientId));
  let asked = 0;
  service.state.meddle = async () => {
    asked += 1;
    expect(await refused(sessionOf(clientId))).toMatchObject({ code: 'TENANT_SUSPENDED' });
  };
  await event('deleted', clientId, 1);
  expect(asked).toBeGreaterThanOrEqual(4);
  service.state.meddle = () => {};
  await expectNothingLeft(clientId);
});

/** Adds another process of the product to the ledger, which then shows no sign of life. */
const joinSilent = async () => {
  const { db } = service.ledger;
  const self = await joinProcesses(db, true);
  const fallSilent = async (): Promise<void> => {
    await db
      .updateTable('processes')
      .set({ beat_at: sql<Date>`now() - make_interval(secs => ${leastSilenceMs / 1000 + 1}::double precision)` })
      .where('process_id', '=', self.id())
      .execute();
  };
  return { ...service.ledger, self, fallSilent };
};

it('work of a live process is waited for; what a dead process held is released', async () => {
  const { send, event } = await start();
  const clientId = newTenant();
  const other = await joinSilent();
  const lease = await createLeases(other).take(`tenant/${other.refOf(clientId)}`);
  expect((await send('deleted', { clientId, occurredAt: momentOf(1) })).status).toBe(503);
  await other.fallSilent();
  expect(await service.ledger.self.beat(false)).toMatchObject({ dead: 0 });
  await service.ledger.self.beat(true);
  expect(await lease?.isHeld()).toBe(false);
  expect((await event('deleted', clientId, 1)).data).toMatchObject({ erasure: { isComplete: true } });
  expect(await other.self.beat(true)).toMatchObject({ wasDead: true });
  expect(await lease?.isHeld()).toBe(false);
  await expectNothingLeft(clientId);
});

it('a lease of a live process is waited for, one of a dead process is not; a dead process gets no lease', async () => {
  const { send, event } = await start();
  const clientId = newTenant();
  const other = await joinSilent();
  const works = createTenantLeases(other, { now: () => new Date() });
  let end = (): void => {};
  const isEnough = new Promise<void>((resolve) => {
    end = resolve;
  });
  let work = Promise.resolve();
  await new Promise<void>((begun) => {
    work = works.withLease(clientId, () => {
      begun();
      return isEnough;
    });
  });
  expect((await send('deleted', { clientId, occurredAt: momentOf(1) })).status).toBe(503);
  await other.fallSilent();
  await service.ledger.self.beat(true);
  expect((await event('deleted', clientId, 1)).data).toMatchObject({ erasure: { isComplete: true } });
  end();
  await work;
  await expect(works.withLease(clientId, async () => {})).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
  await expectNothingLeft(clientId);
});

it('the end of tokens is stored with the state, so the next process ends them if the first one dies', async () => {
  const gateway = await start();
  const clientId = newTenant();
  await gateway.granted(sessionOf(clientId));
  expect(await tokensOf(clientId)).toHaveLength(1);
  const other = await joinSilent();
  // Everything that the other process did before it died.
  await createTenantRecords(other, { now: () => new Date() }).note({
    kind: 'suspended',
    clientId,
    occurredAt: new Date(momentOf(1)),
  });
  expect([await tokensOf(clientId), await pendingOf(clientId)]).toEqual([[expect.anything()], 1]);
  await other.fallSilent();
  await service.ledger.self.beat(true);
  await noticed(() => tokensOf(clientId), []);
  await noticed(() => pendingOf(clientId), 0);
});

it('an interrupted deletion is finished by the next process, even if the hook is not sent again', async () => {
  const clientId = newTenant();
  const other = await joinSilent();
  await (await start()).granted(sessionOf(clientId));
  const noted = { kind: 'deleted', clientId, occurredAt: new Date(momentOf(1)) } as const;
  await createTenantRecords(other, { now: () => new Date() }).note(noted);
  await createLeases(other).take(`tenant/${other.refOf(clientId)}`);
  await other.fallSilent();
  await service.ledger.self.beat(true);
  await start();
  await noticed(() => boardsOf(clientId), []);
  await noticed(
    async () =>
      await service.ledger.db
        .selectFrom('tenants')
        .select('is_erasure_owed')
        .where('tenant_ref', '=', other.refOf(clientId))
        .execute(),
    [{ is_erasure_owed: false }],
  );
  await expectNothingLeft(clientId);
});

const deliveries = fc
  .array(fc.record({ kind: fc.constantFrom(...tenantEventKinds), at: fc.integer({ min: 0, max: 5 }) }), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      order: fc.shuffledSubarray([...events, ...events], {
        minLength: events.length,
        maxLength: events.length * 2,
      }),
      cuts: fc.array(fc.boolean(), { maxLength: 30 }),
    }),
  );
const expectState = async (
  gateway: Awaited<ReturnType<typeof start>>,
  clientId: string,
  events: readonly Happened[],
) => {
  const state = foldState(events);
  await noticed(
    async () => [state, (await gateway.ask(sessionOf(clientId))).status],
    [state, state === 'active' ? 200 : 403],
  );
  const [row] = await service.ledger.db
    .selectFrom('tenants')
    .select(['state', 'client_id', 'is_erasure_owed'])
    .where('tenant_ref', '=', service.ledger.refOf(clientId))
    .execute();
  expect(row).toEqual({
    state,
    client_id: state === 'deleted' ? null : clientId,
    is_erasure_owed: false,
  });
  if (state === 'deleted') await expectNothingLeft(clientId);
};
const withMissing = (events: readonly Happened[], order: readonly Happened[]) => [
  ...order,
  ...events.filter((event) => !order.includes(event)),
];

it('repeated, late, reordered and interrupted hooks: the state is that of the newest event', async () => {
  const gateway = await start();
  await fc.assert(
    fc.asyncProperty(deliveries, async ({ events, order, cuts }) => {
      const clientId = newTenant();
      let calls = 0;
      service.state.meddle = () => {
        calls += 1;
        if (cuts[calls] === true) throw new Error('cut');
      };
      for (const { kind, at } of withMissing(events, order)) await gateway.event(kind, clientId, at);
      service.state.meddle = () => {};
      await expectState(gateway, clientId, events);
    }),
    { seed: 20_261_121, numRuns: 5 },
  );
});

it('the same holds for two replicas at the same time, with logins in between', async () => {
  const [first, second] = [await start(), await start()];
  await fc.assert(
    fc.asyncProperty(deliveries, async ({ events, order }) => {
      const clientId = newTenant();
      const all = withMissing(events, order);
      await Promise.all([
        ...all.map(({ kind, at }, index) => (index % 2 === 0 ? first : second).event(kind, clientId, at)),
        ...[first, second].map((gateway) => gateway.ask(sessionOf(clientId))),
      ]);
      // A deletion may be refused while a login is running. `event` sends it again until it is accepted.
      await expectState(first, clientId, events);
      await expectState(second, clientId, events);
    }),
    { seed: 20_261_122, numRuns: 4 },
  );
});
