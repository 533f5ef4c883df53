/**
 * The service is stopped after a first login: users with a cached token are still answered, and all others are refused.
 */
import { describe, expect, it } from 'vitest';
import { createHttpUpstream } from '../../src/gateway/upstream/http-upstream.js';
import { analyst, captureLog, createMovableClock, manager, regional, startGateway, usualUpstream } from './harness.js';
import { policyOf } from './policies.js';
import { startScriptedService } from './scripted-service.js';

const restricted = () =>
  policyOf({
    rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'], expiryMinutes: 600 } }],
    restrictions: [{ name: 'own region', when: 'true', restrict: { rls: { state: 'user.claims.region' } } }],
  });

/** A gateway in front of a scripted service on its own port, which can be stopped. */
const start = async (policy?: ReturnType<typeof policyOf>) => {
  const { upstream: service, url, stop } = await startScriptedService();
  const clock = createMovableClock();
  const { log, lines } = captureLog();
  const settings = { ...usualUpstream, retries: 0, timeoutMs: 20_000 };
  const upstream = createHttpUpstream({ baseUrl: url, apiKey: 'the-api-key', settings, clock, log });
  const gateway = await startGateway({ upstream, clock, log, ...(policy === undefined ? {} : { policy }) });
  return { ...gateway, lines, service, clock, stop };
};

const unavailable = { status: 503, code: 'UPSTREAM_UNAVAILABLE' };

describe('a service that was stopped after the first login', () => {
  it('users with a valid token keep it, and all others get Retry-After', async () => {
    const { granted, refused, stop } = await start();
    const [first, both] = [await granted(analyst), await granted(manager)];
    await stop();
    expect(await granted(analyst)).toEqual(first);
    expect(await granted(manager)).toEqual(both);
    for (const stranger of [
      { ...analyst, sub: 'unknown' },
      { ...analyst, org_id: 'ATL' },
    ]) {
      const answer = await refused(stranger);
      expect(answer).toMatchObject(unavailable);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(await granted(analyst)).toEqual(first);
    }
  });

  it('a token is not used if its remaining life is too short, or if the policy no longer grants it', async () => {
    const { granted, refused, clock, stop } = await start();
    await granted(analyst);
    await granted(regional);
    await stop();
    // The same user with another region: this is another request, which is not cached.
    expect(await refused({ ...regional, region: 'NV' })).toMatchObject(unavailable);
    expect(await refused({ ...analyst, roles: [] })).toMatchObject({ status: 403, code: 'NO_POLICY' });
    clock.advance(3_000_000);
    expect(await refused(analyst)).toMatchObject(unavailable);
  });

  it('a metric list that cannot be confirmed still finds the token that was minted with it, and mints none', async () => {
    const { granted, refused, service, clock, stop, lines } = await start(restricted());
    const { token } = await granted(regional);
    await stop();
    clock.advance(30_000);
    expect((await granted(regional)).token).toBe(token);
    expect(await refused({ ...regional, region: 'NV' })).toMatchObject(unavailable);
    expect(lines.at(-1)).toMatchObject({ reason: 'metric-list-outdated' });
    expect(service.mints()).toHaveLength(1);
  });
});

describe('a service that fails, but is reachable', () => {
  it('nothing is minted from an outdated list, even if minting itself would work', async () => {
    const { granted, refused, service, clock } = await start(restricted());
    const { token } = await granted(regional);
    service.dashboards.get('delays--SFO')?.metrics.push({ name: 'New', metricId: 'new' });
    clock.advance(30_000);
    service.state.intercept = ({ path }) => (path.endsWith('/metrics') ? service.refusal(500, 'X') : undefined);
    expect((await granted(regional)).token).toBe(token);
    expect(await refused({ ...regional, region: 'NV' })).toMatchObject(unavailable);
    expect(service.mints()).toHaveLength(1);
    service.state.intercept = () => undefined;
    expect((await granted(regional)).token).not.toBe(token);
    expect(JSON.stringify(service.lastMint())).toContain('"new"');
  });

  it('the gateway keeps the dashboards that it has verified', async () => {
    const { granted, refused, service } = await start();
    const first = await granted(analyst);
    service.state.intercept = () => service.refusal(500, 'INTERNAL_SERVER_ERROR');
    expect(await refused({ ...analyst, sub: 'other' })).toMatchObject(unavailable);
    expect(await granted(analyst)).toEqual(first);
  });

  it('a list is dropped if the service refuses the key or says that the dashboard is gone', async () => {
    for (const [status, code] of [
      [401, 'AUTHENTICATION_ERROR'],
      [400, 'INVALID_EMBED_ID'],
    ] as const) {
      const { granted, refused, service, clock } = await start(restricted());
      await granted(regional);
      clock.advance(30_000);
      service.state.intercept = ({ path }) => (path.endsWith('/metrics') ? service.refusal(status, code) : undefined);
      expect(await refused(regional)).toMatchObject(unavailable);
      expect(service.mints()).toHaveLength(1);
    }
  });

  it('a lost dashboard is created again at the next request after the service reported it', async () => {
    const { granted, refused, service, clock } = await start(restricted());
    await granted(regional);
    service.dashboards.delete('delays--SFO');
    clock.advance(30_000);
    expect(await refused(regional)).toMatchObject(unavailable);
    await granted(regional);
    expect(service.created()).toHaveLength(2);
  });

  it('Retry-After is what the service says, between a second and a minute', async () => {
    for (const [asked, told] of [
      ['17', '17'],
      ['86400', '60'],
      ['0', '1'],
    ] as const) {
      const { refused, service } = await start();
      service.state.intercept = () => ({ status: 429, body: '', headers: { 'retry-after': asked } });
      const answer = await refused(analyst);
      expect(answer).toMatchObject(unavailable);
      expect(answer.headers.get('retry-after')).toBe(told);
    }
  });
});
