/** Rate limits for callers of the service, over real sockets: who is refused with which message, and who never is. */
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import type { AdmissionLimits } from '../../../src/platform/http/wire/admission.js';
import { createBudget } from '../../../src/platform/limits/budget.js';
import { type CredentialKind, createCredentialGuard } from '../../../src/platform/limits/credential-guard.js';
import { createMemoryLimiters } from '../../../src/platform/limits/limiter.js';
import { createRefusedBodies } from '../../../src/platform/limits/refused-bodies.js';
import { operations } from '../../../src/service/operations.js';
import { exampleRequest } from './requests.js';
import { apiKey, createSample, guestToken, serviceToken } from './sample.js';

let nowMs = 1_800_000_000_000;
const pass = (ms: number): void => {
  nowMs += ms;
};
const clock = { now: () => new Date(nowMs) };

type Numbers = { readonly token?: number; readonly address?: number; readonly failures?: number; readonly mb?: number };

const start = async ({ token, address, failures, mb }: Numbers) => {
  const shared = { limiters: createMemoryLimiters({ clock }), scope: 's', clock };
  const guardOf = (kind: CredentialKind) =>
    createCredentialGuard({ ...shared, kind, failuresPerMinute: failures ?? null });
  const limits: AdmissionLimits = {
    guards: { apiKey: guardOf('apiKey'), guestToken: guardOf('guestToken'), serviceToken: guardOf('serviceToken') },
    guestToken: createBudget(shared, { name: 'guest-token', what: 'requests', perMinute: token ?? null }),
    guestAddress: createBudget(shared, { name: 'guest-address', what: 'requests', perMinute: address ?? null }),
    refusedBodies: createRefusedBodies(mb ?? null, clock),
  };
  const { app, dispatch, lines } = await createSample({ limits });
  return { http: supertest(app), dispatch, lines };
};
type Http = Awaited<ReturnType<typeof start>>['http'];

const dashboard = '/api/v2/guest/dashboards/delays';
const read = (http: Http, token: string) => http.get(dashboard).set('Authorization', `Bearer ${token}`);
const mint = (http: Http, key: string, body: unknown = { clientId: 'LAX', dataAppName: 'flights' }) =>
  http
    .post('/api/v2/guest-token/create')
    .set('Authorization', `Bearer ${key}`)
    .send(body as object);

test.each([
  ['guest tokens', read, guestToken],
  ['API keys', mint, apiKey],
  [
    'service tokens',
    (http: Http, token: string) => http.get('/api/v2/service-token').set('Authorization', `Bearer ${token}`),
    serviceToken,
  ],
])(
  'wrong %s from one address get 429 in the envelope, while the right one is always accepted',
  async (what, ask, right) => {
    const { http } = await start({ failures: 3 });
    for (let at = 0; at < 4; at += 1) expect((await ask(http, `wrong-${at}`)).status).toBe(401);
    const { status, body, headers } = await ask(http, 'wrong-again');
    expect([status, body]).toEqual([
      429,
      {
        error: {
          code: 'RATE_LIMITED',
          message: `Too many ${what} of this address could not be verified: more than 3 in a minute. Try again in 60 s.`,
          status: 429,
        },
      },
    ]);
    expect(headers['retry-after']).toBe('60');
    expect((await ask(http, right)).status).toBe(200);
    pass(60_000);
    expect((await ask(http, 'wrong-later')).status).toBe(401);
  },
);

test.each(Object.values(operations))(
  '$name: wrong credentials beyond the limit get RATE_LIMITED',
  async (operation) => {
    const { dispatch } = await start({ failures: 1 });
    const { method, path, query, body } = await exampleRequest(operation);
    const ask = async (at: number) =>
      (
        await dispatch({
          ...{ method, path, query, body, authorization: `Bearer wrong-${at}`, signal: new AbortController().signal },
          sender: { address: 'a', bodyBytes: 0 },
        })
      )?.refused?.code;
    const [first, , last] = [await ask(0), await ask(1), await ask(2)];
    expect(first).not.toBe('RATE_LIMITED');
    expect(last).toBe('RATE_LIMITED');
  },
);

test('each kind of credential is counted separately, and requests without one are not counted', async () => {
  const { http } = await start({ failures: 1 });
  for (let at = 0; at < 5; at += 1) expect((await http.get(dashboard)).status).toBe(401);
  for (const status of [401, 401, 429])
    expect((await read(http, `wrong-${status}-${Math.random()}`)).status).toBe(status);
  expect((await mint(http, 'wrong')).status).toBe(401);
});

describe('guests', () => {
  test('each metric of a dashboard query counts as a request', async () => {
    const { http } = await start({ token: 10 });
    const query = (count: number) =>
      http
        .post(`${dashboard}/query`)
        .set('Authorization', `Bearer ${guestToken}`)
        .send({ metrics: Array.from({ length: count }, (_, at) => ({ metricId: `m${at}` })) });
    expect((await query(6)).status).toBe(200);
    const { status, body } = await query(6);
    expect([status, body.error.code]).toEqual([429, 'RATE_LIMITED']);
    pass(60_000);
    expect((await query(10)).status).toBe(200);
    expect((await read(http, guestToken)).status).toBe(429);
  });

  test('one token has a limit per minute, and a lower one from a single address', async () => {
    const { http, lines } = await start({ address: 3, token: 5 });
    for (let at = 0; at < 3; at += 1) expect((await read(http, guestToken)).status).toBe(200);
    const { status, body, headers } = await read(http, guestToken);
    expect([status, body.error.code, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '60']);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ refused: { reason: 'guest-address-limit' } });
    pass(60_000);
    expect((await read(http, guestToken)).status).toBe(200);
  });

  test('in-process callers have no limit, since their requests were counted when they arrived', async () => {
    const { dispatch } = await start({ address: 1, token: 1, failures: 1 });
    for (let at = 0; at < 5; at += 1) {
      const answer = await dispatch({
        ...{ method: 'GET', path: dashboard, query: {}, authorization: `Bearer ${guestToken}` },
        signal: new AbortController().signal,
      });
      expect(answer?.status).toBe(200);
    }
  });
});

describe('refused bodies', () => {
  const wrong = { clientId: 7, dataAppName: 'x'.repeat(400_000) };

  test('one credential may send a number of megabytes per minute; after that, bodies are not read until the minute ends', async () => {
    const { http } = await start({ mb: 1 });
    for (let at = 0; at < 3; at += 1) expect((await mint(http, apiKey, wrong)).status).toBe(400);
    const { status, body, headers } = await mint(http, apiKey, wrong);
    expect([status, body.error.code, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '60']);
    expect(body.error.message).toMatch(/more than 1 MB in a minute/);
    expect((await read(http, guestToken)).status).toBe(200);
    pass(60_000);
    expect((await mint(http, apiKey)).status).toBe(200);
  });

  test('a body that is refused by its Content-Length was not read, and does not count', async () => {
    const { http } = await start({ mb: 1 });
    for (let at = 0; at < 2; at += 1) expect((await mint(http, apiKey, { x: 'x'.repeat(3_000_000) })).status).toBe(413);
    expect((await mint(http, apiKey)).status).toBe(200);
  });
});
