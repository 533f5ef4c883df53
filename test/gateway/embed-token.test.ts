import { describe, expect, it } from 'vitest';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { capabilityNames } from '../../src/model/capability.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import {
  analyst,
  createMovableClock,
  demoPolicy,
  manager,
  regional,
  sign,
  startGateway,
  startSeconds,
} from './harness.js';
import { changeablePolicies, policyOf } from './policies.js';

describe('POST /embed-token', () => {
  it("gives an analyst a token for their own tenant's copy of delays", async () => {
    const { ask, upstream } = await startGateway();
    const response = await ask(analyst);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).not.toBeNull();
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toEqual({
      token: 'guest-token-1',
      expiresAt: new Date((startSeconds + 3600) * 1000).toISOString(),
      refreshAfter: new Date((startSeconds + 3600 - 720) * 1000).toISOString(),
      embeds: [{ id: 'delays--LAX', name: 'Delays', type: 'dashboard' }],
      serviceUrl: 'http://service.test',
    });
    expect(upstream.created().map(({ body }) => body)).toEqual([
      {
        dashboardId: 'delays--LAX',
        clientId: 'LAX',
        workspaceName: 'flights',
        templateDashboardId: 'delays',
        isImportMetrics: true,
        metricImportMode: 'METRIC',
        name: 'Delays',
        isRenameDashboard: true,
        accessSettings: expect.objectContaining({ datamartName: 'flights', isAllowMetricCreation: false }),
        metadata: { guestlist: { template: 'delays', clientId: 'LAX' } },
      },
    ]);
    expect(upstream.lastMint()).toEqual({
      clientId: 'LAX',
      dataAppName: 'flights',
      params: { allowedEmbeds: ['delays--LAX'], userIdentifier: 'guestlist-demo|ann', timezone: 'UTC' },
      permissions: {
        isEnableArchiveMetrics: false,
        isEnableManageMetrics: false,
        isEnableCreateDashboardView: false,
        isEnableMetricUpdation: false,
        isEnableCustomizeLayout: false,
        isEnableUnderlyingData: false,
        isEnableDownloadMetrics: false,
        isShowSideBar: false,
        isShowDashboardName: true,
        isDisableMetricCreation: false,
      },
      expiryTime: 3_600_000,
    });
    expect(new Set(upstream.calls.map(({ bearer }) => bearer))).toEqual(new Set(['the-api-key']));
  });

  it('grants own dashboards at a service that knows them, and sends no other service what it would refuse', async () => {
    const accessSettings = { isAllowDashboardCreation: true };
    const grant = { templates: ['delays'], permissions: ['isEnableCreateDashboard'] };
    const policy = policyOf({
      templates: { delays: { name: 'Delays', accessSettings } },
      rules: [{ name: 'all', when: 'true', grant }],
    });
    for (const [names, isSent] of [
      [[], false],
      [capabilityNames, true],
    ] as const) {
      const { upstream: scripted, clock } = await startGateway();
      const { transport } = scripted;
      const capabilities = fixedCapabilities(names);
      const upstream = { transport, apiKey: 'k', baseUrl: 'http://service.test', capabilities };
      const { granted } = await startGateway({ upstream, clock, policies: changeablePolicies(policy) });
      await granted(analyst);
      const sent = [scripted.lastMint(), scripted.created()[0]?.body].map((body) => JSON.stringify(body));
      expect(sent[0]?.includes('"isEnableCreateDashboard":true')).toBe(isSent);
      expect(sent[1]?.includes('"isAllowDashboardCreation":true')).toBe(isSent);
      expect(
        sent.some((text) => text.includes('isEnableCreateDashboard"') || text.includes('DashboardCreation"')),
      ).toBe(isSent);
    }
  });

  it('gives a manager both dashboards, underlying data and downloads', async () => {
    const { granted, upstream } = await startGateway();
    const { embeds } = await granted(manager);
    expect(embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'routes--LAX']);
    expect(upstream.lastMint()).toMatchObject({
      permissions: { isEnableUnderlyingData: true, isEnableDownloadMetrics: true, isEnableManageMetrics: false },
    });
  });

  it('restricts every granted dashboard of a regional user', async () => {
    const { granted, upstream } = await startGateway();
    await granted({ ...regional, roles: ['analyst', 'manager', 'regional'] });
    const restriction = { values: { 'Destination state': 'CA' }, isShowOnUrl: true };
    expect(upstream.lastMint()).toMatchObject({
      params: {
        allowedEmbeds: ['delays--SFO', 'routes--SFO'],
        dashboardAppFilters: [
          { dashboardId: 'delays--SFO', ...restriction },
          { dashboardId: 'routes--SFO', ...restriction },
        ],
      },
    });
  });

  it('shows the values of the restrictions that say so, and hides the others', async () => {
    const restrict = (name: string, filters: object, more: object = {}) => ({
      name,
      when: 'true',
      restrict: { dashboardFilters: filters, ...more },
    });
    const restrictions = [
      restrict('shown', { State: '"CA"', Carrier: '["AA", "UA"]' }, { show: true }),
      restrict('hidden', { Carrier: '"AA"', Level: '3' }),
    ];
    const { granted, upstream } = await startGateway({ policies: changeablePolicies(policyOf({ restrictions })) });
    await granted(analyst);
    const dashboardAppFilters = ['delays--LAX', 'routes--LAX'].flatMap((dashboardId) => [
      { dashboardId, values: { Carrier: 'AA', Level: 3 }, isShowOnUrl: false },
      { dashboardId, values: { State: 'CA' }, isShowOnUrl: true },
    ]);
    expect(upstream.lastMint()).toMatchObject({ params: { dashboardAppFilters } });
  });

  it('denies a regional user without a region, and only the log says where', async () => {
    const { refused, lines, upstream } = await startGateway();
    const { region: _, ...claims } = regional;
    const answer = await refused(claims);
    expect(answer).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
    expect(answer.message).not.toMatch(/region|yaml/);
    expect(lines.at(-1)).toMatchObject({
      user: 'rea',
      tenant: 'SFO',
      code: 'POLICY_UNDECIDED',
      expression: 'user.claims.region',
      at: expect.stringMatching(/flights\.yaml:\d+:\d+$/),
      fault: 'no_such_key',
    });
    expect(upstream.calls).toEqual([]);
  });

  it.each([[['CA']], [7], [''], [{ like: 'CA' }], [null]])(
    'denies a regional user whose region is %j',
    async (region) => {
      const { refused, upstream } = await startGateway();
      expect(await refused({ ...regional, region })).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
      expect(upstream.calls).toEqual([]);
    },
  );

  it('gives a user without a role a neutral answer, and tells the developer the reason in the log', async () => {
    const { refused, lines } = await startGateway();
    const answer = await refused({ ...analyst, sub: 'nobody', roles: ['guest-of-the-house'] });
    const requestId = answer.headers.get('x-request-id') ?? '';
    expect(answer).toMatchObject({ status: 403, code: 'NO_POLICY', reason: 'no-policy', requestId });
    expect(answer.message).toBe(`You can't see these analytics. Ask your administrator. Reference: ${requestId}`);
    expect(JSON.stringify(answer)).not.toMatch(/yaml|analysts|rule|LAX|nobody/);
    const line = lines.at(-1);
    expect(line).toMatchObject({ event: 'token.denied', code: 'NO_POLICY', reason: 'no-policy', requestId });
    expect(line?.detail).toContain('user "nobody" with 1 role in tenant "LAX"');
    expect(line?.detail).toContain('flights.yaml');
    expect(line?.detail).toContain('"analysts see delays"');
    expect(JSON.stringify(line)).not.toContain('guest-of-the-house');
    const { roles: _, ...claims } = analyst;
    expect(await refused(claims)).toMatchObject({ code: 'NO_POLICY' });
  });

  it('names no rule, file, expression or tenant in any 403', async () => {
    const { refused, lines } = await startGateway();
    const { region: _, ...withoutRegion } = regional;
    const { org_id: __, ...withoutTenant } = analyst;
    const denied = [
      [await refused(withoutRegion), 'POLICY_UNDECIDED', 'expression-failed'],
      [await refused(withoutTenant), 'NO_TENANT', 'tenant-undecided'],
      [await refused(analyst, { tenant: 'ATL' }), 'NO_TENANT', 'tenant-not-own'],
      [await refused(analyst, { embeds: ['routes'] }), 'EMBED_NOT_GRANTED', 'embed-not-granted'],
    ] as const;
    for (const [answer, code, reason] of denied) {
      const { message, requestId } = answer;
      expect(answer).toMatchObject({ status: 403, code, reason });
      expect(message).toBe(`You can't see these analytics. Ask your administrator. Reference: ${requestId}`);
      const line = lines.find((one) => one.requestId === requestId);
      expect(line).toMatchObject({ code, reason, detail: expect.any(String) });
    }
    expect(lines.at(-1)?.detail).toContain('"delays--LAX"');
  });

  it('logs with which issuer and key a signature was verified that did not fit, and tells the caller nothing of it', async () => {
    const { refused, lines } = await startGateway();
    const { message } = await refused(sign({ ...analyst, iss: 'guestlist-demo' }, 'x'.repeat(40), { keyid: 'k7' }));
    expect(message).not.toMatch(/signature|guestlist-demo|k7/);
    expect(lines.find(({ code }) => code === 'SESSION_INVALID')).toMatchObject({
      reason: 'session-not-verified',
      cause:
        'token refused: not-verified (invalid signature); the signature was to fit issuer "guestlist-demo", with "HS256" and key id "k7"',
    });
  });

  it('answers 400 with the name of a claim that JSON may have rounded, and mints nothing', async () => {
    const { refused, upstream, lines } = await startGateway();
    for (const [claims, name] of [
      [{ ...analyst, org_id: 2 ** 53 }, 'org_id'],
      [{ ...regional, region: 2 ** 60 }, 'region'],
    ] as const) {
      const answer = await refused(claims);
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
      expect(answer.message).toContain(`claim "${name}": a whole number beyond 9007199254740991 must be sent as text`);
      expect(lines.at(-1)).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'claim-number-unsafe' });
    }
    expect(upstream.mints()).toHaveLength(0);
  });

  it('names no rule, file, expression or tenant in any 403', async () => {
    for (const code of ['APP_FILTER_PARAM_ERROR', 'RLS_SETTINGS_PARAM_ERROR', 'DASHBOARD_PARAM_ERROR']) {
      const { refused, upstream, lines } = await startGateway();
      upstream.state.intercept = ({ path }) =>
        path.endsWith('guest-token/create') ? upstream.refusal(400, code) : undefined;
      const answer = await refused(regional);
      expect(answer).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
      expect(answer.message).not.toContain(code);
      expect(lines.at(-1)).toMatchObject({ upstream: { code, status: 400 } });
      expect(upstream.mints()).toHaveLength(1);
    }
  });
});

describe('the log', () => {
  it('has one line per request with user, tenant, code and time, and neither token nor claims', async () => {
    const { granted, ask, lines } = await startGateway();
    const session = sign({ ...regional, secretClaim: 'very-private' });
    await granted(session);
    await ask('not-a-jwt');
    const requests = lines.filter(({ msg }) => msg === 'embed token');
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({ user: 'rea', tenant: 'SFO', code: 'OK', ms: expect.any(Number) });
    expect(requests[1]).toMatchObject({ code: 'SESSION_INVALID', reason: 'session-malformed' });
    const text = JSON.stringify(lines);
    for (const secret of [session, 'very-private', 'guest-token-1', 'the-api-key', '"CA"']) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('the log line of a cached answer', () => {
  it('names the request that minted its token; the line of a mint names none', async () => {
    const { ask, lines } = await startGateway();
    const ids: (string | null)[] = [];
    for (const claims of [analyst, analyst, { ...analyst, sub: 'bob' }]) {
      ids.push((await ask(claims)).headers.get('x-request-id'));
    }
    const answered = lines.filter(({ msg }) => msg === 'embed token');
    expect(answered.map(({ requestId, mintedBy }) => [requestId, mintedBy])).toEqual([
      [ids[0], undefined],
      [ids[1], ids[0]],
      [ids[2], undefined],
    ]);
  });
});

describe('leak 8: the policy hook runs only when a cache misses', () => {
  it('decides again at every request, with a cached token or not', async () => {
    const { granted, refused, upstream } = await startGateway();
    await granted(analyst);
    await granted(analyst);
    expect(upstream.mints()).toHaveLength(1);
    expect(await refused({ ...analyst, roles: [] })).toMatchObject({ code: 'NO_POLICY' });
  });
});

describe('leak 17: attribute changes in the identity never reach an existing tenant', () => {
  it('uses the claims of the current session', async () => {
    const { granted, upstream } = await startGateway();
    await granted(regional);
    await granted({ ...regional, region: 'NV' });
    expect(upstream.mints()).toHaveLength(2);
    expect(upstream.lastMint()).toMatchObject({
      params: { dashboardAppFilters: [{ values: { 'Destination state': 'NV' } }] },
    });
  });
});

describe('tokens are shared only by identical requests', () => {
  it('gives two users, two tenants and two selections separate tokens', async () => {
    const { granted } = await startGateway();
    const tokens = [
      await granted(manager),
      await granted({ ...manager, sub: 'other' }),
      await granted({ ...manager, org_id: 'ATL' }),
      await granted(manager, { embeds: ['routes--LAX'] }),
    ].map(({ token }) => token);
    expect(new Set(tokens).size).toBe(4);
    expect((await granted(manager)).token).toBe(tokens[0]);
  });

  it('are not shared between upstreams or API keys; policies share tokens of identical requests', async () => {
    const clock = createMovableClock();
    const cache = createMemoryCache({ clock });
    const first = await startGateway({ cache, clock });
    const other = { transport: first.upstream.transport, apiKey: 'the-api-key', baseUrl: 'http://service.test' };
    const { token } = await first.granted(analyst);
    const same = await startGateway({ cache, clock, upstream: other });
    expect((await same.granted(analyst)).token).toBe(token);
    const elsewhere = await startGateway({ cache, clock, upstream: { ...other, baseUrl: 'http://other.test' } });
    expect((await elsewhere.granted(analyst)).token).not.toBe(token);
    const rotated = await startGateway({ cache, clock, upstream: { ...other, apiKey: 'another-key' } });
    expect((await rotated.granted(analyst)).token).not.toBe(token);
    const edited = { ...demoPolicy, digest: 'of an edited file' };
    const later = await startGateway({ cache, clock, upstream: other, policy: edited });
    expect((await later.granted(analyst)).token).toBe(token);
    const shorter = await startGateway({ cache, clock, upstream: other, policy: { ...demoPolicy, expiryMinutes: 30 } });
    expect((await shorter.granted(analyst)).token).not.toBe(token);
  });
});

describe('leak 10: concurrent embeds on one page share one token', () => {
  it('gives each selection its own token, also at the same time', async () => {
    const { granted, upstream } = await startGateway();
    const asked = [{ embeds: ['delays'] }, { embeds: ['routes'] }, {}, { embeds: ['routes', 'delays'] }];
    const tokens = (await Promise.all(asked.map((body) => granted(manager, body)))).map(({ token }) => token);
    expect(new Set(tokens).size).toBe(3);
    expect(tokens[2]).toBe(tokens[3]);
    expect(upstream.mints()).toHaveLength(3);
  });
});

describe('equal grants', () => {
  it('make one request, whatever the order of the claims', async () => {
    const restrictions = [{ name: 'r', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } }];
    const { granted, upstream } = await startGateway({ policy: policyOf({ restrictions }) });
    await granted({ ...analyst, states: ['CA', 'NV'] });
    await granted({ states: ['NV', 'CA', 'NV'], ...analyst });
    expect(upstream.mints()).toHaveLength(1);
  });
});

describe('leak 15: a refresh gives the same expiring token', () => {
  it('replaces a token from refreshAfter on, and not earlier', async () => {
    const { granted, clock } = await startGateway();
    const session = sign({ ...analyst, exp: startSeconds + 100_000 });
    const first = await granted(session);
    clock.advance(Date.parse(first.refreshAfter) - clock.now().getTime() - 1);
    expect(await granted(session)).toEqual(first);
    clock.advance(1);
    const second = await granted(session);
    expect(second.token).not.toBe(first.token);
    expect(Date.parse(second.expiresAt)).toBe(clock.now().getTime() + 3_600_000);
  });

  it('replaces a token that is still cached', async () => {
    const clock = createMovableClock();
    const memory = createMemoryCache({ clock });
    const slow = { ...memory, set: (key: string, value: string) => memory.set(key, value, 10 ** 12) };
    const { granted } = await startGateway({ clock, cache: slow });
    const session = sign({ ...analyst, exp: startSeconds + 100_000 });
    const { token, refreshAfter } = await granted(session);
    clock.advance(Date.parse(refreshAfter) - clock.now().getTime());
    expect((await granted(session)).token).not.toBe(token);
  });

  it("keeps the configured minimum life, but never more than half of the token's life", async () => {
    const patient = await startGateway({ minimumLifeMs: 60_000 });
    const { expiresAt, refreshAfter } = await patient.granted(analyst);
    expect(Date.parse(expiresAt) - Date.parse(refreshAfter)).toBe(60_000);
    const greedy = await startGateway({ minimumLifeMs: 10 ** 9 });
    const answer = await greedy.granted(analyst);
    expect(Date.parse(answer.expiresAt) - Date.parse(answer.refreshAfter)).toBe(1_800_000);
  });
});

describe('the upstream fails', () => {
  const down = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7'));

  it('serves a valid cached token, and otherwise 503 with Retry-After', async () => {
    const { granted, refused, upstream, clock } = await startGateway();
    const session = sign({ ...analyst, exp: startSeconds + 100_000 });
    const first = await granted(session);
    upstream.state.intercept = down;
    expect(await granted(session)).toEqual(first);
    const other = await refused({ ...analyst, org_id: 'ATL' });
    expect(other).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
    expect(Number(other.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(other.message).not.toContain('10.0.0.7');
    clock.advance(3_600_000);
    expect(await refused(session)).toMatchObject({ status: 503 });
    upstream.state.intercept = () => undefined;
    expect((await granted(session)).token).toBe('guest-token-2');
  });

  it.each([401, 429, 500, 503])('calls an upstream that answers %i unavailable', async (status) => {
    const { refused, upstream } = await startGateway();
    upstream.state.intercept = () => upstream.refusal(status, 'AUTHENTICATION_ERROR');
    expect(await refused(analyst)).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('200 simultaneous first logins of one tenant', () => {
  it('create each dashboard once and mint one token', async () => {
    const { granted, upstream } = await startGateway();
    const answers = await Promise.all(Array.from({ length: 200 }, () => granted(manager)));
    expect(new Set(answers.map(({ token }) => token))).toEqual(new Set(['guest-token-1']));
    // They are created side by side, in either order.
    const created = upstream.created().map(({ body }) => Reflect.get(Object(body), 'dashboardId'));
    expect(created.toSorted()).toEqual(['delays--LAX', 'routes--LAX']);
    expect(upstream.mints()).toHaveLength(1);
  });

  it('mint one token for each of many users', async () => {
    const { granted, upstream } = await startGateway();
    const users = Array.from({ length: 200 }, (_, index) => ({ ...manager, sub: `user-${index % 20}` }));
    await Promise.all(users.map((user) => granted(user)));
    expect(upstream.created()).toHaveLength(2);
    expect(upstream.mints()).toHaveLength(20);
  });
});
