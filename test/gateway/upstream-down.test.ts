/** The service is stopped after a first login: who was answered is answered again, and nobody else is. */
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

/** A gateway before a scripted service on a port of its own, which can be stopped. */
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
  it('leaves who has a live token with it, and tells everybody else to come again', async () => {
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

  it('does not keep a token that has too little life left, or that the policy grants no more', async () => {
    const { granted, refused, clock, stop } = await start();
    await granted(analyst);
    await granted(regional);
    await stop();
    // Still signed in, and another region: another request.
    expect(await refused({ ...regional, region: 'NV' })).toMatchObject(unavailable);
    expect(await refused({ ...analyst, roles: [] })).toMatchObject({ status: 403, code: 'NO_POLICY' });
    clock.advance(3_000_000);
    expect(await refused(analyst)).toMatchObject(unavailable);
  });

  it('a metric list that cannot be confirmed finds the token that was minted by it, and mints none', async () => {
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

describe('a service that fails, and can still be reached', () => {
  it('mints nothing from an outdated list, though minting itself would work', async () => {
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

  it('does not make the gateway forget the dashboards that it has verified', async () => {
    const { granted, refused, service } = await start();
    const first = await granted(analyst);
    service.state.intercept = () => service.refusal(500, 'INTERNAL_SERVER_ERROR');
    expect(await refused({ ...analyst, sub: 'other' })).toMatchObject(unavailable);
    expect(await granted(analyst)).toEqual(first);
  });

  it('leaves nobody a list of a service that refuses the key, or that says the dashboard is gone', async () => {
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

  it('is asked to make a dashboard anew that it has lost, at the request after it said so', async () => {
    const { granted, refused, service, clock } = await start(restricted());
    await granted(regional);
    service.dashboards.delete('delays--SFO');
    clock.advance(30_000);
    expect(await refused(regional)).toMatchObject(unavailable);
    await granted(regional);
    expect(service.created()).toHaveLength(2);
  });

  it('says how long to wait, and the answer says no more than a minute and no less than a second', async () => {
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
