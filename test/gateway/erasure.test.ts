/** Deletion of a tenant: how it depends on the upstream and the cache, and how operators start it. */

import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { auditEraser } from '../../src/gateway/audit/commands.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { dashboardIdOf } from '../../src/gateway/common/dashboard-id.js';
import { createErasure } from '../../src/gateway/erase/erasure.js';
import { createRevocationEraser } from '../../src/gateway/erase/revocation.js';
import { createUpstreamEraser } from '../../src/gateway/erase/upstream.js';
import { createTenantLeases } from '../../src/gateway/lease/tenant-lease.js';
import { createTenantLock, type TenantLock } from '../../src/gateway/lease/tenant-lock.js';
import { joinProcesses } from '../../src/gateway/ledger/processes.js';
import { createProvisionLedger } from '../../src/gateway/provision/ledger.js';
import { createRecipients } from '../../src/gateway/recipients.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import { tokenKeysOf } from '../../src/gateway/token/token.js';
import type { Capabilities } from '../../src/gateway/upstream/capabilities.js';
import { Refusal } from '../../src/model/refusal.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { createClient } from '../../src/platform/http/interface/client.js';
import { testSealer } from '../suites/sealer.js';
import {
  analyst,
  captureLog,
  createMovableClock,
  gatewayToken,
  manager,
  startGateway,
  startSeconds,
} from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createOwnService } from './own-service.js';
import { createScriptedUpstream } from './scripted-upstream.js';
import { createSender, hookSecret, sendUntilTaken } from './senders.js';

const body = { clientId: 'LAX', occurredAt: new Date(startSeconds * 1000 - 1000).toISOString() };
const hooks = { secrets: [hookSecret], toleranceSeconds: 300 };

/** A service of the interface with exactly the named capabilities. */
const foreign = (...can: readonly string[]) => {
  const upstream = createScriptedUpstream();
  upstream.state.intercept = ({ method, path, query }) => {
    const id = String(query.embedId ?? query.dashboardId);
    if (method !== 'DELETE') return undefined;
    if (path === '/api/v2/data-app/dashboards' && !can.includes('delete-dashboard')) return upstream.refusal(404, 'X');
    if (!upstream.dashboards.delete(id)) return upstream.refusal(400, 'INVALID_REQUEST_BODY');
    return { status: 200, body: { id, error: null } };
  };
  const requireCapability = async (name: string) => {
    if (!can.includes(name)) throw new Refusal('NOT_SUPPORTED', 'Not supported here.');
  };
  const capabilities: Capabilities = { supports: async (name) => can.includes(name), requireCapability };
  const { transport } = upstream;
  return {
    scripted: upstream,
    upstream: { transport, apiKey: 'k', baseUrl: 'http://foreign.test', capabilities },
  };
};

const start = async (overrides: Parameters<typeof startGateway>[0] = {}) => {
  const gateway = await startGateway({ hooks, ...overrides });
  const send = createSender(gateway.url, gateway.clock.now);
  const command = async (name: string, input: object) => {
    const response = await fetch(`${gateway.url}/gateway/admin/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      body: JSON.stringify(input),
    });
    return { status: response.status, ...((await response.json()) as { data: unknown }) };
  };
  return { ...gateway, send, command };
};

describe('an erasure at a service of another product', () => {
  it('without further capabilities deletes embeds and names what stays', async () => {
    const { scripted, upstream } = foreign();
    const { granted, send } = await start({ upstream });
    await granted(manager);
    await granted({ ...manager, org_id: 'SFO' });
    const { data } = await send('deleted', body);
    expect([...scripted.dashboards.keys()].toSorted()).toEqual([
      dashboardIdOf('delays', 'SFO'),
      dashboardIdOf('routes', 'SFO'),
    ]);
    expect(data?.erasure).toMatchObject({ isComplete: false });
    expect(data?.erasure?.steps.slice(0, 3)).toMatchObject([
      { where: 'guest tokens', erased: {}, left: [expect.stringContaining('until they expire')] },
      { where: 'holds', erased: { holds: 0 }, left: [] },
      {
        where: 'analytics service',
        erased: { embeds: 2 },
        left: [expect.stringContaining('dashboards beneath'), expect.stringContaining('what guests made')],
      },
    ]);
    const deletions = scripted.calls.filter(({ method }) => method === 'DELETE');
    expect(deletions.map(({ path }) => path)).toEqual(['/api/v2/data-app/embeds', '/api/v2/data-app/embeds']);
  });

  it('an erasure at a service that can delete dashboards deletes them with their embeds', async () => {
    const { scripted, upstream } = foreign('delete-dashboard');
    const { granted, send } = await start({ upstream });
    await granted(manager);
    const { data } = await send('deleted', body);
    expect(data?.erasure?.steps[2]).toMatchObject({ erased: { dashboards: 2 }, left: [expect.any(String)] });
    expect([...scripted.dashboards.keys()]).toEqual([]);
  });

  it('an erasure at a service with unknown capabilities is refused, and the sender tries again', async () => {
    const { upstream } = foreign();
    let isKnown = false;
    const requireCapability: Capabilities['requireCapability'] = async (name) => {
      if (isKnown) return upstream.capabilities.requireCapability(name);
      throw new Refusal('UPSTREAM_UNAVAILABLE', 'Try again.');
    };
    const { send } = await start({
      upstream: { ...upstream, capabilities: { ...upstream.capabilities, requireCapability } },
    });
    expect((await send('deleted', body)).status).toBe(503);
    isKnown = true;
    // The gateway goes on with the erasure by itself too, and holds the tenant's lock meanwhile.
    expect((await sendUntilTaken(send, 'deleted', body)).data).toMatchObject({
      state: 'deleted',
      erasure: { isComplete: false },
    });
  });
});

it('an erasure with an unavailable cache is not complete until the cache is available', async () => {
  const { upstream } = foreign();
  let isDown = true;
  const cache = createMemoryCache({ clock: createMovableClock() });
  const flaky = {
    ...cache,
    deleteByPrefix: async (prefix: string) => {
      if (isDown) throw new Error('down');
      return cache.deleteByPrefix(prefix);
    },
  };
  const { send, granted, refused, command } = await start({ upstream, cache: flaky });
  await granted(analyst);
  const cut = await send('deleted', body);
  expect([cut.status, cut.error?.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
  expect(await refused(analyst)).toMatchObject({ code: 'TENANT_SUSPENDED' });
  expect((await command('erasure-report', { clientId: 'LAX' })).data).toMatchObject({
    state: 'deleted',
    isErasureOwed: true,
    reports: [
      {
        finishedAt: null,
        isComplete: false,
        steps: [{ where: 'guest tokens' }, { where: 'holds' }, { where: 'analytics service' }],
      },
    ],
  });
  isDown = false;
  const done = await sendUntilTaken(send, 'deleted', body);
  expect(done.data?.erasure?.steps.slice(0, 4)).toMatchObject([
    {},
    { where: 'holds', erased: { holds: 0 } },
    // The sum of both attempts.
    { where: 'analytics service', erased: { embeds: 1 } },
    { where: 'token cache', erased: { tokens: 1 } },
  ]);
});

describe('an operator', () => {
  it('suspends, resumes and deletes a tenant, and reads the report of the erasure', async () => {
    const events: AuditEvent[] = [];
    const audit = { record: async (event: AuditEvent) => void events.push(event) };
    const { upstream } = foreign();
    const { command, granted, refused, clock } = await start({ upstream, audit });
    await granted(analyst);
    const change = async (name: string) => {
      clock.advance(1000);
      return (await command(name, { clientId: 'LAX' })).data;
    };
    expect(await change('tenant-suspend')).toEqual({ state: 'suspended', isApplied: true });
    expect(await refused(analyst)).toMatchObject({ code: 'TENANT_SUSPENDED' });
    expect(await change('tenant-resume')).toEqual({ state: 'active', isApplied: true });
    await granted(analyst);
    const deleted = (await change('tenant-delete')) as { erasure: unknown };
    expect((await command('erasure-report', { clientId: 'LAX' })).data).toEqual({
      state: 'deleted',
      isErasureOwed: false,
      reports: [deleted.erasure],
    });
    expect((await command('erasure-report', { clientId: 'SFO' })).data).toEqual({
      state: null,
      isErasureOwed: false,
      reports: [],
    });
    expect((await command('tenant-delete', {})).status).toBe(400);
    expect(
      events.filter(({ kind }) => kind === 'admin').map(({ clientId, detail }) => [clientId, detail?.state]),
    ).toEqual([
      ['LAX', 'suspended'],
      ['LAX', 'active'],
      [undefined, 'deleted'],
    ]);
  });
});

describe('the audit', () => {
  it('contains every accepted hook once, and no name of the erased tenant', async () => {
    const events: AuditEvent[] = [];
    const audit = { record: async (event: AuditEvent) => void events.push(event) };
    const { send } = await start({ audit, upstream: foreign().upstream });
    const at = (seconds: number) => ({ ...body, occurredAt: new Date(startSeconds * 1000 + seconds).toISOString() });
    await send('suspended', at(1));
    await send('resumed', at(2), { id: 'one' });
    await send('resumed', at(2), { id: 'one' });
    await send('resumed', at(3), { secret: 'whsec_bm90IHRoZSBzZWNyZXQgb2YgdGhpcyBob3N0' });
    await send('deleted', at(4));
    expect(events.filter(({ kind }) => ['hook', 'erasure'].includes(kind))).toEqual([
      {
        kind: 'hook',
        code: 'OK',
        requestId: expect.any(String),
        clientId: 'LAX',
        detail: { event: 'tenant-suspended', occurredAt: at(1).occurredAt, state: 'suspended', isApplied: true },
      },
      expect.objectContaining({ kind: 'hook', clientId: 'LAX', detail: expect.objectContaining({ state: 'active' }) }),
      {
        kind: 'erasure',
        code: 'OK',
        requestId: expect.any(String),
        detail: {
          event: 'tenant-deleted',
          occurredAt: at(4).occurredAt,
          state: 'deleted',
          isApplied: true,
          isComplete: false,
        },
      },
    ]);
  });

  it('if it is unavailable, the sender tries again, and the event is applied once more', async () => {
    let isDown = true;
    const audit = {
      record: async ({ kind }: AuditEvent) => {
        if (isDown && kind === 'hook') throw new Refusal('UPSTREAM_UNAVAILABLE', 'The audit cannot be written.');
      },
    };
    const { send } = await start({ audit });
    expect((await send('suspended', body, { id: 'one' })).status).toBe(503);
    isDown = false;
    expect((await send('suspended', body, { id: 'one' })).data).toEqual({ state: 'suspended', isApplied: true });
  });
});

/** A process that counts as dead while it holds the lock of LAX, which another process has taken since. */
const withLostLock = async (
  work: (ledger: Awaited<ReturnType<typeof openTestLedger>>, lock: TenantLock, later: TenantLock) => Promise<void>,
) => {
  const ledger = await openTestLedger();
  const stale = { ...ledger, self: await joinProcesses(ledger.db, true) };
  const tenantRef = ledger.refOf('LAX');
  await createTenantLock(stale)(tenantRef, async (lock) => {
    const own = ledger.db.updateTable('processes').set({ beat_at: new Date(0) });
    await own.where('process_id', '=', stale.self.id()).execute();
    await ledger.self.beat(true);
    await createTenantLock(ledger)(tenantRef, (later) => work(stale, lock, later));
  });
};

it('an eraser that was taken for dead and goes on late deletes nothing of a new sign-up at the service', async () => {
  const service = await createOwnService();
  onTestFinished(service.close);
  const { transport, apiKey } = service.upstream;
  const ofGateway = (gateway: string) =>
    createUpstreamEraser({
      upstream: createClient((request, signal) => transport({ ...request, gateway }, signal), apiKey),
      requireCapability: async () => {},
    });
  const eraser = ofGateway('one');
  await withLostLock(async (ledger, late, current) => {
    const subject = { clientId: 'LAX', tenantRef: ledger.refOf('LAX') };
    const signUp = () => service.clone('delays', 'delays--LAX', 'LAX');
    await signUp();
    expect((await eraser.erase(subject, current)).erased).toMatchObject({ dashboards: 1 });
    await signUp();
    await expect(eraser.erase(subject, late)).rejects.toMatchObject({ reason: 'erasure-refused' });
    // Who holds the lock may repeat the call, and other gateways count for themselves.
    expect((await eraser.erase(subject, current)).erased).toMatchObject({ dashboards: 1 });
    await signUp();
    expect((await ofGateway('two').erase(subject, late)).erased).toMatchObject({ dashboards: 1 });
  });
});

it('a late eraser that empties the cache of tokens keeps nobody of a new sign-up out', async () => {
  const cache = createMemoryCache({ clock: createMovableClock() });
  const { granted } = await start({ upstream: foreign().upstream, cache });
  await granted(analyst);
  expect(await cache.deleteByPrefix(tokenKeysOf('LAX'))).toBe(1);
  await granted(analyst);
});

it('a process that was taken for dead erases nothing of a tenant that may have signed up again', async () => {
  await withLostLock(async (ledger, lock) => {
    const clock = createMovableClock();
    const { log } = captureLog();
    const subject = { clientId: 'LAX', tenantRef: ledger.refOf('LAX') };
    const audit = createAudit({ ledger, clock, log });
    await audit.record({ kind: 'denial', code: 'NO_POLICY', clientId: 'LAX' });
    await audit.close();
    const keys = () =>
      ledger.db.selectFrom('tenant_keys').where('tenant_ref', '=', subject.tenantRef).selectAll().execute();
    const before = await keys();
    expect(before).toHaveLength(1);
    const revoke = () => Promise.reject(new Error('nothing is revoked'));
    const erasure = createErasure({ ledger, erasers: [], leases: createTenantLeases(ledger, clock), clock });
    const recipients = createRecipients({ ledger, sealer: testSealer, keepDays: 1, clock });
    for (const late of [
      () => auditEraser(ledger).erase(subject, lock),
      () => createRevocationEraser(ledger, { revoke }).erase(subject, lock),
      () => recipients.eraser.erase(subject, lock),
      () => createProvisionLedger(ledger).erase(subject.tenantRef, lock),
      () => createRolloutLedger(ledger, clock).under(lock).forgetTenant(subject.tenantRef),
      () => erasure.run(subject, clock.now(), lock, { where: 'guest tokens', erased: { erased: {} } }),
      () => lock.assertHeld(),
    ])
      await expect(late()).rejects.toMatchObject({ reason: 'tenant-lock-lost' });
    expect(await keys()).toEqual(before);
    expect(await erasure.list(subject.tenantRef)).toEqual([]);
  });
});
