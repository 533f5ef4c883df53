import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { pino } from 'pino';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { composeGateway } from '../../src/compose/gateway.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { fixedPolicies } from './fixed-policies.js';
import {
  analyst,
  createMovableClock,
  demoPolicy,
  demoSecret,
  manager,
  secretKeys,
  sign,
  startGateway,
} from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createRecordingAudit } from './recording-audit.js';
import { createScriptedUpstream } from './scripted-upstream.js';

describe('the body', () => {
  it.each([
    ['clientId', { clientId: 'ATL' }],
    ['filters', { filters: { 'Destination state': 'CA' } }],
    ['permissions', { permissions: { isEnableUnderlyingData: true } }],
    ['params', { tenant: 'LAX', params: {} }],
    ['__proto__', '{"__proto__": {"tenant": "ATL"}}'],
    ['embeds', { embeds: 'delays--LAX' }],
    ['embeds', { embeds: [] }],
    ['embeds', { embeds: Array.from({ length: 101 }, () => 'delays--LAX') }],
    ['embeds', { embeds: [{ id: 'delays--LAX' }] }],
    ['tenant', { tenant: ['LAX', 'ATL'] }],
    ['tenant', { tenant: '' }],
    ['tenant', { tenant: 'a\u0000' }],
    ['timezone', { timezone: 7 }],
  ])('is refused for %s in %j', async (field, body) => {
    const { refused, upstream } = await startGateway();
    const answer = await refused(manager, body);
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
    expect(answer.message).toContain(field);
    expect(upstream.calls).toEqual([]);
  });

  it.each([['null'], ['[]'], ['"LAX"'], ['7'], ['{'], ['{"tenant": "LAX"'], ['[['.repeat(1000)], ['\u0000']])(
    'is refused as %j',
    async (body) => {
      const { refused } = await startGateway();
      expect(await refused(manager, body)).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx'])(
    'is refused as %s',
    async (type) => {
      const { refused } = await startGateway();
      const answer = await refused(manager, '{"tenant":"LAX"}', { 'content-type': type });
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
    },
  );

  it('may be missing, empty, or {}', async () => {
    const { ask, granted } = await startGateway();
    await granted(analyst);
    await granted(analyst, {});
    expect((await ask(analyst, '', { 'content-type': 'text/plain' })).status).toBe(200);
    expect((await ask(analyst, '{"tenant":"LAX"}', { 'content-type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    );
  });

  it('is read up to 4 KiB, with or without Content-Length', async () => {
    const { refused, granted, url } = await startGateway();
    const fill = (bytes: number) => `{"tenant":"LAX"}${' '.repeat(bytes - 16)}`;
    await granted(analyst, fill(4096));
    expect(await refused(analyst, fill(4097))).toMatchObject({ status: 413, code: 'INVALID_REQUEST_BODY' });
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${sign(analyst)}`, 'content-type': 'application/json' };
      const chunked = httpRequest(`${url}/embed-token`, { method: 'POST', headers }, (response) => {
        resolve([response.statusCode, response.headers.connection]);
      });
      chunked.on('error', reject);
      chunked.write(fill(3000));
      chunked.write(fill(3000));
    });
    expect(status).toEqual([413, 'close']);
  });

  it('may be compressed; the limit applies to the unpacked size', async () => {
    const { url } = await startGateway();
    const packed = (text: string) => {
      const headers = {
        authorization: `Bearer ${sign(analyst)}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      };
      return fetch(`${url}/embed-token`, { method: 'POST', headers, body: gzipSync(text) });
    };
    expect((await packed('{"tenant":"LAX"}')).status).toBe(200);
    expect((await packed('{"tenant":"ATL"}')).status).toBe(403);
    expect((await packed(`{"tenant":"LAX"}${' '.repeat(100_000)}`)).status).toBe(413);
  });

  it('is read only after the session is verified', async () => {
    const { refused } = await startGateway();
    expect(await refused('not-a-jwt', '{"clientId":"ATL"}')).toMatchObject({ status: 401 });
  });
});

describe('X-Request-Id', () => {
  const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
  /** Uses `node:http`, which can send headers that `fetch` refuses. */
  const idsOf = async (given: string) => {
    const { url, lines } = await startGateway();
    const headers = { authorization: `Bearer ${sign(analyst)}`, 'x-request-id': given };
    const answered = await new Promise((resolve, reject) => {
      httpRequest(`${url}/embed-token`, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.headers['x-request-id']));
      })
        .on('error', reject)
        .end();
    });
    return { answered, logged: lines.find(({ event }) => event === 'token.minted')?.requestId };
  };

  it.each(['host-req', 'A_b-0123456789', 'x'.repeat(64)])('is used and logged if valid: %j', async (given) => {
    expect(await idsOf(given)).toEqual({ answered: given, logged: given });
  });

  it.each([
    ['too short', 'x'.repeat(7)],
    ['too long', 'x'.repeat(65)],
    ['empty', ''],
    ['with a control character', 'request\tid-0001'],
    ['with a character beyond ASCII', 'request-idé-0001'],
    ['with the sign that divides an id from a number', 'request-id:1'],
    ['with a space', 'request id 0001'],
  ])('is replaced if it is %s', async (_, given) => {
    const { answered, logged } = await idsOf(given);
    expect(answered).toMatch(uuid);
    expect(logged).toBe(answered);
  });
});

describe('the selection in the body', () => {
  it('selects embeds by id or by template, only among granted ones', async () => {
    const { granted, refused, upstream } = await startGateway();
    expect((await granted(manager, { embeds: ['routes--LAX'] })).embeds.map(({ id }) => id)).toEqual(['routes--LAX']);
    expect(upstream.created()).toHaveLength(1);
    expect((await granted(manager, { embeds: ['delays', 'delays'] })).embeds.map(({ id }) => id)).toEqual([
      'delays--LAX',
    ]);
    for (const embeds of [['routes--LAX'], ['delays--LAX', 'routes--LAX'], ['delays--ATL'], ['delays--lax'], ['x']]) {
      const answer = await refused(analyst, { embeds });
      expect(answer).toMatchObject({ status: 403, code: 'EMBED_NOT_GRANTED' });
    }
  });

  it("selects only one of the session's own tenants", async () => {
    const { granted, refused, upstream } = await startGateway();
    await granted(analyst, { tenant: 'LAX' });
    for (const tenant of ['ATL', 'lax', 'LAX ']) {
      const answer = await refused(analyst, { tenant });
      expect(answer).toMatchObject({ status: 403, code: 'NO_TENANT' });
      expect(answer.message).not.toContain('LAX');
    }
    expect(upstream.created()).toHaveLength(1);
  });

  it('cannot set a timezone if the policy sets it', async () => {
    const { refused } = await startGateway();
    const answer = await refused(analyst, { timezone: 'Europe/Lisbon' });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
    expect(answer.message).toContain('timezone');
  });
});

describe('the path', () => {
  it('the path of embed tokens accepts only POST', async () => {
    const { url } = await startGateway();
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${url}/embed-token`, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST, OPTIONS');
      expect(await response.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED', status: 405 } });
    }
    expect((await fetch(`${url}/embed-token`, { method: 'HEAD' })).status).toBe(405);
  });

  it('passes every other path to the next handler', async () => {
    const { url } = await startGateway();
    const near = ['/embed-tokens', '/embed-token/x', '/embed-token/', '/Embed-Token', '/embed%2Dtoken', '/hooks/other'];
    const admin = ['/gateway/admin', '/gateway/admin/', '/gateway/admin/revoke/', '/Gateway/admin/revoke'];
    for (const path of ['/', ...near, ...admin, '/hooks/tenant-deleted/', '/api/v2/data-app']) {
      expect(await (await fetch(`${url}${path}`, { method: 'POST' })).text(), path).toBe('next');
    }
  });

  it('is read without its query, and the name of a command as percent-encoded text', async () => {
    const { url } = await startGateway();
    for (const path of ['/embed-token?x=1', '/gateway/admin/tenants%2Dlist?x=1'])
      expect((await fetch(`${url}${path}`, { method: 'POST' })).status, path).toBe(401);
  });
});

describe('CORS', () => {
  const preflight = async (origin: string) => {
    const { url } = await startGateway();
    return fetch(`${url}/embed-token`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });
  };

  it('allows pages of listed origins with their cookies', async () => {
    const { headers, status } = await preflight('https://app.example.com');
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Traceparent, Tracestate, X-Request-Id',
    );
    expect(headers.get('vary')).toBe('Origin');
  });

  it('allows no other page', async () => {
    for (const origin of ['https://evil.example', 'null', 'https://app.example.com.evil.example']) {
      const { headers } = await preflight(origin);
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('access-control-allow-methods')).toBeNull();
    }
  });

  it('CORS also applies to refusals', async () => {
    const { ask } = await startGateway();
    const { headers, status } = await ask('bad', undefined, { origin: 'https://app.example.com' });
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  });
});

describe("inside a host's Express app", () => {
  const mount = async () => {
    const clock = createMovableClock();
    const upstream = createScriptedUpstream();
    const gateway = composeGateway({
      issuers: [{ issuer: null, algorithms: ['HS256'], keys: secretKeys(demoSecret), clockToleranceSeconds: 0 }],
      cookieName: null,
      allowedOrigins: [],
      policies: fixedPolicies(demoPolicy),
      ledger: await openTestLedger(),
      audit: createRecordingAudit(),
      gatewayToken: null,
      upstream: { transport: upstream.transport, apiKey: 'the-api-key', baseUrl: 'in-process' },
      serviceUrl: '/service',
      cache: createMemoryCache({ clock }),
      clock,
      log: pino({ level: 'silent' }),
    });
    return gateway;
  };

  it("works mounted under a path, after the host's parsers", async () => {
    for (const parser of [express.json(), express.raw({ type: '*/*' }), express.text({ type: '*/*' })]) {
      const app = express();
      app.use(parser);
      app.use('/analytics', await mount());
      const ask = () =>
        supertest(app)
          .post('/analytics/embed-token')
          .set('authorization', `Bearer ${sign(analyst)}`);
      await ask().expect(200);
      await ask().send({ tenant: 'LAX' }).expect(200);
      await ask().send({ tenant: 'ATL' }).expect(403);
      await ask().send({ clientId: 'ATL' }).expect(400);
    }
  });

  it('refuses a form, and a body that was read but not kept', async () => {
    const form = express().use(express.urlencoded({ extended: true }), await mount());
    const authorization = `Bearer ${sign(analyst)}`;
    const post = (app: express.Express) => supertest(app).post('/embed-token').set('authorization', authorization);
    await post(form).type('form').send({ tenant: 'LAX' }).expect(400);
    const swallowing = express().use((request, _, next) => void request.resume().on('end', next), await mount());
    await post(swallowing).send({ tenant: 'LAX' }).expect(400);
    await post(swallowing).expect(200);
  });

  it('accepts sessions without an issuer if one is configured for them', async () => {
    const app = express().use(await mount());
    const { iss: _, ...claims } = analyst;
    await supertest(app)
      .post('/embed-token')
      .set('authorization', `Bearer ${sign(claims)}`)
      .expect(200);
  });

  it('answers hooks and commands below a mount, and leaves other paths to the app', async () => {
    const gateway = await mount();
    const app = express().use('/analytics', gateway).use('/apart', gateway.admin);
    const statusOf = async (path: string) => (await supertest(app).post(path)).status;
    expect(await statusOf('/analytics/hooks/tenant-deleted')).toBe(404);
    expect((await supertest(app).post('/analytics/hooks/tenant-deleted')).body.error.message).toContain(
      'Hooks are off',
    );
    expect(await statusOf('/analytics/gateway/admin/tenants-list')).toBe(401);
    expect(await statusOf('/apart/gateway/admin/tenants-list')).toBe(401);
    expect(await statusOf('/analytics/gateway/admin/%E0')).toBe(400);
    for (const path of ['/analytics', '/analytics/', '/analytics/other', '/embed-token', '/apart/embed-token'])
      expect(await statusOf(path), path).toBe(404);
  });

  it('answers before later handlers of the app', async () => {
    const gateway = await mount();
    const app = express().get('/hello', (_, response) => void response.send('hello'));
    const server = createServer((request, response) => gateway(request, response, () => app(request, response)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${url}/hello`)).text()).toBe('hello');
    expect((await fetch(`${url}/embed-token`, { method: 'POST' })).status).toBe(401);
    server.closeAllConnections();
    server.close();
  });
});
