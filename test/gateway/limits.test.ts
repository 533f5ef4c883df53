/** Limits, by a clock that stands still until it is moved. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Audit } from '../../src/gateway/audit/audit.js';
import { createLimits, type LimitSettings } from '../../src/gateway/authenticate/limits.js';
import { Refusal } from '../../src/model/refusal.js';
import { createAddresses } from '../../src/platform/http/wire/address.js';
import { createMemoryLimiters, type Limiters } from '../../src/platform/limits/limiter.js';
import { analyst, createMovableClock, manager, sign, startGateway, startSeconds, usualLimits } from './harness.js';

let clock = createMovableClock();
beforeEach(() => {
  clock = createMovableClock();
});

const pass = (ms: number): void => clock.advance(ms);
const none: LimitSettings = {
  userPerMinute: null,
  tenantPerMinute: null,
  failedSessionsPerMinute: null,
  failedCredentialsPerMinute: usualLimits.failedCredentialsPerMinute,
  trustedProxies: 0,
};
const startWith = (settings: Partial<LimitSettings>, limiters: Limiters = createMemoryLimiters({ clock })) =>
  startGateway({ clock, limits: { settings: { ...none, ...settings }, limiters } });
type Started = Awaited<ReturnType<typeof startWith>>;

const statuses = async (count: number, ask: () => Promise<Response>): Promise<Record<number, number>> => {
  const answers = await Promise.all(Array.from({ length: count }, ask));
  const seen: Record<number, number> = {};
  for (const { status } of answers) seen[status] = (seen[status] ?? 0) + 1;
  return seen;
};

describe('the limit of a user', () => {
  it('allows the configured requests per minute, and answers further ones with 429 and Retry-After', async () => {
    const { ask, granted, refused, lines } = await startWith({ userPerMinute: 20 });
    expect(await statuses(20, () => ask(analyst))).toEqual({ 200: 20 });
    pass(10_000);
    const answer = await refused(analyst);
    expect(answer).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(answer.message).toMatch(/more than 20 in a minute\. Try again in 50 s/);
    expect(answer.headers.get('retry-after')).toBe('50');
    expect(lines.at(-1)).toMatchObject({ level: 30, code: 'RATE_LIMITED', reason: 'user-limit', user: 'ann' });
    // Another user of the tenant, and a user of the same name from another issuer, have their own limits.
    await granted({ ...analyst, sub: 'bob' });
    pass(49_999);
    expect(await refused(analyst)).toMatchObject({ status: 429 });
    pass(1);
    expect(await statuses(20, () => ask(analyst))).toEqual({ 200: 20 });
    expect(await refused(analyst)).toMatchObject({ status: 429 });
  });

  it('counts a user once, whatever session, cookie, tenant or embed the requests have', async () => {
    const { ask } = await startWith({ userPerMinute: 4 });
    const bodies = [undefined, { embeds: ['delays'] }, { embeds: ['routes'] }, { tenant: 'LAX' }];
    for (const [index, body] of bodies.entries())
      expect((await ask({ ...manager, jti: index }, body)).status).toBe(200);
    expect((await ask({ ...manager, jti: 'new' })).status).toBe(429);
    expect((await ask({ ...manager, org_id: 'ATL' })).status).toBe(429);
  });

  it('the limit of a user also counts requests that are refused later', async () => {
    const { refused, upstream } = await startWith({ userPerMinute: 2 });
    for (let round = 0; round < 2; round += 1)
      expect(await refused(analyst, { tenant: 'ATL' })).toMatchObject({ status: 403 });
    expect(await refused(analyst, { tenant: 'ATL' })).toMatchObject({ status: 429 });
    expect(upstream.calls).toEqual([]);
  });
});

describe('the limit of a tenant', () => {
  it('counts all users of the tenant together, and no other tenant', async () => {
    const { ask, granted, refused } = await startWith({ tenantPerMinute: 30 });
    const users = Array.from({ length: 40 }, (_, index) => `u${index}`).values();
    const anybody = () => ask({ ...analyst, sub: users.next().value });
    expect(await statuses(40, anybody)).toEqual({ 200: 30, 429: 10 });
    expect(await refused(analyst)).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('of this tenant'),
    });
    await granted({ ...analyst, org_id: 'ATL' });
    pass(60_000);
    await granted(analyst);
  });

  it("is not used up by requests that the user's own limit refuses", async () => {
    const { ask, granted } = await startWith({ userPerMinute: 5, tenantPerMinute: 7 });
    expect(await statuses(50, () => ask(analyst))).toEqual({ 200: 5, 429: 45 });
    await granted({ ...analyst, sub: 'bob' });
    await granted({ ...analyst, sub: 'bob' });
  });
});

describe('no limit', () => {
  it('null sets no limit', async () => {
    const { ask } = await startWith({});
    expect(await statuses(100, () => ask(analyst))).toEqual({ 200: 100 });
  });
});

describe('any number of requests', () => {
  const session = (user: number) => ({
    issuer: null,
    subject: `${user}`,
    userIdentifier: `${user}`,
    claims: {},
    issuedAtMs: null,
  });
  const isRefused = async (work: () => void | Promise<void>): Promise<boolean> => {
    try {
      await work();
      return false;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'RATE_LIMITED') return true;
      throw error;
    }
  };

  it("gets exactly the user's budget in a window, at once or one by one", async () => {
    const round = fc.record({ user: fc.nat(2), count: fc.integer({ min: 1, max: 40 }), isAtOnce: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.array(round, { maxLength: 8 }), async (budget, rounds) => {
        pass(120_000);
        const settings = { ...none, userPerMinute: budget };
        const limits = createLimits({
          settings,
          limiters: createMemoryLimiters({ clock }),
          scope: 's',
          clock,
          log: { error: () => {} },
        });
        const asked = [0, 0, 0];
        const refused = [0, 0, 0];
        for (const { user, count, isAtOnce } of rounds) {
          const one = () => isRefused(() => limits.assertUser(session(user)));
          const outcomes: boolean[] = [];
          if (isAtOnce) outcomes.push(...(await Promise.all(Array.from({ length: count }, one))));
          else for (let index = 0; index < count; index += 1) outcomes.push(await one());
          asked[user] = (asked[user] ?? 0) + count;
          refused[user] = (refused[user] ?? 0) + outcomes.filter(Boolean).length;
        }
        expect(refused).toEqual(asked.map((count) => Math.max(0, count - budget)));
      }),
      { seed: 20_261_121, numRuns: 200 },
    );
  });

  it('is asked of the counter less and less often while it is used up', async () => {
    const memory = createMemoryLimiters({ clock });
    let asked = 0;
    const limiters: Limiters = {
      ...memory,
      create: (budget) => {
        const limiter = memory.create(budget);
        return {
          take: (key, points) => {
            asked += 1;
            return limiter.take(key, points);
          },
        };
      },
    };
    const limits = createLimits({
      settings: { ...none, userPerMinute: 1_600 },
      limiters,
      scope: 's',
      clock,
      log: { error: () => {} },
    });
    for (let count = 0; count < 1_600; count += 1) await limits.assertUser(session(1));
    expect(asked).toBeLessThan(25);
    const before = asked;
    for (let count = 0; count < 1_000; count += 1) await isRefused(() => limits.assertUser(session(1)));
    expect(asked).toBeLessThanOrEqual(before + 1);
  });

  it('blocks nobody for longer than a minute if the clock is set back', async () => {
    let isUsedUp = true;
    // The clock was set back by an hour, so the window seems to end in an hour.
    const take = async () => ({ granted: isUsedUp ? 0 : 1, windowEndsInMs: 3_600_000 });
    const limiters: Limiters = { create: () => ({ take }), close: () => {} };
    const limits = createLimits({
      settings: { ...none, userPerMinute: 1 },
      limiters,
      scope: 's',
      clock,
      log: { error: () => {} },
    });
    expect(await isRefused(() => limits.assertUser(session(1)))).toBe(true);
    isUsedUp = false;
    pass(59_999);
    expect(await isRefused(() => limits.assertUser(session(1)))).toBe(true);
    pass(-3_600_000);
    expect(await isRefused(() => limits.assertUser(session(1)))).toBe(false);
  });
});

describe('the limit of invalid sessions', () => {
  let forgeries = 0;
  const forged = () => {
    forgeries += 1;
    return sign({ ...analyst, jti: forgeries }, 'another-secret-of-at-least-32-bytes');
  };
  const fail = async ({ refused }: Started, count: number, headers: Record<string, string> = {}) => {
    for (let round = 0; round < count; round += 1) {
      expect(await refused(forged(), undefined, headers)).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    }
  };
  const limited = { status: 429, code: 'RATE_LIMITED' };

  it('refuses further invalid ones of the address with 429 and Retry-After, and never a valid one', async () => {
    const gateway = await startWith({ failedSessionsPerMinute: 3 });
    const { granted, refused } = gateway;
    const before = sign(analyst);
    await granted(before);
    await fail(gateway, 4);
    const answer = await refused(forged());
    expect(answer).toMatchObject(limited);
    expect(answer.message).toMatch(/sessions of this address could not be verified: more than 3 in a minute/);
    expect(answer.headers.get('retry-after')).toBe('60');
    await granted(before);
    await granted({ ...analyst, jti: 'new' });
    pass(60_000);
    await fail(gateway, 1);
  });

  it('locks out no valid session: 247 new ones pass through the same proxy as the invalid ones', async () => {
    const { ask } = await startWith({ failedSessionsPerMinute: 100 });
    const proxy = { 'x-forwarded-for': '192.0.2.1' };
    const sessions = (from: string) =>
      Array.from({ length: 247 }, (_, at) => sign({ ...analyst, jti: `${from}-${at}` }));
    const garbage = sessions('garbage').values();
    const good = sessions('good').values();
    const [wrong, right] = await Promise.all([
      statuses(247, () => ask(`${garbage.next().value}x`, undefined, proxy)),
      statuses(247, () => ask(good.next().value ?? '', undefined, proxy)),
    ]);
    expect(right).toEqual({ 200: 247 });
    expect(Object.keys(wrong)).toEqual(['401', '429']);
    expect(wrong[401]).toBeLessThan(150);
  });

  it('does not verify the same invalid session again', async () => {
    const { refused, lines } = await startWith({ failedSessionsPerMinute: 3 });
    const same = forged();
    for (let round = 0; round < 3; round += 1) expect(await refused(same)).toMatchObject({ status: 401 });
    expect(await refused(same)).toMatchObject(limited);
    expect(lines.at(-1)).toMatchObject({ reason: 'same-failed-credential' });
  });

  it('logs once that X-Forwarded-For arrives although no proxy is trusted', async () => {
    const proxied = { 'x-forwarded-for': '192.0.2.1' };
    const loud = ({ lines }: Started) => lines.filter(({ event }) => event === 'proxy.ignored');
    const unaware = await startWith({ failedSessionsPerMinute: 3 });
    await unaware.granted(analyst);
    expect(loud(unaware)).toEqual([]);
    for (let round = 0; round < 3; round += 1) await unaware.ask({ ...analyst, jti: round }, undefined, proxied);
    expect(loud(unaware)).toMatchObject([{ level: 50, msg: expect.stringContaining('trustedProxies is 0') }]);
    const aware = await startWith({ failedSessionsPerMinute: 3, trustedProxies: 1 });
    await aware.ask(analyst, undefined, proxied);
    expect(loud(aware)).toEqual([]);
  });

  it('does not count sessions that are expired, too early, or missing', async () => {
    const { granted, refused, url } = await startWith({ failedSessionsPerMinute: 1 });
    for (let round = 0; round < 5; round += 1) {
      expect(await refused({ ...analyst, exp: startSeconds - 1, jti: round })).toMatchObject({ status: 401 });
      expect(await refused({ ...analyst, nbf: startSeconds + 1, jti: round })).toMatchObject({ status: 401 });
      expect((await fetch(`${url}/embed-token`, { method: 'POST' })).status).toBe(401);
    }
    await granted(analyst);
  });

  it("uses the connection's address, whatever the caller writes into X-Forwarded-For", async () => {
    const gateway = await startWith({ failedSessionsPerMinute: 2 });
    for (const [index, address] of ['192.0.2.1', '192.0.2.2', '192.0.2.3'].entries()) {
      const headers = { 'x-forwarded-for': address };
      const answer = await gateway.refused(forged(), undefined, headers);
      expect(answer.status, String(index)).toBe(401);
    }
    expect(await gateway.refused(forged(), undefined, { 'x-forwarded-for': '192.0.2.4' })).toMatchObject(limited);
  });

  it('uses the address that trusted proxies wrote, and never what is before it', async () => {
    const gateway = await startWith({ failedSessionsPerMinute: 2, trustedProxies: 1 });
    for (const spoofed of ['198.51.100.1, ', '198.51.100.2, ', '']) {
      await fail(gateway, 1, { 'x-forwarded-for': `${spoofed}192.0.2.1` });
    }
    expect(await gateway.refused(forged(), undefined, { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' })).toMatchObject(
      limited,
    );
    await fail(gateway, 1, { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' });
  });
});

describe('the address of a request', () => {
  const from = (remoteAddress: string | undefined, forwarded?: string | string[]) =>
    ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as never;

  it.each([
    [from('192.0.2.1'), 0, '192.0.2.1'],
    [from('::ffff:192.0.2.1'), 0, '192.0.2.1'],
    [from('2001:db8:0:1::1'), 0, '2001:db8:0:1::/64'],
    [from('2001:DB8::1:ffff:ffff:ffff:ffff'), 0, '2001:db8:0:1::/64'],
    [from('2001:0db8:0000:0001:0000:0000:0000:0002'), 0, '2001:db8:0:1::/64'],
    [from('fe80::1%eth0'), 0, 'fe80:0:0:0::/64'],
    [from('::1'), 0, '0:0:0:0::/64'],
    [from(undefined), 0, 'unknown'],
    [from('10.0.0.1', '192.0.2.1'), 0, '10.0.0.1'],
    [from('10.0.0.1', '192.0.2.1'), 1, '192.0.2.1'],
    [from('10.0.0.1', '192.0.2.9, 192.0.2.1, 10.0.0.2'), 2, '192.0.2.1'],
    [from('10.0.0.1', ['192.0.2.9', '192.0.2.1']), 1, '192.0.2.1'],
    [from('10.0.0.1', '192.0.2.1'), 2, '10.0.0.1'],
    [from('10.0.0.1'), 1, '10.0.0.1'],
    [from('10.0.0.1', 'nonsense'), 1, '10.0.0.1'],
    [from('10.0.0.1', '192.0.2.1, '), 1, '10.0.0.1'],
  ])('limits count a request by the address that trusted proxies wrote: %#', (request, trustedProxies, address) => {
    const addressOf = createAddresses({ trustedProxies, log: { error: () => undefined } });
    expect(addressOf(request)).toBe(address);
  });
});

it('the default limits are generous for people, but finite', () => {
  expect(Object.values(usualLimits).every((value) => value !== null)).toBe(true);
});

describe('the audit', () => {
  it('stores at most sixty denials a minute for unknown callers together, and for a user over the limit', async () => {
    const denials: { code: string; user: string | undefined }[] = [];
    const recorded: Audit = {
      record: async ({ kind, code, user }) => {
        if (kind === 'denial') denials.push({ code, user });
      },
    };
    const settings = { ...none, userPerMinute: 5 };
    const { ask } = await startGateway({
      clock,
      audit: recorded,
      limits: { settings, limiters: createMemoryLimiters({ clock }) },
    });
    expect(await statuses(100, () => ask('garbage'))).toEqual({ 401: 100 });
    expect(denials).toHaveLength(60);
    expect(await statuses(100, () => ask(analyst))).toEqual({ 200: 5, 429: 95 });
    expect(denials.filter(({ user }) => user !== undefined)).toHaveLength(60);
    // A decision about a known user is always recorded.
    expect((await ask({ ...analyst, sub: 'eve', org_id: 'Nowhere' }, { tenant: 'LAX' })).status).toBe(403);
    expect(denials.at(-1)).toMatchObject({ user: expect.stringContaining('eve') });
    pass(60_000);
    await ask('garbage');
    expect(denials).toHaveLength(122);
  });
});
