/**
 * Opaque sessions: a real host on loopback says who is logged in. It verifies each question's signature with the library of
 * Standard Webhooks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import type { CommonOptions, SignedSessions } from '../../src/compose/gateway.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import {
  analyst,
  createMovableClock,
  demoSecret,
  secretKeys,
  sign,
  startGateway,
  startSeconds,
  usualLimits,
} from './harness.js';
import { listen } from './scripted-service.js';

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const ownPage = 'https://app.example.com';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const say =
  (body: unknown, status = 200): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
const { iss: _, ...ann } = analyst;
const nobody = say({ error: 'log in' }, 401);

/** A host. `seen` has the headers of each question, without those of the connection. */
const startHost = async (first: Answer = say(ann)) => {
  const state = { answer: first, seen: [] as Record<string, unknown>[], badSignatures: 0 };
  const url = await listen(async (request, response) => {
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
    const [id, timestamp, signature] = names.map((name) => String(headers[name]));
    // `verify` of the library would compare the time with the machine's clock; the gateway under test has its own.
    if (signature !== new Webhook(secret).sign(id ?? '', new Date(Number(timestamp) * 1000), '{}')) {
      state.badSignatures += 1;
      return void response.writeHead(403).end();
    }
    for (const name of names) delete headers[name];
    state.seen.push({ method: request.method, url: request.url, ...headers });
    state.answer(response, request);
  });
  return { url, state };
};

const askOf = (url: string, more: object = {}) => ({
  ...{ url: `${url}/session`, cookies: ['_app_session'], headers: [] as readonly string[], secret },
  // The time limit is longer than any delay of a busy machine, so only an answer that never arrives is late.
  ...{ cacheSeconds: 10, staleSeconds: 0, timeoutMs: 30_000 },
  ...more,
});

const start = async (answer?: Answer, more: object = {}, overrides: Partial<SignedSessions & CommonOptions> = {}) => {
  const host = await startHost(answer);
  const gateway = await startGateway({
    issuers: [],
    askedIssuers: [{ issuer: 'our-app', ask: askOf(host.url, more) }],
    ...overrides,
  });
  const post = async (headers: Record<string, string>) => {
    const response = await fetch(`${gateway.url}/embed-token`, { method: 'POST', headers });
    const body = (await response.json()) as { token?: string; error?: { code: string; reason?: string } };
    return { status: response.status, ...body, retryAfter: response.headers.get('retry-after') };
  };
  const cookie = (value = 's%3Aone') => post({ cookie: `other=1; _app_session=${value}; theme=dark`, origin: ownPage });
  const users = () => gateway.upstream.mints().map(({ body }) => Object(body).params.userIdentifier);
  return { ...gateway, ...host, post, cookie, users };
};

const unavailable = { status: 503, error: { code: 'UPSTREAM_UNAVAILABLE' } };
const invalid = { status: 401, error: { code: 'SESSION_INVALID' } };

describe('an opaque session', () => {
  it('becomes a token: the host is sent the named cookie, and nothing else of the request', async () => {
    const { post, state, users } = await start();
    const asked = await post({
      cookie: 'other=1; _app_session="s:one=="; theme=dark',
      origin: ownPage,
      'x-app-session': 'not forwarded',
      'accept-language': 'pt',
    });
    expect(asked.status).toBe(200);
    expect(state.seen).toEqual([
      { method: 'GET', url: '/session', accept: 'application/json', cookie: '_app_session="s:one=="' },
    ]);
    expect(state.badSignatures).toBe(0);
    expect(users()).toEqual(['our-app|ann']);
  });

  it('is sent as the named header, and by Authorization if that is named', async () => {
    const headers = ['x-app-session', 'authorization'];
    const { post, state, users } = await start(undefined, { cookies: [], headers });
    expect((await post({ 'x-app-session': 'one' })).status).toBe(200);
    expect((await post({ authorization: 'Bearer opaque-two' })).status).toBe(200);
    expect(state.seen.map(({ 'x-app-session': own, authorization }) => [own, authorization])).toEqual([
      ['one', undefined],
      [undefined, 'Bearer opaque-two'],
    ]);
    expect(new Set(users())).toEqual(new Set(['our-app|ann']));
  });

  it('is not taken from a Bearer token or a header that is not named', async () => {
    const { post, state } = await start();
    expect(await post({ authorization: 'Bearer opaque', origin: ownPage, cookie: '_app_session=one' })).toMatchObject(
      invalid,
    );
    expect(await post({ 'x-app-session': 'one' })).toMatchObject(invalid);
    expect(await post({ cookie: 'app_session=one; x_app_session=one', origin: ownPage })).toMatchObject(invalid);
    expect(state.seen).toEqual([]);
  });

  it('counts beside signed sessions: a token of three parts is the signed one', async () => {
    const issuer = {
      ...{ issuer: 'guestlist-demo', algorithms: ['HS256'] as const, clockToleranceSeconds: 0 },
      keys: secretKeys(demoSecret),
    };
    const { post, state, users } = await start(
      undefined,
      { headers: ['authorization'] },
      { issuers: [issuer], cookieName: 'host_session' },
    );
    expect((await post({ authorization: `Bearer ${sign(analyst)}` })).status).toBe(200);
    expect(await post({ authorization: `Bearer ${sign(analyst)}x` })).toMatchObject(invalid);
    expect(state.seen).toEqual([]);
    expect((await post({ authorization: 'Bearer opaque' })).status).toBe(200);
    expect((await post({ cookie: '_app_session=one', origin: ownPage })).status).toBe(200);
    // A signed cookie that is invalid never falls back to the opaque one.
    const both = { cookie: 'host_session=a.b.c; _app_session=one', origin: ownPage };
    expect(await post(both)).toMatchObject(invalid);
    expect(state.seen).toHaveLength(2);
    expect(new Set(users())).toEqual(new Set(['guestlist-demo|ann', 'our-app|ann']));
  });

  it('is not named by a signed session, also where an issuer without a name accepts any', async () => {
    const nameless = {
      ...{ issuer: null, algorithms: ['HS256'] as const, clockToleranceSeconds: 0 },
      keys: secretKeys(demoSecret),
    };
    const { post, users } = await start(undefined, {}, { issuers: [nameless] });
    expect(await post({ authorization: `Bearer ${sign({ ...analyst, iss: 'our-app' })}` })).toMatchObject(invalid);
    expect((await post({ authorization: `Bearer ${sign({ ...analyst, iss: 'any-other' })}` })).status).toBe(200);
    expect(users()).toEqual(['any-other|ann']);
  });

  it('is found beside a cookie that the app emptied', async () => {
    const { post } = await start(undefined, { cookies: ['old_session', '_app_session'] });
    expect((await post({ cookie: 'old_session=; _app_session=one', origin: ownPage })).status).toBe(200);
  });

  it.each(['https://evil.example', 'null', undefined])('is not accepted from a page of %s', async (origin) => {
    const { post, state } = await start();
    const from: Record<string, string> = origin === undefined ? {} : { origin };
    expect(await post({ cookie: '_app_session=one', ...from })).toMatchObject(invalid);
    expect(state.seen).toEqual([]);
  });

  it('an opaque session that is sent twice with two values is refused', async () => {
    const { post, state } = await start();
    expect(await post({ cookie: '_app_session=one; _app_session=two', origin: ownPage })).toMatchObject(invalid);
    expect(state.seen).toEqual([]);
  });

  it('of two issuers names two users, each under its own issuer, whatever the host says', async () => {
    const other = await startHost(say({ ...ann, iss: 'our-app' }));
    const { url, state } = await startHost(say({ ...ann, iss: 'guestlist-demo' }));
    const { post, users } = await start(
      undefined,
      {},
      {
        askedIssuers: [
          { issuer: 'our-app', ask: askOf(url) },
          { issuer: 'other-app', ask: askOf(other.url, { cookies: ['other_session'] }) },
        ],
      },
    );
    expect((await post({ cookie: '_app_session=one', origin: ownPage })).status).toBe(200);
    expect((await post({ cookie: 'other_session=one', origin: ownPage })).status).toBe(200);
    expect(users()).toEqual(['our-app|ann', 'other-app|ann']);
    expect([state.seen.length, other.state.seen.length]).toEqual([1, 1]);
  });
});

describe("the host's answer", () => {
  it('is cached for the configured seconds, for each session', async () => {
    const { cookie, clock, state } = await start();
    expect((await cookie('one')).status).toBe(200);
    clock.advance(9_999);
    expect((await cookie('one')).status).toBe(200);
    expect(state.seen).toHaveLength(1);
    expect((await cookie('two')).status).toBe(200);
    expect(state.seen).toHaveLength(2);
    state.answer = nobody;
    clock.advance(1);
    expect(await cookie('one')).toMatchObject(invalid);
  });

  it('an answer that nobody is logged in is not kept: the next login counts at once', async () => {
    const { cookie, state } = await start(nobody, { staleSeconds: 60 });
    expect(await cookie()).toMatchObject(invalid);
    state.answer = say(ann);
    expect((await cookie()).status).toBe(200);
  });

  it('is asked for once, however many requests wait for it', async () => {
    const waiting: ServerResponse[] = [];
    const { cookie, state } = await start((response) => void waiting.push(response));
    const all = Array.from({ length: 20 }, () => cookie());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 20_000);
    if (waiting[0] !== undefined) say(ann)(waiting[0], {} as IncomingMessage);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(state.seen).toHaveLength(1);
  });

  it('counts no longer than its own exp, and not before its nbf', async () => {
    const { cookie, clock, state } = await start(say({ ...ann, exp: startSeconds + 5 }));
    expect((await cookie()).status).toBe(200);
    clock.advance(5_000);
    state.answer = nobody;
    expect(await cookie()).toMatchObject(invalid);
    state.answer = say({ ...ann, nbf: startSeconds + 60 });
    expect(await cookie('two')).toMatchObject(invalid);
  });

  it('an answer whose exp has passed is asked for anew, since the host may have prolonged it', async () => {
    const { cookie, clock, state } = await start(say({ ...ann, exp: startSeconds + 5 }));
    expect((await cookie()).status).toBe(200);
    state.answer = say({ ...ann, exp: startSeconds + 60 });
    clock.advance(5_000);
    expect((await cookie()).status).toBe(200);
  });

  it('ends at once by a revocation; a login after it counts', async () => {
    const { cookie, clock, state, run } = await start(say({ ...ann, auth_time: startSeconds }));
    expect((await cookie()).status).toBe(200);
    clock.advance(1_000);
    await run('revoke', { by: 'user', issuer: 'our-app', subject: 'ann', reason: 'left' });
    expect(await cookie()).toMatchObject(invalid);
    clock.advance(20_000);
    expect(await cookie()).toMatchObject(invalid);
    state.answer = say({ ...ann, auth_time: startSeconds + 21 });
    clock.advance(20_000);
    expect((await cookie()).status).toBe(200);
  });

  const faulty: Record<string, Answer> = {
    'status 500': say(ann, 500),
    'status 403': say(ann, 403),
    'status 204': (response) => void response.writeHead(204).end(),
    'a redirect to the login': (response) => void response.writeHead(302, { location: '/login' }).end(),
    'no JSON': say('<html>ann</html>'),
    'a list': say([ann]),
    null: say('null'),
    'no sub': say({ org_id: 'LAX' }),
    'sub as a number': say({ ...ann, sub: 7 }),
    'exp as text': say({ ...ann, exp: 'tomorrow' }),
    'nbf as a list': say({ ...ann, nbf: [1] }),
    'too many claims': say({ ...ann, padding: 'x'.repeat(16_384) }),
    'an answer without end': (response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    },
    'no answer': (response) => void response.destroy(),
  };
  it.each(Object.keys(faulty))('%s: 503, nobody gets a token, and nothing of the answer is logged', async (name) => {
    const { cookie, state, lines, upstream } = await start(faulty[name]);
    const answer = await cookie();
    expect(answer).toMatchObject(unavailable);
    expect(answer.retryAfter).toMatch(/^\d+$/);
    expect(upstream.calls).toEqual([]);
    expect(lines.filter(({ event }) => event === 'session_question.failed')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/"ann"|LAX|s%3Aone/);
    state.answer = say(ann);
    expect((await cookie()).status).toBe(200);
    expect(lines.some(({ event }) => event === 'session_question.recovered')).toBe(true);
  });

  it('an answer of the host that is too late gives 503', async () => {
    const { cookie } = await start(() => {}, { timeoutMs: 50 });
    expect(await cookie()).toMatchObject(unavailable);
  });

  it('is never used longer because the host fails, unless the configuration says so', async () => {
    const closed = await start();
    expect((await closed.cookie()).status).toBe(200);
    closed.state.answer = say('', 500);
    closed.clock.advance(10_000);
    expect(await closed.cookie()).toMatchObject(unavailable);
    const open = await start(undefined, { staleSeconds: 60 });
    expect((await open.cookie()).status).toBe(200);
    open.state.answer = say('', 500);
    open.clock.advance(69_999);
    expect((await open.cookie()).status).toBe(200);
    open.clock.advance(1);
    expect(await open.cookie()).toMatchObject(unavailable);
  });

  it('ends a session although the questions of others fail, or the host refuses this one', async () => {
    const { cookie, state, clock } = await start(undefined, { staleSeconds: 3_600 });
    expect((await cookie('mine')).status).toBe(200);
    clock.advance(10_000);
    state.answer = say('', 500);
    expect(await cookie('another')).toMatchObject(unavailable);
    // The failure of another question says nothing of this one.
    state.answer = nobody;
    expect(await cookie('mine')).toMatchObject(invalid);
    state.answer = say(ann);
    expect((await cookie('mine')).status).toBe(200);
    clock.advance(10_000);
    state.answer = say('too large', 431);
    expect(await cookie('mine')).toMatchObject(unavailable);
    state.answer = say('', 500);
    expect(await cookie('mine')).toMatchObject(unavailable);
  });

  it('ends a session although an older answer may be used while the host fails', async () => {
    const { cookie, state, clock } = await start(undefined, { staleSeconds: 60 });
    expect((await cookie()).status).toBe(200);
    clock.advance(10_000);
    state.answer = nobody;
    expect(await cookie()).toMatchObject(invalid);
    state.answer = say('', 500);
    expect(await cookie()).toMatchObject(unavailable);
  });

  it('an answer that nobody is logged in counts as a failed session of the address', async () => {
    const clock = createMovableClock();
    const limits = {
      settings: { ...usualLimits, failedSessionsPerMinute: 3 },
      limiters: createMemoryLimiters({ clock }),
    };
    const { cookie, state } = await start(nobody, {}, { clock, limits });
    const answers: number[] = [];
    for (let guess = 0; guess < 8; guess += 1) answers.push((await cookie(`guess-${guess}`)).status);
    expect(answers).toContain(429);
    state.answer = say(ann);
    expect((await cookie('valid')).status).toBe(200);
  });
});

it('any cookie and header at all is answered or refused, and the host is sent exactly what was named', async () => {
  const { post, state } = await start(undefined, { headers: ['x-app-session'] });
  const text = fc.stringMatching(/^[\x21-\x3a\x3c-\x7e]{1,40}$/);
  await fc.assert(
    fc.asyncProperty(text, text, fc.boolean(), async (value, own, isOwnPage) => {
      state.seen.length = 0;
      const origin = isOwnPage ? ownPage : 'https://evil.example';
      const { status } = await post({ cookie: `a=${own}; _app_session=${value}`, 'x-app-session': own, origin });
      expect(status).toBe(isOwnPage ? 200 : 401);
      for (const asked of state.seen)
        expect(asked).toMatchObject({ cookie: `_app_session=${value}`, 'x-app-session': own });
    }),
    { numRuns: 100 },
  );
});
