/** Revocation with a real ledger and a scripted service. Each race runs as a fixed sequence of events. */
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { createLatch } from '../suites/sharing.js';
import {
  analyst,
  createMovableClock,
  gatewayToken,
  type Overrides,
  sign,
  startGateway as startForeign,
  startSeconds,
} from './harness.js';
import { openTestLedger } from './ledgers.js';

const issuer = 'guestlist-demo';
const ann = { by: 'user', subject: 'ann', issuer, reason: 'left the company' };

/** Starts a gateway in front of a service that can list and revoke tokens. */
const startGateway = (overrides: Overrides = {}) =>
  startForeign({ capabilities: ['list-guest-tokens', 'revoke-guest-tokens'], ...overrides });

type Started = Awaited<ReturnType<typeof startGateway>>;

const command = async ({ url }: Started, name: string, input: object) => {
  const response = await fetch(`${url}/gateway/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayToken}` },
    body: JSON.stringify(input),
  });
  return { status: response.status, body: (await response.json()) as { data: Record<string, unknown> } };
};

const revoke = async (gateway: Started, input: object) => {
  const { status, body } = await command(gateway, 'revoke', input);
  expect(status).toBe(200);
  return body.data;
};

/** Signs a session of a user who logged in now by the gateway's clock. */
const loginAt = (gateway: Started, claims: object = analyst) => {
  const now = Math.floor(gateway.clock.now().getTime() / 1000);
  return sign({ ...claims, iat: now, exp: now + 3600 });
};

describe('revoking a user', () => {
  it('revokes tokens at the service, refuses the current session, and allows a new login with another token', async () => {
    const gateway = await startGateway();
    const { token } = await gateway.granted(analyst);
    gateway.clock.advance(60_000);
    expect(await revoke(gateway, ann)).toMatchObject({ service: 'done', revoked: 1 });
    expect(gateway.upstream.isLive(token)).toBe(false);
    expect(await gateway.refused(analyst)).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    gateway.clock.advance(1_000);
    const again = await gateway.granted(loginAt(gateway));
    expect(again.token).not.toBe(token);
    expect(gateway.upstream.isLive(again.token)).toBe(true);
    expect((await gateway.granted(loginAt(gateway))).token).toBe(again.token);
    expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
  });

  it('affects only that user, and only in the named tenant', async () => {
    const gateway = await startGateway();
    const users = [analyst, { ...analyst, sub: 'bob' }, { ...analyst, org_id: 'ATL' }, { ...analyst, org_id: 'SFO' }];
    const before = await Promise.all(users.map((user) => gateway.granted(user)));
    expect(await revoke(gateway, { ...ann, tenant: 'LAX' })).toMatchObject({ revoked: 1 });
    expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
    for (const index of [1, 2, 3]) {
      expect((await gateway.granted(users[index] ?? {})).token).toBe(before[index]?.token);
    }
    expect(await revoke(gateway, ann)).toMatchObject({ revoked: 2 });
    for (const user of [users[2], users[3]]) {
      expect(await gateway.refused(user ?? {})).toMatchObject({ code: 'SESSION_INVALID' });
    }
    expect((await gateway.granted(users[1] ?? {})).token).toBe(before[1]?.token);
    expect(gateway.upstream.isLive(before[1]?.token ?? '')).toBe(true);
  });

  it('treats a user of the same name from another issuer as another user', async () => {
    const gateway = await startGateway();
    await gateway.granted(analyst);
    await revoke(gateway, { ...ann, issuer: 'https://host.example' });
    expect((await gateway.ask(analyst)).status).toBe(200);
  });

  it.each([
    ['no iat', { iat: undefined }, 10_000],
    ['an iat within the same second', {}, 0],
    ['the auth_time of a login before', { auth_time: startSeconds - 500 }, 10_000],
    ['an auth_time that is no time', { auth_time: 'today' }, 10_000],
  ])('refuses a session with %s, until the revocation is lifted', async (_, claims, laterMs) => {
    const gateway = await startGateway();
    gateway.clock.advance(300);
    await revoke(gateway, ann);
    gateway.clock.advance(laterMs);
    const now = Math.floor(gateway.clock.now().getTime() / 1000);
    const { iat, ...rest }: Record<string, unknown> = { ...analyst, iat: now, exp: now + 3600, ...claims };
    const session = sign({ ...rest, ...(iat === undefined ? {} : { iat }) }, undefined, {
      noTimestamp: iat === undefined,
    });
    expect(await gateway.refused(session)).toMatchObject({ code: 'SESSION_INVALID' });
    expect((await command(gateway, 'unrevoke', ann)).body.data).toMatchObject({ isLifted: true });
    expect((await gateway.ask(session)).status).toBe(200);
    expect((await command(gateway, 'unrevoke', ann)).body.data).toMatchObject({ isLifted: false });
  });

  it("allows clock differences up to the issuer's tolerance: a login within it is refused, a later one is not", async () => {
    const claims = { iss: 'https://host.example', aud: 'guestlist', sub: 'hank', org_id: 'LAX', roles: ['analyst'] };
    const gateway = await startGateway();
    const login = () => {
      const now = Math.floor(gateway.clock.now().getTime() / 1000);
      return sign({ ...claims, iat: now, exp: now + 3600 }, 'host-secret-of-at-least-32-bytes!!');
    };
    await revoke(gateway, { by: 'user', subject: 'hank', issuer: 'https://host.example', reason: 'test' });
    gateway.clock.advance(4_000);
    expect(await gateway.refused(login())).toMatchObject({ code: 'SESSION_INVALID' });
    gateway.clock.advance(2_000);
    expect((await gateway.ask(login())).status).toBe(200);
  });
});

describe('revoking a user who may be misspelt', () => {
  it.each([
    ['guestlist-dmo', /issuer: No session has the issuer "guestlist-dmo".*did you mean "guestlist-demo"\?/],
    ['https://elsewhere.example', /the configured issuers are: .*guestlist-demo/],
    [null, /issuer: Every session has an issuer/],
  ])('is refused for the issuer %j, and revokes nothing', async (of, expected) => {
    const gateway = await startGateway();
    const { token } = await gateway.granted(analyst);
    const { status, body } = await command(gateway, 'revoke', { ...ann, issuer: of });
    expect([status, body]).toMatchObject([400, { error: { code: 'INVALID_REQUEST_BODY' } }]);
    expect(JSON.stringify(body).replaceAll('\\"', '"')).toMatch(expected);
    expect(gateway.upstream.isLive(token)).toBe(true);
    expect((await command(gateway, 'unrevoke', { ...ann, issuer: of })).status).toBe(200);
  });

  it('says that no token worked where the gateway cannot know the subject', async () => {
    const gateway = await startGateway();
    expect(await revoke(gateway, { ...ann, subject: 'anne' })).toMatchObject({
      ...{ service: 'done', revoked: 0 },
      message: expect.stringContaining('No token of this user worked, so the subject may be misspelt'),
    });
  });
});

describe('a race with a revocation', () => {
  const isMint = ({ path }: WireRequest) => path === '/api/v2/guest-token/create';

  it.each(['before the service has it', 'after the service has it'])(
    'the token of a running mint is not answered: held %s',
    async (when) => {
      const gateway = await startGateway();
      await gateway.granted({ ...analyst, sub: 'warm-up' });
      const reached = createLatch();
      const released = createLatch();
      const hold = async (request: WireRequest) => {
        if (!isMint(request)) return undefined;
        reached.open();
        await released.opened;
        return undefined;
      };
      if (when.startsWith('before')) gateway.upstream.state.intercept = hold as never;
      else gateway.upstream.state.beforeAnswer = async (request) => void (await hold(request));
      const waiting = [1, 2, 3].map(() => gateway.refused(analyst));
      await reached.opened;
      await revoke(gateway, ann);
      gateway.upstream.state.intercept = () => undefined;
      gateway.upstream.state.beforeAnswer = () => undefined;
      released.open();
      for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ code: 'SESSION_INVALID' });
      expect(gateway.upstream.liveOf('guestlist-demo|ann')).toEqual([]);
      expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
    },
  );

  it("a session that is revoked while its dashboards are created gets nothing, not even a later login's token", async () => {
    const gateway = await startGateway();
    const reached = createLatch();
    const released = createLatch();
    gateway.upstream.state.beforeAnswer = async ({ path }) => {
      if (!path.endsWith('/dashboard-embeds')) return;
      reached.open();
      await released.opened;
    };
    const waiting = gateway.refused(analyst);
    await reached.opened;
    await revoke(gateway, ann);
    gateway.clock.advance(1_000);
    released.open();
    expect(await waiting).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect((await gateway.ask(loginAt(gateway))).status).toBe(200);
  });

  it('a cached token whose deletion failed is never found again', async () => {
    const clock = createMovableClock();
    const kept = createMemoryCache({ clock });
    const ledger = await openTestLedger();
    const first = await startGateway({ clock, ledger, cache: kept });
    const { token } = await first.granted(analyst);
    // The cache refuses deletions and changes from here on. A second gateway starts with its content.
    const frozen = { ...kept, set: async () => {}, delete: async () => {} };
    const second = await startGateway({ clock, ledger, cache: frozen, upstream: upstreamOf(first) });
    expect((await second.granted(analyst)).token).toBe(token);
    await revoke(second, ann);
    clock.advance(2_000);
    const third = await startGateway({ clock, ledger, cache: frozen, upstream: upstreamOf(first) });
    for (const gateway of [second, third]) {
      expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
      expect((await gateway.granted(sign({ ...analyst, iat: startSeconds + 2 }))).token).not.toBe(token);
    }
  });

  it('a token is not answered if its tenant is revoked while it is looked up', async () => {
    const clock = createMovableClock();
    const kept = createMemoryCache({ clock });
    const ledger = await openTestLedger();
    const first = await startGateway({ clock, ledger, cache: kept });
    const { token } = await first.granted(analyst);
    const reached = createLatch();
    const released = createLatch();
    const get = async (key: string) => {
      const found = await kept.get(key);
      reached.open();
      await released.opened;
      return found;
    };
    const second = await startGateway({ clock, ledger, cache: { ...kept, get }, upstream: upstreamOf(first) });
    // The request is decided twice, and its body can be read only once.
    const waiting = second.granted(analyst, {});
    await reached.opened;
    await revoke(second, { by: 'tenant', tenant: 'LAX', reason: 'test' });
    released.open();
    const answer = await waiting;
    expect(answer.token).not.toBe(token);
    expect(first.upstream.isLive(answer.token)).toBe(true);
  });

  it('a token that two sessions share is revoked for both, and the newer session gets another one', async () => {
    const gateway = await startGateway();
    const [old, older] = [
      sign({ ...analyst, jti: 'laptop' }),
      sign({ ...analyst, jti: 'phone', iat: startSeconds - 9 }),
    ];
    const shared = (await gateway.granted(old)).token;
    expect((await gateway.granted(older)).token).toBe(shared);
    await revoke(gateway, ann);
    for (const session of [old, older])
      expect(await gateway.refused(session)).toMatchObject({ code: 'SESSION_INVALID' });
    gateway.clock.advance(1_000);
    expect((await gateway.granted(loginAt(gateway))).token).not.toBe(shared);
  });

  it("a token that was minted between the two parts of a tenant's revocation is not answered after the service revoked it", async () => {
    const gateway = await startGateway();
    await gateway.granted(analyst);
    const between: string[] = [];
    gateway.upstream.state.intercept = async ({ path }) => {
      if (path === '/api/v2/guest-token/revoke') between.push((await gateway.granted(analyst)).token);
      return undefined as never;
    };
    await revoke(gateway, { by: 'tenant', tenant: 'LAX', reason: 'test' });
    gateway.upstream.state.intercept = () => undefined;
    expect(between).toHaveLength(1);
    expect(gateway.upstream.isLive(between[0] ?? '')).toBe(false);
    const { token } = await gateway.granted(analyst);
    expect(token).not.toBe(between[0]);
    expect(gateway.upstream.isLive(token)).toBe(true);
  });
});

describe('revoking a tenant, a policy or all', () => {
  it.each([
    ['tenant', { by: 'tenant', tenant: 'LAX' }, [false, true]],
    ['policy', { by: 'policy' }, [false, false]],
    ['all', { by: 'all' }, [false, false]],
  ])(
    'revoking by %s gives new tokens for the same sessions, and makes the old ones invalid',
    async (_, input, stillLive) => {
      const gateway = await startGateway();
      const users = [analyst, { ...analyst, org_id: 'ATL' }];
      const before = await Promise.all(users.map((user) => gateway.granted(user)));
      await revoke(gateway, { ...input, reason: 'test' });
      const after = await Promise.all(users.map((user) => gateway.granted(user)));
      expect(before.map(({ token }) => gateway.upstream.isLive(token))).toEqual(stillLive);
      expect(after.map(({ token }, index) => token === before[index]?.token)).toEqual(stillLive);
      expect(after.every(({ token }) => gateway.upstream.isLive(token))).toBe(true);
    },
  );

  it.each([{ by: 'tenant', tenant: 'LAX' }, { by: 'all' }])('%j can end the sessions, too', async (input) => {
    const gateway = await startGateway();
    await gateway.granted(analyst);
    await revoke(gateway, { ...input, endsSessions: true, reason: 'test' });
    expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
    const { status } = await gateway.ask({ ...analyst, org_id: 'ATL' });
    expect(status).toBe(input.by === 'all' ? 401 : 200);
  });
});

describe('the part of a revocation at the service', () => {
  it('is retried until it succeeds, and reported', async () => {
    const events: AuditEvent[] = [];
    const audit = {
      record: async (event: AuditEvent) => {
        if (event.kind === 'revocation') events.push(event);
      },
    };
    const gateway = await startGateway({ audit });
    const { token } = await gateway.granted(analyst);
    gateway.upstream.state.intercept = ({ path }) =>
      path === '/api/v2/guest-token' ? { status: 502, body: 'down' } : undefined;
    expect(await revoke(gateway, ann)).toMatchObject({ service: 'pending', revoked: null });
    expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
    expect(gateway.upstream.isLive(token)).toBe(true);
    gateway.upstream.state.intercept = () => undefined;
    gateway.clock.advance(5_000);
    await expect.poll(() => gateway.upstream.isLive(token), { timeout: 20_000 }).toBe(false);
    await expect.poll(() => events.length, { timeout: 5_000 }).toBe(2);
    expect(events).toMatchObject([
      {
        kind: 'revocation',
        user: 'guestlist-demo|ann',
        detail: { by: 'user', service: 'pending', endsSessions: true },
      },
      { kind: 'revocation', user: 'guestlist-demo|ann', detail: { by: 'user', service: 'done' } },
    ]);
  });

  it("is not supported by another product's service: the answer says so, and the gateway still answers no such token", async () => {
    const gateway = await startForeign();
    const { token } = await gateway.granted(analyst);
    const answer = await revoke(gateway, ann);
    expect(answer).toMatchObject({
      service: 'not-supported',
      message: expect.stringContaining('stay valid until they expire'),
    });
    expect(await gateway.refused(analyst)).toMatchObject({ code: 'SESSION_INVALID' });
    gateway.clock.advance(1_000);
    expect((await gateway.granted(loginAt(gateway))).token).not.toBe(token);
  });
});

const upstreamOf = ({ upstream }: Started) => ({
  transport: upstream.transport,
  apiKey: 'the-api-key',
  baseUrl: 'http://service.test',
  capabilities: fixedCapabilities(['list-guest-tokens', 'revoke-guest-tokens']),
});
