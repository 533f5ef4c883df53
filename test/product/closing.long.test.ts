/** Closing a gateway or an engine ends everything that it started, also if the start or a step of closing fails. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type OpenGatewayOptions, openGateway } from '../../src/compose/open-gateway.js';
import { createEngine } from '../../src/engine/engine.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { createLocalSharing } from '../../src/platform/redis/sharing.js';
import { systemClock } from '../../src/platform/work/time.js';
import { captureLog, createMovableClock, demoSecret, gatewayToken, secretKeys } from '../gateway/harness.js';
import { basePolicy } from '../gateway/policies.js';
import { createScriptedUpstream } from '../gateway/scripted-upstream.js';

const ownFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-closing-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Counts the timers that were started and neither ran nor were cleared. */
const countTimers = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  return vi.getTimerCount;
};

const prepare = async (policy: object) => {
  const folder = await ownFolder();
  const policyPath = join(folder, 'policy.yaml');
  await writeFile(policyPath, JSON.stringify({ ...basePolicy, ...policy }));
  const database = await openDatabase({ databaseUrl: null, folder: null });
  onTestFinished(() => database.close());
  const clock = createMovableClock();
  const { log, lines } = captureLog();
  const cache = createMemoryCache({ clock });
  const options: OpenGatewayOptions = {
    issuers: [{ issuer: 'host', algorithms: ['HS256'], keys: secretKeys(demoSecret), clockToleranceSeconds: 0 }],
    cookieName: null,
    allowedOrigins: [],
    policyPath,
    database,
    times: { archive: null, explanationsDays: 1, deliveriesDays: 90, sessionsDays: 30 },
    gatewayToken,
    upstream: {
      transport: createScriptedUpstream().transport,
      apiKey: 'the-api-key',
      baseUrl: 'http://service.test',
      capabilities: fixedCapabilities([]),
    },
    serviceUrl: 'http://service.test',
    cache,
    clock,
    log,
  };
  return { options, lines, sharing: createLocalSharing(cache) };
};

const lookup = { key: 'claims.org_id', http: { url: 'http://127.0.0.1:1/tenants', secretVariable: 'LOOKUP_SECRET' } };

it('a gateway whose composition fails leaves no timer and no watcher, and reports the cause', async () => {
  const { options, lines } = await prepare({ session: { ...basePolicy.session, tenant: lookup } });
  const timers = countTimers();
  const before = timers();
  await expect(openGateway({ ...options, readVariable: () => undefined })).rejects.toThrow(PolicyFaults);
  expect(timers()).toBe(before);
  expect(lines.filter(({ event }) => event === 'start.cleanup_failed')).toEqual([]);
});

it('a gateway ends everything, also if a step of the end fails', async () => {
  const { options, sharing } = await prepare({});
  const timers = countTimers();
  const before = timers();
  const failing = {
    ...sharing,
    subscribe: () => () => {
      throw new Error('the subscription cannot be ended');
    },
  };
  const gateway = await openGateway({ ...options, cache: { ...options.cache, sharing: failing } });
  expect(timers()).toBeGreaterThan(before);
  const error: unknown = await gateway.close().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AggregateError);
  expect(String(error)).toContain('the subscription cannot be ended');
  expect(timers()).toBe(before);
});

it('an engine closes every database and its cache, also if one connection cannot be closed', async () => {
  const path = join(await ownFolder(), 'data.duckdb');
  const made = await DuckDBInstance.create(path);
  await (await made.connect()).run('CREATE TABLE orders (id INTEGER)');
  made.closeSync();
  const timers = countTimers();
  const before = timers();
  const { log } = captureLog();
  const cache = { secret: Buffer.alloc(32), clock: createMovableClock(), ttlSeconds: 60, maxBytes: 1000, shared: null };
  const engine = createEngine({ clock: systemClock, log, assertReachable: async () => {}, cache });
  const datasource = { id: 'd', name: 'd', datasourceType: 'DUCKDB', path } as const;
  expect(await engine.introspect(datasource as never)).toHaveLength(1);
  const closed = vi.spyOn(DuckDBInstance.prototype, 'closeSync');
  const faulty = vi.spyOn(DuckDBConnection.prototype, 'closeSync').mockImplementationOnce(() => {
    throw new Error('the connection cannot be closed');
  });
  onTestFinished(() => {
    closed.mockRestore();
    faulty.mockRestore();
  });
  await expect(engine.close()).rejects.toThrow('the connection cannot be closed');
  expect(closed).toHaveBeenCalledOnce();
  expect(timers()).toBe(before);
});
