/**
 * Tenant lookup at the host: a real server on loopback, which verifies each signature with the Standard Webhooks
 * library.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { createTenantLookup } from '../../src/gateway/tenant/lookup.js';
import { analyst, captureLog, createMovableClock, startGateway, startSeconds } from './harness.js';
import { basePolicy } from './policies.js';
import { listen } from './scripted-service.js';
import { createSender, hookSecret } from './senders.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const readVariable = (name: string): string | undefined => (name === 'LOOKUP_SECRET' ? secret : undefined);

type Answer = (keys: readonly string[], response: ServerResponse, request: IncomingMessage) => void;
const say =
  (body: unknown, status = 200): Answer =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
const tenants = (...list: string[]): Answer => say({ tenants: list });

/** The host. It answers 401 to requests without a valid signature, and counts requests. */
const startHost = async (first: Answer) => {
  const state = { answer: first, asked: [] as string[][], ids: [] as string[], badSignatures: 0 };
  const url = await listen(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
    // `verify` of the library would compare the time with the machine's clock; the gateway under test has its own.
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    const id = headers['webhook-id'] ?? '';
    if (headers['webhook-signature'] !== new Webhook(secret).sign(id, sentAt, text)) {
      state.badSignatures += 1;
      response.writeHead(401).end();
      return;
    }
    const { keys }: { keys: string[] } = JSON.parse(text);
    state.asked.push(keys);
    state.ids.push(id);
    state.answer(keys, response, request);
  });
  return { url, state };
};

const policyWith = (http: object, key = 'claims.org_id') => {
  const tenant = { key, http: { secretVariable: 'LOOKUP_SECRET', ...http } };
  return loadPolicy(JSON.stringify({ ...basePolicy, session: { ...basePolicy.session, tenant } }, null, 2), 'p.yaml');
};

const startWith = async (answer: Answer, http: object = {}, key?: string) => {
  const host = await startHost(answer);
  // The time limit is longer than any delay of a busy machine, so only an answer that never arrives is late.
  const policy = policyWith({ url: `${host.url}/tenants`, timeoutMs: 30_000, ...http }, key);
  return { ...(await startGateway({ policy, readVariable })), ...host, policy };
};

const clientsOf = (upstream: { mints: () => readonly { body?: unknown }[] }) =>
  upstream.mints().map(({ body }) => Object(body).clientId);

const unavailable = { status: 503, code: 'UPSTREAM_UNAVAILABLE' };
const noTenant = { status: 403, code: 'NO_TENANT' };

describe('a lookup at the host', () => {
  it('sends one signed request with the key in the body, and caches the answer for the time in the policy', async () => {
    const { granted, refused, clock, upstream, state } = await startWith(tenants('acme'), { cacheSeconds: 60 });
    await granted(analyst);
    await granted({ ...analyst, sub: 'another' });
    clock.advance(59_999);
    await granted(analyst);
    expect(state.asked).toEqual([['LAX']]);
    expect(new Set(clientsOf(upstream))).toEqual(new Set(['acme']));
    // Leak 17: when the cached answer has expired, the host's new answer applies, also to existing sessions.
    state.answer = tenants('acme-north');
    clock.advance(1);
    await granted(analyst);
    expect(clientsOf(upstream).at(-1)).toBe('acme-north');
    state.answer = tenants();
    clock.advance(60_000);
    expect(await refused(analyst)).toMatchObject(noTenant);
    expect(state.badSignatures).toBe(0);
    expect(new Set(state.ids).size).toBe(3);
  });

  it("a tenant's deletion removes the host's answer and everything else about it from this process, and nothing of others", async () => {
    const { url: host, state } = await startHost((keys, response) => {
      response.end(JSON.stringify({ tenants: keys.map((key) => `tenant-${key}`) }));
    });
    const hooks = { secrets: [hookSecret], toleranceSeconds: 300 };
    const policy = policyWith({ url: `${host}/tenants`, timeoutMs: 30_000 });
    const { url, granted, refused, clock } = await startGateway({ policy, readVariable, hooks });
    await granted(analyst);
    await granted({ ...analyst, org_id: 'SFO' });
    const occurredAt = new Date(startSeconds * 1000 - 1000).toISOString();
    const { data } = await createSender(url, clock.now)('deleted', { clientId: 'tenant-LAX', occurredAt });
    const memory = data?.erasure?.steps.find(({ where }) => where === "this gateway's memory");
    // The host's answer, the tenant's status, its scopes, its token, the token's grant, and the cached decision.
    expect(memory).toEqual({ where: "this gateway's memory", erased: { entries: 6 }, left: [] });
    await granted({ ...analyst, org_id: 'SFO' });
    expect(state.asked).toEqual([['LAX'], ['SFO']]);
    expect(await refused(analyst)).toMatchObject({ code: 'TENANT_SUSPENDED' });
    expect(state.asked).toEqual([['LAX'], ['SFO'], ['LAX']]);
  });

  it('runs at every request if nothing may be cached', async () => {
    const { granted, state } = await startWith(tenants('acme'), { cacheSeconds: 0 });
    await granted(analyst);
    await granted(analyst);
    expect(state.asked).toHaveLength(2);
  });

  it('caches an unknown key for a short time', async () => {
    const { granted, refused, clock, state } = await startWith(tenants(), { missingSeconds: 5 });
    expect(await refused(analyst)).toMatchObject(noTenant);
    expect(await refused(analyst)).toMatchObject(noTenant);
    expect(state.asked).toHaveLength(1);
    state.answer = tenants('acme');
    clock.advance(5_000);
    await granted(analyst);
  });

  it('is sent once for all simultaneous requests', async () => {
    const waiting: (() => void)[] = [];
    const { granted, state, upstream } = await startWith((_, response) => {
      waiting.push(() => void response.end('{"tenants":["acme"]}'));
    });
    const answers = Array.from({ length: 20 }, (_, index) => granted({ ...analyst, sub: `u${index}` }));
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 20_000);
    waiting[0]?.();
    await Promise.all(answers);
    expect(state.asked).toHaveLength(1);
    expect(new Set(clientsOf(upstream))).toEqual(new Set(['acme']));
  });

  it("lets the body choose only among the host's tenants", async () => {
    const { granted, refused, upstream } = await startWith(tenants('one', 'two', 'one'));
    await granted(analyst, { tenant: 'two' });
    expect(clientsOf(upstream)).toEqual(['two']);
    for (const tenant of ['three', 'LAX', 'Two', 'two ', 'ｔｗｏ']) {
      expect(await refused(analyst, { tenant }), tenant).toMatchObject(noTenant);
    }
    expect(await refused(analyst)).toMatchObject(noTenant);
  });

  it('asks for several keys at once, and distinguishes a key from a list that looks like it', async () => {
    const { granted, upstream, state } = await startWith(
      (keys, response) =>
        void response.end(JSON.stringify({ tenants: [keys.length === 2 ? 'both' : `only-${keys[0]}`] })),
      {},
      'has(claims.orgs) ? claims.orgs : [claims.org_id]',
    );
    await granted({ ...analyst, orgs: ['a', 'b', 'a'] });
    await granted({ ...analyst, orgs: ['["a","b"]'] });
    await granted({ ...analyst, orgs: ['a,b'] });
    expect(state.asked).toEqual([['a', 'b'], ['["a","b"]'], ['a,b']]);
    expect(clientsOf(upstream)).toEqual(['both', 'only-["a","b"]', 'only-a,b']);
  });

  it.each([7, '', 'a\u0000', 'x'.repeat(256), null, ['LAX'], { toString: 'LAX' }])(
    'is not sent for the key %j',
    async (org_id) => {
      const { refused, state } = await startWith(tenants('acme'));
      expect(await refused({ ...analyst, org_id })).toMatchObject(noTenant);
      expect(state.asked).toEqual([]);
    },
  );

  it('caches no more answers than the policy allows', async () => {
    const { granted, state } = await startWith(
      (keys, response) => void response.end(JSON.stringify({ tenants: keys })),
      {
        maxEntries: 2,
      },
    );
    for (const org_id of ['a', 'b', 'c', 'a']) await granted({ ...analyst, org_id });
    expect(state.asked.map(([key]) => key)).toEqual(['a', 'b', 'c', 'a']);
  });
});

describe('a wrong answer of the host', () => {
  const faulty: Record<string, Answer> = {
    'status 500': say({ tenants: ['acme'] }, 500),
    'status 404': say({ tenants: [] }, 404),
    'status 201': say({ tenants: ['acme'] }, 201),
    'no JSON': say('<html>acme</html>'),
    'no answer': (_, response) => void response.destroy(),
    'half an answer': (_, response) => {
      response.writeHead(200, { 'content-length': '30' }).write('{"tenants":["acme"');
      setImmediate(() => response.destroy());
    },
    'no tenants': say({ tenant: 'acme' }),
    'tenants that are no list': say({ tenants: 'acme' }),
    'tenants that are no texts': say({ tenants: [{ id: 'acme' }] }),
    'more tenants than anybody has': say({ tenants: Array.from({ length: 257 }, (_, index) => `t${index}`) }),
    'an answer without end': (_, response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    },
    'a redirect to an answer': (_, response, request) => {
      const url = `http://${request.headers.host}/elsewhere`;
      response.writeHead(307, { location: url }).end();
    },
  };

  it.each(Object.keys(faulty))('%s: 503, nobody gets a token, and nothing of the answer is logged', async (name) => {
    const { granted, refused, state, upstream, lines } = await startWith(faulty[name] ?? tenants());
    const answer = await refused(analyst);
    expect(answer).toMatchObject(unavailable);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(upstream.calls).toEqual([]);
    expect(state.asked).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('acme');
    expect(lines.filter(({ event }) => event === 'tenant_lookup.failed')).toHaveLength(1);
    state.answer = tenants('acme');
    await granted(analyst);
    expect(lines.some(({ event }) => event === 'tenant_lookup.recovered')).toBe(true);
  });

  it.each(['acme\u0000', '', 'x'.repeat(256), 'a\nb'])('the tenant %j is treated as none', async (tenant) => {
    const { refused, upstream } = await startWith(tenants('good', tenant));
    expect(await refused(analyst, { tenant: 'good' })).toMatchObject(noTenant);
    expect(upstream.calls).toEqual([]);
  });

  it("an answer of the host that is too late gives 503 after the policy's time limit", async () => {
    const { refused, upstream } = await startWith(() => {}, { timeoutMs: 50 });
    expect(await refused(analyst)).toMatchObject(unavailable);
    expect(upstream.calls).toEqual([]);
  });

  it('at most 64 simultaneous lookups: further requests are refused and do not wait', async () => {
    const waiting: ServerResponse[] = [];
    const { ask, granted, state } = await startWith((keys, response) => {
      if (keys[0] === 'known') response.end('{"tenants":["known"]}');
      else waiting.push(response);
    });
    await granted({ ...analyst, org_id: 'known' });
    const stuck = Array.from({ length: 64 }, (_, index) => ask({ ...analyst, org_id: `k${index}` }));
    await vi.waitFor(() => expect(state.asked).toHaveLength(65), 20_000);
    expect((await ask({ ...analyst, org_id: 'one-more' })).status).toBe(503);
    // Known tenants are still answered.
    await granted({ ...analyst, org_id: 'known' });
    for (const response of waiting) response.end('{"tenants":[]}');
    expect((await Promise.all(stuck)).map(({ status }) => status)).toEqual(stuck.map(() => 403));
  });

  it('is refused after the cached answer expired, unless the policy allows a longer use', async () => {
    const closed = await startWith(tenants('acme'), { cacheSeconds: 60 });
    await closed.granted(analyst);
    closed.state.answer = say('', 500);
    closed.clock.advance(60_000);
    expect(await closed.refused(analyst)).toMatchObject(unavailable);

    const { granted, refused, clock, state } = await startWith(tenants('acme'), { cacheSeconds: 60, staleSeconds: 30 });
    await granted(analyst);
    state.answer = say('', 500);
    clock.advance(89_000);
    await granted(analyst);
    const asked = state.asked.length;
    await granted(analyst);
    expect(state.asked).toHaveLength(asked);
    clock.advance(1_000);
    expect(await refused(analyst)).toMatchObject(unavailable);
  });

  it('never leads to the use of a stale answer if the host answers differently', async () => {
    const { granted, refused, clock, state } = await startWith(tenants('acme'), {
      cacheSeconds: 1,
      staleSeconds: 3_600,
    });
    await granted(analyst);
    state.answer = tenants();
    clock.advance(1_000);
    expect(await refused(analyst)).toMatchObject(noTenant);
    state.answer = say('', 500);
    clock.advance(6_000);
    expect(await refused(analyst)).toMatchObject(noTenant);
  });
});

describe('the configuration of a lookup', () => {
  const faultsOf = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      if (error instanceof PolicyFaults) return error.faults;
      throw error;
    }
    throw new Error('it was accepted');
  };

  it.each([
    ['http://host.example/tenants', /must be https, or plain http on this machine/],
    ['http://127.0.0.1.example/', /must be https/],
    ['ftp://host.example/', /must be https/],
    ['host.example', /is no URL/],
    ['https://user:pass@host.example/', /holds a user or password/],
    ['https://host.example/#part', /has a fragment/],
  ])('refuses the URL %s', (url, message) => {
    const [fault, ...more] = faultsOf(() => policyWith({ url }));
    expect(fault).toEqual({ at: expect.stringMatching(/^p\.yaml:\d+:\d+$/), message: expect.stringMatching(message) });
    expect(fault?.message).not.toContain('pass@');
    expect(more).toEqual([]);
  });

  it('allows plain http to other machines only if the policy says so', () => {
    expect(policyWith({ url: 'http://host.example/', allowHttp: true }).tenant.by).toBe('http');
    expect(policyWith({ url: 'http://[::1]:8080/' }).tenant.by).toBe('http');
    expect(policyWith({ url: 'https://host.example/' }).tenant.by).toBe('http');
  });

  it.each([
    ['is not set', undefined],
    ['is not set', ''],
    ['is no secret of Standard Webhooks', 'hunter2'],
    ['is no secret of Standard Webhooks', 'whsec_c2hvcnQ='],
  ])('prevents a start if its secret %s, without revealing the secret', async (message, value) => {
    const policy = policyWith({ url: 'https://host.example/' });
    const start = startGateway({ policy, readVariable: () => value });
    await expect(start).rejects.toThrow(PolicyFaults);
    await expect(start).rejects.toThrow(`the variable LOOKUP_SECRET ${message}`);
    await expect(start).rejects.toThrow(/p\.yaml:\d+:\d+/);
    await start.catch((error: Error) => expect(error.message).not.toContain(value === '' ? 'c2hvcnQ' : String(value)));
  });

  it.each([
    ['is too easy to guess', `whsec_${Buffer.alloc(32, 7).toString('base64')}`],
    ['is an example or a placeholder', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['is an example or a placeholder', `whsec_${Buffer.from('changeme-7Hq2LzR9vX4tKdWp1bNs').toString('base64')}`],
  ])('prevents a start in production if its secret %s', async (message, value) => {
    const options = { policy: policyWith({ url: 'https://host.example/' }), readVariable: () => value };
    const start = startGateway({ ...options, strongSecrets: true });
    await expect(start).rejects.toThrow(PolicyFaults);
    await expect(start).rejects.toThrow(`the variable LOOKUP_SECRET ${message}`);
    await start.catch((error: Error) => expect(error.message).not.toContain(value));
    await startGateway(options);
  });

  it('starts in production with a random secret', async () => {
    const value = `whsec_${randomBytes(32).toString('base64')}`;
    const policy = policyWith({ url: 'https://host.example/' });
    await startGateway({ policy, readVariable: () => value, strongSecrets: true });
  });

  it('signs nothing that a host with another secret would accept', async () => {
    const host = await startHost(tenants('acme'));
    const policy = policyWith({ url: host.url });
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const { refused } = await startGateway({
      policy,
      readVariable: () => other,
      clock: createMovableClock(),
      log: captureLog().log,
    });
    expect(await refused(analyst)).toMatchObject(unavailable);
    expect(host.state).toMatchObject({ badSignatures: 1, asked: [] });
  });
});

describe('the address of a lookup', () => {
  const ask = async (url: string, allowsPrivate: boolean) => {
    const http = {
      ...{ url, allowsPrivate, secretVariable: 'S', at: 'policy.yaml:1:1', timeoutMs: 300 },
      ...{ cacheSeconds: 60, missingSeconds: 5, staleSeconds: 0, maxEntries: 10 },
    };
    const { log } = captureLog();
    const find = createTenantLookup({ http, secret: hookSecret, clock: createMovableClock(), log });
    const refusal = await Promise.resolve(find(['acme'])).catch((error: unknown) => error);
    return String(Object(Object(refusal).cause).message);
  };

  it.each(['https://10.1.2.3/tenants', 'https://169.254.169.254/latest', 'https://[::1]/'])(
    '%s is of a private network, and is not called unless the configuration allows it',
    async (url) => {
      expect(await ask(url, false)).toContain('allowPrivateAddresses');
    },
  );

  it('an address of a private network is called for a lookup where the configuration allows it', async () => {
    expect(await ask('https://127.0.0.1:1/tenants', true)).toContain('ECONNREFUSED');
  });
});
