import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dashboardIdOf, encodeClientId } from '../../src/gateway/common/dashboard-id.js';
import { templateName } from '../../src/gateway/policy/schema.js';
import { analyst, manager, regional, startGateway } from './harness.js';
import { policyOf } from './policies.js';

describe('the id of a dashboard', () => {
  it('consists of template and client', () => {
    expect(dashboardIdOf('delays', 'LAX')).toBe('delays--LAX');
    expect(dashboardIdOf('delays', 'a/b c')).toBe('delays--a~2Fb~20c');
    expect(encodeClientId('é~')).toBe('~C3~A9~7E');
  });

  it('differs for every other template or client', () => {
    const template = fc.stringMatching(/^[a-b._-]{1,6}$/).filter((name) => templateName.safeParse(name).success);
    const client = fc.oneof(
      fc.stringMatching(/^[ab.~_2F-]{1,6}$/),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
    );
    fc.assert(
      fc.property(template, client, template, client, (template1, client1, template2, client2) => {
        const isSame = template1 === template2 && client1 === client2;
        expect(dashboardIdOf(template1, client1) === dashboardIdOf(template2, client2)).toBe(isSame);
        expect(dashboardIdOf(template1, client1)).toMatch(/^[A-Za-z0-9_.~-]+$/);
      }),
      { seed: 20_261_120, numRuns: 5000 },
    );
  });

  it('differs for all short templates and clients', () => {
    const wordsOf = (letters: readonly string[], length: number): string[] =>
      length === 0 ? [''] : wordsOf(letters, length - 1).flatMap((word) => ['', ...letters].map((each) => word + each));
    const templates = [...new Set(wordsOf(['a', '-', '.'], 4))].filter((name) => templateName.safeParse(name).success);
    const clients = [...new Set(wordsOf(['a', '-', '~', '2', 'é'], 4))].filter((name) => name !== '');
    const ids = templates.flatMap((template) => clients.map((client) => dashboardIdOf(template, client)));
    expect(ids.length).toBeGreaterThan(10_000);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is refused if it would be too long', async () => {
    const { refused, granted, upstream } = await startGateway();
    expect(await refused({ ...analyst, org_id: 'ü'.repeat(100) })).toMatchObject({ status: 403, code: 'NO_TENANT' });
    expect(upstream.calls).toEqual([]);
    await granted({ ...analyst, org_id: 'x'.repeat(247) });
    expect(await refused({ ...analyst, org_id: 'x'.repeat(248) })).toMatchObject({ code: 'NO_TENANT' });
  });
});

describe('an existing dashboard', () => {
  const own = { guestlist: { template: 'delays', clientId: 'LAX' } };
  const metrics = [{ name: 'Flights a day', metricId: 'm' }];
  const start = async (dashboard: { metadata?: unknown; metrics?: typeof metrics }) => {
    const started = await startGateway();
    for (const id of ['a', 'b', 'c']) {
      started.upstream.dashboards.set(id, { embedId: id, metadata: null, name: id, metrics });
    }
    const made = { embedId: 'delays--LAX', metadata: own, name: 'Delays', metrics, ...dashboard };
    started.upstream.dashboards.set('delays--LAX', made);
    return started;
  };

  it('is used after owner, template and metrics are verified, on any page of the list', async () => {
    const { granted, upstream } = await start({});
    await granted(analyst);
    expect(upstream.listings().map(({ query }) => query.pageNumber)).toEqual(['1', '2', '3']);
    await granted({ ...analyst, sub: 'other' });
    expect(upstream.created()).toHaveLength(1);
    expect(upstream.listings()).toHaveLength(3);
  });

  it.each([
    ['no metadata', { metadata: null }],
    ["another tool's metadata", { metadata: { owner: 'somebody' } }],
    ['the mark of another client', { metadata: { guestlist: { template: 'delays', clientId: 'ATL' } } }],
    ['the mark of another template', { metadata: { guestlist: { template: 'routes', clientId: 'LAX' } } }],
    ['a mark that is text', { metadata: { guestlist: 'delays--LAX' } }],
    ['no metrics', { metrics: [] }],
  ])('is refused with %s: nothing is minted or cached, and an error is logged', async (_, dashboard) => {
    const { refused, granted, upstream, lines } = await start(dashboard);
    for (let round = 0; round < 2; round += 1) {
      const answer = await refused(analyst);
      expect(answer).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
      expect(answer.headers.get('retry-after')).not.toBeNull();
      expect(answer.message).not.toContain('delays--LAX');
    }
    expect(upstream.mints()).toEqual([]);
    const loud = lines.filter(({ level, dashboardId }) => level === 50 && dashboardId === 'delays--LAX');
    expect(loud).toHaveLength(2);
    upstream.dashboards.delete('delays--LAX');
    await granted(analyst);
  });

  it('is refused if it is not among the embeds', async () => {
    const { refused, upstream, lines } = await startGateway();
    upstream.state.intercept = ({ path }) =>
      path.endsWith('dashboard-embeds') ? upstream.refusal(400, 'INVALID_DASHBOARD_ID') : undefined;
    expect(await refused(analyst)).toMatchObject({ status: 503 });
    expect(lines.some(({ reason }) => reason === 'dashboard-of-a-stranger')).toBe(true);
  });

  it('is listed once for many waiting clients after a restart', async () => {
    const { granted, upstream } = await startGateway();
    const airports = Array.from({ length: 40 }, (_, index) => `A${index}`);
    for (const clientId of airports) {
      const id = `delays--${clientId}`;
      const metadata = { guestlist: { template: 'delays', clientId } };
      upstream.dashboards.set(id, { embedId: id, metadata, name: 'Delays', metrics });
    }
    await Promise.all(airports.map((org_id) => granted({ ...analyst, org_id })));
    expect(upstream.listings().length).toBeLessThanOrEqual(21 * 2);
    expect(upstream.mints()).toHaveLength(40);
  });

  it('is verified again after the service reported that it does not fit', async () => {
    const { granted, refused, upstream, clock } = await start({});
    await granted(analyst);
    upstream.dashboards.delete('delays--LAX');
    clock.advance(3_000_000);
    upstream.state.intercept = ({ path }) =>
      path.endsWith('guest-token/create') ? upstream.refusal(400, 'DASHBOARD_PARAM_ERROR') : undefined;
    expect(await refused(analyst)).toMatchObject({ code: 'POLICY_UNDECIDED' });
    upstream.state.intercept = () => undefined;
    await granted(analyst);
    expect(upstream.dashboards.has('delays--LAX')).toBe(true);
  });
});

describe('provisioning that fails', () => {
  it('is retried at the next request', async () => {
    const { refused, granted, upstream } = await startGateway();
    upstream.state.intercept = ({ path }) =>
      path.endsWith('dashboard-embeds') ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
    expect(await refused(manager)).toMatchObject({ status: 503 });
    upstream.state.intercept = () => undefined;
    await granted(manager);
  });

  it('gives NO_TENANT if the service does not accept the client', async () => {
    const { refused, upstream } = await startGateway();
    upstream.state.intercept = () => upstream.refusal(400, 'CLIENT_ID_ERROR');
    expect(await refused(analyst)).toMatchObject({ status: 403, code: 'NO_TENANT' });
  });
});

describe('restrictions of metrics', () => {
  const restrict = (restrictions: object) =>
    startGateway({ policy: policyOf({ restrictions: [{ name: 'r', when: 'true', restrict: restrictions }] }) });

  it('name every metric of every granted dashboard', async () => {
    const { granted, upstream } = await restrict({ rls: { state: 'user.claims.region' }, appFilters: { Level: '3' } });
    await granted(regional);
    const metricIds = ['delays--SFO/m1', 'delays--SFO/m2', 'routes--SFO/m1', 'routes--SFO/m2'];
    expect(upstream.lastMint()).toMatchObject({
      params: {
        rlsSettings: metricIds.map((metricId) => ({ metricId, values: { state: 'CA' } })),
        appFilters: metricIds.map((metricId) => ({ metricId, values: { Level: 3 } })),
      },
    });
  });

  it('omit hidden metrics, and pass unknown names to the service, which refuses them', async () => {
    const hideMetrics = { delays: ['Average delay'], routes: ['template-metric-id'] };
    const { granted, upstream } = await restrict({ rls: { state: 'user.claims.region' }, hideMetrics });
    await granted(regional);
    const params = Object(upstream.lastMint()).params;
    expect(params.hideDashboardMetrics).toEqual([
      { dashboardId: 'delays--SFO', metricIds: ['delays--SFO/m2'] },
      { dashboardId: 'routes--SFO', metricIds: ['template-metric-id'] },
    ]);
    expect(params.rlsSettings.map(({ metricId }: { metricId: string }) => metricId)).toEqual([
      'delays--SFO/m1',
      'routes--SFO/m1',
      'routes--SFO/m2',
    ]);
  });

  it('leak 19: also restrict a metric that was added later', async () => {
    const { granted, upstream, clock } = await restrict({ appFilters: { State: 'user.claims.region' } });
    const { token } = await granted(regional);
    upstream.dashboards.get('delays--SFO')?.metrics.push({ name: 'New', metricId: 'new' });
    clock.advance(30_000);
    const later = await granted(regional);
    expect(later.token).not.toBe(token);
    expect(JSON.stringify(upstream.lastMint())).toContain('"new"');
  });

  it('are never omitted if the metrics cannot be listed', async () => {
    const { granted, refused, upstream, clock } = await restrict({ rls: { state: 'user.claims.region' } });
    await granted(regional);
    clock.advance(30_000);
    upstream.state.intercept = ({ path }) => (path.endsWith('/metrics') ? upstream.refusal(500, 'X') : undefined);
    expect(await refused({ ...regional, region: 'NV' })).toMatchObject({ status: 503 });
    expect(upstream.mints()).toHaveLength(1);
  });
});
