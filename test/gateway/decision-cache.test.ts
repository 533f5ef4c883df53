/** The decision cache: if any input of a decision changes, the decision is made again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { createDecisionCache, type Decision } from '../../src/gateway/decision-cache.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import { systemClock } from '../../src/platform/work/time.js';
import {
  analyst,
  gatewayToken,
  hostSecret,
  type Overrides,
  sign,
  startGateway,
  startSeconds,
  usualLimits,
} from './harness.js';
import { basePolicy, changeablePolicies, policyOf } from './policies.js';
import { createScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.js';

const rule = (name: string, when: string, templates: readonly string[], more: object = {}) => ({
  name,
  when,
  grant: { templates, ...more },
});
const orgs = { ...basePolicy.session, tenant: 'has(claims.orgs) ? claims.orgs : [claims.org_id]' };
const lasting = { iat: startSeconds, exp: startSeconds + 100_000 };
const ann = sign({ ...analyst, ...lasting });

/** Starts a gateway and requests Ann's token twice, so that her decision is cached. */
const startCached = async (policy: Policy, overrides: Overrides = {}) => {
  const policies = changeablePolicies(policy);
  const upstream = createScriptedUpstream();
  const capabilities = fixedCapabilities(['revoke-guest-tokens', 'list-guest-tokens']);
  const called = { ...{ transport: upstream.transport, apiKey: 'key', baseUrl: 'http://service.test' }, capabilities };
  const started = await startGateway({ policies, upstream: called, ...overrides });
  const admin = async (command: string, input: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body: JSON.stringify(input) };
    return (await fetch(`${started.url}/gateway/admin/${command}`, options)).json();
  };
  const tokenOf = async (claims: object | string, body?: object) => (await started.granted(claims, body)).token;
  const first = await tokenOf(ann);
  expect(await tokenOf(ann)).toBe(first);
  return { ...started, upstream, policies, admin, tokenOf, first };
};

/**
 * Moves the clock by half a minute, so that the gateway asks the service again. A request at 29 s makes the gateway
 * compare its copy of the token with the shared cache (every five seconds), so it does not do that at the same moment.
 */
const untilOld = async (
  { clock }: Pick<Awaited<ReturnType<typeof startCached>>, 'clock'>,
  ask: () => Promise<void>,
) => {
  clock.advance(29_000);
  await ask();
  clock.advance(1_000);
};

const failRoutes = (upstream: ScriptedUpstream): void => {
  upstream.state.intercept = ({ path, body }) =>
    path.endsWith('dashboard-embeds') && Reflect.get(Object(body), 'templateDashboardId') === 'routes'
      ? upstream.refusal(500, 'INTERNAL_SERVER_ERROR')
      : undefined;
};
const bestEffort = policyOf({
  templates: { ...basePolicy.templates, routes: { name: 'Routes', provisioning: 'best-effort' } },
});

describe('a cached decision applies only to', () => {
  it('one user of one issuer, with the claims that the policy reads', async () => {
    const policy = policyOf({
      restrictions: [{ name: 'own', when: 'true', restrict: { dashboardFilters: { S: 'user.claims.states' } } }],
    });
    const own = { ...analyst, ...lasting, states: ['CA', 'NY'] };
    const { tokenOf } = await startCached(policyOf()).then(async (started) => {
      await started.policies.change(policy);
      return started;
    });
    const others = [
      own,
      { ...own, states: ['CA'] },
      { ...own, states: ['CA,NY'] },
      { ...own, sub: 'bob' },
      { ...own, org_id: 'SFO' },
      sign({ ...own, iss: 'https://host.example', aud: 'guestlist' }, hostSecret),
    ];
    const tokens: string[] = [];
    for (const claims of others) tokens.push(await tokenOf(claims));
    expect(new Set(tokens).size).toBe(others.length);
    // No expression can read these claims, so a new session of the same user is answered from the cache.
    expect(await tokenOf({ ...own, jti: 'another', iat: startSeconds - 1 })).toBe(tokens[0]);
    for (const [index, claims] of others.entries()) expect(await tokenOf(claims)).toBe(tokens[index]);
  });

  it('a cached decision applies only to one body', async () => {
    const requested = rule('all', 'true', ['delays', 'routes'], { timezone: 'request' });
    const { tokenOf, granted } = await startCached(policyOf({ session: orgs, rules: [requested] }));
    const both = sign({ ...analyst, ...lasting, orgs: ['LAX', 'SFO'] });
    const bodies = [{ tenant: 'LAX' }, { tenant: 'SFO' }];
    const asked = [
      ...bodies,
      ...bodies.map((body) => ({ ...body, embeds: ['delays'] })),
      ...bodies.map((body) => ({ ...body, timezone: 'Asia/Kolkata' })),
    ];
    const tokens: string[] = [];
    for (const body of asked) tokens.push(await tokenOf(both, body));
    expect(new Set(tokens).size).toBe(asked.length);
    for (const [index, body] of asked.entries()) expect(await tokenOf(both, body)).toBe(tokens[index]);
    expect((await granted(both, { tenant: 'SFO', embeds: ['routes'] })).embeds).toEqual([
      { id: 'routes--SFO', name: 'Routes', type: 'dashboard' },
    ]);
  });

  it('a cached decision applies only to one policy', async () => {
    const { tokenOf, granted, policies, first } = await startCached(policyOf());
    await policies.change(policyOf({ rules: [rule('all', 'true', ['routes'])] }));
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['routes--LAX']);
    expect(await tokenOf(ann)).not.toBe(first);
  });

  it('one policy, even if the next policy reads the tenant from another claim', async () => {
    const { granted, policies } = await startCached(policyOf());
    const region = { ...analyst, region: 'SFO', ...lasting };
    expect((await granted(region)).embeds[0]?.id).toBe('delays--LAX');
    await policies.change(policyOf({ session: { ...basePolicy.session, tenant: 'claims.region' } }));
    expect((await granted(region)).embeds[0]?.id).toBe('delays--SFO');
  });

  it('one policy, even if the next policy ends none of its tokens', async () => {
    const { granted, policies } = await startCached(policyOf({ rules: [rule('all', 'true', ['delays'])] }));
    await policies.change(policyOf());
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'routes--LAX']);
  });
});

describe('a cached decision is made again', () => {
  it('after a revocation that affects it, and not after others', async () => {
    const { tokenOf, admin, first } = await startCached(policyOf());
    await admin('revoke', { by: 'tenant', tenant: 'SFO', reason: 'r' });
    expect(await tokenOf(ann)).toBe(first);
    await admin('revoke', { by: 'tenant', tenant: 'LAX', reason: 'r' });
    expect(await tokenOf(ann)).not.toBe(first);
  });

  it("only for a new session, if the user's sessions were ended", async () => {
    const { tokenOf, refused, admin, clock, first } = await startCached(policyOf());
    await admin('revoke', { by: 'user', subject: 'ann', issuer: 'guestlist-demo', reason: 'r' });
    clock.advance(10_000);
    const later = sign({ ...analyst, ...lasting, iat: startSeconds + 10 });
    expect(await tokenOf(later)).not.toBe(first);
    expect(await refused(ann)).toMatchObject({ code: 'SESSION_INVALID' });
  });

  it('while its tenant is suspended, and then denied', async () => {
    const { tokenOf, refused, admin, clock, first } = await startCached(policyOf());
    await admin('tenant-suspend', { clientId: 'LAX' });
    expect(await refused(ann)).toMatchObject({ code: 'TENANT_SUSPENDED' });
    clock.advance(1_000);
    await admin('tenant-resume', { clientId: 'LAX' });
    expect(await tokenOf(ann)).not.toBe(first);
  });

  it('when its token will expire soon, and not earlier', async () => {
    const { tokenOf, clock, first } = await startCached(policyOf());
    clock.advance(48 * 60_000 - 1);
    expect(await tokenOf(ann)).toBe(first);
    clock.advance(1);
    expect(await tokenOf(ann)).not.toBe(first);
  });

  it('when a dashboard that it restricts has other metrics', async () => {
    const policy = policyOf({
      rules: [rule('all', 'true', ['delays'])],
      restrictions: [{ name: 'own', when: 'true', restrict: { rls: { state: '"CA"' } } }],
    });
    const started = await startCached(policy);
    const { tokenOf, upstream, first } = started;
    const dashboard = upstream.dashboards.get('delays--LAX');
    if (dashboard === undefined) throw new Error('there is no dashboard');
    dashboard.metrics = [...dashboard.metrics, { name: 'New', metricId: 'new' }];
    await untilOld(started, async () => expect(await tokenOf(ann)).toBe(first));
    expect(await tokenOf(ann)).not.toBe(first);
    expect(upstream.lastMint()).toMatchObject({
      params: { rlsSettings: expect.arrayContaining([{ metricId: 'new', values: { state: 'CA' } }]) },
    });
  });

  it('when an embed that it grants was deleted', async () => {
    const upstream = createScriptedUpstream();
    upstream.dashboards.set('board', { embedId: 'board', metadata: null, name: 'Board', metrics: [] });
    const called = { transport: upstream.transport, apiKey: 'key', baseUrl: 'http://service.test' };
    const policy = policyOf({ rules: [rule('all', 'true', [], { embeds: ['board'] })] });
    const started = await startCached(policy, { upstream: called });
    const { refused, tokenOf, first } = started;
    upstream.dashboards.delete('board');
    await untilOld(started, async () => expect(await tokenOf(ann)).toBe(first));
    expect(await refused(ann)).toMatchObject({ code: 'POLICY_UNDECIDED' });
  });

  it('when a dashboard that was left out can be created', async () => {
    const upstream = createScriptedUpstream();
    failRoutes(upstream);
    const called = { transport: upstream.transport, apiKey: 'key', baseUrl: 'http://service.test' };
    const { granted, clock } = await startCached(bestEffort, { upstream: called });
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--LAX']);
    upstream.state.intercept = () => undefined;
    clock.advance(61_000);
    await granted({ ...analyst, ...lasting, sub: 'bob' });
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'routes--LAX']);
  });

  it('when a dashboard that was left out was created while its token was minted', async () => {
    const { granted, clock, upstream } = await startGateway({ policy: bestEffort });
    failRoutes(upstream);
    upstream.state.beforeAnswer = async ({ path }) => {
      if (!path.endsWith('guest-token/create')) return;
      upstream.state.beforeAnswer = () => undefined;
      upstream.state.intercept = () => undefined;
      clock.advance(61_000);
      await granted({ ...analyst, ...lasting, sub: 'bob' });
    };
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--LAX']);
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'routes--LAX']);
  });

  it('when the service reports that a dashboard does not fit', async () => {
    const { refused, upstream } = await startCached(policyOf());
    upstream.state.intercept = ({ path }) =>
      path.endsWith('guest-token/create') ? upstream.refusal(400, 'DASHBOARD_PARAM_ERROR') : undefined;
    await refused({ ...analyst, ...lasting, sub: 'bob' });
    const dashboard = upstream.dashboards.get('delays--LAX');
    if (dashboard === undefined) throw new Error('there is no dashboard');
    dashboard.metadata = { guestlist: { template: 'delays', clientId: 'SFO' } };
    expect(await refused(ann)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  it('at every request if the policy reads the time', async () => {
    // The decision changes within a minute, so that it does not end together with its tokens.
    const { refused, clock } = await startCached(policyOf({ rules: [rule('a', 'now.getSeconds() < 3', ['delays'])] }));
    clock.advance(3_000);
    expect(await refused(ann)).toMatchObject({ code: 'NO_POLICY' });
  });

  it('when the tenant table gives its user another tenant', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guestlist-decisions-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (tenant: string): void => writeFileSync(join(folder, 't.csv'), `key,tenant\nLAX,${tenant}\n`);
    write('LAX');
    const session = { ...basePolicy.session, tenant: { key: 'claims.org_id', table: 't.csv' } };
    const policy = loadPolicy(JSON.stringify({ ...basePolicy, session }), join(folder, 'policy.yaml'));
    const { granted } = await startCached(policy);
    write('SFO');
    if (policy.tenant.by === 'table') await policy.tenant.table.reload();
    expect((await granted(ann)).embeds.map(({ id }) => id)).toEqual(['delays--SFO', 'routes--SFO']);
  });
});

describe('a request with a cached decision', () => {
  it('counts against the limits, and needs a valid session', async () => {
    const settings = {
      userPerMinute: 4,
      tenantPerMinute: null,
      failedSessionsPerMinute: null,
      failedCredentialsPerMinute: usualLimits.failedCredentialsPerMinute,
      trustedProxies: 0,
    };
    const limits = { settings, limiters: createMemoryLimiters({ clock: systemClock }) };
    const { ask, refused, clock } = await startCached(policyOf(), { limits });
    expect([(await ask(ann)).status, (await ask(ann)).status]).toEqual([200, 200]);
    expect(await refused(ann)).toMatchObject({ code: 'RATE_LIMITED' });
    clock.advance(100_000_000);
    expect(await refused(ann)).toMatchObject({ code: 'SESSION_INVALID' });
  });

  it('is recorded, so that its token is found when the policy changes', async () => {
    const { tokenOf, policies, upstream, first } = await startCached(policyOf());
    // The policy reads both of these claims, but not the next one.
    const withMore = { ...analyst, ...lasting, tier: 'gold' };
    expect(await tokenOf(withMore)).toBe(first);
    const claims = { ...basePolicy.session.claims, tier: 'string' };
    const rules = [rule('gold', 'has(user.claims.tier)', ['delays', 'routes'])];
    await policies.change(policyOf({ session: { ...basePolicy.session, claims }, rules }));
    expect(upstream.isLive(first)).toBe(true);
  });

  it('leaves nothing in memory after its tenant is erased', async () => {
    const { admin, granted } = await startCached(policyOf());
    await granted({ ...analyst, ...lasting, org_id: 'SFO' });
    const { data } = Object(await admin('tenant-delete', { clientId: 'LAX' }));
    const { erased } = data.erasure.steps.find(({ where }: { where: string }) => where === "this gateway's memory");
    // The entries are: the decision, its token, the token's own entry, the tenant's status, and the names of its
    // revocations.
    expect(erased).toEqual({ entries: 5 });
  });

  it('is logged like any other, with the request that minted its token', async () => {
    const { lines } = await startCached(policyOf());
    const [minted, kept] = lines.filter(({ msg }) => msg === 'embed token');
    expect(Object.keys(kept ?? {}).slice(-8)).toEqual([
      'event',
      'requestId',
      'user',
      'tenant',
      'mintedBy',
      'ms',
      'code',
      'msg',
    ]);
    expect(kept).toMatchObject({ user: 'ann', tenant: 'LAX', code: 'OK', mintedBy: minted?.requestId });
  });
});

describe('the decision cache', () => {
  const policy = policyOf();
  const sessionOf = (subject: string): Session => ({
    ...{ issuer: 'i', subject, userIdentifier: `i|${subject}`, issuedAtMs: null, claims: {} },
  });
  const decision = (body: string) => ({ body, isStill: () => true }) as unknown as Decision;
  const of = (subject: string, clientId = 'LAX') => ({ policy, session: sessionOf(subject), clientId, asked: {} });

  it('has a maximum size in bytes; the least recently used decision is dropped first', () => {
    const cache = createDecisionCache(10_000);
    const subjects = ['a', 'b', 'c', 'd'];
    for (const subject of subjects) cache.store(of(subject), decision('x'.repeat(1_000)));
    expect(subjects.filter((subject) => cache.find(of(subject)) !== undefined)).toEqual(['b', 'c', 'd']);
    cache.store(of('a'), decision('x'.repeat(100_000)));
    expect(cache.find(of('a'))).toBeUndefined();
  });

  it("drops a tenant's decisions with the tenant, and all with the policy", () => {
    const cache = createDecisionCache();
    cache.store(of('a'), decision('x'));
    cache.store(of('b'), decision('x'));
    cache.store(of('a', 'SFO'), decision('x'));
    expect(cache.forget('LAX')).toBe(2);
    expect([cache.find(of('a')), cache.find(of('b'))]).toEqual([undefined, undefined]);
    expect(cache.find(of('a', 'SFO'))).toBeDefined();
    cache.clear();
    expect(cache.find(of('a', 'SFO'))).toBeUndefined();
  });

  it('distinguishes claims that JSON does not distinguish', () => {
    const claims = { ...basePolicy.session.claims, level: 'double' };
    const doubles = policyOf({ session: { ...basePolicy.session, claims } });
    const withLevel = (level: unknown) => ({
      ...of('a'),
      policy: doubles,
      session: { ...sessionOf('a'), claims: { level } },
    });
    for (const [level, other] of [
      [0, -0],
      [Number.POSITIVE_INFINITY, null],
      [1, '1'],
      [null, undefined],
      ['#1', 1],
    ]) {
      const cache = createDecisionCache();
      cache.store(withLevel(level), decision('x'));
      expect(cache.find(withLevel(other))).toBeUndefined();
      expect(cache.find(withLevel(level))).toBeDefined();
    }
  });

  it('distinguishes what nested claims say, and nothing that no expression can read', () => {
    const claims = {
      ...basePolicy.session.claims,
      o: { id: 'string', level: 'double' },
      orgs: 'map<string, list<string>>',
    };
    const nested = policyOf({ session: { ...basePolicy.session, claims } });
    const withClaims = (given: Record<string, unknown>) => ({
      ...of('a'),
      policy: nested,
      session: { ...sessionOf('a'), claims: given },
    });
    for (const [given, other] of [
      [{ o: { id: 'x', level: 0 } }, { o: { id: 'y', level: 0 } }],
      [{ o: { id: 'x', level: 0 } }, { o: { id: 'x', level: -0 } }],
      [{ orgs: { a: [], b: [] } }, { orgs: { b: [], a: [] } }],
      [{ orgs: { a: ['b'] } }, { orgs: { a: [], b: [] } }],
      [{ orgs: { a: ['b', 'c'] } }, { orgs: { a: ['b","c'] } }],
      [{ orgs: {} }, {}],
    ]) {
      const cache = createDecisionCache();
      cache.store(withClaims(given ?? {}), decision('x'));
      expect(cache.find(withClaims(other ?? {}))).toBeUndefined();
      expect(cache.find(withClaims({ ...given, unread: 1 }))).toBeDefined();
    }
  });
});
