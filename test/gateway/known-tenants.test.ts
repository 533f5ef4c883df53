/** A policy that serves known tenants only: who is served, what is asked, and what an outage changes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { assertCanKnowTenants } from '../../src/gateway/tenant/known.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { unavailable } from '../../src/gateway/upstream/unavailable.js';
import { whole } from '../../src/model/slices.js';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { createFolder, datasourceAt } from '../engine/world.js';
import { manager, type Overrides, startGateway, startSeconds } from './harness.js';
import { createOwnService, type OwnService, servicePolicy } from './own-service.js';
import { policyOf } from './policies.js';
import { createSender, hookSecret } from './senders.js';

const path = '/api/v2/data-app/clients/names';
const user = (org_id: string, sub = 'ann') => ({ iss: 'guestlist-demo', sub, org_id, roles: ['analyst'] });
const known = { knownTenants: true };

describe('with a real database', () => {
  let service: OwnService;
  let folder: Awaited<ReturnType<typeof createFolder>>;
  beforeAll(async () => {
    service = await createOwnService();
    folder = await createFolder();
    const second = await folder.build('sales2', [
      'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
      "INSERT INTO clients VALUES ('second', NULL)",
      'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
    ]);
    const held = await service.store.datasources.findByName('warehouse-sales2');
    if (held === undefined) throw new Error('there is no datasource');
    await service.store.datasources.update({ ...held, ...datasourceAt(second), id: held.id, name: held.name });
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  const document = {
    ...{ dataApp: 'app', workspace: 'space', datamart: 'sales', ...known },
    templates: { delays: { name: 'Delays' } },
    onSignUp: ['delays'],
    rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }],
  };
  const start = async (more: object = {}) => {
    const hooks = { secrets: [hookSecret], toleranceSeconds: 300 };
    const { upstream, ledger } = service;
    return startGateway({ upstream, ledger, hooks, policy: policyOf({ ...document, ...more }) });
  };
  const boardsOf = async (clientId: string) =>
    (await whole(service.store.dashboards.listByWorkspace('w', service.api().dataAppId, null))).filter(
      ({ owner }) => owner?.clientId === clientId,
    );

  it('serves tenants of the table, and refuses another one before anything is made for it', async () => {
    const { granted, refused, lines } = await start();
    expect((await granted(user('a'))).embeds).toHaveLength(1);
    const stranger = 'unmistakable-stranger';
    const refusal = await refused(user(stranger));
    expect(refusal).toMatchObject({ status: 403, code: 'NO_TENANT', reason: 'tenant-not-in-table' });
    expect(refusal.message).not.toMatch(/unmistakable|sales|clients/);
    const { detail } = lines.find(({ event }) => event === 'token.denied') ?? {};
    expect(detail).toContain('Tenant "unmistakable-stranger" has no row in the table of tenants of datamart "sales"');
    expect(detail).toMatch(/knownTenants, test\.yaml:\d+:\d+.*Add its row/);
    expect(await boardsOf(stranger)).toEqual([]);
    expect(await service.dumpAll()).not.toContain(stranger);
  });

  it('compares ids byte by byte, as tokens do', async () => {
    const { refused } = await start();
    for (const other of ['A', 'a ', "a' OR 'a' = 'a", 'a%'])
      expect(await refused(user(other))).toMatchObject({ reason: 'tenant-not-in-table' });
  });

  it('serves every tenant if the policy does not ask for known ones', async () => {
    const { granted } = await startGateway({ ...service, policy: servicePolicy });
    expect((await granted(user('of-no-table'))).embeds).toHaveLength(2);
  });

  it.each([
    ['a datamart', { datamart: 'sales2' }],
    ['a datasource', { datasource: 'warehouse-sales2' }],
  ])('asks the table of the source that the token reads: %s', async (_, source) => {
    const rules = [{ name: 'all', when: 'true', grant: { templates: ['delays'], ...source } }];
    const { granted, refused } = await start({ rules });
    expect((await granted(user('second'))).embeds).toHaveLength(1);
    expect(await refused(user('a'))).toMatchObject({ reason: 'tenant-not-in-table' });
  });

  it('refuses a sign-up that comes before the row, so that its sender repeats it', async () => {
    const { url, clock, run } = await start();
    const send = createSender(url, clock.now);
    const occurredAt = new Date(startSeconds * 1000).toISOString();
    const early = await send('signed-up', { clientId: 'too-early', occurredAt });
    expect([early.status, early.error?.code, early.headers.get('retry-after')]).toEqual([
      503,
      'UPSTREAM_UNAVAILABLE',
      '5',
    ]);
    expect(early.error?.message).toMatch(/^clientId: Tenant "too-early" has no row .* Then repeat the event\.$/);
    expect(await boardsOf('too-early')).toEqual([]);
    expect((await send('signed-up', { clientId: 'b', occurredAt })).data).toMatchObject({ provisioned: 1 });
    expect(await run('tenants-provision', { clientIds: ['too-early'], isNew: true })).toMatchObject({
      tenants: [{ outcome: 'failed', reason: 'tenant-not-in-table', dashboards: [] }],
    });
  });
});

const start = async (overrides: Overrides = {}) => {
  const policy = policyOf(known);
  const started = await startGateway({ policy, capabilities: ['list-tenant-names'], ...overrides });
  const state = { rows: ['LAX'], isAway: false, column: 'main.airports.name' as string | null, asked: 0 };
  const answer = ({ body }: WireRequest) => {
    state.asked += 1;
    const { clientIds: ids } = body as { readonly clientIds: readonly string[] };
    const clientIds = state.isAway ? [] : ids.filter((id) => state.rows.includes(id));
    const data = { column: state.column, clientIds, names: [], isWhole: !state.isAway };
    return { status: 200, body: { data, error: null } };
  };
  started.upstream.state.intercept = (request) => (request.path === path ? answer(request) : undefined);
  const codeOf = async (...of: Parameters<typeof user>) => (await started.refused(user(...of))).code;
  return { ...started, state, codeOf };
};

describe('the questions to the table', () => {
  it('asks once for a new token, and never for a cached one', async () => {
    const { granted, state, clock } = await start();
    const { token } = await granted(user('LAX'));
    expect(state.asked).toBe(1);
    clock.advance(600_000);
    expect((await granted(user('LAX'))).token).toBe(token);
    expect(state.asked).toBe(1);
    await granted(user('LAX', 'bob'));
    expect(state.asked).toBe(2);
  });

  it('asks nothing for a cached token where a decision that reads the time is made anew', async () => {
    const rules = [{ name: 'all', when: 'now > timestamp(0)', grant: { templates: ['delays'] } }];
    const { granted, state, clock } = await start({ policy: policyOf({ ...known, rules }) });
    const { token } = await granted(user('LAX'));
    clock.advance(600_000);
    expect([(await granted(user('LAX'))).token, state.asked]).toEqual([token, 1]);
  });

  it('finds a new row after five seconds, and misses a removed one after a minute', async () => {
    const { granted, codeOf, state, clock } = await start();
    expect(await codeOf('SFO')).toBe('NO_TENANT');
    state.rows.push('SFO');
    expect([await codeOf('SFO'), state.asked]).toEqual(['NO_TENANT', 1]);
    clock.advance(5_000);
    await granted(user('SFO'));
    state.rows.pop();
    await granted(user('SFO', 'bob'));
    clock.advance(60_000);
    expect(await codeOf('SFO', 'eve')).toBe('NO_TENANT');
  });

  it('looks for a tenant anew after its erasure', async () => {
    const erased = {
      ...{ dashboards: 0, embeds: 0, metrics: 0, guestMetrics: 0, guestLayouts: 0, guestViews: 0, guestBoards: 0 },
      ...{ schedules: 0, guestTokens: 0 },
    };
    const { granted, run, state, upstream } = await start({ capabilities: ['list-tenant-names', 'erase-client'] });
    const answer = upstream.state.intercept;
    upstream.state.intercept = (request) =>
      request.path === '/api/v2/data-app/clients'
        ? { status: 200, body: { data: erased, error: null } }
        : answer(request);
    await granted(user('LAX'));
    const report = JSON.stringify(await run('tenant-delete', { clientId: 'LAX' }));
    expect(report).toContain("this gateway's memory");
    expect(state.asked).toBe(1);
  });
});

describe('while the table cannot be read', () => {
  it('serves a tenant that was known for an hour, and refuses an unknown one for now', async () => {
    const { granted, refused, codeOf, state, clock, lines } = await start();
    await granted(user('LAX'));
    expect(await codeOf('SFO')).toBe('NO_TENANT');
    state.isAway = true;
    clock.advance(61_000);
    await granted(user('LAX', 'bob'));
    const asked = state.asked;
    const refusal = await refused(user('SFO'));
    expect([refusal.status, refusal.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(refusal.headers.get('retry-after')).toBe('5');
    expect(refusal.message).not.toMatch(/SFO|flights/);
    // It was away a moment ago.
    expect(state.asked).toBe(asked);
    expect(lines.find(({ event }) => event === 'token.failed')).toMatchObject({
      reason: 'tenants-not-readable',
      cause: 'the table of tenants of datamart "flights" could not be read',
    });
    clock.advance(5_000);
    expect(await codeOf('SFO')).toBe('UPSTREAM_UNAVAILABLE');
    expect(state.asked).toBe(asked + 1);
    clock.advance(3_600_000);
    expect((await refused({ ...user('LAX', 'eve'), exp: startSeconds + 90_000 })).status).toBe(503);
    state.isAway = false;
    clock.advance(5_000);
    await granted({ ...user('LAX', 'eve'), exp: startSeconds + 90_000 });
  });
});

describe('a service that cannot say which tenants there are', () => {
  it('is refused at the start, with the line of the policy and what to do', async () => {
    const start = (policy: object) => assertCanKnowTenants(policyOf(policy), fixedCapabilities([]));
    await start({});
    const fault = await start(known).catch((error: unknown) => error);
    if (!(fault instanceof PolicyFaults)) throw fault;
    expect(fault.message).toMatch(/^test\.yaml:\d+:\d+: knownTenants: Not supported here/);
    expect(fault.message).toContain('name "list-tenant-names" in gateway.upstream.capabilities');
    await assertCanKnowTenants(policyOf(known), fixedCapabilities(['list-tenant-names']));
    const away = () => Promise.reject(unavailable('capabilities-unknown', new Error('no answer')));
    await assertCanKnowTenants(policyOf(known), { requireCapability: away });
  });

  it.each<[string, Overrides, string | null]>([
    ['it lacks the operation', { capabilities: [] }, 'main.airports.name'],
    ['the datamart has no table of tenants', {}, null],
  ])('denies every tenant, and the log says why: %s', async (_, overrides, column) => {
    const { refused, state, lines } = await start(overrides);
    state.column = column;
    expect(await refused(manager)).toMatchObject({ status: 403, reason: 'known-tenants-unsupported' });
    const line = lines.find(({ event }) => event === 'token.denied');
    expect(String(line?.cause)).toMatch(/^knownTenants of the policy cannot be checked: /);
  });

  it('denies where the service does not have the datamart, or leaves out the clients', async () => {
    const { refused, upstream } = await start();
    const answer = (status: number, body: object) => {
      upstream.state.intercept = (request) => (request.path === path ? { status, body } : undefined);
    };
    answer(400, { error: { code: 'INVALID_DATAMART', message: 'x', status: 400 } });
    expect(await refused(manager)).toMatchObject({ reason: 'known-tenants-unsupported' });
    answer(200, { data: { column: 'c', names: [], isWhole: true }, error: null });
    expect(await refused(manager)).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
  });
});
