import { describe, expect, it } from 'vitest';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { capabilityNames } from '../../src/model/capability.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { analyst, createMovableClock, manager, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { policyOf } from './policies.js';

const isCreate = ({ path }: WireRequest): boolean => path.endsWith('/dashboard-embeds');
const isOf = (request: WireRequest, template: string): boolean =>
  isCreate(request) && JSON.stringify(request.body).includes(`"templateDashboardId":"${template}"`);

const templates = {
  delays: { name: 'Delays' },
  routes: { name: 'Routes', provisioning: 'best-effort' },
  'third-one': { name: 'Third', provisioning: 'best-effort' },
};

describe('a best-effort template that cannot be created', () => {
  const start = async () => {
    const policy = policyOf({ templates });
    const ledger = await openTestLedger();
    const started = await startGateway({ policy, ledger });
    started.upstream.state.intercept = (request) =>
      isOf(request, 'routes') ? started.upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
    return { ...started, policy, ledger };
  };
  const tries = (calls: readonly WireRequest[]): number => calls.filter((request) => isOf(request, 'routes')).length;

  it('is left out of the answer and the token, and is in log and audit', async () => {
    const { granted, upstream, lines, ledger } = await start();
    expect((await granted(analyst)).embeds).toEqual([{ id: 'delays--LAX', name: 'Delays', type: 'dashboard' }]);
    expect(upstream.lastMint()).toMatchObject({ params: { allowedEmbeds: ['delays--LAX'] } });
    expect(lines).toContainEqual(expect.objectContaining({ template: 'routes', reason: 'provisioning-refused' }));
    const audited = await ledger.db.selectFrom('audit_events').select(['kind', 'content']).execute();
    const steps = audited.filter(({ kind }) => kind === 'provision').map(({ content }) => content);
    expect(steps.some((content) => content.includes('provisioning-refused') && content.includes('routes'))).toBe(true);
    expect(steps.some((content) => content.includes('created') && content.includes('delays'))).toBe(true);
    expect(steps.join()).not.toContain('LAX');
  });

  it('is tried again later, with growing delays, also by another process', async () => {
    const { granted, upstream, clock, policy, ledger } = await start();
    await granted(analyst);
    await granted(analyst);
    expect(tries(upstream.calls)).toBe(1);
    const other = await startGateway({ policy, ledger, clock });
    await other.granted(analyst);
    expect(tries(other.upstream.calls)).toBe(0);
    clock.advance(5_000);
    await granted(analyst);
    expect(tries(upstream.calls)).toBe(2);
    clock.advance(5_000);
    await granted(analyst);
    expect(tries(upstream.calls)).toBe(2);
    upstream.state.intercept = () => undefined;
    clock.advance(5_000);
    expect((await granted(analyst)).embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'routes--LAX']);
  });

  it('fails the request if it is the only one requested, or if a required one fails too', async () => {
    const { refused, granted, upstream } = await start();
    expect((await refused(analyst, { embeds: ['routes'] })).status).toBe(503);
    upstream.state.intercept = (request) =>
      isCreate(request) ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
    expect((await refused(analyst)).status).toBe(503);
    expect(upstream.mints()).toEqual([]);
    upstream.state.intercept = () => undefined;
    await granted(analyst);
  });

  it('is not retried for a refusal of the client id as if it were temporary', async () => {
    const { refused, upstream } = await start();
    upstream.state.intercept = (request) => (isCreate(request) ? upstream.refusal(400, 'CLIENT_ID_ERROR') : undefined);
    expect(await refused(analyst, { embeds: ['routes'] })).toMatchObject({ status: 403, code: 'NO_TENANT' });
  });
});

describe('a dashboard that the ledger lists as verified', () => {
  const start = async () => {
    const clock = createMovableClock();
    const shared = { ledger: await openTestLedger(), cache: createMemoryCache({ clock }), clock };
    const first = await startGateway(shared);
    const { token } = await first.granted(manager);
    return { shared, token, first };
  };

  it('needs no call after a restart, even while the upstream is down', async () => {
    const { shared, token } = await start();
    const second = await startGateway(shared);
    second.upstream.state.intercept = () => second.upstream.refusal(503, 'X');
    expect((await second.granted(manager)).token).toBe(token);
    expect(second.upstream.calls).toEqual([]);
  });

  it.each([
    ['another data app', { dataApp: 'other' }, {}],
    ['another workspace', { workspace: 'other' }, {}],
    ['another upstream', {}, { baseUrl: 'http://other.test' }],
    ['another key', {}, { apiKey: 'another-key' }],
  ])('is verified again with %s', async (_, change, upstreamChange) => {
    const { shared } = await start();
    const { createScriptedUpstream } = await import('./scripted-upstream.js');
    const upstream = createScriptedUpstream();
    const at = { transport: upstream.transport, apiKey: 'the-api-key', baseUrl: 'http://service.test' };
    const policy = policyOf(change);
    const same = await startGateway({ ...shared, policy: policyOf({ dataApp: 'flights' }) });
    await same.granted(manager);
    expect(same.upstream.created()).toEqual([]);
    const second = await startGateway({ ...shared, policy, upstream: { ...at, ...upstreamChange } });
    await second.granted(manager);
    expect(upstream.created()).toHaveLength(2);
  });

  it('has the name of the current policy', async () => {
    const { shared } = await start();
    const policy = policyOf({ templates: { ...templates, delays: { name: 'Lateness' } } });
    const { granted, upstream } = await startGateway({ ...shared, policy });
    expect((await granted(manager)).embeds[0]).toEqual({ id: 'delays--LAX', name: 'Lateness', type: 'dashboard' });
    expect(upstream.created()).toEqual([]);
  });

  it('is refused if the ledger is unavailable, unless this process has it cached', async () => {
    const { shared, first } = await start();
    const { ledger } = shared;
    await ledger.db.schema.alterTable('dashboards').renameTo('dashboards_away').execute();
    try {
      await first.granted(manager);
      expect((await first.refused({ ...manager, org_id: 'ATL' })).code).toBe('UPSTREAM_UNAVAILABLE');
      const second = await startGateway(shared);
      expect((await second.refused(manager)).code).toBe('UPSTREAM_UNAVAILABLE');
      expect(second.upstream.calls).toEqual([]);
    } finally {
      await ledger.db.schema.alterTable('dashboards_away').renameTo('dashboards').execute();
    }
  });

  it('is kept if the tenant has removed its content', async () => {
    const capabilities = fixedCapabilities(capabilityNames);
    const { upstream: scripted, clock } = await startGateway();
    const upstream = { transport: scripted.transport, apiKey: 'k', baseUrl: 'http://service.test', capabilities };
    const { granted, refused } = await startGateway({ upstream, clock });
    await granted(analyst);
    for (const dashboard of scripted.dashboards.values()) dashboard.metrics = [];
    clock.advance(3_000_000);
    scripted.state.intercept = ({ path }) =>
      path.endsWith('guest-token/create') ? scripted.refusal(400, 'DASHBOARD_PARAM_ERROR') : undefined;
    await refused(analyst);
    scripted.state.intercept = () => undefined;
    await granted(analyst);
    expect(scripted.calls.filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(scripted.created()).toHaveLength(2);
  });
});
