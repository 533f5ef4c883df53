/**
 * The server under test of token.mjs: the compiled gateway with the demo policy, called before an Express app that also
 * answers "hello". The upstream is scripted, since a cached token never reaches it. Prints its port and a session.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import jwt from 'jsonwebtoken';
import { pino } from 'pino';

const dist = new URL('../../dist/', import.meta.url);
const load = (path) => import(new URL(path, dist).href);
const { createGateway } = await load('gateway/router.js');
const { loadPolicyFile } = await load('gateway/policy-file.js');
const { createMemoryCache } = await load('platform/cache-memory.js');
const { createRedisCache } = await load('platform/cache-redis.js');

const answers = {
  'POST /api/v2/data-app/dashboard-embeds': ({ body }) => ({ id: body.dashboardId, error: null, name: body.name }),
  'GET /api/v2/data-app/metrics': () => ({ data: [{ name: 'Flights a day', metricId: 'm' }], error: null }),
  'POST /api/v2/guest-token/create': () => ({ token: crypto.randomUUID() }),
};
const transport = async (request) => ({
  status: 200,
  body: answers[`${request.method} ${request.path}`](request),
});

const clock = { now: () => new Date() };
const secret = createSecretKey(randomBytes(32));
const log = pino(pino.destination({ dest: '/dev/null', minLength: 4096, sync: false, periodicFlush: 1000 }));
const redisUrl = process.env.BENCH_REDIS_URL;
const gateway = createGateway({
  issuers: [{ issuer: 'guestlist-demo', secret, clockToleranceSeconds: 0 }],
  cookieName: 'session',
  allowedOrigins: ['https://app.example.com'],
  policy: loadPolicyFile(new URL('../../config/policies/flights.yaml', import.meta.url).pathname),
  upstream: { transport, apiKey: 'bench', baseUrl: 'in-process' },
  serviceUrl: 'http://127.0.0.1:3000',
  cache: redisUrl === undefined ? createMemoryCache({ clock }) : await createRedisCache({ url: redisUrl, log }),
  clock,
  log,
});
const app = express().get('/hello', (_request, response) => response.send('hello'));
// The measure: Express with nothing in front of it, in the same process and the same run.
const bare = createServer(app).listen(0, '127.0.0.1');
const server = createServer((request, response) => gateway(request, response, () => app(request, response)));
server.listen(0, '127.0.0.1', () => {
  const claims = { iss: 'guestlist-demo', sub: 'ann', org_id: 'SFO', roles: ['analyst', 'regional'], region: 'CA' };
  const session = jwt.sign(claims, secret, { expiresIn: '1h' });
  console.log(JSON.stringify({ port: server.address().port, barePort: bare.address().port, session }));
});
process.on('SIGTERM', () => process.exit(0));
