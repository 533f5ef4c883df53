/**
 * Where the time of one cached `POST /embed-token` goes, in microseconds of processor time. Each step of embed-token.ts
 * is called alone many times in this process, on a gateway with its own ledger, limits, epochs and policy. Then the
 * same answer is sent by node:http alone, through Express's Router, and by the complete product (wrk, as in token.mjs).
 * Needs wrk and taskset on PATH.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { createHandlers } from '../../dist/compose/gateway.js';
import { createGatewayMeters } from '../../dist/compose/meters.js';
import { createAudit } from '../../dist/gateway/audit/ledger.js';
import { createEmbedTokenPipeline } from '../../dist/gateway/embed-token.js';
import { openLedger } from '../../dist/gateway/ledger/ledger.js';
import { loadPolicyFile } from '../../dist/gateway/policy/load.js';
import { fixedCapabilities } from '../../dist/gateway/upstream/capabilities.js';
import { createMemoryCache } from '../../dist/platform/caches/cache.js';
import { defaultSettings } from '../../dist/platform/config/settings.js';
import { openDatabase } from '../../dist/platform/databases/database.js';
import { fixedKeys, secretKey } from '../../dist/platform/keys/jwt-keys.js';
import { createMemoryLimiters } from '../../dist/platform/limits/limiter.js';
import { bufferedOutput, createLog } from '../../dist/platform/logs/log.js';
import { createMeters } from '../../dist/platform/logs/meters.js';
import { createSigners, startGateway, startService } from './gateways.mjs';
import { inTemporaryFolder, launch, median, root } from './server.mjs';
import { inTurns, measure, onFirstCore } from './wrk.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const calls = Number(process.env.BENCH_CALLS ?? 50_000);
const secret = 'a-secret-of-at-least-32-characters!';
const clock = { now: () => new Date() };

/** Answers the calls that a request of the demo's analyst makes to a service. */
const transport = async ({ method, path, body }) => {
  if (path.endsWith('/guest-token/create')) return { status: 200, body: { token: randomUUID() } };
  if (path.endsWith('/dashboard-embeds')) return { status: 200, body: { id: body.dashboardId, error: null, name: '' } };
  if (path.endsWith('/data-app/metrics')) {
    return { status: 200, body: { data: [{ name: 'Delays', metricId: 'm' }], error: null } };
  }
  throw new Error(`nobody answers ${method} ${path}`);
};

const createSteps = async (log) => {
  const database = await openDatabase({ databaseUrl: null, folder: null });
  const ledger = await openLedger(database.connect(), false);
  const meters = createGatewayMeters(createMeters().registry, () => {});
  const audit = createAudit({ ledger, clock, log });
  const policy = loadPolicyFile(join(root, 'config/policies/flights.yaml'));
  const handlers = createHandlers({
    issuers: [
      { issuer: 'bench', algorithms: ['HS256'], keys: fixedKeys([secretKey(secret)]), clockToleranceSeconds: 0 },
    ],
    ...{ cookieName: null, allowedOrigins: [], publicOrigin: null, gatewayToken: null },
    ...{ ledger, audit, meters, clock, log, cache: createMemoryCache({ clock }) },
    policies: { current: () => policy, subscribe: ({ prepare }) => prepare?.(policy) },
    upstream: { transport, apiKey: 'key', baseUrl: 'http://bench', capabilities: fixedCapabilities([]) },
    limits: {
      settings: {
        ...defaultSettings().gateway.limits,
        failedCredentialsPerMinute: null,
        userPerMinute: 1e9,
        tenantPerMinute: 1e9,
      },
      limiters: createMemoryLimiters({ clock }),
    },
    serviceUrl: 'http://127.0.0.1:3000',
  });
  const close = async () => {
    await handlers.close();
    await audit.close();
    await database.close();
  };
  return { steps: handlers.steps, meters, close };
};

/** Microseconds of processor time of one call. */
const timeOf = async (work) => {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};

const timesOf = async () => {
  const log = createLog({ destination: bufferedOutput(2) }).child({}, { redact: [] });
  const { steps, meters, close } = await createSteps(log);
  const claims = { iss: 'bench', sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
  const authorization = `Bearer ${jwt.sign(claims, secret, { expiresIn: '1h' })}`;
  const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization], socket: {} };
  const answer = createEmbedTokenPipeline(steps, { minted: async () => {} });
  const ask = () => answer({ from: request, body: () => ({}) }, { requestId: randomUUID() });
  await ask();
  const session = await steps.identity(request);
  const policy = steps.policies.current();
  const clientId = 'LAX';
  const question = { policy, session, clientId, asked: {} };
  const { token, grant } = steps.decisionCache.find(question);
  const works = {
    'nothing (the loop itself)': () => {},
    'session: credential, hash, memory of verified ones, its times': () => steps.identity(request),
    'limits of user and tenant': () => {
      steps.limits.assertUser(session);
      steps.limits.assertTenant(clientId);
    },
    'tenant of the session': () => steps.tenant(policy, session, undefined),
    'sessions revoked, tenant suspended': () => steps.access(session, clientId),
    'kept decision: revocations, tenant, token, dashboards': () => steps.decisionCache.find(question),
    'token remembered for the next policy': () =>
      steps.remember(token, { clientId, session, asked: {}, grant }, policy),
    'all of embed-token.ts': ask,
    'request id': () => randomUUID(),
    'log line': () =>
      log.info(
        { requestId: 'b0e2a4a6-7f3c-4b0e-9b5d-0f6a4b8c2d1e', user: 'ann', tenant: clientId, ms: 0.12, code: 'OK' },
        'x',
      ),
    metrics: () => meters.answered('cached'),
  };
  const results = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (const work of Object.values(works)) await timeOf(work);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(works)) results[name].push(await timeOf(work));
  }
  const loop = median(results['nothing (the loop itself)']);
  await close();
  return Object.entries(results).map(([name, times]) => [
    name,
    name.startsWith('nothing') ? loop : Math.max(0, median(times) - loop),
  ]);
};

/** Measures the same answer from smaller and smaller servers, and from the product. */
const wholeTimes = () =>
  inTemporaryFolder(async (folder) => {
    const signers = createSigners();
    const post = join(folder, 'post.lua');
    writeFileSync(post, 'wrk.method = "POST"\n');
    const bare = (kind) =>
      launch(onFirstCore(join(root, 'test/bench/bare.mjs')), { dataDir: join(folder, kind), env: { BARE_KIND: kind } });
    const service = await startService(folder);
    const gateway = await startGateway(folder, 'memory', { service, signers });
    const [node, router] = [await bare('node'), await bare('router')];
    const extra = ['-s', post, '-H', `Authorization: Bearer ${signers.sign.HS256({})}`];
    const of = (name, server) => ({
      name,
      once: (seconds) => measure(server, `${server.url}/embed-token`, seconds, extra),
      results: [],
    });
    const variants = [
      of('node:http alone sends the same answer', node),
      of("the same behind Express's Router", router),
      of('the whole gateway', gateway),
    ];
    inTurns(variants, { rounds, seconds: 1, warmSeconds: 3 });
    await Promise.all([service, gateway, node, router].map(({ stop }) => stop()));
    return variants.map(({ name, results }) => [name, median(results.map(({ microseconds }) => microseconds))]);
  });

const table = [...(await timesOf()), ...(await wholeTimes())].map(([name, time]) => `| ${name} | ${time.toFixed(2)} |`);
console.log(`Node ${process.version}, medians of ${rounds} rounds\n\n| step | µs |\n|---|---|\n${table.join('\n')}`);
process.exit(0);
