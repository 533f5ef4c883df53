/** What operators see of a gateway: its counters, and whether it is ready. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCountWork, createGatewayMeters } from '../../src/compose/meters.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { createReachOf } from '../../src/gateway/policy/reach.js';
import { watchPolicies } from '../../src/gateway/policy/watch.js';
import { createHttpUpstream } from '../../src/gateway/upstream/http-upstream.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { createRedisCache } from '../../src/platform/caches/cache-redis.js';
import { createMemoryLimiters, createRedisLimiters } from '../../src/platform/limits/limiter.js';
import { systemClock } from '../../src/platform/work/time.js';
import { listEmbedMetrics } from '../../src/service/embeds/contract/embeds.js';
import { openBareDatabase } from '../suites/metadata.js';
import { freePort } from '../suites/redis.js';
import { analyst, captureLog, createMovableClock, startGateway, usualLimits, usualUpstream } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { basePolicy } from './policies.js';

const open = () => {
  const registry = new Registry();
  const meters = createGatewayMeters(registry, createCountWork(registry));
  /** Returns the samples that are not 0 and start with this name, without `guestlist_gateway_`. */
  const read = async (name: string): Promise<readonly string[]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`guestlist_gateway_${name}`) && !line.endsWith(' 0'))
      .map((line) => line.slice('guestlist_gateway_'.length));
  return { registry, meters, read };
};

describe('a gateway counts', () => {
  it('answers by outcome, mints with their duration, calls, audit entries and limits, without names', async () => {
    const { registry, meters, read } = open();
    const ledger = await openTestLedger();
    const clock = createMovableClock();
    const audit = createAudit({ ledger, clock, log: captureLog().log, meters });
    const settings = {
      userPerMinute: 3,
      tenantPerMinute: null,
      failedSessionsPerMinute: null,
      failedCredentialsPerMinute: usualLimits.failedCredentialsPerMinute,
      trustedProxies: 0,
    };
    const limits = { settings, limiters: createMemoryLimiters({ clock }) };
    const { granted, refused, upstream } = await startGateway({ meters, ledger, audit, limits });
    for (let time = 0; time < 3; time += 1) await granted(analyst);
    expect(await refused(analyst)).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await refused({ ...analyst, sub: 'nobody', roles: [] })).toMatchObject({ code: 'NO_POLICY' });
    upstream.state.intercept = ({ path }) =>
      path.endsWith('/guest-token/create') ? upstream.refusal(500, 'INTERNAL_SERVER_ERROR') : undefined;
    expect((await refused({ ...analyst, sub: 'late' })).status).toBe(503);
    await audit.close();
    expect(await read('answers_total')).toEqual([
      'answers_total{outcome="minted"} 1',
      'answers_total{outcome="cached"} 2',
      'answers_total{outcome="RATE_LIMITED"} 1',
      'answers_total{outcome="NO_POLICY"} 1',
      'answers_total{outcome="UPSTREAM_UNAVAILABLE"} 1',
    ]);
    expect(await read('limited_total')).toEqual(['limited_total{limit="user-limit"} 1']);
    expect(await read('mint_duration_seconds_count')).toEqual(['mint_duration_seconds_count 1']);
    expect(await read('upstream_calls_total')).toEqual(
      expect.arrayContaining([
        'upstream_calls_total{operation="createGuestToken",outcome="ok"} 1',
        'upstream_calls_total{operation="createGuestToken",outcome="failed"} 1',
        'upstream_calls_total{operation="createDashboardEmbed",outcome="ok"} 1',
      ]),
    );
    expect((await read('audit_entries_total'))[0]).toMatch(/^audit_entries_total\{outcome="kept"\} \d+$/);
    const all = await registry.metrics();
    expect(all).toContain('guestlist_gateway_audit_waiting 0');
    expect(all).toContain('guestlist_gateway_epochs_age_seconds 0');
    expect(all.replaceAll(/^#.*$/gm, '')).not.toMatch(/\b(LAX|ann|nobody|late)\b/);
  });

  it('refused policies, until the files are valid again', async () => {
    const { meters, read } = open();
    const folder = mkdtempSync(join(tmpdir(), 'guestlist-meters-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'policy.yaml');
    const write = (parts: object): void => writeFileSync(path, JSON.stringify({ ...basePolicy, ...parts }));
    write({});
    const audit = { record: async () => {} };
    const policies = await watchPolicies(path, {
      ...{ log: captureLog().log, audit, meters, hasEvents: false, reachOf: createReachOf(null, path) },
      every: () => () => {},
    });
    onTestFinished(policies.close);
    const [loaded] = await read('policy_loaded_timestamp_seconds');
    expect(loaded).toMatch(/ 1[\d.e+]+$/);
    write({ expiryMinutes: -1 });
    for (let look = 0; look < 3; look += 1) expect((await policies.reload()).outcome).toBe('refused');
    expect(await read('policy_')).toEqual([
      'policy_loads_total{outcome="ok"} 1',
      'policy_loads_total{outcome="refused"} 1',
      loaded,
      'policy_refused 1',
    ]);
    write({});
    expect((await policies.reload()).outcome).toBe('unchanged');
    expect(await read('policy_refused')).toEqual([]);
    write({ expiryMinutes: 7 });
    expect((await policies.reload()).outcome).toBe('changed');
    expect(await read('policy_loads_total{outcome="ok"}')).toEqual(['policy_loads_total{outcome="ok"} 2']);
  });

  it('open circuits, and unavailable Redis', async () => {
    const { meters, read } = open();
    const port = await freePort();
    const { log } = captureLog();
    const { transport, apiKey, resilience } = createHttpUpstream({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: 'key',
      settings: { ...usualUpstream, breakerFailures: 1, retries: 0 },
      ...{ clock: createMovableClock(), log, meters },
    });
    const call = createUpstream(transport, apiKey, { resilience, meters });
    expect(await read('circuit_open')).toEqual([]);
    await expect(call(listEmbedMetrics, { embedId: 'e', clientId: 'LAX' })).rejects.toThrow();
    expect(await read('circuit_open')).toEqual(['circuit_open 1']);
    const url = `redis://127.0.0.1:${port}`;
    const cache = await createRedisCache({ url, log, onOutage: (isDown) => meters.redisChanged('cache', isDown) });
    onTestFinished(cache.close);
    expect(await cache.get('key')).toBeNull();
    const limiters = await createRedisLimiters({
      url,
      clock: systemClock,
      log,
      onOutage: (isDown) => meters.redisChanged('limits', isDown),
    });
    onTestFinished(limiters.close);
    await limiters.create({ name: 'n', points: 1, windowSeconds: 60 }).take('key', 1);
    expect(await read('redis_down')).toEqual(['redis_down{of="cache"} 1', 'redis_down{of="limits"} 1']);
  });
});

it('a gateway is ready while its ledger is available', async () => {
  const database = await openBareDatabase();
  const ledger = await openLedger(database.connect<LedgerTables>(), false);
  const { assertReady } = await startGateway({ ledger });
  await assertReady();
  await database.close();
  await expect(assertReady()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});
