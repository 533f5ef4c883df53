import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createHttpTransport, createHttpUpstream } from '../../src/gateway/upstream/http-upstream.js';
import { createResilience, type ResilienceSettings, type Timing } from '../../src/gateway/upstream/resilience.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import type { Call } from '../../src/platform/http/interface/client.js';
import { createDashboardEmbed } from '../../src/service/dashboards/contract/embeds.js';
import { listEmbedMetrics } from '../../src/service/embeds/contract/embeds.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/contract/admin.js';
import { createGuestToken } from '../../src/service/guest-tokens/contract/guest-tokens.js';
import { captureLog, usualUpstream } from './harness.js';
import { listen } from './scripted-service.js';

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

const ok: Reply = ({ method }, response) => {
  response.end(
    JSON.stringify(method === 'GET' ? { data: [], error: null } : { token: 't', id: 'i', name: 'n', error: null }),
  );
};
const fails =
  (status: number, body = '<h1>no</h1>', headers: Record<string, string> = {}): Reply =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };
const refuses: Reply = fails(400, '{"error":{"code":"INVALID_EMBED_ID","message":"none"}}');

/** A clock that moves only when code waits, and random numbers that are always the same. */
const createTiming = (chance = 0) => {
  let nowMs = 0;
  const pauses: number[] = [];
  const timing: Timing = {
    nowMs: () => nowMs,
    random: () => chance,
    wait: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
    },
  };
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { timing, pauses, advance };
};

/** A service that follows the script and then answers normally, behind the real transport. */
const start = async (settings: Partial<ResilienceSettings> = {}, chance = 0) => {
  const script: Reply[] = [];
  const asked: string[] = [];
  const baseUrl = await listen((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    request.resume().on('end', () => (script.shift() ?? ok)(request, response));
  });
  const { log, lines } = captureLog();
  const { timing, pauses, advance } = createTiming(chance);
  const resilience = createResilience({ ...usualUpstream, ...settings }, log, timing);
  const call = createUpstream(createHttpTransport({ baseUrl, timeoutMs: 20_000 }), 'key', { resilience });
  return { call, script, asked, lines, pauses, advance };
};

const list = (call: Call, clientId = 'LAX') => call(listEmbedMetrics, { embedId: 'delays--LAX', clientId });
const mint = (call: Call, clientId = 'LAX') => call(createGuestToken, { clientId, dataAppName: 'flights' });
const accessSettings = {
  datamartName: 'm',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: false,
  metricCreationMode: 'DRAG_DROP' as const,
};
const create = (call: Call) =>
  call(createDashboardEmbed, { dashboardId: 'd', workspaceName: 'w', clientId: 'LAX', accessSettings });
const unavailable = { code: 'UPSTREAM_UNAVAILABLE' };

describe('retries', () => {
  it.each([
    ['500', fails(500)],
    ['503', fails(503)],
    ['408', fails(408)],
    ['429', fails(429, '{"error":{"code":"RATE_LIMITED","message":"slowly"}}')],
    ['a page of a proxy', fails(200)],
    ['a page of a proxy that says 404', fails(404)],
    ['a connection that breaks', (_, response) => void response.socket?.resetAndDestroy()],
  ] satisfies [string, Reply][])('are made for reading calls, after %s', async (_, reply) => {
    const { call, script, asked, pauses } = await start({}, 1);
    script.push(reply, reply);
    expect(await list(call)).toEqual({ data: [], error: null });
    expect(asked).toHaveLength(3);
    expect(pauses).toEqual([100, 200]);
    script.push(reply, reply, reply);
    await expect(list(call)).rejects.toMatchObject(unavailable);
    expect(asked).toHaveLength(6);
  });

  it.each([
    ["the interface's refusal", refuses],
    [
      'a refused key',
      fails(401, '{"error":{"code":"AUTHENTICATION_ERROR","message":"API key is invalid or expired"}}'),
    ],
    ['a refusal in a shape of its own', fails(422, '{"message":"no"}')],
  ])('are not made after %s', async (_, reply) => {
    const { call, script, asked } = await start();
    script.push(reply);
    await expect(list(call)).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });

  it('are never made for a mint, since a token whose answer was lost would stay valid unnoticed', async () => {
    const { call, script, asked } = await start();
    for (const reply of [fails(500), fails(503), fails(429), fails(200)]) {
      script.push(reply);
      await expect(mint(call)).rejects.toMatchObject(unavailable);
    }
    expect(asked).toHaveLength(4);
  });

  it('are made for a dashboard with a given id: the second call reports that it exists', async () => {
    const { call, script, asked } = await start();
    script.push(fails(500), fails(400, '{"error":{"code":"INVALID_DASHBOARD_ID","message":"taken"}}'));
    await expect(create(call)).rejects.toMatchObject({ name: 'UpstreamRefusal', code: 'INVALID_DASHBOARD_ID' });
    expect(asked).toHaveLength(2);
  });

  it('wait a random time up to a limit that doubles', async () => {
    const { call, script, pauses } = await start({ retries: 5, breakerFailures: 100 }, 0.5);
    script.push(...Array.from({ length: 5 }, () => fails(500)));
    await list(call);
    expect(pauses).toEqual([50, 100, 200, 400, 800]);
  });

  it('wait as long as the service asks, and stop if that exceeds the deadline', async () => {
    const { call, script, pauses, asked } = await start({ deadlineMs: 10_000 });
    script.push(fails(503, '', { 'retry-after': '7' }));
    await list(call);
    expect(pauses).toEqual([7_000]);
    script.push(fails(429, '', { 'retry-after': '11' }));
    await expect(list(call)).rejects.toMatchObject({ ...unavailable, retryAfterMs: 11_000 });
    const date = 'Sun, 22 Nov 2026 10:00:00 GMT';
    script.push(fails(503, '', { date, 'retry-after': 'Sun, 22 Nov 2026 10:00:20 GMT' }));
    await expect(list(call)).rejects.toMatchObject({ ...unavailable, retryAfterMs: 20_000 });
    for (const nonsense of ['soon', '-1', '1e9', '99999999999']) {
      script.push(fails(503, '', { 'retry-after': nonsense }));
      await expect(mint(call)).rejects.toMatchObject({ ...unavailable, retryAfterMs: undefined });
    }
    expect(asked).toHaveLength(8);
  });
});

describe('the circuit breaker', () => {
  const settings = { retries: 0, breakerFailures: 3, breakerOpenMs: 1_000 };

  it('opens after failures of several clients, reports it, answers at once, and closes after the first success', async () => {
    const { call, script, asked, lines, advance } = await start(settings);
    script.push(fails(500), fails(500), fails(500), fails(500));
    for (const client of ['LAX', 'ATL', 'SFO']) await expect(mint(call, client)).rejects.toMatchObject(unavailable);
    await expect(mint(call)).rejects.toMatchObject({ reason: 'upstream-circuit-open', retryAfterMs: 1_000 });
    expect(asked).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({ level: 50, circuit: 'open', openMs: 1_000 });
    advance(1_000);
    await expect(mint(call)).rejects.toMatchObject({ reason: 'upstream-failed' });
    await expect(mint(call)).rejects.toMatchObject({ retryAfterMs: 2_000 });
    advance(2_000);
    await mint(call);
    expect(lines.at(-1)).toMatchObject({ circuit: 'closed' });
    await Promise.all(['LAX', 'ATL', 'SFO'].map((client) => mint(call, client)));
    expect(asked).toHaveLength(8);
  });

  it('stays closed for refusals, for a refused API key, and for failures of a single client', async () => {
    const { call, script, lines } = await start(settings);
    const key = fails(401, '{"error":{"code":"AUTHENTICATION_ERROR","message":"API key is invalid or expired"}}');
    for (const reply of [refuses, key, fails(429), fails(500)]) {
      script.push(...Array.from({ length: 10 }, () => reply));
      for (let round = 0; round < 10; round += 1) await expect(list(call)).rejects.toThrow();
      expect(lines).toEqual([]);
    }
    await list(call, 'ATL');
  });

  it('lets one probe through while others are refused', async () => {
    const { call, script, asked, advance } = await start(settings);
    script.push(fails(500), fails(500), fails(500));
    for (const client of ['LAX', 'ATL', 'SFO']) await expect(mint(call, client)).rejects.toMatchObject(unavailable);
    advance(1_000);
    let answer = () => {};
    const arrived = new Promise<void>((resolve) => {
      script.push((request, response) => {
        answer = () => ok(request, response);
        resolve();
      });
    });
    const probe = mint(call, 'LAX');
    await arrived;
    await expect(mint(call, 'ATL')).rejects.toMatchObject({ reason: 'upstream-circuit-open' });
    expect(asked).toHaveLength(4);
    answer();
    expect(await probe).toEqual({ token: 't' });
    expect(await mint(call, 'ATL')).toEqual({ token: 't' });
  });
});

describe('the deadline', () => {
  it('ends a call without an answer, and the wait for a slot', async () => {
    const { call, script, asked } = await start({ deadlineMs: 200, maxConcurrent: 1 });
    script.push(
      () => {},
      () => {},
    );
    const answers = await Promise.allSettled([list(call), list(call, 'ATL')]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'UPSTREAM_UNAVAILABLE' } });
    }
    // Both deadlines end at the same moment. On a busy machine the second call gets the slot just before its own.
    expect(asked.length).toBeLessThanOrEqual(2);
    script.length = 0;
    expect(await list(call)).toEqual({ data: [], error: null });
  });
});

it('a revocation never waits behind logins: it has its own slots', async () => {
  const { call, script, asked } = await start({ maxConcurrent: 1, maxQueued: 1 });
  let end = () => {};
  const arrived = new Promise<void>((resolve) => {
    script.push((request, response) => {
      end = () => ok(request, response);
      resolve();
    });
  });
  const logins = [list(call), list(call, 'ATL')];
  await arrived;
  await expect(list(call, 'SFO')).rejects.toMatchObject({ reason: 'upstream-calls-full' });
  script.push((_, response) => response.end('{"data":{"revoked":3},"error":null}'));
  expect(await call(revokeGuestTokens, { clientId: 'LAX' })).toMatchObject({ data: { revoked: 3 } });
  expect(asked).toEqual(['GET /api/v2/data-app/metrics', 'POST /api/v2/guest-token/revoke']);
  end();
  await Promise.all(logins);
});

it('all calls to one upstream share its slots, its circuit breaker and its document', async () => {
  const asked: string[] = [];
  const baseUrl = await listen((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(500).end();
  });
  const { log } = captureLog();
  const settings = { ...usualUpstream, retries: 0, breakerFailures: 2, breakerOpenMs: 30_000 };
  const clock = { now: () => new Date(0) };
  const { transport, resilience, capabilities } = createHttpUpstream({ baseUrl, apiKey: 'key', settings, clock, log });
  const [one, other] = [
    createUpstream(transport, 'key', { resilience }),
    createUpstream(transport, 'key', { resilience }),
  ];
  await expect(list(one, 'LAX')).rejects.toMatchObject({ reason: 'upstream-failed' });
  await expect(list(other, 'ATL')).rejects.toMatchObject({ reason: 'upstream-failed' });
  await expect(list(one, 'SFO')).rejects.toMatchObject({ reason: 'upstream-circuit-open' });
  expect(await capabilities?.supports('find-embed')).toBe(false);
  await expect(capabilities?.requireCapability('find-embed')).rejects.toMatchObject(unavailable);
  expect(asked).toHaveLength(2);
});
