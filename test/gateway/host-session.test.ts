/** The gateway mounted in a host's own Express app, with the host's login and session. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeGateway } from '../../src/compose/gateway.js';
import { createHostIdentity, type HostClaims, type Identify } from '../../src/gateway/authenticate/host-session.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { fixedPolicies } from './fixed-policies.js';
import { captureLog, createMovableClock, demoPolicy, sign, startSeconds } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createRecordingAudit } from './recording-audit.js';
import { createScriptedUpstream } from './scripted-upstream.js';

type HostRequest = Request & { session?: { user?: unknown } };

const users: Record<string, HostClaims> = {
  ann: { sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
  bob: { sub: 'bob', org_id: 'ATL', roles: ['manager'] },
};

/** Sessions as a host stores them: an opaque id in a cookie, everything else on the server. */
const createHostSessions = () => {
  const sessions = new Map<string, { user?: unknown }>();
  const middleware: express.RequestHandler = (request: HostRequest, _, next) => {
    const id = /(?:^|; )sid=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    const session = sessions.get(id);
    if (session !== undefined) request.session = session;
    next();
  };
  const logIn = (user: unknown): string => {
    const id = randomUUID();
    sessions.set(id, { user });
    return `sid=${id}`;
  };
  return { middleware, logIn, logOut: (cookie: string) => sessions.delete(cookie.slice('sid='.length)) };
};

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const fromSession: Identify<HostRequest> = ({ session }) => session?.user as HostClaims | undefined;

const startHost = async (identify: Identify<HostRequest> = fromSession, identifyTimeoutMs = 60_000) => {
  const clock = createMovableClock();
  const upstream = createScriptedUpstream();
  const { log, lines } = captureLog();
  const sessions = createHostSessions();
  const asked: HostRequest[] = [];
  const gateway = composeGateway({
    identify: (request) => {
      asked.push(request as HostRequest);
      return identify(request as HostRequest);
    },
    identifyTimeoutMs,
    allowedOrigins: ['https://app.example.com'],
    policies: fixedPolicies(demoPolicy),
    ledger: await openTestLedger(),
    audit: createRecordingAudit(),
    gatewayToken: null,
    upstream: { transport: upstream.transport, apiKey: 'the-api-key', baseUrl: 'in-process' },
    serviceUrl: '/service',
    cache: createMemoryCache({ clock }),
    clock,
    log,
  });
  const app = express().use(express.json(), sessions.middleware).use('/analytics', gateway);
  app.get('/own', (_, response) => void response.send("the host's"));
  const url = await listen(createServer(app));
  const ask = async (headers: Record<string, string>, body: unknown = undefined) => {
    const response = await fetch(`${url}/analytics/embed-token`, {
      method: 'POST',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { token?: string; error?: { code: string; message: string } };
    return { status: response.status, headers: response.headers, token: answer.token, ...answer.error };
  };
  /** Sends a request as a page of the host does: with its cookie and its origin. */
  const askAs = (cookie: string, body?: unknown) => ask({ cookie, origin: url }, body);
  return { url, clock, upstream, lines, asked, ask, askAs, ...sessions };
};

describe("behind a host's own session", () => {
  it("gives the logged-in user a token of their tenant, and leaves the host's other paths alone", async () => {
    const { url, logIn, logOut, askAs, upstream } = await startHost();
    const cookie = logIn(users.ann);
    expect(await askAs(cookie)).toMatchObject({ status: 200, token: 'guest-token-1' });
    expect(upstream.lastMint()).toMatchObject({ clientId: 'LAX', params: { userIdentifier: '|ann' } });
    expect(await askAs(cookie, { tenant: 'LAX' })).toMatchObject({ status: 200 });
    expect(await askAs(cookie, { tenant: 'ATL' })).toMatchObject({ status: 403, code: 'NO_TENANT' });
    expect(await (await fetch(`${url}/own`)).text()).toBe("the host's");
    logOut(cookie);
    expect(await askAs(cookie)).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
  });

  it.each([[null], [undefined]])('refuses a user who is not logged in (%j)', async (nobody) => {
    const { askAs, upstream } = await startHost(() => nobody);
    const answer = await askAs('sid=x');
    expect(answer).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect(answer.message).toContain('Log in');
    expect(upstream.calls).toEqual([]);
  });

  it('never mixes two simultaneous users, however slowly the host identifies them', async () => {
    const waiting: (() => void)[] = [];
    const host = await startHost(async (request) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 40) for (const go of waiting.reverse()) go();
      });
      return fromSession(request);
    });
    const cookies = [host.logIn(users.ann), host.logIn(users.bob)];
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => host.askAs(cookies[index % 2] ?? '')));
    const tokenOf = new Map(
      host.upstream.mints().map(({ body }, index) => [Object(body).clientId, `guest-token-${index + 1}`]),
    );
    expect(new Set(tokenOf.keys())).toEqual(new Set(['LAX', 'ATL']));
    for (const [index, answer] of answers.entries())
      expect(answer.token).toBe(tokenOf.get(index % 2 === 0 ? 'LAX' : 'ATL'));
  });

  it('ignores session tokens of any issuer: only the host identifies the user', async () => {
    const { ask, url } = await startHost();
    const authorization = `Bearer ${sign({ ...users.ann, iss: 'guestlist-demo' })}`;
    expect(await ask({ authorization })).toMatchObject({ status: 401 });
    expect(await ask({ authorization, origin: url })).toMatchObject({ status: 401 });
  });
});

describe('a host that fails', () => {
  const failing: Record<string, Identify<HostRequest>> = {
    'throws at once': () => {
      throw new Error('the store of sessions is down');
    },
    'rejects later': () => Promise.reject(new Error('the store of sessions is down')),
    'never says anything': () => new Promise(() => {}),
    'throws no error': () => {
      throw null;
    },
    'throws what looks like a refusal': () => {
      throw Object.assign(new Error('no'), { code: 'SESSION_INVALID', status: 200 });
    },
  };
  it.each(Object.keys(failing))('a host that %s gives 503 and a log line, and no token', async (name) => {
    const { askAs, upstream, lines } = await startHost(failing[name], 200);
    const answer = await askAs('sid=x');
    expect(answer).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE', token: undefined });
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.message).not.toContain('store of sessions');
    expect(lines.at(-1)).toMatchObject({ level: 50, reason: 'identify-failed' });
    expect(upstream.calls).toEqual([]);
  });

  const circular: Record<string, unknown> = { sub: 'ann' };
  circular.self = circular;
  const nonsense: Record<string, unknown> = {
    true: true,
    'a name': 'ann',
    'a number': 7,
    'a list': [users.ann],
    'a function': () => users.ann,
    'a circle': circular,
    'a big integer': { sub: 'ann', id: 1n },
    'more than 16 KiB': { ...users.ann, padding: 'x'.repeat(16_384) },
    'an exp that is text': { ...users.ann, exp: 'later' },
    'an nbf that is a date': { ...users.ann, nbf: new Date() },
    'a class that writes itself as text': { toJSON: () => 'ann' },
  };
  it.each(Object.keys(nonsense))('a host that returns %s gives 500 and a log line, and no token', async (name) => {
    const { askAs, upstream, lines } = await startHost(() => nonsense[name] as HostClaims);
    const answer = await askAs('sid=x');
    expect(answer).toMatchObject({ status: 500, code: 'INTERNAL_SERVER_ERROR', token: undefined });
    expect(lines.at(-1)).toMatchObject({ level: 50, err: expect.anything() });
    expect(upstream.calls).toEqual([]);
  });

  const refused: Record<string, [claims: unknown, status: number, code: string]> = {
    'nobody by name': [{ org_id: 'LAX', roles: ['analyst'] }, 401, 'SESSION_INVALID'],
    'an empty sub': [{ ...users.ann, sub: '' }, 401, 'SESSION_INVALID'],
    'a sub that is a number': [{ ...users.ann, sub: 7 }, 401, 'SESSION_INVALID'],
    'a session that has expired': [{ ...users.ann, exp: startSeconds }, 401, 'SESSION_INVALID'],
    'a session to come': [{ ...users.ann, nbf: startSeconds + 1 }, 401, 'SESSION_INVALID'],
    'no tenant': [{ sub: 'ann', roles: ['analyst'] }, 403, 'NO_TENANT'],
    'a tenant that it only inherits': [
      Object.create({ org_id: 'LAX' }, { sub: { value: 'ann', enumerable: true } }),
      403,
      'NO_TENANT',
    ],
    'a tenant under __proto__': [JSON.parse('{"sub":"ann","__proto__":{"org_id":"LAX"}}'), 403, 'NO_TENANT'],
    'a tenant of another type': [{ ...users.ann, org_id: { toString: () => 'LAX' } }, 403, 'NO_TENANT'],
  };
  it.each(Object.keys(refused))('a host that returns %s gives no token', async (name) => {
    const [claims, status, code] = refused[name] ?? [];
    const { askAs, upstream } = await startHost(() => claims as HostClaims);
    expect(await askAs('sid=x')).toMatchObject({ status, code, token: undefined });
    expect(upstream.calls).toEqual([]);
  });

  it('a host that returns changing values is read once', async () => {
    const words = ['LAX', 'ATL'];
    const fickle = {
      ...users.ann,
      sub: 'ann',
      get org_id() {
        return words.shift() ?? 'SFO';
      },
    };
    const { askAs, upstream } = await startHost(() => fickle);
    expect(await askAs('sid=x')).toMatchObject({ status: 200 });
    expect(upstream.lastMint()).toMatchObject({ clientId: 'LAX' });
    expect(words).toEqual(['ATL']);
  });
});

describe("the host's next answer", () => {
  const clock = createMovableClock();
  const said: unknown[] = [];
  const identity = createHostIdentity({ identify: () => said.shift() as HostClaims, clock, allowedOrigins: [] });
  const sessionFor = async (claims: unknown) => {
    said.push(claims);
    return identity({ headers: { authorization: 'Bearer x' } } as IncomingMessage);
  };

  it('is the same session if equal, and another one with one more claim', async () => {
    const first = await sessionFor({ ...users.ann });
    expect(await sessionFor({ ...users.ann })).toBe(first);
    for (const other of [{ ...users.ann, org_id: 'ATL' }, { ...users.ann, region: 'CA' }, users.bob]) {
      const session = await sessionFor(other);
      expect(session).not.toBe(first);
      expect(session.claims).toEqual(other);
    }
  });

  it('must be within its times at every request', async () => {
    const claims = { ...users.ann, exp: startSeconds + 60 };
    await sessionFor(claims);
    clock.advance(59_000);
    await sessionFor(claims);
    clock.advance(1_000);
    await expect(sessionFor(claims)).rejects.toMatchObject({ code: 'SESSION_INVALID', reason: 'session-expired' });
  });
});

describe('a page of another origin', () => {
  const foreign: Record<string, Record<string, string>> = {
    'an origin that is not listed': { origin: 'https://evil.example' },
    'the origin null': { origin: 'null' },
    'no origin': {},
    'no origin and same-site': { 'sec-fetch-site': 'same-site' },
    'an origin like a listed one': { origin: 'https://app.example.com.evil.example' },
    'an unlisted origin and a Bearer header': { origin: 'https://evil.example', authorization: 'Bearer x' },
    'an unlisted origin and Basic credentials': { origin: 'https://evil.example', authorization: 'Basic eDp5' },
  };
  it.each(Object.keys(foreign))('is refused before the host is called: %s', async (name) => {
    const { ask, logIn, asked } = await startHost();
    const answer = await ask({ cookie: logIn(users.ann), ...foreign[name] });
    expect(answer).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(asked).toEqual([]);
  });

  it('is refused without a cookie too, since the browser may add credentials itself', async () => {
    const { ask, asked } = await startHost();
    expect(await ask({ origin: 'https://evil.example', authorization: 'Basic eDp5' })).toMatchObject({ status: 401 });
    expect(await ask({ origin: 'https://evil.example' })).toMatchObject({ status: 401 });
    expect(asked).toEqual([]);
  });

  it('is accepted if it is listed, with its cookies', async () => {
    const { ask, logIn } = await startHost();
    const { status, headers } = await ask({ cookie: logIn(users.ann), origin: 'https://app.example.com' });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
  });

  it('does not matter if the host uses a Bearer header and no cookie', async () => {
    const { ask } = await startHost(({ headers }) =>
      headers.authorization === 'Bearer of the host' ? (users.ann ?? null) : null,
    );
    expect(await ask({ authorization: 'Bearer of the host' })).toMatchObject({ status: 200 });
    expect(await ask({ authorization: 'Bearer of another' })).toMatchObject({ status: 401 });
  });
});
