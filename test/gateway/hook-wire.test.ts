/** Hooks over HTTP: which requests are accepted, and what their senders get as an answer. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createHooks } from '../../src/gateway/hooks/hooks.js';
import { createReceiver } from '../../src/gateway/hooks/receive.js';
import { isHookSecret, readHookSecrets } from '../../src/platform/config/hook-secrets.js';
import { noGuard } from '../../src/platform/limits/credential-guard.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import { systemClock } from '../../src/platform/work/time.js';
import { captureLog, createMovableClock, gatewayToken, startGateway, startSeconds, usualLimits } from './harness.js';
import { listenTo } from './listen.js';
import { policyOf } from './policies.js';
import { createHookSecret, createSender, hookSecret, type SentHook } from './senders.js';

const occurredAt = new Date(startSeconds * 1000 - 1000).toISOString();
const body = { clientId: 'LAX', occurredAt };

const start = async (secrets: readonly string[] = [hookSecret]) => {
  const gateway = await startGateway({ hooks: { secrets, toleranceSeconds: 300 } });
  return { ...gateway, send: createSender(gateway.url, gateway.clock.now) };
};

const at = (seconds: number): Date => new Date((startSeconds + seconds) * 1000);

describe('a signature', () => {
  it('a signature by the secret, within the tolerance, is accepted', async () => {
    const { send } = await start();
    for (const seconds of [0, -300, 300]) {
      const answer = await send('resumed', body, { sentAt: at(seconds) });
      expect([answer.status, answer.data]).toEqual([200, { state: 'active', isApplied: true }]);
    }
  });

  const text = JSON.stringify(body);
  const signed = (id: string, sentAt: Date, secret = hookSecret, content = text): string =>
    new Webhook(secret).sign(id, sentAt, content);
  const hostile: readonly (readonly [string, SentHook])[] = [
    ['of another secret', { secret: createHookSecret() }],
    ['of another body', { headers: { 'webhook-signature': signed('i', at(0), hookSecret, `${text} `) }, id: 'i' }],
    ['of another id', { headers: { 'webhook-signature': signed('other', at(0)) }, id: 'i' }],
    ['of another time', { headers: { 'webhook-signature': signed('i', at(-1)) }, id: 'i' }],
    ['of no known version', { headers: { 'webhook-signature': signed('i', at(0)).replace('v1', 'v2') }, id: 'i' }],
    ['without version', { headers: { 'webhook-signature': signed('i', at(0)).slice(3) }, id: 'i' }],
    ['cut short', { headers: { 'webhook-signature': signed('i', at(0)).slice(0, -4) }, id: 'i' }],
    ['that is empty', { headers: { 'webhook-signature': '' } }],
    ['that says nothing', { headers: { 'webhook-signature': 'v1,' } }],
    ['without id', { headers: { 'webhook-id': '' } }],
    ['with an endless id', { id: 'x'.repeat(256) }],
    ['too old', { sentAt: at(-301) }],
    ['from the future', { sentAt: at(301) }],
    ['with a time in words', { headers: { 'webhook-timestamp': at(0).toISOString() } }],
    ['with a time that begins well', { headers: { 'webhook-timestamp': `${startSeconds}x` } }],
    ['with a negative time', { headers: { 'webhook-timestamp': '-1' } }],
    ['with an endless time', { headers: { 'webhook-timestamp': '9'.repeat(40) } }],
  ];
  it('a signed body with thousands of levels is refused before it is parsed', async () => {
    const { send } = await start();
    const deep = `{"clientId":"LAX","occurredAt":"${occurredAt}","data":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    const { status, error } = await send('resumed', deep);
    expect([status, error?.message]).toEqual([400, 'body: nested deeper than 100 levels.']);
  });

  it('a signature that is wrong in any way is refused, and nothing is done', async () => {
    const { send, refused, granted } = await start();
    const session = { iss: 'guestlist-demo', sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
    for (const [what, sent] of hostile) {
      const answer = await send('suspended', body, sent);
      expect([answer.status, answer.error?.code], what).toEqual([401, 'AUTHENTICATION_ERROR']);
      expect(answer.error?.message, what).not.toContain('whsec_');
    }
    expect((await granted(session)).embeds).toHaveLength(1);
    await send('suspended', body);
    expect(await refused(session)).toMatchObject({ code: 'TENANT_SUSPENDED' });
  });

  it('a signature by the old or the new secret is accepted; a header may have several', async () => {
    const [older, newer] = [createHookSecret(), createHookSecret()];
    const { send } = await start([newer, older]);
    for (const secret of [older, newer]) expect((await send('resumed', body, { secret })).status).toBe(200);
    const several = ['v1a,whatever', signed('i', at(0), createHookSecret()), signed('i', at(0), older)].join(' ');
    expect((await send('resumed', body, { id: 'i', headers: { 'webhook-signature': several } })).status).toBe(200);
    expect((await send('resumed', body, { secret: hookSecret })).status).toBe(401);
  });

  it('without a secret, hooks are off, and the message says how to enable them', async () => {
    const { send } = await start([]);
    const answer = await send('deleted', body);
    expect([answer.status, answer.error?.code]).toEqual([404, 'NOT_FOUND']);
    expect(answer.error?.message).toContain('GUESTLIST_HOOK_SECRETS');
  });
});

describe('a body', () => {
  const bodies: readonly (readonly [string, unknown, string])[] = [
    ['that is no JSON', '{', 'JSON'],
    ['that is empty', '', 'clientId'],
    ['that is a list', [], 'body'],
    ['without clientId', { occurredAt }, 'clientId'],
    ['with an empty clientId', { clientId: '', occurredAt }, 'clientId'],
    ['with a number for the clientId', { clientId: 7, occurredAt }, 'clientId'],
    ['with a NUL in the clientId', { clientId: 'a\u0000', occurredAt }, 'clientId'],
    [
      'with half of a character in the clientId',
      '{"clientId":"a\\ud800","occurredAt":"2020-01-01T00:00:00Z"}',
      'clientId',
    ],
    ['with an endless clientId', { clientId: 'x'.repeat(256), occurredAt }, 'clientId'],
    ['without occurredAt', { clientId: 'LAX' }, 'occurredAt'],
    ['with a date for occurredAt', { clientId: 'LAX', occurredAt: '2026-01-01' }, 'occurredAt'],
    ['with a time without zone', { clientId: 'LAX', occurredAt: '2026-01-01T00:00:00' }, 'occurredAt'],
    ['with a number for occurredAt', { clientId: 'LAX', occurredAt: 1 }, 'occurredAt'],
    ['with a day that is not', { clientId: 'LAX', occurredAt: '2026-02-30T00:00:00Z' }, 'occurredAt'],
    ['from the year 0', { clientId: 'LAX', occurredAt: '0000-01-01T00:00:00Z' }, 'occurredAt'],
    ['from before 1970', { clientId: 'LAX', occurredAt: '1970-01-01T00:00:00+00:01' }, 'occurredAt'],
    ['from the future', { clientId: 'LAX', occurredAt: at(301).toISOString() }, 'occurredAt'],
  ];
  it('a body that is wrong in any way gets 400 with the fault', async () => {
    const { send, upstream } = await start();
    for (const [what, given, said] of bodies) {
      const answer = await send('deleted', given);
      expect([answer.status, answer.error?.code], what).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(answer.error?.message, what).toContain(said);
    }
    expect(upstream.calls).toEqual([]);
  });

  it('larger than 64 KiB gets 413, like every body that is too large', async () => {
    const { send, upstream } = await start();
    const { status, error } = await send('deleted', { ...body, data: 'x'.repeat(65_536) });
    expect([status, error]).toEqual([
      413,
      { code: 'INVALID_REQUEST_BODY', message: 'The body is larger than 65536 bytes.', status: 413 },
    ]);
    expect(upstream.calls).toEqual([]);
  });

  it('may contain unknown fields', async () => {
    const { send } = await start();
    const more = { type: 'tenant.resumed', timestamp: 7, data: { clientId: 'SFO' }, ...body };
    expect((await send('resumed', more)).data).toEqual({ state: 'active', isApplied: true });
  });

  it('may give its time with any offset', async () => {
    const { send } = await start();
    expect((await send('suspended', { clientId: 'LAX', occurredAt: '2026-06-01T10:00:00+02:00' })).data).toMatchObject({
      state: 'suspended',
    });
    const same = { clientId: 'LAX', occurredAt: '2026-06-01T08:00:00.001Z' };
    expect((await send('resumed', same)).data).toMatchObject({ state: 'active', isApplied: true });
  });

  it('a body that another parser has read is refused, with how to mount the gateway', async () => {
    const clock = createMovableClock();
    const { log } = captureLog();
    const never = () => Promise.reject(new Error('nothing may be done'));
    const answerHook = createHooks({
      secrets: [hookSecret],
      toleranceSeconds: 300,
      clock,
      guard: () => noGuard('', null),
      audit: { record: never },
      deliveries: { once: never },
      lifecycle: { apply: never, finishErasures: never },
    });
    const receive = createReceiver(
      (_, response, { status, body: text }) => void response.writeHead(status).end(text),
      log,
    );
    const app = express();
    app.use(express.json());
    app.post('/hooks/tenant-resumed', (request, response) =>
      receive('tenant-resumed', (...asked) => answerHook('resumed', ...asked), request, response),
    );
    const answer = await createSender(await listenTo(app), clock.now)('resumed', body);
    expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining('Mount Guestlist before')]);
  });
});

describe('a delivery', () => {
  it('a delivery with a known id gets the same answer, and nothing is done', async () => {
    const { send, lines } = await start();
    const id = randomUUID();
    const first = await send('suspended', body, { id });
    await send('resumed', { clientId: 'LAX', occurredAt: new Date(startSeconds * 1000).toISOString() });
    const again = await send('suspended', body, { id, sentAt: at(60) });
    expect([again.status, again.data]).toEqual([200, first.data]);
    expect(first.data).toEqual({ state: 'suspended', isApplied: true });
    expect((await send('resumed', { ...body, occurredAt: at(-3600).toISOString() })).data).toMatchObject({
      state: 'active',
    });
    expect(lines.filter(({ event }) => String(event).startsWith('hook.')).map(({ isReplay }) => isReplay)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('a delivery with an id of another body or event is refused', async () => {
    const { send } = await start();
    const id = randomUUID();
    await send('resumed', body, { id });
    for (const [kind, given] of [
      ['resumed', { ...body, clientId: 'SFO' }],
      ['resumed', `${JSON.stringify(body)} `],
      ['deleted', body],
    ] as const) {
      const answer = await send(kind, given, { id });
      expect([answer.status, answer.error?.code, answer.error?.message]).toEqual([
        400,
        'INVALID_REQUEST_BODY',
        expect.stringContaining('webhook-id'),
      ]);
    }
    expect((await send('suspended', { ...body, clientId: 'SFO' })).data).toMatchObject({ isApplied: true });
  });

  it('must be a POST', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/hooks/tenant-deleted`);
    expect(response.status).toBe(405);
    expect(response.headers.get('x-request-id')).toEqual(expect.any(String));
    expect(await (await fetch(`${url}/hooks/tenant-other`, { method: 'POST' })).text()).toBe('next');
  });
});

describe('the secrets of the environment', () => {
  it('may be several, separated by spaces or commas', () => {
    expect(readHookSecrets(' a, b\n c ')).toEqual(['a', 'b', 'c']);
    expect(readHookSecrets('')).toEqual([]);
  });

  it.each([
    ['of 32 bytes', `whsec_${Buffer.alloc(32, 7).toString('base64')}`, true],
    ['of 24 bytes', `whsec_${Buffer.alloc(24, 7).toString('base64')}`, true],
    ['of 23 bytes', `whsec_${Buffer.alloc(23, 7).toString('base64')}`, false],
    ['of 65 bytes', `whsec_${Buffer.alloc(65, 7).toString('base64')}`, false],
    ['without prefix', Buffer.alloc(32, 7).toString('base64'), false],
    ['that is no base64', `whsec_${'é'.repeat(40)}`, false],
    ['that is padded wrongly', `whsec_${Buffer.alloc(32, 7).toString('base64')}=`, false],
  ])('the secrets of the environment refuse a secret %s', (_, text, isOne) => expect(isHookSecret(text)).toBe(isOne));
});

it("a sign-up uses that tenant's overrides: its dashboards have the tenant's own names", async () => {
  const tenants = [{ name: 'own', clientIds: ['LAX'], templates: { delays: { name: 'Delays of the west' } } }];
  const policy = policyOf({ onSignUp: ['delays'], tenants });
  const { url, clock, upstream } = await startGateway({
    policy,
    hooks: { secrets: [hookSecret], toleranceSeconds: 300 },
  });
  const send = createSender(url, clock.now);
  for (const clientId of ['LAX', 'ATL']) await send('signed-up', { clientId, occurredAt });
  expect(upstream.created().map((call) => Reflect.get(Object(call.body), 'name'))).toEqual([
    'Delays of the west',
    'Delays',
  ]);
});

describe('wrong signatures of one address', () => {
  const limited = async () => {
    const settings = { ...usualLimits, failedCredentialsPerMinute: 3 };
    const gateway = await startGateway({
      hooks: { secrets: [hookSecret], toleranceSeconds: 300 },
      limits: { settings, limiters: createMemoryLimiters({ clock: systemClock }) },
    });
    return { ...gateway, send: createSender(gateway.url, gateway.clock.now) };
  };

  it('are limited, and a hook with a valid signature is never refused', async () => {
    const { send, lines } = await limited();
    const wrong = { secret: createHookSecret() };
    for (let round = 0; round < 4; round += 1) expect((await send('resumed', body, wrong)).status).toBe(401);
    const answer = await send('resumed', body, wrong);
    expect([answer.status, answer.error?.code]).toEqual([429, 'RATE_LIMITED']);
    expect(lines.at(-1)).toMatchObject({ reason: 'failed-hook-limit' });
    expect((await send('resumed', body)).status).toBe(200);
  });

  it('wrong gateway tokens of one address are limited separately, and the right token is never refused', async () => {
    const { url } = await limited();
    const call = (token: string) =>
      fetch(`${url}/gateway/admin/tenants-list`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    for (let round = 0; round < 4; round += 1) expect((await call(`wrong-${round}`)).status).toBe(401);
    const answer = await call('wrong-again');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await call(gatewayToken)).status).toBe(200);
  });
});
